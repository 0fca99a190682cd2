//! Stalls of our own: a loop that should have run and did not, because its thread was stopped or another program had the core.
//!
//! While the loop stands still nobody reads an answer, so what was in flight then seems to have taken longer than it did. Such an
//! exchange is *covered*. The loop says until when it may sleep; whatever wakes it later than that tells a stall.

use std::collections::VecDeque;

use pacing::Nanos;

use super::World;

/// A loop that is this late has stood still; below it timers and schedulers are as late as they always are.
const STALL_MIN: Nanos = Nanos::from_millis(1);
/// An exchange is covered when more than this part of its time was ours.
const COVERED_PART: u64 = 10;
/// Stalls that are remembered; of an exchange that is older than all of them, the ones before are left out.
const STALLS_MAX: usize = 256;

/// The stalls of one loop.
#[derive(Default)]
pub(super) struct Stalls {
    /// The loop was awake then, or may sleep until then.
    awake_at: Nanos,
    /// The end of the last stall.
    last_end: Nanos,
    /// From and to, the oldest first.
    recent: VecDeque<(Nanos, Nanos)>,
}

impl Stalls {
    /// The loop is awake. The time since it should have been, when that was a stall.
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

    /// Enough of the time between two instants was a stall of ours.
    #[cold]
    pub(super) fn cover(&self, from: Nanos, to: Nanos) -> bool {
        let overlap = |(begin, end): &(Nanos, Nanos)| (*end).min(to).since((*begin).max(from)).0;
        let ours: u64 = self.recent.iter().rev().take_while(|(_, end)| *end > from).map(overlap).sum();
        ours > STALL_MIN.0 && ours > to.since(from).0 / COVERED_PART
    }
}

impl World {
    /// The loop is awake at this instant: it reads the clock for a turn, or something has happened.
    #[inline]
    pub(crate) fn wake_at(&mut self, now: Nanos) {
        if let Some(span) = self.stalls.wake_at(now) {
            self.seen.stalled_ns += span.0;
        }
    }

    /// The loop may sleep until this instant.
    #[inline]
    pub(crate) fn sleep_until(&mut self, until: Nanos) {
        self.stalls.awake_at = until;
        self.waits += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_covered_overlaps_enough() {
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
        for (from, to, is_covered) in cases {
            assert_eq!(stalls.cover(millis(from), millis(to)), is_covered, "{from} to {to}");
        }
    }
}
