//! A thread that holds its share of the connections.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, Sender};

use driver::{Driver, Waker};
use metrics::{Held, HeldCounter, HeldNow};
use pacing::Nanos;

use super::Orders;
use super::parts::{HoldEnd, PartMemory};
use super::runtime::HoldRuntime;
use crate::RunError;
use crate::control::{StopHandle, StopLevel};
use crate::remote::WorkersSummary;
use crate::shard_threads;

/// Interval between lag samples of the loop.
const LAG_EVERY: Nanos = Nanos::from_millis(50);

/// Most lag samples that one stall counts for.
const LAGS_MAX: u32 = 10_000;

/// Most reads before a deadline: more than a million responses, at 1,024 a read. A peer that sends without an end
/// cannot delay the deadline checks of others.
const READS_MAX: u32 = 2_048;
/// Number of empty reads that are enough; a signal may have cut one short.
const QUIET_READS: u32 = 2;

/// Intervals of one shard queued for the run. When they are not taken, it goes on counting into the next.
pub(super) const REPORTS_MAX: usize = 4;

/// A report of a shard to the run.
pub(super) enum Report {
    /// It can be woken.
    Ready { waker: Waker },
    /// All that it saw up to the end of interval `reached`.
    Interval { shard: usize, reached: u64, seen: Box<Held> },
    /// It has tried all of its connections; since the start.
    Opened { shard: usize, now: HeldNow, since: Nanos },
    /// It begins to close them.
    Closing { now: HeldNow, since: Nanos },
    /// What a remote partition saw in an interval, and its memory; it has reported everything up to the end of `upto`.
    Seen { part: usize, number: u64, upto: u64, seen: Box<Held>, memory: PartMemory },
    /// It is over; what it saw since its last interval.
    Over { shard: usize, at: Nanos, seen: Box<Held> },
    /// It cannot go on.
    Broken(RunError),
    /// A remote partition is over.
    Ended { shard: usize, end: Box<HoldEnd> },
    /// A remote partition is lost.
    Lost { shard: usize },
    /// All workers are over.
    Workers(Box<WorkersSummary>),
}

impl shard_threads::Report for Report {
    fn readiness(self) -> Option<Result<Waker, RunError>> {
        match self {
            Self::Ready { waker } => Some(Ok(waker)),
            Self::Broken(error) => Some(Err(error)),
            _ => None,
        }
    }
}

/// The channels of a shard.
pub(super) struct HoldChannels {
    pub(super) shard: usize,
    pub(super) reports: Sender<Report>,
    /// One message for each interval that was taken.
    pub(super) taken: Receiver<()>,
    pub(super) orders: Arc<Orders>,
    pub(super) stop: StopHandle,
}

/// Runs a shard to its end. The run may be gone: the shard then ends.
pub(super) fn run<D: Driver>(
    mut driver: D,
    mut runtime: HoldRuntime,
    channels: &HoldChannels,
    begins: &Receiver<Nanos>,
) {
    if channels.reports.send(Report::Ready { waker: driver.waker() }).is_err() {
        return;
    }
    let Ok(started) = begins.recv() else { return };
    runtime.start_at(started);
    let (interval, options) = (runtime.interval(), channels.stop.stop_level_of());
    let (mut reached, mut reported) = (0, 0);
    let (mut next_at, mut lag_at) = (started + interval, started + LAG_EVERY);
    let mut on_their_way = 0;
    let (mut has_opened, mut cpu_ns) = (false, host::thread_cpu_ns());
    let mut complete = |seen: &mut Held, now: HeldNow| {
        let spent = host::thread_cpu_ns();
        seen.counts[HeldCounter::CpuNs] = spent - std::mem::replace(&mut cpu_ns, spent);
        seen.now = now;
    };
    loop {
        let now = driver.now();
        lag_at = record_lag(&mut runtime.unreported, lag_at, now);
        if channels.orders.stops_opening() {
            runtime.stop_opening();
        }
        let (stop_level, end_at) = (options.get(), channels.orders.end_at());
        if !runtime.is_closing() && (now >= end_at || stop_level >= StopLevel::STOP) {
            let reported = channels.reports.send(Report::Closing { now: runtime.now(), since: now.since(started) });
            runtime.begin_closing(now, end_at, driver.sockets());
            if reported.is_err() {
                break;
            }
        }
        if let Err(error) = turn(&mut driver, &mut runtime, now) {
            drop(channels.reports.send(Report::Broken(error.into())));
            return;
        }
        if runtime.is_over() || stop_level >= StopLevel::ABORT {
            break;
        }
        if !has_opened && !runtime.is_closing() && runtime.has_tried_all(now) {
            has_opened = true;
            if report_opened(channels, &runtime, now, started).is_err() {
                break;
            }
        }
        while next_at <= now {
            next_at += interval;
            reached += 1;
        }
        on_their_way -= channels.taken.try_iter().count();
        if reached > reported && on_their_way < REPORTS_MAX {
            let standing = runtime.now();
            let mut seen = std::mem::take(&mut runtime.unreported);
            complete(&mut seen, standing);
            (reported, on_their_way) = (reached, on_their_way + 1);
            if channels.reports.send(Report::Interval { shard: channels.shard, reached, seen }).is_err() {
                break;
            }
        }
        let end_at = if runtime.is_closing() { Nanos::NEVER } else { end_at };
        let until = runtime.next_turn(now).min(next_at).min(lag_at).min(end_at);
        runtime.sleep_until(until.max(now));
        if let Err(error) = driver.wait(until, |sockets, event| runtime.handle(sockets, event)) {
            drop(channels.reports.send(Report::Broken(error.into())));
            return;
        }
    }
    runtime.end(driver.sockets());
    let mut seen = std::mem::take(&mut runtime.unreported);
    complete(&mut seen, HeldNow::default());
    drop(channels.reports.send(Report::Over { shard: channels.shard, at: driver.now(), seen }));
}

/// Records how late the loop is, sample by sample: a long stall counts as many late ones. Returns when the next is due.
fn record_lag(unreported: &mut Held, due: Nanos, now: Nanos) -> Nanos {
    let mut due = due;
    for _ in 0..LAGS_MAX {
        if now < due {
            break;
        }
        unreported.lag.record((now - due).0);
        due += LAG_EVERY;
    }
    due.max(now)
}

/// Reports that this shard has tried all of its connections. Fails when the run is gone.
fn report_opened(
    channels: &HoldChannels,
    runtime: &HoldRuntime,
    now: Nanos,
    started: Nanos,
) -> Result<(), SendError<Report>> {
    if channels.orders.has_opened(runtime.now().open, now) {
        channels.stop.wake_all();
    }
    let opened = Report::Opened { shard: channels.shard, now: runtime.now(), since: now.since(started) };
    channels.reports.send(opened)
}

/// Does what is due, after reading what is there: a stall of the generator must not time out a response that came in
/// time.
pub(super) fn turn<D: Driver>(driver: &mut D, runtime: &mut HoldRuntime, now: Nanos) -> Result<(), std::io::Error> {
    runtime.wake_at(now);
    let (mut reads, mut quiet) = (0, 0);
    while reads < READS_MAX && quiet < QUIET_READS && runtime.is_deadline_due(now) {
        let mut has_read = false;
        driver.wait(Nanos::ZERO, |sockets, event| {
            has_read = true;
            runtime.handle(sockets, event);
        })?;
        (reads, quiet) = (reads + 1, if has_read { 0 } else { quiet + 1 });
    }
    runtime.turn(now, driver.sockets());
    Ok(())
}
