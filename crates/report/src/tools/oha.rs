//! oha.

use std::fmt::Write;

use metrics::{Class, Distribution, Failure, Measure, Outcome};
use plan::{OhaFormat, OhaSettings};
use serde_json::{Map, Value, json};

use super::Pages;
use super::hey::counts_up_to;
use crate::messages;
use figures::{FailureCount, Run};

const PERCENTS: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A unit of time: its name and its nanoseconds.
#[derive(Clone, Copy)]
struct TimeUnit(&'static str, f64);

impl TimeUnit {
    fn named(name: &str) -> Self {
        match name {
            "ns" => Self("ns", 1.0),
            "us" => Self("us", 1e3),
            "ms" => Self("ms", 1e6),
            "m" => Self("min", 6e10),
            "h" => Self("hr", 3.6e12),
            _ => Self("sec", 1e9),
        }
    }

    /// The unit in which the slowest time is a convenient number.
    fn for_slowest(slowest_ns: Option<u64>) -> Self {
        let seconds = slowest_ns.map_or(f64::NEG_INFINITY, |ns| ns as f64 / 1e9);
        Self::named(match seconds {
            s if s > 3_600.0 => "h",
            s if s > 60.0 => "m",
            s if s > 1.0 => "s",
            s if s > 1e-3 => "ms",
            s if s > 1e-6 => "us",
            _ => "ns",
        })
    }

    fn text(self, ns: f64) -> String {
        format!("{} {}", number(ns / self.1), self.0)
    }
}

/// Four decimals, or Rust's text for a non-finite number.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        format!("{value:.4}")
    }
}

fn bytes(count: f64) -> String {
    const NAMES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1_024.0 {
        return format!("{} B", count as u64);
    }
    let (mut amount, mut name) = (count / 1_024.0, NAMES[0]);
    for next in &NAMES[1..] {
        if amount < 1_024.0 {
            break;
        }
        amount /= 1_024.0;
        name = next;
    }
    format!("{amount:.2} {name}")
}

/// The errors, in the words of oha.
fn errors(settings: &OhaSettings, run: &Run) -> Vec<(String, u64)> {
    let counts = &run.tally;
    let mut all: Vec<(String, u64)> = Vec::new();
    for &FailureCount { failure, count, .. } in &counts.failures {
        let text = match failure {
            Failure::Status | Failure::Check => continue,
            Failure::ConnectRefused => "Connection refused (os error 111)".to_owned(),
            failure if Class::from_outcome(Outcome::Failed(failure)) == Class::TimedOut => "timeout".to_owned(),
            Failure::Reset => "connection error".to_owned(),
            Failure::ClosedEarly => "connection closed before message completed".to_owned(),
            Failure::Redirect => "Redirection limit has reached".to_owned(),
            other => messages::failure_name(other),
        };
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, known)) => *known += count,
            None => all.push((text, count)),
        }
    }
    if settings.aborts && counts.unfinished() > 0 {
        all.push((ABORTED.to_owned(), counts.unfinished()));
    }
    all.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    all
}

const ABORTED: &str = "aborted due to deadline";

pub(super) fn finish(settings: &OhaSettings, run: &Run, rates: &[(f64, u64)]) -> Pages {
    let text = match settings.format {
        OhaFormat::Text => text(settings, run),
        OhaFormat::Json => json_report(settings, run, rates),
        OhaFormat::Csv => csv(run),
        OhaFormat::Quiet => String::new(),
    };
    match &settings.output {
        Some(path) => Pages { files: vec![(path.clone(), text)], ..Pages::default() },
        None => Pages { stdout: text, ..Pages::default() },
    }
}

fn marks_of(times: &Distribution) -> Vec<f64> {
    let (min, max) = (times.min().unwrap_or(0) as f64, times.max().unwrap_or(0) as f64);
    (0..=10).map(|index| min + f64::from(index) * (max - min) / 10.0).collect()
}

/// Successes, and the other exchanges that count for the success rate.
fn shares(settings: &OhaSettings, run: &Run) -> (u64, u64, u64) {
    let counts = &run.tally;
    let good = super::responses(run).saturating_sub(counts.redirects());
    let all: u64 = errors(settings, run).iter().map(|(_, count)| count).sum();
    let aborted = if settings.aborts { counts.unfinished() } else { 0 };
    (good, all, aborted)
}

fn text(settings: &OhaSettings, run: &Run) -> String {
    let all = &run.recorded.answered;
    let times = super::whole(run, all);
    let unit = settings.unit.map_or_else(|| TimeUnit::for_slowest(times.max()), TimeUnit::named);
    let total = run.wall.as_secs_f64();
    let (good, bad, aborted) = shares(settings, run);
    let edge = |ns: Option<u64>, none: f64| ns.map_or(none, |ns| ns as f64);
    let mut text = "Summary:\n".to_owned();
    let rate = good as f64 / (good + bad - aborted) as f64 * 100.0;
    let rate = if rate.is_nan() { "NaN".to_owned() } else { format!("{rate:.2}") };
    let _ = writeln!(text, "  Success rate:\t{rate}%");
    let _ = writeln!(text, "  Total:\t{}", unit.text(total * 1e9));
    let _ = writeln!(text, "  Slowest:\t{}", unit.text(edge(times.max(), f64::NEG_INFINITY)));
    let _ = writeln!(text, "  Fastest:\t{}", unit.text(edge(times.min(), f64::INFINITY)));
    let _ = writeln!(text, "  Average:\t{}", unit.text(times.mean().unwrap_or(f64::NAN)));
    let _ = writeln!(text, "  Requests/sec:\t{}", number((good + bad) as f64 / total.max(1e-9)));
    let data = run.tally.body_bytes();
    let _ = writeln!(text, "\n  Total data:\t{}", bytes(data as f64));
    let size = data.checked_div(good).map_or("NaN".to_owned(), |size| bytes(size as f64));
    let _ = writeln!(text, "  Size/request:\t{size}");
    let _ = writeln!(text, "  Size/sec:\t{}", bytes((data as f64 / total.max(1e-9)).floor()));
    text.push_str("\nResponse time histogram:\n");
    let marks = marks_of(times);
    let counts = counts_up_to(times, &marks);
    let most = counts.iter().copied().max().unwrap_or(0);
    let label = |ns: &f64| if times.count() == 0 { "NaN".to_owned() } else { format!("{:.3}", ns / unit.1) };
    let width = marks.iter().map(|mark| label(mark).len()).max().unwrap_or(0);
    let digits = most.to_string().len();
    for (mark, count) in marks.iter().zip(&counts) {
        let bar = "■".repeat((32 * count).checked_div(most).unwrap_or(0) as usize);
        let pad = " ".repeat(digits - count.to_string().len());
        let _ = writeln!(text, "  {:>width$} {} [{count}]{pad} |{bar}", label(mark), unit.0);
    }
    text.push_str("\nResponse time distribution:\n");
    for percent in PERCENTS {
        let value = times.quantile(percent / 100.0).map_or(f64::NAN, |ns| ns as f64);
        let _ = writeln!(text, "  {percent:.2}% in {}", unit.text(value));
    }
    text.push_str("\n\nDetails (average, fastest, slowest):\n");
    let lookup = super::lookup(run, times);
    for (name, times) in [("DNS+dialup", &run.recorded.connect), ("DNS-lookup", &lookup)] {
        let (mean, min, max) = (
            unit.text(times.mean().unwrap_or(f64::NAN)),
            unit.text(edge(times.min(), f64::INFINITY)),
            unit.text(edge(times.max(), f64::NEG_INFINITY)),
        );
        let _ = writeln!(text, "  {name}:\t{mean}, {min}, {max}");
    }
    text.push_str("\nStatus code distribution:\n");
    let mut statuses = super::last_statuses(&run.tally);
    statuses.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    for (status, count) in statuses {
        let _ = writeln!(text, "  [{status}] {count} responses");
    }
    let errors = errors(settings, run);
    if !errors.is_empty() {
        text.push_str("\nError distribution:\n");
        for (error, count) in errors {
            let _ = writeln!(text, "  [{count}] {error}");
        }
    }
    text
}

fn seconds(ns: Option<f64>) -> Value {
    ns.map_or(Value::Null, |ns| (ns / 1e9).into())
}

fn quantiles(times: &Distribution) -> Value {
    let one = |percent: f64| {
        let name = format!("p{percent}");
        (name, seconds(times.quantile(percent / 100.0).map(|ns| ns as f64)))
    };
    Value::Object(PERCENTS.into_iter().map(one).collect())
}

fn bars(times: &Distribution) -> Value {
    if times.count() == 0 {
        return json!({ "NaN": 0 });
    }
    let marks = marks_of(times);
    let counts = counts_up_to(times, &marks);
    let mut all: Vec<(String, Value)> =
        marks.iter().zip(counts).map(|(mark, count)| (format!("{}", mark / 1e9), count.into())).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(all.into_iter().collect())
}

fn three(times: &Distribution) -> Value {
    json!({
        "average": seconds(times.mean()),
        "fastest": seconds(times.min().map(|ns| ns as f64)),
        "slowest": seconds(times.max().map(|ns| ns as f64)),
    })
}

fn json_report(settings: &OhaSettings, run: &Run, rates: &[(f64, u64)]) -> String {
    let all = &run.recorded.answered;
    let (times, first) = (super::whole(run, all), all.by_measure(Measure::FirstByte));
    let total = run.wall.as_secs_f64();
    let (good, bad, aborted) = shares(settings, run);
    let success =
        if good + bad > aborted { Value::from(good as f64 / (good + bad - aborted) as f64) } else { Value::Null };
    let per_s = (good + bad) as f64 / total.max(1e-9);
    let data = run.tally.body_bytes();
    let ms = |ns: Option<f64>| ns.map_or(Value::Null, |ns| ((ns / 1e3).round() / 1e3).into());
    let at = |quantile: f64| times.quantile(quantile).map(|ns| ns as f64);
    let statuses: Map<String, Value> = super::last_statuses(&run.tally)
        .into_iter()
        .map(|(status, count)| (status.to_string(), count.into()))
        .collect();
    let errors: Map<String, Value> =
        errors(settings, run).into_iter().map(|(error, count)| (error, count.into())).collect();
    let lookup = super::lookup(run, times);
    let report = json!({
        "summary": {
            "successRate": success,
            "total": total,
            "slowest": seconds(times.max().map(|ns| ns as f64)),
            "fastest": seconds(times.min().map(|ns| ns as f64)),
            "average": seconds(times.mean()),
            "requestsPerSec": per_s,
            "totalData": data,
            "sizePerRequest": data.checked_div(good),
            "sizePerSec": data as f64 / total.max(1e-9),
        },
        "metrics": {
            "success_rate": success,
            "requests_per_sec": per_s,
            "latency_ms": {
                "min": ms(times.min().map(|ns| ns as f64)),
                "mean": ms(times.mean()),
                "p50": ms(at(0.5)),
                "p95": ms(at(0.95)),
                "p99": ms(at(0.99)),
                "max": ms(times.max().map(|ns| ns as f64)),
            },
        },
        "responseTimeHistogram": bars(times),
        "latencyPercentiles": quantiles(times),
        "firstByteHistogram": bars(first),
        "firstBytePercentiles": quantiles(first),
        "rps": rate_report(rates),
        "details": {
            "DNSDialup": three(&run.recorded.connect),
            "DNSLookup": three(&lookup),
            "firstByte": three(first),
        },
        "statusCodeDistribution": statuses,
        "errorDistribution": errors,
    });
    format!("{report:#}")
}

/// The requests per second, of intervals with their seconds and counts.
fn rate_report(rates: &[(f64, u64)]) -> Value {
    let mut rate: Vec<f64> =
        rates.iter().filter(|(seconds, _)| *seconds > 0.0).map(|(seconds, count)| *count as f64 / seconds).collect();
    rate.sort_by(f64::total_cmp);
    let mean = rate.iter().sum::<f64>() / rate.len().max(1) as f64;
    let square: f64 = rate.iter().map(|one| (one - mean).powi(2)).sum();
    let deviation = if rate.len() > 1 { (square / (rate.len() - 1) as f64).sqrt() } else { 0.0 };
    let quantile = |percent: f64| {
        let index = (percent / 100.0 * rate.len() as f64) as usize;
        (format!("p{percent}"), rate.get(index).or(rate.last()).copied().map_or(Value::Null, Value::from))
    };
    let quantiles: Map<String, Value> = PERCENTS.into_iter().map(quantile).collect();
    json!({
        "mean": mean,
        "stddev": deviation,
        "max": rate.last(),
        "min": rate.first(),
        "percentiles": quantiles,
    })
}

fn csv(run: &Run) -> String {
    let mut rows: Vec<_> = run.rows.iter().filter(|row| row.is_answered).collect();
    rows.sort_by_key(|row| row.start_ns);
    let mut text = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n".to_owned();
    for row in rows {
        let of = |ns: u64| format!("{}", ns as f64 / 1e9);
        let delay = of(row.wait_ns + row.first_byte_ns);
        let _ = writeln!(
            text,
            "{},0,{},{delay},{},{},{}",
            of(row.start_ns),
            of(row.wait_ns),
            of(row.response_ns),
            row.bytes,
            row.status
        );
    }
    text
}
