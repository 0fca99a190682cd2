//! Owned intervals, for subscribers that take them later.

use super::{IntervalMerger, ReadyInterval, Sums};
use crate::subscribers::Join;

/// What else is known of an interval.
pub(crate) trait Remark {
    /// Adds that of a later interval; whether either is new, or was counted before as part of an update.
    fn join(&mut self, is_new: bool, later: (&Self, bool));
}

/// An owned interval, for subscribers that take it later.
#[derive(Clone, Debug)]
pub struct OwnedInterval<S, R> {
    pub(crate) ready: ReadyInterval,
    pub(crate) seen: S,
    pub(crate) added: S,
    pub(crate) total: S,
    pub(crate) remark: R,
}

impl<S: Sums, R: Remark + Clone> Join for OwnedInterval<S, R> {
    /// Merges two: what was new in either, once, in the time from the first to the last. It replaces no row that was
    /// reported before.
    fn join(&mut self, later: &Self) {
        self.added.merge(&later.added);
        self.added.take_gauges(&later.total);
        self.seen.clone_from(&self.added);
        self.total.clone_from(&later.total);
        let (own, other) = (&mut self.ready, &later.ready);
        self.remark.join(!own.is_update, (&later.remark, !other.is_update));
        own.number = own.number.max(other.number);
        (own.from, own.to) = (own.from.min(other.from), own.to.max(other.to));
        own.late = own.late.max(other.late);
        own.is_update = false;
    }
}

impl<S: Sums> IntervalMerger<S> {
    /// An owned copy of a ready interval.
    pub(crate) fn owned<R>(&self, ready: &ReadyInterval, remark: R) -> OwnedInterval<S, R> {
        let (seen, added) = self.sums(ready);
        let (seen, added, total) = (seen.clone(), added.clone(), self.total.clone());
        OwnedInterval { ready: ready.clone(), seen, added, total, remark }
    }
}
