//! How connections part: conversations of WebSocket, and sessions of TLS.

use driver::{Socket, Sockets};
use metrics::{Failure, Outcome};
use pacing::Nanos;
use plan::Protocol;
use wire::websocket::push_close;

use super::World;
use super::connections::Phase;

/// The code of a close without a fault (RFC 6455, 7.4.1).
const NORMAL: u16 = 1_000;
/// At the end of a run, peers of WebSocket have so long to agree to our closes: many times what an answer takes in one place, and
/// little to whoever waits for the report. The closes are on their way in any case.
const PARTING_WAIT: Nanos = Nanos::from_millis(250);

impl World {
    /// TLS says that nothing more comes. It is answered at once, since some peers wait for that before they close.
    pub(super) fn peer_says_goodbye<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) {
        let Some(phase) = self.connections.find(socket).map(|connection| connection.phase) else { return };
        match phase {
            Phase::Close => self.answer_goodbye(socket, sockets),
            Phase::Exchange { user } => {
                let origin = self.connections.find(socket).map_or(0, |connection| connection.origin);
                self.take_own(user, origin);
                self.await_close(socket, at, sockets);
                self.answer_goodbye(socket, sockets);
            }
            Phase::Answer { attempt } => {
                let ending = self.attempts.find(attempt).filter(|attempt| attempt.machine.ends_with_connection());
                match ending.map(|attempt| attempt.machine.handle_eof()) {
                    Some(_) => {
                        self.end_answer(attempt, true, at, sockets);
                        self.answer_goodbye(socket, sockets);
                    }
                    None => self.peer_closed(socket, at, sockets),
                }
            }
            Phase::Shared if sockets.unsent(socket) == 0 => self.leave_streams(socket, at, sockets),
            _ => self.peer_closed(socket, at, sockets),
        }
    }

    /// Tells the peer that nothing more comes from here either; it closes its socket next.
    pub(super) fn answer_goodbye<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) {
        let mut goodbye = self.links.buffer();
        let Some(layers) = self.layers(socket) else { return self.links.give_back(goodbye) };
        if layers.say_goodbye(&mut goodbye) {
            self.send_lent(socket, goodbye, sockets);
        } else {
            self.links.give_back(goodbye);
        }
        sockets.shutdown(socket);
    }

    /// What runs on streams of a connection that the peer ends goes elsewhere or fails.
    fn leave_streams<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) {
        self.unlink(socket);
        let unacknowledged = sockets.unacknowledged(socket);
        let Some(connection) = self.connections.find(socket) else { return };
        let is_reused = connection.is_reused;
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let (streams, waiting) = layers.take_attempts();
        let unacknowledged = unacknowledged.filter(|_| is_reused);
        let taken = unacknowledged.map_or(u64::MAX, |bytes| layers.handed - bytes as u64);
        self.await_close(socket, at, sockets);
        self.answer_goodbye(socket, sockets);
        self.end_streams(streams, taken, Failure::ClosedEarly, at, sockets);
        for key in waiting {
            self.retry(key, Failure::ClosedEarly, at, sockets);
        }
    }

    /// The conversation is over for us: its peer hears so, and may close first.
    pub(super) fn say_goodbye<S: Sockets>(&mut self, socket: Socket, now: Nanos, sockets: &mut S) {
        if self.origins[0].protocol() == Protocol::Tcp {
            return self.close(socket, sockets);
        }
        if self.send_close(socket, sockets) {
            self.await_close(socket, now, sockets);
        }
    }

    /// False when the session of TLS is broken, and the connection lost.
    fn send_close<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) -> bool {
        let mut close = self.links.buffer();
        push_close(NORMAL, "", self.talk.mask(), &mut close);
        let before = self.handed_to(socket);
        let is_sent = self.send_through(socket, close, sockets);
        let close_bytes = self.handed_to(socket) - before.min(self.handed_to(socket));
        if let Some(state) = self.talk_of(socket) {
            state.close_bytes = close_bytes;
        }
        is_sent
    }

    /// The peer ended the conversation, or broke its rules: the connection is closed when it has heard of it. `reason`: what it
    /// said itself.
    pub(super) fn part_from<S: Sockets>(
        &mut self,
        socket: Socket,
        failure: Failure,
        reason: &str,
        at: Nanos,
        sockets: &mut S,
    ) {
        let Some(connection) = self.connections.find(socket) else { return };
        let phase = connection.phase;
        sockets.shutdown(socket);
        self.await_close(socket, at, sockets);
        match phase {
            Phase::Answer { attempt } => {
                if let Some(attempt) = self.attempts.find(attempt).filter(|_| !reason.is_empty()) {
                    attempt.kept.get_or_insert_default().reason = reason.to_owned();
                }
                self.end_attempt(attempt, Outcome::Failed(failure), at, sockets);
            }
            Phase::Exchange { user } => {
                self.take_own(user, 0);
            }
            _ => {}
        }
    }

    /// The run is over: peers of WebSocket hear so, and have a moment to agree. Whatever else there is is closed.
    pub(crate) fn part_all<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        let is_websocket = self.is_talk && self.origins[0].protocol() == Protocol::WebSocket;
        for (socket, phase) in self.connections.phases() {
            let is_conversation = is_websocket && matches!(phase, Phase::Answer { .. } | Phase::Exchange { .. });
            if is_conversation && self.send_close(socket, sockets) {
                if let Some(connection) = self.connections.find(socket) {
                    connection.phase = Phase::Close;
                    self.connections.closing += 1;
                }
            } else if !is_websocket || phase != Phase::Close {
                self.close_last(socket, sockets);
            }
        }
        self.parts_until = now + PARTING_WAIT;
    }

    /// When the peers have had their moment, or all of them are gone.
    pub(crate) fn parts_until(&self) -> Nanos {
        if self.connections.closing == 0 { Nanos::ZERO } else { self.parts_until }
    }

    /// Whoever has not agreed by now is left.
    pub(crate) fn leave_all<S: Sockets>(&mut self, sockets: &mut S) {
        for (socket, _) in self.connections.phases() {
            self.close_last(socket, sockets);
        }
    }

    /// What leaves in layers was counted when it was handed over.
    fn close_last<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) {
        let Some(connection) = self.connections.remove(socket) else { return };
        let untaken = if connection.layers.is_some() { sockets.stop_sending(socket) } else { 0 };
        self.uncount(&connection, untaken);
        sockets.close(socket);
    }
}
