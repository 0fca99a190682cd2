//! Counts of iterations.

use engine::RunResult;
use metrics::Counts;
use plan::{Plan, Scenario};

/// Passes of users through the steps. For a single URL each request with its redirects is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// Iterations that completed.
    pub completed: u64,
    /// Iterations that ended at a failure.
    pub failed: u64,
    /// Iterations that were aborted.
    pub cut: u64,
}

impl Iterations {
    /// Whether none completed, though some could have.
    pub fn all_failed(&self) -> bool {
        self.completed == 0 && self.failed > 0
    }

    /// Whether there was none, not even an aborted one.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The iterations of a run, and the retries of failed exchanges.
pub(crate) fn rounds(plan: &Plan, result: &RunResult) -> (Iterations, u64) {
    let counts_of = |scenario| &result.total_of(scenario).counts;
    let each = || plan.scenarios.iter().zip((0..).map(counts_of));
    (iterations(each()), retried(each()))
}

/// The same of one scenario.
pub(crate) fn rounds_of(scenario: &Scenario, counts: &Counts) -> (Iterations, u64) {
    let one = || std::iter::once((scenario, counts));
    (iterations(one()), retried(one()))
}

/// The iterations of all scenarios. Where an iteration is one exchange with its redirects, the engine counts exchanges
/// alone.
fn iterations<'a>(scenarios: impl Iterator<Item = (&'a Scenario, &'a Counts)>) -> Iterations {
    scenarios.fold(Iterations::default(), |sum, (scenario, counts)| {
        let (completed, failed, cut) = (counts.iterations(), counts.iterations_failed(), counts.iterations_cut());
        let (completed, failed, cut) = match scenario.program.is_one_exchange() {
            // A redirect that was followed is a success on the way, and so is one for which no budget was left.
            true => {
                let on_the_way = counts.redirects() + cut;
                (
                    counts.succeeded().saturating_sub(on_the_way),
                    counts.failed(),
                    counts.unfinished() + counts.lost() + cut,
                )
            }
            false => (completed, failed, cut),
        };
        Iterations { completed: sum.completed + completed, failed: sum.failed + failed, cut: sum.cut + cut }
    })
}

/// Retries of failed exchanges: no plan requests them.
fn retried<'a>(scenarios: impl Iterator<Item = (&'a Scenario, &'a Counts)>) -> u64 {
    let of = |(scenario, counts): (&Scenario, &Counts)| {
        let each = scenario.program.asks_each().filter(|_| scenario.program.retries())?;
        let begun = counts.iterations() + counts.iterations_failed() + counts.iterations_cut();
        Some(counts.started().saturating_sub(counts.redirects() + counts.dropped() + begun * each))
    };
    scenarios.filter_map(of).sum()
}
