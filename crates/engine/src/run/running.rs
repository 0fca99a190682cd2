//! A run as a value: it is started, watched, changed and stopped; one process may have many.
//!
//! `Running::start` returns a run that continues by itself. `wait` returns its events: intervals, and changes of the
//! load. A caller that does not poll delays reporting only; it never slows the load: a shard whose snapshot does not
//! come back continues to record into the one it has. `finish` returns the result; a run that is dropped ends.
//! `subscribe` gives others the intervals too (`subscribers.rs`).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use driver::{ChosenDriver, Clock, Driver};
use host::{CpuTime, MachineTime};
use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Change;
use plan::Plan;
use wire::tls::ClientConfig;

use super::aggregator::{LoadAggregator, Update};
use super::remote_backend::{AGO_MAX, PartMessage, RemoteBackend, RemoteRun, RunReporter};
use super::routes::routes;
use super::totals::paused_of_all;
use super::{Interval, KeptInterval, Partition, RunError, RunOptions, RunResult, divide, judged};
use crate::barriers::{BarrierStats, Barriers};
use crate::control::{Changes, Control, StopHandle};
use crate::data_sources::{SharedData, UsedUp};
use crate::error::BackendFault;
use crate::names::Refresher;
use crate::remote::{Where, WorkersSummary};
use crate::run_loop::RunLoop;
use crate::shard::{self, Report, ShardChannels};
use crate::shard_threads::{ShardThreads, wait_until};
use crate::subscribers::{Delivery, Subscription};
use crate::times::Times;
use crate::verdict::{LinkUse, MachineUse, Verdict};

/// An update of a run in progress.
#[derive(Debug)]
pub enum RunUpdate<'a> {
    /// An interval, or an update of an earlier one.
    Interval(Interval<'a>),
    /// The load was changed; in the order of the changes.
    Changed(Change),
    /// For a partition of a load: a message to the coordinator of the other partitions.
    Remote(PartMessage),
}

/// A run in progress. One that is dropped ends at once.
pub struct Running {
    plan: Arc<Plan>,
    options: RunOptions,
    going: RunLoop<LoadAggregator, Times>,
    stop: StopHandle,
    changes: Arc<Changes>,
    shared_data: SharedData,
    barriers: Option<Arc<Barriers>>,
    /// Looks the names of targets up again.
    names: Refresher,
    cpu_before: CpuTime,
    machine_before: Option<MachineTime>,
    /// When the measured time begins, since the Unix epoch.
    began_unix: Duration,
}

impl Running {
    /// Starts a run. `stop` ends it too.
    ///
    /// # Errors
    /// The system refuses what the engine needs. What the target does is never an error, but data.
    pub fn start(plan: Arc<Plan>, options: RunOptions, stop: &StopHandle) -> Result<Self, RunError> {
        Self::start_part(plan, options, &Partition::default(), stop)
    }

    /// Starts a partition of a load. Waits until it begins, or is stopped.
    ///
    /// # Errors
    /// Same as [`Running::start`].
    pub fn start_part(
        plan: Arc<Plan>,
        options: RunOptions,
        part: &Partition,
        stop: &StopHandle,
    ) -> Result<Self, RunError> {
        if let Some(backend) = options.backend.clone() {
            return Self::start_remote(plan, options, &*backend, stop);
        }
        let kind = options.driver.kind;
        Self::start_part_on(plan, options, part, stop, move |clock| ChosenDriver::new(kind, clock))
    }

    /// Same as [`Running::start`], on any driver. `make` is called on the thread of the shard.
    ///
    /// # Errors
    /// Same as [`Running::start`].
    pub fn start_on<D: Driver>(
        plan: Arc<Plan>,
        options: RunOptions,
        stop: &StopHandle,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        Self::start_part_on(plan, options, &Partition::default(), stop, make)
    }

    /// Starts a run on remote workers.
    fn start_remote(
        plan: Arc<Plan>,
        options: RunOptions,
        backend: &dyn RemoteBackend,
        stop: &StopHandle,
    ) -> Result<Self, RunError> {
        options.data_sources.check(&plan)?;
        if options.log_config.log.is_some() {
            return Err(BackendFault::Undivided { what: "--log" }.into());
        }
        let shared_data = SharedData::new(options.data_sources.clone(), 1);
        // A run that another leader has led for a while began before now.
        let clock = Clock::at(AGO_MAX);
        let changes = Arc::new(divide::changes_of(&plan, clock).remote(backend.received_within()));
        let (reports, shard_threads) = ShardThreads::remote();
        let order = RemoteRun {
            plan: plan.clone(),
            data_sources: options.data_sources.clone(),
            address: options.address,
            slowest: options.log_config.slowest,
            clock,
            stop: stop.clone(),
            reporter: RunReporter::new(reports, changes.clone(), stop.clone(), plan.warmup.into()),
        };
        let times = Times::new(&plan, backend.begin(order)?);
        let cpu_before = host::process_cpu_time();
        let began_unix = unix_of(times.measured_from(), clock);
        changes.begin(times.measured_from());
        let aggregator =
            LoadAggregator::new(times, Vec::new(), Vec::new(), stop.clone(), changes.clone(), Where::Remote);
        let aggregator = aggregator.with_barriers(&plan.barriers);
        let going = RunLoop::begin(shard_threads, times, aggregator, stop.clone());
        let (stop, barriers, machine_before) = (stop.clone(), None, None);
        let names = Refresher::default();
        Ok(Self {
            plan,
            options,
            going,
            stop,
            changes,
            shared_data,
            barriers,
            names,
            cpu_before,
            machine_before,
            began_unix,
        })
    }

    fn start_part_on<D: Driver>(
        plan: Arc<Plan>,
        options: RunOptions,
        part: &Partition,
        stop: &StopHandle,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        options.data_sources.check(&plan)?;
        let shared_data = SharedData::new(options.data_sources.clone(), part.worker);
        let clock = part.begins.map_or_else(Clock::start, |(clock, _)| clock);
        let changes = Arc::new(divide::changes_of(&plan, clock).for_part(part.lease.clone(), part.lost.clone()));
        let (routes, names) = routes(&plan, &options);
        let assignments = divide::assignments(&plan, &routes, options.threads, part)?;
        let barriers = divide::barriers_of(&assignments);
        let (scenarios, cores) = (assignments.iter().map(divide::scenarios_of).collect(), host::allowed_cores());
        let is_part = part.begins.is_some();
        let mut returns = Vec::new();
        let mut rest = assignments.into_iter();
        // One thread for each share that has users.
        let shard_threads = ShardThreads::start(rest.len(), stop, |place| {
            let mut assignment = rest.next().expect("as many as there are threads");
            let (back, returned) = channel();
            returns.push(back);
            let shard = place.shard;
            if let Some(barriers) = barriers.as_ref().filter(|_| is_part) {
                let reports = place.reports.clone();
                // The run may be gone; then no user goes on.
                barriers.are_of_part(Box::new(move |attended| _ = reports.send(Report::BarrierEvent(attended))));
            }
            assignment.iter_mut().for_each(|(work, _)| {
                (work.log_config, work.shard, work.shared_data) =
                    (options.log_config.clone(), shard as u32, shared_data.clone());
            });
            let channels = ShardChannels {
                shard,
                reports: place.reports,
                returned,
                stop_level: stop.stop_level_of(),
                changes: changes.clone(),
                counts_behind: is_part,
            };
            let core = options.pins_threads.then(|| cores[shard % cores.len()]);
            let make = make.clone();
            std::thread::Builder::new().name(format!("shard-{shard}")).spawn(move || {
                match core.map_or(Ok(()), pin_to).and_then(|()| Ok(make(clock)?)) {
                    Ok(driver) => shard::run(driver, assignment, channels, &place.start),
                    // The run may be gone already.
                    Err(error) => drop(channels.reports.send(Report::Broken(error))),
                }
            })
        })?;
        let (cpu_before, machine_before) = (host::process_cpu_time(), host::machine_time());
        let started = part.begins.map_or_else(|| clock.now(), |(_, begins)| begins);
        let times = Times { joins: part.from, ..Times::new(&plan, started) };
        wait_until(clock, times.begins(), stop);
        let began_unix = unix_of(times.measured_from(), clock);
        if let Some(log) = &options.log_config.log {
            log.begin(began_unix);
        }
        changes.begin(times.measured_from());
        part.changes.iter().for_each(|change| changes.follow(change.clone()));
        (0..part.changes.len() + usize::from(part.lost.is_some())).for_each(|_| stop.stop_level_of().notify_change());
        let place = if part.begins.is_some() { Where::Partition } else { Where::Here };
        let aggregator = LoadAggregator::new(times, scenarios, returns, stop.clone(), changes.clone(), place);
        let names = Refresher::start(names, stop)?;
        let going = RunLoop::begin(shard_threads, times, aggregator, stop.clone());
        let stop = stop.clone();
        Ok(Self {
            plan,
            options,
            going,
            stop,
            changes,
            shared_data,
            barriers,
            names,
            cpu_before,
            machine_before,
            began_unix,
        })
    }

    /// Control of the run, from any thread.
    pub fn control(&self) -> Control {
        Control::new(self.stop.clone(), self.changes.clone()).with_barriers(self.barriers.clone())
    }

    /// Adds a subscriber of intervals, read on a thread of its own: it receives those emitted from now on, while a
    /// caller waits here for intervals or for the end. Its queue holds `bound` of them. Subscribers never slow the
    /// load.
    pub fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<KeptInterval> {
        self.going.subscribe(delivery, bound)
    }

    /// Waits for the next update; `None` when it is over. A caller that does not poll delays reporting only; it never
    /// slows the load.
    pub fn wait(&mut self) -> Option<RunUpdate<'_>> {
        let (news, aggregator) = self.going.wait()?;
        Some(match news {
            Update::Interval(ready) => RunUpdate::Interval(aggregator.interval(&ready)),
            Update::Changed(change) => RunUpdate::Changed(change),
            Update::Remote(news) => RunUpdate::Remote(news),
        })
    }

    /// The result. Waits for the end; updates not polled by then are not reported.
    ///
    /// # Errors
    /// Same as [`Running::start`].
    pub fn finish(self) -> Result<RunResult, RunError> {
        let (mut aggregator, mut threads) = self.going.finish();
        let (workers_summary, remote_barriers) =
            (aggregator.merger.intervals.workers_summary.take(), aggregator.remote_barriers.take());
        let mut finished = aggregator.finish()?;
        let mut parts = std::mem::take(&mut finished.parts);
        let mut cpu = host::process_cpu_time().since(self.cpu_before);
        if let Some(workers_summary) = &workers_summary {
            threads = workers_summary.workers.iter().map(|worker| worker.threads).sum();
            cpu = parts.iter().fold(cpu, |sum, part| sum.plus(part.cpu));
        }
        let used_up = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.used_up));
        let used_up = each_once(self.shared_data.used_up().into_iter().chain(used_up));
        let mut met = parts.iter().map(|part| part.met.clone()).fold(Vec::new(), added_up);
        if let Some(remote_barriers) = remote_barriers {
            remote_barriers.add_to(&mut met);
        }
        let (options, timelines) = (&self.options, self.changes.timelines());
        let link = link_use(options.address, &finished.total, finished.wall);
        let machine = machine_use(self.machine_before, options.address, cpu, finished.wall + self.plan.warmup.into());
        let mut scenarios = judged::judged(&self.plan, &timelines, &finished, (link.as_ref(), machine));
        if workers_summary.as_ref().is_some_and(WorkersSummary::has_losses) {
            scenarios.iter_mut().for_each(|scenario| scenario.verdict.without_workers());
        }
        let paused = paused_of_all(&timelines, Nanos::ZERO, finished.stopped_at);
        Ok(RunResult {
            started_for: finished.stopped_at.since(paused),
            paused,
            requested_per_s: scenarios.iter().map(|scenario| scenario.requested_per_s).sum(),
            verdict: Verdict::worst(scenarios.iter().map(|scenario| &scenario.verdict)),
            scenarios,
            names: self.names.reports(),
            ends: judged::ends(&finished),
            timelines,
            probes: Vec::new(),
            spent: finished.ends.iter().find_map(|end| end.spent),
            total: finished.total,
            per_scenario: finished.per_scenario,
            wall: finished.wall,
            threads,
            shards: finished.shards,
            cpu,
            driver: options.driver.clone(),
            lacked_certificate: options.sessions().any(ClientConfig::was_requested_in_vain),
            refused: options.sessions().find_map(ClientConfig::refused),
            was_stopped: self.stop.is_stopped(),
            stop_reason: self.stop.reason(),
            began_unix: self.began_unix,
            used_up,
            met: self.barriers.map_or(met, |barriers| barriers.met()),
            workers_summary,
            values: self.shared_data.values(),
        })
    }
}

/// Pins this thread to a core.
fn pin_to(core: usize) -> Result<(), RunError> {
    host::pin_to_core(core).map_err(|reason| RunError::Pin { core, reason })
}

/// Use of this machine during the run, where the target is on it too.
fn machine_use(before: Option<MachineTime>, to: SocketAddr, cpu: CpuTime, span: Nanos) -> Option<MachineUse> {
    let before = before.filter(|_| to.ip().is_loopback())?;
    let (share, cores) = (host::machine_time()?.busy_share_since(before)?, host::allowed_cores().len() as f64);
    let own = cpu.total_ns() as f64 / 1e9 / span.as_secs_f64().max(1e-9);
    Some(MachineUse { cores, busy: share * cores, own })
}

/// Used-up files of several sources, each once.
fn each_once(all: impl Iterator<Item = UsedUp>) -> Vec<UsedUp> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// Sums of the rounds of the same barriers.
fn added_up(mut sum: Vec<BarrierStats>, more: Vec<BarrierStats>) -> Vec<BarrierStats> {
    if sum.is_empty() {
        return more;
    }
    for (sum, more) in sum.iter_mut().zip(more) {
        sum.full += more.full;
        sum.by_time += more.by_time;
        sum.short += more.short;
    }
    sum
}

/// Wall-clock time of an instant of a clock.
fn unix_of(at: Nanos, clock: Clock) -> Duration {
    let now = clock.now();
    (now_unix() + at.since(now).as_duration()).saturating_sub(now.since(at).as_duration())
}

/// The time of day, since the Unix epoch.
fn now_unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Use of the interface to the target; `None` where the system reports no speed, as for loopback.
fn link_use(to: SocketAddr, total: &Snapshot, wall: Nanos) -> Option<LinkUse> {
    let link = host::link_to(to.ip())?;
    let busier = total.counts.bytes_received().max(total.counts.bytes_sent());
    let bits_per_s = busier as f64 * 8.0 / wall.as_secs_f64().max(1e-9);
    Some(LinkUse { share: bits_per_s / link.bits_per_s as f64, bits_per_s: link.bits_per_s, name: link.name })
}
