//! The results of each worker.

use std::collections::HashMap;
use std::time::Duration;

use engine::WorkerResult;
use pacing::Nanos;

use crate::leader::KnownWorker;

/// The interval at which worker results are reported, when there is news.
const TELLS_OF_WORKERS: Nanos = Nanos::from_millis(500);

/// The schedule of worker reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Telling {
    /// There is unreported news.
    has_more: bool,
    /// The last report.
    reported_at: Nanos,
}

impl Telling {
    /// Notes that there is news.
    pub(super) fn knows_more(&mut self) {
        self.has_more = true;
    }

    /// Whether a report is due now; if so, it counts as made.
    pub(super) fn is_due(&mut self, now: Nanos) -> bool {
        let is_due = self.has_more && now.since(self.reported_at) >= TELLS_OF_WORKERS;
        if is_due {
            *self = Self { has_more: false, reported_at: now };
        }
        is_due
    }
}

/// Results in the order of the members.
pub(super) fn in_order(seen: HashMap<u16, WorkerResult>) -> Vec<WorkerResult> {
    let mut workers: Vec<(u16, WorkerResult)> = seen.into_iter().collect();
    workers.sort_by_key(|(member, _)| *member);
    workers.into_iter().map(|(_, result)| result).collect()
}

/// The identity of a worker, as it reports it.
pub(super) struct Introduction {
    pub(super) name: String,
    /// The error bound of its clock, as reported when it got ready.
    pub(super) clock_error: Option<Duration>,
}

impl Introduction {
    pub(super) fn of(known: &KnownWorker) -> Self {
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
