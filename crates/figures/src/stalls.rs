//! What stalls made of the times: those of the target, which a closed load hides, and our own.

use engine::ThreadUsage;
use metrics::{Measure, Snapshot, Timings};
use plan::Plan;

/// A slowest time so many times the mean, and so long, was a stall.
const STALL_FACTOR: f64 = 10.0;
const STALL_MIN_NS: u64 = 100_000_000;

/// What a closed load never started, because its users waited for one that was slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinatedOmission {
    /// The slowest answer.
    pub slowest_ns: u64,
    /// Requests that would have met it, at most.
    pub requests: u64,
}

/// Stalls of our own that are in the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallImpact {
    /// Exchanges that contain one.
    pub covered: u64,
    /// How long the thread that stood still longest did so.
    pub stalled_ns: u64,
}

impl CoordinatedOmission {
    /// A closed load starts nothing while it waits.
    pub(crate) fn of(total: &Snapshot, succeeded: &Timings, plan: &Plan) -> Option<Self> {
        let users: u64 = plan.scenarios.iter().map(plan::Scenario::users).sum();
        let service = succeeded.of(Measure::Service);
        // What a stall of ours made of an answer says nothing of the target.
        let (slowest_ns, mean) = (service.max_without(total.covered())?, service.mean()?);
        let is_stall = slowest_ns >= STALL_MIN_NS && (slowest_ns as f64) >= STALL_FACTOR * mean;
        is_stall.then(|| Self { slowest_ns, requests: (users as f64 * slowest_ns as f64 / mean) as u64 })
    }
}

impl StallImpact {
    pub(crate) fn of(total: &Snapshot, shards: &[ThreadUsage]) -> Option<Self> {
        let covered = total.counts.stall_affected_responses().max(total.covered_count());
        let stalled_ns = shards.iter().map(|spent| spent.stalled_ns).max().unwrap_or(0);
        (covered > 0).then_some(Self { covered, stalled_ns })
    }
}
