//! When to start: pure functions of elapsed time and count.
//!
//! Nothing here reads a clock. Whoever knows the plan and the segment computes the same starts, be it a shard on this
//! machine or a worker on another.

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
