//! Totals of a run while it goes on, for dashboards.

use metrics::{Class, Distribution, Measure};
use plan::Plan;

use crate::Times;
use crate::parts::{self, ScenarioPart};
use crate::times::UnreliableMarks;

/// Totals since the start.
#[derive(Clone, Debug)]
pub struct LiveTotals {
    /// Response times of successful requests.
    pub response: Times,
    /// The same as a histogram, without the incomplete ones.
    pub recorded: Distribution,
    /// Service times of the same requests, likewise a histogram.
    pub service: Distribution,
    /// Each scenario and its steps.
    pub scenarios: Vec<ScenarioPart>,
}

impl LiveTotals {
    /// The totals at the end of an interval.
    pub fn new(interval: &engine::Interval<'_>, plan: &Plan) -> Self {
        let total = interval.total;
        let recorded = parts::class_times(total, Class::Succeeded, Measure::Response);
        let censored = metrics::Censored::from_times(&parts::incomplete(total), &recorded);
        Self {
            response: Times::new(&recorded, &censored, UnreliableMarks::default()),
            service: parts::class_times(total, Class::Succeeded, Measure::Service),
            scenarios: ScenarioPart::all(plan, interval.scenarios.iter().map(|part| part.total)),
            recorded,
        }
    }
}
