//! What a connection is doing.

use pacing::Nanos;

use crate::slab::Key;

/// What a connection is doing. Each state is named for what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// To be established, before this user needs it.
    Prepare { user: u32, since: Nanos },
    /// To be established, for this attempt.
    Connect { attempt: Key, since: Nanos },
    /// The answer of this attempt.
    Response { attempt: Key },
    /// The next exchange of its user.
    Exchange { user: u32 },
    /// The requests of its link: it has streams.
    Shared,
    /// The peer's close.
    Close,
}

impl Phase {
    /// One exchange at a time, or nobody knows yet.
    pub(crate) fn is_alone(self) -> bool {
        !matches!(self, Self::Shared | Self::Close)
    }
}
