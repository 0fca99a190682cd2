//! What happens to a connection, and what it waits for afterwards.

use pacing::Nanos;

/// What happened to a connection.
pub(crate) enum Happened<'a> {
    Received(&'a mut [u8], Nanos),
    Sent,
    Due(Nanos),
    /// A gate was opened, perhaps the one where it waits.
    GateOpened,
    PeerClosed,
}

/// What a connection waits for after something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The next event.
    More,
    /// The peer's close; we have sent our last.
    PeerClose,
    /// Nothing: it is to be closed.
    Nothing,
}
