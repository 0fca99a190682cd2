//! An attempt that was given up before its end.

use driver::Socket;
use pacing::Nanos;

use crate::slab::Key;

/// An attempt that is aborted.
pub(in crate::scenario_runtime) struct AbandonedAttempt {
    pub(in crate::scenario_runtime) key: Key,
    pub(in crate::scenario_runtime) socket: Socket,
    pub(in crate::scenario_runtime) stream: u32,
    pub(in crate::scenario_runtime) sent: Nanos,
}
