//! Retries: the decision about a request of HTTP/1 whose connection ended before its response, and about one on a
//! stream of a lost connection. What HTTP/2 refuses itself is in `layers/closing.rs`.
//!
//! A server may close an idle connection at any time, and a request on its way then meets the close. On a
//! connection that has carried a response, a request that may be sent twice (RFC 9110 9.2.2) is sent once more before
//! its first byte came; any other only when the server has not read it: it never
//! left this machine, or the peer's kernel refused it with nothing of it acknowledged, after the peer had closed its
//! side (`Sockets::unacknowledged`, `is_reset`). HTTP/2 says itself which requests are unprocessed. Requests that
//! must be sent only once wait for a read of the sockets first (`wait_for_read.rs`), without an attempt. Each attempt
//! in layers knows how many bytes went to its socket before it (`Attempt::stream_offset`).

use driver::{Left, Socket, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::slab::Key;
#[cfg(test)]
use crate::swarm::mutants::{Bug, fault_injected};

/// The peer's kernel refuses what it does not take within a round trip. One that takes it acknowledges that in 200 ms
/// at most.
const REFUSAL_WAIT: Nanos = Nanos::from_millis(250);
/// Delay from the end to the first look; each further look doubles it.
const REFUSAL_FIRST: Nanos = Nanos::from_millis(1);

/// Whether a request is sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scenario_runtime) enum RetryDecision {
    /// It is. `was_begun`: the server may have begun to process it.
    Now {
        was_begun: bool,
    },
    /// It is, if the peer refuses it.
    Perhaps,
    Never,
}

impl ScenarioRuntime {
    /// The peer has ended the connection of a request before the first byte of its response. Whether the request is
    /// sent once more.
    pub(in crate::scenario_runtime) fn retry_decision(&mut self, key: Key, sockets: &mut dyn Sockets) -> RetryDecision {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return RetryDecision::Never };
        let socket = attempt.socket;
        let Some(is_repeatable) = self.may_go_again(key, socket) else { return RetryDecision::Never };
        let untaken = sockets.unsent(socket);
        if self.is_untouched(key, untaken) {
            return RetryDecision::Now { was_begun: false };
        }
        // After a reset nothing is acknowledged any more, so that is checked first.
        let is_reset = sockets.is_reset(socket);
        let unacknowledged = sockets.unacknowledged(socket);
        let has_nothing = unacknowledged.is_some_and(|bytes| self.is_untouched(key, bytes));
        match (has_nothing && is_reset, is_repeatable) {
            (true, _) => RetryDecision::Now { was_begun: false },
            (false, true) => RetryDecision::Now { was_begun: true },
            // It may be on its way, and the peer may have closed only its own side.
            (false, false) if has_nothing => RetryDecision::Perhaps,
            (false, false) => RetryDecision::Never,
        }
    }

    /// The same for a socket that has failed, with what it left.
    pub(in crate::scenario_runtime) fn retry_decision_behind_failure(
        &mut self,
        key: Key,
        socket: Socket,
        left: Left,
    ) -> RetryDecision {
        let Some(is_repeatable) = self.may_go_again(key, socket) else { return RetryDecision::Never };
        let Some(attempt) = self.in_flight.attempts.find(key) else { return RetryDecision::Never };
        // A reset acknowledges nothing, unless the end of the stream came before it.
        let has_ended = attempt.peer_closed_at != Nanos::NEVER;
        let refused = left.unacknowledged.filter(|_| has_ended).unwrap_or(left.untaken);
        match (self.is_untouched(key, refused), is_repeatable) {
            (true, _) => RetryDecision::Now { was_begun: false },
            (false, true) => RetryDecision::Now { was_begun: true },
            (false, false) => RetryDecision::Never,
        }
    }

    /// The same for a request on a stream; `taken`: bytes of its connection, which has carried a response, that the
    /// peer may have seen.
    pub(in crate::scenario_runtime) fn stream_retry_decision(&mut self, key: Key, taken: u64) -> RetryDecision {
        let Some(is_repeatable) = self.may_be_repeated(key) else { return RetryDecision::Never };
        match self.in_flight.attempts.find(key) {
            Some(attempt) if attempt.stream_offset >= taken => RetryDecision::Now { was_begun: false },
            _ if is_repeatable => RetryDecision::Now { was_begun: true },
            _ => RetryDecision::Never,
        }
    }

    /// Whether a request may be sent once more at all, and then, whether it may though the server has begun it (RFC
    /// 9110 9.2.2): it was sent on a connection that has carried a response.
    fn may_go_again(&mut self, key: Key, socket: Socket) -> Option<bool> {
        let is_reused = self.pool.connections.find(socket).is_some_and(|connection| connection.is_reused);
        self.may_be_repeated(key).filter(|_| is_reused)
    }

    /// The same, whatever its connection has carried. A WebSocket or TCP message may never be repeated.
    fn may_be_repeated(&mut self, key: Key) -> Option<bool> {
        let attempt = self.in_flight.attempts.find(key).filter(|attempt| attempt.first_byte == Nanos::NEVER)?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        let step = &self.in_flight.steps[exchange.step as usize];
        let may = step.retries && step.messaging.is_none() && exchange.tries == 0;
        let is_repeatable = step.is_repeatable;
        #[cfg(test)]
        let is_repeatable = is_repeatable || fault_injected(Bug::RetriesWhatWasTaken);
        may.then_some(is_repeatable)
    }

    /// Whether all of a request is among the last bytes that were given to its socket.
    fn is_untouched(&mut self, key: Key, last_bytes: usize) -> bool {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let (socket, begins) = (attempt.socket, attempt.stream_offset);
        if attempt.is_layered {
            return self.layers(socket).is_some_and(|layers| begins >= layers.handed.saturating_sub(last_bytes as u64));
        }
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return false };
        last_bytes >= attempt.bytes_of(&self.in_flight.steps[exchange.step as usize])
    }

    /// It is not known whether the peer takes what came after its end: its kernel shows that, by refusing or by
    /// acknowledging it.
    pub(in crate::scenario_runtime) fn await_refusal(&mut self, key: Key, at: Nanos) {
        if let Some(attempt) = self.in_flight.attempts.find(key) {
            attempt.peer_closed_at = at;
        }
        self.arm(key, at + REFUSAL_FIRST);
    }

    /// Another look at a request whose peer has ended the connection.
    #[cold]
    pub(in crate::scenario_runtime) fn recheck_delivery(&mut self, key: Key, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let (socket, ended, sent) = (attempt.socket, attempt.peer_closed_at, attempt.sent);
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let is_due = now >= sent + self.in_flight.steps[exchange.step as usize].timeout;
        let waited = now.since(ended);
        match self.retry_decision(key, sockets) {
            RetryDecision::Perhaps if waited < REFUSAL_WAIT && !is_due => {
                self.arm(key, now + waited.max(REFUSAL_FIRST))
            }
            again => {
                self.count_last_sent(key, sockets);
                self.close(socket, sockets);
                self.end_cut(key, again, Failure::ClosedEarly, now, sockets);
            }
        }
    }

    /// The connection of a request is gone without a response: the request is sent again, or has failed.
    pub(in crate::scenario_runtime) fn end_cut(
        &mut self,
        key: Key,
        again: RetryDecision,
        failure: Failure,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        match again {
            RetryDecision::Now { was_begun } => self.resend(key, was_begun, sockets),
            RetryDecision::Perhaps | RetryDecision::Never => self.end_attempt(key, Outcome::Failed(failure), now),
        }
    }

    /// The request is sent once more, on another connection. Its intended instant stays.
    pub(in crate::scenario_runtime) fn resend(&mut self, key: Key, was_begun: bool, sockets: &mut dyn Sockets) {
        let Some(attempt) = self.in_flight.attempts.remove(key) else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        exchange.tries += 1;
        exchange.begun += u8::from(was_begun);
        if exchange.is_measured {
            self.unreported.counts[Counter::Reconnects] += 1;
            self.unreported.counts[Counter::BegunBefore] += u64::from(was_begun);
            let slot = exchange.address_slot;
            self.count_sent_to_address(slot, &attempt);
        }
        self.try_exchange(attempt.exchange, sockets);
    }

    /// Counts the bytes of a request that the kernel took; `untaken`: what it did not take. What is sent through layers
    /// is counted when it is sent.
    pub(in crate::scenario_runtime) fn count_sent(&mut self, key: Key, untaken: usize) {
        let Some(attempt) =
            self.in_flight.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered)
        else {
            return;
        };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let request_bytes = attempt.bytes_of(&self.in_flight.steps[exchange.step as usize]);
        self.unreported.counts[Counter::BytesQueued] += request_bytes as u64;
        self.unreported.counts[Counter::BytesUnsent] += untaken.min(request_bytes) as u64;
    }

    /// The same for a socket that is closed next: nothing more of the request leaves.
    pub(in crate::scenario_runtime) fn count_last_sent(&mut self, key: Key, sockets: &mut dyn Sockets) {
        let Some(attempt) =
            self.in_flight.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered)
        else {
            return;
        };
        let untaken = sockets.stop_sending(attempt.socket);
        self.count_sent(key, untaken);
    }
}
