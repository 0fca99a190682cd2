//! When to start: pure functions of elapsed time and count.
//!
//! Nothing here reads a clock. Whoever knows the plan and the segment computes the same starts, be it a shard on this
//! machine or a worker on another.

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod change;
pub mod closed;
mod levels;
pub mod open;
mod random;
mod slots;
mod time;

pub use levels::{LevelRest, LevelStage, Levels};
pub use random::Random;
pub use slots::{Lost, SLOT_COUNT, Segment};
pub use time::Nanos;

#[cfg(test)]
mod tests;
