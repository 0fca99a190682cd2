//! Runs that never reach their target.

use crate::scenario_runtime::ScenarioRuntime;

/// Connections of a shard that fail in an open load before it is hopeless, when none ever succeeded.
const UNREACHABLE_CONNECTS_MIN: u64 = 100;

/// Whether a run that never reached its target should go on.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scenario_runtime) struct ReachabilityGuard {
    pub(in crate::scenario_runtime) was_connected: bool,
    pub(in crate::scenario_runtime) failed_connects: u64,
    /// Origins that could not be reached, a bit for each; the last one stands for all after it.
    pub(in crate::scenario_runtime) unreached: u64,
}

impl ReachabilityGuard {
    /// A connection to this origin failed.
    pub(in crate::scenario_runtime) fn fail(&mut self, origin: u16) {
        self.failed_connects += 1;
        self.unreached |= Self::bit(origin);
    }

    pub(in crate::scenario_runtime) fn bit(origin: u16) -> u64 {
        1 << origin.min(63)
    }
}

impl ScenarioRuntime {
    /// Whether every user has failed to connect and no connection was ever established.
    #[inline]
    pub(crate) fn is_failing(&self) -> bool {
        // Checked in every turn, and mostly some connection was established.
        !self.pool.reachability_guard.was_connected
            && !self.work.capture_options.ignores_failures
            && self.has_failed_enough()
    }

    #[cold]
    #[inline(never)]
    fn has_failed_enough(&self) -> bool {
        let connections = (self.work.share.users / u64::from(self.work.streams)).max(1);
        let connections = self.pool.sharing.as_ref().map_or(connections, |sharing| sharing.most().min(connections));
        let enough = if self.users.open.is_some() { UNREACHABLE_CONNECTS_MIN } else { connections };
        // An origin that does not respond says nothing about the others.
        let are_all_unreached = || {
            self.work
                .steps
                .iter()
                .all(|step| self.pool.reachability_guard.unreached & ReachabilityGuard::bit(step.origin) != 0)
        };
        self.pool.reachability_guard.failed_connects >= enough && are_all_unreached()
    }
}
