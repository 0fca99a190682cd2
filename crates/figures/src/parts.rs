//! The scenarios, the steps, the transactions, the checks and the user's own figures of a run.

use metrics::{
    Catalog, Censored, Class, Distribution, Failure, Measure, OwnFigure, OwnTotal, Series, SeriesId, SeriesKind,
    Snapshot, Timings,
};
use plan::{Plan, Program};

use crate::Times;
use crate::times::{Spread, UnreliableMarks};

/// The figures of one step or of one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPart {
    /// Its name. Where there are more steps than have figures of their own, the last one stands for all further ones.
    pub name: String,
    /// Completed exchanges; of a transaction, the number of its completions.
    pub finished: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Of the failed, those that were tried again.
    pub retried: u64,
    /// Successes that came after their deadline.
    pub missed_deadline: u64,
    /// Those in flight when the run was over.
    pub unfinished: u64,
    /// Failures by reason.
    pub failures: Vec<(Failure, u64)>,
    /// Response times of successful requests; of a transaction, its time where everything in it completed.
    pub response: Times,
    /// The same as a histogram, without the incomplete ones.
    pub recorded: Distribution,
    /// Service times of the same requests, likewise a histogram.
    pub service: Distribution,
}

/// The figures of one check. It is no request, and in no count of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckPart {
    /// Its name; the last one stands for all further ones, as with steps.
    pub name: String,
    /// How often its condition was true.
    pub passed: u64,
    /// How often it was not.
    pub failed: u64,
}

/// A figure of the user's own, as one scenario recorded it.
#[derive(Clone, Debug, PartialEq)]
pub struct FigurePart {
    /// What it is.
    pub figure: OwnFigure,
    /// What was recorded; `None`: nothing.
    pub total: Option<OwnTotal>,
}

/// The figures of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioPart {
    /// Its name.
    pub name: String,
    /// Completed exchanges.
    pub finished: u64,
    /// Failed exchanges.
    pub failed: u64,
    /// Its steps, in order.
    pub steps: Vec<StepPart>,
    /// Its transactions, in order.
    pub transactions: Vec<StepPart>,
    /// Its checks, in order.
    pub checks: Vec<CheckPart>,
    /// The figures of the user's own that it may record, in order.
    pub figures: Vec<FigurePart>,
}

impl ScenarioPart {
    /// Each scenario of a plan with its names and zero figures.
    pub fn none(plan: &Plan) -> Vec<Self> {
        let nothing = Snapshot::default();
        Self::all(plan, plan.scenarios.iter().map(|_| &nothing))
    }

    /// Each scenario of a plan with the figures of its snapshot.
    pub(crate) fn all<'a>(plan: &Plan, seen: impl Iterator<Item = &'a Snapshot>) -> Vec<Self> {
        let catalog = engine::catalog(plan);
        let programs = plan.scenarios.iter().map(|scenario| &scenario.program);
        seen.zip(programs)
            .enumerate()
            .map(|(number, (seen, program))| Self::new(&catalog, number, program, seen))
            .collect()
    }

    fn new(catalog: &Catalog, scenario: usize, program: &Program, seen: &Snapshot) -> Self {
        let parts = |kind| catalog.series(scenario, kind).map(|series| StepPart::new(series, seen)).collect();
        let steps: Vec<StepPart> = parts(SeriesKind::Step);
        Self {
            name: catalog.name(scenario).unwrap_or_default().to_owned(),
            finished: steps.iter().map(|step| step.finished).sum(),
            failed: steps.iter().map(|step| step.failed).sum(),
            steps,
            transactions: parts(SeriesKind::Transaction),
            checks: catalog.series(scenario, SeriesKind::Check).map(|series| CheckPart::new(series, seen)).collect(),
            figures: FigurePart::all(program, seen),
        }
    }
}

impl FigurePart {
    /// The figures that a program may record.
    fn all(program: &Program, seen: &Snapshot) -> Vec<Self> {
        if program.figures.is_empty() {
            return Vec::new();
        }
        let (recorded, own) = (program.recorded(), engine::own_figures(program).into_iter().enumerate());
        let own = own.filter(|(number, _)| recorded.contains(number));
        own.map(|(number, figure)| Self { figure, total: seen.own(number).cloned() }).collect()
    }

    /// The number of recorded values.
    pub fn count(&self) -> u64 {
        self.total.as_ref().map_or(0, OwnTotal::count)
    }

    /// The statistics that views show, by their names; none where nothing was recorded.
    pub fn statistics(&self) -> Vec<(&'static str, f64)> {
        self.figure.statistics(self.total.as_ref())
    }
}

impl CheckPart {
    fn new(series: &Series, seen: &Snapshot) -> Self {
        let metrics::CheckCounts { passed, failed } = seen.check_counts(series.id);
        Self { name: name_of(series), passed, failed }
    }
}

/// The name of a series, with a mark where it stands for several.
fn name_of(series: &Series) -> String {
    format!("{}{}", series.name, if series.shared_by > 0 { " ..." } else { "" })
}

impl StepPart {
    fn new(series: &Series, seen: &Snapshot) -> Self {
        let id = series.id;
        let finished: u64 = Class::ALL.iter().map(|class| seen.count_of(id, *class)).sum();
        let none = Distribution::default();
        let response = |timings: &'_ Timings| timings.by_measure(Measure::Response).count();
        let known = |measure| seen.timings(id, Class::Succeeded).map_or(&none, |timings| timings.by_measure(measure));
        let succeeded = known(Measure::Response);
        let censored = Censored::for_series(seen, id, Measure::Response);
        Self {
            name: name_of(series),
            finished,
            failed: finished - succeeded.count(),
            retried: seen.retried_of(id),
            missed_deadline: seen.missed_deadline_of(id),
            unfinished: seen.unfinished_of(id).map_or(0, response),
            failures: seen.failures_of(id).collect(),
            response: Times::new(succeeded, &censored, UnreliableMarks::default()),
            recorded: succeeded.clone(),
            service: known(Measure::Service).clone(),
        }
    }
}

/// The times of one measure and one class, over all steps.
pub(crate) fn class_times(seen: &Snapshot, class: Class, measure: Measure) -> Distribution {
    let mut sum = Distribution::default();
    each(seen, class).for_each(|timings| sum.merge(timings.by_measure(measure)));
    sum
}

/// The times of one measure over all steps and classes.
pub(crate) fn class_independent(seen: &Snapshot, measure: Measure) -> Distribution {
    let mut sum = Distribution::default();
    for class in Class::ALL {
        each(seen, class).for_each(|timings| sum.merge(timings.by_measure(measure)));
    }
    sum
}

/// The same without percentiles.
pub(crate) fn spread_of_all(seen: &Snapshot, measure: Measure) -> Spread {
    let all = Class::ALL.into_iter().flat_map(|class| each(seen, class));
    all.map(|timings| Spread::new(timings.by_measure(measure))).fold(Spread::default(), Spread::with)
}

/// Response times of incomplete exchanges, over all steps.
pub(crate) fn incomplete(seen: &Snapshot) -> Distribution {
    let mut sum = class_times(seen, Class::TimedOut, Measure::Response);
    for timings in SeriesId::all(SeriesKind::Step).filter_map(|step| seen.unfinished_of(step)) {
        sum.merge(timings.by_measure(Measure::Response));
    }
    sum.merge(&seen.dropped_after);
    sum
}

fn each(seen: &Snapshot, class: Class) -> impl Iterator<Item = &Timings> {
    SeriesId::all(SeriesKind::Step).filter_map(move |step| seen.timings(step, class))
}
