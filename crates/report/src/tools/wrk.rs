//! wrk and wrk2.

use std::fmt::Write;

use metrics::{Distribution, Measure};
use plan::WrkSettings;

use super::{Faults, Pages, responses};
use figures::Run;

/// A number with its unit.
fn units(mut amount: f64, scale: f64, base: &str, names: &[&str], digits: usize) -> String {
    let mut unit = base;
    for name in names {
        if amount < scale * 0.85 {
            break;
        }
        amount /= scale;
        unit = name;
    }
    format!("{amount:.digits$}{unit}")
}

fn time_us(us: f64) -> String {
    if us >= 1_000_000.0 { units(us / 1e6, 60.0, "s", &["m"], 2) } else { units(us, 1_000.0, "us", &["ms"], 2) }
}

fn binary(bytes: f64) -> String {
    units(bytes, 1_024.0, "", &["K", "M", "G", "T"], 2)
}

fn metric(number: f64) -> String {
    units(number, 1_000.0, "", &["k", "M", "G", "T"], 2)
}

/// A cell in a column: the number ends at the same place, whatever its unit.
fn column(text: &str, width: usize) -> String {
    let letters = text.bytes().rev().take(2).take_while(u8::is_ascii_alphabetic).count();
    let (pad, width) = (2 - letters, width - (2 - letters));
    let shown: String = text.chars().take(width).collect();
    format!("{shown:>width$}{:pad$}", "")
}

pub(super) fn begin(settings: &WrkSettings) -> Pages {
    let span = units(settings.duration_s as f64, 60.0, "s", &["m"], 0);
    let (url, threads, connections) = (plan::masked_url(&settings.url), settings.threads, settings.connections);
    let stdout = format!("Running {span} test @ {url}\n  {threads} threads and {connections} connections\n");
    Pages { stdout, ..Pages::default() }
}

/// Mean, standard deviation, maximum, and the share within one deviation.
struct Stats {
    mean: f64,
    stdev: f64,
    max: f64,
    within: f64,
}

impl Stats {
    fn from_times(times: &Distribution) -> Self {
        let (mean, stdev) = (times.mean().unwrap_or(0.0), times.stdev().unwrap_or(0.0));
        let low = (mean - stdev).max(0.0) as u64;
        let within = times.count_between(low, (mean + stdev) as u64 + 1) as f64 * 100.0 / times.count() as f64;
        Self { mean: mean / 1e3, stdev: stdev / 1e3, max: times.max().unwrap_or(0) as f64 / 1e3, within }
    }

    fn from_numbers(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = if numbers.is_empty() { 0.0 } else { numbers.iter().sum::<f64>() / count };
        let square: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let stdev = if numbers.len() < 2 { 0.0 } else { (square / (count - 1.0)).sqrt() };
        let within = numbers.iter().filter(|number| (**number - mean).abs() <= stdev).count() as f64 * 100.0 / count;
        Self { mean, stdev, max: numbers.iter().copied().fold(0.0, f64::max), within }
    }

    fn row(&self, name: &str, text: fn(f64) -> String) -> String {
        let within = if self.within.is_nan() { format!("{:>8}%", "-nan") } else { format!("{:>8.2}%", self.within) };
        let (mean, stdev, max) = (text(self.mean), text(self.stdev), text(self.max));
        format!("    {name:<10}{}{}{}{within}\n", column(&mean, 8), column(&stdev, 10), column(&max, 9))
    }
}

pub(super) fn finish(settings: &WrkSettings, run: &Run, rates: &[(f64, u64)]) -> Pages {
    let all = &run.recorded.answered;
    let (response, service) = (all.by_measure(Measure::Response), all.by_measure(Measure::Service));
    let each: Vec<f64> = rates
        .iter()
        .filter(|(seconds, _)| *seconds > 0.05)
        .map(|(seconds, count)| *count as f64 / seconds / settings.threads as f64)
        .filter(|rate| settings.is_wrk2 || *rate > 0.0)
        .collect();
    let mut text = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    text.push_str(&Stats::from_times(response).row("Latency", time_us));
    text.push_str(&Stats::from_numbers(&each).row("Req/Sec", metric));
    if settings.shows_latency && settings.is_wrk2 {
        spectrum(&mut text, response, "Recorded Latency");
        if settings.shows_uncorrected {
            text.push('\n');
            let name = "Uncorrected Latency (measured without taking delayed starts into account)";
            spectrum(&mut text, service, name);
        }
    } else if settings.shows_latency {
        text.push_str("  Latency Distribution\n");
        for percent in [50.0, 75.0, 90.0, 99.0] {
            let value = response.quantile(percent / 100.0).unwrap_or(0) as f64 / 1e3;
            let _ = writeln!(text, "{percent:>7.0}%{}", column(&time_us(value), 10));
        }
    }
    let seconds = run.wall.as_secs_f64();
    let (complete, bytes) = (responses(run), run.tally.bytes_received() as f64);
    let _ = writeln!(text, "  {complete} requests in {}, {}B read", time_us(seconds * 1e6), binary(bytes));
    let faults = Faults::new(&run.tally);
    if faults.all() > 0 {
        let Faults { connect, read, timeout } = faults;
        let _ = writeln!(text, "  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}");
    }
    let bad: u64 = run.tally.statuses.iter().copied().filter(|(status, _)| *status > 399).map(|(_, count)| count).sum();
    if bad > 0 {
        let _ = writeln!(text, "  Non-2xx or 3xx responses: {bad}");
    }
    let _ = writeln!(text, "Requests/sec: {:>9.2}", complete as f64 / seconds.max(1e-9));
    let _ = writeln!(text, "Transfer/sec: {:>10}B", binary(bytes / seconds.max(1e-9)));
    Pages { stdout: text, ..Pages::default() }
}

/// The percentiles of wrk2, and its long table.
fn spectrum(text: &mut String, times: &Distribution, name: &str) {
    let _ = writeln!(text, "  Latency Distribution (HdrHistogram - {name})");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let value = times.quantile(percent / 100.0).unwrap_or(0) as f64 / 1e3;
        let _ = writeln!(text, "{percent:>7.3}%{}", column(&time_us(value), 10));
    }
    text.push_str("\n  Detailed Percentile spectrum:\n");
    let _ = writeln!(text, "{:>12} {:>12} {:>12} {:>12}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let most = times.max().unwrap_or(0);
    let recorded: Vec<(u64, u64)> = times
        .buckets()
        .scan(0, |sum, bucket| {
            *sum += bucket.count;
            Some((bucket.highest_ns.min(most), *sum))
        })
        .collect();
    let total = recorded.last().map_or(0, |(_, sum)| *sum);
    let mut to = 0.0;
    for (index, (value, sum)) in recorded.iter().enumerate() {
        let is_last = index + 1 == recorded.len();
        while to <= 100.0 * *sum as f64 / total as f64 && to < 100.0 {
            let share = to / 100.0;
            let _ =
                writeln!(text, "{:>12.3} {share:>12.6} {sum:>12} {:>12.2}", *value as f64 / 1e6, 1.0 / (1.0 - share));
            let half = 2f64.powi((100.0f64 / (100.0 - to)).log2() as i32 + 1);
            to += 100.0 / (5.0 * half);
            if is_last {
                break;
            }
        }
    }
    let last = recorded.last().map_or(0, |(value, _)| *value) as f64 / 1e6;
    let _ = writeln!(text, "{last:>12.3} {:>12.6} {total:>12} {:>12}", 1.0, "inf");
    let (mean, stdev) = (times.mean().unwrap_or(0.0) / 1e6, times.stdev().unwrap_or(0.0) / 1e6);
    let _ = writeln!(text, "#[Mean    = {mean:>12.3}, StdDeviation   = {stdev:>12.3}]");
    let _ = writeln!(text, "#[Max     = {:>12.3}, Total count    = {total:>12}]", most as f64 / 1e6);
    let _ = writeln!(text, "#[Buckets = {:>12}, SubBuckets     = {:>12}]", 27, 2_048);
    text.push_str(&"-".repeat(58));
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_wrk_has_them() {
        for (us, text) in [
            (849.994, "849.99us"),
            (850.0, "0.85ms"),
            (999_999.0, "1000.00ms"),
            (1e6, "1.00s"),
            (50.9e6, "50.90s"),
            (51e6, "0.85m"),
            (3.6e9, "60.00m"),
        ] {
            assert_eq!(time_us(us), text);
        }
        assert_eq!([binary(0.0), binary(870.0), binary(871.0)], ["0.00", "870.00", "0.85K"]);
        assert_eq!([metric(849.0), metric(850.0), metric(1e15)], ["849.00", "0.85k", "1000.00T"]);
        assert_eq!(column("849.99us", 8), "849.99us");
        assert_eq!(column("1.18s", 8), "  1.18s ");
        assert_eq!(column("195.98", 8), "195.98  ");
        assert_eq!(column("1000.00ms", 8), "1000.00m");
    }
}
