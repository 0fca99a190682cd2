//! A benchmark of a bus: many workers, each with its own connection, that make no load and send synthetic results.
//! The expected total is known to the last start, so it shows how many workers a bus and a leader can take.

mod made;
mod virtual_worker;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use driver::Clock;
use engine::{RunError, RunUpdate, Running, StopHandle};
use metrics::Distribution;
use pacing::Nanos;
use plan::Flags;

use crate::nats_server::{leader_settings, options};
use cluster::bus::{BusEvent, Inbox};
use cluster::coordinator::Workers;
use cluster::nats::{BusUrl, NatsError, Role, forget, join};
use cluster::protocol::{Batch, read};
pub(crate) use made::{TIME_MIN, TIMES};
use virtual_worker::WorkerShared;

/// Starts per second, of all workers.
pub(crate) const RATE: u64 = 400_000;
/// The most workers whose fault is described.
const FAULTS_MAX: usize = 16;

/// The settings of a benchmark.
#[derive(Clone, Debug)]
pub(crate) struct BenchmarkOrder {
    /// The bus. The workers join a cluster of their own there, which is removed with them.
    pub(crate) bus_url: BusUrl,
    /// A random number that no other benchmark has.
    pub(crate) who: u64,
    /// The number of workers.
    pub(crate) workers: usize,
    /// How long the workers would make load, in seconds.
    pub(crate) seconds: u64,
    /// The time within which all workers must be present.
    pub(crate) patience: Duration,
    /// The version that all of them have.
    pub(crate) version: String,
}

/// Progress of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The number of workers that are present.
    There(usize),
    /// All workers are ready, after this time.
    Ready(Duration),
    /// One more second of the run was merged.
    Second(u64),
}

/// The outcome of a benchmark.
#[derive(Clone, Debug)]
pub(crate) struct BenchmarkOutcome {
    /// Time from the first worker to the moment when all were ready.
    pub(crate) ready_after: Duration,
    /// Workers that had a part.
    pub(crate) with_part: usize,
    /// Time from the start to the last report.
    pub(crate) span: Duration,
    /// Delay from sending a batch to its receipt, in nanoseconds.
    pub(crate) lags: Distribution,
    /// Bytes of all batches.
    pub(crate) bytes: u64,
    /// Synthetic starts.
    pub(crate) made: u64,
    /// Starts that the leader has counted.
    pub(crate) counted: u64,
    /// Starts without an owner, by the leader's ledger.
    pub(crate) undelivered: u64,
    /// Unaccounted starts, by the leader's ledger.
    pub(crate) unknown: u64,
    /// Workers that were declared lost.
    pub(crate) lost: usize,
    /// The times that the leader has merged.
    pub(crate) times: Distribution,
    /// Whether they equal the synthetic times, bucket for bucket.
    pub(crate) is_same: bool,
    /// The number of worker faults.
    pub(crate) fault_count: usize,
    /// The first of them.
    pub(crate) faults: Vec<String>,
}

/// Why a benchmark has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BusBenchmarkError {
    /// The bus.
    #[error(transparent)]
    Bus(#[from] NatsError),
    /// The run, and the first worker fault.
    #[error("{error}")]
    Run {
        /// The error of the engine.
        error: RunError,
        /// The first fault of a worker.
        first: Option<String>,
    },
    /// The system.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The plan.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
}

/// Facts that all threads share.
#[derive(Clone, Debug)]
struct SharedFacts {
    clock: Clock,
    /// When the run started, by that clock; 0 before.
    started: Arc<AtomicU64>,
    there: Arc<AtomicUsize>,
    /// Whether a worker had a fault.
    has_fault: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

/// The receive delay of each batch, and the bytes of all of them.
type Lags = Arc<Mutex<(Distribution, u64)>>;

/// Runs the benchmark and reports its progress.
///
/// # Errors
/// There is no bus, or workers do not get ready.
pub(crate) fn try_out(
    order: &BenchmarkOrder,
    stop: &StopHandle,
    notify: impl FnMut(Moment),
) -> Result<BenchmarkOutcome, BusBenchmarkError> {
    // The cluster has no other member: neither workers that make load, nor another benchmark.
    let bus_url = order.bus_url.named(format!("sim-{:016x}", order.who));
    let outcome = tried(&BenchmarkOrder { bus_url: bus_url.clone(), ..order.clone() }, stop, notify);
    forget(&bus_url);
    outcome
}

fn tried(
    order: &BenchmarkOrder,
    stop: &StopHandle,
    mut notify: impl FnMut(Moment),
) -> Result<BenchmarkOutcome, BusBenchmarkError> {
    let begun = Instant::now();
    let known = SharedFacts {
        clock: Clock::start(),
        started: Arc::default(),
        there: Arc::default(),
        has_fault: Arc::default(),
        is_over: Arc::default(),
    };
    let lags: Lags = Arc::default();
    let workers = leads(order, &known, lags.clone())?;
    let plan = load(order.seconds)?;
    let options = options(workers);
    let bus_benchmark = BusBenchmark::comes(order, &known)?;
    let starting = {
        let (stop, plan) = (stop.clone(), Arc::new(plan));
        std::thread::spawn(move || Running::start(plan, options, &stop))
    };
    while !starting.is_finished() {
        notify(Moment::There(known.there.load(Ordering::Relaxed)));
        if known.has_fault.load(Ordering::Relaxed) {
            // A worker that is missing by now will not come.
            stop.abort();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let started = starting.join().map_err(|_| std::io::Error::other("the run has panicked"))?;
    let of_run = |error, bus_benchmark: BusBenchmark| BusBenchmarkError::Run {
        error,
        first: bus_benchmark.ends().faults.into_iter().next(),
    };
    let mut running = match started {
        Ok(running) => running,
        Err(error) => return Err(of_run(error, bus_benchmark)),
    };
    let ready_after = begun.elapsed();
    notify(Moment::Ready(ready_after));
    let from = Instant::now();
    while let Some(reported) = running.wait() {
        if let RunUpdate::Interval(interval) = reported {
            notify(Moment::Second(interval.number));
        }
    }
    let span = from.elapsed();
    let result = match running.finish() {
        Ok(result) => result,
        Err(error) => return Err(of_run(error, bus_benchmark)),
    };
    let made = bus_benchmark.ends();
    let (lags, bytes) = lags.lock().map(|lags| lags.clone()).unwrap_or_default();
    let workers_summary = result.workers_summary.unwrap_or_default();
    Ok(BenchmarkOutcome {
        ready_after,
        with_part: workers_summary.workers.len(),
        span,
        lags,
        bytes,
        made: made.starts,
        counted: result.total.counts.started(),
        undelivered: workers_summary.books.undelivered,
        unknown: workers_summary.books.unaccounted,
        lost: workers_summary.workers.iter().filter(|worker| worker.losses > 0).count(),
        is_same: result.total.connect == made.times,
        times: result.total.connect.clone(),
        fault_count: made.fault_count,
        faults: made.faults,
    })
}

/// All virtual workers, on one thread.
struct BusBenchmark {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Made>,
}

/// What all virtual workers would have started and recorded, and their faults.
#[derive(Default)]
struct Made {
    starts: u64,
    times: Distribution,
    fault_count: usize,
    faults: Vec<String>,
}

impl BusBenchmark {
    fn comes(order: &BenchmarkOrder, known: &SharedFacts) -> Result<Self, std::io::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = WorkerShared::new(order, known.clone());
        let count = order.workers as u64;
        let thread = std::thread::Builder::new().name("crowd".to_owned());
        let thread = thread.spawn(move || virtual_worker::all(count, shared, &runtime))?;
        Ok(Self { is_over: known.is_over.clone(), thread })
    }

    fn ends(self) -> Made {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// The leader of the workers; its received events are inspected on their way.
fn leads(order: &BenchmarkOrder, known: &SharedFacts, lags: Lags) -> Result<Workers, NatsError> {
    let known = known.clone();
    let setting = leader_settings(order.who, &order.version, order.workers, order.patience);
    Workers::lead(setting, Box::new(|| None), None, |subjects, inbox| {
        let inbox: Inbox = Box::new(move |what| {
            let started = Nanos(known.started.load(Ordering::Relaxed));
            if let BusEvent::Entry { payload, .. } = &what
                && let Some(batch) = read::<Batch>(payload)
                && started > Nanos::ZERO
                && batch.sent_at > Nanos::ZERO
                && let Ok(mut lags) = lags.lock()
            {
                let at = known.clock.now().since(started);
                lags.0.record(at.since(batch.sent_at).0);
                lags.1 += payload.len() as u64;
            }
            inbox(what)
        });
        join(&order.bus_url, Role::Leads, subjects, inbox)
    })
}

/// The load that they would make; no target is contacted.
fn load(seconds: u64) -> Result<plan::Plan, plan::PlanError> {
    let text = |text: String| Some(text);
    let flags = Flags {
        url: text("http://127.0.0.1:9/".to_owned()),
        rate: text(RATE.to_string()),
        duration: text(format!("{seconds}s")),
        ..Flags::default()
    };
    flags.plan()
}
