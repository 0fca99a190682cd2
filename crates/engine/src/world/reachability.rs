//! Runs that never reach their target.

/// Whether a run that never reached its target should go on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReachabilityGuard {
    pub(super) was_connected: bool,
    pub(super) failed_connects: u64,
    /// Origins that could not be reached, a bit for each; the last one stands for all after it.
    pub(super) unreached: u64,
}

impl ReachabilityGuard {
    /// A connection to this origin failed.
    pub(super) fn fail(&mut self, origin: u16) {
        self.failed_connects += 1;
        self.unreached |= Self::bit(origin);
    }

    pub(super) fn bit(origin: u16) -> u64 {
        1 << origin.min(63)
    }
}
