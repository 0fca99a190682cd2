//! The clock of a run: CLOCK_MONOTONIC, counted from one instant that all shards share.

use pacing::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The clock of a run. Copies of one clock agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started_ns: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self::start()
    }
}

impl Clock {
    /// A clock that is at zero now.
    pub fn start() -> Self {
        Self { started_ns: monotonic_ns() }
    }

    /// A clock that shows this time now: earlier instants are valid too.
    pub fn at(now: Nanos) -> Self {
        Self { started_ns: monotonic_ns().wrapping_sub(now.0) }
    }

    /// The time since its start. It costs about 20 ns.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(monotonic_ns().wrapping_sub(self.started_ns))
    }
}

/// The kernel's clock never goes back, and starts at zero when the machine boots.
#[inline]
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
