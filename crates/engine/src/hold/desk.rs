//! Where the reports of the shards come together: the rows, the totals, and what the shards are told.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use driver::Clock;
use host::KernelMemory;
use metrics::{Distribution, Held, HeldNow};
use pacing::Nanos;
use plan::Hold;

use super::shard::Report;
use super::{HoldInterval, MemoryUse, Orders, StoppedOpening};
use crate::{RunError, StopHandle};

#[cfg(test)]
mod tests;

/// A shard that is over has reached all intervals.
const OVER: u64 = u64::MAX;
/// A shard that is further ahead than this many intervals waits for no other: what the others have not told would pile
/// up.
const AHEAD_MAX: u64 = 2;
/// Memory is looked at so often while connections are opened.
const MEMORY_EVERY: Duration = Duration::from_millis(100);
/// So much of the memory is left to others: a twentieth, but no more than this.
const RESERVE_SHARE: u64 = 20;
const RESERVE_MAX: u64 = 512 * 1024 * 1024;

/// What a desk knows from the start.
pub(super) struct Setting<'a> {
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) plan: &'a Hold,
    pub(super) stop: &'a StopHandle,
    pub(super) orders: Arc<Orders>,
    /// Memory before the first connection: of this process, and of the kernel.
    pub(super) before: (u64, Option<KernelMemory>),
}

/// What one shard told.
#[derive(Clone, Default)]
struct Teller {
    /// What was not shown yet: up to the end of so many intervals.
    told: VecDeque<(u64, Box<Held>)>,
    /// The end of the last of its intervals that were added up.
    added: u64,
    /// How things stood then.
    standing: HeldNow,
}

/// A row that was shown without somebody, who may still tell of it: at most one for each shard, since a shard that stands still
/// tells of the first that it missed.
struct Kept {
    number: u64,
    /// From the end of so many intervals, to that of so many.
    from: u64,
    upto: u64,
    began: Nanos,
    seen: Held,
    is_changed: bool,
}

/// Where the reports of the shards come together.
pub(super) struct Desk<'a> {
    setting: Setting<'a>,
    pub(super) shards: usize,
    reserve: u64,
    told: Vec<Teller>,
    /// To each shard a word for each interval that was taken.
    taken: Vec<Sender<()>>,
    reached: Vec<u64>,
    /// How late the loop of each shard was.
    pub(super) lags: Vec<Distribution>,
    /// Intervals that were shown, in so many rows.
    shown: u64,
    rows: u64,
    kept: Vec<Kept>,
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
    pub(super) failure: Option<RunError>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(setting: Setting<'a>, taken: Vec<Sender<()>>) -> Self {
        let shards = taken.len();
        Self {
            taken,
            setting,
            shards,
            reserve: host::memory().map_or(0, |memory| (memory.total / RESERVE_SHARE).min(RESERVE_MAX)),
            told: vec![Teller::default(); shards],
            reached: vec![0; shards],
            lags: vec![Distribution::default(); shards],
            shown: 0,
            rows: 0,
            kept: Vec::new(),
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
            failure: None,
        }
    }

    pub(super) fn run(
        mut self,
        reports: &Receiver<Report>,
        mut observe: impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>,
    ) -> Self {
        while self.over < self.shards && self.failure.is_none() {
            match reports.recv_timeout(MEMORY_EVERY) {
                Ok(report) => self.take(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.watch_memory();
            self.close_rows(&mut observe);
        }
        // What the shards saw since the last interval that all of them had.
        let rest = self.told_up_to(OVER);
        self.show_again(&mut observe);
        let to = self.setting.clock.now().since(self.setting.started);
        if self.failure.is_none() && to > self.shown_to {
            self.show(&rest, to, &mut observe);
        }
        if let Some(stopped) = &mut self.stopped_opening {
            stopped.tried = self.total.counts.tried;
        }
        self
    }

    /// Shows the intervals that are over: for all shards, or for one that is far ahead of those that hang.
    fn close_rows(&mut self, observe: &mut impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>) {
        let least = self.reached.iter().copied().min().unwrap_or(0);
        let furthest = self.reached.iter().copied().filter(|reached| *reached < OVER).max().unwrap_or(0);
        let upto = least.max(furthest.saturating_sub(AHEAD_MAX));
        if upto > self.shown && upto < OVER {
            let seen = self.told_up_to(upto);
            self.show_again(observe);
            let (from, began) = (std::mem::replace(&mut self.shown, upto), self.shown_to);
            self.show(&seen, Nanos(Nanos::from(self.setting.plan.interval).0 * upto), observe);
            let is_first_missed = |teller: &Teller| (from..upto).contains(&teller.added);
            if self.told.iter().any(is_first_missed) {
                let number = self.rows;
                self.kept.push(Kept { number, from, upto, began, seen, is_changed: false });
            }
        }
    }

    /// Tells rows again to which somebody has added what was missing; and forgets those of which nobody will tell any more.
    fn show_again(&mut self, observe: &mut impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>) {
        let memory = self.memory_now();
        for kept in self.kept.iter_mut().filter(|kept| kept.is_changed) {
            kept.is_changed = false;
            let to = Nanos(Nanos::from(self.setting.plan.interval).0 * kept.upto);
            let (number, from) = (kept.number, kept.began);
            let row = HoldInterval { number, is_again: true, from, to, seen: &kept.seen, total: &self.total, memory };
            if observe(&row).is_break() {
                self.setting.stop.abort();
            }
        }
        let told = &self.told;
        self.kept.retain(|kept| told.iter().any(|teller| (kept.from..kept.upto).contains(&teller.added)));
    }

    /// What all shards told up to the end of so many intervals, together. What began in a row that was shown without it is added
    /// there, and to the total.
    fn told_up_to(&mut self, upto: u64) -> Held {
        let mut all = Held::default();
        for teller in &mut self.told {
            while let Some((reached, seen)) = teller.told.pop_front_if(|(reached, _)| *reached <= upto) {
                let row = self.kept.iter_mut().find(|kept| (kept.from..kept.upto).contains(&teller.added));
                (teller.added, teller.standing) = (reached, seen.now);
                match row {
                    Some(row) => {
                        row.seen.add_counts(&seen);
                        row.is_changed = true;
                        self.total.add_counts(&seen);
                    }
                    None => all.add_counts(&seen),
                }
            }
            // With nothing new, its connections stand as they stood, until it is over.
            let is_over = teller.told.front().is_some_and(|(reached, _)| *reached == OVER);
            all.now.add(if is_over { HeldNow::default() } else { teller.standing });
        }
        all
    }

    fn show(&mut self, seen: &Held, to: Nanos, observe: &mut impl FnMut(&HoldInterval<'_>) -> ControlFlow<()>) {
        self.total.add_time(seen);
        let memory = self.memory_now();
        if seen.now.open >= self.most_open && seen.now.open > 0 {
            (self.most_open, self.memory) = (seen.now.open, memory);
        }
        self.rows += 1;
        let (number, from) = (self.rows, self.shown_to);
        let interval = HoldInterval { number, is_again: false, from, to, seen, total: &self.total, memory };
        if observe(&interval).is_break() {
            self.setting.stop.abort();
        }
        self.shown_to = to;
    }

    fn memory_now(&self) -> MemoryUse {
        let (resident_before, kernel_before) = self.setting.before;
        let more = |now: KernelMemory, before: KernelMemory| {
            (now.slab + now.tcp_buffers).saturating_sub(before.slab + before.tcp_buffers)
        };
        MemoryUse {
            resident: host::resident_bytes().unwrap_or(0),
            resident_before,
            kernel: host::kernel_memory().zip(kernel_before).map(|(now, before)| more(now, before)),
            available: host::memory().map(|memory| memory.available),
        }
    }

    fn hear(&mut self, shard: usize, reached: u64, seen: Box<Held>) {
        self.lags[shard].merge(&seen.lag);
        self.reached[shard] = reached;
        self.told[shard].told.push_back((reached, seen));
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Ready { .. } => {}
            Report::Broken(error) => {
                self.failure = Some(error);
                self.setting.stop.abort();
            }
            Report::Interval { shard, reached, seen } => {
                self.hear(shard, reached, seen);
                // One that is over asks for nothing any more.
                let _ = self.taken[shard].send(());
            }
            Report::Opened { now, at } => {
                self.opened.push(now);
                if self.opened.len() == self.shards {
                    self.opened_after = Some(at.since(self.setting.started));
                    self.memory = self.memory_now();
                    // With none there, and none to come, there is nothing to hold.
                    let is_empty = !self.setting.plan.reconnects && self.opened.iter().all(|now| now.open == 0);
                    let span = if is_empty { Nanos(1) } else { self.setting.plan.duration.into() };
                    let end = self.setting.clock.now() + span;
                    self.setting.orders.end_at.store(end.0, Ordering::Relaxed);
                    self.setting.stop.wake_all();
                }
            }
            Report::Closing { now, at } => {
                self.closing.push(now);
                let since = at.since(self.setting.started);
                self.closing_after = Some(self.closing_after.map_or(since, |known| known.min(since)));
            }
            Report::Over { shard, seen } => {
                self.over += 1;
                self.hear(shard, OVER, seen);
            }
        }
    }

    /// Stops opening before the kernel would have to kill somebody.
    fn watch_memory(&mut self) {
        if self.opened_after.is_some() || self.stopped_opening.is_some() {
            return;
        }
        let Some(memory) = host::memory() else { return };
        if memory.available < self.reserve {
            self.setting.orders.stops_opening.store(true, Ordering::Relaxed);
            self.setting.stop.wake_all();
            let tried = self.total.counts.tried;
            self.stopped_opening = Some(StoppedOpening { available: memory.available, reserve: self.reserve, tried });
        }
    }
}
