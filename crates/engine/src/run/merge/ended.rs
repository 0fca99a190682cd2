//! Outcome of the scenarios of a run, over all of their shards.

use metrics::Distribution;
use pacing::Nanos;
use plan::BudgetPart;

use crate::slices::Slices;
use crate::times::Backlog;

/// The outcome of a scenario, over all shards.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioEnds {
    /// From the start to the instant from which it started nothing any more.
    pub(crate) stopped_at: Nanos,
    /// Starts that were due by the end of its lease, and were left.
    pub(crate) left: u64,
    /// Backlog: started and not ended. Only for a plan that came to its end.
    pub(crate) backlog: Option<Backlog>,
    /// The budget part that ended the run.
    pub(crate) spent: Option<BudgetPart>,
    /// What ended, in equal slices of time.
    pub(crate) slices: Slices,
    /// Service times of the first exchange of each user.
    pub(crate) first_times: Distribution,
}

impl Default for ScenarioEnds {
    fn default() -> Self {
        let (stopped_at, backlog, slices) = (Nanos::ZERO, Some(Backlog::default()), Slices::default());
        Self { stopped_at, left: 0, backlog, spent: None, slices, first_times: Distribution::default() }
    }
}

impl ScenarioEnds {
    /// Adds the outcome of one more shard.
    pub(super) fn add(&mut self, stopped_at: Nanos, backlog: Option<Backlog>, spent: Option<BudgetPart>) {
        let sum = |(sum, more): (Backlog, Backlog)| Backlog {
            halfway: sum.halfway + more.halfway,
            at_end: sum.at_end + more.at_end,
        };
        self.spent = self.spent.or(spent);
        self.backlog = self.backlog.zip(backlog).map(sum);
        self.stopped_at = self.stopped_at.max(stopped_at);
    }
}
