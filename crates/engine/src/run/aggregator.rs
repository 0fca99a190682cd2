//! Collects the reports of the shards of a load: intervals, results, rendezvous.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use pacing::Nanos;
use pacing::change::Change;
use plan::Barrier;

use super::merge::{Finished, Merger};
use super::remote_backend::PartMessage;
use super::rows::KeptInterval;
use super::{Interval, RunError};
use crate::barriers::{BarrierEvent, RemoteBarriers};
use crate::control::{Changes, StopHandle};
use crate::interval_merger::ReadyInterval;
use crate::remote::{RemotePartEvent, Where};
use crate::run_loop::Aggregator;
use crate::shard::{Report, ShardSnapshots};
use crate::times::Times;

/// What to report next.
pub(super) enum Update {
    Interval(ReadyInterval),
    Changed(Change),
    /// For a partition of a load: a message to the coordinator.
    Remote(PartMessage),
}

/// The aggregator of the reports of the shards of a load.
pub(super) struct LoadAggregator {
    pub(super) merger: Merger,
    failing: Vec<bool>,
    /// For each scenario, the shards whose users all wait for users of other shards, and since when.
    gathered: Vec<Vec<Option<Nanos>>>,
    stop: StopHandle,
    failure: Option<RunError>,
    changes: Arc<Changes>,
    /// Revision of the last change that was reported.
    revision: u32,
    place: Where,
    /// Messages to the coordinator.
    reported_up: VecDeque<PartMessage>,
    /// The barriers of remote users.
    pub(super) remote_barriers: Option<RemoteBarriers>,
    /// Remote partitions that exist, or will.
    expected: usize,
}

impl LoadAggregator {
    pub(super) fn new(
        times: Times,
        scenarios: Vec<Vec<usize>>,
        returns: Vec<Sender<ShardSnapshots>>,
        stop: StopHandle,
        changes: Arc<Changes>,
        place: Where,
    ) -> Self {
        let shards = returns.len();
        let timelines = changes.timelines();
        let (failing, gathered) = (vec![false; shards], vec![vec![None; shards]; timelines.len()]);
        let merger = Merger::new(times, timelines, scenarios, returns, place == Where::Remote);
        Self {
            merger,
            failing,
            gathered,
            stop,
            failure: None,
            changes,
            revision: 0,
            place,
            reported_up: VecDeque::new(),
            remote_barriers: None,
            expected: 0,
        }
    }

    /// The interval to emit.
    pub(super) fn interval(&self, ready: &ReadyInterval) -> Interval<'_> {
        self.merger.reported_as(ready)
    }

    /// When the users of all shards that still play the scenario wait for each other, they start together.
    fn start_round(&mut self, scenario: usize) {
        let gathered = &mut self.gathered[scenario];
        let Some(last) = gathered.iter().flatten().max().copied() else { return };
        let is_awaited =
            |(shard, since): (usize, &Option<Nanos>)| since.is_none() && self.merger.is_playing(shard, scenario);
        // Partitions that have not begun to report are awaited too.
        if gathered.len() >= self.expected && !gathered.iter().enumerate().any(is_awaited) {
            gathered.fill(None);
            if self.place == Where::Partition {
                return self.reported_up.push_back(PartMessage::Gathered(scenario, last));
            }
            self.changes.release(scenario, last + self.changes.round_lead());
            self.stop.wake_all();
        }
    }

    /// Reports users at a barrier to the coordinator of all partitions.
    fn report_up(&mut self, attended: BarrierEvent) {
        let news = match (attended, self.reported_up.back_mut()) {
            (BarrierEvent::Arrived { barrier, .. }, Some(PartMessage::Arrived(last, count, _)))
                if *last == barrier as usize =>
            {
                *count += 1;
                return;
            }
            (BarrierEvent::Arrived { barrier, at }, _) => PartMessage::Arrived(barrier as usize, 1, at),
            (BarrierEvent::Withdrawn { barrier, ticket }, _) => PartMessage::Withdrawn(barrier as usize, ticket),
            (BarrierEvent::Stuck { received }, _) => PartMessage::Stuck(received),
        };
        self.reported_up.push_back(news);
    }

    /// Adds barriers of remote users.
    pub(super) fn with_barriers(mut self, barriers: &[Barrier]) -> Self {
        if !barriers.is_empty() {
            self.remote_barriers = Some(RemoteBarriers::new(barriers, self.changes.received_within()));
        }
        self
    }

    /// The run is over, so its data is not current: it is as late as the last report.
    fn is_past(&self) -> bool {
        self.changes.received_within() == Nanos::ZERO
    }

    /// Handles events of remote users at barriers.
    fn handle_barriers(&mut self, part: usize, remote: &RemotePartEvent) {
        let (is_past, clock) = (self.is_past(), self.changes.clock());
        let Some(remote_barriers) = &mut self.remote_barriers else { return };
        let now = clock.now();
        match remote {
            RemotePartEvent::Joined => remote_barriers.join(),
            RemotePartEvent::Expects(parts) => remote_barriers.expect(*parts, now),
            RemotePartEvent::Arrived { barrier, count, at } => {
                remote_barriers.arrive(part, *barrier, *count, *at, if is_past { *at } else { now });
            }
            RemotePartEvent::Withdrawn { barrier, ticket } => remote_barriers.withdraw(part, *barrier, *ticket),
            RemotePartEvent::Stuck { received } => remote_barriers.stuck(part, *received, now),
            RemotePartEvent::Ended(_) | RemotePartEvent::Silent => remote_barriers.over(part, now),
            RemotePartEvent::Seen { .. } | RemotePartEvent::Over(_) => {}
        }
        self.changes.let_go(remote_barriers.take_released());
    }

    /// Checks the timeouts of barriers.
    fn expire_rounds(&mut self) {
        let is_past = self.is_past();
        if let Some(remote_barriers) = self.remote_barriers.as_mut().filter(|_| !is_past) {
            remote_barriers.expire_rounds(self.changes.clock().now());
            self.changes.let_go(remote_barriers.take_released());
        }
    }

    fn handle_remote(&mut self, part: usize, remote: RemotePartEvent) {
        self.changes.received_from_remote();
        self.handle_barriers(part, &remote);
        match remote {
            RemotePartEvent::Expects(parts) => self.expected = parts,
            RemotePartEvent::Arrived { .. } | RemotePartEvent::Withdrawn { .. } | RemotePartEvent::Stuck { .. } => {}
            RemotePartEvent::Joined => {
                self.merger.join();
                self.failing.push(false);
                self.gathered.iter_mut().for_each(|gathered| gathered.push(None));
            }
            RemotePartEvent::Seen { numbers, upto, seen } => self.merger.seen_remote(part, numbers, upto, seen),
            RemotePartEvent::Ended(end) => self.merger.part_over(part, *end),
            RemotePartEvent::Silent => self.merger.intervals.go_silent(part),
            RemotePartEvent::Over(workers_summary) => self.merger.intervals.workers_summary = Some(*workers_summary),
        }
    }

    /// The total of all shards, and how long it took.
    pub(super) fn finish(self) -> Result<Finished, RunError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.merger.finish()),
        }
    }
}

impl Aggregator for LoadAggregator {
    type Report = Report;
    type Update = Update;
    type Row = KeptInterval;

    fn keep(&self, news: &Update) -> Option<KeptInterval> {
        match news {
            Update::Interval(ready) => Some(self.merger.keep(ready)),
            _ => None,
        }
    }

    fn is_waiting(&self) -> bool {
        self.failure.is_none() && self.merger.intervals.is_waiting()
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Interval { shard, upto, at, seen } => self.merger.interval(shard, upto, at, seen),
            Report::Over { shard, at, ends, seen } => self.merger.over(shard, at, &ends, &seen),
            Report::Unreachable { shard, is_failing } => {
                self.failing[shard] = is_failing;
                let are_all = self.failing.iter().all(|&is| is);
                if self.place == Where::Partition {
                    self.reported_up.push_back(PartMessage::Unreachable(are_all));
                } else if are_all {
                    self.stop.abort();
                }
            }
            Report::StopRun { reason } if self.place == Where::Partition => {
                self.reported_up.push_back(PartMessage::StopRun(reason.to_string()));
            }
            Report::StopRun { reason } => self.stop.stop_because(&reason),
            Report::Broken(error) => {
                self.failure = Some(error);
                return self.stop.abort();
            }
            Report::Left { shard, scenario } => {
                self.merger.leave(shard, scenario);
                let is_left = (0..self.failing.len()).all(|shard| !self.merger.is_playing(shard, scenario));
                if self.place == Where::Partition && is_left {
                    self.reported_up.push_back(PartMessage::Left(scenario));
                }
            }
            Report::Remote { part, remote } => self.handle_remote(part, remote),
            Report::BarrierEvent(attended) => self.report_up(attended),
            Report::Gathered { shard, scenario, at } => self.gathered[scenario][shard] = Some(at),
            Report::Ready { .. } => {}
        }
        (0..self.gathered.len()).for_each(|scenario| self.start_round(scenario));
    }

    fn next(&mut self) -> Option<Update> {
        if let Some(change) = self.changes.after(self.revision) {
            self.revision = change.revision;
            self.merger.change(self.changes.timelines());
            return Some(Update::Changed(change));
        }
        if let Some(news) = self.reported_up.pop_front() {
            return Some(Update::Remote(news));
        }
        let is_on = self.is_waiting();
        self.merger.intervals.next(is_on).map(Update::Interval)
    }

    /// How long to wait for reports. A row that misses a late shard waits a moment more: after a stall of all shards,
    /// each reports by itself. And barriers have timeouts.
    fn patience(&mut self) -> Option<Duration> {
        let now = self.changes.clock().now();
        let due = self.remote_barriers.as_ref().filter(|_| !self.is_past()).map_or(Nanos::NEVER, RemoteBarriers::due);
        let left = (due < Nanos::NEVER).then(|| due.since(now).as_duration());
        let late = self.merger.intervals.patience(now);
        late.into_iter().chain(left).min()
    }

    fn on_timeout(&mut self) {
        self.expire_rounds();
        self.merger.intervals.on_timeout(self.changes.clock().now());
    }

    fn on_disconnect(&mut self) {
        self.merger.intervals.is_lost = true;
    }
}
