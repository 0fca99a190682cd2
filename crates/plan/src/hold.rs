//! The plan of a hold: the number of connections, their ramp, and the messages on them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::{Step, Target};

/// The most connections that are held.
pub const HOLD_MAX: u64 = 10_000_000;

/// The plan of a hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// The target.
    pub target: Target,
    /// The number of connections.
    pub connections: u64,
    /// The ramp, in thousandths of a connection per hour; `None` for as fast as they are accepted.
    pub ramp: Option<u64>,
    /// The time for which they are held when all have been tried.
    pub duration: Duration,
    /// The handshake of a connection, and its message.
    pub step: Step,
    /// When the message is sent.
    pub work: HoldWork,
    /// Whether a connection that is lost, or could not be opened, is tried again.
    pub reconnects: bool,
    /// The grace time for messages in flight, and for the closes of the peers.
    pub grace: Duration,
    /// The time between two lines of the table.
    pub interval: Duration,
}

/// When a connection sends its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HoldWork {
    /// Never.
    Nothing,
    /// Once, when it is established.
    Once,
    /// In turn, so that each connection sends once in this time.
    Every(Duration),
    /// After a random pause since its last response.
    Pause {
        /// The minimum.
        least: Duration,
        /// The maximum.
        most: Duration,
    },
}
