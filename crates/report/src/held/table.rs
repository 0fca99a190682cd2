//! The table of connections, while they are held.

use engine::MemoryUse;
use figures::{HeldInterval, Quantile};

use crate::Language;
use crate::format::{Align, bytes, count, pad, rate, red};
use crate::page::percentile;

const WIDTHS: [usize; 11] = [7, 11, 11, 9, 8, 9, 10, 10, 8, 8, 15];

/// The table of connections that are held.
#[derive(Clone, Copy, Debug)]
pub struct HoldTable {
    language: Language,
    is_colorful: bool,
}

impl HoldTable {
    /// A table in a language, with colors or without.
    pub fn new(language: Language, is_colorful: bool) -> Self {
        Self { language, is_colorful }
    }

    /// The lines above the first interval.
    pub fn head(&self) -> String {
        let names = self.language.pick(
            [
                "time",
                "established",
                "connecting",
                "opened/s",
                "failed",
                "lost",
                "msg/s",
                "in+out/s",
                "p50",
                "p99",
                "B/conn us+krnl",
            ],
            ["耗时", "已建立", "建立中", "新建/秒", "失败", "断开", "消息/秒", "收发/秒", "p50", "p99", "每连接内存 B"],
        );
        let cells: Vec<String> =
            WIDTHS.iter().zip(names).map(|(width, name)| pad(name, *width, Align::Right)).collect();
        let rule = |joint: &str| WIDTHS.map(|width| "─".repeat(width)).join(joint);
        format!("{}\n{}\n{}\n", rule("┬"), cells.join("│"), rule("┼"))
    }

    /// One interval. Rates and times are those of the interval; the rest is from the start, or as it stands.
    pub fn row(&self, interval: &HeldInterval) -> String {
        let (total, response) = (&interval.total, &interval.response);
        let mut cells = [
            format!("{:.1}s", interval.to.as_secs_f64()),
            count(interval.now.open),
            count(interval.now.connecting),
            rate(interval.established_per_s),
            count(total.failed),
            count(total.lost),
            rate(interval.messages_per_s),
            bytes(interval.bytes_per_s),
            percentile(response, Quantile::P50),
            percentile(response, Quantile::P99),
            each(interval.memory, interval.now.open),
        ];
        for (cell, width) in cells.iter_mut().zip(WIDTHS) {
            *cell = pad(cell, width, Align::Right);
        }
        for (column, number) in [(4, total.failed), (5, total.lost)] {
            if self.is_colorful && number > 0 {
                cells[column] = red(&cells[column]);
            }
        }
        format!("{}\n", cells.join("│"))
    }
}

/// Bytes of this process and of the kernel for each connection.
fn each(memory: MemoryUse, open: u64) -> String {
    if open == 0 {
        return "-".to_owned();
    }
    let ours = memory.resident.saturating_sub(memory.resident_before) / open;
    match memory.kernel {
        Some(kernel) => format!("{}+{}", count(ours), count(kernel / open)),
        None => count(ours),
    }
}
