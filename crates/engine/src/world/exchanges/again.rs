//! What becomes of a request whose connection ended before it was answered.

use driver::Sockets;
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;

use crate::slab::Key;
#[cfg(test)]
use crate::swarm::plant::{Bug, strikes};
use crate::world::World;

impl World {
    /// A reused connection was closed by the peer before our request came: that is normal, and the request goes out once more,
    /// whatever its method (RFC 9110 9.2.2). Its intended instant stays. A message of WebSocket or TCP never does.
    pub(in crate::world) fn end_stale_attempt<S: Sockets>(
        &mut self,
        key: Key,
        failure: Failure,
        now: Nanos,
        sockets: &mut S,
    ) {
        let retry = self.ledger.attempts.find(key).map(|attempt| attempt.exchange).filter(|&exchange| {
            self.ledger.exchanges.find(exchange).is_some_and(|exchange| {
                let may = exchange.tries == 0;
                exchange.tries += u8::from(may);
                self.seen.counts[Counter::Reconnects] += u64::from(may && exchange.is_measured);
                may
            })
        });
        match retry {
            Some(exchange) => {
                self.ledger.attempts.remove(key);
                self.try_exchange(exchange, sockets);
            }
            None => self.end_attempt(key, Outcome::Failed(failure), now, sockets),
        }
    }

    /// Counts the bytes of a request that the kernel took; `untaken`: what it did not take. What leaves in layers is counted when it
    /// leaves.
    pub(in crate::world) fn count_sent(&mut self, key: Key, untaken: usize) {
        let Some(attempt) = self.ledger.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered)
        else {
            return;
        };
        let Some(exchange) = self.ledger.exchanges.find(attempt.exchange) else { return };
        let request_bytes = attempt.bytes_of(&self.ledger.steps[exchange.step as usize]);
        self.seen.counts[Counter::BytesHanded] += request_bytes as u64;
        self.seen.counts[Counter::BytesUntaken] += untaken.min(request_bytes) as u64;
    }

    /// The same of a socket that is closed next: nothing more of the request leaves.
    pub(in crate::world) fn count_last_sent<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        let Some(attempt) = self.ledger.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered)
        else {
            return;
        };
        let untaken = sockets.stop_sending(attempt.socket);
        self.count_sent(key, untaken);
    }

    /// The peer has ended the connection and answered nothing on it. Whether its kernel had not acknowledged a byte of the request by
    /// then, so that nobody there has seen it; where that is unknown, somebody may have.
    pub(in crate::world) fn was_never_taken<S: Sockets>(&mut self, key: Key, sockets: &mut S) -> bool {
        #[cfg(test)]
        if strikes(Bug::RetriesWhatWasTaken) {
            return true;
        }
        let Some(attempt) = self.ledger.attempts.find(key) else { return false };
        let Some(exchange) = self.ledger.exchanges.find(attempt.exchange) else { return false };
        let socket = attempt.socket;
        let (begins, is_layered) = (attempt.begins, attempt.is_layered);
        let request_bytes = attempt.bytes_of(&self.ledger.steps[exchange.step as usize]);
        let Some(unacknowledged) = sockets.unacknowledged(socket) else { return false };
        if is_layered {
            self.layers(socket).is_some_and(|layers| begins >= layers.handed - unacknowledged as u64)
        } else {
            unacknowledged >= request_bytes
        }
    }
}
