//! The live table of a hold.

use engine::MemoryUse;
use figures::{HeldInterval, Quantile};

use crate::columns::{Column, Columns, Of, column};
use crate::format::{bytes, count, rate};
use crate::page::percentile;
use crate::screen::{Paint, Screen};
use crate::table::{elapsed, head_due};

const COLUMNS: [Column; 11] = [
    column(7, Of::Row),
    column(11, Of::Now),
    column(10, Of::Now),
    column(9, Of::Interval),
    column(8, Of::Total),
    column(8, Of::Total),
    column(9, Of::Interval),
    column(9, Of::Interval),
    column(8, Of::Interval),
    column(8, Of::Interval),
    column(15, Of::Now),
];
const FAILED: usize = 4;
const LOST: usize = 5;
/// Columns that a narrow terminal omits, in this order: memory, bytes, p50, connecting, messages.
const DISPENSABLE: [usize; 5] = [10, 7, 8, 2, 6];

/// The live table of a hold.
#[derive(Clone, Debug)]
pub struct HoldTable {
    screen: Screen,
    columns: Columns,
    /// Lines since the last header; `None` before the first.
    rows_since: Option<usize>,
}

impl HoldTable {
    /// A table for a screen.
    pub fn new(screen: Screen) -> Self {
        Self { screen, columns: Columns::fitting(&COLUMNS, &DISPENSABLE, None, &screen), rows_since: None }
    }

    /// The next row, with a header where one is due.
    pub fn next(&mut self, interval: &HeldInterval) -> String {
        let head = head_due(&mut self.rows_since, &self.screen).then(|| self.head());
        format!("{}{}", head.unwrap_or_default(), self.row(interval))
    }

    /// The lines above the first interval.
    pub fn head(&self) -> String {
        let names = self.screen.language.pick(
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
            ["耗时", "已建立", "建立中", "新建/s", "失败", "断开", "消息/s", "收发/s", "p50", "p99", "每连接内存 B"],
        );
        self.columns.head(&names, &self.screen)
    }

    /// The row of an interval. Rates and times are those of the interval; the rest is since the start, or current.
    pub fn row(&self, interval: &HeldInterval) -> String {
        let (total, response) = (&interval.total, &interval.response);
        let cells = [
            elapsed(interval.to.as_secs_f64()),
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
        let is_bad = |column: usize| match column {
            FAILED => total.failed > 0,
            LOST => total.lost > 0,
            _ => false,
        };
        let paint = |column: usize, cell: String| {
            if is_bad(column) { self.screen.paint(&cell, Paint::Bad) } else { cell }
        };
        format!("{}\n", self.columns.painted_row(&cells, "", paint))
    }
}

/// Bytes of this process and of the kernel per connection.
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
