//! The engine: a plan becomes exchanges.
//!
//! A [`run`] divides the plan over shards. A shard is one thread with one loop: its own users, connections, timers and
//! recorder, and nothing that it shares. It publishes by handing over a whole snapshot. [`slab`] and [`timers`] also
//! serve the built-in target.

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
