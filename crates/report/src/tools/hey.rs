//! hey.

use std::fmt::Write;

use metrics::{Distribution, Failure, Measure, TlsFault};
use plan::HeySettings;

use super::Pages;
use crate::messages;
use figures::Run;

/// Seconds in the notation of hey.
fn seconds(ns: f64) -> String {
    if ns.is_nan() { " NaN".to_owned() } else { format!("{:.4}", ns / 1e9) }
}

fn detail(text: &mut String, name: &str, times: &Distribution) {
    let mean = seconds(times.mean().unwrap_or(f64::NAN));
    let (min, max) = (seconds(times.min().unwrap_or(0) as f64), seconds(times.max().unwrap_or(0) as f64));
    let _ = writeln!(text, "  {name}:\t{mean} secs, {min} secs, {max} secs");
}

pub(super) fn finish(settings: &HeySettings, run: &Run) -> Pages {
    if settings.is_csv {
        return Pages { stdout: csv(run), ..Pages::default() };
    }
    let all = &run.recorded.answered;
    let times = super::whole(run, all);
    let total = run.wall.as_secs_f64();
    // hey does not count a followed redirect as a request.
    let finished = run.tally.finished().saturating_sub(run.tally.redirects());
    let (slowest, fastest) = (times.max().unwrap_or(0) as f64, times.min().unwrap_or(0) as f64);
    let mut text = "\nSummary:\n".to_owned();
    let _ = writeln!(text, "  Total:\t{total:.4} secs");
    let _ = writeln!(text, "  Slowest:\t{} secs", seconds(slowest));
    let _ = writeln!(text, "  Fastest:\t{} secs", seconds(fastest));
    let _ = writeln!(text, "  Average:\t{} secs", seconds(times.mean().unwrap_or(f64::NAN)));
    let _ = writeln!(text, "  Requests/sec:\t{:.4}", finished as f64 / total.max(1e-9));
    text.push_str("  \n");
    if run.tally.body_bytes() > 0 && times.count() > 0 {
        let _ = writeln!(text, "  Total data:\t{} bytes", run.tally.body_bytes());
        let _ = writeln!(text, "  Size/request:\t{} bytes", run.tally.body_bytes() / times.count());
        text.push('\n');
    } else {
        text.push('\n');
    }
    text.push_str("Response time histogram:\n");
    if times.count() > 0 {
        bars(&mut text, times);
    }
    text.push_str("\n\nLatency distribution:\n");
    if times.count() > 0 {
        for percent in [10u32, 25, 50, 75, 90, 95, 99] {
            let value = times.quantile(f64::from(percent) / 100.0).unwrap_or(0);
            let _ = writeln!(text, "  {percent}%% in {} secs", seconds(value as f64));
        }
    }
    text.push_str("\nDetails (average, fastest, slowest):\n");
    detail(&mut text, "DNS+dialup", &run.recorded.connect);
    let lookup = super::lookup(run, times);
    detail(&mut text, "DNS-lookup", &lookup);
    let mut write = Distribution::default();
    if times.count() > 0 {
        write.record(0);
    }
    detail(&mut text, "req write", &write);
    detail(&mut text, "resp wait", all.by_measure(Measure::FirstByte));
    detail(&mut text, "resp read", &run.recorded.reading);
    text.push_str("\nStatus code distribution:\n");
    for (status, count) in super::last_statuses(&run.tally) {
        let _ = writeln!(text, "  [{status}]\t{count} responses");
    }
    text.push('\n');
    let errors = errors(settings, run);
    if errors.is_empty() {
        text.push('\n');
    } else {
        text.push_str("Error distribution:\n");
        for (error, count) in errors {
            let _ = writeln!(text, "  [{count}]\t{error}");
        }
    }
    text.push('\n');
    Pages { stdout: text, ..Pages::default() }
}

/// The bars of the response times.
fn bars(text: &mut String, times: &Distribution) {
    let (slowest, fastest) = (times.max().unwrap_or(0) as f64, times.min().unwrap_or(0) as f64);
    let marks: Vec<f64> = (0..=10).map(|index| fastest + f64::from(index) * (slowest - fastest) / 10.0).collect();
    let counts = counts_up_to(times, &marks);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (mark, count) in marks.iter().zip(&counts) {
        let bar = "■".repeat(((count * 40 + most / 2) / most) as usize);
        let _ = writeln!(text, "  {:.3} [{count}]\t|{bar}", mark / 1e9);
    }
}

/// The errors with their counts, sorted by their texts.
fn errors(settings: &HeySettings, run: &Run) -> Vec<(String, u64)> {
    let text_of = |failure| format!("{}: {}", plan::masked(&settings.request), go_error(failure, run));
    let mut errors: Vec<(String, u64)> = run
        .tally
        .failures
        .iter()
        .filter(|each| !matches!(each.failure, Failure::Status | Failure::Check))
        .map(|each| (text_of(each.failure), each.count))
        .collect();
    errors.sort();
    errors
}

/// The number of values up to each mark, and above the previous one.
pub(super) fn counts_up_to(times: &Distribution, marks: &[f64]) -> Vec<u64> {
    let mut counts: Vec<u64> = Vec::new();
    let mut below = 0;
    for (index, mark) in marks.iter().enumerate() {
        let is_last = index + 1 == marks.len();
        // A value in the histogram bucket of the mark counts as the mark.
        let up_to = if is_last { times.count() } else { times.count_up_to(*mark as u64) };
        counts.push(up_to.saturating_sub(below));
        below = below.max(up_to);
    }
    counts
}

/// The error text of a Go client.
pub(super) fn go_error(failure: Failure, run: &Run) -> String {
    let address = run.address;
    match failure {
        Failure::ConnectRefused => format!("dial tcp {address}: connect: connection refused"),
        Failure::ConnectTimeout => format!("dial tcp {address}: i/o timeout"),
        Failure::Tls(TlsFault::NoAnswer) => "net/http: TLS handshake timeout".to_owned(),
        Failure::Unreachable => format!("dial tcp {address}: connect: no route to host"),
        Failure::NoDescriptor => format!("dial tcp {address}: socket: too many open files"),
        Failure::NoLocalPort => format!("dial tcp {address}: connect: cannot assign requested address"),
        Failure::Timeout => "context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_owned(),
        Failure::Reset => format!("read tcp {address}: read: connection reset by peer"),
        Failure::ClosedEarly => "EOF".to_owned(),
        Failure::Redirect => "stopped after 10 redirects".to_owned(),
        other => messages::failure_name(other),
    }
}

fn csv(run: &Run) -> String {
    let mut text =
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset".to_owned();
    for row in run.rows.iter().filter(|row| row.is_answered) {
        let of = |ns: u64| format!("{:.4}", ns as f64 / 1e9);
        let _ = write!(
            text,
            "\n{},{},0.0000,0.0000,{},{},{},{}",
            of(row.response_ns),
            of(row.wait_ns),
            of(row.first_byte_ns),
            of(row.service_ns - row.first_byte_ns.min(row.service_ns)),
            row.status,
            of(row.start_ns)
        );
    }
    text.push('\n');
    text
}
