//! Events reported by remote workers that run partitions of a load.

use std::time::Duration;

use host::CpuTime;
use metrics::{Distribution, Snapshot};
use pacing::Nanos;
use plan::BudgetPart;

use crate::barriers::BarrierStats;
use crate::data_sources::UsedUp;
use crate::slices::Slices;
use crate::times::Backlog;
use crate::usage::ThreadUsage;

/// Location of the users of a run, or of held connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// All of them are here.
    Here,
    /// Here, and they are a partition.
    Partition,
    /// On remote workers.
    Remote,
}

/// An event of a partition.
pub(crate) enum RemotePartEvent {
    /// A partition begins to report.
    Joined,
    /// What a partition saw in an interval, or in several; it has reported everything up to the end of interval `upto`.
    Seen { numbers: (u64, u64), upto: u64, seen: Vec<Snapshot> },
    /// Partitions that exist, or will.
    Expects(usize),
    /// Users of a partition have arrived at a barrier, the first of them at that instant.
    Arrived { barrier: usize, count: u64, at: Nanos },
    /// The user with this ticket waits there no longer.
    Withdrawn { barrier: usize, ticket: u64 },
    /// All users of a partition wait, and no more of them will come.
    Stuck { received: u64 },
    /// A partition is over.
    Ended(Box<PartEnd>),
    /// The state of a partition is unknown. It may still report.
    Silent,
    /// The run is over.
    Over(Box<WorkersSummary>),
}

/// The outcome of a scenario in a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireScenarioOutcome {
    /// From the beginning of the measured load to the instant from which it started nothing any more.
    pub stopped_at: Nanos,
    /// Starts that were due by the end of its lease, and were left. It is in no encoded outcome: what ends a part has it
    /// beside them.
    pub left: u64,
    /// Backlog halfway and at the end: started and not ended. Only for a plan that came to its end.
    pub backlog: Option<(u64, u64)>,
    /// The budget part that ended the run.
    pub spent: Option<BudgetPart>,
    /// What ended, in equal slices of time.
    pub slices: Slices,
    /// Service times of the first exchange of each user, where all began at once.
    pub first_times: Distribution,
}

impl WireScenarioOutcome {
    pub(crate) fn backlog(&self) -> Option<Backlog> {
        self.backlog.map(|(halfway, at_end)| Backlog { halfway, at_end })
    }
}

/// The end of a partition.
#[derive(Clone, Debug)]
pub struct PartEnd {
    /// Wall time from the beginning of the measured load to its end.
    pub wall: Nanos,
    /// Outcomes, scenario by scenario.
    pub scenarios: Vec<WireScenarioOutcome>,
    /// Usage of each of its threads.
    pub shards: Vec<ThreadUsage>,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// Files whose rows were used up.
    pub used_up: Vec<UsedUp>,
    /// Statistics of the barriers of its users.
    pub met: Vec<BarrierStats>,
}

/// Summary of the workers of a run.
#[derive(Clone, Debug, Default)]
pub struct WorkersSummary {
    /// Results, worker by worker.
    pub workers: Vec<WorkerResult>,
    /// Accounting of starts.
    pub books: StartAccounting,
    /// Largest delay at which worker data was processed; zero when it was processed in time.
    pub received_late: Duration,
    /// Largest delay at which a change reached workers: until then they continued unchanged.
    pub changed_late: Duration,
}

impl WorkersSummary {
    /// A worker was lost, or starts were not made.
    pub fn has_losses(&self) -> bool {
        let is_lost = self.workers.iter().any(|worker| worker.losses > 0);
        is_lost || self.books.undelivered + self.books.unaccounted > 0
    }
}

/// Result of one worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerResult {
    /// Name of the worker.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Largest share of the load that it had: slots of 4,096.
    pub slots: u32,
    /// Requests that it started.
    pub started: u64,
    /// Started requests that did not succeed.
    pub failed: u64,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// Error bound of its start instant: half of the shortest round trip; `None` when it did not report one.
    pub clock_error: Option<Duration>,
    /// Start delay by its own clock; `None` when it did not report one.
    pub began_late: Option<Duration>,
    /// How often it was silent for so long that its share was reassigned.
    pub losses: u32,
    /// The bus did not accept its data, for a while or to the end.
    pub bus_was_full: bool,
}

/// Accounting of the starts of open loads: planned + otherwise = started + undelivered + unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartAccounting {
    /// Starts that were due while their slots had no owner, or one that stopped before it came to them.
    pub undelivered: u64,
    /// Starts that were due at a worker that has not reported what happened to them.
    pub unaccounted: u64,
    /// Starts beyond the plan, due at workers that received a change late; negative for fewer.
    pub late_change_delta: i64,
    /// Messages on held connections with unknown responses: the worker that sent them has not reported.
    pub unaccounted_responses: u64,
    /// How long no worker had any part of the load.
    pub stalled: Duration,
}
