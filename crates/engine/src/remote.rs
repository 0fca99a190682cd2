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

/// News of those who carry out parts.
pub(crate) enum RemotePartEvent {
    /// A part begins to tell.
    Joined,
    /// What a part saw in an interval, or in several; it has told all up to the end of interval `upto`.
    Seen { numbers: (u64, u64), upto: u64, seen: Vec<Snapshot> },
    /// So many parts there are, or will be.
    Expects(usize),
    /// Users of a part have arrived at a meeting, the first of them at that instant.
    Arrived { barrier: usize, count: u64, at: Nanos },
    /// Who has this ticket waits there no longer.
    Withdrawn { barrier: usize, ticket: u64 },
    /// All users of a part wait, and no more of them will come.
    Stuck { received: u64 },
    /// A part is over.
    Ended(Box<PartEnd>),
    /// Nobody knows what has become of a part. It may still tell.
    Silent,
    /// All is over.
    Over(Box<WorkersSummary>),
}

/// How a scenario ended, in a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireScenarioOutcome {
    /// From the beginning of the measured load to the instant from which nothing of it was started any more.
    pub stopped_at: Nanos,
    /// What was started and had not ended, halfway and at the end; of a plan that came to its end.
    pub backlog: Option<(u64, u64)>,
    /// The part of the budget that ended the run.
    pub spent: Option<BudgetPart>,
    /// What ended in equal stretches of it.
    pub slices: Slices,
    /// Service times of the first exchange of each user, where all began at once.
    pub first_times: Distribution,
}

impl WireScenarioOutcome {
    pub(crate) fn backlog(&self) -> Option<Backlog> {
        self.backlog.map(|(halfway, at_end)| Backlog { halfway, at_end })
    }
}

/// How a part ended.
#[derive(Clone, Debug)]
pub struct PartEnd {
    /// From the beginning of the measured load to its end.
    pub wall: Nanos,
    /// Scenario by scenario.
    pub scenarios: Vec<WireScenarioOutcome>,
    /// What each of its threads spent.
    pub shards: Vec<ThreadUsage>,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// Files whose rows were used up.
    pub used_up: Vec<UsedUp>,
    /// What became of the meetings of its users.
    pub met: Vec<BarrierStats>,
}

/// Who carried out a run, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct WorkersSummary {
    /// One after the other.
    pub workers: Vec<WorkerResult>,
    /// Starts by the books.
    pub books: StartAccounting,
    /// What workers told was heard so late, for a while at least; zero when it was heard in time.
    pub received_late: Duration,
    /// A change reached workers up to so long after its instant: until then they went on as before.
    pub changed_late: Duration,
}

impl WorkersSummary {
    /// Somebody was lost, or something was not done.
    pub fn has_losses(&self) -> bool {
        let is_lost = self.workers.iter().any(|worker| worker.losses > 0);
        is_lost || self.books.undelivered + self.books.unknown > 0
    }
}

/// One of those who carried out a run.
#[derive(Clone, Debug, Default)]
pub struct WorkerResult {
    /// What it is called.
    pub name: String,
    /// Threads that worked.
    pub threads: usize,
    /// Its share of the load when it had the most of it: slots of 4,096.
    pub slots: u32,
    /// What it started.
    pub started: u64,
    /// What of that did not succeed.
    pub failed: u64,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// How wrong the instant may be that it took for the start: half of the shortest round trip; `None` when it did not say.
    pub clock_error: Option<Duration>,
    /// How late it started by its own clock; `None` when it did not say.
    pub began_late: Option<Duration>,
    /// How often it was silent for so long that others got its share.
    pub losses: u32,
    /// The bus did not take what it had to tell, for a while or to the end.
    pub bus_was_full: bool,
}

/// Starts of open loads by the books: planned + otherwise = started + undelivered + unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartAccounting {
    /// Those that were due when nobody had their part.
    pub undelivered: u64,
    /// Those that were due at somebody who has not told what became of them.
    pub unknown: u64,
    /// So many more than planned were due at workers whom a change reached late; fewer, below zero.
    pub otherwise: i64,
    /// Messages on connections that are held, of which nobody knows whether they were answered: whoever sent them has not told.
    pub unknown_responses: u64,
    /// How long nobody had any part of the load.
    pub stalled: Duration,
}
