//! One load from many workers, as exact as from one.
//!
//! [`Leader`] and [`Worker`] are machines over received messages and time, without sockets; requests to the bus are
//! data (`bus::BusCommand`), and so are its replies (`bus::BusEvent`). Commands are *state* under one key instead of calls: a
//! worker that missed a message reads the state. Leadership is a lease; a worker starts requests only while it knows
//! that the leader counts on it. Results of workers are appended to a stream, at least once, and counted once.
//!
//! A worker runs *partitions* of a load (`engine::Partition`): sets of slots, from an instant on, on a given clock. It
//! gives slots away at named instants (`pacing::RevokedSlots`), and starts nothing after its lease is over. To the engine of
//! the leader a partition is one more source of snapshots (`engine/src/run/merge/parts.rs`), so all code that starts,
//! displays or changes a run works with workers unchanged.
//!
//! - `leader`: finds workers, assigns slots, collects results; `worker`: the other side; `protocol`: the messages
//!   between them
//! - `start_accounting`: slot ownership over time; `slot_assignment`: the assignment of slots in turn; `pace`: how often workers report
//! - `broker`: a bus in one place, as a machine; `local` puts it behind a Unix socket; `nats` is the bus of many
//!   machines (a cargo feature)
//! - `worker_runtime`: a worker at work; `coordinator`: the leader between the bus and a run
//! - `journal`: journals on disk, from which a run is recovered
//! - `sim`: leaders, workers and the bus in a simulated network; `tests/bus_benchmark`: many virtual workers on a real bus
//!
//! No start is made by two workers, whatever is lost or late; starts that were due while their slots had no owner are
//! not made up later.

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod broker;
pub mod bus;
pub mod coordinator;
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
pub mod slot_assignment;
pub mod start_accounting;
pub mod worker;
pub mod worker_runtime;

pub use leader::{Leader, LeaderSettings, LeaderUpdate, OnLoss, RunOrder};
pub use worker::{Act, PartOf, Worker};
