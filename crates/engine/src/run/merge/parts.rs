//! What those tell who carry out parts of a run elsewhere.

use metrics::Snapshot;
use pacing::Nanos;

use super::{Merger, Row, Source};
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

    /// Somebody elsewhere has seen this in an interval, or from one to another, and told all up to the end of `upto`.
    pub(in crate::run) fn seen_afar(
        &mut self,
        part: usize,
        (first, number): (u64, u64),
        upto: u64,
        seen: Vec<Snapshot>,
    ) {
        let source = &mut self.sources[part];
        source.told = source.told.map(|told| told.max(upto));
        if first < number && number > self.shown {
            self.joined.push((first.max(self.shown + 1), number));
        }
        self.place(part, number, &seen.into_iter().map(Box::new).collect());
    }

    /// The last of the intervals that are told as one, from the next on; that one itself, when there are no others.
    pub(super) fn last_of_next(&mut self) -> u64 {
        let mut last = self.shown + 1;
        while let Some((_, end)) = self.joined.iter().find(|(first, end)| *first <= last && *end > last) {
            last = *end;
        }
        last
    }

    /// What was told of the intervals up to this one, and not shown.
    pub(super) fn take_row(&mut self, number: u64) -> Row {
        let later = self.open.split_off(&(number + 1));
        let mut rows = std::mem::replace(&mut self.open, later).into_values();
        let mut row = rows.next().unwrap_or_else(|| Row::of(self.timelines.len()));
        for other in rows {
            row.seen.merge(&other.seen);
            row.gauges.extend(other.gauges);
        }
        self.joined.retain(|(_, end)| *end > number);
        row
    }

    /// Nobody waits for what somebody elsewhere tells.
    pub(in crate::run) fn go_silent(&mut self, part: usize) {
        (self.sources[part].told, self.sources[part].is_silent) = (None, true);
    }

    /// Somebody elsewhere is over.
    pub(in crate::run) fn part_over(&mut self, part: usize, end: PartEnd) {
        for (all, end) in self.ends.iter_mut().zip(&end.scenarios) {
            all.add(end.stopped_at, end.backlog(), end.spent);
            all.slices.add(&end.slices);
            all.first_times.merge(&end.first_times);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metrics::Counter;
    use pacing::change::{Course, Timeline};
    use pacing::open::{Rate, Schedule, Stage};

    use super::*;
    use crate::times::Times;

    fn started(count: u64) -> Vec<Snapshot> {
        let mut seen = Snapshot::default();
        seen.counts[Counter::Started] = count;
        vec![seen]
    }

    /// Two parts, of which nobody knows what they saw in which of the first seconds.
    #[test]
    fn intervals_of_which_nobody_knows_are_one() {
        let second = Nanos::from_millis(1_000);
        let rate = Rate::per_hour_thousandths(3_600_000);
        let schedule = Arc::new(Schedule::new(&[Stage { from: rate, to: rate, span: Nanos(60 * second.0) }]));
        let timeline = Timeline::new(Course::Rate(schedule.clone()), Some(schedule.end()));
        let zero = Nanos::ZERO;
        let times = Times {
            started: zero,
            warmup: zero,
            duration: Some(schedule.end()),
            grace: zero,
            interval: second,
            joins: None,
        };
        let mut merger = Merger::new(times, vec![Arc::new(timeline)], Vec::new(), Vec::new(), true);
        let mut told = Vec::new();
        let show = |merger: &mut Merger, told: &mut Vec<_>| {
            while let Some(ready) = merger.next_interval() {
                let told_now = merger.told_as(&ready);
                let span = [told_now.from, told_now.to].map(|at| at.0 / second.0);
                told.push((told_now.number, told_now.is_again, span, told_now.seen.counts.started()));
            }
        };
        (0..2).for_each(|_| merger.join());
        merger.seen_afar(0, (1, 5), 5, started(50));
        show(&mut merger, &mut told);
        merger.seen_afar(1, (1, 4), 4, started(40));
        (5..7).for_each(|number| merger.seen_afar(1, (number, number), number, started(10)));
        merger.seen_afar(0, (6, 6), 6, started(11));
        show(&mut merger, &mut told);
        assert_eq!(told, [(1, false, [0, 5], 100), (2, false, [5, 6], 21)]);
        // What comes late is of the one that has its time.
        told.clear();
        merger.seen_afar(0, (3, 3), 0, started(1));
        merger.seen_afar(1, (6, 6), 0, started(2));
        show(&mut merger, &mut told);
        assert_eq!(told, [(1, true, [0, 5], 101), (2, true, [5, 6], 23)]);
    }
}
