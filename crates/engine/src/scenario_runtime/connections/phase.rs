//! Phases of connections.

use pacing::Nanos;

use crate::slab::Key;

/// Phase of a connection. Each is named for what the connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// To be established, before this user needs it.
    Prepare { user: u32, since: Nanos },
    /// To be established, for this attempt.
    Connect { attempt: Key, since: Nanos },
    /// The response of this attempt.
    Response { attempt: Key },
    /// The next exchange of its user: it is idle.
    Idle { user: u32 },
    /// The requests of its link: it has streams.
    Shared,
    /// The peer's close.
    Close,
}

impl Phase {
    /// One exchange at a time, or not known yet.
    pub(crate) fn is_alone(self) -> bool {
        !matches!(self, Self::Shared | Self::Close)
    }
}
