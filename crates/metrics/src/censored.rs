//! Percentiles where some times are only known to be at least so much.

use crate::{Class, Distribution, Measure, Snapshot};

/// A percentile, and whether it is only known to be at least that much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// Nanoseconds.
    pub ns: u64,
    /// What timed out would have taken longer, and it is more than the rest above this percentile.
    pub at_least: bool,
}

/// Exchanges of which only a lower bound of their time is known.
#[derive(Clone, Debug, Default)]
pub struct Censored {
    count: u64,
    of: u64,
    /// What succeeded, and the others with the time that they had when they were given up.
    at_least: Distribution,
}

impl Censored {
    /// Those that timed out or were dropped, of those that ended. A start that was dropped waited, but had no service.
    pub fn of(seen: &Snapshot, measure: Measure) -> Self {
        let mut given_up = seen.class(Class::TimedOut).of(measure).clone();
        if measure == Measure::Response {
            given_up.merge(&seen.dropped_after);
        }
        let dropped = if measure == Measure::Response { seen.counts.dropped } else { 0 };
        let (count, of) = (given_up.count(), seen.counts.finished() + dropped);
        let mut at_least = Distribution::default();
        if count > 0 {
            at_least.merge(&given_up);
            at_least.merge(seen.class(Class::Succeeded).of(measure));
        }
        Self { count, of, at_least }
    }

    /// Messages whose call timed out before they were answered, of all that wait for an answer.
    pub fn of_messages(seen: &Snapshot) -> Self {
        Self::of_times(&seen.message_given_up, &seen.message)
    }

    /// Those that were given up, of them and of those whose times are known.
    pub fn of_times(given_up: &Distribution, times: &Distribution) -> Self {
        let mut at_least = Distribution::default();
        if given_up.count() > 0 {
            at_least.merge(given_up);
            at_least.merge(times);
        }
        Self { count: given_up.count(), of: given_up.count() + times.count(), at_least }
    }

    fn hides(&self, quantile: f64) -> bool {
        self.count > 0 && quantile > 1.0 - self.count as f64 / self.of as f64
    }

    /// The quantile of what succeeded, or the bound that is known of it; the maximum for 1.
    pub fn percentile(&self, times: &Distribution, quantile: f64) -> Option<Percentile> {
        let of = |times: &Distribution| if quantile < 1.0 { times.quantile(quantile) } else { times.max() };
        if self.hides(quantile) {
            return of(&self.at_least).map(|ns| Percentile { ns, at_least: true });
        }
        of(times).map(|ns| Percentile { ns, at_least: false })
    }
}
