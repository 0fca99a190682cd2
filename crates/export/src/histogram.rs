//! Times in the form of other programs: cumulative counts below fixed bounds, and an exponential histogram.

use std::collections::BTreeMap;

use metrics::Distribution;

/// The upper bounds of the classic buckets, in nanoseconds.
pub(crate) const BOUNDS_NS: [u64; 18] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
];

/// The finest scale: an octave has 32 buckets, each 2.2 % wide. Prometheus knows scales up to 8.
pub(crate) const SCALE_MAX: i32 = 5;
/// The most buckets of an exponential histogram that is sent; one that needs more is made coarser. It is the default
/// maximum of the OpenTelemetry libraries, so a backend that accepts theirs accepts ours.
pub(crate) const BUCKETS_MAX: usize = 160;

/// Times recorded since the start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// Counts of the classic buckets, not cumulative; the last is above all bounds.
    classic: [u64; BOUNDS_NS.len() + 1],
    /// Counts by the number of the exponential bucket, at the finest scale.
    exponential: BTreeMap<i32, u64>,
    zeros: u64,
    count: u64,
    sum_ns: u128,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
}

/// An exponential histogram: bucket `i` holds what is above `base^i` and at most `base^(i + 1)`, with `base =
/// 2^(2^-scale)` seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exponential {
    /// The scale.
    pub(crate) scale: i32,
    /// The count of zeros.
    pub(crate) zeros: u64,
    /// Each non-empty bucket, in order.
    pub(crate) buckets: Vec<(i32, u64)>,
}

impl Histogram {
    /// Adds times.
    pub(crate) fn add(&mut self, times: &Distribution) {
        let (Some(min), Some(max)) = (times.min(), times.max()) else { return };
        for bucket in times.buckets() {
            // The middle of a bucket stands for its values, clamped to the recorded range.
            let ns = bucket.middle_ns().clamp(min, max);
            self.classic[BOUNDS_NS.partition_point(|bound| *bound < ns)] += bucket.count;
            match ns {
                0 => self.zeros += bucket.count,
                ns => *self.exponential.entry(place_of(ns)).or_default() += bucket.count,
            }
        }
        self.count += times.count();
        self.sum_ns += times.sum();
        self.min_ns = self.min_ns.into_iter().chain([min]).min();
        self.max_ns = self.max_ns.max(Some(max));
    }

    /// The number of times.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the times, in seconds.
    pub(crate) fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }

    /// The minimum, in seconds.
    pub(crate) fn min_s(&self) -> Option<f64> {
        self.min_ns.map(|ns| ns as f64 / 1e9)
    }

    /// The maximum, in seconds.
    pub(crate) fn max_s(&self) -> Option<f64> {
        self.max_ns.map(|ns| ns as f64 / 1e9)
    }

    /// The number of times up to each bound, in seconds; the last bound is infinite.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let bounds = BOUNDS_NS.iter().map(|ns| *ns as f64 / 1e9).chain([f64::INFINITY]);
        let mut sum = 0;
        bounds.zip(self.classic).map(move |(bound, count)| {
            sum += count;
            (bound, sum)
        })
    }

    /// The same as an exponential histogram with a bounded number of buckets.
    pub(crate) fn exponential(&self) -> Exponential {
        let mut scale = SCALE_MAX;
        let span = |scale: i32| {
            let place = |number: &i32| number >> (SCALE_MAX - scale);
            let first = self.exponential.first_key_value().map(|(number, _)| place(number));
            let last = self.exponential.last_key_value().map(|(number, _)| place(number));
            first.zip(last).map_or(0, |(first, last)| (last - first) as usize + 1)
        };
        while span(scale) > BUCKETS_MAX {
            scale -= 1;
        }
        let mut buckets: Vec<(i32, u64)> = Vec::new();
        for (number, count) in &self.exponential {
            let place = number >> (SCALE_MAX - scale);
            match buckets.last_mut().filter(|(last, _)| *last == place) {
                Some((_, sum)) => *sum += count,
                None => buckets.push((place, *count)),
            }
        }
        Exponential { scale, zeros: self.zeros, buckets }
    }
}

/// The bucket of a time above zero, at the finest scale.
fn place_of(ns: u64) -> i32 {
    let octaves = (ns as f64 / 1e9).log2();
    (octaves * f64::from(1 << SCALE_MAX)).ceil() as i32 - 1
}

#[cfg(test)]
mod tests;
