//! Requests over datagrams: they may be lost, so they are sent again, and a response may come late, twice, or forged.
//! The protocol matches responses to requests by what is in them; here is what follows from that.
//!
//! A socket has one exchange at a time, and lives on when that times out or is refused: a late response must not be
//! taken for that of the next request. When it has no IDs left that are certain, it is replaced. The next time at which
//! a request is sent again stands in the timer entry of its attempt; the last one is its timeout.

use driver::{Socket, SocketError, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use wire::connection::{ProtocolConnection, Stray};

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::Attempt;
use crate::slab::Key;

/// What the messages of a connection travel in.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scenario_runtime) enum Transport {
    /// A stream.
    #[default]
    Stream,
    /// Datagrams.
    Datagrams(DatagramExchange),
    /// A stream that was opened for one exchange, whose response did not fit into a datagram.
    Fallback {
        /// When its request was sent first.
        sent: Nanos,
    },
}

/// The exchange that a socket of datagrams carries.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scenario_runtime) struct DatagramExchange {
    /// Its number on the connection.
    number: u32,
    /// How often it was sent again.
    resent: u32,
    /// When it times out.
    timeout: Nanos,
}

impl Transport {
    pub(in crate::scenario_runtime) fn is_datagram(&self) -> bool {
        matches!(self, Self::Datagrams(_))
    }

    /// An exchange began, with this number on its connection.
    pub(in crate::scenario_runtime) fn begin(&mut self, number: u32) {
        if let Self::Datagrams(exchange) = self {
            *exchange = DatagramExchange { number, ..DatagramExchange::default() };
        }
    }
}

impl ScenarioRuntime {
    /// The messages of a connection are datagrams.
    pub(in crate::scenario_runtime) fn is_datagram(&mut self, socket: Socket) -> bool {
        self.layers(socket).is_some_and(|layers| layers.transport.is_datagram())
    }

    /// A connection of a custom protocol is established: its protocol state.
    pub(super) fn connect_custom(
        &mut self,
        socket: Socket,
        request: &dyn protocol::Request,
        number: u64,
    ) -> protocol::Connection {
        let origin = usize::from(self.origin_of(socket));
        let is_datagram = self.pool.origins[origin].is_datagram();
        match self.layers(socket) {
            Some(layers) if matches!(layers.transport, Transport::Fallback { .. }) => request.connect_stream(number),
            Some(layers) if is_datagram => {
                layers.transport = Transport::Datagrams(DatagramExchange::default());
                request.connect(number)
            }
            _ => request.connect(number),
        }
    }

    /// A request was sent over datagrams, or on a stream that was opened for it. False for others.
    pub(super) fn mark_datagram(
        &mut self,
        key: Key,
        socket: Socket,
        sent: Nanos,
        timeout: Nanos,
        is_measured: bool,
    ) -> bool {
        let Some(layers) = self.layers(socket) else { return false };
        match &mut layers.transport {
            Transport::Stream => return false,
            Transport::Fallback { sent: first } => {
                // The same request: nothing is counted twice.
                let first = *first;
                let Some(attempt) = self.in_flight.attempts.find(key) else { return true };
                attempt.sent = first;
                self.arm(key, first + timeout);
            }
            Transport::Datagrams(exchange) => {
                exchange.timeout = sent + timeout;
                let Some(attempt) = self.in_flight.attempts.find(key) else { return true };
                attempt.sent = sent;
                self.unreported.counts[Counter::Sent] += u64::from(is_measured);
                self.unreported.counts[Counter::MessagesSent] += u64::from(is_measured);
                match self.resend_of(key) {
                    Some(resend) => self.arm_resend(key, socket, sent, resend),
                    None => self.arm(key, sent + timeout),
                }
            }
        }
        true
    }

    /// When the request of an attempt is sent again.
    fn resend_of(&mut self, key: Key) -> Option<protocol::Resend> {
        let exchange = self.in_flight.attempts.find(key)?.exchange;
        let step = self.in_flight.exchanges.find(exchange)?.step as usize;
        self.in_flight.steps[step].messaging.as_ref()?.custom.as_ref()?.resend
    }

    /// Sets the time at which a request that was sent now is sent again, or times out.
    #[cold]
    fn arm_resend(&mut self, key: Key, socket: Socket, now: Nanos, resend: protocol::Resend) {
        let drawn = self.pool.messaging.random.next_u64() as u32;
        let Some(layers) = self.layers(socket) else { return };
        let Transport::Datagrams(exchange) = &layers.transport else { return };
        let next = resend.wait(exchange.resent, drawn).map_or(Nanos::NEVER, |wait| now + Nanos::from(wait));
        let deadline = next.min(exchange.timeout);
        self.arm(key, deadline);
    }

    /// A deadline of a request has come: it is sent again. False when it has timed out.
    #[cold]
    pub(in crate::scenario_runtime) fn resends(
        &mut self,
        key: Key,
        socket: Socket,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let Some(deadline) = self.in_flight.attempts.find(key).map(|attempt| attempt.deadline) else { return false };
        let mut datagram = self.pool.links.buffer();
        let is_sent = self.layers(socket).is_some_and(|layers| match (&mut layers.transport, &mut layers.line) {
            (Transport::Datagrams(exchange), Some(line)) if deadline < exchange.timeout => {
                exchange.resent += 1;
                line.resend(exchange.number, &mut datagram)
            }
            _ => false,
        });
        if !is_sent {
            self.pool.links.give_back(datagram);
            return false;
        }
        self.unreported.counts[Counter::Resent] += u64::from(now >= self.instants.measured_from);
        self.send_through(socket, datagram, sockets);
        if let Some(resend) = self.resend_of(key) {
            self.arm_resend(key, socket, now, resend);
        }
        true
    }

    /// The failure of a request without a response.
    #[cold]
    pub(in crate::scenario_runtime) fn overdue_failure(&mut self, socket: Socket) -> Failure {
        if let Some(Phase::Connect { .. }) = self.pool.connections.find(socket).map(|connection| connection.phase) {
            return self.unanswered_stage(socket);
        }
        let Some(layers) = self.layers(socket) else { return Failure::Timeout };
        let fault = match (&layers.transport, &layers.line) {
            (Transport::Datagrams(exchange), Some(line)) => line.overdue(exchange.number),
            _ => None,
        };
        fault.map_or(Failure::Timeout, |fault| self.failure_of(socket, fault))
    }

    /// The exchange on a socket of datagrams has ended without a response: the socket is for the next one.
    #[cold]
    pub(in crate::scenario_runtime) fn leave_unanswered(
        &mut self,
        socket: Socket,
        key: Key,
        sockets: &mut dyn Sockets,
    ) {
        let exchange = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange);
        let user = exchange.and_then(|exchange| self.in_flight.exchanges.find(exchange)).map(|exchange| exchange.user);
        if let Some(layers) = self.layers(socket)
            && let Transport::Datagrams(exchange) = &layers.transport
            && let Some(line) = &mut layers.line
        {
            let number = exchange.number;
            line.abandon(number, &mut Vec::new());
        }
        match user {
            Some(user) => self.leave_to_next(socket, user, sockets),
            None => self.close(socket, sockets),
        }
    }

    /// A socket of datagrams without an exchange is for the next one of its user, while it has IDs left.
    #[cold]
    fn leave_to_next(&mut self, socket: Socket, user: u32, sockets: &mut dyn Sockets) {
        if !self.stays_for_next(socket) {
            return self.close(socket, sockets);
        }
        if let Some(connection) = self.pool.connections.find(socket) {
            connection.phase = Phase::Idle { user };
        }
        let origin = self.origin_of(socket);
        self.keep_own(user, origin, socket);
    }

    /// Whether the connection carries the next exchange of its user, too.
    pub(super) fn stays_for_next(&mut self, socket: Socket) -> bool {
        if !self.pool.has_datagrams {
            return true;
        }
        self.layers(socket).is_some_and(|layers| match (&layers.transport, &layers.line) {
            (Transport::Fallback { .. }, _) => false,
            (Transport::Datagrams(_), Some(line)) => !line.is_used_up(),
            _ => true,
        })
    }

    /// A datagram that is the response to no request in flight.
    #[cold]
    pub(super) fn count_stray(&mut self, stray: Stray, at: Nanos) {
        let counter = match stray {
            Stray::Late => Counter::LateResponses,
            Stray::Duplicate => Counter::DuplicateResponses,
            Stray::Unmatched => Counter::UnmatchedDatagrams,
        };
        self.unreported.counts[counter] += u64::from(at >= self.instants.measured_from);
    }

    /// A datagram broke the protocol: that ends the exchange, and not the socket, on which nothing of it is left.
    #[cold]
    pub(super) fn end_faulty(&mut self, socket: Socket, failure: Failure, at: Nanos, sockets: &mut dyn Sockets) {
        match self.pool.connections.find(socket).map(|connection| connection.phase) {
            Some(Phase::Response { attempt }) => {
                self.leave_unanswered(socket, attempt, sockets);
                self.end_attempt(attempt, Outcome::Failed(failure), at);
            }
            _ => self.count_stray(Stray::Unmatched, at),
        }
    }

    /// The endpoint of a socket refused a datagram: others have its turns for a while. Whether there is another one
    /// that does not refuse.
    fn rests_endpoint(&mut self, socket: Socket, at: Nanos) -> bool {
        let Some((origin, endpoint)) = self.pool.connections.find(socket).map(|connection| connection.place()) else {
            return false;
        };
        let turns = &mut self.pool.origins[usize::from(origin)].turns;
        match endpoint.filter(|_| turns.single().is_none()) {
            Some(endpoint) => {
                turns.rest(endpoint, at);
                turns.is_any_awake(at)
            }
            None => false,
        }
    }

    /// A datagram was refused: that of the exchange on this socket, if it has one.
    #[cold]
    pub(in crate::scenario_runtime) fn datagram_refused(
        &mut self,
        socket: Socket,
        error: SocketError,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        self.wake_at(at);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let (phase, origin) = (connection.phase, connection.origin);
        self.unreported.counts[Counter::RefusedDatagrams] += u64::from(at >= self.instants.measured_from);
        let goes_elsewhere = self.rests_endpoint(socket, at);
        let attempt = match phase {
            Phase::Response { attempt } => attempt,
            Phase::Idle { user } if goes_elsewhere => {
                self.forget_own(user, origin, socket);
                return self.close(socket, sockets);
            }
            _ => return,
        };
        if !self.in_flight.attempts.find(attempt).is_some_and(|attempt| attempt.was_sent()) {
            return;
        }
        self.pool.reachability_guard.fail(origin);
        match goes_elsewhere {
            // The user's next request opens a socket to an endpoint that does not refuse.
            true => self.close(socket, sockets),
            false => self.leave_unanswered(socket, attempt, sockets),
        }
        self.end_attempt(attempt, Outcome::Failed(faults::while_connecting(error)), at);
    }

    /// A datagram was longer than what is read.
    #[cold]
    pub(in crate::scenario_runtime) fn datagram_cut(&mut self, at: Nanos) {
        self.wake_at(at);
        self.unreported.counts[Counter::CutDatagrams] += u64::from(at >= self.instants.measured_from);
    }

    /// The response does not fit into a datagram: the exchange goes on over a stream, opened for it to the same server.
    #[cold]
    pub(super) fn go_over_stream(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let Phase::Response { attempt } = connection.phase else { return };
        let (origin, endpoint) = connection.place();
        let Some(Attempt { exchange: place, sent, is_measured, .. }) = self.in_flight.attempts.remove(attempt) else {
            return;
        };
        let Some(exchange) = self.in_flight.exchanges.find(place) else { return };
        let (user, step) = (exchange.user, exchange.step as usize);
        self.pool.reachability_guard.was_connected = true;
        self.unreported.counts[Counter::OverStream] += u64::from(at >= self.instants.measured_from);
        let opened = self.open_stream_to(endpoint, step, at, sockets);
        self.leave_to_next(socket, user, sockets);
        match opened {
            Ok(stream) => {
                let attempt = self.insert_attempt(place, step, is_measured, stream);
                if let Some(attempt) = self.in_flight.attempts.find(attempt) {
                    // It is the same request, which has left.
                    (attempt.opened, attempt.sent) = (true, sent);
                }
                self.pool.connections.insert(stream, Phase::Connect { attempt, since: at }, origin);
                if self.pool.addresses.rotate {
                    match (endpoint, self.pool.connections.find(stream)) {
                        (Some(endpoint), Some(connection)) => connection.goes_to(endpoint),
                        _ => self.note_endpoint(stream, origin),
                    }
                    self.note_address(place, stream);
                }
                self.add_layers(stream, user, origin);
                if let Some(layers) = self.layers(stream) {
                    layers.transport = Transport::Fallback { sent };
                }
                let step = &self.in_flight.steps[step];
                let deadline = (at + step.connect_timeout).min(sent + step.timeout);
                self.arm(attempt, deadline);
            }
            Err(error) => {
                let failure = faults::while_connecting(error);
                self.end_exchange(place, None, Outcome::Failed(failure), at);
            }
        }
    }

    /// Counts what this machine has dropped of the datagrams for open sockets.
    pub(in crate::scenario_runtime) fn count_kernel_drops(&mut self, sockets: &mut dyn Sockets) {
        if !self.pool.has_datagrams {
            return;
        }
        for (socket, _) in self.pool.connections.phases() {
            self.unreported.counts[Counter::KernelDrops] += sockets.dropped(socket);
        }
    }
}
