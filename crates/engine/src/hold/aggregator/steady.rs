//! What was counted while all connections were there: between the opening and the closing, so that rates are of neither.

use metrics::HeldCounters;
use pacing::Nanos;

/// What one shard counted in whole intervals, from the end of that in which it had tried all of its connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// The number of ended intervals; `None` until the first one behind the opening.
    from: Option<u64>,
    intervals: u64,
    counted: HeldCounters,
}

impl Window {
    /// What the shard counted in interval `number`, and until which it has reported everything; an update of an earlier
    /// interval says nothing of that.
    pub(super) fn add(&mut self, (number, upto): (u64, u64), counted: &HeldCounters) {
        // The opening ended somewhere in the first of them.
        let Some(from) = self.from else {
            self.from = Some(upto).filter(|upto| *upto > 0);
            return;
        };
        if number > from {
            self.intervals = self.intervals.max(number - from);
            self.counted.merge(counted);
        }
    }

    /// What it counted, and in what time; `None` when that has no whole interval.
    pub(super) fn reported(&self, interval: Nanos) -> Option<(HeldCounters, Nanos)> {
        (self.intervals > 0).then(|| (self.counted, Nanos(interval.0 * self.intervals)))
    }
}
