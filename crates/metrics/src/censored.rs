//! Percentiles where some times are only known to be at least a certain length.
//!
//! What timed out, was dropped or did not end would have taken longer than it had when it was given up, nobody knows how much. So a
//! percentile lies between two bounds: with those times as waited so far, and with the same at infinity.

use crate::{Class, Distribution, Measure, SeriesId, Snapshot, Timings};

/// Bounds that differ by less than this part are one time: histograms tell no less apart.
const RESOLUTION: u64 = 500;

/// A percentile, and whether it is only known to be at least that much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// Nanoseconds: the least that it can be.
    pub ns: u64,
    /// The most that it can be is more than that.
    pub at_least: bool,
    /// The most that it can be; `None` when that is unknown.
    pub ns_most: Option<u64>,
}

/// Exchanges of which only a lower bound of their time is known.
#[derive(Clone, Debug, Default)]
pub struct Censored {
    count: u64,
    /// What succeeded, and the others with the time that they had when they were given up.
    at_least: Distribution,
}

impl Censored {
    /// Those that timed out, were dropped, did not end or were lost with a worker. A start that was dropped waited, but had no service.
    pub fn of(seen: &Snapshot, measure: Measure) -> Self {
        let mut incomplete = seen.class(Class::TimedOut).of(measure).clone();
        incomplete.merge(seen.unfinished().of(measure));
        seen.lost_after.of(measure).into_iter().for_each(|lost| incomplete.merge(lost));
        if measure == Measure::Response {
            incomplete.merge(&seen.dropped_after);
        }
        Self::of_times(&incomplete, seen.class(Class::Succeeded).of(measure))
    }

    /// The same, and what is in flight.
    pub fn of_now(seen: &Snapshot, measure: Measure) -> Self {
        let mut all = Self::of(seen, measure);
        if let Some(ages) = seen.gauges.in_flight.of(measure).filter(|ages| ages.count() > 0) {
            if all.count == 0 {
                all.at_least.merge(seen.class(Class::Succeeded).of(measure));
            }
            all.at_least.merge(ages);
            all.count += ages.count();
        }
        all
    }

    /// Those of one series that timed out or did not end.
    pub fn of_series(seen: &Snapshot, series: SeriesId, measure: Measure) -> Self {
        let times = |timings: Option<&Timings>| timings.map(|timings| timings.of(measure).clone()).unwrap_or_default();
        let mut incomplete = times(seen.timings(series, Class::TimedOut));
        incomplete.merge(&times(seen.unfinished_of(series)));
        // Each of those that were lost with a worker may have been of this series.
        if series.kind() == crate::SeriesKind::Step {
            seen.lost_after.of(measure).into_iter().for_each(|lost| incomplete.merge(lost));
        }
        Self::of_times(&incomplete, &times(seen.timings(series, Class::Succeeded)))
    }

    /// Messages whose call timed out before they were answered, of all that wait for an answer.
    pub fn of_messages(seen: &Snapshot) -> Self {
        Self::of_times(&seen.message_incomplete, &seen.message)
    }

    /// Those that were given up, of them and of those whose times are known.
    pub fn of_times(incomplete: &Distribution, times: &Distribution) -> Self {
        let mut at_least = Distribution::default();
        if incomplete.count() > 0 {
            at_least.merge(incomplete);
            at_least.merge(times);
        }
        Self { count: incomplete.count(), at_least }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least time, known or waited so far: never more than any percentile.
    pub fn min(&self, times: &Distribution) -> Option<u64> {
        if self.count == 0 { times.min() } else { self.at_least.min() }
    }

    /// The least that the mean can be.
    pub fn mean(&self, times: &Distribution) -> Option<f64> {
        if self.count == 0 { times.mean() } else { self.at_least.mean() }
    }

    /// The quantile of what succeeded and of what would have, by its bounds; the maximum for 1.
    pub fn percentile(&self, times: &Distribution, quantile: f64) -> Option<Percentile> {
        let of = |times: &Distribution| if quantile < 1.0 { times.quantile(quantile) } else { times.max() };
        if self.count == 0 {
            return of(times).map(|ns| Percentile { ns, at_least: false, ns_most: Some(ns) });
        }
        let ns = of(&self.at_least)?;
        let (known, all) = (times.count(), times.count() + self.count);
        // The time of this rank among all, the unknown ones standing behind the known.
        let rank = (quantile * all as f64).ceil().max(1.0);
        let ns_most = if rank <= known as f64 { times.quantile((rank - 0.5) / known as f64) } else { None };
        let at_least = ns_most.is_none_or(|most| most > ns + ns / RESOLUTION);
        Some(Percentile { ns, at_least, ns_most })
    }
}
