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
use crate::scene::ScenarioOutcome;
use crate::shard::ShardSnapshots;
#[cfg(test)]
use crate::swarm::mutants::{Bug, strikes};
use crate::times::{SLIVER, Times, longest};
use crate::usage::ThreadUsage;

/// An interval waits for a shard until others have told so many more.
const LATE_MAX: u64 = 2;
/// For those on other machines it waits so long at least.
const LATE_AFAR: Nanos = Nanos::from_millis(2_000);

/// What is known of one shard.
struct Source {
    /// The last interval that it told; `None` when it is over, or not waited for.
    reported: Option<u64>,
    /// Nobody waits for it, and it may still tell.
    is_silent: bool,
    /// Which scenarios it plays.
    scenarios: Vec<usize>,
    /// Those of them whose users waited for each other, and that are over.
    left: Vec<usize>,
    /// Those of the last interval that was shown.
    gauges: Gauges,
    spent: ThreadUsage,
    /// Until when that was told.
    since: Nanos,
    /// What it has begun and not ended, as far as it told, scenario by scenario; of those that may be lost.
    open: Vec<Open>,
}

/// What was told of one interval, so far.
struct Row {
    seen: Totals,
    /// The gauges of those who told it.
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

/// An interval that was told without a shard.
struct LateInterval {
    /// So many were told by then, this one included.
    count: u64,
    seen: Totals,
    from: Nanos,
    to: Nanos,
    /// Shards that may still tell of it.
    missing: Vec<usize>,
    /// Shards that had not told of it when it was shown.
    late: usize,
}

/// What all shards came to.
pub struct Finished {
    /// All that was seen.
    pub total: Snapshot,
    /// The same of each scenario, where there are several.
    pub apart: Vec<Snapshot>,
    /// From the start to the end of the last shard.
    pub wall: Nanos,
    /// From the start to the instant from which nothing was started any more.
    pub stopped_at: Nanos,
    /// What each shard spent.
    pub shards: Vec<ThreadUsage>,
    /// How each scenario ended.
    pub(crate) ends: Vec<ScenarioEnds>,
    /// How the parts ended that others carried out.
    pub(crate) parts: Vec<PartEnd>,
}

impl Finished {
    /// All that was seen of a scenario.
    pub fn total_of(&self, scenario: usize) -> &Snapshot {
        self.apart.get(scenario).unwrap_or(&self.total)
    }

    /// Without the CPU time that its shards took: where time is virtual, that is of another clock.
    pub(super) fn forget_cpu(&mut self) {
        for seen in std::iter::once(&mut self.total).chain(&mut self.apart) {
            (seen.cpu_ns, seen.run_delay_ns) = (0, 0);
        }
        for spent in &mut self.shards {
            (spent.cpu_ns, spent.run_delay_ns, spent.saturated_ns) = (0, 0, 0);
        }
    }
}

/// An interval that is to be told: what it is, and what of it is new.
pub(super) struct ReadyInterval {
    number: u64,
    from: Nanos,
    to: Nanos,
    late: usize,
    is_again: bool,
    /// It is the newest, not an earlier one.
    is_current: bool,
}

pub(super) struct Merger {
    ends: Vec<ScenarioEnds>,
    times: Times,
    timelines: Vec<Arc<Timeline>>,
    sources: Vec<Source>,
    /// Intervals that were told by some, and not shown.
    open: BTreeMap<u64, Row>,
    /// Intervals that were shown without somebody: at most one for each shard, since a shard that stands still tells the first only.
    kept: BTreeMap<u64, LateInterval>,
    /// What was told of intervals that had been shown.
    late: VecDeque<(u64, Row)>,
    returns: Vec<Sender<ShardSnapshots>>,
    /// The interval that was shown last.
    current: Totals,
    /// What is new of the one that is shown.
    added: Totals,
    /// An earlier interval that is shown again.
    again: Totals,
    total: Totals,
    from: Nanos,
    /// Where the interval that was shown last begins.
    current_from: Nanos,
    shown: u64,
    /// Intervals that are told as one with others, those that were: the intervals of a run are counted without them.
    joined: Vec<(u64, u64)>,
    left_out: u64,
    /// When the last shard was over, since the start.
    ended_at: Nanos,
    /// See [`Merger::awaits_late`].
    awaits_late: bool,
    has_waited: bool,
    /// What threads elsewhere spent, and what else the end of each part told.
    parts: Vec<PartEnd>,
    /// They are elsewhere, and may tell of many intervals that were shown without them.
    is_afar: bool,
    /// An interval waits for a late one until others have told so many more.
    late_max: u64,
}

impl Merger {
    /// `scenarios`: which each shard plays.
    pub(super) fn new(
        times: Times,
        timelines: Vec<Arc<Timeline>>,
        scenarios: Vec<Vec<usize>>,
        returns: Vec<Sender<ShardSnapshots>>,
        is_afar: bool,
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
            is_afar,
            late_max: if is_afar { LATE_MAX.max(LATE_AFAR.0.div_ceil(times.interval.0.max(1))) } else { LATE_MAX },
        }
    }

    /// Loads are others from some instant on.
    pub(super) fn change(&mut self, timelines: Vec<Arc<Timeline>>) {
        self.times.duration = longest(timelines.iter().map(|timeline| timeline.end()));
        self.timelines = timelines;
    }

    /// Shards that are not over.
    pub(super) fn running(&self) -> usize {
        self.sources.iter().filter(|source| source.reported.is_some()).count()
    }

    /// A shard plays a scenario, and neither is over.
    pub(super) fn is_playing(&self, shard: usize, scenario: usize) -> bool {
        let source = &self.sources[shard];
        source.reported.is_some() && source.scenarios.contains(&scenario) && !source.left.contains(&scenario)
    }

    /// A shard plays a scenario no more.
    pub(super) fn leave(&mut self, shard: usize, scenario: usize) {
        self.sources[shard].left.push(scenario);
    }

    /// A shard has told all up to the end of interval `upto`.
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

    /// What a shard saw goes to the first interval that it has not told.
    fn take(&mut self, shard: usize, at: Nanos, seen: &ShardSnapshots) {
        let source = &mut self.sources[shard];
        // The first scenario of a shard tells of its thread.
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
            // Of one that is too old to be shown again, the oldest that is not has what was missing.
            let place = self.kept.range(number..).next().map_or(self.shown + 1, |(number, _)| *number);
            if place > self.shown {
                self.open.entry(place).or_insert_with(|| Row::of(count)).seen.merge(&row.seen);
            } else {
                self.late.push_back((place, row));
            }
        }
    }

    /// An interval could be shown without those who are late, and they have a moment more.
    pub(super) fn awaits_late(&self) -> bool {
        self.awaits_late
    }

    /// They had their moment.
    pub(super) fn gives_up_waiting(&mut self) {
        (self.has_waited, self.awaits_late) = (true, false);
    }

    /// The next interval that is to be shown, or shown again; `None` while one is waited for.
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

    /// What was told after the last interval; `None` when nothing is left. Every shard is over.
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
        // Whoever worked a moment longer was counted before.
        self.current.set_gauges(&gauges);
        self.from = to;
        self.add_to_total();
        let ready = ReadyInterval {
            number: self.count(),
            from: self.current_from,
            to,
            late: 0,
            is_again: true,
            is_current: true,
        };
        Some(ready)
    }

    pub(super) fn finish(mut self) -> Finished {
        let wall = self.ended_at.max(self.from);
        self.end_untold(wall);
        self.count_lost();
        // Whatever was in flight has ended, was given up, or is lost.
        self.total.clear_in_flight();
        let own = self.sources.into_iter().map(|source| source.spent).filter(|_| !self.is_afar);
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

    /// What is new goes into the total, whose gauges are those of the latest interval.
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
        // One that is over has no users in later intervals.
        for source in self.sources.iter_mut().filter(|source| source.reported.is_none()) {
            source.gauges.fill((0, 0));
        }
        let is_missing = |source: &Source| source.reported.is_some_and(|reported| reported < number);
        let missing: Vec<usize> = (0..self.sources.len()).filter(|&shard| is_missing(&self.sources[shard])).collect();
        let first_missed: Vec<usize> = missing
            .iter()
            .copied()
            .filter(|&shard| self.is_afar || self.sources[shard].reported == Some(number - 1))
            .chain((0..self.sources.len()).filter(|&shard| self.sources[shard].is_silent))
            .collect();
        let from = std::mem::replace(&mut self.from, to);
        if self.is_afar {
            self.kept.retain(|shown, kept| *shown + KEPT_RECENT > number || !kept.missing.is_empty());
        }
        if self.is_afar || !first_missed.is_empty() {
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
            ReadyInterval { number: self.count(), from, to, late: missing.len(), is_again: false, is_current: true };
        Some(ready)
    }

    fn show_again(&mut self, number: u64, row: &Row) -> Option<ReadyInterval> {
        let is_newest = number == self.shown;
        self.set_added(row);
        let kept = self.kept.get_mut(&number).expect("the first interval that a late shard has not told is kept");
        let has_reported = |shard: usize| match (&self.sources[shard], self.is_afar) {
            (source, true) => !source.is_silent && source.reported.is_none_or(|reported| reported >= number),
            (_, false) => row.gauges.iter().any(|(reported, _)| *reported == shard),
        };
        kept.missing.retain(|shard| !has_reported(*shard));
        let (gauges, late) = (kept.seen.gauges(), kept.late);
        kept.seen.merge(&row.seen);
        // Those who were late were counted with what they had before.
        kept.seen.set_gauges(&gauges);
        let (count, from, to) = (kept.count, kept.from, kept.to);
        self.again.clone_from(&kept.seen);
        if kept.missing.is_empty() && !self.is_afar {
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
        let ready = ReadyInterval { number: count, from, to, late, is_again: true, is_current: false };
        Some(ready)
    }

    /// So many intervals were shown.
    fn count(&self) -> u64 {
        self.shown - self.left_out
    }
}
