//! What two runs differ in.

use serde_json::Value;

use crate::statistics::Sample;

/// Of all figures together, one difference in a hundred comparisons of equal runs may look clear.
const CHANCE_MAX: f64 = 0.01;
/// What is smaller is nobody's concern.
const CHANGE_MIN: f64 = 0.02;
/// A share of failures that changes by less is no difference.
const SHARE_MIN: f64 = 0.002;
/// An interval that is shorter than this share of the usual one is a rest.
const WHOLE_SHARE: f64 = 0.9;

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests a second.
    Rate,
    /// The share of requests that failed.
    Failed,
    /// Mean of the response times of what succeeded.
    Mean,
    /// Percentiles of them.
    P50,
    /// The same.
    P90,
    /// The same.
    P99,
}

/// All of them.
pub const FIGURES: [Figure; 6] = [Figure::Rate, Figure::Failed, Figure::Mean, Figure::P50, Figure::P90, Figure::P99];

impl Figure {
    /// As thresholds name it.
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

    /// It is a time, in nanoseconds.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Mean | Self::P50 | Self::P90 | Self::P99)
    }

    /// More of it is worse.
    pub fn is_worse_up(self) -> bool {
        self != Self::Rate
    }

    /// In a whole report.
    fn of_report(self, report: &Value) -> Option<f64> {
        let times = |key: &str| report.pointer(&format!("/times/succeeded/response_time/{key}"))?.as_f64();
        match self {
            Self::Rate => report["requests_per_s"].as_f64(),
            Self::Failed => share(&report["requests"]),
            Self::Mean => times("mean_ns"),
            Self::P50 => times("p50_ns"),
            Self::P90 => times("p90_ns"),
            Self::P99 => times("p99_ns"),
        }
    }

    /// In one interval.
    fn of_interval(self, interval: &Value) -> Option<f64> {
        let times = |key: &str| interval["response_time"][key].as_f64();
        match self {
            Self::Rate => interval["requests_per_s"].as_f64(),
            Self::Failed => share(interval),
            Self::Mean => times("mean_ns"),
            Self::P50 => times("p50_ns"),
            Self::P90 => times("p90_ns"),
            Self::P99 => times("p99_ns"),
        }
    }
}

/// Of what ended, what failed.
fn share(counts: &Value) -> Option<f64> {
    let (succeeded, failed) = (counts["succeeded"].as_f64()?, counts["failed"].as_f64()?);
    (succeeded + failed > 0.0).then(|| failed / (succeeded + failed))
}

/// A figure of two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Which.
    pub figure: Figure,
    /// Of the first run, and of the second.
    pub values: [Option<f64>; 2],
    /// The second against the first, as a share of the first; of shares, their difference.
    pub change: Option<f64>,
    /// How likely so large a difference is between equal runs; `None` when there were too few intervals.
    pub chance: Option<f64>,
    /// It is more than noise, and large enough to matter.
    pub is_clear: bool,
}

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Each figure.
    pub differences: Vec<Difference>,
    /// Intervals that were compared, of each.
    pub intervals: [usize; 2],
    /// The figures of one of them are the generator's as much as the target's.
    pub is_spoiled: [bool; 2],
}

/// Compares two reports.
pub fn compare(one: &Value, other: &Value) -> Comparison {
    let both = [one, other];
    let intervals = both.map(whole_intervals);
    let difference = |figure: Figure| {
        let values = both.map(|report| figure.of_report(report));
        let samples = [&intervals[0], &intervals[1]].map(|all| {
            let values: Vec<f64> = all.iter().filter_map(|interval| figure.of_interval(interval)).collect();
            Sample::of(&values)
        });
        let change = match values {
            [Some(before), Some(after)] if figure == Figure::Failed => Some(after - before),
            [Some(before), Some(after)] if before != 0.0 => Some(after / before - 1.0),
            _ => None,
        };
        let chance = match samples {
            [Some(one), Some(other)] => Some(one.chance(&other)),
            _ => None,
        };
        // What the means of intervals say must be what the whole says.
        let agrees = matches!(samples, [Some(one), Some(other)] if change.is_some_and(|change| (other.mean - one.mean) * change > 0.0));
        let least = if figure == Figure::Failed { SHARE_MIN } else { CHANGE_MIN };
        let is_large = change.is_some_and(|change| change.abs() > least);
        let is_clear = is_large && agrees && chance.is_some_and(|chance| chance < CHANCE_MAX / FIGURES.len() as f64);
        Difference { figure, values, change, chance, is_clear }
    };
    Comparison {
        differences: FIGURES.into_iter().map(difference).collect(),
        intervals: [intervals[0].len(), intervals[1].len()],
        is_spoiled: both.map(|report| report.pointer("/verdict/is_spoiled") == Some(&Value::Bool(true))),
    }
}

/// Intervals without the first, in which connections are made, and without a rest at the end.
fn whole_intervals(report: &Value) -> Vec<&Value> {
    let all: Vec<&Value> = report["intervals"].as_array().map_or(Vec::new(), |all| all.iter().collect());
    let length =
        |interval: &Value| interval["to_s"].as_f64().unwrap_or(0.0) - interval["from_s"].as_f64().unwrap_or(0.0);
    let usual = all.iter().map(|interval| length(interval)).fold(0.0, f64::max);
    all.into_iter().skip(1).filter(|interval| length(interval) >= WHOLE_SHARE * usual).collect()
}

#[cfg(test)]
mod tests;
