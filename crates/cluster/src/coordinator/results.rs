//! The results of each worker, of loads and of held connections.

use std::collections::HashMap;
use std::time::Duration;

use engine::WorkerResult;
use pacing::Nanos;

use crate::leader::KnownWorker;

/// The interval at which worker results are reported, when there is news.
const TELLS_OF_WORKERS: Nanos = Nanos::from_millis(500);

/// What is known of each worker of a run, and when that was last reported.
#[derive(Default)]
pub(super) struct WorkerResults {
    workers: HashMap<u16, WorkerResult>,
    /// The largest delay at which their data was processed.
    pub(super) received_late: Nanos,
    /// There is unreported news.
    has_more: bool,
    /// The last report.
    reported_at: Nanos,
}

impl WorkerResults {
    /// The results of a member, of which there is news.
    pub(super) fn of(&mut self, member: u16) -> &mut WorkerResult {
        self.has_more = true;
        self.workers.entry(member).or_default()
    }

    /// Marks a lost member that had these slots.
    pub(super) fn lost(&mut self, member: u16, name: String, slots: u32) {
        let seen = self.of(member);
        (seen.losses, seen.slots) = (seen.losses + 1, seen.slots.max(slots));
        if seen.name.is_empty() {
            seen.name = name;
        }
    }

    /// Whether a member was lost.
    pub(super) fn is_lost(&self, member: u16) -> bool {
        self.workers.get(&member).is_some_and(|seen| seen.losses > 0)
    }

    /// All results, when a report is due now; it then counts as made.
    pub(super) fn due(&mut self, now: Nanos) -> Option<Vec<WorkerResult>> {
        let is_due = self.has_more && now.since(self.reported_at) >= TELLS_OF_WORKERS;
        is_due.then(|| {
            (self.has_more, self.reported_at) = (false, now);
            self.in_order()
        })
    }

    /// Results in the order of the members.
    pub(super) fn in_order(&self) -> Vec<WorkerResult> {
        let mut workers: Vec<_> = self.workers.iter().collect();
        workers.sort_by_key(|(member, _)| **member);
        workers.into_iter().map(|(_, result)| result.clone()).collect()
    }
}

/// The identity of a worker, as it reports it.
pub(super) struct Introduction {
    pub(super) name: String,
    /// The error bound of its clock, as reported when it got ready.
    pub(super) clock_error: Option<Duration>,
}

impl Introduction {
    pub(super) fn new(known: &KnownWorker) -> Self {
        let standing = known.hello.standing.as_ref();
        let ready = standing.and_then(|standing| standing.ready.as_ref().ok());
        let clock_error = ready.map(|ready| Nanos(ready.round_trip.0 / 2).as_duration());
        Self { name: known.hello.name.clone(), clock_error }
    }

    /// Adds the identity to the results of the worker.
    pub(super) fn introduce(&self, seen: &mut WorkerResult) {
        seen.clock_error = seen.clock_error.or(self.clock_error);
        seen.name.clone_from(&self.name);
    }
}
