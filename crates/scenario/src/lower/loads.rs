//! The load of a scenario.

use std::time::Duration;

use plan::{Arrivals, ConnectionCount, Load as PlanLoad, UserShape};

use crate::file::{Amount, Iterations, Scenario};

/// The distance between the seeds of two scenarios: as far as possible.
pub(super) const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stage in which nothing starts.
fn later(begin: Duration) -> Option<plan::RateStage> {
    (!begin.is_zero()).then_some(plan::RateStage { from: 0, to: 0, span: begin })
}

/// Random starts are those of the seed and of the scenario.
pub(super) fn with_seed(mut load: PlanLoad, seed: u64, scenario: u64) -> PlanLoad {
    if let PlanLoad::Open { arrivals: Arrivals::Poisson { seed: own }, .. } = &mut load {
        *own = seed.wrapping_add(scenario.wrapping_mul(SEED_STEP));
    }
    load
}

/// The load of a scenario. `timeout`: the longest of its steps.
pub(super) fn load_of(scenario: &Scenario, timeout: Duration) -> PlanLoad {
    let load = &scenario.load;
    let requests = match load.iterations {
        Some(Iterations::Together(count)) => Some(count),
        _ => None,
    };
    match &load.amount {
        Amount::Users { count, shape } => {
            let duration = match shape {
                UserShape::Stages(stages) => Some(stages.iter().map(|stage| stage.span).sum()),
                _ => load.duration,
            };
            PlanLoad::Closed { users: *count, shape: shape.clone(), requests, duration }
        }
        Amount::Rate { stages, arrivals, max_lateness, preconnect } => PlanLoad::Open {
            stages: later(scenario.begin).into_iter().chain(stages.iter().copied()).collect(),
            arrivals: *arrivals,
            requests,
            connections: ConnectionCount::new(scenario.connections, *preconnect),
            max_lateness: max_lateness.unwrap_or(timeout),
        },
    }
}
