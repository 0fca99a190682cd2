//! Runs on remote workers: they carry out partitions of the load and report what they see, and the run merges the
//! reports as it does with its own shards. So all code that starts, displays or changes a run works with workers
//! unchanged.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use driver::Clock;
use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::{Change, Timeline};
use plan::Plan;

use super::RunError;
use crate::barriers::Release;
use crate::control::{Changes, Intent, StopHandle};
use crate::data_sources::DataSources;
use crate::remote::{PartEnd, RemotePartEvent, WorkerResult, WorkersSummary};
use crate::shard::Report;

/// A run that is taken over from another leader began no longer ago than this.
pub const AGO_MAX: Nanos = Nanos::from_millis(48 * 3_600_000);

/// A backend of remote workers that carry out the partitions of a run.
pub trait RemoteBackend: Send + Sync + Debug {
    /// Gets a run ready on all workers, and returns when it starts, on the clock of the order: slightly later than now,
    /// or earlier for a run taken over from another leader. From then on it reports what they see, until all of it is
    /// over, and follows the intent.
    ///
    /// # Errors
    /// A worker cannot carry out a partition. Then nothing has started.
    fn begin(&self, order: RemoteRun) -> Result<Nanos, RunError>;

    /// A run of it cannot be taken over, so that a run outside of the load can follow: the probe with half of its
    /// users.
    fn goes_on_alone(&self) -> bool {
        false
    }

    /// All workers receive a message within this time, unless something is wrong.
    fn received_within(&self) -> Nanos;
}

/// A run for remote workers.
pub struct RemoteRun {
    /// The plan to carry out.
    pub plan: Arc<Plan>,
    /// Data that users read and evaluate.
    pub data_sources: DataSources,
    /// Address of the first target, seen from here.
    pub address: SocketAddr,
    /// How many of the slowest exchanges are kept.
    pub slowest: usize,
    /// The clock of the run.
    pub clock: Clock,
    /// The handle that ends it.
    pub stop: StopHandle,
    /// The receiver of reports.
    pub reporter: RunReporter,
}

/// Reporter of what remote workers see. A partition is a number from 0, each one higher than the one before.
#[derive(Clone)]
pub struct RunReporter {
    reports: Sender<Report>,
    changes: Arc<Changes>,
    stop: StopHandle,
    warmup: Nanos,
}

/// Messages of a partition to the coordinator of the other partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartMessage {
    /// All users of this scenario wait for users of other partitions, since then.
    Gathered(usize, Nanos),
    /// This scenario, whose users wait for each other, is over.
    Left(usize),
    /// Users that have arrived at a barrier, the first of them at that instant.
    Arrived(usize, u64, Nanos),
    /// The user with this ticket waits there no longer.
    Withdrawn(usize, u64),
    /// All users wait, and no more of them will come: the number of releases received by then.
    Stuck(u64),
    /// Whether every user has failed to connect, and none ever did.
    Unreachable(bool),
    /// A user stops the run, for this reason.
    StopRun(String),
}

impl RunReporter {
    pub(super) fn new(reports: Sender<Report>, changes: Arc<Changes>, stop: StopHandle, warmup: Nanos) -> Self {
        Self { reports, changes, stop, warmup }
    }

    fn notify(&self, part: usize, remote: RemotePartEvent) {
        self.changes.reported_from_remote();
        if self.reports.send(Report::Remote { part, remote }).is_err() {
            // The run is gone and takes no reports.
            self.changes.received_from_remote();
        }
    }

    /// Reports that were not processed yet.
    pub fn unacknowledged(&self) -> usize {
        self.changes.unacknowledged()
    }

    /// A partition begins to report, from the first interval that was not shown.
    pub fn joined(&self, part: usize) {
        self.notify(part, RemotePartEvent::Joined);
    }

    /// What a partition saw of each scenario in an interval; or in several, of which only the sum is known. It has
    /// reported everything up to the end of interval `upto`. The first is 1.
    pub fn seen(&self, part: usize, numbers: (u64, u64), upto: u64, seen: Vec<Snapshot>) {
        self.notify(part, RemotePartEvent::Seen { numbers, upto, seen });
    }

    /// Whether every user of a partition has failed to connect, and none ever did.
    pub fn failing(&self, part: usize, is_failing: bool) {
        let _ = self.reports.send(Report::Unreachable { shard: part, is_failing });
    }

    /// A user of a partition stops the run, for this reason.
    pub fn stop_run(&self, reason: &str) {
        let _ = self.reports.send(Report::StopRun { reason: reason.into() });
    }

    /// All users of a scenario in this partition wait for those of the others.
    pub fn gathered(&self, part: usize, scenario: usize, at: Nanos) {
        let _ = self.reports.send(Report::Gathered { shard: part, scenario, at });
    }

    /// A scenario whose users wait for each other is over in this partition.
    pub fn left(&self, part: usize, scenario: usize) {
        let _ = self.reports.send(Report::Left { shard: part, scenario });
    }

    /// Partitions that exist, or will.
    pub fn expects(&self, parts: usize) {
        self.notify(0, RemotePartEvent::Expects(parts));
    }

    /// Users of a partition have arrived at a barrier, the first of them at that instant on the clock of the run.
    pub fn arrived(&self, part: usize, barrier: usize, count: u64, at: Nanos) {
        self.notify(part, RemotePartEvent::Arrived { barrier, count, at });
    }

    /// The user with this ticket of a partition waits at a barrier no longer.
    pub fn withdrawn(&self, part: usize, barrier: usize, ticket: u64) {
        self.notify(part, RemotePartEvent::Withdrawn { barrier, ticket });
    }

    /// All users of a partition wait, and no more of them will come. `received`: the releases received by then.
    pub fn stuck(&self, part: usize, received: u64) {
        self.notify(part, RemotePartEvent::Stuck { received });
    }

    /// Releases of users at barriers after the first `total`.
    pub fn released_after(&self, total: u64) -> Vec<Release> {
        self.changes.released_after(total)
    }

    /// The state of a partition is unknown. It may still report.
    pub fn silent(&self, part: usize) {
        self.notify(part, RemotePartEvent::Silent);
    }

    /// A partition is over.
    pub fn ended(&self, part: usize, end: PartEnd) {
        self.notify(part, RemotePartEvent::Ended(Box::new(end)));
    }

    /// The current list of remote workers.
    pub fn workers(&self, workers: Vec<WorkerResult>) {
        self.changes.workers().notify(workers);
    }

    /// The run is over; nothing more is reported.
    pub fn over(&self, workers_summary: WorkersSummary) {
        self.workers(workers_summary.workers.clone());
        self.notify(0, RemotePartEvent::Over(Box::new(workers_summary)));
    }

    /// The run cannot go on.
    pub fn broken(&self, error: RunError) {
        let _ = self.reports.send(Report::Broken(error));
    }

    /// The intent for the run.
    pub fn wanted(&self) -> Intent {
        self.stop.wanted()
    }

    /// Adds a change made before the run was taken over.
    pub fn learn(&self, change: Change) {
        self.changes.follow(change);
    }

    /// The first change of its load after a revision.
    pub fn change_after(&self, revision: u32) -> Option<Change> {
        self.changes.after(revision)
    }

    /// The loads of all scenarios over time, with their changes.
    pub fn timelines(&self) -> Vec<Arc<Timeline>> {
        self.changes.timelines()
    }

    /// The timelines as a worker has them that received some changes late, or never: by their revisions, each with the
    /// instant from which it had it.
    pub fn timelines_of_late(&self, late: &[(u32, Nanos)]) -> Vec<Arc<Timeline>> {
        self.changes.timelines_of_late(late)
    }

    /// Converts an instant on the clock of the run to one counted from its start.
    pub fn since_start(&self, at: Nanos) -> Nanos {
        at.since(self.changes.measured_from().since(self.warmup))
    }

    /// Converts an instant counted from the start of the run to one on its clock.
    pub fn instant(&self, since_start: Nanos) -> Nanos {
        self.changes.measured_from().since(self.warmup) + since_start
    }

    /// When the users of a scenario that wait for each other start, on the clock of the run; 0 before the first time.
    pub fn round_at(&self, scenario: usize) -> Nanos {
        self.changes.round_at(scenario)
    }
}
