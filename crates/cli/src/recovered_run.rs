//! A run that is over, and is put together again.

use std::time::Duration;

use figures::RunInput;
use host::CpuTime;
use pacing::Nanos;
use plan::Plan;

/// What is told of a run that is not of now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveredRun {
    /// When it started, since the epoch of Unix.
    started_unix: Option<Duration>,
}

impl RecoveredRun {
    /// `started_unix`: when it started, since the epoch of Unix, if that is known.
    pub(crate) fn new(started_unix: Option<Duration>) -> Self {
        Self { started_unix }
    }

    /// When its measured load began, since the epoch of Unix.
    pub(crate) fn began(&self, plan: &Plan) -> Option<Duration> {
        self.at(plan, Nanos::ZERO)
    }

    /// An instant of it, counted from the beginning of the measured load, since the epoch of Unix.
    pub(crate) fn at(&self, plan: &Plan, at: Nanos) -> Option<Duration> {
        Some(self.started_unix? + plan.warmup + at.as_duration())
    }

    /// What is said of now, as it was then.
    pub(crate) fn correct<'a>(&self, mut input: RunInput<'a>) -> RunInput<'a> {
        let began = self.began(&input.plan);
        let result = &mut input.result;
        result.began_unix = began.unwrap_or(result.began_unix);
        let workers = result.workers_summary.iter().flat_map(|workers_summary| &workers_summary.workers);
        result.cpu = workers.fold(CpuTime::default(), |sum, worker| sum.plus(worker.cpu));
        // What this process takes says nothing of those.
        input.host.resident_bytes = None;
        input
    }
}
