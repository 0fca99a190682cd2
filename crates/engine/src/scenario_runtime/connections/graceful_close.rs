//! How connections are closed: WebSocket conversations, and TLS sessions.
//!
//! A close_notify of the peer is answered at once, and our side of the socket is shut down. The figures stop
//! when the shard is over; then its WebSockets send a close, and the loop continues until their peers have replied or
//! a short time has passed (`Shard::say_goodbye`): only bytes are still counted.

use driver::{Socket, Sockets};
use metrics::{Failure, Outcome};
use pacing::Nanos;
use plan::Protocol;
use wire::connection::ProtocolConnection;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;

/// At the end of a run, how long WebSocket peers have to agree to our closes: many times a local response time, and
/// little for a user who waits for the report. The closes are on their way in any case.
const GRACEFUL_CLOSE_WAIT: Nanos = Nanos::from_millis(250);

impl ScenarioRuntime {
    /// TLS `close_notify` was received. The reply is sent at once, since some peers wait for that before they close.
    pub(in crate::scenario_runtime) fn on_close_notify(
        &mut self,
        socket: Socket,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(phase) = self.pool.connections.find(socket).map(|connection| connection.phase) else { return };
        match phase {
            Phase::Close => self.send_close_notify(socket, sockets),
            Phase::Idle { user } => {
                let origin = self.origin_of(socket);
                self.forget_own(user, origin, socket);
                self.await_close(socket, at, sockets);
                self.send_close_notify(socket, sockets);
            }
            Phase::Response { attempt } => {
                let ending =
                    self.in_flight.attempts.find(attempt).filter(|attempt| attempt.line.ends_with_connection());
                match ending.map(|attempt| attempt.line.handle_end()) {
                    Some(_) => {
                        self.end_response(attempt, true, at, sockets);
                        self.send_close_notify(socket, sockets);
                    }
                    None => self.peer_closed(socket, at, sockets),
                }
            }
            Phase::Shared if sockets.unsent(socket) == 0 => self.leave_streams(socket, at, sockets),
            _ => self.peer_closed(socket, at, sockets),
        }
    }

    /// Sends `close_notify`, to end the session or in reply; the peer closes its socket next.
    pub(in crate::scenario_runtime) fn send_close_notify(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        let mut goodbye = self.pool.links.buffer();
        let Some(layers) = self.layers(socket) else { return self.pool.links.give_back(goodbye) };
        if layers.say_goodbye(&mut goodbye) {
            self.send_lent(socket, goodbye, sockets);
        } else {
            self.pool.links.give_back(goodbye);
        }
        sockets.shutdown(socket);
    }

    /// Requests on streams of a connection that the peer ends go elsewhere or fail.
    fn leave_streams(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        self.unlink(socket);
        let refused = self.refused_on(socket, sockets);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let is_reused = connection.is_reused;
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let (streams, waiting) = layers.take_attempts();
        let taken = refused.filter(|_| is_reused).map(|bytes| layers.handed.saturating_sub(bytes as u64));
        self.await_close(socket, at, sockets);
        self.send_close_notify(socket, sockets);
        self.end_streams(streams, taken, Failure::ClosedEarly, at, sockets);
        for key in waiting {
            self.retry(key, Failure::ClosedEarly, at, sockets);
            self.advance_freed(sockets);
        }
    }

    /// Ends the conversation: its peer is notified, and may close first.
    pub(in crate::scenario_runtime) fn say_goodbye(&mut self, socket: Socket, now: Nanos, sockets: &mut dyn Sockets) {
        match self.protocol_of(socket) {
            Some(Protocol::Tcp) => return self.close(socket, sockets),
            Some(Protocol::Custom) if self.is_datagram(socket) => return self.close(socket, sockets),
            Some(Protocol::Custom) => {
                // What it says at the end is not answered.
                if self.send_close(socket, sockets) {
                    self.close(socket, sockets);
                }
                return;
            }
            _ => {}
        }
        if self.send_close(socket, sockets) {
            self.await_close(socket, now, sockets);
        }
    }

    /// Sends a close frame. False when the TLS session is broken, and the connection lost.
    fn send_close(&mut self, socket: Socket, sockets: &mut dyn Sockets) -> bool {
        let (mut close, mask) = (self.pool.links.buffer(), self.pool.messaging.mask());
        if let Some(line) = self.layers(socket).and_then(|layers| layers.line.as_mut()) {
            line.close(mask, &mut close);
        }
        let before = self.handed_to(socket);
        let is_sent = self.send_through(socket, close, sockets);
        let close_bytes = self.handed_to(socket) - before.min(self.handed_to(socket));
        if let Some(layers) = self.layers(socket) {
            layers.close_bytes = close_bytes;
        }
        is_sent
    }

    /// The peer ended the conversation, or broke its rules: the connection is closed after the reply. `reason`: what
    /// the peer gave itself.
    pub(in crate::scenario_runtime) fn close_behind_peer(
        &mut self,
        socket: Socket,
        failure: Failure,
        reason: &str,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let phase = connection.phase;
        sockets.shutdown(socket);
        self.await_close(socket, at, sockets);
        match phase {
            Phase::Response { attempt } => {
                if let Some(attempt) = self.in_flight.attempts.find(attempt).filter(|_| !reason.is_empty()) {
                    attempt.kept.get_or_insert_default().reason = reason.to_owned();
                }
                self.end_attempt(attempt, Outcome::Failed(failure), at);
            }
            Phase::Idle { user } => {
                let origin = self.origin_of(socket);
                self.forget_own(user, origin, socket);
            }
            _ => {}
        }
    }

    /// The run is over: WebSocket peers are notified, and have a moment to agree. All other connections are closed.
    pub(crate) fn close_gracefully(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        for (socket, phase) in self.pool.connections.phases() {
            let is_websocket = self.protocol_of(socket) == Some(Protocol::WebSocket);
            let is_conversation = is_websocket && matches!(phase, Phase::Response { .. } | Phase::Idle { .. });
            if is_conversation && self.send_close(socket, sockets) {
                self.pool.connections.turn_into(socket, Phase::Close);
                self.pool.connections.closing += 1;
            } else if !is_websocket || phase != Phase::Close {
                self.close_last(socket, sockets);
            }
        }
        self.instants.closing_until = now + GRACEFUL_CLOSE_WAIT;
    }

    /// When the wait for peers ends; earlier, when all of them are gone.
    pub(crate) fn closing_until(&self) -> Nanos {
        if self.pool.connections.closing == 0 { Nanos::ZERO } else { self.instants.closing_until }
    }

    /// Drops peers that have not agreed by now.
    pub(crate) fn abandon_all(&mut self, sockets: &mut dyn Sockets) {
        for (socket, _) in self.pool.connections.phases() {
            self.close_last(socket, sockets);
        }
    }

    /// What is sent through layers was counted when it was handed over.
    fn close_last(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.remove(socket) else { return };
        let untaken = if connection.layers.is_some() { sockets.stop_sending(socket) } else { 0 };
        self.uncount(&connection, untaken);
        sockets.close(socket);
    }
}

#[cfg(test)]
mod tests;
