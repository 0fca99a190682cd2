//! Held connections: opened at a given rate, held, used for messages, closed cleanly.
//!
//! Connections are counted here, not exchanges, and there may be a million: so each is an entry of 40 bytes
//! ([`runtime`]): phase, two instants, pending work. State that only a busy one needs (TLS, a line with a partial
//! response) is a box that is released when it is idle. Turns are arithmetic: the k-th message of a shard is due at an
//! instant computed from k, so a million connections need no timer. All deadlines of one kind have the same length and
//! lie in a queue. The last shard that has tried all its connections sets the end for all; the aggregator stops the
//! opening when memory runs out. `Holding` is started, watched and ended as a run is, on the same threads, and its
//! intervals are merged as those of a load are.

mod aggregator;
mod closing;
mod events;
mod holding;
mod job;
mod opening;
mod parts;
mod remote;
mod runtime;
mod shard;
#[cfg(test)]
mod tests;
mod work;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use driver::DriverSelection;
use host::CpuTime;
use metrics::{Distribution, Held, HeldCounters, HeldNow};
use pacing::Nanos;
use plan::Hold;
use wire::tls::{ClientConfig, Refused};

use crate::endpoints::{Places, PlacesError};
use crate::interval_merger::{OwnedInterval, ReadyInterval, Remark, Sums};
use crate::names::NameReport;
use crate::remote::WorkersSummary;
pub use holding::Holding;
pub use parts::{HoldEnd, PartMemory};
pub use remote::{HoldBackend, HoldBegun, HoldEnding, HoldOrder, HoldPart, HoldReporter, HoldUpdate};

/// Options for carrying out a plan on this machine.
#[derive(Clone, Debug)]
pub struct HoldOptions {
    /// Resolved address of the target.
    pub address: SocketAddr,
    /// The addresses of its name; empty where no name was looked up.
    pub names: Vec<SocketAddr>,
    /// TLS client configuration of a plan that uses TLS.
    pub tls: Option<ClientConfig>,
    /// Most shards to use.
    pub threads: usize,
    /// The driver of each shard.
    pub driver: DriverSelection,
    /// The backend that holds the connections remotely, if there is one.
    pub backend: Option<Arc<dyn HoldBackend>>,
}

impl HoldOptions {
    /// The endpoints of the connections of a plan.
    ///
    /// # Errors
    /// An address is not of this machine, or of another family than the target.
    pub fn places(&self, plan: &Hold) -> Result<Places, PlacesError> {
        let addresses = if self.names.is_empty() { std::slice::from_ref(&self.address) } else { &self.names };
        Places::resolve(&plan.target, addresses, plan.connections)
    }
}

/// What all shards saw in one interval, with the memory use.
#[derive(Debug)]
pub struct HoldInterval<'a> {
    /// Number of the interval, from 1.
    pub number: u64,
    /// Beginning, since the start.
    pub from: Nanos,
    /// End, since the start.
    pub to: Nanos,
    /// Threads that had not reported when the interval was first emitted: they were stalled. An update follows when
    /// they have.
    pub late_shards: usize,
    /// An update: it was reported before, and is more complete now.
    pub is_update: bool,
    /// What happened in the interval.
    pub seen: &'a Held,
    /// The part of it that was not reported before.
    pub added: &'a Held,
    /// Everything since the start.
    pub total: &'a Held,
    /// Memory at the end of the interval.
    pub memory: MemoryUse,
}

/// An owned interval.
pub type KeptHold = OwnedInterval<Held, MemoryUse>;

impl KeptHold {
    /// The interval, borrowed.
    pub fn interval(&self) -> HoldInterval<'_> {
        HoldInterval::of(&self.ready, [&self.seen, &self.added, &self.total], self.remark)
    }
}

impl<'a> HoldInterval<'a> {
    fn of(ready: &ReadyInterval, [seen, added, total]: [&'a Held; 3], memory: MemoryUse) -> Self {
        let &ReadyInterval { number, from, to, late: late_shards, is_update, .. } = ready;
        Self { number, from, to, late_shards, is_update, seen, added, total, memory }
    }
}

impl Remark for MemoryUse {
    fn join(&mut self, _: bool, (later, _): (&Self, bool)) {
        *self = *later;
    }
}

impl Sums for Held {
    type Gauges = HeldNow;

    fn merge(&mut self, other: &Self) {
        self.add_counts(other);
    }

    fn clear(&mut self) {
        Self::clear(self);
    }

    fn gauges(&self) -> HeldNow {
        self.now
    }

    fn set_gauges(&mut self, gauges: &HeldNow) {
        self.now = *gauges;
    }

    fn add_gauges(sum: &mut HeldNow, more: &HeldNow) {
        sum.add(*more);
    }

    fn end_gauges(gauges: &mut HeldNow) {
        *gauges = HeldNow::default();
    }
}

/// Memory that connections use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Resident memory of this process.
    pub resident: u64,
    /// Resident memory before the first connection.
    pub resident_before: u64,
    /// Additional kernel memory, for both ends when both are here. `None` where the kernel does not report it.
    pub kernel: Option<u64>,
    /// Available memory of this machine.
    pub available: Option<u64>,
}

/// Opening stopped because memory was running out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedOpening {
    /// Available memory then.
    pub available: u64,
    /// Memory reserved for other processes.
    pub reserve: u64,
    /// Connections tried by then.
    pub tried: u64,
}

/// The result of a hold.
#[derive(Clone, Debug)]
pub struct HoldResult {
    /// Everything that was counted.
    pub total: Held,
    /// Wall time from the start to the end of the last shard.
    pub wall: Nanos,
    /// When all connections had been tried, since the start; `None` when it was stopped before.
    pub opened_after: Option<Nanos>,
    /// The state of the connections then.
    pub when_opened: HeldNow,
    /// The state of the connections when closing began.
    pub when_closing: HeldNow,
    /// When closing began, since the start.
    pub closing_after: Option<Nanos>,
    /// What was counted between the two, and in what time, of each shard or part in which that has a whole interval.
    pub steady: Vec<(HeldCounters, Nanos)>,
    /// The most connections that were established at one time.
    pub most_open: u64,
    /// Memory use when the most connections were established.
    pub memory: MemoryUse,
    /// Opening ended early.
    pub stopped_opening: Option<StoppedOpening>,
    /// Counts of source addresses and of target endpoints.
    pub places: (usize, usize),
    /// Number of shards.
    pub threads: usize,
    /// CPU time of this process.
    pub cpu: CpuTime,
    /// The driver that ran, and why.
    pub driver: DriverSelection,
    /// Details of the first certificate that was refused.
    pub refused: Option<Refused>,
    /// The target requested a client certificate, and there was none.
    pub lacked_certificate: bool,
    /// What became of the lookups of the name of the target.
    pub names: Vec<NameReport>,
    /// It was stopped before its time was over.
    pub was_stopped: bool,
    /// Lags of the loop of each shard, one sample every 50 ms; a stall counts as as many samples as it covers.
    pub lags: Vec<Distribution>,
    /// Summary of the workers, where they held the connections.
    pub workers_summary: Option<WorkersSummary>,
}

/// A thread whose loop was late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateThread {
    /// Index of the thread.
    pub thread: usize,
    /// The share of its clock samples that were late.
    pub late_share: f64,
    /// 99th percentile of its lag.
    pub lag_p99_ns: u64,
    /// Maximum lag.
    pub lag_max_ns: u64,
}

impl LateThread {
    /// The lag figures of a thread, late or not.
    fn of(thread: usize, lag: &Distribution) -> Self {
        let late = lag.count_between(LAG_MAX.0, u64::MAX);
        Self {
            thread,
            late_share: late as f64 / lag.count().max(1) as f64,
            lag_p99_ns: lag.quantile(0.99).unwrap_or(0),
            lag_max_ns: lag.max().unwrap_or(0),
        }
    }
}

impl HoldResult {
    /// The lag figures of every thread.
    pub fn loops(&self) -> Vec<LateThread> {
        self.lags.iter().enumerate().map(|(thread, lag)| LateThread::of(thread, lag)).collect()
    }

    /// The thread with the worst lag, if one was later than acceptable.
    pub fn late_thread(&self) -> Option<LateThread> {
        let late = |one: &LateThread| one.late_share > LATE_SHARE_MAX || one.lag_p99_ns > LAG_MAX.0;
        self.loops().into_iter().filter(late).max_by(|one, other| one.late_share.total_cmp(&other.late_share))
    }

    /// The figures reflect the generator as much as the target: one of its loops was late, or too many messages left
    /// late.
    pub fn is_unreliable(&self) -> bool {
        let counts = &self.total.counts;
        self.late_thread().is_some() || counts.late() as f64 > LATE_SHARE_MAX * counts.due() as f64
    }
}

/// A loop later than this delays messages and responses.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// The share of a thread's time, or of the messages, that may be late.
const LATE_SHARE_MAX: f64 = 0.01;

/// Shared state of the shards: orders to them, and what they report to each other.
#[derive(Debug)]
pub(crate) struct Orders {
    /// Opening is stopped.
    stops_opening: AtomicBool,
    /// When closing begins; 0 while that is unknown.
    end_at: AtomicU64,
    /// Shards that have not tried all of their connections.
    left: AtomicU64,
    /// Open connections of the shards that have tried all of theirs.
    open: AtomicU64,
    /// How long connections are held after that.
    duration: Nanos,
    /// Lost connections are reopened.
    reconnects: bool,
    /// It is a partition: the coordinator decides when all partitions end.
    is_part: bool,
}

impl Orders {
    fn new(plan: &Hold, shards: u64) -> Self {
        Self {
            stops_opening: AtomicBool::new(false),
            end_at: AtomicU64::new(0),
            left: AtomicU64::new(shards),
            open: AtomicU64::new(0),
            duration: plan.duration.into(),
            reconnects: plan.reconnects,
            is_part: false,
        }
    }

    fn of_part(plan: &Hold, shards: u64) -> Self {
        Self { is_part: true, ..Self::new(plan, shards) }
    }

    fn close_at(&self, at: Nanos) {
        self.end_at.store(at.0.max(1), Ordering::Relaxed);
    }

    fn end_at(&self) -> Nanos {
        match self.end_at.load(Ordering::Relaxed) {
            0 => Nanos::NEVER,
            at => Nanos(at),
        }
    }

    fn stops_opening(&self) -> bool {
        self.stops_opening.load(Ordering::Relaxed)
    }

    /// A shard has tried all of its connections. True for the last shard: the end is then known.
    fn has_opened(&self, open: u64, now: Nanos) -> bool {
        let all_open = self.open.fetch_add(open, Ordering::AcqRel) + open;
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 || self.is_part {
            return false;
        }
        // With no connection open, and none to come, there is nothing to hold.
        let is_empty = !self.reconnects && all_open == 0;
        let span = if is_empty { Nanos(1) } else { self.duration };
        self.close_at(now + span);
        true
    }
}
