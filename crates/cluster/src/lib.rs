//! One load from many workers, as exact as from one.
//!
//! [`Leader`] and [`Worker`] are state machines over events and the time; a bus carries their messages. Commands are
//! *state* under one key instead of calls: a worker that missed one reads the current state. The leader holds a lease;
//! a worker starts something only while it knows that the leader counts on it. Worker results are appended to a stream
//! at least once, and counted once.

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod books;
pub mod broker;
pub mod bus;
#[cfg(feature = "nats")]
pub mod bus_benchmark;
pub mod coordinator;
pub mod deal;
pub mod encoding;
pub mod journal;
pub mod leader;
pub mod local;
#[cfg(feature = "nats")]
pub mod nats;
mod pace;
pub mod protocol;
#[cfg(test)]
mod sim;
pub mod worker;
pub mod worker_runtime;

pub use leader::{Leader, LeaderSettings, LeaderUpdate, OnLoss, RunOrder};
pub use worker::{Act, PartOf, Worker};
