//! Which series a plan has.

use metrics::{Catalog, SeriesKind};
use plan::Plan;

/// The series of all scenarios of a plan: their steps, and what they time as one.
pub fn catalog(plan: &Plan) -> Catalog {
    let mut catalog = Catalog::default();
    for scenario in &plan.scenarios {
        catalog.add_scenario(&scenario.name);
        for step in &scenario.steps {
            catalog.add(SeriesKind::Step, &step.name);
        }
        for transaction in &scenario.program.transactions {
            catalog.add(SeriesKind::Transaction, &transaction.name);
        }
    }
    catalog
}
