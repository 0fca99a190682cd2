//! Remote holds: workers hold a partition of the connections each, and report.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use driver::Clock;
use metrics::{Held, HeldNow};
use pacing::{Nanos, Segment};
use plan::Hold;

use super::parts::{HoldEnd, PartMemory};
use super::shard::Report;
use super::{HoldInterval, Orders};
use crate::RunError;
use crate::control::{Intent, StopHandle, Workers};
use crate::remote::{WorkerResult, WorkersSummary};

/// A backend of remote workers.
pub trait HoldBackend: Send + Sync + Debug {
    /// Gets all workers ready, and returns when they begin. From then on it reports what they see, until all of it is
    /// over, and follows the intent.
    ///
    /// # Errors
    /// A worker cannot hold a partition. Then no connection was opened.
    fn begin_to_hold(&self, order: HoldOrder) -> Result<HoldBegun, RunError>;
}

/// An order to remote workers.
pub struct HoldOrder {
    /// The plan to carry out.
    pub plan: Arc<Hold>,
    /// The clock of the coordinator.
    pub clock: Clock,
    /// The handle that ends it.
    pub stop: StopHandle,
    /// The receiver of reports.
    pub reporter: HoldReporter,
}

/// A remote hold that has begun.
#[derive(Clone, Copy, Debug)]
pub struct HoldBegun {
    /// Start, on the clock of the order.
    pub started: Nanos,
    /// Number of partitions, numbered from 0.
    pub parts: usize,
}

/// Reporter of what remote workers see.
#[derive(Clone)]
pub struct HoldReporter {
    pub(super) reports: Sender<Report>,
    pub(super) orders: Arc<Orders>,
    pub(super) stop: StopHandle,
    pub(super) workers: Workers,
}

impl HoldReporter {
    fn notify(&self, report: Report) {
        // The hold may be gone.
        let _ = self.reports.send(report);
    }

    /// What a partition saw in an interval, the first being 1, and its memory. It has reported everything up to the end
    /// of interval `upto`.
    pub fn seen(&self, part: usize, (number, upto): (u64, u64), seen: Held, memory: PartMemory) {
        self.notify(Report::Seen { part, number, upto, seen: Box::new(seen), memory });
    }

    /// A partition has tried all of its connections; `since` the start.
    pub fn opened(&self, part: usize, now: HeldNow, since: Nanos) {
        self.notify(Report::Opened { shard: part, now, since });
    }

    /// A partition begins to close them.
    pub fn closing(&self, now: HeldNow, since: Nanos) {
        self.notify(Report::Closing { now, since });
    }

    /// A partition is over.
    pub fn ended(&self, part: usize, end: HoldEnd) {
        self.notify(Report::Ended { shard: part, end: Box::new(end) });
    }

    /// A partition is silent: its connections are gone or unknown. It may still report what it saw.
    pub fn lost(&self, part: usize) {
        self.notify(Report::Lost { shard: part });
    }

    /// The current list of remote workers.
    pub fn workers(&self, workers: Vec<WorkerResult>) {
        self.workers.notify(workers);
    }

    /// The hold is over; nothing more is reported.
    pub fn over(&self, workers_summary: WorkersSummary) {
        self.workers(workers_summary.workers.clone());
        self.notify(Report::Workers(Box::new(workers_summary)));
    }

    /// The hold cannot go on.
    pub fn broken(&self, error: RunError) {
        self.notify(Report::Broken(error));
    }

    /// The intent for all workers.
    pub fn wanted(&self) -> Intent {
        self.stop.wanted()
    }

    /// When closing begins, on the clock of the order; `None` while that is unknown.
    pub fn closes_at(&self) -> Option<Nanos> {
        Some(self.orders.end_at()).filter(|at| *at < Nanos::NEVER)
    }
}

/// A partition of the held connections.
#[derive(Clone, Debug)]
pub struct HoldPart {
    /// Its segment.
    pub segment: Segment,
    /// When all partitions begin, on this clock.
    pub begins: (Clock, Nanos),
}

/// An update of a hold in progress.
#[derive(Debug)]
pub enum HoldUpdate<'a> {
    /// An interval, or an update of an earlier one.
    Interval(HoldInterval<'a>),
    /// For a partition: it has tried all of its connections.
    Opened(HeldNow, Nanos),
    /// For a partition: it begins to close them.
    Closing(HeldNow, Nanos),
}

/// A handle that sets when a partition closes its connections.
#[derive(Clone)]
pub struct HoldEnding {
    pub(super) orders: Arc<Orders>,
    pub(super) stop: StopHandle,
}

impl HoldEnding {
    /// Closes at this instant of the clock of the partition.
    pub fn close_at(&self, at: Nanos) {
        self.orders.close_at(at);
        self.stop.wake_all();
    }
}
