//! Effects of this program and its machine on the figures: late starts, stalled loops, full cores.

use metrics::{Counts, Measure, Timings};
use pacing::Nanos;

use super::{Evidence, LOSS_SHARE_MAX};
use crate::usage::ThreadUsage;

/// Starts that are later than this at the 99th percentile differ from the requested load; a scheduler's own hiccups are
/// below.
const LATENESS_MAX: Nanos = Nanos::from_millis(10);
/// A tick that is later than this delays the stamps of responses, however long they take.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// The share of late ticks, and their number, from which on a thread was the bottleneck.
const LATE_TICKS_SHARE_MAX: f64 = 0.01;
const LATE_TICKS_MIN: u64 = 2;
/// Users whose threads were stalled for this share of the time made that much less of a rate.
const STALLED_SHARE_MAX: f64 = 0.05;
/// A thread that was ready without a core for this share of its time was kept from its work.
const RUN_DELAY_SHARE_MAX: f64 = 0.2;
/// A shard that needed a whole core for this share of its time was the bottleneck.
const SATURATED_SHARE_MAX: f64 = 0.2;

/// The generator was late, stalled or without a core for longer than the rate tolerates. Times that a stall made longer
/// are marked by themselves.
pub(super) fn was_late(evidence: &Evidence<'_>, all: &Timings) -> bool {
    let (counts, shards) = (&evidence.total.counts, evidence.shards);
    let dropped = counts.dropped_by_generator() as f64 > LOSS_SHARE_MAX * counts.all_started() as f64;
    let was_kept = |spent: &ThreadUsage| {
        saturated_share(spent, counts) >= SATURATED_SHARE_MAX || spent.run_delay_share() >= RUN_DELAY_SHARE_MAX
    };
    // A load with a rate sends what it owes; one of users sends less for as long as it is stalled.
    let stalled = shards.iter().map(ThreadUsage::stalled_share).sum::<f64>() / shards.len().max(1) as f64;
    let is_in_rate = evidence.requested_per_s.is_none() && stalled > STALLED_SHARE_MAX;
    dropped || late_starts(all) > LATE_TICKS_SHARE_MAX || is_in_rate || shards.iter().any(was_kept)
}

/// The share of the starts that were later than allowed; a single one means nothing.
fn late_starts(all: &Timings) -> f64 {
    let lateness = all.by_measure(Measure::Lateness);
    let late = lateness.count_between(LATENESS_MAX.0 + 1, u64::MAX);
    if late < LATE_TICKS_MIN { 0.0 } else { late as f64 / lateness.count() as f64 }
}

/// The share of the time in which a thread needed all of its core for exchanges with a response: a user whose
/// connection is refused at once retries at once.
fn saturated_share(spent: &ThreadUsage, counts: &Counts) -> f64 {
    let is_refused = counts.responses() + counts.succeeded() == 0 && counts.failed() > 0;
    if is_refused { 0.0 } else { spent.saturated_share() }
}

/// The largest share of the time, or of the starts, for which the generator was late.
pub(super) fn own_share(evidence: &Evidence<'_>, all: &Timings) -> f64 {
    let counts = &evidence.total.counts;
    let of_thread = |spent: &ThreadUsage| {
        saturated_share(spent, counts).max(spent.run_delay_share()).max(spent.stalled_share()).max({
            let late = spent.lag.count_between(LAG_MAX.0, u64::MAX);
            late as f64 / spent.lag.count().max(1) as f64
        })
    };
    let dropped = counts.dropped_by_generator() as f64 / counts.all_started().max(1) as f64;
    evidence.shards.iter().map(of_thread).fold(dropped.max(late_starts(all)), f64::max)
}
