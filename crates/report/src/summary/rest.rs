//! Times, bars, status codes, failures, and the cost of the load.

use figures::{FailureCount, Quantile, Run, Times};
use metrics::Measure;

use crate::format::{Align, bytes, count, pad, time};
use crate::messages::FailureContext;
use crate::page::{LABEL_WIDTH, Page};
use crate::{messages, verdict, workers};

const BAR_WIDTH: usize = 40;
/// Fractions of a character in a bar.
const BAR_PARTS: u64 = 8;
/// The 99th percentile from which on a wait or a lateness is shown.
const DELAY_LONG_NS: u64 = 1_000_000;
/// It is also shown when it is longer than this, and at least this part of the response time.
const DELAY_SHORT_NS: u64 = 100_000;
const DELAY_SHOWN_PART: u64 = 10;

impl Page {
    pub(super) fn times_of(&mut self, run: &Run) {
        let words = self.language().words();
        let of = |measure| run.succeeded.by_measure(measure);
        let (response, service) = (of(Measure::Response), of(Measure::Service));
        let mut rows = vec![(words.response_time, response), (words.service_time, service)];
        for (name, measure) in [(words.wait, Measure::Wait), (words.lateness, Measure::Lateness)] {
            if self.screen.is_full || is_felt(of(measure), response) {
                rows.push((name, of(measure)));
            }
        }
        let first_byte = of(Measure::FirstByte);
        if self.screen.is_full || first_byte.percentiles != service.percentiles {
            rows.push((words.first_byte, first_byte));
        }
        // Nothing is established for datagrams.
        if !run.has_only_datagrams() {
            rows.push((words.connect, &run.connect));
        }
        let others = [
            (words.proxy_tunnel, &run.proxy_tunnel),
            (words.tls_handshake, &run.tls),
            (words.message, &run.message),
            (words.message_gap, &run.message_gap),
        ];
        rows.extend(others);
        if !self.screen.is_full {
            rows.retain(|(_, times)| times.count + times.incomplete > 0);
        }
        if !rows.is_empty() {
            self.text.push('\n');
            self.times(&rows);
        }
        match verdict::stalls(run, self.language()) {
            Some((stalls, true)) => self.warn("", &stalls),
            Some((stalls, false)) => self.line("", &stalls),
            None => {}
        }
        if let Some(difference) = verdict::difference(run, self.language()) {
            self.line("", &difference);
        }
    }

    /// Bars as long as their counts. A non-zero count is always visible.
    pub(super) fn histogram(&mut self, run: &Run) {
        let bars = &run.bars;
        let Some(most) = bars.iter().map(|bar| bar.count).max().filter(|most| *most > 0) else { return };
        self.text.push('\n');
        let title = self.language().words().histogram;
        self.raw(title, "");
        let counts: Vec<String> = bars.iter().map(|bar| count(bar.count)).collect();
        let widest = counts.iter().map(String::len).max().unwrap_or(0);
        let room = self.value_columns().map_or(BAR_WIDTH, |columns| columns.saturating_sub(widest + 1).min(BAR_WIDTH));
        for (bar, number) in bars.iter().zip(counts) {
            let label = pad(&format!("<={}", time(bar.to_ns as f64)), LABEL_WIDTH - 2, Align::Right);
            let blocks = pad(&blocks(bar.count, most, room), room + 1, Align::Left);
            self.raw(&label, &format!("{blocks}{number}"));
        }
    }

    pub(super) fn statuses(&mut self, run: &Run) {
        let words = self.language().words();
        let one = |name: String, number: u64| format!("{name}: {}", count(number));
        if run.is_grpc() {
            let all = run.tally.grpc_statuses.iter().map(|(name, number)| one((*name).to_owned(), *number)).collect();
            self.list(words.grpc_statuses, all);
        }
        let numbers = run.tally.statuses.iter().map(|(status, number)| one(status.to_string(), *number));
        let of_words = run.tally.status_words.iter().map(|(word, number)| one(word.to_string(), *number));
        self.list(words.statuses_label, numbers.chain(of_words).collect());
        if !run.closes.is_empty() {
            let said = |close: &figures::Close| {
                messages::code_and_reason(close.code, close.reason.as_deref(), self.language())
            };
            let all = run.closes.iter().map(|close| one(said(close), close.count)).collect();
            self.list(words.closes, all);
        }
    }

    fn list(&mut self, name: &str, items: Vec<String>) {
        if !items.is_empty() {
            self.items(name, &items, "   ");
        } else if self.screen.is_full {
            self.line(name, self.language().words().none);
        }
    }

    pub(super) fn failures_of(&mut self, run: &Run) {
        let words = self.language().words();
        let mut all: Vec<&FailureCount> = run.tally.failures.iter().collect();
        if all.is_empty() {
            return self.list(words.failures, Vec::new());
        }
        all.sort_by_key(|each| std::cmp::Reverse(each.count));
        self.failures(
            words.failures,
            &all,
            |failure| FailureContext::for_failure(run, failure),
            self.language().pick(" - ", "："),
        );
    }

    pub(super) fn generator(&mut self, run: &Run) {
        let words = self.language().words();
        let cpu = time(run.cpu_ns as f64);
        let memory = run.host.resident_bytes.map_or("-".to_owned(), |resident| bytes(resident as f64));
        let each = run.cpu_us_per_request.map_or("-".to_owned(), |each| format!("{each:.2}us"));
        let share = run.cpu_share * 100.0;
        let threads = run.threads;
        let (driver, reason) = (run.driver.kind.name(), messages::driver_reason(&run.driver, self.language()));
        let text = self.language().pick(
            format!(
                "CPU {cpu}, {each} per request, {share:.0}% of {}; memory {memory}; driver {driver} ({reason})",
                crate::format::counted(threads as u64, "thread")
            ),
            format!(
                "CPU {cpu}，每请求 {each}，占 {threads} 个线程的 {share:.0}%；内存 {memory}；I/O 后端 {driver}（{reason}）"
            ),
        );
        self.line(words.generator, &text);
        let mut label = self.language().pick("Workers", "工作进程");
        for text in workers::reported(run.workers_summary.as_ref(), self.language()) {
            self.line(label, &text);
            label = "";
        }
    }
}

/// Whether it is long, or a large part of the response time.
fn is_felt(delay: &Times, response: &Times) -> bool {
    let p99 = |times: &Times| times.at(Quantile::P99).map_or(0, |at| at.ns);
    let felt_from = (p99(response) / DELAY_SHOWN_PART).clamp(DELAY_SHORT_NS, DELAY_LONG_NS);
    p99(delay) >= felt_from
}

/// A bar of eighths of a character.
fn blocks(number: u64, most: u64, width: usize) -> String {
    const PARTS: [&str; BAR_PARTS as usize] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let all = (number as f64 / most as f64 * (width as u64 * BAR_PARTS) as f64).round() as u64;
    let all = if number > 0 { all.max(1) } else { 0 };
    format!("{}{}", "█".repeat((all / BAR_PARTS) as usize), PARTS[(all % BAR_PARTS) as usize])
}
