//! Thresholds with the values that were measured for them.

use std::borrow::Cow;
use std::time::Duration;

use engine::RunResult;
use metrics::{Judgement, Named, Snapshot, Threshold};
use plan::Plan;

use crate::each::rated_for_all;

/// A threshold and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdResult {
    /// The threshold, as it was written.
    pub threshold: String,
    /// Whether it holds.
    pub judgement: Judgement,
}

impl ThresholdResult {
    /// Judges a threshold by a snapshot of a time span.
    pub fn new(threshold: &Threshold, seen: &Snapshot, span: Duration) -> Self {
        Self { threshold: threshold.text.clone(), judgement: threshold.judge(seen, span) }
    }

    /// The result of each threshold at the end of a run.
    pub(crate) fn for_run(thresholds: &[Threshold], plan: &Plan, result: &RunResult) -> Vec<Self> {
        let span = rated_for_all(plan, result.started_for).as_duration();
        all(thresholds, plan, (&result.total, span), |scenario| result.total_of(scenario))
    }

    /// The result of each threshold at the end of an interval: what is in flight is known of a run and of its
    /// scenarios, not of steps.
    pub fn so_far(thresholds: &[Threshold], plan: &Plan, reported: &engine::Interval<'_>) -> Vec<Self> {
        let nothing = Snapshot::default();
        let of = |scenario: usize| reported.scenarios.get(scenario).map_or(&nothing, |part| part.total);
        all(thresholds, plan, (reported.total, rated_for_all(plan, reported.to).as_duration()), of)
    }
}

fn all<'a>(
    thresholds: &[Threshold],
    plan: &Plan,
    (total, span): (&Snapshot, Duration),
    seen: impl Fn(usize) -> &'a Snapshot,
) -> Vec<ThresholdResult> {
    let one = |threshold: &Threshold| match &threshold.of {
        None => ThresholdResult::new(threshold, total, span),
        Some(name) => ThresholdResult::new(threshold, &seen_of_part(plan, name, &seen), span),
    };
    thresholds.iter().map(one).collect()
}

/// The snapshot of a scenario, or of all transactions or steps of a name; `seen`: the snapshots of all scenarios.
/// Empty for an unknown name.
pub fn seen_of_part<'a>(plan: &Plan, name: &str, seen: impl Fn(usize) -> &'a Snapshot) -> Cow<'a, Snapshot> {
    let mut sum = Snapshot::default();
    match engine::catalog(plan).named(name) {
        Some(Named::Scenario(scenario)) => return Cow::Borrowed(seen(scenario)),
        Some(Named::Series { places, .. }) => {
            places.into_iter().for_each(|(scenario, series)| sum.merge(&seen(scenario).only(series)));
        }
        None => {}
    }
    Cow::Owned(sum)
}
