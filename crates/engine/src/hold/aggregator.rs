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
use super::shard::Report;
use super::{HoldInterval, KeptHold, MemoryUse, Orders, StoppedOpening};
use crate::interval_merger::{IntervalMerger, ReadyInterval};
use crate::remote::Where;
use crate::run_loop::Aggregator;
use crate::times::Times;
use crate::{RunError, StopHandle};

mod memory;
mod steady;
#[cfg(test)]
mod tests;

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

/// What to report next.
#[derive(Clone, Debug)]
pub(super) enum Update {
    Interval(ReadyInterval),
    /// All connections were tried.
    Opened(HeldNow, Nanos),
    /// They begin to close.
    Closing(HeldNow, Nanos),
}

/// The aggregator of the reports of the shards.
pub(super) struct HoldAggregator {
    setting: AggregatorSetup,
    pub(super) shards: usize,
    reserve: u64,
    /// Fluctuation of kernel memory while no connection opens or closes.
    rest: AtRest,
    pub(super) merger: IntervalMerger<Held>,
    /// To each shard, one message for each interval that was taken.
    taken: Vec<Sender<()>>,
    /// How late the loop of each shard was.
    pub(super) lags: Vec<Distribution>,
    /// Messages to the coordinator of a partition.
    reported_up: VecDeque<Update>,
    /// Memory at the end of the last interval.
    current_memory: MemoryUse,
    pub(super) opened: Vec<HeldNow>,
    pub(super) opened_after: Option<Nanos>,
    pub(super) closing: Vec<HeldNow>,
    pub(super) closing_after: Option<Nanos>,
    pub(super) most_open: u64,
    pub(super) memory: MemoryUse,
    pub(super) stopped_opening: Option<StoppedOpening>,
    /// Remote partitions: their memory, and how they ended.
    parts: Vec<PartMemory>,
    pub(super) ends: Vec<HoldEnd>,
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
        let AggregatorSetup { started, plan, place, .. } = &setting;
        let (interval, grace, is_remote) = (plan.interval.into(), plan.grace.into(), *place == Where::Remote);
        let (warmup, stop_within) = (Nanos::ZERO, Nanos::ZERO);
        let times = Times { started: *started, warmup, duration: None, grace, stop_within, interval, joins: None };
        Self {
            taken,
            merger: IntervalMerger::new(times, Held::default(), shards, is_remote),
            setting,
            shards,
            reserve: memory::reserve(),
            rest: AtRest::default(),
            lags: vec![Distribution::default(); shards],
            reported_up: VecDeque::new(),
            current_memory: MemoryUse::default(),
            opened: Vec::new(),
            opened_after: None,
            closing: Vec::new(),
            closing_after: None,
            most_open: 0,
            memory: MemoryUse::default(),
            stopped_opening: None,
            parts: vec![PartMemory::default(); shards],
            ends: Vec::new(),
            lost: vec![false; shards],
            has_opened: vec![false; shards],
            steady: vec![Window::default(); shards],
            failure: None,
        }
    }

    /// The interval that is ready.
    pub(super) fn interval(&self, ready: &ReadyInterval) -> HoldInterval<'_> {
        let (seen, added) = self.merger.sums(ready);
        HoldInterval::of(ready, [seen, added, self.merger.total()], self.current_memory)
    }

    /// Ends the aggregation.
    pub(super) fn finish(mut self) -> Result<Self, RunError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if let Some(stopped) = &mut self.stopped_opening {
            stopped.tried = self.merger.total().counts.tried();
        }
        // By now more is known of the machine than at the last check.
        if !self.is_remote() {
            self.memory.kernel = self.rest.reported(self.memory.kernel);
        }
        Ok(self)
    }

    /// What was counted while connections were held, and in what time, for each shard in which that has a whole
    /// interval.
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

    /// Checks the memory with the connections of a new interval.
    fn show(&mut self, ready: &ReadyInterval) {
        let open = self.merger.sums(ready).0.now.open;
        if !ready.is_update {
            self.look_at_rest(open);
        }
        self.current_memory = self.memory_now();
        if !ready.is_update && open >= self.most_open && open > 0 {
            (self.most_open, self.memory) = (open, self.current_memory);
        }
    }

    /// Threads of partitions that have not reported their end: at least one each.
    pub(super) fn untold(&self) -> usize {
        if self.is_remote() { self.shards.saturating_sub(self.ends.len()) } else { 0 }
    }

    fn is_remote(&self) -> bool {
        self.setting.place == Where::Remote
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
        match self.setting.place {
            Where::Here => {}
            Where::Partition => self.reported_up.push_back(Update::Opened(sum(&self.opened), since)),
            Where::Remote => {
                let AggregatorSetup { orders, clock, .. } = &self.setting;
                let is_empty = !orders.reconnects && sum(&self.opened).open == 0;
                orders.close_at(clock.now() + if is_empty { Nanos(1) } else { orders.duration });
            }
        }
    }

    /// A shard reports what it saw, and has reported everything up to the end of interval `upto`; without one, it is
    /// over.
    fn report(&mut self, shard: usize, upto: Option<u64>, seen: &Held) {
        self.lags[shard].merge(&seen.lag);
        self.merger.report(shard, upto, seen.now, |sum| sum.add_counts(seen));
    }

    /// What a shard counted in whole intervals, when that was while all were held.
    fn add_steady(&mut self, shard: usize, (number, upto): (u64, u64), seen: &Held) {
        if self.has_opened[shard] && self.end_of(number) <= self.closing_at() {
            self.steady[shard].add((number, upto), &seen.counts.counters);
        }
    }

    /// A partition ended now.
    fn part_over(&mut self, part: usize) {
        self.merger.ended_at(self.setting.clock.now().since(self.setting.started));
        self.merger.part_over(part);
    }
}

/// The sum of connection states.
pub(super) fn sum(all: &[HeldNow]) -> HeldNow {
    let mut sum = HeldNow::default();
    all.iter().for_each(|now| sum.add(*now));
    sum
}

impl Aggregator for HoldAggregator {
    type Report = Report;
    type Update = Update;
    type Row = KeptHold;

    fn take(&mut self, report: Report) {
        match report {
            Report::Ready { .. } => {}
            Report::Broken(error) => {
                self.failure = Some(error);
                self.setting.stop.abort();
            }
            Report::Interval { shard, reached, seen } => {
                self.add_steady(shard, (reached, reached), &seen);
                self.report(shard, Some(reached), &seen);
                // A shard that is over waits for no reply.
                let _ = self.taken.get(shard).map(|taken| taken.send(()));
            }
            Report::Seen { part, number, upto, seen, memory } => {
                self.parts[part] = memory;
                self.add_steady(part, (number, upto), &seen);
                self.lags[part].merge(&seen.lag);
                let (numbers, now) = (((number, number), upto), seen.now);
                self.merger.report_remote(part, numbers, now, |sum| sum.add_counts(&seen));
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
                if self.setting.place == Where::Partition && self.closing.len() == self.shards {
                    self.reported_up.push_back(Update::Closing(sum(&self.closing), since));
                }
            }
            Report::Over { shard, at, seen } => {
                self.merger.ended_at(at.since(self.setting.started));
                self.report(shard, None, &seen);
            }
            Report::Ended { shard, end } => {
                self.stopped_opening = self.stopped_opening.or(end.stopped_opening);
                self.part_over(shard);
                self.ends.push(*end);
            }
            Report::Lost { shard } => {
                // What it had reported by then stands; the state of its connections and their memory are unknown from
                // now on.
                (self.lost[shard], self.parts[shard]) = (true, PartMemory::default());
                self.merger.go_silent(shard);
                self.look_whether_opened(self.setting.clock.now().since(self.setting.started));
            }
            Report::Workers(workers_summary) => self.merger.workers_summary = Some(*workers_summary),
        }
        self.watch_memory();
    }

    fn next(&mut self) -> Option<Update> {
        if let Some(news) = self.reported_up.pop_front() {
            return Some(news);
        }
        let is_on = self.is_waiting();
        let ready = self.merger.next(is_on)?;
        self.show(&ready);
        Some(Update::Interval(ready))
    }

    fn keep(&self, news: &Update) -> Option<KeptHold> {
        match news {
            Update::Interval(ready) => Some(self.merger.owned(ready, self.current_memory)),
            _ => None,
        }
    }

    fn is_waiting(&self) -> bool {
        self.failure.is_none() && self.merger.is_waiting()
    }

    fn patience(&mut self) -> Option<Duration> {
        let late = self.merger.patience(self.setting.clock.now());
        Some(late.map_or(MEMORY_EVERY, |late| late.min(MEMORY_EVERY)))
    }

    fn on_timeout(&mut self) {
        self.watch_memory();
        self.merger.on_timeout(self.setting.clock.now());
    }

    fn on_disconnect(&mut self) {
        self.merger.is_lost = true;
    }
}
