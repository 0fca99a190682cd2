//! A run: shards are started, their snapshots merged interval by interval, and the whole added up.

mod crew;
mod desk;
mod divide;
mod merge;
mod running;
mod stepped;

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use driver::{Chosen, Clock, Driver};
use host::CpuTime;
use metrics::Snapshot;
use pacing::Nanos;
use plan::Plan;
use wire::tls::{ClientConfig, Refused as RefusedCertificate};

use crate::control::StopHandle;
use crate::error::RunError;
use crate::spent::ShardUse;
use crate::verdict::Verdict;
#[cfg(test)]
pub(crate) use divide::asked_per_s;
pub use merge::Finished;
pub use running::{Running, Told};
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
    /// How long of it the load was paused; that is in no rate.
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
    /// How long the load was paused.
    pub paused: Nanos,
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
    pub refused: Option<RefusedCertificate>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// Somebody stopped it before its plan was done.
    pub was_stopped: bool,
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
    while let Some(told) = running.wait() {
        if let Told::Interval(interval) = told
            && observe(&interval).is_break()
        {
            stop.abort();
        }
    }
    running.finish()
}
