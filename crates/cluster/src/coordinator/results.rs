//! What is told of each worker at the end.

use std::collections::HashMap;
use std::time::Duration;

use engine::WorkerResult;
use pacing::Nanos;

use crate::leader::KnownWorker;

/// What is known of workers is told so often, when there is more.
const TELLS_OF_WORKERS: Nanos = Nanos::from_millis(500);

/// When what is known of workers is told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Telling {
    /// There is more to say than was said.
    has_more: bool,
    /// When it was told last.
    reported_at: Nanos,
}

impl Telling {
    /// More is known by now.
    pub(super) fn knows_more(&mut self) {
        self.has_more = true;
    }

    /// It is to be told now, which says that it is.
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

/// Who a worker is, as it says.
pub(super) struct Introduction {
    pub(super) name: String,
    /// How wrong its clock may be, as it said when it got ready.
    pub(super) clock_error: Option<Duration>,
}

impl Introduction {
    pub(super) fn of(known: &KnownWorker) -> Self {
        let standing = known.hello.standing.as_ref();
        let ready = standing.and_then(|standing| standing.ready.as_ref().ok());
        let clock_error = ready.map(|ready| Nanos(ready.round_trip.0 / 2).as_duration());
        Self { name: known.hello.name.clone(), clock_error }
    }

    /// What is told of it says who it is.
    pub(super) fn introduce(&self, seen: &mut WorkerResult) {
        seen.clock_error = seen.clock_error.or(self.clock_error);
        seen.name.clone_from(&self.name);
    }
}
