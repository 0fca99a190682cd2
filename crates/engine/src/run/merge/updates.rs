//! Ready intervals in the form in which they are emitted.

use super::Merger;
use crate::interval_merger::ReadyInterval;
use crate::run::Interval;
use crate::run::rows::{KeptInterval, Pauses, interval};
use crate::run::totals::paused_of_all;

impl Merger {
    /// A ready interval, with its current data.
    pub(in crate::run) fn reported_as(&self, ready: &ReadyInterval) -> Interval<'_> {
        let (seen, added) = self.intervals.sums(ready);
        interval(ready, &self.pauses(ready), [seen, added, self.intervals.total()])
    }

    /// An owned copy of it, for subscribers that take it later.
    pub(in crate::run) fn keep(&self, ready: &ReadyInterval) -> KeptInterval {
        self.intervals.owned(ready, self.pauses(ready))
    }

    fn pauses(&self, ready: &ReadyInterval) -> Pauses {
        let (from, to) = (ready.from, ready.to);
        let of = self.timelines.iter().map(|timeline| timeline.paused_between(from, to)).collect();
        Pauses { all: paused_of_all(&self.timelines, from, to), of }
    }
}
