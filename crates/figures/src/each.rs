//! Results of each scenario of a run: its rate, its counts, and the step that takes most of its time.

use engine::{RunResult, ScenarioResult};
use metrics::{Class, Measure, SeriesKind, Snapshot};
use pacing::Nanos;
use plan::{Plan, Scenario};

use crate::iterations::{Iterations, rounds_of};
use crate::requested::RequestedRate;
use crate::{Tally, per_second};

/// A step that takes more than this share of the time is named.
const HELD_SHARE_MIN: f64 = 0.5;

/// The results of one scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioRun {
    /// Its counts.
    pub tally: Tally,
    /// Completed exchanges per second of the time in which it started some, from its own beginning on.
    pub rate: f64,
    /// Of an open load: starts per second of the same time.
    pub achieved_per_s: Option<f64>,
    /// The mean rate that was requested; `None` of a closed load.
    pub requested_per_s: Option<f64>,
    /// The step that takes most of its time.
    pub held_by: Option<HeldBy>,
}

/// A step that takes more than half of the time of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldBy {
    /// The name of the step.
    pub step: String,
    /// The mean time of the step in an iteration.
    pub step_ns: f64,
    /// The mean time of an iteration.
    pub iteration_ns: f64,
    /// Whether the time is that of users, pauses included; otherwise it is that of their requests alone.
    pub is_of_users: bool,
}

impl ScenarioRun {
    /// The results of each scenario of a plan, in its order.
    pub(crate) fn all(plan: &Plan, result: &RunResult) -> Vec<Self> {
        let all = plan.scenarios.iter().zip(&result.scenarios).enumerate();
        all.map(|(number, (scenario, of))| Self::new(plan, number, scenario, of, result)).collect()
    }

    fn new(plan: &Plan, number: usize, scenario: &Scenario, of: &ScenarioResult, result: &RunResult) -> Self {
        let seen = result.total_of(number);
        let tally = Tally::new(seen);
        let span = rated_for(of.started_for, scenario.begin);
        let (all_s, span_s) = (of.started_for.as_secs_f64(), span.as_secs_f64());
        // No rate is requested before the scenario begins.
        let requested_per_s =
            of.requested_per_s.map(|requested| if span_s > 0.0 { requested * all_s / span_s } else { requested });
        let last = per_second(scenario.program.asks_each().unwrap_or(0), span_s);
        let requested = RequestedRate { per_s: requested_per_s, last, was_stopped: result.was_stopped };
        let (iterations, again) = rounds_of(scenario, &seen.counts);
        let (rate, achieved_per_s) = requested.rates(&tally, again, span_s);
        let held_by = held_by(plan, number, seen, iterations, of.users_s);
        Self { rate, achieved_per_s, requested_per_s, held_by, tally }
    }
}

/// The time base of rates: nothing is started before the load begins.
pub(crate) fn rated_for(started_for: Nanos, begin: std::time::Duration) -> Nanos {
    started_for.since(Nanos::from(begin))
}

/// The time base of the rates of all scenarios: from the first of them on.
pub(crate) fn rated_for_all(plan: &Plan, started_for: Nanos) -> Nanos {
    rated_for(started_for, plan.scenarios.iter().map(|scenario| scenario.begin).min().unwrap_or_default())
}

/// The step, of several, that took more than half of the time.
fn held_by(plan: &Plan, number: usize, seen: &Snapshot, done: Iterations, users_s: Option<f64>) -> Option<HeldBy> {
    let catalog = engine::catalog(plan);
    let sum_of = |series: &metrics::Series| {
        let of_class =
            |class| seen.timings(series.id, class).map_or(0, |times| times.by_measure(Measure::Response).sum());
        Class::ALL.into_iter().map(of_class).sum::<u128>() as f64
    };
    let steps: Vec<(&str, f64)> =
        catalog.series(number, SeriesKind::Step).map(|series| (series.name.as_str(), sum_of(series))).collect();
    let iterations = (done.completed + done.failed) as f64;
    if steps.len() < 2 || iterations == 0.0 {
        return None;
    }
    let all_ns = users_s.map_or_else(|| steps.iter().map(|(_, sum)| sum).sum::<f64>(), |users_s| users_s * 1e9);
    let (step, sum) = steps.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (sum > HELD_SHARE_MIN * all_ns && all_ns >= sum).then(|| HeldBy {
        step: step.to_owned(),
        step_ns: sum / iterations,
        iteration_ns: all_ns / iterations,
        is_of_users: users_s.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metrics::{Outcome, SeriesId};
    use plan::{Flags, Step};

    use super::*;

    /// Three steps of a user with these times, in milliseconds, ten times.
    fn iterated(steps_ms: [u64; 3]) -> (Plan, Snapshot) {
        let flags = Flags { url: Some("http://127.0.0.1:8080/x".to_owned()), ..Flags::default() };
        let mut plan = flags.plan().expect("a good plan");
        let first = plan.scenarios[0].steps[0].clone();
        plan.scenarios[0].steps =
            (0..3).map(|number| Step { name: format!("step {number}"), ..first.clone() }).collect();
        let mut seen = Snapshot::default();
        for (step, ms) in (0..).zip(steps_ms) {
            let timings = seen.outcome(SeriesId::step(step), Outcome::Succeeded);
            timings.record_many(Measure::Response, ms * 1_000_000, 10);
        }
        (plan, seen)
    }

    const TEN: Iterations = Iterations { completed: 10, failed: 0, cut: 0 };

    #[test]
    fn a_step_that_holds_most_of_the_time_is_named() {
        let (plan, seen) = iterated([2, 30, 1]);
        let held = held_by(&plan, 0, &seen, TEN, None).expect("the second one");
        assert_eq!((held.step.as_str(), held.step_ns, held.iteration_ns), ("step 1", 30e6, 33e6));
        // With pauses an iteration is longer: 40 ms, and then 100, of which the step is less than half.
        let of_users = |seconds| held_by(&plan, 0, &seen, TEN, Some(seconds));
        let held = of_users(0.4).expect("it is more than half");
        assert!((held.iteration_ns - 40e6).abs() < 1.0 && held.is_of_users, "{held:?}");
        assert_eq!(of_users(1.0), None);
        let (plan, seen) = iterated([10, 11, 12]);
        assert_eq!(held_by(&plan, 0, &seen, TEN, None), None);
        assert_eq!(held_by(&plan, 0, &seen, Iterations::default(), None), None);
    }

    #[test]
    fn what_comes_before_a_scenario_begins_is_in_no_rate() {
        let begin = Duration::from_secs(3);
        assert_eq!(rated_for(Nanos::from_millis(4_000), begin), Nanos::from_millis(1_000));
        // A scenario that was stopped before it began has no time.
        assert_eq!(rated_for(Nanos::from_millis(2_000), begin), Nanos::ZERO);
    }
}
