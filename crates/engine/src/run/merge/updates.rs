//! Ready intervals in the form in which they are emitted.

use super::{Merger, ReadyInterval};
use crate::run::Interval;
use crate::run::rows::{KeptInterval, Span};
use crate::run::totals::{Totals, paused_of_all};

impl Merger {
    /// A ready interval, with its current data.
    pub(in crate::run) fn reported_as(&self, ready: &ReadyInterval) -> Interval<'_> {
        let (seen, added) = self.parts(ready);
        self.span(ready).interval(seen, added, &self.total)
    }

    /// An owned copy of it, for subscribers that take it later.
    pub(in crate::run) fn keep(&self, ready: &ReadyInterval) -> KeptInterval {
        let (seen, added) = self.parts(ready);
        KeptInterval::new(self.span(ready), seen.clone(), added.clone(), self.total.clone())
    }

    /// The data of an interval, and what of it is new.
    fn parts(&self, ready: &ReadyInterval) -> (&Totals, &Totals) {
        let seen = if ready.is_current { &self.current } else { &self.again };
        (seen, if ready.is_update { &self.added } else { &self.current })
    }

    fn span(&self, ready: &ReadyInterval) -> Span {
        let (from, to) = (ready.from, ready.to);
        Span {
            number: ready.number,
            from,
            to,
            paused: paused_of_all(&self.timelines, from, to),
            paused_of: self.timelines.iter().map(|timeline| timeline.paused_between(from, to)).collect(),
            late_shards: ready.late,
            is_update: ready.is_update,
        }
    }
}
