//! Connections that others hold elsewhere, each a part of them, and tell what they see.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use driver::Clock;
use metrics::{Held, HeldNow};
use pacing::{Nanos, Segment};
use plan::Hold;

use super::Orders;
use super::parts::{HoldEnd, PartMemory};
use super::shard::Report;
use crate::RunError;
use crate::control::{Intent, StopHandle, Workers};
use crate::remote::{WorkerResult, WorkersSummary};

/// Those who hold the parts.
pub trait HoldBackend: Send + Sync + Debug {
    /// Gets all of them ready, and says when they begin. From then on it tells what is seen, until all of it is over, and does what is
    /// wanted.
    ///
    /// # Errors
    /// Somebody cannot hold a part. Then no connection was opened.
    fn begin_to_hold(&self, order: HoldOrder) -> Result<HoldBegun, RunError>;
}

/// Connections that others are to hold.
pub struct HoldOrder {
    /// What is to be done.
    pub plan: Arc<Hold>,
    /// The clock of who watches.
    pub clock: Clock,
    /// Ends it.
    pub stop: StopHandle,
    /// Tells what is seen.
    pub reporter: HoldReporter,
}

/// They begin.
#[derive(Clone, Copy, Debug)]
pub struct HoldBegun {
    /// At this instant of the clock of the order.
    pub started: Nanos,
    /// In so many parts, numbered from 0.
    pub parts: usize,
}

/// Tells a hold what others see.
#[derive(Clone)]
pub struct HoldReporter {
    pub(super) reports: Sender<Report>,
    pub(super) orders: Arc<Orders>,
    pub(super) stop: StopHandle,
    pub(super) workers: Workers,
}

impl HoldReporter {
    fn tell(&self, report: Report) {
        // Whoever watches may be gone: then nobody wants to know.
        let _ = self.reports.send(report);
    }

    /// What a part saw until the end of so many intervals, and what it takes.
    pub fn seen(&self, part: usize, reached: u64, seen: Held, memory: PartMemory) {
        self.tell(Report::Memory { shard: part, memory });
        self.tell(Report::Interval { shard: part, reached, seen: Box::new(seen) });
    }

    /// A part has tried all of its connections; `since` the start.
    pub fn opened(&self, part: usize, now: HeldNow, since: Nanos) {
        self.tell(Report::Opened { shard: part, now, since });
    }

    /// A part begins to close them.
    pub fn closing(&self, now: HeldNow, since: Nanos) {
        self.tell(Report::Closing { now, since });
    }

    /// A part is over.
    pub fn ended(&self, part: usize, end: HoldEnd) {
        self.tell(Report::Ended { shard: part, end: Box::new(end) });
    }

    /// A part is silent: its connections are gone, or nobody knows of them. It may still tell what it saw.
    pub fn lost(&self, part: usize) {
        self.tell(Report::Lost { shard: part });
    }

    /// What is known by now of those who have the parts.
    pub fn workers(&self, workers: Vec<WorkerResult>) {
        self.workers.tell(workers);
    }

    /// All is over; nothing more is told.
    pub fn over(&self, workers_summary: WorkersSummary) {
        self.tell(Report::Workers(Box::new(workers_summary)));
    }

    /// It cannot go on.
    pub fn broken(&self, error: RunError) {
        self.tell(Report::Broken(error));
    }

    /// What is wanted of all.
    pub fn wanted(&self) -> Intent {
        self.stop.wanted()
    }

    /// When the closing begins, on the clock of the order; `None` as long as nobody knows.
    pub fn closes_at(&self) -> Option<Nanos> {
        Some(self.orders.end_at()).filter(|at| *at < Nanos::NEVER)
    }
}

/// A part of the connections that are held.
#[derive(Clone, Debug)]
pub struct HoldPart {
    /// Which.
    pub segment: Segment,
    /// When all of them begin, on this clock.
    pub begins: (Clock, Nanos),
    /// Who hears how far it is.
    pub news: Sender<HoldUpdate>,
}

/// How far a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldUpdate {
    /// It has tried all of its connections.
    Opened(HeldNow, Nanos),
    /// It begins to close them.
    Closing(HeldNow, Nanos),
}

/// Says when a part closes its connections.
#[derive(Clone)]
pub struct HoldEnding {
    pub(super) orders: Arc<Orders>,
    pub(super) stop: StopHandle,
}

impl HoldEnding {
    /// At this instant of the clock of the part.
    pub fn close_at(&self, at: Nanos) {
        self.orders.close_at(at);
        self.stop.wake_all();
    }
}
