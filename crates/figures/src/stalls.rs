//! The effect of stalls on the times: stalls of the target, which a closed load hides, and of the generator.

use engine::ThreadUsage;
use metrics::{Measure, Snapshot, Timings};
use plan::Plan;

/// A maximum that is this many times the mean, and also long enough, was a stall.
const STALL_FACTOR: f64 = 10.0;
const STALL_MIN_NS: u64 = 100_000_000;

/// Requests that a closed load never started, because its users waited for a slow one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinatedOmission {
    /// The slowest response.
    pub slowest_ns: u64,
    /// Requests that would have met the stall, at most.
    pub requests: u64,
}

/// Stalls of the generator that are in the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallImpact {
    /// Exchanges that contain one.
    pub stall_affected: u64,
    /// The longest stall of a thread.
    pub stalled_ns: u64,
}

impl CoordinatedOmission {
    /// A closed load starts nothing while it waits.
    pub(crate) fn new(total: &Snapshot, succeeded: &Timings, plan: &Plan) -> Option<Self> {
        let users: u64 = plan.scenarios.iter().map(plan::Scenario::users).sum();
        let service = succeeded.by_measure(Measure::Service);
        // A response time that a stall of the generator caused says nothing of the target.
        let (slowest_ns, mean) = (service.max_without(total.stall_affected())?, service.mean()?);
        let is_stall = slowest_ns >= STALL_MIN_NS && (slowest_ns as f64) >= STALL_FACTOR * mean;
        is_stall.then(|| Self { slowest_ns, requests: (users as f64 * slowest_ns as f64 / mean) as u64 })
    }
}

impl StallImpact {
    pub(crate) fn new(total: &Snapshot, shards: &[ThreadUsage]) -> Option<Self> {
        let stall_affected = total.counts.stall_affected_responses().max(total.stall_affected_count());
        let stalled_ns = shards.iter().map(|spent| spent.stalled_ns).max().unwrap_or(0);
        (stall_affected > 0).then_some(Self { stall_affected, stalled_ns })
    }
}
