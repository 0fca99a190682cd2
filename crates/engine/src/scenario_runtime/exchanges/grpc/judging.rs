//! How a call ended, and whether the plan calls that a success.
//!
//! A call ends with one status: that of its response, or the one that a gRPC client derives from the failure;
//! [`crate::faults::call_status`] is the one place for that.

use metrics::{Failure, Outcome};
use pacing::Nanos;
use wire::grpc::{self, Status, StatusError};
use wire::hpack::FieldList;

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::grpc::CallState;
use crate::scenario_runtime::exchanges::step::PreparedStep;
use crate::slab::Key;

impl CallState {
    /// Outcome of a call that is over by the plan, and its status.
    fn outcome(&self, http_status: u16, kept: Option<&mut CapturedResponse>, step: &PreparedStep) -> (Outcome, Status) {
        let responses_stream = step.call.as_ref().is_some_and(|call| call.responses_stream);
        match self.response.ending(http_status, responses_stream) {
            Err(StatusError::Http) => judge_failure(Failure::from_http_status(http_status), step),
            Err(StatusError::ResponseFault(fault)) => judge_failure(faults::grpc(fault), step),
            Ok(status) if !step.checks.contains_status(status.index() as u16) => {
                (Outcome::Failed(Failure::GrpcStatus(status.index() as u8)), status)
            }
            Ok(status) if step.checks.checks_more => match &step.call {
                Some(call) => (step.checks.call_outcome(kept, call), status),
                None => (step.checks.response_outcome(kept), status),
            },
            Ok(status) => (Outcome::Succeeded, status),
        }
    }
}

/// A status from HTTP, or the reset of a stream, can be what the plan expects. A broken response never is.
fn judge_failure(failure: Failure, step: &PreparedStep) -> (Outcome, Status) {
    let status = faults::call_status(failure).unwrap_or(Status::UNKNOWN);
    let may_be_expected = matches!(failure, Failure::CallHttp(_) | Failure::StreamReset(_));
    let is_expected = may_be_expected && step.checks.contains_status(status.index() as u16);
    (if is_expected { Outcome::Succeeded } else { Outcome::Failed(failure) }, status)
}

impl ScenarioRuntime {
    /// The trailers of a response to a call.
    pub(in crate::scenario_runtime) fn call_trailers(&mut self, key: Key, fields: &FieldList) {
        self.call_status(key, fields);
        if let Some(attempt) =
            self.in_flight.attempts.find(key).filter(|attempt| attempt.call.is_some() && attempt.kept.is_some())
        {
            attempt.keep_trailers(fields);
        }
    }

    pub(super) fn call_status(&mut self, key: Key, fields: &FieldList) {
        let Some(call) = self.in_flight.attempts.find(key).and_then(|attempt| attempt.call.as_mut()) else { return };
        let Some(status) = call.response.status(fields) else { return };
        if status != Status::OK
            && let Some(message) = fields.find(b"grpc-message")
            && !self.unreported.has_server_text(status.index())
        {
            let message = self.work.secrets.hide(&grpc::percent_decode(message));
            self.unreported.learn_text(status.index(), &message);
        }
    }

    /// A call was aborted at its deadline, as its target would end it. Messages without a response waited at least that
    /// long.
    pub(in crate::scenario_runtime) fn expire_call(&mut self, key: Key, now: Nanos) -> Option<Outcome> {
        let attempt = self.in_flight.attempts.find(key)?;
        let call = attempt.call.as_ref()?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        let step = &self.in_flight.steps[exchange.step as usize];
        let status = Status::DEADLINE_EXCEEDED.index();
        let is_expected = step.checks.contains_status(status as u16);
        if exchange.is_measured {
            // Failures are counted with all others.
            self.unreported.counts.grpc_statuses[status] += u64::from(is_expected);
            call.give_up_messages(step, attempt.sent, now, &mut self.unreported.message_incomplete);
        }
        Some(if is_expected { Outcome::Succeeded } else { Outcome::Failed(Failure::Timeout) })
    }

    /// A call is over: its status is counted, unless it failed by it. Returns the outcome by the plan.
    pub(in crate::scenario_runtime) fn judge_call(
        &mut self,
        key: Key,
        http_status: u16,
        now: Nanos,
    ) -> Option<Outcome> {
        let attempt = self.in_flight.attempts.find(key)?;
        let call = attempt.call.as_ref()?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        let step = &self.in_flight.steps[exchange.step as usize];
        let (outcome, status) = call.outcome(http_status, attempt.kept.as_deref_mut(), step);
        // The target knows the deadline, and may be slightly ahead of our own timer.
        let is_late = now >= attempt.deadline;
        let is_timeout = outcome == Outcome::Failed(Failure::GrpcStatus(Status::DEADLINE_EXCEEDED.index() as u8));
        if is_late && is_timeout {
            if exchange.is_measured {
                call.give_up_messages(step, attempt.sent, now, &mut self.unreported.message_incomplete);
            }
            return Some(Outcome::Failed(Failure::Timeout));
        }
        if exchange.is_measured && !is_counted_by_its_failure(outcome) {
            self.unreported.counts.grpc_statuses[status.index()] += 1;
        }
        Some(outcome)
    }

    /// The peer reset the stream of a call: the outcome by the plan. `None` when this is no call.
    pub(in crate::scenario_runtime) fn judge_reset(&mut self, key: Key, failure: Failure) -> Option<Outcome> {
        let attempt = self.in_flight.attempts.find(key)?;
        attempt.call.as_ref()?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        let (outcome, status) = judge_failure(failure, &self.in_flight.steps[exchange.step as usize]);
        if exchange.is_measured && outcome == Outcome::Succeeded {
            self.unreported.counts.grpc_statuses[status.index()] += 1;
        }
        Some(outcome)
    }

    /// A call failed: its status is the one that a gRPC client would report, whatever the cause.
    #[cold]
    pub(in crate::scenario_runtime) fn count_failed_call(&mut self, step: u32, failure: Failure) {
        if self.in_flight.steps[step as usize].call.is_some()
            && let Some(status) = faults::call_status(failure)
        {
            self.unreported.counts.grpc_statuses[status.index()] += 1;
        }
    }
}

fn is_counted_by_its_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if faults::call_status(failure).is_some())
}
