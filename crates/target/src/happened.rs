//! Events of a connection, and its state afterwards.

use pacing::Nanos;

/// An event of a connection.
pub(crate) enum Happened<'a> {
    Received(&'a mut [u8], Nanos),
    Sent,
    Due(Nanos),
    /// A gate was opened, possibly the one where it waits.
    GateOpened,
    PeerClosed,
}

/// The next step of a connection after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Wait for the next event.
    More,
    /// Wait for the peer's close; our side is finished.
    PeerClose,
    /// Close it.
    Nothing,
}
