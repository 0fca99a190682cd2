//! The series of a plan.

use metrics::{Catalog, OwnFigure, OwnKind};
use plan::{Plan, Program};

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

/// The figures of the user's own that a program may record, in the order of their numbers.
pub fn own_figures(program: &Program) -> Vec<OwnFigure> {
    let own = |figure: &plan::OwnFigure| OwnFigure {
        name: figure.name.clone(),
        kind: match figure.kind {
            plan::OwnKind::Counter => OwnKind::Counter,
            plan::OwnKind::Trend => OwnKind::Trend,
            plan::OwnKind::Share => OwnKind::Share,
            plan::OwnKind::Gauge => OwnKind::Gauge,
        },
        unit: figure.unit.clone(),
        step: figure.step,
    };
    program.figures.iter().map(own).collect()
}
