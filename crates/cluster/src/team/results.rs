//! What is told of each worker at the end.

use std::collections::HashMap;
use std::time::Duration;

use engine::WorkerResult;
use pacing::Nanos;

use crate::leader::Known;

/// Results in the order of the members.
pub(super) fn in_order(seen: HashMap<u16, WorkerResult>) -> Vec<WorkerResult> {
    let mut workers: Vec<(u16, WorkerResult)> = seen.into_iter().collect();
    workers.sort_by_key(|(member, _)| *member);
    workers.into_iter().map(|(_, result)| result).collect()
}

/// A worker is as it says.
pub(super) fn introduce(seen: &mut WorkerResult, known: &Known) {
    seen.clock_error = seen.clock_error.or(clock_error_of(known));
    seen.name.clone_from(&known.hello.name);
}

/// How wrong the clock of a worker may be, as it said when it got ready.
fn clock_error_of(known: &Known) -> Option<Duration> {
    let ready = known.hello.standing.as_ref()?.ready.as_ref().ok()?;
    Some(Nanos(ready.round_trip.0 / 2).as_duration())
}
