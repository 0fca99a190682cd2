//! Percentiles of censored data, where only a lower bound of some times is known.
//!
//! What timed out, was dropped or did not complete would have taken longer than its age at that time, by an unknown
//! amount. So a percentile lies between two bounds: with those times as waited so far, and with the same at infinity.

use crate::{Class, Distribution, Measure, SeriesId, Snapshot, Timings};

/// Bounds that differ by less than this part are one time: that is the resolution of the histograms.
const RESOLUTION: u64 = 500;

/// A percentile, and whether it is only a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// The lower bound in nanoseconds.
    pub ns: u64,
    /// Whether the upper bound is larger.
    pub at_least: bool,
    /// The upper bound; `None` when that is unknown.
    pub ns_most: Option<u64>,
}

/// The incomplete exchanges, of which only a lower bound of their time is known.
#[derive(Clone, Debug, Default)]
pub struct Censored {
    count: u64,
    /// The successes, and the incomplete ones with their ages.
    at_least: Distribution,
}

impl Censored {
    /// Exchanges that timed out, were dropped, did not complete or were lost with a worker. A dropped start waited, but
    /// had no service.
    pub fn new(seen: &Snapshot, measure: Measure) -> Self {
        let mut incomplete = seen.class(Class::TimedOut).by_measure(measure).clone();
        incomplete.merge(seen.unfinished().by_measure(measure));
        seen.lost_after.by_measure(measure).into_iter().for_each(|lost| incomplete.merge(lost));
        if measure == Measure::Response {
            incomplete.merge(&seen.dropped_after);
        }
        Self::from_times(&incomplete, seen.class(Class::Succeeded).by_measure(measure))
    }

    /// The same with those in flight.
    pub fn with_in_flight(seen: &Snapshot, measure: Measure) -> Self {
        let mut all = Self::new(seen, measure);
        if let Some(ages) = seen.gauges.in_flight.by_measure(measure).filter(|ages| ages.count() > 0) {
            if all.count == 0 {
                all.at_least.merge(seen.class(Class::Succeeded).by_measure(measure));
            }
            all.at_least.merge(ages);
            all.count += ages.count();
        }
        all
    }

    /// Exchanges of one series that timed out or did not complete.
    pub fn for_series(seen: &Snapshot, series: SeriesId, measure: Measure) -> Self {
        let times =
            |timings: Option<&Timings>| timings.map(|timings| timings.by_measure(measure).clone()).unwrap_or_default();
        let mut incomplete = times(seen.timings(series, Class::TimedOut));
        incomplete.merge(&times(seen.unfinished_of(series)));
        // Each exchange that was lost with a worker may have been of this series.
        if series.kind() == crate::SeriesKind::Step {
            seen.lost_after.by_measure(measure).into_iter().for_each(|lost| incomplete.merge(lost));
        }
        Self::from_times(&incomplete, &times(seen.timings(series, Class::Succeeded)))
    }

    /// Messages whose call timed out before they were answered, of all that wait for a response.
    pub fn for_messages(seen: &Snapshot) -> Self {
        Self::from_times(&seen.message_incomplete, &seen.message)
    }

    /// The incomplete times among them and the known times.
    pub fn from_times(incomplete: &Distribution, times: &Distribution) -> Self {
        let mut at_least = Distribution::default();
        if incomplete.count() > 0 {
            at_least.merge(incomplete);
            at_least.merge(times);
        }
        Self { count: incomplete.count(), at_least }
    }

    /// The number of incomplete ones.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The lower bound of the minimum, known or waited so far: never more than any percentile.
    pub fn min(&self, times: &Distribution) -> Option<u64> {
        if self.count == 0 { times.min() } else { self.at_least.min() }
    }

    /// The lower bound of the mean.
    pub fn mean(&self, times: &Distribution) -> Option<f64> {
        if self.count == 0 { times.mean() } else { self.at_least.mean() }
    }

    /// The quantile of what succeeded or would have, as bounds; the maximum for 1.
    pub fn percentile(&self, times: &Distribution, quantile: f64) -> Option<Percentile> {
        let of = |times: &Distribution| if quantile < 1.0 { times.quantile(quantile) } else { times.max() };
        if self.count == 0 {
            return of(times).map(|ns| Percentile { ns, at_least: false, ns_most: Some(ns) });
        }
        let ns = of(&self.at_least)?;
        let (known, all) = (times.count(), times.count() + self.count);
        // The time of this rank among all, the unknown ones ordered after the known.
        let rank = (quantile * all as f64).ceil().max(1.0);
        let ns_most = if rank <= known as f64 { times.quantile((rank - 0.5) / known as f64) } else { None };
        let at_least = ns_most.is_none_or(|most| most > ns + ns / RESOLUTION);
        Some(Percentile { ns, at_least, ns_most })
    }
}
