//! Requests whose bodies wait for a 100 of the server: those with `Expect: 100-continue` (RFC 9110 10.1.1), over
//! HTTP/1.1.
//!
//! The head is sent, and the body after a 100 response, or when that has not come in time. After a final response the
//! body is never sent, and the connection carries no other request.

use driver::{Outgoing, Socket, Sockets};
use metrics::Counter;
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::step::{Bytes, PreparedStep};
use crate::scenario_runtime::exchanges::{Attempt, lent};
use crate::slab::Key;

/// A server that does not support it waits for the body, as the client does for the 100: as long as curl waits.
const WORD_WAIT: Nanos = Nanos::from_millis(1_000);

/// Where the body of a request begins; `None` without one.
fn body_in(request: &Bytes) -> Option<usize> {
    let head = request.front().windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    (head < request.len()).then_some(head)
}

impl Attempt {
    /// Bytes of its request that were handed over.
    #[inline]
    pub(super) fn bytes_of(&self, step: &PreparedStep) -> usize {
        if self.holds_body { body_in(&step.request).unwrap_or(0) } else { step.request.len() }
    }
}

impl ScenarioRuntime {
    /// Sends the head of a request. False where it has no body that could wait.
    #[cold]
    pub(super) fn send_head(&mut self, key: Key, socket: Socket, sockets: &mut dyn Sockets) -> bool {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let is_measured = attempt.is_measured;
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return false };
        let step = exchange.step as usize;
        let Some(head) = body_in(&self.in_flight.steps[step].request) else { return false };
        let begins = self.handed_to(socket);
        let Some(sent) = self.send_part(key, step, 0..head, sockets) else { return true };
        let deadline = sent + self.in_flight.steps[step].timeout.min(WORD_WAIT);
        if let Some(attempt) = self.in_flight.attempts.find(key) {
            (attempt.sent, attempt.stream_offset, attempt.holds_body) = (sent, begins, true);
        }
        self.arm(key, deadline);
        self.unreported.counts[Counter::Sent] += u64::from(is_measured);
        true
    }

    /// Sends the body.
    #[cold]
    pub(in crate::scenario_runtime) fn send_body(&mut self, key: Key, sockets: &mut dyn Sockets) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.holds_body = false;
        let (socket, sent) = (attempt.socket, attempt.sent);
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let step = exchange.step as usize;
        let request = &self.in_flight.steps[step].request;
        let Some(from) = body_in(request) else { return };
        let (to, rest) = (request.front().len(), request.rest().cloned());
        let deadline = sent + self.in_flight.steps[step].timeout;
        // A large body lies by itself.
        if from < to && self.send_part(key, step, from..to, sockets).is_none() {
            return;
        }
        self.arm(key, deadline);
        if let Some(rest) = rest {
            self.send_rest(socket, rest, sockets);
        }
    }

    /// The server sent no 100, and gets the body now. False when the timeout of the whole request is over.
    #[cold]
    pub(super) fn sends_body_late(&mut self, key: Key, now: Nanos, sockets: &mut dyn Sockets) -> bool {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return false };
        if attempt.sent + self.in_flight.steps[exchange.step as usize].timeout <= now {
            return false;
        }
        self.send_body(key, sockets);
        true
    }

    /// A part of a request leaves, up to a large body. `None`: the session of TLS is broken, and the connection lost.
    fn send_part(
        &mut self,
        key: Key,
        step: usize,
        part: std::ops::Range<usize>,
        sockets: &mut dyn Sockets,
    ) -> Option<Nanos> {
        let attempt = self.in_flight.attempts.find(key)?;
        let (socket, is_layered) = (attempt.socket, attempt.is_layered);
        let prepared = &self.in_flight.steps[step];
        let outgoing = match self.in_flight.templates.get(step).filter(|_| !is_layered) {
            Some(template) => Outgoing::Template(*template, part),
            None => lent(&mut self.pool.links, &prepared.request.front()[part]),
        };
        let sent = sockets.now();
        match outgoing {
            Outgoing::Lent(bytes) if is_layered => self.send_through(socket, bytes, sockets).then_some(sent),
            plain => {
                sockets.send(socket, plain);
                Some(sent)
            }
        }
    }
}
