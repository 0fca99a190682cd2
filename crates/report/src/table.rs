//! The live table: one line for each interval.

use figures::{Interval, Quantile};

use crate::format::{Align, bytes, count, pad, rate};
use crate::page::percentile;
use crate::{Language, format};

/// Columns of the terminal, in the order of the headings.
const WIDTHS: [usize; 10] = [6, 8, 11, 8, 9, 8, 8, 8, 9, 10];
/// The column that turns red.
const FAILED: usize = 3;

/// Writes the lines of the table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    language: Language,
    is_colorful: bool,
}

impl Table {
    /// A table in a language, with colors or without.
    pub fn new(language: Language, is_colorful: bool) -> Self {
        Self { language, is_colorful }
    }

    /// The lines above the first interval.
    pub fn head(&self) -> String {
        let words = self.language.words();
        let p50_and_p99 = ["p50", "p99"];
        let names = [words.elapsed, words.users, words.succeeded, words.failed, words.rate]
            .into_iter()
            .chain(p50_and_p99)
            .chain([words.max, words.bytes, words.bytes_per_second]);
        let cells: Vec<String> =
            WIDTHS.iter().zip(names).map(|(width, name)| pad(name, *width, Align::Right)).collect();
        let (above, below) = (rule('┬'), rule('┼'));
        format!("{above}\n{}│ {}\n{below}\n", cells.join("│"), words.statuses)
    }

    /// One interval. Rate, times and bytes a second are those of the interval; the rest is from the start.
    pub fn row(&self, interval: &Interval) -> String {
        let (total, response) = (&interval.total, &interval.response);
        let cells = [
            elapsed(interval.to.as_secs_f64()),
            count(total.users),
            count(total.succeeded),
            count(total.failed),
            rate(interval.requests_per_s),
            percentile(response, Quantile::P50),
            percentile(response, Quantile::P99),
            percentile(response, Quantile::Max),
            bytes(total.bytes_received as f64),
            bytes(interval.bytes_received_per_s),
        ];
        let mut cells: Vec<String> =
            WIDTHS.iter().zip(&cells).map(|(width, cell)| pad(cell, *width, Align::Right)).collect();
        if self.is_colorful && total.failed > 0 {
            cells[FAILED] = format::red(&cells[FAILED]);
        }
        // Where calls are counted, that HTTP was fine is no news.
        let mut statuses: Vec<String> =
            total.grpc_statuses.iter().map(|(name, count)| format!("{name}:{}", format::count(*count))).collect();
        let is_grpc = !statuses.is_empty();
        let of_http = total.statuses.iter().filter(|(status, _)| !is_grpc || *status != 200);
        statuses.extend(of_http.map(|(status, count)| format!("{status}:{}", format::count(*count))));
        if total.dropped > 0 {
            statuses.push(format!("{}:{}", self.language.words().dropped, count(total.dropped)));
        }
        if interval.late_shards > 0 {
            let late = interval.late_shards;
            statuses.push(self.language.pick(format!("({late} thread(s) late)"), format!("（{late} 个线程滞后）")));
        }
        format!("{}│ {}\n", cells.join("│"), statuses.join(" "))
    }
}

fn rule(cross: char) -> String {
    let parts: Vec<String> = WIDTHS.iter().map(|width| "─".repeat(*width)).collect();
    format!("{}{cross}{}", parts.join(&cross.to_string()), "─".repeat(14))
}

/// Whole seconds where the interval is one, tenths where it is shorter.
fn elapsed(seconds: f64) -> String {
    let tenths = (seconds * 10.0).round();
    if (tenths % 10.0).abs() < 0.5 { format!("{:.0}s", tenths / 10.0) } else { format!("{:.1}s", tenths / 10.0) }
}
