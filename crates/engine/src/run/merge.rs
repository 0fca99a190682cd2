//! From the snapshots of the shards to the intervals of the run.
//!
//! A snapshot belongs to the first interval that its shard has not told yet: a shard hands over before it does anything new, so what it
//! saw before a stall is of the interval in which the stall began. An interval is told when all shards have told theirs, or when
//! others are [`LATE_MAX`] further; what a late one has seen is added then, and the interval told again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Timeline;

use super::Interval;
use crate::shard::{Backlog, Times};
use crate::spent::ShardUse;
#[cfg(test)]
use crate::swarm::plant::{Bug, strikes};

/// An interval waits for a shard until others have told so many more.
const LATE_MAX: u64 = 2;
/// A last interval that is shorter than this part of one belongs to the one before it: its rates would be those of a moment.
const SLIVER: u64 = 10;

/// What is known of one shard.
struct Source {
    /// The last interval that it told; `None` when it is over.
    told: Option<u64>,
    /// Users and open connections at the end of the last interval that was shown.
    gauges: (u64, u64),
    spent: ShardUse,
    /// Until when that was told.
    since: Nanos,
}

/// What was told of one interval, so far.
#[derive(Default)]
struct Row {
    seen: Snapshot,
    /// Users and open connections of those who told it.
    gauges: Vec<(usize, (u64, u64))>,
}

/// An interval that was told without a shard.
struct Kept {
    seen: Snapshot,
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
    /// From the start to the end of the last shard.
    pub wall: Nanos,
    /// From the start to the instant from which nothing was started any more.
    pub stopped_at: Nanos,
    /// What each shard spent.
    pub shards: Vec<ShardUse>,
    /// What was started and not ended; of a plan that came to its end.
    pub(crate) backlog: Option<Backlog>,
}

/// An interval that is to be told: what it is, and what of it is new.
pub(super) struct Ready {
    number: u64,
    from: Nanos,
    to: Nanos,
    late: usize,
    is_again: bool,
    /// It is the newest, not an earlier one.
    is_current: bool,
}

pub(super) struct Merger {
    backlog: Option<Backlog>,
    times: Times,
    timeline: Arc<Timeline>,
    sources: Vec<Source>,
    /// Intervals that were told by some, and not shown.
    open: BTreeMap<u64, Row>,
    /// Intervals that were shown without somebody: at most one for each shard, since a shard that stands still tells the first only.
    kept: BTreeMap<u64, Kept>,
    /// What was told of intervals that had been shown.
    late: VecDeque<(u64, Row)>,
    returns: Vec<Sender<Box<Snapshot>>>,
    /// The interval that was shown last.
    current: Snapshot,
    /// What is new of the one that is shown.
    added: Snapshot,
    /// An earlier interval that is shown again.
    again: Snapshot,
    total: Snapshot,
    from: Nanos,
    /// Where the interval that was shown last begins.
    current_from: Nanos,
    shown: u64,
    /// When the last shard stopped starting, and when the last was over, since the start.
    stopped_at: Nanos,
    ended_at: Nanos,
    /// See [`Merger::awaits_late`].
    awaits_late: bool,
    has_waited: bool,
}

impl Merger {
    pub(super) fn new(times: Times, timeline: Arc<Timeline>, returns: Vec<Sender<Box<Snapshot>>>) -> Self {
        let shards = returns.len();
        let source =
            || Source { told: Some(0), gauges: (0, 0), spent: ShardUse::default(), since: times.measured_from() };
        Self {
            times,
            timeline,
            backlog: Some(Backlog::default()),
            sources: (0..shards).map(|_| source()).collect(),
            open: BTreeMap::new(),
            kept: BTreeMap::new(),
            late: VecDeque::new(),
            returns,
            current: Snapshot::default(),
            added: Snapshot::default(),
            again: Snapshot::default(),
            total: Snapshot::default(),
            from: Nanos::ZERO,
            current_from: Nanos::ZERO,
            shown: 0,
            stopped_at: Nanos::ZERO,
            ended_at: Nanos::ZERO,
            awaits_late: false,
            has_waited: false,
        }
    }

    /// The load is another from some instant on.
    pub(super) fn change(&mut self, timeline: Arc<Timeline>) {
        self.times.duration = timeline.end();
        self.timeline = timeline;
    }

    /// Shards that are not over.
    pub(super) fn running(&self) -> usize {
        self.sources.iter().filter(|source| source.told.is_some()).count()
    }

    pub(super) fn is_running(&self, shard: usize) -> bool {
        self.sources[shard].told.is_some()
    }

    /// A shard has told all up to the end of interval `upto`.
    pub(super) fn interval(&mut self, shard: usize, upto: u64, at: Nanos, mut seen: Box<Snapshot>) {
        self.take(shard, at, &seen);
        self.sources[shard].told = Some(upto);
        seen.clear();
        // A shard that is over needs no snapshot any more.
        let _ = self.returns[shard].send(seen);
    }

    pub(super) fn over(
        &mut self,
        shard: usize,
        at: Nanos,
        stopped_at: Nanos,
        backlog: Option<Backlog>,
        seen: &Snapshot,
    ) {
        self.backlog = self
            .backlog
            .zip(backlog)
            .map(|(sum, more)| Backlog { halfway: sum.halfway + more.halfway, at_end: sum.at_end + more.at_end });
        let started = self.times.measured_from();
        self.stopped_at = self.stopped_at.max(stopped_at.since(started));
        self.ended_at = self.ended_at.max(at.since(started));
        self.take(shard, at, seen);
        self.sources[shard].told = None;
    }

    /// What a shard saw goes to the first interval that it has not told.
    fn take(&mut self, shard: usize, at: Nanos, seen: &Snapshot) {
        let source = &mut self.sources[shard];
        source.spent.add(at.since(source.since), seen);
        source.since = at;
        let number = source.told.map_or(self.shown + 1, |told| told + 1);
        let gauges = (seen.users, seen.connections_open);
        #[cfg(test)]
        let number = if strikes(Bug::LateSnapshotLast) { self.shown + 1 } else { number };
        if number > self.shown {
            let row = self.open.entry(number).or_default();
            row.seen.merge(seen);
            row.gauges.push((shard, gauges));
        } else {
            let mut row = Row::default();
            row.seen.merge(seen);
            row.gauges.push((shard, gauges));
            self.late.push_back((number, row));
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
    pub(super) fn next_interval(&mut self) -> Option<Ready> {
        if let Some((number, row)) = self.late.pop_front() {
            return self.show_again(number, &row);
        }
        let number = self.shown + 1;
        let told = || self.sources.iter().filter_map(|source| source.told);
        // When all are over, what is left belongs to the last intervals.
        let (least, most) = (told().min()?, told().max()?);
        let is_late = least < number;
        self.awaits_late = is_late && most >= number + LATE_MAX && !self.has_waited;
        if is_late && (self.awaits_late || most < number + LATE_MAX) {
            self.has_waited = false;
            return None;
        }
        let to = self.times.end_of(number).since(self.times.measured_from());
        self.show(number, to)
    }

    /// What was told after the last interval; `None` when nothing is left. Every shard is over.
    pub(super) fn last_interval(&mut self) -> Option<Ready> {
        if let Some((number, row)) = self.late.pop_front() {
            return self.show_again(number, &row);
        }
        let (&last, _) = self.open.last_key_value()?;
        let number = self.shown + 1;
        let end = self.times.end_of(number).since(self.times.measured_from());
        if number < last {
            return self.show(number, end);
        }
        let to = self.ended_at.max(self.from + Nanos(1));
        let is_sliver = self.shown > 0 && (to - self.from).0 < self.times.interval.0 / SLIVER;
        if !is_sliver {
            return self.show(number, to);
        }
        let row = self.open.remove(&number).unwrap_or_default();
        self.set_added(&row);
        let gauges = (self.current.users, self.current.connections_open);
        self.current.merge(&row.seen);
        // Whoever worked a moment longer was counted before.
        (self.current.users, self.current.connections_open) = gauges;
        self.from = to;
        self.add_to_total();
        let ready =
            Ready { number: self.shown, from: self.current_from, to, late: 0, is_again: true, is_current: true };
        Some(ready)
    }

    pub(super) fn finish(mut self) -> Finished {
        // Whatever was in flight has ended, or was given up.
        self.total.in_flight.clear();
        let shards = self.sources.into_iter().map(|source| source.spent).collect();
        Finished {
            total: self.total,
            wall: self.ended_at.max(self.from),
            stopped_at: self.stopped_at,
            shards,
            backlog: self.backlog,
        }
    }

    fn set_added(&mut self, row: &Row) {
        self.added.clear();
        self.added.merge(&row.seen);
    }

    /// What is new goes into the total, whose gauges are those of the latest interval.
    fn add_to_total(&mut self) {
        self.total.merge(&self.added);
        self.total.set_gauges(&self.current);
    }

    fn show(&mut self, number: u64, to: Nanos) -> Option<Ready> {
        let row = self.open.remove(&number).unwrap_or_default();
        self.current.clear();
        self.current.merge(&row.seen);
        for (shard, gauges) in &row.gauges {
            self.sources[*shard].gauges = *gauges;
        }
        let sum = |of: fn(&(u64, u64)) -> u64| self.sources.iter().map(|source| of(&source.gauges)).sum::<u64>();
        let (users, open) = (sum(|gauges| gauges.0), sum(|gauges| gauges.1));
        #[cfg(test)]
        let users = users + if strikes(Bug::GaugeAdded) { self.total.users + 1 } else { 0 };
        (self.current.users, self.current.connections_open) = (users, open);
        // One that is over has no users in later intervals.
        for source in self.sources.iter_mut().filter(|source| source.told.is_none()) {
            source.gauges = (0, 0);
        }
        let is_missing = |source: &Source| source.told.is_some_and(|told| told < number);
        let missing: Vec<usize> = (0..self.sources.len()).filter(|&shard| is_missing(&self.sources[shard])).collect();
        let first_missed: Vec<usize> =
            missing.iter().copied().filter(|&shard| self.sources[shard].told == Some(number - 1)).collect();
        let from = std::mem::replace(&mut self.from, to);
        if !first_missed.is_empty() {
            let seen = self.current.clone();
            self.kept.insert(number, Kept { seen, from, to, missing: first_missed, late: missing.len() });
        }
        (self.current_from, self.shown) = (from, number);
        self.total.merge(&self.current);
        self.total.set_gauges(&self.current);
        let ready = Ready { number, from, to, late: missing.len(), is_again: false, is_current: true };
        Some(ready)
    }

    fn show_again(&mut self, number: u64, row: &Row) -> Option<Ready> {
        let is_newest = number == self.shown;
        self.set_added(row);
        let (users, open) = (self.added.users, self.added.connections_open);
        let kept = self.kept.get_mut(&number).expect("the first interval that a late shard has not told is kept");
        kept.missing.retain(|shard| row.gauges.iter().all(|(told, _)| told != shard));
        let (gauges, late) = ((kept.seen.users, kept.seen.connections_open), kept.late);
        kept.seen.merge(&row.seen);
        // Those who were late were counted with what they had before.
        (kept.seen.users, kept.seen.connections_open) = gauges;
        let (from, to) = (kept.from, kept.to);
        self.again.clone_from(&kept.seen);
        if kept.missing.is_empty() {
            self.kept.remove(&number);
        }
        for (shard, _) in &row.gauges {
            self.sources[*shard].gauges = (users, open);
        }
        if is_newest {
            self.current.merge(&row.seen);
            (self.current.users, self.current.connections_open) = gauges;
        }
        self.add_to_total();
        let ready = Ready { number, from, to, late, is_again: true, is_current: false };
        Some(ready)
    }

    /// An interval that is ready, with what is known of it.
    pub(super) fn told_as(&self, ready: &Ready) -> Interval<'_> {
        Interval {
            number: ready.number,
            from: ready.from,
            to: ready.to,
            paused: self.timeline.paused_between(ready.from, ready.to),
            late_shards: ready.late,
            is_again: ready.is_again,
            seen: if ready.is_current { &self.current } else { &self.again },
            added: if ready.is_again { &self.added } else { &self.current },
            total: &self.total,
        }
    }
}
