//! Merges the snapshots of the shards into the intervals of the run.
//!
//! A snapshot belongs to the first interval that its shard has not reported yet: a shard hands over before it does
//! anything new, so a snapshot from before a stall belongs to the interval in which the stall began. An interval is
//! emitted when all shards have reported theirs, or when others are [`LATE_MAX`] further; the snapshot of a late
//! shard is added when it arrives, and the interval is emitted again as an update.

mod ended;
mod parts;
mod updates;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Timeline;

pub(crate) use ended::ScenarioEnds;
use parts::{KEPT_MAX, KEPT_RECENT, Open};

use super::totals::{Gauges, Totals};
use crate::remote::PartEnd;
use crate::scenario_lifecycle::ScenarioOutcome;
use crate::shard::ShardSnapshots;
#[cfg(test)]
use crate::swarm::mutants::{Bug, strikes};
use crate::times::{SLIVER, Times, longest};
use crate::usage::ThreadUsage;

/// An interval waits for a shard until others have reported this many more.
const LATE_MAX: u64 = 2;
/// For remote workers it waits at least this long.
const LATE_REMOTE: Nanos = Nanos::from_millis(2_000);

/// State of one shard.
struct Source {
    /// The last interval that it reported; `None` when it is over, or not waited for.
    reported: Option<u64>,
    /// It is not waited for, and may still report.
    is_silent: bool,
    /// The scenarios that it plays.
    scenarios: Vec<usize>,
    /// Its scenarios with users that waited for each other, and that are over.
    left: Vec<usize>,
    /// Gauges of the last interval that was shown.
    gauges: Gauges,
    spent: ThreadUsage,
    /// Until when that was reported.
    since: Nanos,
    /// Exchanges it has begun and not ended, as far as it reported, scenario by scenario; kept for shards that may be
    /// lost.
    open: Vec<Open>,
}

/// The reports for one interval so far.
struct Row {
    seen: Totals,
    /// The gauges of the shards that reported it.
    gauges: Vec<(usize, Gauges)>,
}

impl Row {
    fn of(scenarios: usize) -> Self {
        Self { seen: Totals::of(scenarios), gauges: Vec::new() }
    }

    fn add(&mut self, shard: usize, scenarios: &[usize], gauges: Gauges, seen: &ShardSnapshots) {
        self.seen.add(scenarios, seen);
        self.gauges.push((shard, gauges));
    }
}

/// An interval that was emitted without a shard.
struct LateInterval {
    /// Intervals emitted by then, this one included.
    count: u64,
    seen: Totals,
    from: Nanos,
    to: Nanos,
    /// Shards that may still report it.
    missing: Vec<usize>,
    /// Shards that had not reported it when it was shown.
    late: usize,
}

/// The result of all shards.
pub struct Finished {
    /// Everything that was recorded.
    pub total: Snapshot,
    /// Totals per scenario, where there are several.
    pub apart: Vec<Snapshot>,
    /// Wall time from the start to the end of the last shard.
    pub wall: Nanos,
    /// From the start to the instant from which nothing was started any more.
    pub stopped_at: Nanos,
    /// Usage of each shard.
    pub shards: Vec<ThreadUsage>,
    /// The outcome of each scenario.
    pub(crate) ends: Vec<ScenarioEnds>,
    /// The ends of remote partitions.
    pub(crate) parts: Vec<PartEnd>,
}

impl Finished {
    /// The total of a scenario.
    pub fn total_of(&self, scenario: usize) -> &Snapshot {
        self.apart.get(scenario).unwrap_or(&self.total)
    }

    /// Drops the CPU time of the shards: where time is virtual, it is of another clock.
    pub(super) fn forget_cpu(&mut self) {
        for seen in std::iter::once(&mut self.total).chain(&mut self.apart) {
            (seen.cpu_ns, seen.run_delay_ns) = (0, 0);
        }
        for spent in &mut self.shards {
            (spent.cpu_ns, spent.run_delay_ns, spent.saturated_ns) = (0, 0, 0);
        }
    }
}

/// An interval to emit: its span, and what of it is new.
pub(super) struct ReadyInterval {
    number: u64,
    from: Nanos,
    to: Nanos,
    late: usize,
    is_update: bool,
    /// It is the newest one, not an update of an earlier one.
    is_current: bool,
}

pub(super) struct Merger {
    ends: Vec<ScenarioEnds>,
    times: Times,
    timelines: Vec<Arc<Timeline>>,
    sources: Vec<Source>,
    /// Intervals that some shards reported, and that were not shown.
    open: BTreeMap<u64, Row>,
    /// Intervals that were shown without a shard: at most one for each shard, since a stalled shard reports only the
    /// first.
    kept: BTreeMap<u64, LateInterval>,
    /// Late reports of intervals that had been shown.
    late: VecDeque<(u64, Row)>,
    returns: Vec<Sender<ShardSnapshots>>,
    /// Totals of the interval that was shown last.
    current: Totals,
    /// The new part of the interval that is shown.
    added: Totals,
    /// An earlier interval of which an update is shown.
    again: Totals,
    total: Totals,
    from: Nanos,
    /// The beginning of the interval that was shown last.
    current_from: Nanos,
    shown: u64,
    /// Merged intervals: those that were reported as one with others. The intervals of a run are counted without them.
    joined: Vec<(u64, u64)>,
    left_out: u64,
    /// When the last shard was over, since the start.
    ended_at: Nanos,
    /// A row waits for late shards; see [`Merger::awaits_late`].
    awaits_late: bool,
    has_waited: bool,
    /// Usage of remote threads, and the rest of the end of each partition.
    parts: Vec<PartEnd>,
    /// The shards are remote, and may report many intervals that were shown without them.
    is_remote: bool,
    /// An interval waits for a late shard until others have reported this many more.
    late_max: u64,
}

impl Merger {
    /// `scenarios`: the scenarios that each shard plays.
    pub(super) fn new(
        times: Times,
        timelines: Vec<Arc<Timeline>>,
        scenarios: Vec<Vec<usize>>,
        returns: Vec<Sender<ShardSnapshots>>,
        is_remote: bool,
    ) -> Self {
        let count = timelines.len();
        let before = times.intervals_before();
        let source = |scenarios| Source {
            reported: Some(before),
            is_silent: false,
            scenarios,
            left: Vec::new(),
            gauges: vec![(0, 0); count],
            spent: ThreadUsage::default(),
            since: times.begins().max(times.measured_from()),
            open: Vec::new(),
        };
        let whole = || Totals::of(count);
        Self {
            times,
            ends: vec![ScenarioEnds::default(); count],
            timelines,
            sources: scenarios.into_iter().map(source).collect(),
            open: BTreeMap::new(),
            kept: BTreeMap::new(),
            late: VecDeque::new(),
            returns,
            current: whole(),
            added: whole(),
            again: whole(),
            total: whole(),
            from: Nanos(times.interval.0 * before),
            current_from: Nanos(times.interval.0 * before),
            shown: before,
            joined: Vec::new(),
            left_out: 0,
            ended_at: Nanos::ZERO,
            awaits_late: false,
            has_waited: false,
            parts: Vec::new(),
            is_remote,
            late_max: if is_remote { LATE_MAX.max(LATE_REMOTE.0.div_ceil(times.interval.0.max(1))) } else { LATE_MAX },
        }
    }

    /// Replaces the timelines after a change.
    pub(super) fn change(&mut self, timelines: Vec<Arc<Timeline>>) {
        self.times.duration = longest(timelines.iter().map(|timeline| timeline.end()));
        self.timelines = timelines;
    }

    /// Number of shards that are not over.
    pub(super) fn running(&self) -> usize {
        self.sources.iter().filter(|source| source.reported.is_some()).count()
    }

    /// A shard plays a scenario, and neither is over.
    pub(super) fn is_playing(&self, shard: usize, scenario: usize) -> bool {
        let source = &self.sources[shard];
        source.reported.is_some() && source.scenarios.contains(&scenario) && !source.left.contains(&scenario)
    }

    /// A shard no longer plays a scenario.
    pub(super) fn leave(&mut self, shard: usize, scenario: usize) {
        self.sources[shard].left.push(scenario);
    }

    /// A shard has reported everything up to the end of interval `upto`.
    pub(super) fn interval(&mut self, shard: usize, upto: u64, at: Nanos, mut seen: ShardSnapshots) {
        self.take(shard, at, &seen);
        self.sources[shard].reported = Some(upto);
        seen.iter_mut().for_each(|seen| seen.clear());
        // A shard that is over needs no snapshot any more.
        let _ = self.returns[shard].send(seen);
    }

    pub(super) fn over(&mut self, shard: usize, at: Nanos, ends: &[ScenarioOutcome], seen: &ShardSnapshots) {
        let started = self.times.measured_from();
        for end in ends {
            let all = &mut self.ends[end.scenario];
            all.add(end.stopped_at.since(started), end.backlog, end.spent);
            all.slices.add(&end.slices);
            all.first_times.merge(&end.first_times);
        }
        self.ended_at = self.ended_at.max(at.since(started));
        self.take(shard, at, seen);
        self.sources[shard].reported = None;
    }

    /// Adds what a shard saw to the first interval that it has not reported.
    fn take(&mut self, shard: usize, at: Nanos, seen: &ShardSnapshots) {
        let source = &mut self.sources[shard];
        // The first scenario of a shard includes the figures of its thread.
        if let Some(seen) = seen.first() {
            source.spent.add(at.since(source.since), seen);
        }
        source.since = at;
        let number = source.reported.map_or(self.shown + 1, |reported| reported + 1);
        self.place(shard, number, seen);
    }

    fn place(&mut self, shard: usize, number: u64, seen: &ShardSnapshots) {
        let (count, source) = (self.timelines.len(), &self.sources[shard]);
        let mut gauges = vec![(0, 0); count];
        for (&scenario, seen) in source.scenarios.iter().zip(seen) {
            gauges[scenario] = (seen.gauges.users, seen.gauges.connections_open);
        }
        #[cfg(test)]
        let number = if strikes(Bug::LateSnapshotLast) { self.shown + 1 } else { number };
        if number > self.shown {
            let row = self.open.entry(number).or_insert_with(|| Row::of(count));
            row.add(shard, &source.scenarios, gauges, seen);
        } else {
            let mut row = Row::of(count);
            row.add(shard, &source.scenarios, gauges, seen);
            // Missing data of an interval too old for an update goes to the oldest that is not.
            let place = self.kept.range(number..).next().map_or(self.shown + 1, |(number, _)| *number);
            if place > self.shown {
                self.open.entry(place).or_insert_with(|| Row::of(count)).seen.merge(&row.seen);
            } else {
                self.late.push_back((place, row));
            }
        }
    }

    /// An interval could be shown without the late shards, which get a moment more.
    pub(super) fn awaits_late(&self) -> bool {
        self.awaits_late
    }

    /// The moment for late shards is over.
    pub(super) fn gives_up_waiting(&mut self) {
        (self.has_waited, self.awaits_late) = (true, false);
    }

    /// The next interval to show, new or updated; `None` while one is waited for.
    pub(super) fn next_interval(&mut self) -> Option<ReadyInterval> {
        if let Some((number, row)) = self.late.pop_front() {
            return self.show_again(number, &row);
        }
        let number = self.last_of_next();
        let reported = || self.sources.iter().filter_map(|source| source.reported);
        // When all are over, what is left belongs to the last intervals.
        let (least, most) = (reported().min()?, reported().max()?);
        let is_late = least < number;
        self.awaits_late = is_late && most >= number + self.late_max && !self.has_waited;
        if is_late && (self.awaits_late || most < number + self.late_max) {
            self.has_waited = false;
            return None;
        }
        let to = self.times.end_of(number).since(self.times.measured_from());
        self.show(number, to)
    }

    /// What was reported after the last interval; `None` when nothing is left. Every shard is over.
    pub(super) fn last_interval(&mut self) -> Option<ReadyInterval> {
        if let Some((number, row)) = self.late.pop_front() {
            return self.show_again(number, &row);
        }
        let (&last, _) = self.open.last_key_value()?;
        let number = self.last_of_next();
        let end = self.times.end_of(number).since(self.times.measured_from());
        if number < last {
            return self.show(number, end);
        }
        let to = self.ended_at.max(self.from + Nanos(1));
        let is_sliver = self.shown > 0 && (to - self.from).0 < self.times.interval.0 / SLIVER;
        if !is_sliver {
            return self.show(number, to);
        }
        let row = self.take_row(number);
        self.set_added(&row);
        let gauges = self.current.gauges();
        self.current.merge(&row.seen);
        // Shards that worked a moment longer were counted before.
        self.current.set_gauges(&gauges);
        self.from = to;
        self.add_to_total();
        let ready = ReadyInterval {
            number: self.count(),
            from: self.current_from,
            to,
            late: 0,
            is_update: true,
            is_current: true,
        };
        Some(ready)
    }

    pub(super) fn finish(mut self) -> Finished {
        let wall = self.ended_at.max(self.from);
        self.end_untold(wall);
        self.count_lost();
        // Exchanges in flight have ended, are incomplete, or are lost.
        self.total.clear_in_flight();
        let own = self.sources.into_iter().map(|source| source.spent).filter(|_| !self.is_remote);
        let shards = own.chain(self.parts.iter().flat_map(|part| part.shards.clone())).collect();
        let (total, apart) = self.total.into_parts();
        Finished {
            total,
            apart,
            wall,
            stopped_at: self.ends.iter().map(|end| end.stopped_at).max().unwrap_or(Nanos::ZERO),
            shards,
            ends: self.ends,
            parts: self.parts,
        }
    }

    fn set_added(&mut self, row: &Row) {
        self.added.clear();
        self.added.merge(&row.seen);
    }

    /// Adds what is new to the total, whose gauges are those of the latest interval.
    fn add_to_total(&mut self) {
        self.total.merge(&self.added);
        self.total.take_gauges(&self.current);
    }

    fn show(&mut self, number: u64, to: Nanos) -> Option<ReadyInterval> {
        let row = self.take_row(number);
        self.current.clear();
        self.current.merge(&row.seen);
        for (shard, gauges) in row.gauges {
            self.sources[shard].gauges = gauges;
        }
        let mut gauges = vec![(0, 0); self.timelines.len()];
        for source in &self.sources {
            gauges.iter_mut().zip(&source.gauges).for_each(|(sum, more)| *sum = (sum.0 + more.0, sum.1 + more.1));
        }
        #[cfg(test)]
        if strikes(Bug::GaugeAdded) {
            gauges[0].0 += self.total.all.gauges.users + 1;
        }
        self.current.set_gauges(&gauges);
        // A shard that is over has no users in later intervals.
        for source in self.sources.iter_mut().filter(|source| source.reported.is_none()) {
            source.gauges.fill((0, 0));
        }
        let is_missing = |source: &Source| source.reported.is_some_and(|reported| reported < number);
        let missing: Vec<usize> = (0..self.sources.len()).filter(|&shard| is_missing(&self.sources[shard])).collect();
        let first_missed: Vec<usize> = missing
            .iter()
            .copied()
            .filter(|&shard| self.is_remote || self.sources[shard].reported == Some(number - 1))
            .chain((0..self.sources.len()).filter(|&shard| self.sources[shard].is_silent))
            .collect();
        let from = std::mem::replace(&mut self.from, to);
        if self.is_remote {
            self.kept.retain(|shown, kept| *shown + KEPT_RECENT > number || !kept.missing.is_empty());
        }
        if self.is_remote || !first_missed.is_empty() {
            let seen = self.current.clone();
            let count = self.count() + 1;
            self.kept
                .insert(number, LateInterval { count, seen, from, to, missing: first_missed, late: missing.len() });
            if self.kept.len() > KEPT_MAX.max(self.sources.len()) {
                self.kept.pop_first();
            }
        }
        self.left_out += number - self.shown - 1;
        (self.current_from, self.shown) = (from, number);
        self.total.merge(&self.current);
        self.total.take_gauges(&self.current);
        let ready =
            ReadyInterval { number: self.count(), from, to, late: missing.len(), is_update: false, is_current: true };
        Some(ready)
    }

    fn show_again(&mut self, number: u64, row: &Row) -> Option<ReadyInterval> {
        let is_newest = number == self.shown;
        self.set_added(row);
        let kept = self.kept.get_mut(&number).expect("the first interval that a late shard has not told is kept");
        let has_reported = |shard: usize| match (&self.sources[shard], self.is_remote) {
            (source, true) => !source.is_silent && source.reported.is_none_or(|reported| reported >= number),
            (_, false) => row.gauges.iter().any(|(reported, _)| *reported == shard),
        };
        kept.missing.retain(|shard| !has_reported(*shard));
        let (gauges, late) = (kept.seen.gauges(), kept.late);
        kept.seen.merge(&row.seen);
        // Late shards were counted with their previous gauges.
        kept.seen.set_gauges(&gauges);
        let (count, from, to) = (kept.count, kept.from, kept.to);
        self.again.clone_from(&kept.seen);
        if kept.missing.is_empty() && !self.is_remote {
            self.kept.remove(&number);
        }
        for (shard, gauges) in &row.gauges {
            self.sources[*shard].gauges.clone_from(gauges);
        }
        if is_newest {
            self.current.merge(&row.seen);
            self.current.set_gauges(&gauges);
        }
        self.add_to_total();
        let ready = ReadyInterval { number: count, from, to, late, is_update: true, is_current: false };
        Some(ready)
    }

    /// Intervals shown so far.
    fn count(&self) -> u64 {
        self.shown - self.left_out
    }
}
