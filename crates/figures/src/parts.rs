//! The scenarios, the steps and the transactions that make up a whole.

use metrics::{
    Catalog, Censored, Class, Distribution, Failure, Measure, Series, SeriesId, SeriesKind, Snapshot, Timings,
};
use plan::Plan;

use crate::Times;
use crate::times::{Spread, UnreliableMarks};

/// What came of one step, or of one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPart {
    /// Its name; that of the last one stands for those behind it too, where there are more than have figures of their own.
    pub name: String,
    /// Exchanges that ended; of a transaction, how often it came to an end.
    pub finished: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// What was under way when the run was over.
    pub unfinished: u64,
    /// Why they failed.
    pub failures: Vec<(Failure, u64)>,
    /// Response times of successful requests; of a transaction, its time where all that it holds came to its end.
    pub response: Times,
    /// The same as a histogram, without those that were given up.
    pub recorded: Distribution,
    /// Service times of the same requests, likewise.
    pub service: Distribution,
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
    /// Its transactions, in their order.
    pub transactions: Vec<StepPart>,
}

impl ScenarioPart {
    /// Each scenario of a plan, with nothing in it: its names.
    pub fn none(plan: &Plan) -> Vec<Self> {
        let nothing = Snapshot::default();
        Self::all(plan, plan.scenarios.iter().map(|_| &nothing))
    }

    /// Each scenario of a plan, and what was seen of it.
    pub(crate) fn all<'a>(plan: &Plan, seen: impl Iterator<Item = &'a Snapshot>) -> Vec<Self> {
        let catalog = engine::catalog(plan);
        seen.enumerate().take(catalog.scenarios()).map(|(scenario, seen)| Self::of(&catalog, scenario, seen)).collect()
    }

    fn of(catalog: &Catalog, scenario: usize, seen: &Snapshot) -> Self {
        let parts = |kind| catalog.of(scenario, kind).map(|series| StepPart::of(series, seen)).collect();
        let steps: Vec<StepPart> = parts(SeriesKind::Step);
        Self {
            name: catalog.name(scenario).unwrap_or_default().to_owned(),
            finished: steps.iter().map(|step| step.finished).sum(),
            failed: steps.iter().map(|step| step.failed).sum(),
            steps,
            transactions: parts(SeriesKind::Transaction),
        }
    }
}

impl StepPart {
    fn of(series: &Series, seen: &Snapshot) -> Self {
        let id = series.id;
        let finished: u64 = Class::ALL.iter().map(|class| seen.count_of(id, *class)).sum();
        let none = Distribution::default();
        let response = |timings: &'_ Timings| timings.of(Measure::Response).count();
        let known = |measure| seen.timings(id, Class::Succeeded).map_or(&none, |timings| timings.of(measure));
        let succeeded = known(Measure::Response);
        let censored = Censored::of_series(seen, id, Measure::Response);
        Self {
            name: format!("{}{}", series.name, if series.shared_by > 0 { " ..." } else { "" }),
            finished,
            failed: finished - succeeded.count(),
            unfinished: seen.unfinished_of(id).map_or(0, response),
            failures: seen.failures_of(id).collect(),
            response: Times::of(succeeded, &censored, UnreliableMarks::default()),
            recorded: succeeded.clone(),
            service: known(Measure::Service).clone(),
        }
    }
}

/// All steps of a class, of one measure.
pub(crate) fn of_class(seen: &Snapshot, class: Class, measure: Measure) -> Distribution {
    let mut sum = Distribution::default();
    each(seen, class).for_each(|timings| sum.merge(timings.of(measure)));
    sum
}

/// All steps, of one measure, however they ended.
pub(crate) fn of_every_class(seen: &Snapshot, measure: Measure) -> Distribution {
    let mut sum = Distribution::default();
    for class in Class::ALL {
        each(seen, class).for_each(|timings| sum.merge(timings.of(measure)));
    }
    sum
}

/// The same, without its percentiles.
pub(crate) fn spread_of_all(seen: &Snapshot, measure: Measure) -> Spread {
    let all = Class::ALL.into_iter().flat_map(|class| each(seen, class));
    all.map(|timings| Spread::of(timings.of(measure))).fold(Spread::default(), Spread::with)
}

/// Exchanges whose response time was given up, all steps.
pub(crate) fn incomplete(seen: &Snapshot) -> Distribution {
    let mut sum = of_class(seen, Class::TimedOut, Measure::Response);
    for timings in SeriesId::all(SeriesKind::Step).filter_map(|step| seen.unfinished_of(step)) {
        sum.merge(timings.of(Measure::Response));
    }
    sum.merge(&seen.dropped_after);
    sum
}

fn each(seen: &Snapshot, class: Class) -> impl Iterator<Item = &Timings> {
    SeriesId::all(SeriesKind::Step).filter_map(move |step| seen.timings(step, class))
}
