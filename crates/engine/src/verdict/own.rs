//! What this program and its machine did to the figures: starts that were late, loops that stood still, cores that were full.

use metrics::{Counts, Measure, Timings};
use pacing::Nanos;

use super::{Evidence, LOSS_SHARE_MAX};
use crate::usage::ThreadUsage;

/// Starts that are later than this at the 99th percentile are no more what was asked for; a scheduler's own hiccups are below.
const LATENESS_MAX: Nanos = Nanos::from_millis(10);
/// A tick that is later than this keeps answers waiting that should be stamped, however long they take.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// The share of late ticks, and how many of them, from which on a thread was the limit.
const LATE_TICKS_SHARE_MAX: f64 = 0.01;
const LATE_TICKS_MIN: u64 = 2;
/// Users whose threads stood still for this share of the time made so much less of a rate.
const STALLED_SHARE_MAX: f64 = 0.05;
/// A thread that was ready for this share of its time, and had no core, was kept from its work.
const RUN_DELAY_SHARE_MAX: f64 = 0.2;
/// A shard that wanted a whole core for this share of its time was the limit.
const SATURATED_SHARE_MAX: f64 = 0.2;

/// What was late, stood still or had no core did so for longer than the rate bears. Times that a stall made longer are marked by
/// themselves.
pub(super) fn was_late(evidence: &Evidence<'_>, all: &Timings) -> bool {
    let (counts, shards) = (&evidence.total.counts, evidence.shards);
    let dropped = counts.dropped_by_generator() as f64 > LOSS_SHARE_MAX * counts.all_started() as f64;
    let was_kept = |spent: &ThreadUsage| {
        saturated_share(spent, counts) >= SATURATED_SHARE_MAX || spent.run_delay_share() >= RUN_DELAY_SHARE_MAX
    };
    // A load with a rate sends what it owes; one of users sends less for as long as it stands still.
    let stalled = shards.iter().map(ThreadUsage::stalled_share).sum::<f64>() / shards.len().max(1) as f64;
    let is_in_rate = evidence.requested_per_s.is_none() && stalled > STALLED_SHARE_MAX;
    dropped || late_starts(all) > LATE_TICKS_SHARE_MAX || is_in_rate || shards.iter().any(was_kept)
}

/// The share of the starts that were later than they may be; a single one says nothing.
fn late_starts(all: &Timings) -> f64 {
    let lateness = all.of(Measure::Lateness);
    let late = lateness.count_between(LATENESS_MAX.0 + 1, u64::MAX);
    if late < LATE_TICKS_MIN { 0.0 } else { late as f64 / lateness.count() as f64 }
}

/// How much of the time a thread wanted all of its core for what somebody answered: whoever is refused at once tries again at once.
fn saturated_share(spent: &ThreadUsage, counts: &Counts) -> f64 {
    let is_refused = counts.responses() + counts.succeeded() == 0 && counts.failed() > 0;
    if is_refused { 0.0 } else { spent.saturated_share() }
}

/// The largest share of the time, or of the starts, that the generator was late for.
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
