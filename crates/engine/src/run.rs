//! A run: shards are started, their snapshots merged interval by interval, and the whole added up.

mod divide;
mod merge;
mod stepped;

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use driver::poll::PollDriver;
use driver::{Chosen, Clock, Driver, Kind, Waker};
use host::CpuTime;
use metrics::Snapshot;
use pacing::Nanos;
use plan::Plan;
use wire::tls::{ClientConfig, Refused};

use crate::shard::{self, Ends, Report, Times, Wish};
use crate::verdict::{Evidence, LinkUse, Verdict};
pub(crate) use divide::asked_per_s;
use divide::works;
use merge::Merger;
pub use merge::{Finished, ShardUse};
pub use stepped::SteppedRun;

/// How a plan is carried out on this machine.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The target, resolved.
    pub address: SocketAddr,
    /// What makes TLS sessions, of a plan that wants them ([`crate::client_tls`]).
    pub tls: Option<ClientConfig>,
    /// The same of the other targets of the plan, in their order.
    pub others: Vec<(SocketAddr, Option<ClientConfig>)>,
    /// At most this many shards.
    pub threads: usize,
    /// Each shard stays on a core of its own.
    pub pins_threads: bool,
    /// The driver of each shard.
    pub driver: Chosen,
}

/// What all shards saw in one interval.
#[derive(Debug)]
pub struct Interval<'a> {
    /// The first is 1.
    pub number: u64,
    /// Since the start of the run.
    pub from: Nanos,
    /// Since the start of the run.
    pub to: Nanos,
    /// Shards that had not told of it when it was told first: they stood still. It is told again when they have.
    pub late_shards: usize,
    /// It was told before, and is more complete now.
    pub is_again: bool,
    /// What happened in between, as far as it is known.
    pub seen: &'a Snapshot,
    /// What of it was not told before.
    pub added: &'a Snapshot,
    /// What happened since the start.
    pub total: &'a Snapshot,
}

/// What a run has come to.
#[derive(Debug)]
pub struct RunResult {
    /// All that was seen.
    pub total: Snapshot,
    /// From the start to the end of the last shard.
    pub wall: Nanos,
    /// From the start to the instant from which nothing was started any more: the time of all rates.
    pub started_for: Nanos,
    /// The mean rate that an open load was asked for, until nothing was started any more; `None` of a closed load.
    pub asked_per_s: Option<f64>,
    /// Shards that worked.
    pub threads: usize,
    /// What each of them spent.
    pub shards: Vec<ShardUse>,
    /// Who was the limit.
    pub verdict: Verdict,
    /// CPU time of this process during the run.
    pub cpu: CpuTime,
    /// The driver that ran, and why.
    pub driver: Chosen,
    /// What the first certificate that was refused said of itself.
    pub refused: Option<Refused>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// Somebody stopped it before its plan was done.
    pub was_stopped: bool,
}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The kernel gives no poller, no thread or no memory.
    #[error("the engine cannot work on this system: {0}; raise its limits (ulimit -n, memory) or lower --threads")]
    System(#[from] std::io::Error),
    /// Connections cannot come from where they should.
    #[error(transparent)]
    Places(#[from] crate::PlacesError),
    /// A thread could not be bound to a core.
    #[error("a thread could not be pinned to core {core}: {reason}; run without --pin-threads")]
    Pin {
        /// The core.
        core: usize,
        /// What the system says.
        reason: std::io::Error,
    },
}

/// Stops a run from another thread.
#[derive(Clone, Default)]
pub struct StopHandle {
    wish: Arc<Wish>,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl StopHandle {
    /// Starts nothing more and waits for what is in flight, as long as the plan's grace.
    pub fn stop(&self) {
        self.raise(Wish::STOP);
    }

    /// Ends at once. What was measured is kept.
    pub fn abort(&self) {
        self.raise(Wish::ABORT);
    }

    /// Somebody asked for it, or the run itself gave up.
    pub fn is_stopped(&self) -> bool {
        self.wish.get() > Wish::RUN
    }

    /// The next round of users that wait for each other.
    fn release(&self, at: Nanos) {
        self.wish.release(at);
        self.wake_all();
    }

    fn raise(&self, wish: u8) {
        self.wish.raise(wish);
        self.wake_all();
    }

    pub(crate) fn wish_of(&self) -> Arc<Wish> {
        self.wish.clone()
    }

    pub(crate) fn add_waker(&self, waker: Waker) {
        self.wakers.lock().expect("no holder of the lock panics").push(waker);
    }

    pub(crate) fn wake_all(&self) {
        self.wakers.lock().expect("no holder of the lock panics").iter().for_each(Waker::wake);
    }
}

/// Carries out a plan. `observe` is called at the end of each interval; when it breaks, the run ends at once.
///
/// # Errors
/// The system refuses what the engine needs. What the target does is never an error, but data.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    stop: &StopHandle,
    observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    match options.driver.kind {
        Kind::Poll => run_on(plan, options, stop, PollDriver::new, observe),
        #[cfg(target_os = "linux")]
        Kind::Uring => run_on(plan, options, stop, driver::uring::UringDriver::new, observe),
        #[cfg(not(target_os = "linux"))]
        Kind::Uring => Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
    }
}

/// The same on any driver. The maker is called on the thread of the shard.
///
/// # Errors
/// As [`run`].
pub fn run_on<D: Driver>(
    plan: &Plan,
    options: &RunOptions,
    stop: &StopHandle,
    make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    mut observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    let clock = Clock::start();
    let crew = Crew::start(plan, options, stop, clock, make)?;
    let cpu_before = host::process_cpu_time();
    let started = clock.now();
    crew.begin(plan, started);
    let mut desk = Desk::new(crew.threads.len(), Times::of(plan, started), crew.returns.clone(), stop.clone());
    let mut waiting_since = None;
    while desk.is_waiting() {
        // A row that misses a late shard waits a moment more: after a stall of all, each tells by itself.
        let told = if desk.merger.awaits_late() {
            let since = *waiting_since.get_or_insert_with(|| clock.now());
            let left = LATE_WAIT.saturating_sub(clock.now().since(since).as_duration());
            if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { crew.reports.recv_timeout(left) }
        } else {
            waiting_since = None;
            crew.reports.recv().map_err(RecvTimeoutError::from)
        };
        match told {
            Ok(report) => desk.take(report),
            Err(RecvTimeoutError::Timeout) => desk.merger.gives_up_waiting(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        desk.show(&mut observe);
    }
    let threads = crew.join();
    let Finished { total, wall, stopped_at, shards, backlog } = desk.finish(&mut observe)?;
    let asked_per_s = asked_per_s(plan, stopped_at);
    let link = link_use(options.address, &total, wall);
    let growth = backlog.and_then(|backlog| divide::growth(plan, backlog));
    let verdict = Verdict::of(Evidence { plan, total: &total, wall, shards: &shards, asked_per_s, link, growth });
    Ok(RunResult {
        started_for: stopped_at,
        asked_per_s,
        verdict,
        total,
        wall,
        threads,
        shards,
        cpu: host::process_cpu_time().since(cpu_before),
        driver: options.driver.clone(),
        lacked_certificate: options.tls.as_ref().is_some_and(ClientConfig::was_asked_in_vain),
        refused: options.tls.as_ref().and_then(ClientConfig::refused),
        was_stopped: stop.is_stopped(),
    })
}

/// What the run took of the interface to its target; `None` where the system says no speed, as of loopback.
fn link_use(to: SocketAddr, total: &Snapshot, wall: Nanos) -> Option<LinkUse> {
    let link = host::link_to(to.ip())?;
    let busier = total.counts.bytes_received.max(total.counts.bytes_sent());
    let bits_per_s = busier as f64 * 8.0 / wall.as_secs_f64().max(1e-9);
    Some(LinkUse { share: bits_per_s / link.bits_per_s as f64, bits_per_s: link.bits_per_s, name: link.name })
}

/// Reports that follow each other within this time are of one moment.
const LATE_WAIT: Duration = Duration::from_millis(50);
/// From the last arrival at a rendezvous to its instant: time for all shards to wake up.
const ROUND_LEAD: Nanos = Nanos::from_millis(2);

/// Where the reports of the shards come together.
struct Desk {
    merger: Merger,
    hopeless: Vec<bool>,
    /// Shards whose users all wait for those of the others, since when.
    gathered: Vec<Option<Nanos>>,
    stop: StopHandle,
    failure: Option<RunError>,
}

impl Desk {
    fn new(shards: usize, times: Times, returns: Vec<Sender<Box<Snapshot>>>, stop: StopHandle) -> Self {
        let merger = Merger::new(shards, times, returns);
        Self { merger, hopeless: vec![false; shards], gathered: vec![None; shards], stop, failure: None }
    }

    /// Some shard will still report, and what it says is wanted.
    fn is_waiting(&self) -> bool {
        self.failure.is_none() && self.merger.running() > 0
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Interval { shard, upto, at, seen } => self.merger.interval(shard, upto, at, seen),
            Report::Over { shard, at, stopped_at, backlog, seen } => {
                self.merger.over(shard, at, stopped_at, backlog, &seen);
            }
            Report::Hopeless { shard, is_hopeless } => {
                self.hopeless[shard] = is_hopeless;
                if self.hopeless.iter().all(|&is| is) {
                    self.stop.abort();
                }
            }
            Report::Broken(error) => {
                self.failure = Some(error);
                return self.stop.abort();
            }
            Report::Gathered { shard, at } => self.gathered[shard] = Some(at),
            Report::Ready { .. } => {}
        }
        self.start_round();
    }

    /// Tells the intervals that are ready.
    fn show(&mut self, observe: &mut impl FnMut(&Interval<'_>) -> ControlFlow<()>) {
        while let Some(interval) = self.merger.next_interval() {
            if observe(&interval).is_break() {
                self.stop.abort();
            }
        }
    }

    /// When the users of all shards that still run wait for each other, they start together.
    fn start_round(&mut self) {
        let Some(last) = self.gathered.iter().flatten().max().copied() else { return };
        let is_awaited = |(shard, since): (usize, &Option<Nanos>)| since.is_none() && self.merger.is_running(shard);
        if !self.gathered.iter().enumerate().any(is_awaited) {
            self.gathered.fill(None);
            self.stop.release(last + ROUND_LEAD);
        }
    }

    /// What all of it comes to, and how long it took.
    fn finish(mut self, observe: &mut impl FnMut(&Interval<'_>) -> ControlFlow<()>) -> Result<Finished, RunError> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        while let Some(interval) = self.merger.last_interval() {
            // The run is over: there is nothing left to break.
            let _ = observe(&interval);
        }
        Ok(self.merger.finish())
    }
}

/// The threads of a run, and the channels to them.
struct Crew {
    threads: Vec<JoinHandle<()>>,
    reports: Receiver<Report>,
    starts: Vec<Sender<Times>>,
    returns: Vec<Sender<Box<Snapshot>>>,
}

impl Crew {
    /// Starts one thread for each share that has users, and waits until all are ready.
    fn start<D: Driver>(
        plan: &Plan,
        options: &RunOptions,
        stop: &StopHandle,
        clock: Clock,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        let first = (options.address, options.tls.clone());
        let ways: Vec<_> = std::iter::once(first).chain(options.others.iter().cloned()).collect();
        let works = works(plan, &ways, options.threads)?;
        let cores = host::allowed_cores();
        let (report, reports) = channel();
        let mut crew = Self { threads: Vec::new(), reports, starts: Vec::new(), returns: Vec::new() };
        for (shard, work) in works.into_iter().enumerate() {
            let (start, started) = channel();
            let (back, returned) = channel();
            crew.starts.push(start);
            crew.returns.push(back);
            let ends = Ends { shard, reports: report.clone(), returned, wish: stop.wish.clone() };
            let core = options.pins_threads.then(|| cores[shard % cores.len()]);
            let make = make.clone();
            let thread = std::thread::Builder::new().name(format!("shard-{shard}"));
            crew.threads.push(thread.spawn(move || {
                let pinned = core
                    .map_or(Ok(()), |core| host::pin_to_core(core).map_err(|reason| RunError::Pin { core, reason }));
                match pinned.and_then(|()| Ok(make(clock)?)) {
                    Ok(driver) => shard::run(driver, work, ends, &started),
                    // The run may be gone already; then nobody asks why.
                    Err(error) => drop(ends.reports.send(Report::Broken(error))),
                }
            })?);
        }
        drop(report);
        for _ in 0..crew.threads.len() {
            match crew.reports.recv() {
                Ok(Report::Ready { waker }) => stop.add_waker(waker),
                Ok(Report::Broken(error)) => return Err(error),
                _ => break,
            }
        }
        Ok(crew)
    }

    fn begin(&self, plan: &Plan, started: Nanos) {
        let times = Times::of(plan, started);
        for start in &self.starts {
            // A shard that broke before its start is met in the reports.
            let _ = start.send(times);
        }
    }

    fn join(self) -> usize {
        let count = self.threads.len();
        drop((self.starts, self.returns, self.reports));
        for thread in self.threads {
            thread.join().expect("a shard does not panic");
        }
        count
    }
}
