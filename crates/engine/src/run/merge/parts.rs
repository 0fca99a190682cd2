//! What those tell who carry out parts of a run elsewhere.

use metrics::Snapshot;
use pacing::Nanos;

use super::{Merger, Source};
use crate::afar::PartEnd;
use crate::spent::ShardUse;

/// Intervals that may be shown again when somebody elsewhere tells of them late: more than the longest silence after which nothing is
/// lost has.
pub(super) const KEPT_MAX: usize = 128;
/// The last of them may be shown again whoever was there: somebody may have begun in them of whom nobody has heard yet.
pub(super) const KEPT_RECENT: u64 = 10;

impl Merger {
    /// Somebody elsewhere begins to tell, of the first interval that was not shown.
    pub(in crate::run) fn join(&mut self) {
        let count = self.timelines.len();
        self.sources.push(Source {
            told: Some(self.shown),
            is_silent: false,
            scenarios: (0..count).collect(),
            left: Vec::new(),
            gauges: vec![(0, 0); count],
            spent: ShardUse::default(),
            since: self.times.measured_from(),
        });
    }

    /// Somebody elsewhere has seen this in an interval, and told all up to the end of `upto`.
    pub(in crate::run) fn seen_afar(&mut self, part: usize, number: u64, upto: u64, seen: Vec<Snapshot>) {
        let source = &mut self.sources[part];
        source.told = source.told.map(|told| told.max(upto));
        self.place(part, number, &seen.into_iter().map(Box::new).collect());
    }

    /// Nobody waits for what somebody elsewhere tells.
    pub(in crate::run) fn go_silent(&mut self, part: usize) {
        (self.sources[part].told, self.sources[part].is_silent) = (None, true);
    }

    /// Somebody elsewhere is over.
    pub(in crate::run) fn part_over(&mut self, part: usize, end: PartEnd) {
        for (all, end) in self.ends.iter_mut().zip(&end.scenarios) {
            all.add(end.stopped_at, end.backlog(), end.spent);
        }
        self.ended_at = self.ended_at.max(end.wall);
        (self.sources[part].told, self.sources[part].is_silent) = (None, false);
        self.parts.push(end);
    }

    /// Nobody elsewhere has said when it was over: as far as anybody has told.
    pub(super) fn end_untold(&mut self, wall: Nanos) {
        let untold = self.ends.iter_mut().filter(|end| self.is_afar && end.stopped_at == Nanos::ZERO);
        untold.for_each(|end| end.stopped_at = wall);
    }
}
