//! The engine: turns a plan into exchanges.
//!
//! A [`run`] divides the plan over shards. A shard is one thread with one loop: it owns its users, connections,
//! timers and recorder, and shares nothing. It publishes by handing over a whole snapshot. [`slab`] and [`timers`]
//! also serve the built-in target.
//!
//! # Modules
//!
//! - `run` holds the shards; `control` stops and changes a run; `shard` is the loop; `scene` is one scenario on a
//!   shard, `world` the state of that scenario there
//! - `crew`: threads and the channels to them; `going`: the loop that receives their reports, for loads and for held
//!   connections
//! - `supplies`: data rows and interpreters of a run, and which rows were used up
//! - `meetings`: barriers between users of all shards; `meetings/gate` is one of them as a machine
//! - `purse`: the share of a shard in the budget of a run; `lookout`: single exchanges, for the request log and the
//!   slowest requests
//! - `resolve`: names; `reflect`: asks a gRPC target for its services before a run; `faults`: which protocol fault is
//!   which failure
//! - `verdict`: the bottleneck of a run; `probe`: half of the users after a closed load; `halving`, `slices`: their
//!   arithmetic
//! - `hold`: held connections, with a world of their own; `talk`, `places`: for loads and held connections
//! - `afar`, `lease`: partitions of a load that remote workers run
//! - `idle`: measures the cost of an idle connection; `swarm`: the real engine in simulated worlds
//!
//! # Ways of data
//!
//! Four slabs, not one. A **user** executes a program (`user`, `program`). An **exchange** is one request with its
//! response: its instants, its step (`world/exchanges.rs`). An **attempt** is one try of it on a connection. A
//! **connection** is a phase and a socket (`world/connections.rs`); an idle one owns no buffer. A stale reconnect is
//! a second attempt of the same exchange.
//!
//! A step declares before the run what it `needs` of a response; nothing else is kept. A request is rendered once,
//! registered with the driver as a template, and sent by its id. The last response head is remembered: the same bytes
//! mean the same (`wire::http1::HeadMemory`).
//!
//! # The path of an exchange
//!
//! No lock, no shared write, no formatting, no timer that is set and cancelled. Shards share no request: each
//! prepares its own, otherwise reference counts would move from core to core.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod afar;
mod control;
mod crew;
mod error;
mod faults;
mod going;
mod halving;
mod hold;
#[cfg(test)]
mod idle;
mod lease;
mod lookout;
mod meetings;
pub mod pages;
mod places;
mod probe;
mod probed;
mod program;
mod purse;
mod reflect;
mod resolve;
mod run;
mod scene;
mod series;
mod shard;
pub mod slab;
mod slices;
mod spent;
mod subscribers;
mod supplies;
#[cfg(test)]
mod swarm;
mod talk;
pub mod timers;
mod times;
mod tls;
mod user;
mod verdict;
mod world;

pub use afar::{Books, Muster, PartEnd, SceneEnded, WorkerResult};
pub use control::{Control, Lease, Refused, StopHandle, Wanted};
pub use error::{RunError, TeamFault};
pub use faults::call_status;
pub use halving::{Answer, Seen as SeenOfPart, Steady};
pub use hold::{
    HoldBegun, HoldEnd, HoldEnding, HoldInterval, HoldNews, HoldOptions, HoldOrder, HoldPart, HoldResult, HoldTeam,
    HoldTeller, Holding, KeptHold, LateThread, MemoryUse, PartMemory, StoppedOpening,
};
pub use lookout::{LogBatch, LogPipe, LogReader, LogWish, Lookout};
pub use meetings::{Met, Release};
pub use places::{Places, PlacesError};
pub use probe::{Probing, probe};
pub use probed::{NotTried, Probe, ProbeWish};
pub use reflect::{ReflectError, describe, describe_all, list_services};
pub use resolve::{ResolveError, Resolved, STRANGERS_SHOWN_MAX, Stranger, addresses_of, resolve};
pub use run::{
    AGO_MAX, Finished, Interval, KeptInterval, Order, Part, PartNews, RunOptions, RunResult, Running, ScenarioInterval,
    ScenarioResult, SteppedRun, Team, Teller, Told, end_of_plan, run, run_on, starts_between,
};
pub use series::catalog;
pub use slices::{SLICES_KEPT_MAX, Slice, Slices};
pub use spent::ShardUse;
pub use subscribers::{Delivered, Delivery, HOLD_UP_MAX, Subscription};
pub use supplies::{Supplies, UsedUp};
pub use tls::{TlsError, client_tls, flag as tls_flag};
pub use verdict::{Gaps, Growth, Held, Known, Limit, LinkUse, MachineUse, Part as PartOfUsers, Unknown, Verdict};
