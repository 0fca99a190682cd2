//! The books of an open load: what a report says of the starts that were due, and what is left of them at the end.

use metrics::{Counter, SeriesId, Snapshot};
use pacing::Nanos;

use super::Open;
use crate::scenario_runtime::ScenarioRuntime;

/// Starts that were due and not taken up at the end of a run: the waits of this many are computed one by one; those of
/// the others are only known to be at least as long as the last one's.
const INCOMPLETE_MAX: usize = 1_000_000;

/// The most starts behind that are counted one by one, where arithmetic cannot: it is done in each interval, beside the
/// starts that are late already.
const BEHIND_MAX: u64 = 100_000;

/// Starts that a part leaves to others.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftStarts {
    /// The end of the lease.
    until: Nanos,
    count: u64,
}

impl Open {
    /// Starts of the measured load that were due before `end` and are not counted: not taken up, left to others, or
    /// without a user where it is their user that counts them.
    fn behind(&self, end: Nanos) -> u64 {
        let carried = self.queue.partition_point(|start| start.intended < self.measured_from);
        let uncounted = if self.counts_due { 0 } else { (self.queue.len() - carried) as u64 };
        // Most often there is nothing: else it stood still, or has more to do than it can.
        let has_none = self.peek().is_none_or(|next| next >= end);
        let late = if has_none { 0 } else { self.due_before(end.min(self.last + Nanos(1)), BEHIND_MAX) };
        uncounted + late + self.left_before(end)
    }

    /// Starts of the measured load before `end` that are not taken up; at most `count_max` are counted one by one.
    fn due_before(&self, end: Nanos, count_max: u64) -> u64 {
        if end <= self.measured_from {
            return 0;
        }
        self.work.starts.due_by((end - Nanos(1)).since(self.measured_from), count_max)
    }

    /// Starts before `end` that are left to others.
    fn left_before(&self, end: Nanos) -> u64 {
        match self.left {
            Some(left) if end >= left.until => left.count,
            Some(_) => self.due_between(self.last, end, BEHIND_MAX),
            None => 0,
        }
    }

    /// Starts of the measured load after `last` and before `end` that are not taken up.
    fn due_between(&self, last: Nanos, end: Nanos, count_max: u64) -> u64 {
        let own = self.due_before(end.min(last + Nanos(1)), count_max);
        self.due_before(end, count_max).saturating_sub(own)
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
            // It was intended all the same.
            seen.counts[Counter::Started] += 1;
            seen.leave_unfinished(series, now.since(at).0, None);
        }
        let rest = self.work.starts.take_until(until.since(self.measured_from));
        seen.counts[Counter::Started] += rest;
        seen.leave_many_unfinished(series, rest, now.since(until).0);
    }
}

impl ScenarioRuntime {
    /// Starts of the measured load that were due before `end` and are in no count.
    pub(crate) fn behind(&self, end: Nanos) -> u64 {
        self.users.open.as_ref().map_or(0, |open| open.behind(end))
    }

    /// The starts before `end` of a part that is over, or will be, that it leaves to others.
    pub(crate) fn left_before(&self, end: Nanos) -> u64 {
        self.users.open.as_ref().map_or(0, |open| open.left_before(end))
    }

    /// What is intended after `last` and before the lease ends is left to others, unless it was cancelled before.
    pub(crate) fn leave_rest(&mut self, last: Nanos, lease: Nanos) {
        let Some(open) = self.users.open.as_mut().filter(|open| open.last == Nanos::NEVER) else { return };
        // Without an end of the lease nothing is left.
        if lease == Nanos::NEVER {
            return;
        }
        open.left = Some(LeftStarts { until: lease, count: open.due_between(last, lease, u64::MAX) });
    }
}
