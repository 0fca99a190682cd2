//! A recovered run, whose report is rebuilt.

use std::time::Duration;

use figures::RunInput;
use host::CpuTime;
use pacing::Nanos;
use plan::Plan;

/// The facts of a run in the past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveredRun {
    /// When it started, since the Unix epoch.
    started_unix: Option<Duration>,
}

impl RecoveredRun {
    /// `started_unix`: when it started, since the Unix epoch, if that is known.
    pub(crate) fn new(started_unix: Option<Duration>) -> Self {
        Self { started_unix }
    }

    /// When its measured load began, since the Unix epoch.
    pub(crate) fn began(&self, plan: &Plan) -> Option<Duration> {
        self.at(plan, Nanos::ZERO)
    }

    /// The time of an instant of it, counted from the beginning of the measured load, since the Unix epoch.
    pub(crate) fn at(&self, plan: &Plan, at: Nanos) -> Option<Duration> {
        Some(self.started_unix? + plan.warmup + at.as_duration())
    }

    /// Corrects facts about now to those of then.
    pub(crate) fn correct<'a>(&self, mut input: RunInput<'a>) -> RunInput<'a> {
        let began = self.began(&input.plan);
        let result = &mut input.result;
        result.began_unix = began.unwrap_or(result.began_unix);
        let workers = result.workers_summary.iter().flat_map(|workers_summary| &workers_summary.workers);
        result.cpu = workers.fold(CpuTime::default(), |sum, worker| sum.plus(worker.cpu));
        // The usage of this process says nothing of the workers.
        input.host.resident_bytes = None;
        input
    }
}
