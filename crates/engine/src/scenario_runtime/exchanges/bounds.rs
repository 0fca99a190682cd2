//! Checks on the duration and the size of a complete response.

use metrics::{Failure, Outcome};
use pacing::Nanos;
use plan::{Bound, CHECKED_BODY_BYTES_MAX, Checks};

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};

impl ScenarioRuntime {
    /// Outcome of a response that is a success so far.
    #[inline]
    pub(in crate::scenario_runtime) fn within_bounds(
        &self,
        exchange: &Exchange,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) -> Outcome {
        let checks = &self.in_flight.steps[exchange.step as usize].checks;
        match attempt {
            Some(attempt) if checks.has_bounds && outcome == Outcome::Succeeded => judge(&checks.checks, attempt, done),
            _ => outcome,
        }
    }

    /// Counts a success that came after the deadline of its step. With redirects the last response is what counts.
    #[inline]
    pub(in crate::scenario_runtime) fn judge_deadline(&mut self, exchange: &Exchange, outcome: Outcome, done: Nanos) {
        let step = &self.in_flight.steps[exchange.step as usize];
        if step.deadline == Nanos::NEVER || outcome != Outcome::Succeeded || !exchange.is_measured {
            return;
        }
        let of_chain = step.redirect_state.as_ref().map_or(exchange.intended, |state| state.began);
        let (series, began) = (step.series, of_chain.min(exchange.intended));
        if done.since(began) > step.deadline {
            self.unreported.miss_deadline(series);
        }
    }
}

#[cold]
fn judge(checks: &Checks, attempt: &mut Attempt, done: Nanos) -> Outcome {
    match check_bounds(checks, attempt, done) {
        Ok(()) => Outcome::Succeeded,
        Err((failure, reason)) => {
            attempt.kept.get_or_insert_default().reason = reason;
            Outcome::Failed(failure)
        }
    }
}

fn check_bounds(checks: &Checks, attempt: &Attempt, done: Nanos) -> Result<(), (Failure, String)> {
    let unmet = |bounds: &[Bound], number| bounds.iter().find(|bound| !bound.holds(number)).copied();
    let took = done.since(attempt.sent).0;
    if let Some(Bound { relation, limit }) = unmet(&checks.time, took) {
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let reason = format!("it took {} ms, which is not {relation} {} ms", millis(took), millis(limit));
        return Err((Failure::TimeCheck, reason));
    }
    if !checks.want_size() {
        return Ok(());
    }
    let size = size_of(attempt)?;
    match unmet(&checks.size, size) {
        Some(Bound { relation, limit }) => {
            Err((Failure::SizeCheck, format!("{size} bytes, which is not {relation} {limit}")))
        }
        None => Ok(()),
    }
}

/// Bytes of a response without its codings.
fn size_of(attempt: &Attempt) -> Result<u64, (Failure, String)> {
    let kept = attempt.kept.as_deref().filter(|kept| !kept.codings().are_none());
    let Some(kept) = kept else { return Ok(attempt.body_bytes.into()) };
    let too_large = || (Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes"));
    if kept.is_too_large || kept.is_crowded {
        return Err(too_large());
    }
    match kept.decoded(CHECKED_BODY_BYTES_MAX) {
        Ok(body) => Ok(body.len() as u64),
        Err(wire::coding::Undecoded::TooLarge) => Err(too_large()),
        Err(_) => Err((Failure::SizeCheck, format!("the body cannot be decoded: {}", kept.codings().reported()))),
    }
}
