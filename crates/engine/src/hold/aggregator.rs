//! Aggregation of the reports of the shards: rows, totals, and the orders to the shards.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use driver::Clock;
use host::KernelMemory;
use metrics::{Distribution, Held, HeldCounters, HeldNow};
use pacing::Nanos;
use plan::Hold;

use memory::AtRest;
use steady::Window;

use super::parts::{HoldEnd, PartMemory};
use super::remote::HoldUpdate;
use super::shard::Report;
use super::{HoldInterval, KeptHold, MemoryUse, Orders, StoppedOpening};
use crate::remote::WorkersSummary;
use crate::run_loop::Aggregator;
use crate::{RunError, StopHandle};

mod memory;
mod steady;
#[cfg(test)]
mod tests;

/// The interval reached by a shard that is over: all of them.
const OVER: u64 = u64::MAX;
/// A shard that is further ahead than this many intervals waits for no other: unreported data of the others would pile
/// up.
const AHEAD_MAX: u64 = 2;
/// Most rows of remote partitions to which late reports are still added.
const KEPT_MAX: usize = 64;
/// Partitions that close this much earlier than all of them close on their own.
const EARLY: Nanos = Nanos::from_millis(500);
/// How often memory is checked while connections are opened.
const MEMORY_EVERY: Duration = Duration::from_millis(100);

/// Fixed settings of an aggregator.
pub(super) struct AggregatorSetup {
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) plan: Arc<Hold>,
    pub(super) stop: StopHandle,
    pub(super) orders: Arc<Orders>,
    /// Memory before the first connection: of this process, and of the kernel.
    pub(super) before: (u64, Option<KernelMemory>),
    pub(super) place: Where,
}

/// Where the connections are, and who is notified.
#[derive(Clone)]
pub(super) enum Where {
    /// All of them are here.
    Here,
    /// A partition of them, with a listener.
    Partition(Sender<HoldUpdate>),
    /// Remote workers hold the partitions, on other machines or in other processes.
    Remote,
}

/// Reports of one shard.
#[derive(Clone, Default)]
struct ShardProgress {
    /// Reported data that was not shown yet, each with the number of intervals it covers.
    reported: VecDeque<(u64, Box<Held>)>,
    /// The end of the last of its intervals that were merged.
    added: u64,
    /// The state of its connections then.
    standing: HeldNow,
}

/// A row that was shown without a shard that may still report it: at most one for each shard, since a stalled shard
/// reports from the first interval that it missed.
struct LateRow {
    number: u64,
    /// Intervals before the row, and up to its end.
    from: u64,
    upto: u64,
    began: Nanos,
    seen: Held,
    /// The part of it that was not reported.
    added: Held,
    is_changed: bool,
}

/// A row that is ready to be reported.
pub(super) struct ReadyRow {
    number: u64,
    /// For an update, the index of the stored row.
    again: Option<usize>,
    from: Nanos,
    to: Nanos,
    memory: MemoryUse,
}

/// A row that comes after pending updates.
struct Next {
    seen: Held,
    to: Nanos,
    /// Intervals before the row, and up to its end; `None` for the last row.
    span: Option<(u64, u64)>,
}

/// The aggregator of the reports of the shards.
pub(super) struct HoldAggregator {
    setting: AggregatorSetup,
    pub(super) shards: usize,
    reserve: u64,
    /// Fluctuation of kernel memory while no connection opens or closes.
    rest: AtRest,
    reported: Vec<ShardProgress>,
    /// To each shard, one message for each interval that was taken.
    taken: Vec<Sender<()>>,
    reached: Vec<u64>,
    /// How late the loop of each shard was.
    pub(super) lags: Vec<Distribution>,
    /// Intervals shown so far, merged into rows.
    shown: u64,
    rows: u64,
    kept: Vec<LateRow>,
    next: Option<Next>,
    /// The last reported row, updates aside.
    current: Held,
    /// True once data recorded after the last common interval has been emitted.
    has_ended: bool,
    /// All shards have ended without a report.
    is_lost: bool,
    pub(super) total: Held,
    pub(super) shown_to: Nanos,
    pub(super) opened: Vec<HeldNow>,
    pub(super) opened_after: Option<Nanos>,
    pub(super) closing: Vec<HeldNow>,
    pub(super) closing_after: Option<Nanos>,
    pub(super) most_open: u64,
    pub(super) memory: MemoryUse,
    pub(super) stopped_opening: Option<StoppedOpening>,
    over: usize,
    /// Remote partitions: their memory, and how they ended.
    parts: Vec<PartMemory>,
    pub(super) ends: Vec<HoldEnd>,
    pub(super) workers_summary: Option<WorkersSummary>,
    /// Lost partitions, and of them those that had not tried all connections.
    lost: Vec<bool>,
    has_opened: Vec<bool>,
    /// Of each shard, what it counted while its connections were held.
    steady: Vec<Window>,
    pub(super) failure: Option<RunError>,
}

impl HoldAggregator {
    pub(super) fn new(setting: AggregatorSetup, taken: Vec<Sender<()>>) -> Self {
        let shards = taken.len();
        Self::of(setting, shards, taken)
    }

    /// An aggregator of a number of shards, or of remote partitions.
    pub(super) fn of(setting: AggregatorSetup, shards: usize, taken: Vec<Sender<()>>) -> Self {
        Self {
            taken,
            setting,
            shards,
            reserve: memory::reserve(),
            rest: AtRest::default(),
            reported: vec![ShardProgress::default(); shards],
            reached: vec![0; shards],
            lags: vec![Distribution::default(); shards],
            shown: 0,
            rows: 0,
            kept: Vec::new(),
            next: None,
            current: Held::default(),
            has_ended: false,
            is_lost: false,
            total: Held::default(),
            shown_to: Nanos::ZERO,
            opened: Vec::new(),
            opened_after: None,
            closing: Vec::new(),
            closing_after: None,
            most_open: 0,
            memory: MemoryUse::default(),
            stopped_opening: None,
            over: 0,
            parts: vec![PartMemory::default(); shards],
            ends: Vec::new(),
            workers_summary: None,
            lost: vec![false; shards],
            has_opened: vec![false; shards],
            steady: vec![Window::default(); shards],
            failure: None,
        }
    }

    /// The interval of a row that is ready.
    pub(super) fn interval(&self, ready: &ReadyRow) -> HoldInterval<'_> {
        let kept = ready.again.map(|place| &self.kept[place]);
        let (seen, added) = kept.map_or((&self.current, &self.current), |kept| (&kept.seen, &kept.added));
        let (number, from, to, memory) = (ready.number, ready.from, ready.to, ready.memory);
        HoldInterval { number, is_update: kept.is_some(), from, to, seen, added, total: &self.total, memory }
    }

    /// An owned copy of it, for subscribers that take it later.
    fn kept(&self, ready: &ReadyRow) -> KeptHold {
        let HoldInterval { number, is_update, from, to, seen, added, total, memory } = self.interval(ready);
        let (seen, added, total) = (seen.clone(), added.clone(), total.clone());
        KeptHold { number, is_update, from, to, seen, added, total, memory }
    }

    /// Ends the aggregation.
    pub(super) fn finish(mut self) -> Result<Self, RunError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if let Some(stopped) = &mut self.stopped_opening {
            stopped.tried = self.total.counts.tried();
        }
        // By now more is known of the machine than at the last check.
        if !self.is_remote() {
            self.memory.kernel = self.rest.reported(self.memory.kernel);
        }
        Ok(self)
    }

    /// Closes the finished intervals as a row: for all shards, or for one that is far ahead of stalled ones. False when
    /// there are none.
    fn close_row(&mut self) -> bool {
        // A silent partition is not waited for, though it may still report.
        let received = self.reached.iter().zip(&self.lost).filter(|(_, is_lost)| !**is_lost);
        let least = received.map(|(reached, _)| *reached).min().unwrap_or(0);
        let furthest = self.reached.iter().copied().filter(|reached| *reached < OVER).max().unwrap_or(0);
        let upto = least.max(furthest.saturating_sub(AHEAD_MAX));
        let is_due = upto > self.shown && upto < OVER;
        if is_due {
            let seen = self.reported_up_to(upto);
            let from = std::mem::replace(&mut self.shown, upto);
            self.next = Some(Next { seen, to: self.end_of(upto), span: Some((from, upto)) });
        }
        is_due
    }

    /// Closes the row of what the shards saw since the last common interval. False when that was reported.
    fn close_last_row(&mut self) -> bool {
        if std::mem::replace(&mut self.has_ended, true) {
            return false;
        }
        let (seen, to) = (self.reported_up_to(OVER), self.setting.clock.now().since(self.setting.started));
        if self.failure.is_none() && to > self.shown_to {
            self.next = Some(Next { seen, to, span: None });
        }
        true
    }

    /// What was counted while connections were held, and in what time, for each shard in which that has a whole interval.
    pub(super) fn steady(&self) -> Vec<(HeldCounters, Nanos)> {
        self.steady.iter().filter_map(|window| window.reported(self.end_of(1))).collect()
    }

    /// When the closing begins, as far as it is known.
    fn closing_at(&self) -> Nanos {
        let AggregatorSetup { orders, started, .. } = &self.setting;
        self.closing_after.unwrap_or(Nanos::NEVER).min(orders.end_at().since(*started))
    }

    fn end_of(&self, interval: u64) -> Nanos {
        Nanos(Nanos::from(self.setting.plan.interval).0 * interval)
    }

    /// The next row that a late report has completed; rows that no shard will complete any more are dropped.
    fn show_again(&mut self) -> Option<ReadyRow> {
        let (reported, is_remote) = (&self.reported, self.is_remote());
        let is_missed =
            |kept: &LateRow| reported.iter().any(|reporter| is_missing(is_remote, reporter, kept.from, kept.upto));
        self.kept.retain(|kept| kept.is_changed || is_missed(kept));
        let too_many = self.kept.len().saturating_sub(KEPT_MAX);
        self.kept.drain(..too_many);
        let place = self.kept.iter().position(|kept| kept.is_changed)?;
        self.kept[place].is_changed = false;
        let kept = &self.kept[place];
        let (number, from, to) = (kept.number, kept.began, self.end_of(kept.upto));
        Some(ReadyRow { number, again: Some(place), from, to, memory: self.memory_now() })
    }

    /// Merges what all shards reported up to the end of interval `upto`. What began in a row that was shown without it
    /// is added there, and to the total.
    fn reported_up_to(&mut self, upto: u64) -> Held {
        let mut all = Held::default();
        for (reporter, is_lost) in self.reported.iter_mut().zip(&self.lost) {
            while let Some((reached, seen)) = reporter.reported.pop_front_if(|(reached, _)| *reached <= upto) {
                let row = self.kept.iter_mut().find(|kept| (kept.from..kept.upto).contains(&reporter.added));
                (reporter.added, reporter.standing) = (reached, seen.now);
                match row {
                    Some(row) => {
                        if !row.is_changed {
                            row.added.clear();
                        }
                        row.added.add_counts(&seen);
                        row.seen.add_counts(&seen);
                        row.is_changed = true;
                        self.total.add_counts(&seen);
                    }
                    None => all.add_counts(&seen),
                }
            }
            // With nothing new, its connections keep their last state until the shard is over.
            let is_over = *is_lost || reporter.reported.front().is_some_and(|(reached, _)| *reached == OVER);
            all.now.add(if is_over { HeldNow::default() } else { reporter.standing });
        }
        all
    }

    fn show(&mut self, next: Next) -> ReadyRow {
        let Next { seen, to, span } = next;
        self.total.add_time(&seen);
        self.look_at_rest(seen.now.open);
        let memory = self.memory_now();
        if seen.now.open >= self.most_open && seen.now.open > 0 {
            (self.most_open, self.memory) = (seen.now.open, memory);
        }
        self.rows += 1;
        let (number, from) = (self.rows, std::mem::replace(&mut self.shown_to, to));
        if let Some((first, upto)) = span
            && self.reported.iter().any(|reporter| is_missing(self.is_remote(), reporter, first, upto))
        {
            let seen = seen.clone();
            self.kept.push(LateRow {
                number,
                from: first,
                upto,
                began: from,
                seen,
                added: Held::default(),
                is_changed: false,
            });
        }
        self.current = seen;
        ReadyRow { number, again: None, from, to, memory }
    }

    /// Threads of partitions that have not reported their end: at least one each.
    pub(super) fn untold(&self) -> usize {
        if self.is_remote() { self.shards.saturating_sub(self.ends.len()) } else { 0 }
    }

    fn is_remote(&self) -> bool {
        matches!(self.setting.place, Where::Remote)
    }

    /// All partitions are to close later, and the hold was not stopped: a single partition is leaving.
    fn closes_early(&self, since: Nanos) -> bool {
        let AggregatorSetup { orders, started, stop, .. } = &self.setting;
        self.is_remote() && !stop.is_stopped() && *started + since + EARLY < orders.end_at()
    }

    /// Checks whether all present shards have tried their connections: the end of all partitions is then known.
    fn look_whether_opened(&mut self, since: Nanos) {
        let is_waited_for = |shard: usize| !self.lost[shard] && !self.has_opened[shard];
        if self.opened_after.is_some() || (0..self.shards).any(is_waited_for) {
            return;
        }
        // When the lost ones had tried theirs is unknown.
        if self.has_opened.contains(&true) {
            self.opened_after = Some(since);
            self.memory = self.memory_now();
        }
        match &self.setting.place {
            Where::Here => {}
            Where::Partition(_) => self.tell(HoldUpdate::Opened(sum(&self.opened), since)),
            Where::Remote => {
                let AggregatorSetup { orders, clock, .. } = &self.setting;
                let is_empty = !orders.reconnects && sum(&self.opened).open == 0;
                orders.close_at(clock.now() + if is_empty { Nanos(1) } else { orders.duration });
            }
        }
    }

    fn tell(&self, news: HoldUpdate) {
        if let Where::Partition(listener) = &self.setting.place {
            // The listener may be gone.
            let _ = listener.send(news);
        }
    }

    fn hear(&mut self, shard: usize, reached: u64, seen: Box<Held>) {
        self.lags[shard].merge(&seen.lag);
        self.reached[shard] = reached;
        self.reported[shard].reported.push_back((reached, seen));
    }
}

/// Whether a shard may still report a row that ended at interval `upto`: a shard reports all that it missed at once, a
/// remote partition interval by interval.
fn is_missing(is_remote: bool, reporter: &ShardProgress, from: u64, upto: u64) -> bool {
    if is_remote { reporter.added < upto } else { (from..upto).contains(&reporter.added) }
}

/// The sum of connection states.
pub(super) fn sum(all: &[HeldNow]) -> HeldNow {
    let mut sum = HeldNow::default();
    all.iter().for_each(|now| sum.add(*now));
    sum
}

impl Aggregator for HoldAggregator {
    type Report = Report;
    type Update = ReadyRow;
    type Row = KeptHold;

    fn take(&mut self, report: Report) {
        match report {
            Report::Ready { .. } => {}
            Report::Broken(error) => {
                self.failure = Some(error);
                self.setting.stop.abort();
            }
            Report::Interval { shard, reached, seen } => {
                if self.has_opened[shard] && self.end_of(reached) <= self.closing_at() {
                    self.steady[shard].add(reached, &seen.counts.counters);
                }
                self.hear(shard, reached, seen);
                // A shard that is over waits for no reply.
                let _ = self.taken.get(shard).map(|taken| taken.send(()));
            }
            Report::Opened { shard, now, since } => {
                self.opened.push(now);
                self.has_opened[shard] = true;
                self.look_whether_opened(since);
            }
            Report::Closing { since, .. } if self.closes_early(since) => {}
            Report::Closing { now, since } => {
                self.closing.push(now);
                self.closing_after = Some(self.closing_after.map_or(since, |known| known.min(since)));
                if self.closing.len() == self.shards {
                    self.tell(HoldUpdate::Closing(sum(&self.closing), since));
                }
            }
            Report::Over { shard, seen } => {
                self.over += 1;
                self.hear(shard, OVER, seen);
            }
            Report::Memory { shard, memory } => self.parts[shard] = memory,
            Report::Ended { shard, mut end } => {
                self.hear(shard, OVER, Box::new(std::mem::take(&mut end.seen)));
                self.stopped_opening = self.stopped_opening.or(end.stopped_opening);
                self.ends.push(*end);
            }
            Report::Lost { shard } => {
                // What it had reported by then stands; the state of its connections and their memory are unknown from
                // now on.
                (self.lost[shard], self.parts[shard]) = (true, PartMemory::default());
                self.look_whether_opened(self.setting.clock.now().since(self.setting.started));
            }
            Report::Workers(workers_summary) => self.workers_summary = Some(*workers_summary),
        }
        self.watch_memory();
    }

    fn next(&mut self) -> Option<ReadyRow> {
        loop {
            if let Some(ready) = self.show_again() {
                return Some(ready);
            }
            if let Some(next) = self.next.take() {
                return Some(self.show(next));
            }
            let is_closed = if self.is_waiting() { self.close_row() } else { self.close_last_row() };
            if !is_closed {
                return None;
            }
        }
    }

    fn keep(&self, ready: &ReadyRow) -> Option<KeptHold> {
        Some(self.kept(ready))
    }

    fn is_waiting(&self) -> bool {
        let is_on = match self.setting.place {
            Where::Remote => self.workers_summary.is_none(),
            _ => self.over < self.shards,
        };
        is_on && self.failure.is_none() && !self.is_lost
    }

    fn patience(&mut self) -> Option<Duration> {
        Some(MEMORY_EVERY)
    }

    fn waited_in_vain(&mut self) {
        self.watch_memory();
    }

    fn lose_all(&mut self) {
        self.is_lost = true;
    }
}
