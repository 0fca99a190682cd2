//! Opening of connections, for an exchange or in advance.

use driver::{OpenOptions, Socket, SocketError, SocketKind, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;

use crate::faults;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
use crate::slab::Key;
use crate::user::LastExchange;

/// Whether another address may do better: this one refuses, is silent, or cannot be reached.
pub(crate) fn is_of_peer(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectRefused | Failure::ConnectTimeout | Failure::Unreachable)
}

/// A request larger than one segment is sent without waiting for acknowledgements.
const ONE_SEGMENT_BYTES: usize = 1_200;

impl ScenarioRuntime {
    /// Opens a connection for a step. `now`: about this instant.
    #[inline]
    pub(in crate::scenario_runtime) fn open_connection(
        &mut self,
        step: usize,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Result<Socket, SocketError> {
        let origin = usize::from(self.in_flight.steps[step].origin);
        let is_datagram = self.pool.has_datagrams && self.pool.origins[origin].is_datagram();
        let kind = if is_datagram { SocketKind::Datagram } else { SocketKind::Stream };
        self.open_for(step, kind, now, sockets)
    }

    /// Opens a connection of a kind for a step. `now`: about this instant.
    #[inline]
    fn open_for(
        &mut self,
        step: usize,
        kind: SocketKind,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Result<Socket, SocketError> {
        self.pool.links.read_coalescer.open();
        // Handshakes and frames are small pieces that the peer waits for.
        let prepared = &self.in_flight.steps[step];
        let index = usize::from(prepared.origin);
        let origin = &self.pool.origins[index];
        let no_delay = origin.begins_layered() || prepared.request.len() > ONE_SEGMENT_BYTES;
        let Some(to) = origin.turns.single() else { return self.open_in_turn(index, (kind, no_delay), now, sockets) };
        let options = OpenOptions { kind, to: to.clone(), from: None, no_delay };
        self.open_at(&options, sockets)
    }

    /// Opens a connection to the endpoint whose turn it is; where that fails at once, to another one.
    #[inline(never)]
    fn open_in_turn(
        &mut self,
        origin: usize,
        (kind, no_delay): (SocketKind, bool),
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Result<Socket, SocketError> {
        self.pool.origins[origin].turns.update();
        let mut failed = Err(SocketError::Unreachable);
        for _ in 0..self.pool.origins[origin].turns.count() {
            let number = self.number_of(self.pool.origins[origin].turns.opened());
            let (endpoint, to, from) = self.pool.origins[origin].turns.next(number, now);
            self.count_tried(origin, endpoint);
            match self.open_at(&OpenOptions { kind, to, from, no_delay }, sockets) {
                Ok(socket) => return Ok(socket),
                Err(error) if is_of_peer(faults::while_connecting(error)) => {
                    self.pool.origins[origin].turns.rest(endpoint, now);
                    failed = Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        failed
    }

    /// Opens a stream for a step, to the endpoint of another connection: that of a name with several.
    #[cold]
    pub(in crate::scenario_runtime) fn open_stream_to(
        &mut self,
        endpoint: Option<u16>,
        step: usize,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Result<Socket, SocketError> {
        let origin = usize::from(self.in_flight.steps[step].origin);
        let turns = &mut self.pool.origins[origin].turns;
        let Some((endpoint, (to, from))) = endpoint.and_then(|endpoint| Some((endpoint, turns.again(endpoint)?)))
        else {
            return self.open_for(step, SocketKind::Stream, now, sockets);
        };
        self.count_tried(origin, endpoint);
        self.open_at(&OpenOptions { kind: SocketKind::Stream, to, from, no_delay: true }, sockets)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every new connection is opened here, on one of two ways")]
    fn open_at(&mut self, options: &OpenOptions, sockets: &mut dyn Sockets) -> Result<Socket, SocketError> {
        self.unreported.counts[Counter::ConnectionsTried] += 1;
        let opened = sockets.open(options);
        if opened == Err(SocketError::NoDescriptor) && self.pool.connections.closing > 0 {
            // Connections that only wait for the peer's close make way for one that works.
            self.pool.connections.drain_closing(|socket| sockets.close(socket));
            return sockets.open(options);
        }
        opened
    }

    /// The number of a connection to an origin among those of all shards: the first ones have their places there, later
    /// ones take turns here.
    pub(in crate::scenario_runtime) fn number_of(&self, opened: u64) -> u64 {
        let own = self.own_connections();
        match opened.checked_sub(own) {
            None => self.work.segment.nth(opened),
            Some(more) => self.work.segment.nth(own - 1) + more + 1,
        }
    }

    /// The number of connections to an origin that are the first of their users.
    pub(in crate::scenario_runtime) fn own_connections(&self) -> u64 {
        (self.work.share.users / u64::from(self.work.streams)).max(1)
    }

    /// A connection was not established: an exchange goes to another address, until each was tried once. False when it
    /// does not.
    #[cold]
    pub(in crate::scenario_runtime) fn goes_elsewhere(
        &mut self,
        key: Key,
        (origin, endpoint): (u16, Option<u16>),
        failure: Failure,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        // What has left as a datagram, and goes on over a stream, has its server.
        let has_left = self.in_flight.attempts.find(key).is_some_and(|attempt| attempt.was_sent());
        let turns = &mut self.pool.origins[usize::from(origin)].turns;
        if turns.single().is_some() || !is_of_peer(failure) || has_left {
            return false;
        }
        if let Some(endpoint) = endpoint {
            turns.rest(endpoint, at);
        }
        let count = turns.count();
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let place = attempt.exchange;
        let Some(exchange) = self.in_flight.exchanges.find(place) else { return false };
        if usize::from(exchange.refusals) + 1 >= count {
            return false;
        }
        exchange.refusals += 1;
        // It has not been sent, so it is no further attempt.
        exchange.is_moved = true;
        self.in_flight.attempts.remove(key);
        self.try_exchange(place, sockets);
        true
    }

    /// The connection of an exchange was not established.
    #[cold]
    pub(in crate::scenario_runtime) fn end_unconnected(
        &mut self,
        key: Key,
        place: (u16, Option<u16>),
        failure: Failure,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if !self.goes_elsewhere(key, place, failure, at, sockets) {
            self.end_attempt(key, Outcome::Failed(failure), at);
        }
    }

    /// Opens the connection of a user before anything is to be sent on it. When that fails, the user's first exchange
    /// retries and reports it.
    pub(in crate::scenario_runtime) fn prepare(&mut self, user: u32, sockets: &mut dyn Sockets) {
        let since = sockets.now();
        if self.shared_connection(user, 0).is_some() || self.opens_anew(0) {
            // Another user of its link has opened it, or only an exchange knows how it is opened.
            return self.advance_user(user, LastExchange::Nothing, since, since, sockets);
        }
        match self.open_connection(0, since, sockets) {
            Ok(socket) => {
                self.pool.connections.insert(socket, Phase::Prepare { user, since }, 0);
                if self.pool.addresses.rotate {
                    self.note_endpoint(socket, 0);
                }
                self.add_layers(socket, user, 0);
                let deadline = since + self.pool.origins[0].connect_timeout;
                self.timers.insert(deadline, TimerEntry::Preparing(socket));
            }
            Err(_) => self.advance_user(user, LastExchange::NoConnection, since, since, sockets),
        }
    }

    /// A connection opened in advance is not established in time.
    pub(in crate::scenario_runtime) fn prepare_due(&mut self, socket: Socket, now: Nanos, sockets: &mut dyn Sockets) {
        let phase = self.pool.connections.find(socket).map(|connection| connection.phase);
        let Some(Phase::Prepare { since, .. }) = phase else { return };
        let deadline = self.stalls.spare(since, since + self.pool.origins[0].connect_timeout);
        if deadline > now {
            return self.timers.insert(deadline, TimerEntry::Preparing(socket));
        }
        if deadline > self.instants.read_until {
            return self.pool.overdue_prepared.push(socket);
        }
        let failure = self.unanswered_stage(socket);
        self.lose_connection(socket, failure, now, sockets);
    }
}
