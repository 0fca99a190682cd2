//! Exchanges that ended in equal stretches of the measured time: they show the course of a rate, and stalls of the
//! target.

use metrics::{Failure, Snapshot};
use pacing::Nanos;

/// Most slices of a planned measured time.
const SLICES_MAX: u64 = 320;
/// Minimum width of a slice.
const SLICE_MIN: Nanos = Nanos::from_millis(5);
/// Most slices of a load that is extended while it runs.
pub const SLICES_KEPT_MAX: usize = 4 * SLICES_MAX as usize;

/// Counts of one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Exchanges that ended.
    pub ended: u64,
    /// Those of them that succeeded.
    pub succeeded: u64,
    /// Those of them whose connections were refused.
    pub refused: u64,
    /// Those that had begun and not ended, at the end of the slice.
    pub in_flight: u64,
    /// Threads of the generator that were stalled at its end: what they had not read counts later.
    pub stalled: u64,
}

impl Slice {
    /// Counts of a whole snapshot.
    pub(crate) fn from_snapshot(seen: &Snapshot) -> Self {
        let counts = &seen.counts;
        let refused = counts.failures().filter(|(failure, _)| *failure == Failure::ConnectRefused);
        Self {
            ended: counts.finished(),
            succeeded: counts.succeeded(),
            refused: refused.map(|(_, count)| count).sum(),
            in_flight: 0,
            stalled: 0,
        }
    }

    /// Exchanges that ended other than with a refused connection.
    pub(crate) fn answered(&self) -> u64 {
        self.ended.saturating_sub(self.refused)
    }

    fn since(self, before: Self) -> Self {
        Self {
            ended: self.ended.saturating_sub(before.ended),
            succeeded: self.succeeded.saturating_sub(before.succeeded),
            refused: self.refused.saturating_sub(before.refused),
            ..self
        }
    }

    /// Adds the counts of another shard, or of another slice.
    pub fn add(&mut self, more: &Self) {
        self.ended += more.ended;
        self.succeeded += more.succeeded;
        self.refused += more.refused;
        self.in_flight += more.in_flight;
        self.stalled += more.stalled;
    }
}

/// The slices of a measured time, one after the other from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// Width of each; zero where there are no slices, since no time ends the load.
    pub width: Nanos,
    /// The slices, in their order.
    pub each: Vec<Slice>,
}

impl Slices {
    /// Slices of a load that ends after this time.
    pub(crate) fn new(duration: Option<Nanos>) -> Self {
        let width = duration.map_or(Nanos::ZERO, |duration| Nanos(duration.0 / SLICES_MAX).max(SLICE_MIN));
        let count = duration.map_or(0, |duration| duration.0 / width.0.max(1));
        Self { width, each: Vec::with_capacity(count as usize) }
    }

    /// Adds the slices of another shard of the same load.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.each.len() < other.each.len() {
            self.each.resize(other.each.len(), Slice::default());
        }
        self.width = self.width.max(other.width);
        self.each.iter_mut().zip(&other.each).for_each(|(own, more)| own.add(more));
    }

    /// Width of all slices together.
    pub(crate) fn span(&self) -> Nanos {
        self.begin_of(self.each.len())
    }

    /// When a slice begins, counted from the beginning of the measured time.
    pub(crate) fn begin_of(&self, index: usize) -> Nanos {
        Nanos(self.width.0 * index as u64)
    }
}

/// The slices of one scenario on a shard, in progress.
pub(crate) struct SliceRecorder {
    slices: Slices,
    /// When the next slice ends; never, when there are no more.
    next_at: Nanos,
    /// Counts of the snapshot when the last one ended.
    since: Slice,
    /// Counts of earlier snapshots after that.
    carried: Slice,
}

impl SliceRecorder {
    /// Slices are counted from `measured_from` on, wherever it `begins`: those of a partition that joins a load later
    /// are those of the others.
    pub(crate) fn new(measured_from: Nanos, begins: Nanos, duration: Option<Nanos>) -> Self {
        let mut slices = Slices::new(duration);
        let is_followed = slices.width > Nanos::ZERO;
        let before = begins.since(measured_from).0.checked_div(slices.width.0).unwrap_or(0).min(SLICES_KEPT_MAX as u64);
        slices.each.resize(before as usize, Slice::default());
        let next_at = if is_followed { measured_from + slices.begin_of(before as usize + 1) } else { Nanos::NEVER };
        Self { slices, next_at, since: Slice::default(), carried: Slice::default() }
    }

    /// When to call `look` again.
    pub(crate) fn next_at(&self) -> Nanos {
        self.next_at
    }

    /// Begins the measured time, with an empty snapshot.
    pub(crate) fn begin(&mut self) {
        (self.since, self.carried) = (Slice::default(), Slice::default());
    }

    /// Closes slices that are over. `last`: when the load stops, so that no slice reaches beyond it.
    pub(crate) fn close_slices(&mut self, now: Nanos, last: Nanos, seen: &Snapshot, in_flight: usize) {
        while self.next_at <= now {
            let is_late = now >= self.next_at + self.slices.width;
            if self.next_at > last || self.slices.each.len() >= SLICES_KEPT_MAX {
                self.next_at = Nanos::NEVER;
                return;
            }
            let all = Slice::from_snapshot(seen);
            let mut slice = all.since(self.since);
            slice.add(&std::mem::take(&mut self.carried));
            (slice.in_flight, slice.stalled) = (in_flight as u64, is_late.into());
            self.slices.each.push(slice);
            self.since = all;
            self.next_at += self.slices.width;
        }
    }

    /// Notes that the snapshot is handed over, and replaced by an empty one.
    pub(crate) fn hand_over(&mut self, seen: &Snapshot) {
        if self.next_at < Nanos::NEVER {
            self.carried.add(&Slice::from_snapshot(seen).since(std::mem::take(&mut self.since)));
        }
    }

    pub(crate) fn take(&mut self) -> Slices {
        std::mem::take(&mut self.slices)
    }
}

#[cfg(test)]
mod tests {
    use metrics::{Outcome, SeriesId};

    use super::*;

    const MILLI: u64 = 1_000_000;

    fn end(seen: &mut Snapshot, count: usize) {
        (0..count).for_each(|_| _ = seen.outcome(SeriesId::step(0), Outcome::Succeeded));
    }

    #[test]
    fn what_ended_is_in_its_stretch_across_snapshots() {
        let mut follower = SliceRecorder::new(Nanos(100 * MILLI), Nanos::ZERO, Some(Nanos(3_200 * MILLI)));
        let (mut seen, last) = (Snapshot::default(), Nanos(3_300 * MILLI));
        end(&mut seen, 3);
        follower.close_slices(Nanos(110 * MILLI), last, &seen, 7);
        end(&mut seen, 2);
        follower.hand_over(&seen);
        seen.clear();
        end(&mut seen, 4);
        follower.close_slices(Nanos(120 * MILLI), last, &seen, 5);
        follower.close_slices(Nanos(155 * MILLI), last, &seen, 5);
        let slices = follower.take();
        assert_eq!(slices.width, Nanos(10 * MILLI));
        let reported: Vec<_> = slices.each.iter().map(|slice| (slice.ended, slice.in_flight, slice.stalled)).collect();
        // The loop was away for two more slices, and what it had not read is in none of them.
        assert_eq!(reported, [(3, 7, 0), (6, 5, 0), (0, 5, 1), (0, 5, 1), (0, 5, 0)]);
    }

    #[test]
    fn no_stretch_reaches_beyond_the_load() {
        let mut follower = SliceRecorder::new(Nanos::ZERO, Nanos::ZERO, Some(Nanos(12 * MILLI)));
        let seen = Snapshot::default();
        follower.close_slices(Nanos(50 * MILLI), Nanos(12 * MILLI), &seen, 0);
        assert_eq!((follower.next_at(), follower.take().each.len()), (Nanos::NEVER, 2));
        assert_eq!(SliceRecorder::new(Nanos::ZERO, Nanos::ZERO, None).next_at(), Nanos::NEVER);
    }

    /// A partition that joins at 27 ms: its first slice is the third of ten milliseconds, and the rest of it.
    #[test]
    fn a_part_that_joins_later_has_the_stretches_of_the_others() {
        let begin = Nanos(100 * MILLI);
        let mut follower = SliceRecorder::new(begin, begin + Nanos(27 * MILLI), Some(Nanos(3_200 * MILLI)));
        let mut seen = Snapshot::default();
        end(&mut seen, 2);
        assert_eq!(follower.next_at(), begin + Nanos(30 * MILLI));
        follower.close_slices(Nanos(130 * MILLI), begin + Nanos(3_200 * MILLI), &seen, 1);
        end(&mut seen, 3);
        follower.close_slices(Nanos(140 * MILLI), begin + Nanos(3_200 * MILLI), &seen, 1);
        let reported: Vec<_> = follower.take().each.iter().map(|slice| slice.ended).collect();
        assert_eq!(reported, [0, 0, 2, 3]);
    }

    #[test]
    fn shards_add_up() {
        let slices = |counts: &[u64]| Slices {
            width: Nanos(5),
            each: counts.iter().map(|ended| Slice { ended: *ended, ..Slice::default() }).collect(),
        };
        let mut all = slices(&[1, 2]);
        all.add(&slices(&[10, 20, 30]));
        assert_eq!(all, slices(&[11, 22, 30]));
    }
}
