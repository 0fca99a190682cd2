//! Handling of driver events.

use driver::{Event, Left, Socket, SocketError, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use wire::connection::{ConnectionEvent, Head, ProtocolConnection};
use wire::http1::Ending;

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::Connection;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::RetryDecision;
use crate::slab::Key;
use crate::user::LastExchange;

/// Result of parsing some bytes.
enum Received {
    NeedMore,
    /// The server wants the body that was held back.
    Called,
    Answered {
        is_clean: bool,
    },
    Broken(Failure),
}

/// A connection that its peer has ended.
#[derive(Clone, Copy)]
struct Cut {
    is_reused: bool,
    /// Whether the request is sent once more.
    again: RetryDecision,
    /// The end of the stream does not show the end of the response.
    may_be_short: bool,
    /// Its end by the protocol state.
    ending: Option<Ending>,
}

impl ScenarioRuntime {
    #[inline]
    pub(crate) fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>) {
        match event {
            Event::Received { socket, bytes, at } => self.received(socket, bytes, at, sockets),
            Event::Connected { socket, at } => self.connected(socket, at, sockets),
            Event::PeerClosed { socket, at } => self.peer_closed(socket, at, sockets),
            Event::Failed { socket, error, at, left } => self.failed(socket, error, left, at, sockets),
            // Plain requests are templates, which have no such event; and a client has no listener.
            Event::Sent { socket, buffer } => self.taken(socket, buffer, sockets),
            Event::Refused { socket, error, at } => self.datagram_refused(socket, error, at, sockets),
            Event::Cut { at, .. } => self.datagram_cut(at),
            Event::Accepted { .. } | Event::Woken => {}
        }
        self.advance_freed(sockets);
    }

    fn connected(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        self.wake_at(at);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let (Phase::Connect { since, .. } | Phase::Prepare { since, .. }) = connection.phase else { return };
        self.unreported.connect.record(at.since(since).0);
        if self.pool.lifetimes.is_some() {
            self.begin_life(socket, at);
        }
        if !self.pool.is_layered {
            return self.ready_alone(socket, at, sockets);
        }
        if self.pool.has_passages && self.begin_passage(socket, at, sockets) {
            return;
        }
        if !self.begin_handshake(socket, at, sockets) {
            self.ready(socket, at, sockets);
        }
    }

    /// The connection carries one exchange at a time: its first is sent.
    #[inline]
    pub(super) fn ready_alone(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let attempt = match connection.phase {
            Phase::Connect { attempt, .. } => Ok(attempt),
            Phase::Prepare { user, .. } => Err(user),
            _ => return,
        };
        connection.phase = match attempt {
            Ok(attempt) => Phase::Response { attempt },
            Err(user) => Phase::Idle { user },
        };
        // A socket of datagrams is connected whether its peer is there or not.
        let is_datagram = connection.layers.as_ref().is_some_and(|layers| layers.transport.is_datagram());
        self.pool.reachability_guard.was_connected |= !is_datagram;
        self.unreported.counts[Counter::ConnectionsEstablished] += 1;
        let origin = connection.origin;
        if self.pool.addresses.rotate {
            self.count_established(socket);
        }
        match attempt {
            Ok(attempt) => self.send_request(attempt, sockets),
            Err(user) => {
                self.keep_own(user, origin, socket);
                self.advance_user(user, LastExchange::Nothing, at, at, sockets);
            }
        }
    }

    fn received(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        self.wake_at(at);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        self.unreported.counts[Counter::BytesReceived] += bytes.len() as u64;
        let phase = connection.phase;
        if connection.layers.is_some() {
            return self.received_in_layers(socket, bytes, at, sockets);
        }
        self.received_in(phase, socket, bytes, at, sockets);
    }

    /// Handles decrypted bytes.
    #[inline]
    pub(super) fn received_plain(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let phase = connection.phase;
        match phase {
            Phase::Shared => self.read_shared(socket, bytes, at, sockets),
            _ if connection.layers.as_ref().is_some_and(|layers| layers.line.is_some()) => {
                self.converse(socket, bytes, at, sockets);
            }
            _ => self.received_in(phase, socket, bytes, at, sockets),
        }
    }

    /// Its user drops a connection that is gone, if it was idle.
    pub(super) fn forget_idle(&mut self, socket: Socket, connection: &Connection) {
        if let Phase::Idle { user } = connection.phase {
            self.forget_own(user, connection.origin, socket);
        }
    }

    #[inline]
    pub(super) fn received_in(
        &mut self,
        phase: Phase,
        socket: Socket,
        bytes: &[u8],
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        match phase {
            Phase::Response { attempt } => match self.receive(attempt, bytes, at) {
                Received::NeedMore => {}
                Received::Called => self.send_body(attempt, sockets),
                Received::Answered { is_clean } => self.end_response(attempt, is_clean, at, sockets),
                Received::Broken(failure) => {
                    self.count_last_sent(attempt, sockets);
                    self.close(socket, sockets);
                    self.end_attempt(attempt, Outcome::Failed(failure), at);
                }
            },
            // These bytes were not requested: what follows them could not be told apart from a response.
            Phase::Idle { user } => {
                let origin = self.origin_of(socket);
                self.forget_own(user, origin, socket);
                self.unreported.counts[Counter::Unsolicited] += 1;
                self.close(socket, sockets);
            }
            // What a peer sends about its streams before it closes is ignored.
            Phase::Close if self.pool.is_layered => {}
            Phase::Close => self.close(socket, sockets),
            Phase::Connect { .. } | Phase::Prepare { .. } | Phase::Shared => {}
        }
    }

    /// Parses the bytes of a response.
    fn receive(&mut self, key: Key, bytes: &[u8], at: Nanos) -> Received {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return Received::NeedMore };
        attempt.first_byte = attempt.first_byte.min(at);
        let (mut rest, mut is_called) = (bytes, false);
        loop {
            match attempt.line.read(rest, &mut self.pool.heads) {
                Ok((taken, said)) => {
                    let read = &rest[..taken];
                    rest = &rest[taken..];
                    if attempt.needs.head && (attempt.head.is_none() || attempt.is_recorded()) {
                        attempt.keep_response(read, &said);
                    }
                    match said {
                        ConnectionEvent::Interim { is_continue, .. } => {
                            attempt.forget_head();
                            is_called |= is_continue && attempt.holds_body;
                        }
                        ConnectionEvent::Head { head: Head::Http1(head), .. } => {
                            attempt.head = Some(head);
                            if attempt.kept.is_some() {
                                attempt.unfold_head();
                            }
                        }
                        ConnectionEvent::Body { bytes, .. } => {
                            self.unreported.counts[Counter::BodyBytes] += bytes.len() as u64;
                            attempt.keep(bytes);
                        }
                        ConnectionEvent::End { .. } => return Received::Answered { is_clean: rest.is_empty() },
                        // HTTP/1 has no other event here.
                        _ if is_called => return Received::Called,
                        _ => return Received::NeedMore,
                    }
                }
                Err(fault) => {
                    attempt.record_unread(rest);
                    return Received::Broken(faults::line(fault));
                }
            }
        }
    }

    pub(super) fn peer_closed(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        if self.in_flight.records {
            self.record_begun(socket);
        }
        let in_passage = self.ended_in_passage(socket);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let is_cut_off = connection.layers.as_ref().is_some_and(|layers| layers.may_be_cut());
        if connection.layers.is_some() && !matches!(connection.phase, Phase::Response { .. } | Phase::Close) {
            let is_new = matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. });
            let is_shaking = is_new && connection.layers.as_ref().is_some_and(|layers| layers.is_shaking());
            let failure = if is_shaking { Failure::Tls(metrics::TlsFault::ClosedEarly) } else { Failure::ClosedEarly };
            return self.lose_connection(socket, in_passage.unwrap_or(failure), at, sockets);
        }
        let (phase, is_reused) = (connection.phase, connection.is_reused);
        let mut again = RetryDecision::Never;
        if let Phase::Response { attempt } = phase {
            let Some(known) = self.in_flight.attempts.find(attempt) else { return };
            if known.peer_closed_at != Nanos::NEVER {
                // It is known already, from TLS.
                return;
            }
            if is_cut_off || !known.line.ends_with_connection() {
                again = self.retry_decision(attempt, sockets);
                if again == RetryDecision::Perhaps {
                    return self.await_refusal(attempt, at);
                }
                self.count_last_sent(attempt, sockets);
            }
        }
        let ending = self.handle_end(socket);
        let cut = Cut { is_reused, again, may_be_short: is_cut_off, ending };
        if let Phase::Response { attempt } = phase
            && self.pool.connections.find(socket).is_some_and(|connection| connection.peer_closed_tls())
            && sockets.unsent(socket) == 0
            && !self.pool.has_unsealed(socket)
        {
            // TLS reported it, and got its reply.
            self.await_close(socket, at, sockets);
            self.send_close_notify(socket, sockets);
            return self.end_cut_attempt(attempt, cut, at, sockets);
        }
        let untaken = if self.pool.is_layered { sockets.stop_sending(socket) } else { 0 };
        let Some(connection) = self.pool.connections.remove(socket) else { return };
        self.uncount(&connection, untaken);
        sockets.close(socket);
        match connection.phase {
            Phase::Response { attempt } => self.end_cut_attempt(attempt, cut, at, sockets),
            Phase::Connect { attempt, .. } => {
                self.end_attempt(attempt, Outcome::Failed(Failure::ClosedEarly), at);
            }
            Phase::Prepare { user, .. } => self.advance_user(user, LastExchange::NoConnection, at, at, sockets),
            Phase::Idle { user } => self.forget_own(user, connection.origin, socket),
            Phase::Shared | Phase::Close => {}
        }
    }

    /// The stream of bytes of a connection has ended: what that means for the response awaited on it, if there is one.
    fn handle_end(&mut self, socket: Socket) -> Option<Ending> {
        let connection = self.pool.connections.find(socket)?;
        let Phase::Response { attempt } = connection.phase else { return None };
        let attempt = self.in_flight.attempts.find(attempt)?;
        match connection.layers.as_deref_mut().and_then(|layers| layers.line.as_mut()) {
            Some(line) => Some(line.handle_end()),
            None => Some(attempt.line.handle_end()),
        }
    }

    /// The peer has ended the connection while a response was awaited on it.
    fn end_cut_attempt(&mut self, key: Key, cut: Cut, at: Nanos, sockets: &mut dyn Sockets) {
        let is_cut = !cut.is_reused && cut.ending == Some(Ending::BeforeAnswer);
        self.unreported.counts[Counter::CutOff] += u64::from(is_cut);
        match cut.ending {
            Some(Ending::Complete) if !cut.may_be_short => self.end_response(key, true, at, sockets),
            Some(Ending::BeforeAnswer) => self.end_cut(key, cut.again, Failure::ClosedEarly, at, sockets),
            _ => self.end_attempt(key, Outcome::Failed(Failure::ClosedEarly), at),
        }
    }

    /// A socket has failed, with what it left.
    fn failed(&mut self, socket: Socket, error: SocketError, left: Left, at: Nanos, sockets: &mut dyn Sockets) {
        let untaken = left.untaken;
        if self.in_flight.records {
            self.record_begun(socket);
        }
        if self.pool.is_layered {
            self.unlink(socket);
        }
        let again = match self.pool.connections.find(socket).map(|connection| connection.phase) {
            Some(Phase::Response { attempt }) => self.retry_decision_behind_failure(attempt, socket, left),
            _ => RetryDecision::Never,
        };
        let ending = self.handle_end(socket);
        let in_passage = self.ended_in_passage(socket);
        let Some(connection) = self.pool.connections.remove(socket) else { return };
        self.uncount(&connection, untaken);
        if connection.layers.is_some() && !matches!(connection.phase, Phase::Response { .. }) {
            let is_new = matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. });
            let shakes = is_new && connection.layers.as_ref().is_some_and(|layers| layers.is_shaking());
            let failure = match error {
                SocketError::Reset if in_passage.is_some() => Failure::ProxyClosed,
                SocketError::Reset if shakes => Failure::Tls(metrics::TlsFault::ClosedEarly),
                _ if is_new => faults::while_connecting(error),
                _ => faults::while_connected(error),
            };
            self.forget_idle(socket, &connection);
            return self.end_all(connection, Some(untaken), failure, at, sockets);
        }
        match connection.phase {
            Phase::Connect { attempt, .. } => {
                let (place, failure) = (connection.place(), faults::while_connecting(error));
                if !self.goes_elsewhere(attempt, place, failure, at, sockets) {
                    self.pool.reachability_guard.fail(connection.origin);
                    self.end_attempt(attempt, Outcome::Failed(failure), at);
                }
            }
            Phase::Prepare { user, .. } => {
                self.pool.reachability_guard.fail(connection.origin);
                self.advance_user(user, LastExchange::NoConnection, at, at, sockets);
            }
            Phase::Response { attempt } => {
                self.count_sent(attempt, untaken);
                let failure = faults::while_connected(error);
                let is_cut = failure == Failure::Reset && !connection.is_reused && ending == Some(Ending::BeforeAnswer);
                self.unreported.counts[Counter::CutOff] += u64::from(is_cut);
                self.end_cut(attempt, again, failure, at, sockets);
            }
            Phase::Idle { user } => self.forget_own(user, connection.origin, socket),
            Phase::Shared | Phase::Close => {}
        }
    }
}
