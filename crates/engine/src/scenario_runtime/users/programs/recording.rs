//! Values that users record into figures of their own.

use metrics::{Failure, OwnFigure, OwnInput, OwnKind};
use pacing::Nanos;
use plan::{Measurement, Value};

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::users::programs::instant::shown;

impl ScenarioRuntime {
    /// Records the values of one step: all of them, or none when one is no value of its figure.
    pub(super) fn record_all(
        &mut self,
        user: u32,
        measurements: &[Measurement],
        at: Nanos,
    ) -> Result<(), (Failure, String)> {
        self.users.programs.values.clear();
        let at_ns = at.since(self.instants.started).0;
        for Measurement { figure, value } in measurements {
            let number = *figure as usize;
            let given = self.value_of(user, value, at);
            let programs = &mut self.users.programs;
            let Some(own) = programs.figures.get(number) else { continue };
            let given = given.map_err(|why| (Failure::NotFilled, format!("record {}: {why}", own.name)))?;
            match input_of(own.kind, &given).and_then(|input| own.value(input, at_ns)) {
                Some(value) => programs.values.push((number, value)),
                None => return Err((Failure::NotRecorded, refusal(own, &given))),
            }
        }
        // Those of the warm-up are not counted.
        if at >= self.instants.measured_from {
            for (number, value) in &self.users.programs.values {
                self.unreported.record_own(*number, *value);
            }
        }
        Ok(())
    }
}

/// What a value gives to a figure of this kind; `None` when it is of another type. A text is taken as what it says: data
/// files have nothing else.
fn input_of(kind: OwnKind, given: &Value) -> Option<OwnInput> {
    match (kind, given) {
        (OwnKind::Share, Value::Bool(is_so)) => Some(OwnInput::Switch(*is_so)),
        (OwnKind::Share, Value::Text(text)) => text.parse().ok().map(OwnInput::Switch),
        (OwnKind::Share, _) | (_, Value::Bool(_)) => None,
        (_, number) => number.to_number().map(OwnInput::Number),
    }
}

/// Why a value is none of a figure.
#[cold]
fn refusal(own: &OwnFigure, given: &Value) -> String {
    let (name, kind, given) = (&own.name, own.kind.name(), shown(given));
    match own.kind {
        OwnKind::Share => format!("record {name}: a {kind} takes true or false, and it is {given}"),
        OwnKind::Gauge => format!("record {name}: a {kind} takes a finite number, and it is {given}"),
        OwnKind::Counter | OwnKind::Trend => {
            let most = own.value_max();
            format!("record {name}: a {kind} takes a number from 0 to {most:.3e}, and it is {given}")
        }
    }
}
