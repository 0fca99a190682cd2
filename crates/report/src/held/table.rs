//! The columns of the live table of a hold.

use engine::MemoryUse;
use figures::{HeldInterval, Quantile};

use crate::columns::{Column, Columns, Of, column};
use crate::format::{bytes, count, rate};
use crate::page::percentile;
use crate::screen::Screen;
use crate::table::{IntervalTable, TableRow, elapsed};

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

impl IntervalTable {
    /// A table of held connections for a screen.
    pub fn of_hold(screen: Screen) -> Self {
        let names = screen.language.pick(
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
        Self::with(screen, Columns::fitting(&COLUMNS, &DISPENSABLE, None, &screen), names.to_vec())
    }
}

impl TableRow for HeldInterval {
    fn line(&self, _: &IntervalTable) -> (Vec<String>, String, Vec<usize>) {
        let (total, response) = (&self.total, &self.response);
        let cells = vec![
            elapsed(self.to.as_secs_f64()),
            count(self.now.open),
            count(self.now.connecting),
            rate(self.established_per_s),
            count(total.failed),
            count(total.lost),
            rate(self.messages_per_s),
            bytes(self.bytes_per_s),
            percentile(response, Quantile::P50),
            percentile(response, Quantile::P99),
            each(self.memory, self.now.open),
        ];
        let bad = [(FAILED, total.failed), (LOST, total.lost)].into_iter().filter(|(_, count)| *count > 0);
        (cells, String::new(), bad.map(|(column, _)| column).collect())
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
