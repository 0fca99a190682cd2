//! A run: starts the shards, merges their snapshots interval by interval, and adds them up.

mod aggregator;
mod divide;
mod judged;
mod merge;
mod remote_backend;
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
pub use rows::KeptInterval;
pub use running::{RunUpdate, Running};
pub use stepped::SteppedRun;

/// How a plan is carried out on this machine.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The target, resolved.
    pub address: SocketAddr,
    /// What makes TLS sessions, of a plan that wants them ([`crate::client_tls`]).
    pub tls: Option<ClientConfig>,
    /// The same of the other targets of the plan, scenario by scenario, in their order.
    pub others: Vec<(SocketAddr, Option<ClientConfig>)>,
    /// At most this many shards.
    pub threads: usize,
    /// Each shard stays on a core of its own.
    pub pins_threads: bool,
    /// The driver of each shard.
    pub driver: DriverSelection,
    /// Exchanges that are shown one by one.
    pub log_config: RequestLogConfig,
    /// What users read and reckon with.
    pub supplies: DataSources,
    /// Who carries it out; `None`: threads of this process.
    pub team: Option<Arc<dyn RemoteBackend>>,
}

impl RunOptions {
    /// What makes the sessions of all targets that want TLS.
    fn sessions(&self) -> impl Iterator<Item = &ClientConfig> {
        self.others.iter().map(|(_, tls)| tls).chain([&self.tls]).flatten()
    }
}

/// Which part of a load a run has, and when it begins. Parts that have each slot once do together what the whole does.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Its slots.
    pub segment: Segment,
    /// It has them from then on, counted from the beginning of the measured load; `None`: from the start, warm-up included.
    pub from: Option<Nanos>,
    /// When the run started, or starts, on this clock; `None`: when all is ready.
    pub begins: Option<(Clock, Nanos)>,
    /// Until when something may be started.
    pub lease: Lease,
    /// Slots that it gives away, from when on.
    pub lost: Option<RevokedSlots>,
    /// The load was changed so before.
    pub changes: Vec<Change>,
}

impl Default for Partition {
    /// All of it, at once.
    fn default() -> Self {
        let (from, begins, lost) = (None, None, None);
        Self { segment: Segment::WHOLE, from, begins, lease: Lease::default(), lost, changes: Vec::new() }
    }
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
    /// How long of it the loads of all scenarios were paused; that is in no rate.
    pub paused: Nanos,
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
    /// The same of each scenario.
    pub scenarios: Vec<ScenarioInterval<'a>>,
}

/// What one scenario did in an interval; the words are those of [`Interval`].
#[derive(Clone, Copy, Debug)]
pub struct ScenarioInterval<'a> {
    /// How long of it the load was paused.
    pub paused: Nanos,
    /// What happened in between.
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
    /// From the start to the instant from which nothing was started any more, without pauses: the time of all rates.
    pub started_for: Nanos,
    /// How long the loads of all scenarios were paused.
    pub paused: Nanos,
    /// The mean rate that open loads were asked for, until nothing was started any more; `None` when one is closed.
    pub requested_per_s: Option<f64>,
    /// The same of each scenario.
    pub scenarios: Vec<ScenarioResult>,
    /// What was seen of each, where there are several.
    pub apart: Vec<Snapshot>,
    /// Shards that worked.
    pub threads: usize,
    /// What each of them spent.
    pub shards: Vec<ThreadUsage>,
    /// Who was the limit.
    pub verdict: Verdict,
    /// CPU time of this process during the run.
    pub cpu: CpuTime,
    /// The driver that ran, and why.
    pub driver: DriverSelection,
    /// What the first certificate that was refused said of itself.
    pub refused: Option<RefusedCertificate>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// Somebody stopped it before its plan was done.
    pub was_stopped: bool,
    /// The part of its budget that ended it.
    pub spent: Option<BudgetPart>,
    /// When the measured time began, since the epoch of Unix.
    pub began_unix: Duration,
    /// Files whose rows were used up.
    pub used_up: Vec<UsedUp>,
    /// What became of the meetings of users.
    pub met: Vec<BarrierStats>,
    /// Variables of the first user of the first scenario at the end, where the plan wants them.
    pub values: Vec<plan::Value>,
    /// How each scenario ended.
    pub ends: Vec<WireScenarioOutcome>,
    /// Each load over time, as it was changed.
    pub timelines: Vec<Arc<Timeline>>,
    /// What half of the users of each scenario came to that went on alone; empty where they did not.
    pub probes: Vec<Probe>,
    /// Who carried it out, where others did.
    pub workers_summary: Option<WorkersSummary>,
}

/// What one scenario has come to; the words are those of [`RunResult`].
#[derive(Clone, Debug)]
pub struct ScenarioResult {
    /// From the start to the instant from which nothing of it was started any more, without pauses.
    pub started_for: Nanos,
    /// How long its load was paused.
    pub paused: Nanos,
    /// The mean rate that an open load was asked for; `None` of a closed load.
    pub requested_per_s: Option<f64>,
    /// How long all users of a closed load were there together, in seconds, where that is known.
    pub users_s: Option<f64>,
    /// Who was its limit.
    pub verdict: Verdict,
}

impl RunResult {
    /// The users of a scenario at an instant, connection by connection.
    pub(crate) fn users_at(&self, scenario: usize, at: Nanos) -> Option<u64> {
        self.timelines.get(scenario).map(|timeline| timeline.users_at(at))
    }

    /// Half of its users would tell something of the target.
    pub fn wants_probe(&self) -> bool {
        let wants = |scenario: &ScenarioResult| scenario.verdict.wants_probe();
        self.verdict.wants_probe() || !self.verdict.is_unreliable() && self.scenarios.iter().any(wants)
    }

    /// What half of the users have told of the target, or why they were not asked.
    pub fn learn(&mut self, probed: Result<Vec<Probe>, NotTried>) {
        for (number, scenario) in self.scenarios.iter_mut().enumerate() {
            let own = probed.as_ref().map_err(|why| *why);
            scenario.verdict.learn(own.and_then(|probes| probes.get(number).ok_or(NotTried::Failed)));
        }
        self.verdict = Verdict::worst(self.scenarios.iter().map(|scenario| &scenario.verdict));
        self.probes = probed.unwrap_or_default();
    }

    /// All that was seen of a scenario.
    pub fn total_of(&self, scenario: usize) -> &Snapshot {
        self.apart.get(scenario).unwrap_or(&self.total)
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

/// The same on any driver. The maker is called on the thread of the shard.
///
/// # Errors
/// As [`run`].
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
