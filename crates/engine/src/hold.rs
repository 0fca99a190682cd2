//! Held connections: opened at a given rate, held, used for messages, closed cleanly.
//!
//! Connections are counted here, not exchanges, and there may be a million: so each is an entry of 40 bytes
//! ([`world`]): phase, two instants, pending work. State that only a busy one needs (TLS, a line with a partial
//! response) is a box that is released when it is idle. Turns are arithmetic: the k-th message of a shard is due at
//! an instant computed from k, so a million connections need no timer. All deadlines of one kind have the same length
//! and lie in a queue. The last shard that has tried all its connections sets the end for all; the desk stops the
//! opening when memory runs out. `Holding` is started, watched and ended as a run is, on the same threads; its rows
//! are merged separately, since one may cover many intervals.

mod aggregator;
mod closing;
mod events;
mod holding;
mod job;
mod opening;
mod parts;
mod remote;
mod shard;
#[cfg(test)]
mod tests;
mod work;
mod world;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use driver::DriverSelection;
use host::CpuTime;
use metrics::{Distribution, Held, HeldNow};
use pacing::Nanos;
use plan::Hold;
use wire::tls::{ClientConfig, Refused};

use crate::remote::WorkersSummary;
use crate::subscribers::Join;
pub use holding::Holding;
pub use parts::{HoldEnd, PartMemory};
pub use remote::{HoldBackend, HoldBegun, HoldEnding, HoldOrder, HoldPart, HoldReporter, HoldUpdate};

/// How a plan is carried out on this machine.
#[derive(Clone, Debug)]
pub struct HoldOptions {
    /// The target, resolved.
    pub address: SocketAddr,
    /// What makes TLS sessions, of a plan that wants them.
    pub tls: Option<ClientConfig>,
    /// At most this many shards.
    pub threads: usize,
    /// The driver of each shard.
    pub driver: DriverSelection,
    /// Who holds the connections, if others do.
    pub team: Option<Arc<dyn HoldBackend>>,
}

/// What all shards saw in one interval, and what it takes of the machine.
#[derive(Debug)]
pub struct HoldInterval<'a> {
    /// The first is 1.
    pub number: u64,
    /// It was told before, without a thread that was late, and is more complete now.
    pub is_again: bool,
    /// Since the start.
    pub from: Nanos,
    /// Since the start.
    pub to: Nanos,
    /// What happened in between.
    pub seen: &'a Held,
    /// What of that was not told before.
    pub added: &'a Held,
    /// What happened since the start.
    pub total: &'a Held,
    /// Memory at its end.
    pub memory: MemoryUse,
}

/// An interval that owns what it tells.
#[derive(Clone, Debug)]
pub struct KeptHold {
    number: u64,
    is_again: bool,
    from: Nanos,
    to: Nanos,
    seen: Held,
    /// What of it was not told before.
    added: Held,
    total: Held,
    memory: MemoryUse,
}

impl KeptHold {
    /// What it tells.
    pub fn interval(&self) -> HoldInterval<'_> {
        let &Self { number, is_again, from, to, ref seen, ref added, ref total, memory } = self;
        HoldInterval { number, is_again, from, to, seen, added, total, memory }
    }
}

impl Join for KeptHold {
    /// What was new in either, once, in the time from the first to the last. It takes the place of no row that was told before.
    fn join(&mut self, later: &Self) {
        self.added.add_counts(&later.added);
        self.added.now = later.total.now;
        self.seen.clone_from(&self.added);
        self.total.clone_from(&later.total);
        self.memory = later.memory;
        self.number = self.number.max(later.number);
        (self.from, self.to) = (self.from.min(later.from), self.to.max(later.to));
        self.is_again = false;
    }
}

/// What connections take of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// This process.
    pub resident: u64,
    /// What it had before the first connection.
    pub resident_before: u64,
    /// What the kernel took more than before; of both ends when both are here. `None` where it does not say.
    pub kernel: Option<u64>,
    /// What this machine can still give.
    pub available: Option<u64>,
}

/// No more connections were opened, because memory was about to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedOpening {
    /// What could still be given.
    pub available: u64,
    /// What is left to others.
    pub reserve: u64,
    /// Connections that were tried by then.
    pub tried: u64,
}

/// What it came to.
#[derive(Clone, Debug)]
pub struct HoldResult {
    /// All that was seen.
    pub total: Held,
    /// From the start to the end of the last shard.
    pub wall: Nanos,
    /// When all connections had been tried, since the start; `None` when it was stopped before.
    pub opened_after: Option<Nanos>,
    /// How things stood then.
    pub when_opened: HeldNow,
    /// How things stood when the closing began.
    pub when_closing: HeldNow,
    /// When the closing began, since the start.
    pub closing_after: Option<Nanos>,
    /// The most connections that were established at one time.
    pub most_open: u64,
    /// Memory when the most connections were established.
    pub memory: MemoryUse,
    /// Opening ended early.
    pub stopped_opening: Option<StoppedOpening>,
    /// Where connections came from, and where they went: how many of each.
    pub places: (usize, usize),
    /// Shards that worked.
    pub threads: usize,
    /// CPU time of this process.
    pub cpu: CpuTime,
    /// The driver that ran, and why.
    pub driver: DriverSelection,
    /// What the first certificate that was refused said of itself.
    pub refused: Option<Refused>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// Somebody stopped it before its time was over.
    pub was_stopped: bool,
    /// How late the loop of each shard was, at each of its looks: one every 50 ms, and as many for a stall as it
    /// covers.
    pub lags: Vec<Distribution>,
    /// Who held them, where others did.
    pub workers_summary: Option<WorkersSummary>,
}

/// A thread whose loop was late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateThread {
    /// Which one.
    pub thread: usize,
    /// The share of its looks at the clock that came too late.
    pub late_share: f64,
    /// 99th percentile of its lag.
    pub lag_p99_ns: u64,
    /// The longest one.
    pub lag_max_ns: u64,
}

impl LateThread {
    /// What a thread was, late or not.
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
    /// How late each loop was.
    pub fn loops(&self) -> Vec<LateThread> {
        self.lags.iter().enumerate().map(|(thread, lag)| LateThread::of(thread, lag)).collect()
    }

    /// The thread whose loop was late most, if one was later than is good.
    pub fn late_thread(&self) -> Option<LateThread> {
        let late = |one: &LateThread| one.late_share > LATE_SHARE_MAX || one.lag_p99_ns > LAG_MAX.0;
        self.loops().into_iter().filter(late).max_by(|one, other| one.late_share.total_cmp(&other.late_share))
    }

    /// The figures are the generator's as much as the target's: one of its loops was late, or too many messages were
    /// taken up late.
    pub fn is_unreliable(&self) -> bool {
        let counts = &self.total.counts;
        self.late_thread().is_some() || counts.late() as f64 > LATE_SHARE_MAX * counts.due() as f64
    }
}

/// A loop that is later than this keeps messages and answers waiting.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// The share of a thread's time, or of the messages, that may be late.
const LATE_SHARE_MAX: f64 = 0.01;

/// What the shards are told while they run, and tell each other.
#[derive(Debug)]
pub(crate) struct Orders {
    /// No more connections are opened.
    stops_opening: AtomicBool,
    /// When the closing begins; 0 as long as nobody knows.
    end_at: AtomicU64,
    /// Shards that have not tried all of theirs.
    left: AtomicU64,
    /// Connections that were there when theirs had been tried.
    open: AtomicU64,
    /// For so long they are held then.
    duration: Nanos,
    /// Those that are lost come back.
    reconnects: bool,
    /// There are others, and somebody else says when all of them end.
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

    /// A shard has tried all of its connections. True for the last one: with that the end is known.
    fn has_opened(&self, open: u64, now: Nanos) -> bool {
        let all_open = self.open.fetch_add(open, Ordering::AcqRel) + open;
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 || self.is_part {
            return false;
        }
        // With none there, and none to come, there is nothing to hold.
        let is_empty = !self.reconnects && all_open == 0;
        let span = if is_empty { Nanos(1) } else { self.duration };
        self.close_at(now + span);
        true
    }
}
