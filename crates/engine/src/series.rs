//! The series of a plan.

use metrics::Catalog;
use plan::Plan;

/// The series of all scenarios of a plan: their steps, transactions and checks.
pub fn catalog(plan: &Plan) -> Catalog {
    Catalog::from_scenarios(plan.scenarios.iter().map(|scenario| {
        let steps = scenario.steps.iter().map(|step| &*step.name);
        let transactions = scenario.program.transactions.iter().map(|transaction| &*transaction.name);
        let checks = scenario.program.checks.iter().map(String::as_str);
        (&*scenario.name, steps, transactions, checks)
    }))
    .with_tags(plan::tags(&plan.scenarios))
}
