//! The live table: one line for each interval.

mod codes;

use figures::{Interval, Quantile};
use plan::{Load, Plan};

use crate::columns::{Column, Columns, Of, Tail, column};
use crate::format::{bytes, count, rate};
use crate::page::percentile;
use crate::screen::{Paint, Screen};

/// The columns of the terminal, in the order of the headings.
const COLUMNS: [Column; 10] = [
    column(7, Of::Row),
    column(7, Of::Now),
    column(10, Of::Total),
    column(7, Of::Total),
    column(8, Of::Interval),
    column(8, Of::Interval),
    column(8, Of::Interval),
    column(8, Of::Interval),
    column(9, Of::Total),
    column(10, Of::Interval),
];
const USERS: usize = 1;
/// The column that turns red.
const FAILED: usize = 3;
const P50: usize = 5;
const P99: usize = 6;
const MAX: usize = 7;
const BYTES: usize = 8;
const BYTES_PER_S: usize = 9;
/// Columns that a narrow terminal omits, in this order.
const DISPENSABLE: [usize; 6] = [BYTES, BYTES_PER_S, MAX, USERS, P50, P99];
/// The column of the status codes and of remarks on an interval.
const CODES: Tail = Tail { width_min: 18, of: Of::Total };
/// The header is repeated only where there is a screen of rows between two of them.
const ROWS_MIN: usize = 10;

/// A table that grows while a load goes on, or while connections are held.
#[derive(Clone, Debug)]
pub struct IntervalTable {
    pub(crate) screen: Screen,
    pub(crate) columns: Columns,
    /// The headings of the columns.
    heads: Vec<&'static str>,
    /// Whether starts come at a rate: then exchanges in flight are shown in place of users.
    of_rate: bool,
    /// Lines since the last header; `None` before the first.
    rows_since: Option<usize>,
}

/// An interval as a row.
pub trait TableRow {
    /// The cells, the text behind them, and the columns that turn red.
    fn line(&self, table: &IntervalTable) -> (Vec<String>, String, Vec<usize>);
}

impl IntervalTable {
    /// A table of users for a screen.
    pub fn new(screen: Screen) -> Self {
        let words = screen.language.words();
        let heads = vec![
            words.elapsed,
            words.users,
            words.succeeded,
            words.failed,
            words.rate,
            "p50",
            "p99",
            words.max,
            words.bytes,
            words.bytes_per_second,
            words.statuses,
        ];
        Self::with(screen, Columns::fitting(&COLUMNS, &DISPENSABLE, Some(CODES), &screen), heads)
    }

    /// A table with these columns.
    pub(crate) fn with(screen: Screen, columns: Columns, heads: Vec<&'static str>) -> Self {
        Self { screen, columns, heads, of_rate: false, rows_since: None }
    }

    /// A table for a plan: where all starts come at rates, exchanges in flight are shown instead of users.
    #[must_use]
    pub fn for_plan(mut self, plan: &Plan) -> Self {
        self.of_rate = plan.scenarios.iter().all(|scenario| matches!(scenario.load, Load::Open { .. }));
        if self.of_rate {
            self.heads[USERS] = self.screen.language.words().in_flight;
        }
        self
    }

    /// The next row, with a header where one is due: above the first, and again when the last is about to leave the
    /// screen.
    pub fn next(&mut self, interval: &impl TableRow) -> String {
        let head = head_due(&mut self.rows_since, &self.screen).then(|| self.head());
        format!("{}{}", head.unwrap_or_default(), self.row(interval))
    }

    /// The lines above the first interval.
    pub fn head(&self) -> String {
        self.columns.head(&self.heads, &self.screen)
    }

    /// The row of an interval. Rates, times and bytes per second are those of the interval; the rest is since the
    /// start, or current.
    pub fn row(&self, interval: &impl TableRow) -> String {
        let (cells, tail, bad) = interval.line(self);
        let paint = |column: usize, cell: String| match bad.contains(&column) {
            true => self.screen.paint(&cell, Paint::Bad),
            false => cell,
        };
        format!("{}\n", self.columns.painted_row(&cells, &tail, paint))
    }
}

impl TableRow for Interval {
    fn line(&self, table: &IntervalTable) -> (Vec<String>, String, Vec<usize>) {
        let (total, response) = (&self.total, &self.response);
        let cells = vec![
            elapsed(self.to.as_secs_f64()),
            count(if table.of_rate { self.in_flight } else { total.users }),
            count(total.succeeded()),
            count(total.failed),
            rate(self.requests_per_s),
            percentile(response, Quantile::P50),
            percentile(response, Quantile::P99),
            percentile(response, Quantile::Max),
            bytes(total.bytes_received() as f64),
            bytes(self.bytes_received_per_s),
        ];
        let codes = codes::codes(self, &table.screen, table.columns.tail_columns(&table.screen));
        (cells, codes, if total.failed > 0 { vec![FAILED] } else { Vec::new() })
    }
}

/// Whether a header is due above the next row. Without a terminal there is only one: programs read on.
fn head_due(rows_since: &mut Option<usize>, screen: &Screen) -> bool {
    let is_due = match (*rows_since, screen.room) {
        (None, _) => true,
        (Some(_), None) => false,
        // The header has four lines, and the progress is below the rows.
        (Some(rows), Some(room)) => rows >= room.rows.saturating_sub(5).max(ROWS_MIN),
    };
    *rows_since = Some(if is_due { 1 } else { rows_since.unwrap_or(0) + 1 });
    is_due
}

/// Seconds, always with one decimal.
pub(crate) fn elapsed(seconds: f64) -> String {
    format!("{seconds:.1}s")
}
