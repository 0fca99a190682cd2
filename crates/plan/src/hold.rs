//! Connections that are held: how many, how fast they come, what goes on on them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::{Step, Target};

/// The most connections that are held.
pub const HOLD_MAX: u64 = 10_000_000;

/// What is to be held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Where.
    pub target: Target,
    /// How many connections.
    pub connections: u64,
    /// How fast they come, in thousandths of one in an hour; `None` for as fast as they are taken.
    pub ramp: Option<u64>,
    /// How long they are held when all have been tried.
    pub duration: Duration,
    /// How a connection begins, and what is said on it.
    pub step: Step,
    /// When it is said.
    pub work: HoldWork,
    /// A connection that is lost, or that could not be opened, is tried again.
    pub reconnects: bool,
    /// How long the end waits for what is in flight, and for the closes of the peers.
    pub grace: Duration,
    /// Time between two lines of the table.
    pub interval: Duration,
}

/// When a connection says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HoldWork {
    /// Never.
    Nothing,
    /// Once, when it is there.
    Once,
    /// In turn, so that each has its turn once in this time.
    Every(Duration),
    /// After a random pause since its last answer.
    Pause {
        /// At least.
        least: Duration,
        /// At most.
        most: Duration,
    },
}
