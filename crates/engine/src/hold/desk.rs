//! Where the reports of the shards come together: the rows, the totals, and what the shards are told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use driver::Clock;
use host::KernelMemory;
use metrics::{Distribution, Held, HeldNow};
use pacing::Nanos;
use plan::Hold;

use super::shard::Report;
use super::{HoldInterval, KeptHold, MemoryUse, Orders, StoppedOpening};
use crate::going::Desk;
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
pub(super) struct Setting {
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) plan: Arc<Hold>,
    pub(super) stop: StopHandle,
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
    /// What of it was not told.
    added: Held,
    is_changed: bool,
}

/// A row that is ready to be told.
pub(super) struct Ready {
    number: u64,
    /// Where it is kept, of one that is told again.
    again: Option<usize>,
    from: Nanos,
    to: Nanos,
    memory: MemoryUse,
}

/// A row that comes after those that are told again first.
struct Next {
    seen: Held,
    to: Nanos,
    /// From the end of so many intervals, to that of so many; `None` of the last row.
    span: Option<(u64, u64)>,
}

/// Where the reports of the shards come together.
pub(super) struct HoldDesk {
    setting: Setting,
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
    next: Option<Next>,
    /// The row that was told last, but for those that are told again.
    current: Held,
    /// What the shards saw after the last row that all of them had is in a row.
    has_ended: bool,
    /// All shards have gone without a word.
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
    pub(super) failure: Option<RunError>,
}

impl HoldDesk {
    pub(super) fn new(setting: Setting, taken: Vec<Sender<()>>) -> Self {
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
            failure: None,
        }
    }

    /// A row that is ready.
    pub(super) fn interval(&self, ready: &Ready) -> HoldInterval<'_> {
        let seen = ready.again.map_or(&self.current, |place| &self.kept[place].seen);
        let (number, from, to, memory) = (ready.number, ready.from, ready.to, ready.memory);
        HoldInterval { number, is_again: ready.again.is_some(), from, to, seen, total: &self.total, memory }
    }

    /// The same, for those who take it later.
    fn kept(&self, ready: &Ready) -> KeptHold {
        let HoldInterval { number, is_again, from, to, seen, total, memory } = self.interval(ready);
        let added = ready.again.map_or(seen, |place| &self.kept[place].added).clone();
        KeptHold { number, is_again, from, to, seen: seen.clone(), added, total: total.clone(), memory }
    }

    /// What it came to.
    pub(super) fn finish(mut self) -> Result<Self, RunError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if let Some(stopped) = &mut self.stopped_opening {
            stopped.tried = self.total.counts.tried();
        }
        Ok(self)
    }

    /// The intervals that are over become a row: for all shards, or for one that is far ahead of those that hang. False when none
    /// are.
    fn close_row(&mut self) -> bool {
        let least = self.reached.iter().copied().min().unwrap_or(0);
        let furthest = self.reached.iter().copied().filter(|reached| *reached < OVER).max().unwrap_or(0);
        let upto = least.max(furthest.saturating_sub(AHEAD_MAX));
        let is_due = upto > self.shown && upto < OVER;
        if is_due {
            let seen = self.told_up_to(upto);
            let from = std::mem::replace(&mut self.shown, upto);
            self.next = Some(Next { seen, to: self.end_of(upto), span: Some((from, upto)) });
        }
        is_due
    }

    /// What the shards saw since the last interval that all of them had. False when that was told.
    fn close_last_row(&mut self) -> bool {
        if std::mem::replace(&mut self.has_ended, true) {
            return false;
        }
        let (seen, to) = (self.told_up_to(OVER), self.setting.clock.now().since(self.setting.started));
        if self.failure.is_none() && to > self.shown_to {
            self.next = Some(Next { seen, to, span: None });
        }
        true
    }

    fn end_of(&self, interval: u64) -> Nanos {
        Nanos(Nanos::from(self.setting.plan.interval).0 * interval)
    }

    /// A row to which somebody has added what was missing; and those of which nobody will tell any more are forgotten.
    fn show_again(&mut self) -> Option<Ready> {
        let told = &self.told;
        let is_missed = |kept: &Kept| told.iter().any(|teller| (kept.from..kept.upto).contains(&teller.added));
        self.kept.retain(|kept| kept.is_changed || is_missed(kept));
        let place = self.kept.iter().position(|kept| kept.is_changed)?;
        self.kept[place].is_changed = false;
        let kept = &self.kept[place];
        let (number, from, to) = (kept.number, kept.began, self.end_of(kept.upto));
        Some(Ready { number, again: Some(place), from, to, memory: self.memory_now() })
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
            // With nothing new, its connections stand as they stood, until it is over.
            let is_over = teller.told.front().is_some_and(|(reached, _)| *reached == OVER);
            all.now.add(if is_over { HeldNow::default() } else { teller.standing });
        }
        all
    }

    fn show(&mut self, next: Next) -> Ready {
        let Next { seen, to, span } = next;
        self.total.add_time(&seen);
        let memory = self.memory_now();
        if seen.now.open >= self.most_open && seen.now.open > 0 {
            (self.most_open, self.memory) = (seen.now.open, memory);
        }
        self.rows += 1;
        let (number, from) = (self.rows, std::mem::replace(&mut self.shown_to, to));
        if let Some((first, upto)) = span
            && self.told.iter().any(|teller| (first..upto).contains(&teller.added))
        {
            let seen = seen.clone();
            self.kept.push(Kept {
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
        Ready { number, again: None, from, to, memory }
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

    /// Stops opening before the kernel would have to kill somebody.
    fn watch_memory(&mut self) {
        if self.opened_after.is_some() || self.stopped_opening.is_some() {
            return;
        }
        let Some(memory) = host::memory() else { return };
        if memory.available < self.reserve {
            self.setting.orders.stops_opening.store(true, Ordering::Relaxed);
            self.setting.stop.wake_all();
            let tried = self.total.counts.tried();
            self.stopped_opening = Some(StoppedOpening { available: memory.available, reserve: self.reserve, tried });
        }
    }
}

impl Desk for HoldDesk {
    type Report = Report;
    type News = Ready;
    type Row = KeptHold;

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
        self.watch_memory();
    }

    fn next(&mut self) -> Option<Ready> {
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

    fn keep(&self, ready: &Ready) -> Option<KeptHold> {
        Some(self.kept(ready))
    }

    fn is_waiting(&self) -> bool {
        self.over < self.shards && self.failure.is_none() && !self.is_lost
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
