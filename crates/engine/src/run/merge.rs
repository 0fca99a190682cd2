//! From the snapshots of the shards to the intervals of the run.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use metrics::Snapshot;
use pacing::Nanos;

use super::Interval;
use crate::shard::Backlog;

/// How far a shard has told.
#[derive(Clone, Copy, Debug)]
enum Told {
    Until(u64),
    All,
}

/// What the shards told of one interval, so far.
#[derive(Default)]
struct Open {
    seen: Snapshot,
    at: Nanos,
}

/// What the thread of one shard spent.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShardUse {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time that it was ready to run and had no core.
    pub run_delay_ns: u64,
    /// Time in which it worked.
    pub span_ns: u64,
    /// Time in intervals in which it wanted a whole core, or nearly.
    pub saturated_ns: u64,
}

/// A thread that wants this share of a core has no time left for what comes unevenly.
const SATURATED_SHARE: f64 = 0.95;

impl ShardUse {
    pub(crate) fn add(&mut self, span: Nanos, seen: &Snapshot) {
        let wanted = seen.cpu_ns + seen.run_delay_ns;
        let is_saturated = wanted as f64 >= SATURATED_SHARE * span.0 as f64;
        self.cpu_ns += seen.cpu_ns;
        self.run_delay_ns += seen.run_delay_ns;
        self.span_ns += span.0;
        self.saturated_ns += if is_saturated { span.0 } else { 0 };
    }

    /// CPU time as a share of a core.
    pub fn cpu_share(&self) -> f64 {
        self.cpu_ns as f64 / self.span_ns.max(1) as f64
    }

    /// What it wanted of a core, had or not.
    pub fn wanted_share(&self) -> f64 {
        (self.cpu_ns + self.run_delay_ns) as f64 / self.span_ns.max(1) as f64
    }

    /// The share of its time in which it wanted a whole core, or nearly.
    pub fn saturated_share(&self) -> f64 {
        self.saturated_ns as f64 / self.span_ns.max(1) as f64
    }
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

pub(super) struct Merger {
    backlog: Option<Backlog>,
    started: Nanos,
    told: Vec<Told>,
    /// What each shard spent, and until when that was told.
    uses: Vec<(ShardUse, Nanos)>,
    open: BTreeMap<u64, Open>,
    /// What came from shards that were over, after the last interval that they told.
    rest: Open,
    returns: Vec<Sender<Box<Snapshot>>>,
    current: Snapshot,
    total: Snapshot,
    from: Nanos,
    emitted: u64,
    /// When the last shard stopped starting, since the start.
    stopped_at: Nanos,
}

impl Merger {
    pub(super) fn new(shards: usize, started: Nanos, returns: Vec<Sender<Box<Snapshot>>>) -> Self {
        Self {
            started,
            backlog: Some(Backlog::default()),
            told: vec![Told::Until(0); shards],
            uses: vec![(ShardUse::default(), started); shards],
            open: BTreeMap::new(),
            rest: Open::default(),
            returns,
            current: Snapshot::default(),
            total: Snapshot::default(),
            from: Nanos::ZERO,
            emitted: 0,
            stopped_at: Nanos::ZERO,
        }
    }

    /// Shards that are not over.
    pub(super) fn running(&self) -> usize {
        self.told.iter().filter(|told| matches!(told, Told::Until(_))).count()
    }

    pub(super) fn is_running(&self, shard: usize) -> bool {
        matches!(self.told[shard], Told::Until(_))
    }

    fn spend(&mut self, shard: usize, at: Nanos, seen: &Snapshot) {
        let (spent, since) = &mut self.uses[shard];
        spent.add(at.since(*since), seen);
        *since = at;
    }

    pub(super) fn interval(&mut self, shard: usize, index: u64, at: Nanos, mut seen: Box<Snapshot>) {
        self.spend(shard, at, &seen);
        self.told[shard] = Told::Until(index);
        let open = self.open.entry(index).or_default();
        open.seen.merge(&seen);
        open.at = open.at.max(at);
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
        seen: Box<Snapshot>,
    ) {
        self.backlog = self
            .backlog
            .zip(backlog)
            .map(|(sum, more)| Backlog { halfway: sum.halfway + more.halfway, at_end: sum.at_end + more.at_end });
        self.stopped_at = self.stopped_at.max(stopped_at.since(self.started));
        self.spend(shard, at, &seen);
        self.told[shard] = Told::All;
        self.rest.seen.merge(&seen);
        self.rest.at = self.rest.at.max(at);
    }

    /// The next interval that every shard has told; `None` while one has not.
    pub(super) fn next_interval(&mut self) -> Option<Interval<'_>> {
        let told = self.told.iter().filter_map(|told| match told {
            Told::Until(index) => Some(*index),
            Told::All => None,
        });
        // When all are over, what is left belongs to the last interval.
        let told = told.min()?;
        if told <= self.emitted {
            return None;
        }
        self.emitted = told;
        let later = self.open.split_off(&(told + 1));
        let ready = std::mem::replace(&mut self.open, later);
        let rest = std::mem::take(&mut self.rest);
        self.emit(ready.into_values().chain([rest]))
    }

    /// What was told after the last interval; `None` when nothing was.
    pub(super) fn last_interval(&mut self) -> Option<Interval<'_>> {
        let ready = std::mem::take(&mut self.open);
        let rest = std::mem::take(&mut self.rest);
        self.emit(ready.into_values().chain([rest]))
    }

    pub(super) fn finish(self) -> Finished {
        let shards = self.uses.into_iter().map(|(spent, _)| spent).collect();
        Finished { total: self.total, wall: self.from, stopped_at: self.stopped_at, shards, backlog: self.backlog }
    }

    fn emit(&mut self, parts: impl Iterator<Item = Open>) -> Option<Interval<'_>> {
        self.current.clear();
        let mut at = Nanos::ZERO;
        for part in parts {
            self.current.merge(&part.seen);
            at = at.max(part.at);
        }
        let (from, mut to) = (self.from, at.since(self.started));
        let (users, open) = (self.total.users, self.total.connections_open);
        self.total.merge(&self.current);
        (self.total.users, self.total.connections_open) = (users, open);
        if to <= from {
            if self.current.counts.is_empty() {
                return None;
            }
            // A shard ended before another, which was late, told of its interval: what it saw belongs behind that.
            to = from + Nanos(1);
        }
        self.from = to;
        (self.total.users, self.total.connections_open) = (self.current.users, self.current.connections_open);
        Some(Interval { from, to, seen: &self.current, total: &self.total })
    }
}
