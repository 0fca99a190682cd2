//! The engine: it turns a plan into exchanges.
//!
//! A [`run`] divides the plan over shards. A shard is one thread with one loop: it has its own users, connections,
//! timers and recorder, and shares nothing. It publishes whole snapshots. [`slab`] and [`timers`] also serve the
//! built-in target.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod barriers;
mod budget_lease;
mod control;
mod data_sources;
mod endpoints;
mod error;
mod faults;
mod halving;
mod hold;
#[cfg(test)]
mod idle;
mod lease;
pub mod pages;
mod probe;
mod probed;
mod program;
mod reflect;
mod remote;
mod request_log;
mod resolve;
mod run;
mod run_loop;
mod scene;
mod series;
mod shard;
mod shard_threads;
pub mod slab;
mod slices;
mod subscribers;
#[cfg(test)]
mod swarm;
mod talk;
pub mod timers;
mod times;
mod tls;
mod usage;
mod user;
mod verdict;
mod world;

pub use barriers::{BarrierStats, Release};
pub use control::{Control, Intent, Lease, Refused, StopHandle};
pub use data_sources::{DataSources, UsedUp};
pub use endpoints::{Places, PlacesError};
pub use error::{BackendFault, RunError};
pub use faults::call_status;
pub use halving::{PartSample, ProbeFinding, Steady};
pub use hold::{
    HoldBackend, HoldBegun, HoldEnd, HoldEnding, HoldInterval, HoldOptions, HoldOrder, HoldPart, HoldReporter,
    HoldResult, HoldUpdate, Holding, KeptHold, LateThread, MemoryUse, PartMemory, StoppedOpening,
};
pub use probe::{Probing, probe};
pub use probed::{NotTried, Probe, ProbeOption};
pub use reflect::{ReflectError, describe, describe_all, list_services};
pub use remote::{PartEnd, StartAccounting, WireScenarioOutcome, WorkerResult, WorkersSummary};
pub use request_log::{LogBatch, LogFilter, LogReader, LogSink, RequestLogConfig};
pub use resolve::{ResolveError, Resolved, UNCONSENTED_SHOWN_MAX, UnconsentedHost, addresses_of, resolve};
pub use run::{
    AGO_MAX, Finished, Interval, KeptInterval, PartMessage, Partition, RemoteBackend, RemoteRun, RunOptions,
    RunReporter, RunResult, RunUpdate, Running, ScenarioInterval, ScenarioResult, SteppedRun, end_of_plan, run, run_on,
    starts_between,
};
pub use series::catalog;
pub use slices::{SLICES_KEPT_MAX, Slice, Slices};
pub use subscribers::{Delivered, Delivery, HOLD_UP_MAX, Subscription};
pub use tls::{TlsError, client_tls, flag as tls_flag};
pub use usage::ThreadUsage;
pub use verdict::{Basis, Gaps, Growth, Limit, LinkUse, MachineUse, PaceHeld, Unknown, UsersPart, Verdict};
