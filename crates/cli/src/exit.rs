//! The exit codes.

use engine::{BackendFault, RunError};

/// An exit code. The README and the manual have the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Success.
    Done = 0,
    /// Nothing succeeded, or an expectation or a threshold was not met.
    Unmet = 1,
    /// The command line is wrong.
    Usage = 2,
    /// No connection ever succeeded.
    NothingMeasured = 3,
    /// A report could not be written, or the system refused something that we need.
    System = 4,
    /// Stopped by the user.
    Stopped = 130,
}

impl Exit {
    /// The exit code of a run that does not begin.
    pub(crate) fn from_error(error: &RunError) -> Self {
        match error {
            RunError::RemoteBackend(BackendFault::Stopped) => Self::Stopped,
            // A standby that was not needed.
            RunError::RemoteBackend(BackendFault::Elsewhere) => Self::Done,
            RunError::RemoteBackend(BackendFault::Undivided { .. }) => Self::Usage,
            _ => Self::System,
        }
    }
}
