//! The engine: a plan becomes exchanges.
//!
//! A [`run`] divides the plan over shards. A shard is one thread with one loop: its own users, connections, timers and
//! recorder, and nothing that it shares. It publishes by handing over a whole snapshot. [`slab`] and [`timers`] also
//! serve the built-in target.

mod control;
mod error;
mod faults;
mod hold;
#[cfg(test)]
mod idle;
pub mod pages;
mod places;
mod reflect;
mod resolve;
mod run;
mod shard;
pub mod slab;
mod spent;
#[cfg(test)]
mod swarm;
mod talk;
pub mod timers;
mod tls;
mod user;
mod verdict;
mod world;

pub use control::{Control, Refused, StopHandle};
pub use error::RunError;
pub use faults::call_status;
pub use hold::{HoldInterval, HoldOptions, HoldResult, LateThread, MemoryUse, StoppedOpening, hold};
pub use places::{Places, PlacesError};
pub use reflect::{ReflectError, describe, describe_all, list_services};
pub use resolve::{ResolveError, Resolved, resolve};
pub use run::{Finished, Interval, RunOptions, RunResult, Running, SteppedRun, Told, run, run_on};
pub use spent::ShardUse;
pub use tls::{TlsError, client_tls, flag as tls_flag};
pub use verdict::{Growth, Limit, LinkUse, Verdict};
