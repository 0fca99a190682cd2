//! When to start: pure functions of elapsed time and count.
//!
//! Nothing here reads a clock, owns a socket or takes a lock. Every shard that knows the plan and its segment
//! computes the same starts, on this machine or on another one.
//!
//! - `time`, `slots`: `Nanos`, slots and segments; `random`: random numbers from a seed
//! - `closed`: the share of a segment; `user_profile`: users over time; `open`: a rate over time, its integral, its starts
//! - `change`: a load that is changed while it runs

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod change;
pub mod closed;
pub mod open;
mod random;
mod slots;
mod time;
mod user_profile;

pub use random::Random;
pub use slots::{RevokedSlots, SLOT_COUNT, Segment};
pub use time::Nanos;
pub use user_profile::{LevelRest, LevelStage, UserProfile};

#[cfg(test)]
mod tests;
