//! What comes at an instant.

use pacing::Nanos;

/// Whom a deadline wakes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// The attempt that lives at this position then, if its own deadline has come.
    Attempt(u32),
    /// A user whose pause is over then.
    User { user: u32, at: Nanos },
    /// A connection that waits for the peer to close first.
    Closing(driver::Socket),
    /// A connection that is opened beforehand.
    Preparing(driver::Socket),
    /// The attempt that lives at this position then, if its next message is due.
    Message(u32),
}
