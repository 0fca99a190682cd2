//! Where the reports of the shards come together.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Change;

use super::merge::{Finished, Merger, Ready};
use super::{Interval, RunError};
use crate::control::{Changes, StopHandle};
use crate::shard::{Report, Times};

/// From the last arrival at a rendezvous to its instant: time for all shards to wake up.
const ROUND_LEAD: Nanos = Nanos::from_millis(2);

/// What is to be told next.
pub(super) enum News {
    Interval(Ready),
    Changed(Change),
}

/// Where the reports of the shards come together.
pub(super) struct Desk {
    pub(super) merger: Merger,
    hopeless: Vec<bool>,
    /// Shards whose users all wait for those of the others, since when.
    gathered: Vec<Option<Nanos>>,
    stop: StopHandle,
    failure: Option<RunError>,
    changes: Arc<Changes>,
    /// The last change that was told.
    revision: u32,
    /// All shards have gone without a word.
    is_lost: bool,
}

impl Desk {
    pub(super) fn new(
        times: Times,
        returns: Vec<Sender<Box<Snapshot>>>,
        stop: StopHandle,
        changes: Arc<Changes>,
    ) -> Self {
        let shards = returns.len();
        let merger = Merger::new(times, changes.timeline(), returns);
        let (hopeless, gathered) = (vec![false; shards], vec![None; shards]);
        Self { merger, hopeless, gathered, stop, failure: None, changes, revision: 0, is_lost: false }
    }

    /// Some shard will still report, and what it says is wanted.
    pub(super) fn is_waiting(&self) -> bool {
        self.failure.is_none() && !self.is_lost && self.merger.running() > 0
    }

    pub(super) fn take(&mut self, report: Report) {
        match report {
            Report::Interval { shard, upto, at, seen } => self.merger.interval(shard, upto, at, seen),
            Report::Over { shard, at, stopped_at, backlog, seen } => {
                self.merger.over(shard, at, stopped_at, backlog, &seen);
            }
            Report::Hopeless { shard, is_hopeless } => {
                self.hopeless[shard] = is_hopeless;
                if self.hopeless.iter().all(|&is| is) {
                    self.stop.abort();
                }
            }
            Report::Broken(error) => {
                self.failure = Some(error);
                return self.stop.abort();
            }
            Report::Gathered { shard, at } => self.gathered[shard] = Some(at),
            Report::Ready { .. } => {}
        }
        self.start_round();
    }

    /// What can be told now. When nobody reports any more, that is all that is left.
    pub(super) fn next(&mut self) -> Option<News> {
        if let Some(change) = self.changes.after(self.revision) {
            self.revision = change.revision;
            self.merger.change(self.changes.timeline());
            return Some(News::Changed(change));
        }
        let is_on = self.is_waiting();
        let ready = if is_on { self.merger.next_interval() } else { self.merger.last_interval() };
        ready.map(News::Interval)
    }

    /// An interval that is ready.
    pub(super) fn interval(&self, ready: &Ready) -> Interval<'_> {
        self.merger.told_as(ready)
    }

    /// When the users of all shards that still run wait for each other, they start together.
    fn start_round(&mut self) {
        let Some(last) = self.gathered.iter().flatten().max().copied() else { return };
        let is_awaited = |(shard, since): (usize, &Option<Nanos>)| since.is_none() && self.merger.is_running(shard);
        if !self.gathered.iter().enumerate().any(is_awaited) {
            self.gathered.fill(None);
            self.stop.release(last + ROUND_LEAD);
        }
    }

    /// Nobody will report any more.
    pub(super) fn lose_all(&mut self) {
        self.is_lost = true;
    }

    /// What all of it comes to, and how long it took.
    pub(super) fn finish(self) -> Result<Finished, RunError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.merger.finish()),
        }
    }
}
