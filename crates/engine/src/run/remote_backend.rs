//! Runs whose users are elsewhere: others carry out parts of the load and tell what they see, and the run puts it together as it does with
//! its own shards. So everything that makes a run, watches it or changes it has many machines for nothing.

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

/// A run that is taken over from somebody else began no longer ago than this.
pub const AGO_MAX: Nanos = Nanos::from_millis(48 * 3_600_000);

/// Those who carry out the parts of a run.
pub trait RemoteBackend: Send + Sync + Debug {
    /// Gets a run ready wherever it will be carried out, and says when it starts, on the clock of the order: a moment later than now, or
    /// earlier, of one that somebody else has led until now. From then on it tells what is seen, until all of it is over, and does what
    /// is wanted.
    ///
    /// # Errors
    /// Somebody cannot carry out a part. Then nothing has started.
    fn begin(&self, order: RemoteRun) -> Result<Nanos, RunError>;

    /// Nobody may take a run of them over, so that one that is no part of a load can follow it: half of its users.
    fn goes_on_alone(&self) -> bool {
        false
    }

    /// Within this time all have heard what is said to them, unless something is wrong.
    fn received_within(&self) -> Nanos;
}

/// A run that others carry out.
pub struct RemoteRun {
    /// What is to be done.
    pub plan: Arc<Plan>,
    /// What users read and reckon with.
    pub supplies: DataSources,
    /// Where the first target is, seen from here.
    pub address: SocketAddr,
    /// How many of the slowest exchanges are kept.
    pub slowest: usize,
    /// The clock of the run.
    pub clock: Clock,
    /// Ends it.
    pub stop: StopHandle,
    /// Tells the run.
    pub reporter: RunReporter,
}

/// Tells a run what others see that carry out parts of it. A part is a number from 0, each one higher than the one before.
#[derive(Clone)]
pub struct RunReporter {
    reports: Sender<Report>,
    changes: Arc<Changes>,
    stop: StopHandle,
    warmup: Nanos,
}

/// What those have to hear who have the other parts of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartMessage {
    /// All users of this scenario wait for those of other parts, since then.
    Gathered(usize, Nanos),
    /// This scenario, whose users wait for each other, is over.
    Left(usize),
    /// So many users have arrived at a meeting, the first of them at that instant.
    Arrived(usize, u64, Nanos),
    /// Who has this ticket waits there no longer.
    Withdrawn(usize, u64),
    /// All users wait, and no more of them will come: so it was after so many releases.
    Stuck(u64),
    /// Whether every user has failed to connect, and none ever did.
    TooManyFailures(bool),
}

impl RunReporter {
    pub(super) fn new(reports: Sender<Report>, changes: Arc<Changes>, stop: StopHandle, warmup: Nanos) -> Self {
        Self { reports, changes, stop, warmup }
    }

    fn tell(&self, part: usize, remote: RemotePartEvent) {
        self.changes.reported_from_afar();
        if self.reports.send(Report::Remote { part, remote }).is_err() {
            // The run is gone: nobody wants to know.
            self.changes.received_from_afar();
        }
    }

    /// So much of what was told was not taken yet.
    pub fn unheard(&self) -> usize {
        self.changes.unheard()
    }

    /// A part begins to tell: of the first interval that was not shown, and those behind it.
    pub fn joined(&self, part: usize) {
        self.tell(part, RemotePartEvent::Joined);
    }

    /// What a part saw of each scenario in an interval; or from the one to the other, of which nobody knows which it was of. It has told all
    /// up to the end of interval `upto`. The first is 1.
    pub fn seen(&self, part: usize, numbers: (u64, u64), upto: u64, seen: Vec<Snapshot>) {
        self.tell(part, RemotePartEvent::Seen { numbers, upto, seen });
    }

    /// Whether every user of a part has failed to connect, and none ever did.
    pub fn hopeless(&self, part: usize, is_hopeless: bool) {
        let _ = self.reports.send(Report::TooManyFailures { shard: part, is_hopeless });
    }

    /// All users of a scenario in this part wait for those of the others.
    pub fn gathered(&self, part: usize, scenario: usize, at: Nanos) {
        let _ = self.reports.send(Report::Gathered { shard: part, scenario, at });
    }

    /// A scenario whose users wait for each other is over in this part.
    pub fn left(&self, part: usize, scenario: usize) {
        let _ = self.reports.send(Report::Left { shard: part, scenario });
    }

    /// So many parts there are, or will be.
    pub fn expects(&self, parts: usize) {
        self.tell(0, RemotePartEvent::Expects(parts));
    }

    /// Users of a part have arrived at a meeting, the first of them at that instant on the clock of the run.
    pub fn arrived(&self, part: usize, barrier: usize, count: u64, at: Nanos) {
        self.tell(part, RemotePartEvent::Arrived { barrier, count, at });
    }

    /// Who has this ticket of a part waits at a meeting no longer.
    pub fn withdrawn(&self, part: usize, barrier: usize, ticket: u64) {
        self.tell(part, RemotePartEvent::Withdrawn { barrier, ticket });
    }

    /// All users of a part wait, and no more of them will come: so it was after so many releases.
    pub fn stuck(&self, part: usize, received: u64) {
        self.tell(part, RemotePartEvent::Stuck { received });
    }

    /// Users of meetings that go on, behind so many releases.
    pub fn released_after(&self, total: u64) -> Vec<Release> {
        self.changes.released_after(total)
    }

    /// Nobody knows what has become of a part. It may still tell.
    pub fn silent(&self, part: usize) {
        self.tell(part, RemotePartEvent::Silent);
    }

    /// A part is over.
    pub fn ended(&self, part: usize, end: PartEnd) {
        self.tell(part, RemotePartEvent::Ended(Box::new(end)));
    }

    /// What is known by now of those who have the parts.
    pub fn workers(&self, workers: Vec<WorkerResult>) {
        self.changes.workers().tell(workers);
    }

    /// All is over; nothing more is told.
    pub fn over(&self, workers_summary: WorkersSummary) {
        self.tell(0, RemotePartEvent::Over(Box::new(workers_summary)));
    }

    /// It cannot go on.
    pub fn broken(&self, error: RunError) {
        let _ = self.reports.send(Report::Broken(error));
    }

    /// What is wanted of the run.
    pub fn wanted(&self) -> Intent {
        self.stop.wanted()
    }

    /// The load was changed so before it was taken over.
    pub fn learn(&self, change: Change) {
        self.changes.follow(change);
    }

    /// The first change of its load behind a revision.
    pub fn change_after(&self, revision: u32) -> Option<Change> {
        self.changes.after(revision)
    }

    /// The loads of all scenarios over time, as they were changed.
    pub fn timelines(&self) -> Vec<Arc<Timeline>> {
        self.changes.timelines()
    }

    /// The same as a worker has them whom some changes reached later, or never: by their revisions, from which instant on.
    pub fn timelines_of_late(&self, late: &[(u32, Nanos)]) -> Vec<Arc<Timeline>> {
        self.changes.timelines_of_late(late)
    }

    /// An instant on the clock of the run, counted from its start.
    pub fn since_start(&self, at: Nanos) -> Nanos {
        at.since(self.changes.measured_from().since(self.warmup))
    }

    /// An instant that is counted from the start of the run, on its clock.
    pub fn instant(&self, since_start: Nanos) -> Nanos {
        self.changes.measured_from().since(self.warmup) + since_start
    }

    /// When the users of a scenario that wait for each other start, on the clock of the run; 0 before the first time.
    pub fn round_at(&self, scenario: usize) -> Nanos {
        self.changes.round_at(scenario)
    }
}
