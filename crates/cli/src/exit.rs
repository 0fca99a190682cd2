//! The exit codes, all of them.

use engine::{BackendFault, RunError};

/// What the shell is told. The README and the manual list the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Nothing succeeded, or an expectation or a threshold was not met.
    Unmet = 1,
    /// The command line is wrong.
    Usage = 2,
    /// No connection ever succeeded.
    NothingMeasured = 3,
    /// A report could not be written, or this system does not let us work.
    System = 4,
    /// Stopped by the user.
    Stopped = 130,
}

impl Exit {
    /// Of a run that does not begin.
    pub(crate) fn of(error: &RunError) -> Self {
        match error {
            RunError::RemoteBackend(BackendFault::Stopped) => Self::Stopped,
            // It stood by in vain, as it should.
            RunError::RemoteBackend(BackendFault::Elsewhere) => Self::Done,
            RunError::RemoteBackend(BackendFault::Undivided { .. }) => Self::Usage,
            _ => Self::System,
        }
    }
}
