//! A run: starts the shards, merges their snapshots interval by interval, and adds them up.

mod aggregator;
mod divide;
mod judged;
mod merge;
mod remote_backend;
mod routes;
mod rows;
mod running;
mod stepped;
mod totals;

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use driver::{Clock, Driver, DriverSelection};
use host::CpuTime;
use metrics::Snapshot;
use pacing::change::{Change, Timeline};
use pacing::{Nanos, RevokedSlots, Segment};
use plan::{BudgetPart, Plan};
use wire::tls::{ClientConfig, Refused as RefusedCertificate};

use crate::barriers::BarrierStats;
use crate::control::{Lease, StopHandle};
use crate::data_sources::{DataSources, UsedUp};
use crate::error::RunError;
use crate::names::NameReport;
use crate::probed::{NotTried, Probe};
use crate::remote::{WireScenarioOutcome, WorkersSummary};
use crate::request_log::RequestLogConfig;
use crate::usage::ThreadUsage;
use crate::verdict::Verdict;
#[cfg(test)]
pub(crate) use divide::requested_per_s;
pub use divide::{end_of_plan, starts_between};
pub use merge::Finished;
pub use remote_backend::{AGO_MAX, PartMessage, RemoteBackend, RemoteRun, RunReporter};
pub(crate) use routes::is_looked_up_again;
pub use rows::KeptInterval;
pub use running::{RunUpdate, Running};
pub use stepped::SteppedRun;

/// Options for carrying out a plan on this machine.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Resolved address of the target.
    pub address: SocketAddr,
    /// TLS client configuration of a plan that uses TLS ([`crate::client_tls`]).
    pub tls: Option<ClientConfig>,
    /// The same for the other targets of the plan, scenario by scenario, in their order.
    pub others: Vec<(SocketAddr, Option<ClientConfig>)>,
    /// The addresses of the names of all targets, in the order of the targets; a target without any has one address.
    pub names: Vec<Vec<SocketAddr>>,
    /// Most shards to use.
    pub threads: usize,
    /// Each shard is pinned to a core of its own.
    pub pins_threads: bool,
    /// The driver of each shard.
    pub driver: DriverSelection,
    /// Exchanges that are shown one by one.
    pub log_config: RequestLogConfig,
    /// Data that users read and evaluate.
    pub data_sources: DataSources,
    /// The remote backend that carries it out; `None`: threads of this process.
    pub backend: Option<Arc<dyn RemoteBackend>>,
}

impl RunOptions {
    /// TLS client configurations of all targets that use TLS.
    fn sessions(&self) -> impl Iterator<Item = &ClientConfig> {
        self.others.iter().map(|(_, tls)| tls).chain([&self.tls]).flatten()
    }
}

/// The part of a load that a run has, and when it begins. Partitions that have each slot once do together what the
/// whole does.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Its slots.
    pub segment: Segment,
    /// From when it has them, counted from the beginning of the measured load; `None`: from the start, warm-up
    /// included.
    pub from: Option<Nanos>,
    /// When the run started, or starts, on this clock; `None`: when all is ready.
    pub begins: Option<(Clock, Nanos)>,
    /// Until when starts are allowed.
    pub lease: Lease,
    /// Slots that it gives away, and from when on.
    pub lost: Option<RevokedSlots>,
    /// Changes of the load made before.
    pub changes: Vec<Change>,
    /// The number of the worker that has it, from 1.
    pub worker: u32,
}

impl Default for Partition {
    /// The whole load, started at once.
    fn default() -> Self {
        let (from, begins, lost) = (None, None, None);
        Self { segment: Segment::WHOLE, from, begins, lease: Lease::default(), lost, changes: Vec::new(), worker: 1 }
    }
}

/// What all shards saw in one interval.
#[derive(Debug)]
pub struct Interval<'a> {
    /// Number of the interval, from 1.
    pub number: u64,
    /// Beginning, since the start of the run.
    pub from: Nanos,
    /// End, since the start of the run.
    pub to: Nanos,
    /// How long of it the loads of all scenarios were paused; no rate includes that time.
    pub paused: Nanos,
    /// Shards that had not reported when the interval was first emitted: they were stalled. An update follows when they
    /// have.
    pub late_shards: usize,
    /// An update: it was emitted before, and is more complete now.
    pub is_update: bool,
    /// What happened in the interval, as far as it is known.
    pub seen: &'a Snapshot,
    /// The part of it that was not reported before.
    pub added: &'a Snapshot,
    /// Everything since the start.
    pub total: &'a Snapshot,
    /// The same for each scenario.
    pub scenarios: Vec<ScenarioInterval<'a>>,
}

/// One scenario in an interval; the fields are those of [`Interval`].
#[derive(Clone, Copy, Debug)]
pub struct ScenarioInterval<'a> {
    /// How long of it the load was paused.
    pub paused: Nanos,
    /// What happened in the interval.
    pub seen: &'a Snapshot,
    /// The part of it that was not reported before.
    pub added: &'a Snapshot,
    /// Everything since the start.
    pub total: &'a Snapshot,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Everything that was recorded.
    pub total: Snapshot,
    /// Wall time from the start to the end of the last shard.
    pub wall: Nanos,
    /// From the start to the instant from which nothing was started any more, without pauses: the duration of all
    /// rates.
    pub started_for: Nanos,
    /// How long the loads of all scenarios were paused.
    pub paused: Nanos,
    /// The mean rate requested from open loads, until nothing was started any more; `None` when one is closed.
    pub requested_per_s: Option<f64>,
    /// The same for each scenario.
    pub scenarios: Vec<ScenarioResult>,
    /// Totals per scenario, where there are several.
    pub per_scenario: Vec<Snapshot>,
    /// Number of shards.
    pub threads: usize,
    /// Usage of each shard.
    pub shards: Vec<ThreadUsage>,
    /// The verdict: the bottleneck.
    pub verdict: Verdict,
    /// CPU time of this process during the run.
    pub cpu: CpuTime,
    /// The driver that ran, and why.
    pub driver: DriverSelection,
    /// Details of the first certificate that was refused.
    pub refused: Option<RefusedCertificate>,
    /// The target requested a client certificate, and there was none.
    pub lacked_certificate: bool,
    /// It was stopped before its plan was done.
    pub was_stopped: bool,
    /// Why the load itself stopped the run, when it did.
    pub stop_reason: Option<String>,
    /// The budget part that ended it.
    pub spent: Option<BudgetPart>,
    /// When the measured time began, since the Unix epoch.
    pub began_unix: Duration,
    /// Files whose rows were used up.
    pub used_up: Vec<UsedUp>,
    /// Statistics of the barriers of users.
    pub met: Vec<BarrierStats>,
    /// Variables of the first user of the first scenario at the end, where the plan wants them.
    pub values: Vec<plan::Value>,
    /// What became of the lookups of names during the run.
    pub names: Vec<NameReport>,
    /// The outcome of each scenario.
    pub ends: Vec<WireScenarioOutcome>,
    /// Each load over time, with its changes.
    pub timelines: Vec<Arc<Timeline>>,
    /// Results of the probe of each scenario; empty where there was none.
    pub probes: Vec<Probe>,
    /// Summary of the workers, where there were some.
    pub workers_summary: Option<WorkersSummary>,
}

/// The result of one scenario; the fields are those of [`RunResult`].
#[derive(Clone, Debug)]
pub struct ScenarioResult {
    /// From the start to the instant from which it started nothing any more, without pauses.
    pub started_for: Nanos,
    /// How long its load was paused.
    pub paused: Nanos,
    /// The mean rate requested from an open load; `None` for a closed load.
    pub requested_per_s: Option<f64>,
    /// How long all users of a closed load were there together, in seconds, where that is known.
    pub users_s: Option<f64>,
    /// The verdict: its bottleneck.
    pub verdict: Verdict,
}

impl RunResult {
    /// The users of a scenario at an instant, over all connections.
    pub(crate) fn users_at(&self, scenario: usize, at: Nanos) -> Option<u64> {
        self.timelines.get(scenario).map(|timeline| timeline.users_at(at))
    }

    /// Whether a probe would tell something about the target.
    pub fn wants_probe(&self) -> bool {
        let wants = |scenario: &ScenarioResult| scenario.verdict.wants_probe();
        self.verdict.wants_probe() || !self.verdict.is_unreliable() && self.scenarios.iter().any(wants)
    }

    /// Adds the results of the probe, or why there was none.
    pub fn learn(&mut self, probed: Result<Vec<Probe>, NotTried>) {
        for (number, scenario) in self.scenarios.iter_mut().enumerate() {
            let own = probed.as_ref().map_err(|why| *why);
            scenario.verdict.learn(own.and_then(|probes| probes.get(number).ok_or(NotTried::Failed)));
        }
        self.verdict = Verdict::worst(self.scenarios.iter().map(|scenario| &scenario.verdict));
        self.probes = probed.unwrap_or_default();
    }

    /// The total of a scenario.
    pub fn total_of(&self, scenario: usize) -> &Snapshot {
        self.per_scenario.get(scenario).unwrap_or(&self.total)
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
    watch(Running::start(Arc::new(plan.clone()), options.clone(), stop)?, stop, observe)
}

/// Same as [`run`], on any driver. `make` is called on the thread of the shard.
///
/// # Errors
/// Same as [`run`].
pub fn run_on<D: Driver>(
    plan: &Plan,
    options: &RunOptions,
    stop: &StopHandle,
    make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    watch(Running::start_on(Arc::new(plan.clone()), options.clone(), stop, make)?, stop, observe)
}

fn watch(
    mut running: Running,
    stop: &StopHandle,
    mut observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    while let Some(reported) = running.wait() {
        if let RunUpdate::Interval(interval) = reported
            && observe(&interval).is_break()
        {
            stop.abort();
        }
    }
    running.finish()
}
