//! When to start: pure functions of elapsed time and count.
//!
//! Nothing here reads a clock. Every shard on this machine and every worker on another computes the same starts from
//! the plan and its segment.

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
