//! Results of all scenarios together, and of each one.

use std::sync::Arc;

use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Timeline;

use crate::interval_merger::Sums;
use crate::shard::ShardSnapshots;

/// Users at work, open connections, and starts that were due and not taken up, scenario by scenario: they add over
/// shards, not over time.
pub(super) type Gauges = Vec<[u64; 3]>;

/// Those of a snapshot.
pub(super) fn gauges_of(seen: &Snapshot) -> [u64; 3] {
    [seen.gauges.users, seen.gauges.connections_open, seen.gauges.behind]
}

fn set_gauges_of(seen: &mut Snapshot, gauges: [u64; 3]) {
    [seen.gauges.users, seen.gauges.connections_open, seen.gauges.behind] = gauges;
}

/// Totals of all scenarios together, and of each.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub(super) all: Snapshot,
    /// Totals per scenario; empty where there is one scenario: it is the total.
    per_scenario: Vec<Snapshot>,
}

impl Totals {
    pub(super) fn new(scenarios: usize) -> Self {
        let count = if scenarios > 1 { scenarios } else { 0 };
        Self { all: Snapshot::default(), per_scenario: (0..count).map(|_| Snapshot::default()).collect() }
    }

    /// Adds what a shard saw of its scenarios.
    pub(super) fn add(&mut self, scenarios: &[usize], seen: &ShardSnapshots) {
        for (&scenario, seen) in scenarios.iter().zip(seen) {
            self.all.merge(seen);
            if let Some(own) = self.per_scenario.get_mut(scenario) {
                own.merge(seen);
            }
        }
    }

    /// The total of one scenario.
    pub(super) fn scenario(&self, scenario: usize) -> &Snapshot {
        self.per_scenario.get(scenario).unwrap_or(&self.all)
    }

    /// Applies a change to a scenario and to the total.
    pub(super) fn each_of(&mut self, scenario: usize, change: impl Fn(&mut Snapshot)) {
        change(&mut self.all);
        self.per_scenario.get_mut(scenario).into_iter().for_each(change);
    }

    /// Clears what is in flight.
    pub(super) fn clear_in_flight(&mut self) {
        self.all.gauges.in_flight.clear();
        self.per_scenario.iter_mut().for_each(|own| own.gauges.in_flight.clear());
    }

    /// All scenarios together, and each; the second is empty where there is one scenario.
    pub(super) fn into_parts(self) -> (Snapshot, Vec<Snapshot>) {
        (self.all, self.per_scenario)
    }
}

impl Sums for Totals {
    type Gauges = Gauges;

    fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.per_scenario.iter_mut().zip(&other.per_scenario).for_each(|(own, more)| own.merge(more));
    }

    fn clear(&mut self) {
        self.all.clear();
        self.per_scenario.iter_mut().for_each(Snapshot::clear);
    }

    fn take_gauges(&mut self, now: &Self) {
        self.all.gauges.replace(&now.all.gauges);
        self.per_scenario.iter_mut().zip(&now.per_scenario).for_each(|(own, now)| own.gauges.replace(&now.gauges));
    }

    fn gauges(&self) -> Gauges {
        match &self.per_scenario[..] {
            [] => vec![gauges_of(&self.all)],
            several => several.iter().map(gauges_of).collect(),
        }
    }

    fn set_gauges(&mut self, gauges: &Gauges) {
        set_gauges_of(&mut self.all, [0, 1, 2].map(|place| gauges.iter().map(|gauges: &[u64; 3]| gauges[place]).sum()));
        self.per_scenario.iter_mut().zip(gauges).for_each(|(own, gauges)| set_gauges_of(own, *gauges));
    }

    fn add_gauges(sum: &mut Gauges, more: &Gauges) {
        let numbers = sum.as_flattened_mut().iter_mut().zip(more.as_flattened());
        numbers.for_each(|(sum, more)| *sum += more);
    }

    fn end_gauges(gauges: &mut Gauges) {
        for [users, connections_open, _] in gauges {
            (*users, *connections_open) = (0, 0);
        }
    }
}

/// How long the loads of all scenarios were paused at the same time, between two instants.
pub(super) fn paused_of_all(timelines: &[Arc<Timeline>], from: Nanos, to: Nanos) -> Nanos {
    let mut spans = vec![(from, to)];
    for timeline in timelines {
        let pauses: Vec<_> = timeline.pauses().collect();
        let common = |(from, to): (Nanos, Nanos)| {
            let overlap = move |(begin, end): &(Nanos, Nanos)| (from.max(*begin), to.min(*end));
            pauses.iter().map(overlap).filter(|(from, to)| from < to).collect::<Vec<_>>()
        };
        spans = spans.into_iter().flat_map(common).collect();
    }
    spans.into_iter().fold(Nanos::ZERO, |sum, (from, to)| sum + to.since(from))
}
