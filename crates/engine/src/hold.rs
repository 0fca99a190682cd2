//! Connections that are held: opened at a pace, kept, spoken on, closed in order.
//!
//! Connections are what counts here, not exchanges, and there may be a million: so each is a few words ([`world`]), and what only a
//! busy one needs is given back when it is idle again.

mod closing;
mod desk;
mod events;
mod opening;
mod shard;
#[cfg(test)]
mod tests;
mod work;
mod world;

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use driver::poll::PollDriver;
use driver::{Chosen, Clock, Driver, Kind};
use host::CpuTime;
use metrics::{Distribution, Held, HeldNow};
use pacing::{Nanos, Segment};
use plan::Hold;
use wire::tls::{ClientConfig, Refused};

use crate::{Places, RunError, StopHandle};
use desk::{Desk, Setting};
use shard::{Ends, Report};
use world::{Job, World};

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
    pub driver: Chosen,
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
    /// What happened since the start.
    pub total: &'a Held,
    /// Memory at its end.
    pub memory: MemoryUse,
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
    pub driver: Chosen,
    /// What the first certificate that was refused said of itself.
    pub refused: Option<Refused>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// Somebody stopped it before its time was over.
    pub was_stopped: bool,
    /// How late the loop of each shard was, at each of its looks: one every 50 ms, and as many for a stall as it
    /// covers.
    pub lags: Vec<Distribution>,
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
    pub fn is_spoiled(&self) -> bool {
        let counts = &self.total.counts;
        self.late_thread().is_some() || counts.late as f64 > LATE_SHARE_MAX * counts.due as f64
    }
}

/// A loop that is later than this keeps messages and answers waiting.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// The share of a thread's time, or of the messages, that may be late.
const LATE_SHARE_MAX: f64 = 0.01;

/// What the shards are told while they run.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// No more connections are opened.
    stops_opening: AtomicBool,
    /// When the closing begins; 0 as long as nobody knows.
    end_at: AtomicU64,
}

impl Orders {
    fn end_at(&self) -> Nanos {
        match self.end_at.load(Ordering::Relaxed) {
            0 => Nanos::NEVER,
            at => Nanos(at),
        }
    }

    fn stops_opening(&self) -> bool {
        self.stops_opening.load(Ordering::Relaxed)
    }
}

/// Holds connections. `observe` is called at the end of each interval; when it breaks, everything ends at once.
///
/// # Errors
/// The system refuses what the engine needs, or the connections cannot come from where they should. What the target does is
/// never an error, but data.
pub fn hold(
    plan: &Hold,
    options: &HoldOptions,
    stop: &StopHandle,
    observe: impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>,
) -> Result<HoldResult, RunError> {
    match options.driver.kind {
        Kind::Poll => hold_on(plan, options, stop, PollDriver::new, observe),
        #[cfg(target_os = "linux")]
        Kind::Uring => hold_on(plan, options, stop, driver::uring::UringDriver::new, observe),
        #[cfg(not(target_os = "linux"))]
        Kind::Uring => Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
    }
}

fn hold_on<D: Driver>(
    plan: &Hold,
    options: &HoldOptions,
    stop: &StopHandle,
    make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    observe: impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>,
) -> Result<HoldResult, RunError> {
    let clock = Clock::start();
    let places = Places::of(&plan.target, options.address, plan.connections)?;
    let counts = places.counts();
    let shards = (options.threads.max(1) as u64).min(plan.connections) as u32;
    let orders = Arc::new(Orders::default());
    let (report, reports) = channel();
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let (mut starts, mut takes) = (Vec::new(), Vec::new());
    for index in 0..shards {
        let (start, begins) = channel();
        starts.push(start);
        let (take, taken) = channel();
        takes.push(take);
        let (reports, orders, wish) = (report.clone(), orders.clone(), stop.wish_of());
        let ends = Ends { shard: index as usize, reports, taken, orders, wish };
        // One for each: threads that share it would write its count of references in turn.
        let job = Arc::new(Job::new(plan, places.clone(), options.tls.clone()));
        let make = make.clone();
        let share = Segment::share(index, shards);
        let thread = std::thread::Builder::new().name(format!("hold-{index}"));
        threads.push(thread.spawn(move || match make(clock) {
            Ok(mut driver) => {
                let world = World::new(job, share, driver.sockets());
                shard::run(driver, world, &ends, &begins);
            }
            // The run may be gone already; then nobody asks why.
            Err(error) => drop(ends.reports.send(Report::Broken(error.into()))),
        })?);
    }
    drop(report);
    for _ in 0..shards {
        match reports.recv() {
            Ok(Report::Ready { waker }) => stop.add_waker(waker),
            Ok(Report::Broken(error)) => return Err(error),
            _ => break,
        }
    }
    // What is there before the first connection is no part of what connections cost.
    let before = (host::resident_bytes().unwrap_or(0), host::kernel_memory());
    let cpu_before = host::process_cpu_time();
    let started = clock.now();
    for start in starts {
        // A shard that broke before its start is met in the reports.
        let _ = start.send(started);
    }
    let desk = Desk::new(Setting { clock, started, plan, stop, orders, before }, takes);
    let desk = desk.run(&reports, observe);
    for thread in threads {
        thread.join().expect("a shard does not panic");
    }
    if let Some(error) = desk.failure {
        return Err(error);
    }
    let mut desk = desk;
    let add = |all: &[HeldNow]| {
        let mut sum = HeldNow::default();
        all.iter().for_each(|now| sum.add(*now));
        sum
    };
    let (when_opened, when_closing) = (add(&desk.opened), add(&desk.closing));
    desk.most_open = desk.most_open.max(when_opened.open).max(when_closing.open);
    Ok(HoldResult {
        wall: desk.shown_to,
        opened_after: desk.opened_after,
        when_opened,
        when_closing,
        closing_after: desk.closing_after,
        most_open: desk.most_open,
        memory: desk.memory,
        stopped_opening: desk.stopped_opening,
        places: counts,
        threads: desk.shards,
        cpu: host::process_cpu_time().since(cpu_before),
        driver: options.driver.clone(),
        refused: options.tls.as_ref().and_then(ClientConfig::refused),
        lacked_certificate: options.tls.as_ref().is_some_and(ClientConfig::was_asked_in_vain),
        was_stopped: stop.is_stopped(),
        lags: desk.lags,
        total: desk.total,
    })
}
