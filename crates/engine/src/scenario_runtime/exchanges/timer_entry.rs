//! What a timer entry is for.

use pacing::Nanos;

/// The target of a timer entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerEntry {
    /// The attempt at this position, if its own deadline has come.
    Attempt(u32),
    /// A user whose pause is over then.
    User { user: u32, at: Nanos },
    /// A connection that waits for the peer to close first.
    Closing(driver::Socket),
    /// The next look at limits of connections in time.
    Limits,
    /// A connection that is opened in advance.
    Preparing(driver::Socket),
    /// The attempt at this position, if its next message is due.
    Message(u32),
}
