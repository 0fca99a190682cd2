//! The engine: turns a plan into exchanges.
//!
//! A [`run`] divides the plan over shards. A shard is one thread with one loop: it owns its users, connections,
//! timers and snapshots, and shares nothing with other shards on the path of an exchange. It publishes by handing over
//! a whole snapshot. The built-in target uses [`timers`], too.
//!
//! # Modules
//!
//! - `run` holds the shards; `control` stops and changes a run; `shard` is the loop; `scenario_lifecycle` is one
//!   scenario on a shard, `scenario_runtime` the state of that scenario there
//! - `shard_threads`: threads and the channels to them; `run_loop`: the loop that receives their reports,
//!   `interval_merger` their intervals: for loads and for held connections
//! - `data_sources`: data rows and interpreters of a run, and which rows were used up
//! - `barriers`: barriers between users of all shards; `barriers/barrier` is one of them as a machine
//! - `budget_lease`: the share of a shard in the budget of a run; `request_log`: single exchanges, for the request log
//!   and the slowest requests
//! - `resolve`: names before a run, `names`: during it; `reflect`: asks a gRPC target for its services before a run;
//!   `faults`: which protocol fault is which failure
//! - `verdict`: the bottleneck of a run; `probe`: half of the users after a closed load; `probe_arithmetic`, `slices`:
//!   their arithmetic
//! - `hold`: held connections, with a runtime of their own; `messaging`, `endpoints`: for loads and held connections
//! - `remote`, `lease`: partitions of a load that remote workers run
//! - for tests only: `idle` measures the cost of an idle connection, `swarm` runs the real engine in simulated worlds
//!
//! # Users, exchanges, attempts, connections
//!
//! Each has a table of its own. A **user** executes a program (`user`, `program`). An **exchange** is one request with its
//! response: its instants, its step (`scenario_runtime/exchanges.rs`). An **attempt** is one try of it on a connection. A
//! **connection** is a phase and a socket (`scenario_runtime/connections.rs`); an idle one owns no buffer. A retry after a
//! stale connection is a second attempt of the same exchange.
//!
//! A step declares before the run what it `needs` of a response; nothing else is kept. A request is rendered once,
//! registered with the driver as a template, and sent by its id. The last response head is remembered: the same bytes
//! mean the same (`wire::http1::HeadMemory`).
//!
//! # The path of an exchange
//!
//! No lock, no shared write, no formatting. No timer entry for each exchange: a slot of the table of attempts keeps
//! one, which is set again when it fires (`exchanges.rs`, `arm`). Each shard prepares its own requests, since reference
//! counts would move from core to core, unless those of a scenario exceed 4 MiB together; bodies of 64 KiB or more are
//! always shared.

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
mod hold;
#[cfg(test)]
mod idle;
mod interval_merger;
mod lease;
mod messaging;
mod names;
pub mod pages;
mod probe;
mod probe_arithmetic;
mod probed;
mod program;
mod reflect;
mod remote;
mod request_log;
mod resolve;
mod run;
mod run_loop;
mod scenario_lifecycle;
mod scenario_runtime;
mod series;
mod shard;
mod shard_threads;
pub mod slab;
mod slices;
mod subscribers;
#[cfg(test)]
mod swarm;
pub mod timers;
mod times;
mod tls;
mod usage;
mod user;
mod verdict;

pub use barriers::{BarrierStats, Release};
pub use control::{Control, Intent, Lease, Refused, StopHandle};
pub use data_sources::{DataSources, UsedUp};
pub use endpoints::{Places, PlacesError};
pub use error::{BackendFault, RunError};
pub use faults::call_status;
pub use hold::{
    HoldBackend, HoldBegun, HoldEnd, HoldEnding, HoldInterval, HoldOptions, HoldOrder, HoldPart, HoldReporter,
    HoldResult, HoldUpdate, Holding, KeptHold, LateThread, MemoryUse, PartMemory, StoppedOpening,
};
pub use names::{AddressChange, NameReport};
pub use probe::{Probing, probe};
pub use probe_arithmetic::{PartSample, ProbeFinding, Steady};
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
pub use series::{catalog, own_figures};
pub use slices::{SLICES_KEPT_MAX, Slice, Slices};
pub use subscribers::{Delivered, Delivery, HOLD_UP_MAX, Subscription};
pub use tls::{TlsError, client_tls, flag as tls_flag, proxy_tls};
pub use usage::ThreadUsage;
pub use verdict::{Basis, Gaps, Growth, Limit, LinkUse, MachineUse, PaceHeld, Unknown, UsersPart, Verdict};
