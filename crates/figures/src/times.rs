//! Times for display: a few percentiles, and lower bounds for incomplete ones.

use metrics::{Censored, Class, Distribution, Measure, Percentile, Snapshot, Timings};

/// A quantile that every view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// The median.
    P50,
    /// 90 %.
    P90,
    /// 95 %.
    P95,
    /// 99 %.
    P99,
    /// 99.9 %.
    P999,
    /// The largest.
    Max,
}

impl Quantile {
    /// All quantiles, in order.
    pub const ALL: [Self; 6] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max];

    /// The name in every view.
    pub fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
        }
    }

    /// The share of times up to it.
    pub fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
            Self::Max => 1.0,
        }
    }
}

/// A percentile value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentileValue {
    /// The value in nanoseconds; a lower bound where `at_least` is set.
    pub ns: u64,
    /// Whether the true value may be larger.
    pub at_least: bool,
    /// Whether stalls of the generator may have caused it.
    pub is_unreliable: bool,
}

/// The distribution of one kind of times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The number of complete times.
    pub count: u64,
    /// The number of incomplete ones, of which only a lower bound is known.
    pub incomplete: u64,
    /// The minimum of the complete ones.
    pub min_ns: Option<u64>,
    /// The mean of the complete ones.
    pub mean_ns: Option<f64>,
    /// Their standard deviation.
    pub stdev_ns: Option<f64>,
    /// The minimum, where incomplete ones count with the time that they waited.
    pub min_lower_bound_ns: Option<u64>,
    /// The mean, computed likewise.
    pub mean_lower_bound_ns: Option<f64>,
    /// In the order of [`Quantile::ALL`]; incomplete ones count with the time that they waited.
    pub percentiles: [Option<PercentileValue>; 6],
    /// The same of the complete ones alone.
    pub known: [Option<PercentileValue>; 6],
}

impl Times {
    /// Times without incomplete ones.
    pub fn known(times: &Distribution) -> Self {
        Self::new(times, &Censored::default(), UnreliableMarks::default())
    }

    /// Times of which some are incomplete, or contain stalls of the generator.
    pub fn new(times: &Distribution, censored: &Censored, unreliable: UnreliableMarks) -> Self {
        let at = |quantile: Quantile| {
            let Percentile { ns, at_least, .. } = censored.percentile(times, quantile.share())?;
            Some(PercentileValue { ns, at_least, is_unreliable: unreliable.is(quantile.share()) })
        };
        let percentiles = Quantile::ALL.map(at);
        let unreliable = UnreliableMarks { of: times.count(), ..unreliable };
        let at_known = |quantile: Quantile| {
            let ns = if quantile == Quantile::Max { times.max() } else { times.quantile(quantile.share()) }?;
            Some(PercentileValue { ns, at_least: false, is_unreliable: unreliable.is(quantile.share()) })
        };
        Self {
            count: times.count(),
            incomplete: censored.count(),
            min_ns: times.min(),
            mean_ns: times.mean(),
            stdev_ns: times.stdev(),
            min_lower_bound_ns: censored.min(times),
            mean_lower_bound_ns: censored.mean(times),
            known: if censored.count() == 0 { percentiles } else { Quantile::ALL.map(at_known) },
            percentiles,
        }
    }

    /// One of the percentiles; `None` when there are no times.
    pub fn at(&self, quantile: Quantile) -> Option<PercentileValue> {
        self.percentiles[quantile as usize]
    }

    /// One of the percentiles of the complete ones.
    pub fn at_known(&self, quantile: Quantile) -> Option<PercentileValue> {
        self.known[quantile as usize]
    }

    /// All percentiles of the complete ones, with their names.
    pub fn named_known(&self) -> impl Iterator<Item = (Quantile, Option<PercentileValue>)> + '_ {
        Quantile::ALL.into_iter().zip(self.known)
    }

    /// All percentiles, with their names.
    pub fn named(&self) -> impl Iterator<Item = (Quantile, Option<PercentileValue>)> + '_ {
        Quantile::ALL.into_iter().map(|quantile| (quantile, self.at(quantile)))
    }
}

/// The times of each measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasureTimes([Times; Measure::ALL.len()]);

impl MeasureTimes {
    /// The times of each measure, as `times` gives them.
    pub(crate) fn from_fn(times: impl Fn(Measure) -> Times) -> Self {
        Self(Measure::ALL.map(times))
    }

    /// The times of one measure.
    pub fn by_measure(&self, measure: Measure) -> &Times {
        &self.0[measure as usize]
    }
}

/// The times of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTimes {
    /// The class; `None` for any.
    pub class: Option<Class>,
    /// Its times.
    pub times: MeasureTimes,
}

impl ClassTimes {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        self.class.map_or("all", Class::name)
    }
}

/// Marks of the percentiles that contain more stalls of the generator than allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreliableMarks {
    stall_affected: u64,
    of: u64,
}

impl UnreliableMarks {
    /// The marks for successes and incomplete ones.
    pub(crate) fn new(seen: &Snapshot, succeeded: &Timings, incomplete: u64, measure: Measure) -> Self {
        let stall_affected = match measure {
            Measure::Response => seen.counts.stall_affected_responses(),
            Measure::Service => seen.stall_affected_count(),
            // The first byte begins with the service time, and a late read delays both.
            Measure::FirstByte => seen.stall_affected_count(),
            Measure::Wait | Measure::Lateness => return Self::default(),
        };
        Self { stall_affected, of: succeeded.by_measure(measure).count() + incomplete }
    }

    /// Whether more exchanges were affected by a stall than there are above this quantile.
    pub(crate) fn is(self, quantile: f64) -> bool {
        self.stall_affected as f64 > (1.0 - quantile) * self.of as f64 + 1e-9
    }
}

/// The minimum, the maximum and the mean of times whose percentiles are not needed: without a histogram, so they cost
/// next to nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How many times there are.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The minimum.
    pub min_ns: Option<u64>,
    /// The maximum.
    pub max_ns: Option<u64>,
}

impl Spread {
    /// The spread of a distribution.
    pub fn new(times: &Distribution) -> Self {
        Self { count: times.count(), sum_ns: times.sum(), min_ns: times.min(), max_ns: times.max() }
    }

    /// The spread of these times and others together.
    pub fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum_ns: self.sum_ns + other.sum_ns,
            min_ns: self.min_ns.into_iter().chain(other.min_ns).min(),
            max_ns: self.max_ns.max(other.max_ns),
        }
    }

    /// The mean; `None` when there are no times.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

/// A bar of the text histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The first time in it.
    pub from_ns: u64,
    /// The first time above it.
    pub to_ns: u64,
    /// The number of times in it.
    pub count: u64,
}

/// About ten bars of equal ratio from the minimum to the maximum: latencies differ by factors, not by sums.
pub fn histogram(times: &Distribution) -> Vec<Bar> {
    const BARS: u32 = 10;
    let (Some(min), Some(max)) = (times.min(), times.max()) else { return Vec::new() };
    let (low, high) = (min.max(1) as f64, max.max(1) as f64 + 1.0);
    let ratio = (high / low).powf(1.0 / f64::from(BARS)).max(1.02);
    let mut bars = Vec::new();
    let mut from = low;
    while from < high && bars.len() < BARS as usize + 1 {
        let to = if bars.len() + 1 == BARS as usize { high } else { (from * ratio).min(high) };
        let (from_ns, to_ns) = (from.round() as u64, (to.round() as u64).max(from.round() as u64 + 1));
        bars.push(Bar { from_ns, to_ns, count: times.count_between(from_ns, to_ns) });
        from = to_ns as f64;
    }
    bars
}
