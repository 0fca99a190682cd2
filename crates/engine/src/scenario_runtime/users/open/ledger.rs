//! The books of an open load: what a report says of the starts that were due, and what is left of them at the end.

use metrics::{Counter, SeriesId, Snapshot};
use pacing::Nanos;

use super::Open;
use crate::scenario_runtime::ScenarioRuntime;

/// Starts that were due and not taken up at the end of a run: the waits of this many are computed one by one; those of
/// the others are only known to be at least as long as the last one's.
const INCOMPLETE_MAX: usize = 1_000_000;

impl Open {
    /// Starts of the measured load that were taken up since the last call, and are counted or given up for good.
    fn take_unreported(&mut self, now: Nanos) -> u64 {
        if self.last == Nanos::ZERO {
            // It ended before its time: what is due from then on is given up.
            self.measured_taken += self.work.starts.take_until(now.since(self.measured_from));
        }
        let carried = self.queue.partition_point(|start| start.intended < self.measured_from);
        let uncounted = if self.counts_due { 0 } else { self.queue.len() - carried };
        let unreported = self.measured_taken.saturating_sub(self.reported + uncounted as u64);
        self.reported += unreported;
        unreported
    }

    /// The run is over: starts that came and found no user, and those that were due and not yet taken up, did not end.
    /// `from`: what was intended earlier is not measured.
    pub(in crate::scenario_runtime) fn count_unstarted(
        &mut self,
        now: Nanos,
        from: Nanos,
        series: SeriesId,
        seen: &mut Snapshot,
    ) {
        let waiting: Vec<Nanos> = self.waiting_from(from).collect();
        self.queue.clear();
        if !self.counts_due {
            waiting.iter().for_each(|intended| seen.counts[self.counter_of(*intended)] += 1);
        }
        waiting.iter().for_each(|intended| seen.leave_unfinished(series, now.since(*intended).0, None));
        let until = now.min(self.last);
        if until < self.measured_from {
            return;
        }
        for _ in 0..INCOMPLETE_MAX {
            let Some(at) = self.work.starts.peek().map(|at| self.measured_from + at).filter(|at| *at <= until) else {
                return;
            };
            self.work.starts.next();
            self.measured_taken += 1;
            // It was intended all the same.
            seen.counts[Counter::Started] += 1;
            seen.leave_unfinished(series, now.since(at).0, None);
        }
        let rest = self.work.starts.take_until(until.since(self.measured_from));
        self.measured_taken += rest;
        seen.counts[Counter::Started] += rest;
        seen.leave_many_unfinished(series, rest, now.since(until).0);
    }
}

impl ScenarioRuntime {
    /// Starts of the measured load that were taken up since the last call, and are counted or given up for good.
    pub(crate) fn take_unreported_starts(&mut self, now: Nanos) -> u64 {
        self.users.open.as_mut().map_or(0, |open| open.take_unreported(now))
    }
}
