//! Rates beside the one that was asked for.

use plan::Plan;

/// The rate that an open load was asked for.
pub(crate) struct Asked {
    pub(crate) per_s: Option<f64>,
    /// What one start of each scenario adds to a rate.
    pub(crate) last: f64,
    pub(crate) was_stopped: bool,
}

impl Asked {
    /// The last start before a stop stands for the time until the next would have come: what is above the asked rate by no more than
    /// that start is at the asked rate.
    pub(crate) fn at_most(&self, per_s: f64) -> f64 {
        match self.per_s {
            Some(asked) if self.was_stopped && per_s - asked <= self.last => per_s.min(asked),
            _ => per_s,
        }
    }
}

/// Exchanges of one start of each scenario.
pub(crate) fn asks_each(plan: &Plan) -> u64 {
    plan.scenarios.iter().filter_map(|each| each.program.asks_each()).sum()
}
