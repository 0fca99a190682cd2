//! The files of the HdrHistogram tools: the percentile text of the whole run, and the log of its intervals.
//!
//! Times in the text are milliseconds, in the log nanoseconds; both hold the response and service times of successes.
//! The log also has the response times of each step and each transaction, where there is more than one step.

use core::time::Duration;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use figures::{Interval, Run, ScenarioPart, StepPart};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use metrics::{Distribution, Measure, VALUE_NS_MAX};

use crate::{Language, verdict};

/// The precision of the recorded times.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Nanoseconds in the unit of the text.
const MILLI: f64 = 1e6;
/// Steps of the percentile text for each halving of the remainder, the usual value.
const TICKS_PER_HALF: u32 = 5;

/// Writes the log, piece by piece. The buffers of a line are reused for the next one: memory of its size that came and
/// went with each interval would fragment the heap, and the process would grow by as much each time.
#[derive(Default)]
pub struct HdrLog {
    has_head: bool,
    tools: Option<Box<Tools>>,
}

impl std::fmt::Debug for HdrLog {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("HdrLog").field("has_head", &self.has_head).finish_non_exhaustive()
    }
}

/// The reused buffers of a line.
struct Tools {
    histogram: Histogram<u64>,
    serializer: V2DeflateSerializer,
    bytes: Vec<u8>,
}

impl Tools {
    fn new() -> Box<Self> {
        let (histogram, serializer) = (empty_histogram(), V2DeflateSerializer::new());
        Box::new(Self { histogram, serializer, bytes: Vec::new() })
    }

    fn line(&mut self, interval: &Interval, tag: &str, times: &Distribution) -> String {
        let (from, length) = (interval.from.as_secs_f64(), (interval.to - interval.from).as_secs_f64());
        let max = times.max().unwrap_or(0) as f64 / MILLI;
        format!("Tag={tag},{from:.3},{length:.3},{max:.3},{}\n", self.encoded(times))
    }

    fn encoded(&mut self, times: &Distribution) -> String {
        self.histogram.reset();
        record_all(&mut self.histogram, times);
        self.bytes.clear();
        self.serializer.serialize(&self.histogram, &mut self.bytes).expect("a histogram fits into memory");
        STANDARD.encode(&self.bytes)
    }
}

impl HdrLog {
    /// The lines of an interval, and before the first the header; `now` is the end of the interval, since the Unix
    /// epoch.
    pub fn interval(&mut self, interval: &Interval, now: Duration) -> String {
        let mut text = String::new();
        if !std::mem::replace(&mut self.has_head, true) {
            let began = now.saturating_sub(interval.to.as_duration()).as_secs_f64();
            write!(
                text,
                "#[Logged by onrush]\n#[Histogram log format version 1.3]\n#[BaseTime: {began:.3} (seconds since epoch)]\n#[StartTime: {began:.3} (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
            )
            .expect("writing to a string does not fail");
        }
        // An update of an interval adds a line with the times that came late.
        let added = &interval.added;
        let tools = self.tools.get_or_insert_with(Tools::new);
        let mut line = |tag: &str, times| text.push_str(&tools.line(interval, tag, times));
        line(Measure::Response.name(), &added.response);
        line(Measure::Service.name(), &added.service);
        for (tag, part) in parts(interval.added_scenarios()).into_iter().filter(|(_, part)| part.recorded.count() > 0) {
            line(&tag, &part.recorded);
        }
        text
    }
}

/// Each step and each transaction with its tag; empty for a single step.
fn parts(scenarios: &[ScenarioPart]) -> Vec<(String, &StepPart)> {
    let all: Vec<_> = scenarios.iter().flat_map(parts_of).collect();
    if all.len() > 1 { all } else { Vec::new() }
}

fn parts_of(scenario: &ScenarioPart) -> impl Iterator<Item = (String, &StepPart)> {
    let tagged = move |kind: &str, part: &StepPart| tag(&format!("{kind}:{}/{}", scenario.name, part.name));
    let steps = scenario.steps.iter().map(move |part| (tagged("step", part), part));
    steps.chain(scenario.transactions.iter().map(move |part| (tagged("transaction", part), part)))
}

/// A tag without the characters at which readers of the log split: commas and white space.
fn tag(name: &str) -> String {
    name.replace(|sign: char| sign == ',' || sign.is_whitespace(), "_")
}

/// The percentile text of the response times of successes.
pub fn hdr_text(run: &Run) -> String {
    let mut text = percentiles(run.recorded.succeeded.by_measure(Measure::Response));
    text.push_str("#[response_time of what succeeded, in milliseconds]\n");
    let incomplete = run.succeeded.by_measure(Measure::Response).incomplete;
    if incomplete > 0 {
        let of = run.tally.all_started();
        writeln!(
            text,
            "#[{incomplete} of {of} timed out, were dropped or did not end, and are not in here: they would have taken longer]"
        )
        .expect("writing to a string does not fail");
    }
    if let Some(mark) = verdict::unreliable(run, Language::En) {
        writeln!(text, "#[{mark}]").expect("writing to a string does not fail");
    }
    text
}

/// The histogram for the writers of the format.
fn histogram_of(times: &Distribution) -> Histogram<u64> {
    let mut histogram = empty_histogram();
    record_all(&mut histogram, times);
    histogram
}

fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, VALUE_NS_MAX, SIGNIFICANT_DIGITS).expect("the bounds are valid")
}

fn record_all(histogram: &mut Histogram<u64>, times: &Distribution) {
    for bucket in times.buckets() {
        histogram.saturating_record_n(bucket.highest_ns, bucket.count);
    }
}

fn percentiles(times: &Distribution) -> String {
    let histogram = histogram_of(times);
    let mut text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n".to_owned();
    let mut total = 0;
    let max = times.max().unwrap_or(0);
    for step in histogram.iter_quantiles(TICKS_PER_HALF) {
        total += step.count_since_last_iteration();
        // A bucket reaches beyond the largest time in it.
        let value = step.value_iterated_to().min(max) as f64 / MILLI;
        let quantile = step.quantile_iterated_to();
        let line = if quantile < 1.0 {
            writeln!(text, "{value:12.3} {quantile:2.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))
        } else {
            writeln!(text, "{value:12.3} {quantile:2.12} {total:10}")
        };
        line.expect("writing to a string does not fail");
    }
    let (mean, stdev) = (times.mean().unwrap_or(0.0) / MILLI, times.stdev().unwrap_or(0.0) / MILLI);
    // The power of two that distinguishes twice as many steps as the digits have.
    let sub_buckets = (2 * 10u64.pow(u32::from(histogram.sigfig()))).next_power_of_two();
    let buckets = 1 + histogram.high().div_ceil(sub_buckets).next_power_of_two().ilog2();
    write!(
        text,
        "#[Mean    = {mean:12.3}, StdDeviation   = {stdev:12.3}]\n#[Max     = {:12.3}, Total count    = {:12}]\n#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]\n",
        max as f64 / MILLI,
        times.count()
    )
    .expect("writing to a string does not fail");
    text
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn the_text_ends_at_the_exact_maximum() {
        let mut times = Distribution::default();
        (1..=1_000u64).for_each(|ms| times.record(ms * 1_000_000 + 1));
        let text = percentiles(&times);
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(2)
            .take_while(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|cell| cell.parse().expect("a number")).collect())
            .collect();
        assert!(rows.windows(2).all(|pair| pair[0][0] <= pair[1][0] && pair[0][2] <= pair[1][2]), "{text}");
        let last = rows.last().expect("rows");
        assert_eq!((last[0], last[1], last[2], last.len()), (1_000.0, 1.0, 1_000.0, 3));
        let median = rows.iter().find(|row| row[1] >= 0.5).expect("a median");
        assert!((median[0] - 500.0).abs() <= 1.0 && median[3] >= 2.0, "{median:?}");
        assert!(text.contains("#[Mean    =      500.500, StdDeviation   =      288."), "{text}");
        assert!(text.contains("Total count    =         1000]"), "{text}");
        assert!(text.contains("SubBuckets     =         2048]"), "{text}");
    }

    /// Reused buffers leave no trace in later lines.
    #[test]
    fn a_line_holds_its_own_times_whatever_came_before() {
        let times = |from: u64, count: u64| {
            let mut times = Distribution::default();
            (0..count).for_each(|number| times.record((from + number) * 1_000_000));
            times
        };
        let all = [times(1, 1_000), times(60_000, 3), Distribution::default(), times(5, 1), times(1, 1_000)];
        let mut tools = Tools::new();
        for (number, times) in all.iter().chain(&all).enumerate() {
            let encoded = tools.encoded(times);
            assert_eq!(encoded, Tools::new().encoded(times), "{number}");
            let bytes = STANDARD.decode(encoded).expect("base64");
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).expect("a histogram");
            assert_eq!(read.len(), times.count(), "{number}");
            let highest = times.buckets().last().map_or(0, |bucket| bucket.highest_ns);
            assert!(read.max() >= highest, "{number}: {} {highest}", read.max());
        }
    }

    #[test]
    fn nothing_measured_is_a_text_too() {
        let text = percentiles(&Distribution::default());
        assert!(text.contains("Total count    =            0]"), "{text}");
    }
}
