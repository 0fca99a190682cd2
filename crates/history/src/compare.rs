//! The comparison of two runs, or of several runs on each side.

use serde_json::Value;

use crate::statistics::Sample;

/// The largest p-value of a clear difference. Over all figures together, one difference in a hundred comparisons of
/// equal runs may look clear.
const CHANCE_MAX: f64 = 0.01;
/// The smallest change that matters; smaller ones are ignored.
const CHANGE_MIN: f64 = 0.02;
/// The smallest change of a share of failures; a smaller one is no difference.
const SHARE_MIN: f64 = 0.002;
/// An interval whose length differs by more than this share from the usual one is a remainder.
const REST_SHARE: f64 = 0.1;

/// Verdicts that name onrush, its workers or their machines as the bottleneck, as reports name them.
const LIMITS_OF_OURS: [&str; 3] = ["generator", "ports_or_descriptors", "workers"];

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests a second.
    Rate,
    /// The share of requests that failed.
    Failed,
    /// Mean of the response times of successes.
    Mean,
    /// The median of the response times of successes.
    P50,
    /// The 90th percentile of the response times of successes.
    P90,
    /// The 99th percentile of the response times of successes.
    P99,
}

/// All figures that are compared.
pub const FIGURES: [Figure; 6] = [Figure::Rate, Figure::Failed, Figure::Mean, Figure::P50, Figure::P90, Figure::P99];

impl Figure {
    /// The name of the figure, as in thresholds.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Failed => "failed / done",
            Self::Mean => "mean(response_time)",
            Self::P50 => "p50(response_time)",
            Self::P90 => "p90(response_time)",
            Self::P99 => "p99(response_time)",
        }
    }

    /// The key of the figure among the times of a report; `None` for what is no time.
    fn key(self) -> Option<&'static str> {
        match self {
            Self::Rate | Self::Failed => None,
            Self::Mean => Some("mean_ns"),
            Self::P50 => Some("p50_ns"),
            Self::P90 => Some("p90_ns"),
            Self::P99 => Some("p99_ns"),
        }
    }

    /// Whether the figure is a time, in nanoseconds.
    pub fn is_time(self) -> bool {
        self.key().is_some()
    }

    /// Whether the figure is a percentile.
    fn is_percentile(self) -> bool {
        self.is_time() && self != Self::Mean
    }

    /// Whether a larger value is worse.
    pub fn is_worse_up(self) -> bool {
        self != Self::Rate
    }

    /// The figure in the totals of a report.
    fn report_value(self, report: &Value) -> Option<f64> {
        let is_held = is_hold(report);
        let times = if is_held { "/times/response_time" } else { "/times/succeeded/response_time" };
        match self.key() {
            Some(key) => report.pointer(times)?[key].as_f64(),
            None if is_held => self.hold_value(report, &report["connections"], report["wall_s"].as_f64()?),
            None if self == Self::Rate => report["requests_per_s"].as_f64(),
            None => share(&report["requests"]),
        }
    }

    /// The figure in one interval.
    fn interval_value(self, interval: &Value, is_held: bool) -> Option<f64> {
        match self.key() {
            Some(key) => interval["response_time"][key].as_f64(),
            None if is_held => self.hold_value(interval, interval, length(interval)),
            None if self == Self::Rate => interval["requests_per_s"].as_f64(),
            None => share(interval),
        }
    }

    /// The figure of a hold: messages received, or the share of connections that failed or were lost.
    fn hold_value(self, from: &Value, connections: &Value, seconds: f64) -> Option<f64> {
        let count = |of: &Value, key: &str| of[key].as_f64().unwrap_or(0.0);
        if self == Self::Rate {
            let came = count(&from["messages"], "answered") + count(&from["messages"], "pushed");
            return (seconds > 0.0 && count(&from["messages"], "sent") + came > 0.0).then(|| came / seconds);
        }
        let bad = count(connections, "failed") + count(connections, "lost");
        let good = count(connections, "established").max(count(connections, "open"));
        (bad + good > 0.0).then(|| bad / (bad + good).max(1.0))
    }
}

/// Whether the report is of a hold.
pub fn is_hold(report: &Value) -> bool {
    report["kind"] == "hold"
}

fn length(interval: &Value) -> f64 {
    interval["to_s"].as_f64().unwrap_or(0.0) - interval["from_s"].as_f64().unwrap_or(0.0)
}

/// The share of failures among what completed.
fn share(counts: &Value) -> Option<f64> {
    let (succeeded, failed) = (counts["succeeded"].as_f64()?, counts["failed"].as_f64()?);
    (succeeded + failed > 0.0).then(|| failed / (succeeded + failed))
}

/// One figure of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The figure.
    pub figure: Figure,
    /// The values of the first and of the second side; each is the mean of the runs of that side.
    pub values: [Option<f64>; 2],
    /// The change from the first to the second side, as a share of the first; for shares, their difference.
    pub change: Option<f64>,
    /// The same change of the means of whole intervals, the only values whose noise is known.
    pub change_of_intervals: Option<f64>,
    /// The probability that equal runs show so large a difference; `None` when there were too few intervals.
    pub chance: Option<f64>,
    /// The smallest change that would have been clear, as a share of the first; for shares, a difference. `None` as
    /// above.
    pub visible: Option<f64>,
    /// Whether the difference is more than noise, and large enough to matter.
    pub is_clear: bool,
    /// For each side: whether onrush was the bottleneck of a run, or its stalls may have caused this figure.
    pub is_stalled: [bool; 2],
}

/// The plans and targets of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The targets that were loaded, each once.
    pub targets: Vec<String>,
    /// The plans in words, in English and Chinese, each once.
    pub plans: Vec<[String; 2]>,
}

impl Side {
    fn new(reports: &[&Value]) -> Self {
        let text =
            |report: &Value, place: &str| report.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut side = Self::default();
        for report in reports {
            let target = text(report, "/target/url");
            let plan = ["/about/plan", "/about/plan_zh"].map(|place| text(report, place));
            if !side.targets.contains(&target) {
                side.targets.push(target);
            }
            if !side.plans.contains(&plan) {
                side.plans.push(plan);
            }
        }
        side
    }
}

/// The comparison of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The plans and targets of each side.
    pub sides: [Side; 2],
    /// The differences, one for each figure.
    pub differences: Vec<Difference>,
    /// The number of compared intervals of each side.
    pub intervals: [usize; 2],
    /// For each side: whether the figures of a run describe the generator as much as the target.
    pub is_unreliable: [bool; 2],
    /// Whether both sides are holds.
    pub is_hold: bool,
    /// Whether the intervals of the sides differ in length: percentiles of few requests cannot be compared with those
    /// of many.
    pub is_uneven: bool,
}

impl Comparison {
    /// Whether all runs have one plan.
    pub fn is_same_plan(&self) -> bool {
        let [one, other] = &self.sides;
        one.plans.len() <= 1 && one.plans == other.plans
    }

    /// Whether all runs load one target.
    pub fn is_same_target(&self) -> bool {
        let [one, other] = &self.sides;
        one.targets.len() <= 1 && one.targets == other.targets
    }
}

/// Compares the reports of two sides, all of one kind.
pub fn compare(before: &[&Value], after: &[&Value]) -> Comparison {
    let both = [before, after];
    let intervals = both.map(|side| side.iter().map(|report| whole_intervals(report)).collect::<Vec<_>>());
    let is_held = both.iter().all(|side| !side.is_empty() && side.iter().all(|report| is_hold(report)));
    let lengths = both.iter().flat_map(|side| side.iter()).map(|report| usual_length(report));
    let lengths: Vec<f64> = lengths.filter(|length| *length > 0.0).collect();
    let is_uneven = lengths.iter().any(|length| (length / lengths[0] - 1.0).abs() > REST_SHARE);
    let difference = |figure: Figure| {
        let values = both.map(|side| mean(side.iter().filter_map(|report| figure.report_value(report))));
        let samples = [&intervals[0], &intervals[1]].map(|runs| {
            let of = |run: &Vec<&Value>| {
                run.iter().filter_map(|interval| figure.interval_value(interval, is_held)).collect()
            };
            Sample::from_runs(&runs.iter().map(of).collect::<Vec<Vec<f64>>>())
        });
        let is_judged = !(is_uneven && figure.is_percentile());
        let is_stalled = both.map(|side| side.iter().any(|report| figure.is_stalled(report)));
        figure.difference(values, samples[0].zip(samples[1]), is_judged, is_stalled)
    };
    let count = |side: &[Vec<&Value>]| side.iter().map(Vec::len).sum();
    Comparison {
        sides: both.map(Side::new),
        differences: FIGURES.into_iter().map(difference).collect(),
        intervals: [count(&intervals[0]), count(&intervals[1])],
        is_unreliable: both.map(|side| side.iter().any(|report| is_unreliable(report))),
        is_hold: is_held,
        is_uneven,
    }
}

impl Figure {
    /// The smallest change of this figure that matters.
    fn change_min(self) -> f64 {
        if self == Self::Failed { SHARE_MIN } else { CHANGE_MIN }
    }

    /// Whether onrush was the bottleneck of this run, or its stalls may have caused this figure. A stall that
    /// determined p99 covered enough requests that it affects sums too; it affects other percentiles only where they
    /// are marked.
    fn is_stalled(self, report: &Value) -> bool {
        if !self.is_percentile() || is_hold(report) {
            return is_unreliable(report);
        }
        let is_limit = report["verdict"]["kind"].as_str().is_some_and(|kind| LIMITS_OF_OURS.contains(&kind));
        let name = self.key().and_then(|key| key.strip_suffix("_ns"));
        let marked = report.pointer("/times/succeeded/response_time/unreliable").and_then(Value::as_array);
        is_limit || marked.is_some_and(|names| names.iter().any(|one| one.as_str() == name))
    }

    fn difference(
        self,
        values: [Option<f64>; 2],
        means: Option<(Sample, Sample)>,
        is_judged: bool,
        is_stalled: [bool; 2],
    ) -> Difference {
        let change_of = |before: f64, after: f64| match self {
            Self::Failed => Some(after - before),
            _ => (before != 0.0).then(|| after / before - 1.0),
        };
        let change = values[0].zip(values[1]).and_then(|(before, after)| change_of(before, after));
        let change_of_intervals = means.and_then(|(one, other)| change_of(one.mean, other.mean));
        let judged = means.filter(|_| is_judged);
        let chance = judged.map(|(one, other)| one.chance(&other));
        let least = CHANCE_MAX / FIGURES.len() as f64;
        let visible = judged.and_then(|(one, other)| {
            let change = change_of(one.mean, one.mean + one.visible(&other, least))?;
            Some(change.abs().max(self.change_min()))
        });
        // The totals must show the change that the means of intervals show, and as large.
        let both = change.zip(change_of_intervals);
        let is_large = both.is_some_and(|(whole, of_intervals)| {
            whole.abs() > self.change_min() && of_intervals.abs() > self.change_min() && whole * of_intervals > 0.0
        });
        let is_clear = is_large && chance.is_some_and(|chance| chance < least);
        Difference { figure: self, values, change, change_of_intervals, chance, visible, is_clear, is_stalled }
    }
}

/// The mean of the values; `None` without values.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The length of most intervals: a last one that waits for responses is longer than the others.
fn usual_length(report: &Value) -> f64 {
    let all = report["intervals"].as_array().map_or(&[][..], Vec::as_slice);
    let mut lengths: Vec<f64> = all.iter().map(length).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
}

/// Whether the figures describe the generator as much as the target.
pub(crate) fn is_unreliable(report: &Value) -> bool {
    report.pointer("/verdict/is_unreliable") == Some(&Value::Bool(true))
}

/// The intervals without the first, in which connections are established, and without a remainder at the end; of a
/// hold, the intervals in which all connections were open.
fn whole_intervals(report: &Value) -> Vec<&Value> {
    let all: Vec<&Value> = report["intervals"].as_array().map_or(Vec::new(), |all| all.iter().collect());
    let at = |key: &str, other: f64| if is_hold(report) { report[key].as_f64().unwrap_or(other) } else { other };
    let (from, to) = (at("opened_after_s", 0.0), at("closing_after_s", f64::INFINITY));
    let is_within = |interval: &&Value| {
        interval["from_s"].as_f64().is_some_and(|begin| begin >= from)
            && interval["to_s"].as_f64().is_some_and(|end| end <= to)
    };
    let usual = usual_length(report);
    let is_whole = |interval: &&Value| (length(interval) - usual).abs() <= REST_SHARE * usual;
    all.into_iter().skip(1).filter(is_whole).filter(is_within).collect()
}

#[cfg(test)]
mod tests;
