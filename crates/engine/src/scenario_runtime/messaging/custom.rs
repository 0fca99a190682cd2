//! Responses of custom protocols.

use driver::{Socket, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use wire::connection::Fault;

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::messaging::End;
use crate::slab::Key;

/// A complete response.
#[derive(Clone, Copy)]
pub(super) struct CustomResponse<'a> {
    pub(super) status: &'a str,
    /// The protocol takes it for a success.
    pub(super) is_success: bool,
    /// Its last bytes.
    pub(super) bytes: &'a [u8],
}

impl ScenarioRuntime {
    /// The failure that a fault on a connection is counted as.
    pub(super) fn failure_of(&mut self, socket: Socket, fault: Fault) -> Failure {
        let steps = self.work.steps.clone();
        self.opening_of(socket, &steps).map_or_else(|| faults::line(fault), |messaging| messaging.failure(fault))
    }

    /// What opens a connection, as it is shown: a password, however short it is, is not.
    pub(super) fn without_password(&mut self, socket: Socket, opening: &[u8]) -> Vec<u8> {
        let origin = usize::from(self.origin_of(socket));
        let endpoint = self.pool.origins[origin].target.custom.as_deref();
        let password = endpoint.and_then(|endpoint| endpoint.password.as_deref()).unwrap_or_default().as_bytes();
        if password.is_empty() {
            return opening.to_vec();
        }
        let (mut shown, mut from) = (Vec::new(), 0);
        for at in memchr::memmem::find_iter(opening, password) {
            shown.extend_from_slice(&[&opening[from..at], b"***"].concat());
            from = at + password.len();
        }
        shown.extend_from_slice(&opening[from..]);
        shown
    }

    /// A response is complete. Returns what ends reading, if anything does.
    pub(super) fn handle_custom(
        &mut self,
        socket: Socket,
        response: CustomResponse<'_>,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Option<End> {
        let phase = self.pool.connections.find(socket)?.phase;
        let Phase::Response { attempt } = phase else { return self.handle_unasked(socket, phase, sockets) };
        if self.is_before_message(socket) {
            return Some(self.handle_early());
        }
        self.pool.reachability_guard.was_connected = true;
        self.record_first_byte(attempt, at);
        if !response.bytes.is_empty() {
            self.take_body(attempt, response.bytes);
        }
        let is_measured = u64::from(at >= self.instants.measured_from);
        self.unreported.counts.count_status_word(response.status, is_measured);
        let messages = self.custom_messages(attempt);
        self.unreported.counts[Counter::MessagesReceived] += is_measured * messages;
        let outcome = self.judge_custom(attempt, response);
        self.end_message(attempt, outcome, true, at, sockets);
        None
    }

    fn custom_messages(&mut self, key: Key) -> u64 {
        let exchange = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange);
        let exchange = exchange.and_then(|exchange| self.in_flight.exchanges.find(exchange));
        let step = exchange.map(|exchange| &self.in_flight.steps[exchange.step as usize]);
        let custom = step.and_then(|step| step.messaging.as_ref()?.custom.as_ref());
        custom.map_or(1, |custom| u64::from(custom.messages))
    }

    /// The outcome of a complete response by the plan. What is kept of it becomes JSON.
    fn judge_custom(&mut self, key: Key, response: CustomResponse<'_>) -> Outcome {
        let CustomResponse { status, is_success, .. } = response;
        let Some(attempt) = self.in_flight.attempts.find(key) else { return Outcome::Succeeded };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return Outcome::Succeeded };
        self.users.states.note_word(exchange.user, status);
        let step = &self.in_flight.steps[exchange.step as usize];
        let Some(custom) = step.messaging.as_ref().and_then(|messaging| messaging.custom.as_ref()) else {
            return Outcome::Succeeded;
        };
        if attempt.needs.body > 0 {
            let kept = attempt.kept.get_or_insert_default();
            if !kept.is_too_large {
                let response = std::mem::take(&mut kept.bytes);
                custom.request.view(&response, &mut kept.bytes);
            }
        }
        if !step.accepts_word(status, is_success) {
            if attempt.needs.body > 0 {
                attempt.kept.get_or_insert_default().reason = status.to_owned();
            }
            return Outcome::Failed(Failure::Status);
        }
        match step.checks.checks_more {
            true => step.checks.response_outcome(attempt.kept.as_deref_mut()),
            false => Outcome::Succeeded,
        }
    }

    /// Bytes that came before the request left: the response after them could not be told apart from them.
    pub(super) fn handle_early(&mut self) -> End {
        self.unreported.counts[Counter::Unsolicited] += 1;
        End::Lost(Failure::Protocol(metrics::ProtocolFault::Unsolicited))
    }
}
