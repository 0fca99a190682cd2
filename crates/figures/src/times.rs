//! Times as people look at them: a few percentiles, and what is only known to be at least that much.

use metrics::{Censored, Class, Distribution, Measure, Percentile, Snapshot, Timings};

/// A place among times in their order, of those that every view shows.
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
    /// All of them, in their order.
    pub const ALL: [Self; 6] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max];

    /// Its name in every view.
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

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Nanoseconds: the least that it can be.
    pub ns: u64,
    /// It may be more.
    pub at_least: bool,
    /// Stalls of our own may have made it.
    pub is_unreliable: bool,
}

/// What is known of the times of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// How many are known.
    pub count: u64,
    /// How many are only known to be at least what they had when they were given up.
    pub incomplete: u64,
    /// The least of those that are known.
    pub min_ns: Option<u64>,
    /// The mean of those that are known.
    pub mean_ns: Option<f64>,
    /// Their standard deviation.
    pub stdev_ns: Option<f64>,
    /// The least, with those that were given up as long as they waited.
    pub min_lower_bound_ns: Option<u64>,
    /// The mean, reckoned so.
    pub mean_lower_bound_ns: Option<f64>,
    /// In the order of [`Quantile::ALL`], with those that were given up as long as they waited.
    pub percentiles: [Option<At>; 6],
    /// The same of those alone that are known.
    pub known: [Option<At>; 6],
}

impl Times {
    /// Times of which none was given up.
    pub fn known(times: &Distribution) -> Self {
        Self::of(times, &Censored::default(), UnreliableMarks::default())
    }

    /// Times of which some were given up, or contain stalls of our own.
    pub fn of(times: &Distribution, censored: &Censored, unreliable: UnreliableMarks) -> Self {
        let at = |quantile: Quantile| {
            let Percentile { ns, at_least, .. } = censored.percentile(times, quantile.share())?;
            Some(At { ns, at_least, is_unreliable: unreliable.is(quantile.share()) })
        };
        let percentiles = Quantile::ALL.map(at);
        let unreliable = UnreliableMarks { of: times.count(), ..unreliable };
        let at_known = |quantile: Quantile| {
            let ns = if quantile == Quantile::Max { times.max() } else { times.quantile(quantile.share()) }?;
            Some(At { ns, at_least: false, is_unreliable: unreliable.is(quantile.share()) })
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
    pub fn at(&self, quantile: Quantile) -> Option<At> {
        self.percentiles[quantile as usize]
    }

    /// One of the percentiles of those that are known.
    pub fn at_known(&self, quantile: Quantile) -> Option<At> {
        self.known[quantile as usize]
    }

    /// All percentiles of those that are known, with their names.
    pub fn named_known(&self) -> impl Iterator<Item = (Quantile, Option<At>)> + '_ {
        Quantile::ALL.into_iter().zip(self.known)
    }

    /// All percentiles, with their names.
    pub fn named(&self) -> impl Iterator<Item = (Quantile, Option<At>)> + '_ {
        Quantile::ALL.into_iter().map(|quantile| (quantile, self.at(quantile)))
    }
}

/// The times of each measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasureTimes([Times; Measure::ALL.len()]);

impl MeasureTimes {
    /// What `times` says of each measure.
    pub(crate) fn of_each(times: impl Fn(Measure) -> Times) -> Self {
        Self(Measure::ALL.map(times))
    }

    /// The times of one measure.
    pub fn of(&self, measure: Measure) -> &Times {
        &self.0[measure as usize]
    }
}

/// The times of what ended in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTimes {
    /// How it ended; `None`: in any way.
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

/// Which percentiles contain more of our own stalls than they may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreliableMarks {
    covered: u64,
    of: u64,
}

impl UnreliableMarks {
    /// Of what succeeded, and of what was given up.
    pub(crate) fn of(seen: &Snapshot, succeeded: &Timings, incomplete: u64, measure: Measure) -> Self {
        let covered = match measure {
            Measure::Response => seen.counts.stall_affected_responses(),
            Measure::Service => seen.covered_count(),
            // It begins with the service time, and whoever reads it late reads both late.
            Measure::FirstByte => seen.covered_count(),
            Measure::Wait | Measure::Lateness => return Self::default(),
        };
        Self { covered, of: succeeded.of(measure).count() + incomplete }
    }

    /// More exchanges lived through a stall than there are above this quantile.
    pub(crate) fn is(self, quantile: f64) -> bool {
        self.covered as f64 > (1.0 - quantile) * self.of as f64 + 1e-9
    }
}

/// The least, the most and the mean of times whose percentiles nobody asks for: without a histogram, so they cost next to nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How many times there are.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The least.
    pub min_ns: Option<u64>,
    /// The most.
    pub max_ns: Option<u64>,
}

impl Spread {
    /// That of a distribution.
    pub fn of(times: &Distribution) -> Self {
        Self { count: times.count(), sum_ns: times.sum(), min_ns: times.min(), max_ns: times.max() }
    }

    /// This, and the times of another.
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
    /// How many times are in it.
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
