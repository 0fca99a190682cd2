//! Merges what shards report into the intervals of a run.
//!
//! A report belongs to the first interval that its shard has not reported yet: a shard hands over before it does
//! anything new, so a report from before a stall belongs to the interval in which the stall began. An interval is
//! emitted when all shards have reported theirs, or when others are [`LATE_MAX`] further; the report of a late shard
//! is added when it arrives, and the interval is emitted again as an update.

mod owned;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use pacing::Nanos;

pub(crate) use owned::{OwnedInterval, Remark};

use crate::remote::WorkersSummary;
#[cfg(test)]
use crate::swarm::mutants::{Bug, fault_injected};
use crate::times::{SLIVER, Times};

/// An interval waits for a shard until others have reported this many more.
const LATE_MAX: u64 = 2;
/// For remote workers it waits at least this long.
const LATE_REMOTE: Nanos = Nanos::from_millis(2_000);
/// Reports that follow each other within this time belong to one moment.
const LATE_WAIT: Duration = Duration::from_millis(50);
/// Most intervals that may be updated by late remote reports: more than the longest silence after which nothing is lost
/// has.
const KEPT_MAX: usize = 128;
/// The latest intervals that may be updated whichever partitions were there: a partition not known yet may have begun
/// in them.
const KEPT_RECENT: u64 = 10;

/// What is summed: counts and times that add over shards and over time, and gauges that add over shards only.
pub(crate) trait Sums: Clone {
    /// Gauges of one instant.
    type Gauges: Clone;

    /// Adds the counts and times of another.
    fn merge(&mut self, other: &Self);

    /// Resets everything and keeps the memory.
    fn clear(&mut self);

    fn gauges(&self) -> Self::Gauges;

    fn set_gauges(&mut self, gauges: &Self::Gauges);

    /// Adds the gauges of another shard.
    fn add_gauges(sum: &mut Self::Gauges, more: &Self::Gauges);

    /// Leaves of the gauges of a shard what holds when it is over, too.
    fn end_gauges(gauges: &mut Self::Gauges);

    /// Takes the gauges of `now`.
    fn take_gauges(&mut self, now: &Self) {
        self.set_gauges(&now.gauges());
    }
}

/// State of one shard.
struct Source<G> {
    /// The last interval that it reported; `None` when it is over, or not waited for.
    reported: Option<u64>,
    /// It is not waited for, and may still report.
    is_silent: bool,
    /// Gauges of the last interval that was shown.
    gauges: G,
}

/// The reports for one interval so far.
struct Reports<S: Sums> {
    seen: S,
    /// The gauges of the shards that reported it.
    gauges: Vec<(usize, S::Gauges)>,
}

/// An interval that was emitted without a shard.
struct LateInterval<S> {
    /// Intervals emitted by then, this one included.
    count: u64,
    seen: S,
    from: Nanos,
    to: Nanos,
    /// Shards that may still report it.
    missing: Vec<usize>,
    /// Shards that had not reported it when it was shown.
    late: usize,
}

/// An interval to emit: its span, and what of it is new.
#[derive(Clone, Debug)]
pub(crate) struct ReadyInterval {
    pub(crate) number: u64,
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    pub(crate) late: usize,
    pub(crate) is_update: bool,
    /// It is the newest one, not an update of an earlier one.
    pub(crate) is_current: bool,
}

pub(crate) struct IntervalMerger<S: Sums> {
    pub(crate) times: Times,
    /// Nothing at all.
    none: S,
    sources: Vec<Source<S::Gauges>>,
    /// Intervals that some shards reported, and that were not shown.
    open: BTreeMap<u64, Reports<S>>,
    /// Intervals that were shown without a shard: at most one for each shard, since a stalled shard reports only the
    /// first.
    kept: BTreeMap<u64, LateInterval<S>>,
    /// Late reports of intervals that had been shown.
    late: VecDeque<(u64, Reports<S>)>,
    /// Sum of the interval that was shown last.
    current: S,
    /// The new part of the interval that is shown.
    added: S,
    /// An earlier interval of which an update is shown.
    again: S,
    total: S,
    from: Nanos,
    /// The beginning of the interval that was shown last.
    current_from: Nanos,
    shown: u64,
    /// Merged intervals: those that were reported as one with others. The intervals of a run are counted without them.
    joined: Vec<(u64, u64)>,
    left_out: u64,
    /// When the last shard was over, since the start.
    ended_at: Nanos,
    /// An interval could be shown without the late shards, which get a moment more.
    awaits_late: bool,
    has_waited: bool,
    /// Since when it awaits them.
    waiting_since: Option<Nanos>,
    /// All shards have ended without a report.
    pub(crate) is_lost: bool,
    /// Summary of the workers, once all is over there.
    pub(crate) workers_summary: Option<WorkersSummary>,
    /// The shards are remote, and may report many intervals that were shown without them.
    is_remote: bool,
    /// An interval waits for a late shard until others have reported this many more.
    late_max: u64,
}

impl<S: Sums> IntervalMerger<S> {
    /// `none`: the sums of nothing.
    pub(crate) fn new(times: Times, none: S, shards: usize, is_remote: bool) -> Self {
        let before = times.intervals_before();
        let begin = Nanos(times.interval.0 * before);
        let remote_max = LATE_MAX.max(LATE_REMOTE.0.div_ceil(times.interval.0.max(1)));
        let source = || Source { reported: Some(before), is_silent: false, gauges: none.gauges() };
        Self {
            times,
            sources: (0..shards).map(|_| source()).collect(),
            open: BTreeMap::new(),
            kept: BTreeMap::new(),
            late: VecDeque::new(),
            current: none.clone(),
            added: none.clone(),
            again: none.clone(),
            total: none.clone(),
            none,
            from: begin,
            current_from: begin,
            shown: before,
            joined: Vec::new(),
            left_out: 0,
            ended_at: Nanos::ZERO,
            awaits_late: false,
            has_waited: false,
            waiting_since: None,
            is_lost: false,
            workers_summary: None,
            is_remote,
            late_max: if is_remote { remote_max } else { LATE_MAX },
        }
    }

    /// Some shard will still report.
    pub(crate) fn is_waiting(&self) -> bool {
        let is_running = || self.sources.iter().any(|source| source.reported.is_some());
        let is_on = if self.is_remote { self.workers_summary.is_none() } else { is_running() };
        is_on && !self.is_lost
    }

    /// The next interval to show while shards report, or what is left when none does any more.
    pub(crate) fn next(&mut self, is_waiting: bool) -> Option<ReadyInterval> {
        if is_waiting { self.next_interval() } else { self.last_interval() }
    }

    /// A shard is not over, and waited for.
    pub(crate) fn is_on(&self, shard: usize) -> bool {
        self.sources[shard].reported.is_some()
    }

    /// A remote partition may still report.
    pub(crate) fn is_silent(&self, part: usize) -> bool {
        self.sources[part].is_silent
    }

    /// A remote partition begins to report, from the first interval that was not shown.
    pub(crate) fn join(&mut self) {
        let gauges = self.none.gauges();
        self.sources.push(Source { reported: Some(self.shown), is_silent: false, gauges });
    }

    /// A shard reports what `add` adds, and has reported everything up to the end of interval `upto`; without one, it
    /// is over.
    pub(crate) fn report(&mut self, shard: usize, upto: Option<u64>, gauges: S::Gauges, add: impl FnOnce(&mut S)) {
        let number = self.sources[shard].reported.map_or(self.shown + 1, |reported| reported + 1);
        self.place(shard, number, gauges, add);
        self.sources[shard].reported = upto;
    }

    /// A remote partition reports an interval, or several as one, and has reported everything up to the end of `upto`.
    pub(crate) fn report_remote(
        &mut self,
        part: usize,
        ((first, number), upto): ((u64, u64), u64),
        gauges: S::Gauges,
        add: impl FnOnce(&mut S),
    ) {
        let source = &mut self.sources[part];
        source.reported = source.reported.map(|reported| reported.max(upto));
        if first < number && number > self.shown {
            self.joined.push((first.max(self.shown + 1), number));
        }
        self.place(part, number, gauges, add);
    }

    /// The reports of a remote partition are not waited for.
    pub(crate) fn go_silent(&mut self, part: usize) {
        (self.sources[part].reported, self.sources[part].is_silent) = (None, true);
    }

    /// A remote partition is over.
    pub(crate) fn part_over(&mut self, part: usize) {
        let source = &mut self.sources[part];
        source.reported = None;
        if std::mem::take(&mut source.is_silent) {
            source.gauges = self.none.gauges();
        }
    }

    /// A shard was over at this time since the start.
    pub(crate) fn ended_at(&mut self, at: Nanos) {
        self.ended_at = self.ended_at.max(at);
    }

    /// Adds a report to an interval.
    fn place(&mut self, shard: usize, number: u64, gauges: S::Gauges, add: impl FnOnce(&mut S)) {
        #[cfg(test)]
        let number = if fault_injected(Bug::LateSnapshotLast) { self.shown + 1 } else { number };
        let nothing = || Reports { seen: self.none.clone(), gauges: Vec::new() };
        let is_late = number <= self.shown;
        // Missing data of an interval too old for an update goes to the oldest that is not.
        let oldest = || self.kept.range(number..).next().map_or(self.shown + 1, |(number, _)| *number);
        let place = if is_late { oldest() } else { number };
        if place <= self.shown {
            let mut row = nothing();
            add(&mut row.seen);
            row.gauges.push((shard, gauges));
            self.late.push_back((place, row));
        } else {
            let row = self.open.entry(place).or_insert_with(nothing);
            add(&mut row.seen);
            row.gauges.extend((!is_late).then_some((shard, gauges)));
        }
    }

    /// How long late shards get until an interval is shown without them; `None` while none could be.
    pub(crate) fn patience(&mut self, now: Nanos) -> Option<Duration> {
        if !self.awaits_late {
            self.waiting_since = None;
            return None;
        }
        let since = *self.waiting_since.get_or_insert(now);
        Some(LATE_WAIT.saturating_sub(now.since(since).as_duration()))
    }

    /// No report came by now.
    pub(crate) fn on_timeout(&mut self, now: Nanos) {
        if self.waiting_since.is_some_and(|since| now.since(since).as_duration() >= LATE_WAIT) {
            self.gives_up_waiting();
        }
    }

    /// The moment for late shards is over.
    pub(crate) fn gives_up_waiting(&mut self) {
        (self.has_waited, self.awaits_late) = (true, false);
    }

    /// The next interval to show, new or updated; `None` while one is waited for.
    fn next_interval(&mut self) -> Option<ReadyInterval> {
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
    fn last_interval(&mut self) -> Option<ReadyInterval> {
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
        let (number, from) = (self.count(), self.current_from);
        Some(ReadyInterval { number, from, to, late: 0, is_update: true, is_current: true })
    }

    /// The sums of a ready interval, and what of them is new.
    pub(crate) fn sums(&self, ready: &ReadyInterval) -> (&S, &S) {
        let seen = if ready.is_current { &self.current } else { &self.again };
        (seen, if ready.is_update { &self.added } else { &self.current })
    }

    /// Everything since the start.
    pub(crate) fn total(&self) -> &S {
        &self.total
    }

    /// From the start to the end of the last shard, or of the last interval.
    pub(crate) fn wall(&self) -> Nanos {
        self.ended_at.max(self.from)
    }

    pub(crate) fn into_total(self) -> S {
        self.total
    }

    fn set_added(&mut self, row: &Reports<S>) {
        self.added.clear();
        self.added.merge(&row.seen);
    }

    /// Adds what is new to the total, whose gauges are those of the latest interval.
    fn add_to_total(&mut self) {
        self.total.merge(&self.added);
        self.total.take_gauges(&self.current);
    }

    /// The last of the intervals that are emitted as one, from the next on; the next itself, when there are no others.
    fn last_of_next(&self) -> u64 {
        let mut last = self.shown + 1;
        while let Some((_, end)) = self.joined.iter().find(|(first, end)| *first <= last && *end > last) {
            last = *end;
        }
        last
    }

    /// Takes the reports of the intervals up to this one that were not shown.
    fn take_row(&mut self, number: u64) -> Reports<S> {
        let later = self.open.split_off(&(number + 1));
        let mut rows = std::mem::replace(&mut self.open, later).into_values();
        let mut row = rows.next().unwrap_or_else(|| Reports { seen: self.none.clone(), gauges: Vec::new() });
        for other in rows {
            row.seen.merge(&other.seen);
            row.gauges.extend(other.gauges);
        }
        self.joined.retain(|(_, end)| *end > number);
        row
    }

    /// Takes the gauges of the shards that reported a new interval; the sum of all shards.
    fn gauges_with(&mut self, reported: Vec<(usize, S::Gauges)>) -> S::Gauges {
        let none = self.none.gauges();
        // What a silent partition has is unknown.
        self.sources.iter_mut().filter(|source| source.is_silent).for_each(|source| source.gauges.clone_from(&none));
        for (shard, gauges) in reported {
            self.sources[shard].gauges = gauges;
        }
        let mut sum = none.clone();
        self.sources.iter().for_each(|source| S::add_gauges(&mut sum, &source.gauges));
        #[cfg(test)]
        if fault_injected(Bug::GaugeAdded) {
            S::add_gauges(&mut sum, &self.total.gauges());
        }
        // A shard that is over has no users in later intervals.
        for source in self.sources.iter_mut().filter(|source| source.reported.is_none()) {
            S::end_gauges(&mut source.gauges);
        }
        sum
    }

    fn show(&mut self, number: u64, to: Nanos) -> Option<ReadyInterval> {
        let row = self.take_row(number);
        self.current.clear();
        self.current.merge(&row.seen);
        let gauges = self.gauges_with(row.gauges);
        self.current.set_gauges(&gauges);
        let is_missing = |source: &Source<_>| source.reported.is_some_and(|reported| reported < number);
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
        let (number, late) = (self.count(), missing.len());
        Some(ReadyInterval { number, from, to, late, is_update: false, is_current: true })
    }

    fn show_again(&mut self, number: u64, row: &Reports<S>) -> Option<ReadyInterval> {
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
        Some(ReadyInterval { number: count, from, to, late, is_update: true, is_current: false })
    }

    /// Intervals shown so far.
    fn count(&self) -> u64 {
        self.shown - self.left_out
    }
}
