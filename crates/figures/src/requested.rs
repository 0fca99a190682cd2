//! Achieved rates compared with the requested one.

use plan::Plan;

use crate::{Tally, per_second};

/// The requested rate of an open load.
pub(crate) struct RequestedRate {
    pub(crate) per_s: Option<f64>,
    /// The rate that one start of each scenario adds.
    pub(crate) last: f64,
    pub(crate) was_stopped: bool,
}

impl RequestedRate {
    /// Caps a rate. The last start before a stop stands for the time until the next would have come: a rate that
    /// exceeds the requested one by no more than that start equals the requested one.
    pub(crate) fn at_most(&self, per_s: f64) -> f64 {
        match self.per_s {
            Some(requested) if self.was_stopped && per_s - requested <= self.last => per_s.min(requested),
            _ => per_s,
        }
    }

    /// The rate of what completed in the measured time, and for an open load the rate of starts. `again`: starts that
    /// no plan requested.
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
