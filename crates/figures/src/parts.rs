//! The scenarios and the steps that make up a whole.

use metrics::{Censored, Class, Distribution, Measure, SERIES_MAX, SeriesKey, Snapshot, Timings};
use plan::{Plan, Scenario};

use crate::Times;
use crate::times::{Spoiled, Spread};

/// What came of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPart {
    /// Its name; that of the last one stands for those behind it too, where there are more than have figures of their own.
    pub name: String,
    /// Exchanges that ended.
    pub finished: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// Response times of what succeeded.
    pub response: Times,
}

/// What came of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioPart {
    /// Its name.
    pub name: String,
    /// Exchanges that ended.
    pub finished: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// Its steps, in their order.
    pub steps: Vec<StepPart>,
}

impl ScenarioPart {
    /// Each scenario of a plan.
    pub(crate) fn all(plan: &Plan, seen: &Snapshot) -> Vec<Self> {
        // The series of a snapshot are those of the first scenario, which is the only one that a plan has.
        plan.scenarios.iter().take(1).map(|scenario| Self::of(scenario, seen)).collect()
    }

    fn of(scenario: &Scenario, seen: &Snapshot) -> Self {
        let shown = scenario.steps.len().min(SERIES_MAX as usize);
        let name = |index: usize| {
            let is_last_of_more = index + 1 == SERIES_MAX as usize && scenario.steps.len() > shown;
            format!("{}{}", scenario.steps[index].name, if is_last_of_more { " ..." } else { "" })
        };
        let steps: Vec<StepPart> = (0..shown).map(|index| StepPart::of(name(index), index as u32, seen)).collect();
        Self {
            name: scenario.name.clone(),
            finished: steps.iter().map(|step| step.finished).sum(),
            failed: steps.iter().map(|step| step.failed).sum(),
            steps,
        }
    }
}

impl StepPart {
    fn of(name: String, step: u32, seen: &Snapshot) -> Self {
        let none = Distribution::default();
        let of = |class| seen.timings(SeriesKey { step, class }).map_or(&none, |timings| timings.of(Measure::Response));
        let finished: u64 = Class::ALL.iter().map(|class| of(*class).count()).sum();
        let succeeded = of(Class::Succeeded);
        let mut given_up = of(Class::TimedOut).clone();
        if let Some(unfinished) = seen.unfinished_of(step) {
            given_up.merge(unfinished.of(Measure::Response));
        }
        let censored = Censored::of_times(&given_up, succeeded);
        Self {
            name,
            finished,
            failed: finished - succeeded.count(),
            response: Times::of(succeeded, &censored, Spoiled::default()),
        }
    }
}

/// All steps of a class, of one measure.
pub(crate) fn of_class(seen: &Snapshot, class: Class, measure: Measure) -> Distribution {
    let mut sum = Distribution::default();
    each(seen, class).for_each(|timings| sum.merge(timings.of(measure)));
    sum
}

/// The same, without its percentiles.
pub(crate) fn spread_of_all(seen: &Snapshot, measure: Measure) -> Spread {
    let all = Class::ALL.into_iter().flat_map(|class| each(seen, class));
    all.map(|timings| Spread::of(timings.of(measure))).fold(Spread::default(), Spread::with)
}

/// Exchanges whose response time was given up, all steps.
pub(crate) fn given_up(seen: &Snapshot) -> Distribution {
    let mut sum = of_class(seen, Class::TimedOut, Measure::Response);
    for timings in (0..SERIES_MAX).filter_map(|step| seen.unfinished_of(step)) {
        sum.merge(timings.of(Measure::Response));
    }
    sum.merge(&seen.dropped_after);
    sum
}

fn each(seen: &Snapshot, class: Class) -> impl Iterator<Item = &Timings> {
    (0..SERIES_MAX).filter_map(move |step| seen.timings(SeriesKey { step, class }))
}
