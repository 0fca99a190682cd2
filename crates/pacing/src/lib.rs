//! When to start: pure functions of elapsed time and count.
//!
//! Nothing here reads a clock, owns a socket or takes a lock. Every shard that knows the plan and its segment
//! computes the same starts, on this machine or on another one.
//!
//! - `time`, `slots`: `Nanos`, slots and segments; `random`: random numbers from a seed
//! - `closed`: the share of a segment; `levels`: users over time; `open`: a rate over time, its integral, its starts
//! - `change`: a load that is changed while it runs

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
