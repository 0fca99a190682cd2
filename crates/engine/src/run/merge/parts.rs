//! Merging of the reports of remote partitions.

use metrics::{InFlightAges, Snapshot};
use pacing::Nanos;

use super::{Merger, ShardRecord};
use crate::remote::PartEnd;
use crate::usage::ThreadUsage;

/// Exchanges that a remote partition has begun and not ended, as far as it reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    begun: u64,
    ended: u64,
    /// Waits of those at the end of this interval, the last one reported.
    number: u64,
    ages: InFlightAges,
}

impl Open {
    fn add(&mut self, number: u64, seen: &Snapshot) {
        self.begun += seen.counts.all_started();
        self.ended += seen.counts.all_ended(seen.counts.failed());
        if number >= self.number {
            self.number = number;
            self.ages.clone_from(&seen.gauges.in_flight);
        }
    }
}

impl Merger {
    /// What partitions had in flight that never reported their end, scenario by scenario, with how long it had waited:
    /// it may have ended, in an unknown way.
    pub(super) fn lost(&self) -> Vec<(usize, u64, InFlightAges)> {
        let has_no_end = |part: usize| self.intervals.is_on(part) || self.intervals.is_silent(part);
        let mut lost = Vec::new();
        for (_, record) in self.shards.iter().enumerate().filter(|(part, _)| has_no_end(*part)) {
            for (scenario, open) in record.open.iter().enumerate() {
                lost.push((scenario, open.begun.saturating_sub(open.ended), open.ages.clone()));
            }
        }
        lost
    }

    /// A remote partition begins to report, from the first interval that was not shown.
    pub(in crate::run) fn join(&mut self) {
        let count = self.timelines.len();
        self.shards.push(ShardRecord {
            scenarios: (0..count).collect(),
            left: Vec::new(),
            spent: ThreadUsage::default(),
            since: self.intervals.times.measured_from(),
            open: vec![Open::default(); count],
        });
        self.intervals.join();
    }

    /// A remote partition reports an interval, or several as one, and has reported everything up to the end of `upto`.
    pub(in crate::run) fn seen_remote(&mut self, part: usize, numbers: (u64, u64), upto: u64, seen: Vec<Snapshot>) {
        let record = &mut self.shards[part];
        record.open.iter_mut().zip(&seen).for_each(|(open, seen)| open.add(numbers.1, seen));
        let seen = seen.into_iter().map(Box::new).collect();
        let gauges = record.gauges(self.timelines.len(), &seen);
        self.intervals.report_remote(part, (numbers, upto), gauges, |sum| sum.add(&record.scenarios, &seen));
    }

    /// A remote partition is over.
    pub(in crate::run) fn part_over(&mut self, part: usize, end: PartEnd) {
        for (all, end) in self.ends.iter_mut().zip(&end.scenarios) {
            all.add(end.stopped_at, end.backlog(), end.spent);
            all.slices.add(&end.slices);
            all.first_times.merge(&end.first_times);
        }
        self.intervals.ended_at(end.wall);
        self.intervals.part_over(part);
        self.parts.push(end);
    }

    /// No remote partition has reported its end: the run ends with the last report.
    pub(super) fn end_untold(&mut self, wall: Nanos) {
        let untold = self.ends.iter_mut().filter(|end| self.is_remote && end.stopped_at == Nanos::ZERO);
        untold.for_each(|end| end.stopped_at = wall);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metrics::{Counter, Failure, Measure, Outcome, SeriesId};
    use pacing::change::{LoadProfile, Timeline};
    use pacing::open::{Rate, Schedule, Stage};

    use super::*;
    use crate::times::Times;

    fn started(count: u64) -> Vec<Snapshot> {
        let mut seen = Snapshot::default();
        seen.counts[Counter::Started] = count;
        vec![seen]
    }

    fn merger(scenarios: usize) -> Merger {
        let second = Nanos::from_millis(1_000);
        let rate = Rate::per_hour_thousandths(3_600_000);
        let schedule = Arc::new(Schedule::new(&[Stage { from: rate, to: rate, span: Nanos(60 * second.0) }]));
        let timeline = Arc::new(Timeline::new(LoadProfile::Rate(schedule.clone()), Some(schedule.end())));
        let zero = Nanos::ZERO;
        let times = Times {
            started: zero,
            warmup: zero,
            duration: Some(schedule.end()),
            grace: zero,
            stop_within: zero,
            interval: second,
            joins: None,
        };
        let timelines = (0..scenarios).map(|_| timeline.clone()).collect();
        Merger::new(times, timelines, Vec::new(), Vec::new(), true)
    }

    /// A snapshot: exchanges begun, ended in each way, and the waits of those in flight since.
    fn seen(begun: u64, ended: [u64; 4], waits: &[u64]) -> Snapshot {
        let mut seen = Snapshot::default();
        seen.counts[Counter::Started] = begun;
        for _ in 0..ended[0] {
            seen.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Response, 1_000_000);
        }
        for _ in 0..ended[1] {
            seen.outcome(SeriesId::step(0), Outcome::Failed(Failure::Timeout)).record(Measure::Response, 1_000_000);
        }
        (0..ended[2]).for_each(|_| seen.drop_start(1));
        (0..ended[3]).for_each(|_| seen.leave_unfinished(SeriesId::step(0), 1, None));
        waits.iter().for_each(|wait| seen.gauges.in_flight.response.record(*wait));
        seen
    }

    fn is_whole(total: &Snapshot) {
        assert_eq!(total.counts.all_started(), total.counts.all_ended(total.counts.failed()), "{:?}", total.counts);
    }

    /// Exchanges in flight of a partition that never reported its end are a class of their own, and the sum is
    /// complete.
    #[test]
    fn what_a_lost_part_had_in_flight_is_lost() {
        let over = || {
            let cpu = host::CpuTime::default();
            let (scenarios, shards, used_up, met) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            PartEnd { wall: Nanos::from_millis(9_000), scenarios, shards, cpu, used_up, met }
        };
        for (silent, scenarios) in [(true, 1), (false, 1), (true, 2), (false, 3)] {
            let of_each = |of: Snapshot| vec![of; scenarios];
            let mut merger = merger(scenarios);
            (0..3).for_each(|_| merger.join());
            merger.seen_remote(0, (1, 1), 1, of_each(seen(10, [6, 1, 1, 0], &[5, 6])));
            merger.seen_remote(1, (1, 1), 1, of_each(seen(10, [4, 0, 0, 0], &[7, 8, 9, 10, 11, 12])));
            merger.seen_remote(2, (1, 1), 1, of_each(seen(5, [5, 0, 0, 0], &[])));
            // An exchange in flight ends in a later interval; the waits at that time are what counts.
            merger.seen_remote(1, (2, 2), 2, of_each(seen(3, [5, 0, 1, 0], &[300, 400, 500])));
            merger.seen_remote(0, (2, 2), 2, of_each(seen(3, [2, 0, 0, 3], &[])));
            // The second partition never reports again; the others are over. What the third did is known.
            merger.part_over(0, over());
            merger.part_over(2, over());
            if silent {
                merger.intervals.go_silent(1);
            }
            while merger.intervals.next(true).or_else(|| merger.intervals.next(false)).is_some() {}
            let finished = merger.finish();
            for scenario in 0..scenarios {
                let total = finished.total_of(scenario);
                assert_eq!((total.counts.lost(), total.counts.unfinished()), (3, 3), "{silent} {scenarios}");
                let waited = &total.lost_after.response;
                assert_eq!((waited.count(), waited.min(), waited.max()), (3, Some(300), Some(500)));
                is_whole(total);
            }
            assert_eq!(finished.total.counts.lost(), 3 * scenarios as u64);
            is_whole(&finished.total);
        }
    }

    /// Where all partitions are over, nothing is lost, whatever was in flight at one time.
    #[test]
    fn nothing_is_lost_where_all_are_over() {
        let mut merger = merger(1);
        merger.join();
        merger.seen_remote(0, (1, 1), 1, vec![seen(10, [4, 0, 0, 0], &[1; 6])]);
        merger.intervals.go_silent(0);
        merger.seen_remote(0, (2, 2), 2, vec![seen(0, [5, 0, 0, 1], &[])]);
        let cpu = host::CpuTime::default();
        let (scenarios, shards, used_up, met) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        merger.part_over(0, PartEnd { wall: Nanos(1), scenarios, shards, cpu, used_up, met });
        while merger.intervals.next(true).or_else(|| merger.intervals.next(false)).is_some() {}
        let finished = merger.finish();
        assert_eq!((finished.total.counts.lost(), finished.total.lost_after.response.count()), (0, 0));
        is_whole(&finished.total);
    }

    /// Two partitions whose first seconds are only known as a sum.
    #[test]
    fn intervals_of_which_nobody_knows_are_one() {
        let second = Nanos::from_millis(1_000);
        let mut merger = merger(1);
        let mut reported = Vec::new();
        let show = |merger: &mut Merger, reported: &mut Vec<_>| {
            while let Some(ready) = merger.intervals.next(true) {
                let reported_now = merger.reported_as(&ready);
                let span = [reported_now.from, reported_now.to].map(|at| at.0 / second.0);
                reported.push((reported_now.number, reported_now.is_update, span, reported_now.seen.counts.started()));
            }
        };
        (0..2).for_each(|_| merger.join());
        merger.seen_remote(0, (1, 5), 5, started(50));
        show(&mut merger, &mut reported);
        merger.seen_remote(1, (1, 4), 4, started(40));
        (5..7).for_each(|number| merger.seen_remote(1, (number, number), number, started(10)));
        merger.seen_remote(0, (6, 6), 6, started(11));
        show(&mut merger, &mut reported);
        assert_eq!(reported, [(1, false, [0, 5], 100), (2, false, [5, 6], 21)]);
        // A late report belongs to the interval that covers its time.
        reported.clear();
        merger.seen_remote(0, (3, 3), 0, started(1));
        merger.seen_remote(1, (6, 6), 0, started(2));
        show(&mut merger, &mut reported);
        assert_eq!(reported, [(1, true, [0, 5], 101), (2, true, [5, 6], 23)]);
    }
}
