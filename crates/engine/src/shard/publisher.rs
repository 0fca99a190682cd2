//! Publishing of the snapshots of a shard to the run.

use std::sync::Arc;

use pacing::Nanos;

use super::{Report, ShardChannels, ShardSnapshots};
use crate::scenario_lifecycle::ScenarioLifecycle;
use crate::times::Times;

/// Most snapshots of one shard on their way. Beyond it a shard goes on recording into the one it has, and hands over
/// less often.
const SNAPSHOTS_MAX: usize = 4;

pub(super) struct Publisher {
    pub(super) channels: ShardChannels,
    pub(super) index: u64,
    pub(super) next_at: Nanos,
    pub(super) snapshots: usize,
    pub(super) cpu_ns: u64,
    pub(super) run_delay_ns: u64,
    pub(super) was_failing: bool,
}

impl Publisher {
    /// Hands over the snapshots and goes on with empty ones. False when the run is gone.
    pub(super) fn hand_over(&mut self, lifecycles: &mut [ScenarioLifecycle], now: Nanos, times: &Times) -> bool {
        while self.next_at <= now {
            self.index += 1;
            self.next_at = times.end_of(self.index + 1);
        }
        let mut seen = match self.channels.returned.try_recv() {
            Ok(returned) => returned,
            Err(_) if self.snapshots < SNAPSHOTS_MAX => {
                self.snapshots += 1;
                lifecycles.iter().map(|_| Box::default()).collect()
            }
            Err(_) => return true,
        };
        // What is due after the lease is not its own.
        let due_until = times.end_of(self.index).min(self.channels.changes.lease_end());
        let due_until = self.channels.counts_behind.then_some(due_until);
        for (lifecycle, place) in lifecycles.iter_mut().zip(&mut seen) {
            lifecycle.hand_over(now, due_until, place);
        }
        self.report_spending(&mut seen);
        let report = Report::Interval { shard: self.channels.shard, upto: self.index, at: now, seen };
        self.channels.reports.send(report).is_ok()
    }

    /// The usage of the thread is counted from now on.
    pub(super) fn reset_usage_baseline(&mut self) {
        self.cpu_ns = host::thread_cpu_ns();
        self.run_delay_ns = host::thread_run_delay_ns().unwrap_or(0);
    }

    /// Puts the usage of the thread into the snapshot of its first scenario.
    pub(super) fn report_spending(&mut self, seen: &mut ShardSnapshots) {
        let (cpu_before, delay_before) = (self.cpu_ns, self.run_delay_ns);
        self.reset_usage_baseline();
        if let Some(first) = seen.first_mut() {
            first.cpu_ns = self.cpu_ns - cpu_before;
            first.run_delay_ns = self.run_delay_ns.saturating_sub(delay_before);
        }
    }

    #[cold]
    pub(super) fn report_reachability(&mut self, is_failing: bool) {
        self.was_failing = is_failing;
        // A run that is gone is noticed at the next hand-over.
        let _ = self.channels.reports.send(Report::Unreachable { shard: self.channels.shard, is_failing });
    }

    /// Starts users that wait for each other, at the instant of their release.
    pub(super) fn release_rendezvous(&self, lifecycle: &mut ScenarioLifecycle) {
        lifecycle.start_released(&self.channels.changes);
    }

    pub(super) fn report_gathered(&self, scenario: usize, at: Nanos) {
        // A run that is gone is noticed at the next hand-over.
        let _ = self.channels.reports.send(Report::Gathered { shard: self.channels.shard, scenario, at });
    }

    #[cold]
    pub(super) fn report_stop(&self, reason: Arc<str>) {
        let _ = self.channels.reports.send(Report::StopRun { reason });
    }

    pub(super) fn report_left(&self, scenario: usize) {
        let _ = self.channels.reports.send(Report::Left { shard: self.channels.shard, scenario });
    }

    pub(super) fn report_broken(self, error: std::io::Error) {
        // The run may be gone already.
        let _ = self.channels.reports.send(Report::Broken(error.into()));
    }

    pub(super) fn finish(&mut self, lifecycles: &mut [ScenarioLifecycle], at: Nanos) {
        let (mut seen, ends) = lifecycles.iter_mut().map(|lifecycle| lifecycle.finish(at)).unzip();
        self.report_spending(&mut seen);
        let _ = self.channels.reports.send(Report::Over { shard: self.channels.shard, at, ends, seen });
    }
}
