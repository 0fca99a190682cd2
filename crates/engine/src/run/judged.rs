//! Results of the scenarios of a run, with the bottleneck of each.

use std::sync::Arc;

use pacing::Nanos;
use pacing::change::Timeline;
use plan::{Load, Plan, Scenario};

use super::divide;
use super::merge::{Finished, ScenarioEnds};
use super::{ScenarioResult, WireScenarioOutcome};
use crate::verdict::{Evidence, LinkUse, MachineUse, Verdict};

/// The result of each scenario of a plan. `way`: the interface through which all of them went, and this machine, where
/// they are known.
pub(super) fn judged(
    plan: &Plan,
    timelines: &[Arc<Timeline>],
    finished: &Finished,
    way: (Option<&LinkUse>, Option<MachineUse>),
) -> Vec<ScenarioResult> {
    let scenarios = plan.scenarios.iter().zip(timelines).enumerate();
    scenarios.map(|(number, (scenario, timeline))| one(number, scenario, timeline, finished, way)).collect()
}

fn one(
    number: usize,
    scenario: &Scenario,
    timeline: &Timeline,
    finished: &Finished,
    way: (Option<&LinkUse>, Option<MachineUse>),
) -> ScenarioResult {
    let end = &finished.ends[number];
    let (total, wall, shards) = (finished.total_of(number), finished.wall, &finished.shards[..]);
    let paused = timeline.paused_between(Nanos::ZERO, end.stopped_at);
    let requested_per_s = divide::requested_per_s(scenario, timeline, end.stopped_at, total);
    let growth = end.backlog.and_then(|backlog| divide::growth(timeline, backlog));
    let users_s = users_s(scenario, timeline, end.stopped_at);
    let (slices, first, link, machine) = (&end.slices, &end.first_times, way.0.cloned(), way.1);
    let evidence =
        Evidence { scenario, total, wall, shards, requested_per_s, link, growth, slices, first, users_s, machine };
    let verdict = Verdict::new(evidence);
    ScenarioResult { started_for: end.stopped_at.since(paused), paused, requested_per_s, users_s, verdict }
}

/// Instants at which the users of a load are counted, to compute how long they were there together.
const COUNTED: u64 = 1_000;

/// How long the users of a closed load were there together, in seconds.
fn users_s(scenario: &Scenario, timeline: &Timeline, until: Nanos) -> Option<f64> {
    if !matches!(scenario.load, Load::Closed { .. }) {
        return None;
    }
    let streams = f64::from(scenario.target().streams);
    let instant =
        |index: u64| Nanos(((u128::from(until.0) * u128::from(2 * index + 1)) / u128::from(2 * COUNTED)) as u64);
    let sum: u64 = (0..COUNTED).map(|index| timeline.users_at(instant(index))).sum();
    let paused = timeline.paused_between(Nanos::ZERO, until);
    Some(sum as f64 / COUNTED as f64 * streams * until.since(paused).as_secs_f64())
}

/// The outcome of each scenario, as reported.
pub(super) fn ends(finished: &Finished) -> Vec<WireScenarioOutcome> {
    finished.ends.iter().map(reported_of).collect()
}

fn reported_of(end: &ScenarioEnds) -> WireScenarioOutcome {
    let backlog = end.backlog.map(|backlog| (backlog.halfway, backlog.at_end));
    let (slices, first_times) = (end.slices.clone(), end.first_times.clone());
    WireScenarioOutcome { stopped_at: end.stopped_at, left: end.left, backlog, spent: end.spent, slices, first_times }
}
