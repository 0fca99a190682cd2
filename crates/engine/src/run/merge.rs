//! Merges the snapshots of the shards of a load, and adds up how its shards and scenarios ended.

mod ended;
mod parts;
mod updates;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Timeline;

pub(crate) use ended::ScenarioEnds;
use parts::Open;

use super::totals::{Gauges, Totals, gauges_of};
use crate::interval_merger::IntervalMerger;
use crate::remote::PartEnd;
use crate::scenario_lifecycle::ScenarioOutcome;
use crate::shard::ShardSnapshots;
use crate::times::{Times, longest};
use crate::usage::ThreadUsage;

/// What is known of one shard.
struct ShardRecord {
    /// The scenarios that it plays.
    scenarios: Vec<usize>,
    /// Its scenarios with users that waited for each other, and that are over.
    left: Vec<usize>,
    spent: ThreadUsage,
    /// Until when that was reported.
    since: Nanos,
    /// Exchanges it has begun and not ended, as far as it reported, scenario by scenario; kept for shards that may be
    /// lost.
    open: Vec<Open>,
}

/// The result of all shards.
pub struct Finished {
    /// Everything that was recorded.
    pub total: Snapshot,
    /// Totals per scenario, where there are several.
    pub per_scenario: Vec<Snapshot>,
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
        self.per_scenario.get(scenario).unwrap_or(&self.total)
    }

    /// Drops the CPU time of the shards: where time is virtual, it is of another clock.
    pub(super) fn forget_cpu(&mut self) {
        for seen in std::iter::once(&mut self.total).chain(&mut self.per_scenario) {
            (seen.cpu_ns, seen.run_delay_ns) = (0, 0);
        }
        for spent in &mut self.shards {
            (spent.cpu_ns, spent.run_delay_ns, spent.saturated_ns) = (0, 0, 0);
        }
    }
}

/// The merger of the snapshots of the shards of a load.
pub(super) struct Merger {
    pub(super) intervals: IntervalMerger<Totals>,
    ends: Vec<ScenarioEnds>,
    timelines: Vec<Arc<Timeline>>,
    shards: Vec<ShardRecord>,
    returns: Vec<Sender<ShardSnapshots>>,
    /// Usage of remote threads, and the rest of the end of each partition.
    parts: Vec<PartEnd>,
    is_remote: bool,
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
        let since = times.begins().max(times.measured_from());
        let record = |scenarios| {
            let (left, spent, open) = (Vec::new(), ThreadUsage::default(), Vec::new());
            ShardRecord { scenarios, left, spent, since, open }
        };
        let shards: Vec<_> = scenarios.into_iter().map(record).collect();
        Self {
            intervals: IntervalMerger::new(times, Totals::new(count), shards.len(), is_remote),
            ends: vec![ScenarioEnds::default(); count],
            timelines,
            shards,
            returns,
            parts: Vec::new(),
            is_remote,
        }
    }

    /// Replaces the timelines after a change.
    pub(super) fn change(&mut self, timelines: Vec<Arc<Timeline>>) {
        self.intervals.times.duration = longest(timelines.iter().map(|timeline| timeline.end()));
        self.timelines = timelines;
    }

    /// A shard plays a scenario, and neither is over.
    pub(super) fn is_playing(&self, shard: usize, scenario: usize) -> bool {
        let record = &self.shards[shard];
        self.intervals.is_on(shard) && record.scenarios.contains(&scenario) && !record.left.contains(&scenario)
    }

    /// A shard no longer plays a scenario.
    pub(super) fn leave(&mut self, shard: usize, scenario: usize) {
        self.shards[shard].left.push(scenario);
    }

    /// A shard has reported everything up to the end of interval `upto`.
    pub(super) fn interval(&mut self, shard: usize, upto: u64, at: Nanos, mut seen: ShardSnapshots) {
        self.take(shard, Some(upto), at, &seen);
        seen.iter_mut().for_each(|seen| seen.clear());
        // A shard that is over needs no snapshot any more.
        let _ = self.returns[shard].send(seen);
    }

    pub(super) fn over(&mut self, shard: usize, at: Nanos, ends: &[ScenarioOutcome], seen: &ShardSnapshots) {
        let started = self.intervals.times.measured_from();
        for end in ends {
            let all = &mut self.ends[end.scenario];
            all.add(end.stopped_at.since(started), end.backlog, end.spent);
            all.left = all.left.saturating_add(end.left);
            all.slices.add(&end.slices);
            all.first_times.merge(&end.first_times);
        }
        self.intervals.ended_at(at.since(started));
        self.take(shard, None, at, seen);
    }

    /// Takes what a shard saw since its last report.
    fn take(&mut self, shard: usize, upto: Option<u64>, at: Nanos, seen: &ShardSnapshots) {
        let record = &mut self.shards[shard];
        // The first scenario of a shard includes the figures of its thread.
        if let Some(seen) = seen.first() {
            record.spent.add(at.since(record.since), seen);
        }
        record.since = at;
        let gauges = record.gauges(self.timelines.len(), seen);
        self.intervals.report(shard, upto, gauges, |sum| sum.add(&record.scenarios, seen));
    }

    pub(super) fn finish(mut self) -> Finished {
        let wall = self.intervals.wall();
        self.end_untold(wall);
        let lost = self.lost();
        let own = self.shards.into_iter().map(|record| record.spent).filter(|_| !self.is_remote);
        let shards = own.chain(self.parts.iter().flat_map(|part| part.shards.clone())).collect();
        let mut total = self.intervals.into_total();
        for (scenario, count, ages) in lost {
            total.each_of(scenario, |seen| seen.lose(count, &ages));
        }
        // Exchanges in flight have ended, are incomplete, or are lost.
        total.clear_in_flight();
        let (total, per_scenario) = total.into_parts();
        Finished {
            total,
            per_scenario,
            wall,
            stopped_at: self.ends.iter().map(|end| end.stopped_at).max().unwrap_or(Nanos::ZERO),
            shards,
            ends: self.ends,
            parts: self.parts,
        }
    }
}

impl ShardRecord {
    /// The gauges of its scenarios.
    fn gauges(&self, scenarios: usize, seen: &ShardSnapshots) -> Gauges {
        let mut gauges = vec![[0; 3]; scenarios];
        for (&scenario, seen) in self.scenarios.iter().zip(seen) {
            gauges[scenario] = gauges_of(seen);
        }
        gauges
    }
}
