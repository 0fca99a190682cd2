//! Rates beside the one that was asked for.

use plan::Plan;

use crate::{Tally, per_second};

/// The rate that an open load was asked for.
pub(crate) struct RequestedRate {
    pub(crate) per_s: Option<f64>,
    /// What one start of each scenario adds to a rate.
    pub(crate) last: f64,
    pub(crate) was_stopped: bool,
}

impl RequestedRate {
    /// The last start before a stop stands for the time until the next would have come: what is above the asked rate by no more than
    /// that start is at the asked rate.
    pub(crate) fn at_most(&self, per_s: f64) -> f64 {
        match self.per_s {
            Some(requested) if self.was_stopped && per_s - requested <= self.last => per_s.min(requested),
            _ => per_s,
        }
    }

    /// What ended in the measured time, a second of it, and of a load at a rate what was started. `again`: starts that no plan asked for.
    pub(crate) fn rates(&self, tally: &Tally, again: u64, seconds: f64) -> (f64, Option<f64>) {
        let begun = tally.planned_starts().saturating_sub(tally.dropped() + again);
        let per_s = |count| self.at_most(per_second(count, seconds));
        (per_s(tally.finished() - tally.drained()), self.per_s.map(|_| per_s(begun)))
    }
}

/// Exchanges of one start of each scenario.
pub(crate) fn asks_each(plan: &Plan) -> u64 {
    plan.scenarios.iter().filter_map(|each| each.program.asks_each()).sum()
}
