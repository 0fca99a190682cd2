//! Stalls of the generator: a loop that was due to run and did not, because its thread was stopped or another program
//! had the core.
//!
//! During a stall no response is read, so requests in flight seem to take longer than they did. A success with
//! more than 1 ms and a tenth of its time in stalls is *stall-affected*. The loop says until when it may sleep; a later wake-up is a stall. A timeout fires only when all data
//! that had arrived by its deadline has been read (`ScenarioRuntime::read_until`, `Driver::has_more`), and after a stall within
//! it peers get the time that they had left before, 100 ms after a long one (`Stalls::spare`).

use std::collections::VecDeque;

use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;

/// A loop that is this late has stalled; below it timers and schedulers are as late as they always are.
const STALL_MIN: Nanos = Nanos::from_millis(1);
/// An exchange is stall affected when more than one part in this many of its time was a stall.
const STALL_AFFECTED_PART: u64 = 10;
/// After a stall of this length the machine itself may have stalled, and with it the target.
const LONG_STALL: Nanos = Nanos::from_millis(50);
/// How long peers have after a stall of the generator, whatever deadlines passed in it.
const SPARED: Nanos = Nanos::from_millis(100);
/// Stalls that are remembered; for an exchange that is older than all of them, earlier ones are left out.
const STALLS_MAX: usize = 256;

/// The stalls of one loop.
#[derive(Default)]
pub(super) struct Stalls {
    /// The loop was awake then, or may sleep until then.
    awake_at: Nanos,
    /// The end of the last stall.
    last_end: Nanos,
    /// Beginning and end of recent stalls, the oldest first.
    recent: VecDeque<(Nanos, Nanos)>,
}

impl Stalls {
    /// The loop is awake. Returns the time since it should have been, when that was a stall.
    #[inline]
    fn wake_at(&mut self, now: Nanos) -> Option<Nanos> {
        let from = std::mem::replace(&mut self.awake_at, now);
        (now.since(from) > STALL_MIN).then(|| self.stand_still(from, now))
    }

    #[cold]
    fn stand_still(&mut self, from: Nanos, to: Nanos) -> Nanos {
        if self.recent.len() == STALLS_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((from, to));
        self.last_end = to;
        to.since(from)
    }

    /// No stall ended after this instant.
    #[inline]
    pub(super) fn none_since(&self, from: Nanos) -> bool {
        from >= self.last_end
    }

    /// The deadline of an exchange that began at `since` and had until `deadline`. A stall within it puts it off: its
    /// peer has as long after the stall as it had left before, up to a bound; after a long one, that bound. A stall
    /// after a deadline has passed puts it off no further, so it has an end.
    #[inline]
    pub(super) fn spare(&self, since: Nanos, deadline: Nanos) -> Nanos {
        if self.last_end + SPARED <= deadline { deadline } else { self.spare_after(since, deadline) }
    }

    #[cold]
    fn spare_after(&self, since: Nanos, deadline: Nanos) -> Nanos {
        let within = self.recent.iter().filter(|(from, to)| *from <= deadline && *to > since);
        let spared = within.map(|&(from, to)| {
            let left = if to.since(from) >= LONG_STALL { SPARED } else { deadline.since(from.max(since)).min(SPARED) };
            to + left
        });
        spared.fold(deadline, Nanos::max)
    }

    /// Enough of the time between two instants was a stall.
    #[cold]
    pub(super) fn cover(&self, from: Nanos, to: Nanos) -> bool {
        let overlap = |(begin, end): &(Nanos, Nanos)| (*end).min(to).since((*begin).max(from)).0;
        let ours: u64 = self.recent.iter().rev().take_while(|(_, end)| *end > from).map(overlap).sum();
        ours > STALL_MIN.0 && ours > to.since(from).0 / STALL_AFFECTED_PART
    }
}

impl ScenarioRuntime {
    /// The loop is awake at this instant: it reads the clock for a turn, or something has happened.
    #[inline]
    pub(crate) fn wake_at(&mut self, now: Nanos) {
        if let Some(span) = self.stalls.wake_at(now) {
            self.unreported.stalled_ns += span.0;
        }
    }

    /// The loop may sleep until this instant.
    #[inline]
    pub(crate) fn sleep_until(&mut self, until: Nanos) {
        self.stalls.awake_at = until;
        self.instants.waits += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stall_affected_overlaps_enough() {
        let millis = Nanos::from_millis;
        let mut stalls = Stalls::default();
        assert_eq!(stalls.wake_at(millis(1)), None);
        stalls.awake_at = millis(50);
        assert_eq!(stalls.wake_at(millis(20)), None, "woken before its time");
        stalls.awake_at = millis(50);
        assert_eq!(stalls.wake_at(millis(250)), Some(millis(200)));
        assert!(stalls.none_since(millis(250)) && !stalls.none_since(millis(249)));
        let cases = [
            (40, 300, true),
            (40, 51, false),
            (40, 52, true),
            (0, 50, false),
            (250, 900, false),
            (100, 110, true),
            // A tenth is the bound.
            (49, 2_100, false),
            (50, 2_000, true),
        ];
        for (from, to, is_stall_affected) in cases {
            assert_eq!(stalls.cover(millis(from), millis(to)), is_stall_affected, "{from} to {to}");
        }
    }

    /// Stalls from 100 to 105 ms, and from 200 to 700.
    #[test]
    fn deadlines_that_pass_in_a_stall_are_spared() {
        let millis = Nanos::from_millis;
        let mut stalls = Stalls::default();
        for (from, to) in [(100, 105), (200, 700)] {
            stalls.awake_at = millis(from);
            stalls.wake_at(millis(to));
        }
        let cases = [
            // It was over before any stall, or began after all.
            (10, 99, 99),
            (700, 720, 720),
            (750, 5_000, 5_000),
            // A short one gives back what was left, and no more than it took.
            (95, 110, 115),
            (100, 103, 108),
            (102, 120, 123),
            (105, 110, 110),
            // A long one gives the whole time, but not beyond what was there anyway.
            (190, 200, 800),
            (190, 400, 800),
            (190, 750, 800),
            (190, 900, 900),
            (690, 701, 800),
            // In both stalls.
            (90, 205, 800),
            (150, 199, 199),
        ];
        for (since, deadline, spared) in cases {
            assert_eq!(stalls.spare(millis(since), millis(deadline)), millis(spared), "{since} to {deadline}");
        }
        assert_eq!(Stalls::default().spare(millis(0), millis(1)), millis(1), "there was none");
    }

    /// One stall after the other: each deadline comes to its end, with the first that began after it.
    #[test]
    fn a_deadline_is_not_put_off_for_ever() {
        let millis = Nanos::from_millis;
        let mut stalls = Stalls::default();
        for number in 0..200 {
            stalls.awake_at = millis(100 * number);
            stalls.wake_at(millis(100 * number + 60));
            if number >= 2 {
                assert_eq!(stalls.spare(millis(50), millis(150)), millis(260), "after {number}");
            }
        }
    }
}
