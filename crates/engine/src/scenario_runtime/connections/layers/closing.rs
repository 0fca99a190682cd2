//! The end of connections with layers, and of the requests that were on them or waited for them.

use driver::{Socket, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use wire::connection::{Mask, ProtocolConnection};

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::Connection;
use crate::scenario_runtime::connections::layers::SILENCE_MAX;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::abandoned::AbandonedAttempt;
use crate::scenario_runtime::exchanges::{Attempt, RetryDecision, TRIES_MAX};
use crate::slab::Key;
use crate::user::LastExchange;

/// Where users share connections many of them wait on one, and each connection that takes no more requests moves all of
/// them.
const SHARED_MOVES_MAX: u8 = u8::MAX;

impl ScenarioRuntime {
    /// GOAWAY: the peer takes no more requests here; those that it has not processed are sent again elsewhere (RFC
    /// 9113, 6.8).
    pub(super) fn go_away(&mut self, socket: Socket, last: u32, at: Nanos, sockets: &mut dyn Sockets) {
        self.unlink(socket);
        let Some(layers) = self.layers(socket) else { return };
        let Some(line) = &mut layers.line else { return };
        for key in line.take_unprocessed(last).into_iter().map(Key::from_bits) {
            self.retry(key, Failure::Goaway, at, sockets);
            self.advance_freed(sockets);
        }
        self.move_waiting(socket, Failure::Goaway, at, sockets);
    }

    /// Attempts that wait for a stream of a connection that takes no more requests move to another.
    pub(super) fn move_waiting(&mut self, socket: Socket, failure: Failure, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(layers) = self.layers(socket) else { return };
        for key in std::mem::take(&mut layers.waiting) {
            self.retry(key, failure, now, sockets);
        }
    }

    /// The connection takes no further requests.
    pub(in crate::scenario_runtime) fn unlink(&mut self, socket: Socket) {
        let Some(link) = self.layers(socket).map(|layers| layers.link) else { return };
        if let Some(place) = self.pool.links.sockets.get_mut(link)
            && *place == Some(socket)
        {
            *place = None;
        }
    }

    /// Retries what the peer has not processed.
    pub(in crate::scenario_runtime) fn retry(
        &mut self,
        key: Key,
        failure: Failure,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let (exchange, was_sent, was_received) =
            (attempt.exchange, attempt.was_sent(), attempt.first_byte != Nanos::NEVER);
        let moves_max = if self.pool.sharing.is_some() { SHARED_MOVES_MAX } else { TRIES_MAX };
        let Some(known) = self.in_flight.exchanges.find(exchange) else { return };
        let origin = self.in_flight.steps[known.step as usize].origin;
        let tries_max = if self.pool.origins[usize::from(origin)].lacks_consent { 0 } else { TRIES_MAX };
        // A peer that has begun to respond has processed it.
        if was_received || was_sent && known.tries >= tries_max || known.moves >= moves_max {
            return self.end_attempt(key, Outcome::Failed(failure), now);
        }
        let (is_measured, slot) = (known.is_measured, known.address_slot);
        if was_sent {
            known.tries += 1;
            self.unreported.counts[Counter::Reconnects] += u64::from(is_measured);
        } else {
            // The same attempt, on another connection.
            known.moves += 1;
            known.is_moved = true;
        }
        if let Some(attempt) = self.in_flight.attempts.remove(key).filter(|_| is_measured) {
            self.count_sent_to_address(slot, &attempt);
        }
        self.try_exchange(exchange, sockets);
    }

    /// A connection that has reached a limit takes no further requests: those that wait for a stream go to another.
    #[cold]
    pub(in crate::scenario_runtime) fn leave_at_limit(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        if !self.is_linked(socket) {
            return;
        }
        self.unreported.counts[Counter::ConnectionsRetired] += 1;
        self.unlink(socket);
        let waiting = self.layers(socket).map(|layers| std::mem::take(&mut layers.waiting)).unwrap_or_default();
        for key in waiting {
            let Some(attempt) = self.in_flight.attempts.remove(key) else { continue };
            if let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) {
                // It has not been sent, so it is no further attempt.
                exchange.is_moved = true;
            }
            self.try_exchange(attempt.exchange, sockets);
        }
    }

    /// The connection takes the requests of its link.
    fn is_linked(&mut self, socket: Socket) -> bool {
        let layers = self.pool.connections.find(socket).and_then(|connection| connection.layers.as_deref());
        layers.is_some_and(|layers| layers.is_linked_in(&self.pool.links, socket))
    }

    /// A connection that takes no further requests and has none in flight is closed.
    pub(in crate::scenario_runtime) fn retire(&mut self, socket: Socket, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        if connection.phase != Phase::Shared {
            return;
        }
        if self.pool.is_used_up(socket) {
            self.leave_at_limit(socket, sockets);
        }
        let Some(layers) = self.layers(socket) else { return };
        let Some(line) = &layers.line else { return };
        let (is_over, is_used_up) = (line.is_idle(), line.is_used_up());
        if is_used_up {
            self.unlink(socket);
            self.move_waiting(socket, Failure::Goaway, now, sockets);
        }
        if is_over && !self.is_linked(socket) {
            if let Some(layers) = self.layers(socket)
                && let Some(line) = &mut layers.line
            {
                line.close(Mask::default(), &mut layers.out);
            }
            self.flush_last(socket, sockets);
            self.await_close(socket, now, sockets);
        }
    }

    /// The stage that a connection not ready in time is waiting for, as a failure.
    pub(in crate::scenario_runtime) fn unanswered_stage(&mut self, socket: Socket) -> Failure {
        match self.layers(socket) {
            Some(layers) if layers.is_passing() => Failure::ProxyTimeout,
            Some(layers) if layers.line.is_some() => Failure::NoFirstAnswer,
            Some(layers) if layers.tls.is_some() => Failure::Tls(metrics::TlsFault::NoAnswer),
            _ => Failure::ConnectTimeout,
        }
    }

    /// Aborts the attempt: its stream, its place in the queue, or the connection that was opened for it.
    pub(in crate::scenario_runtime) fn abandon_attempt(
        &mut self,
        AbandonedAttempt { key, socket, stream, sent }: AbandonedAttempt,
        is_late: bool,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let (late, is_messaging) = (self.unanswered_stage(socket), self.is_messaging(socket));
        let is_datagram = self.pool.has_datagrams && self.is_datagram(socket);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let place = connection.place();
        match connection.phase {
            Phase::Shared => {
                let Some(layers) = connection.layers.as_deref_mut() else { return };
                layers.waiting.retain(|waiting| *waiting != key);
                let is_silent = sent != Nanos::NEVER && now.since(layers.received_at) >= SILENCE_MAX;
                if let Some(line) = layers.line.as_mut().filter(|_| stream != 0) {
                    line.abandon(stream, &mut layers.out);
                    self.soil(socket);
                }
                if is_silent {
                    // The peer may be gone; further requests use another connection and find out.
                    self.unlink(socket);
                    self.move_waiting(socket, Failure::Timeout, now, sockets);
                }
                self.start_waiting(socket);
                self.retire(socket, now, sockets);
            }
            Phase::Connect { attempt, since } if attempt == key => {
                let is_over = now >= since + self.pool.origins[usize::from(connection.origin)].connect_timeout;
                let attempts = &mut self.in_flight.attempts;
                let next = connection.layers.as_deref_mut().and_then(|layers| {
                    // An attempt that waited too long is gone already.
                    layers.waiting.retain(|key| attempts.find(*key).is_some());
                    layers.waiting.pop_front()
                });
                match next.filter(|_| is_late && !is_over) {
                    // The connection may come in time for those that came later.
                    Some(next) => connection.phase = Phase::Connect { attempt: next, since },
                    None => {
                        self.unlink(socket);
                        if let Some(next) = next {
                            self.end_unconnected(next, place, late, now, sockets);
                            self.advance_freed(sockets);
                        }
                        self.lose_connection(socket, late, now, sockets);
                    }
                }
            }
            Phase::Connect { .. } | Phase::Prepare { .. } => {
                if let Some(layers) = connection.layers.as_deref_mut() {
                    layers.waiting.retain(|waiting| *waiting != key);
                }
            }
            Phase::Response { attempt } if is_datagram => {
                self.leave_unanswered(socket, attempt, sockets);
            }
            Phase::Response { .. } if is_messaging && sockets.unsent(socket) == 0 => {
                self.say_goodbye(socket, now, sockets);
            }
            Phase::Response { .. } | Phase::Idle { .. } | Phase::Close => self.close(socket, sockets),
        }
    }

    /// Connections whose session is broken are lost.
    #[cold]
    pub(in crate::scenario_runtime) fn lose_broken(&mut self, sockets: &mut dyn Sockets) {
        while let Some((socket, fault)) = self.pool.links.next_broken() {
            // It may have ended in between.
            if self.pool.connections.find(socket).is_some() {
                let now = sockets.now();
                self.lose_connection(socket, faults::tls(fault), now, sockets);
            }
        }
    }

    /// The connection is unusable: it is closed, and all that ran or waited on it fails.
    pub(in crate::scenario_runtime) fn lose_connection(
        &mut self,
        socket: Socket,
        failure: Failure,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if self.in_flight.records {
            self.record_begun(socket);
        }
        self.unlink(socket);
        // Requests on a connection that we end are not sent again.
        let refused = if failure == Failure::ClosedEarly { self.refused_on(socket, sockets) } else { None };
        let untaken = sockets.stop_sending(socket);
        let Some(connection) = self.pool.connections.remove(socket) else { return };
        self.uncount(&connection, untaken);
        sockets.close(socket);
        self.forget_idle(socket, &connection);
        self.end_all(connection, refused, failure, at, sockets);
    }

    /// Number of last bytes given to a connection that were certainly not read, after its peer has ended it.
    pub(in crate::scenario_runtime) fn refused_on(
        &mut self,
        socket: Socket,
        sockets: &mut dyn Sockets,
    ) -> Option<usize> {
        let is_shared = self.pool.connections.find(socket).is_some_and(|connection| connection.phase == Phase::Shared);
        if !is_shared {
            return None;
        }
        let refused = if sockets.is_reset(socket) { sockets.unacknowledged(socket) } else { None };
        Some(refused.unwrap_or_else(|| sockets.unsent(socket)))
    }

    /// Ends all that ran or waited on a connection that is gone. `refused`: where the peer has ended it, the number of
    /// last bytes that were certainly not read.
    pub(in crate::scenario_runtime) fn end_all(
        &mut self,
        connection: Connection,
        refused: Option<usize>,
        failure: Failure,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let place = connection.place();
        match connection.phase {
            Phase::Connect { attempt, .. } => {
                if !self.goes_elsewhere(attempt, place, failure, at, sockets) {
                    self.pool.reachability_guard.fail(connection.origin);
                    self.end_attempt(attempt, Outcome::Failed(failure), at);
                }
            }
            Phase::Response { attempt } => self.end_attempt(attempt, Outcome::Failed(failure), at),
            Phase::Prepare { user, .. } => {
                self.pool.reachability_guard.fail(connection.origin);
                self.advance_user(user, LastExchange::NoConnection, at, at, sockets);
            }
            Phase::Idle { .. } | Phase::Shared | Phase::Close => {}
        }
        self.advance_freed(sockets);
        let Some(mut layers) = connection.layers else { return };
        let was_ready = layers.line.is_some();
        let taken = refused.filter(|_| connection.is_reused);
        let taken = taken.map(|bytes| layers.handed.saturating_sub(bytes as u64));
        let streams = layers.line.take().map(|mut line| line.take_unprocessed(0)).unwrap_or_default();
        self.end_streams(streams, taken, failure, at, sockets);
        for key in layers.waiting {
            if was_ready {
                // It has not been sent.
                self.retry(key, failure, at, sockets);
            } else {
                self.end_unconnected(key, place, failure, at, sockets);
            }
            self.advance_freed(sockets);
        }
    }

    /// Ends all that ran on streams of a connection that is gone. `taken`: where requests may be sent again, bytes of
    /// it that the peer may have seen.
    pub(in crate::scenario_runtime) fn end_streams(
        &mut self,
        streams: Vec<u64>,
        taken: Option<u64>,
        failure: Failure,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        for key in streams.into_iter().map(Key::from_bits) {
            let Some(attempt) = self.in_flight.attempts.find(key) else { continue };
            if !attempt.was_sent() {
                self.retry(key, failure, at, sockets);
            } else {
                let again = taken.map_or(RetryDecision::Never, |taken| self.stream_retry_decision(key, taken));
                self.end_cut(key, again, failure, at, sockets);
            }
            self.advance_freed(sockets);
        }
    }

    /// A user has left: when it was the last of its link, the connection is closed.
    pub(in crate::scenario_runtime) fn leave_link(&mut self, user: u32, sockets: &mut dyn Sockets) {
        if self.pool.sharing.is_some() {
            // Others may need it.
            return;
        }
        let streams = self.work.streams as usize;
        let from = user as usize / streams * streams;
        let users = &self.users.all[from..self.users.all.len().min(from + streams)];
        if !users.iter().all(|user| user.is_parked) {
            return;
        }
        for origin in 0..self.pool.origins.len() as u16 {
            let link = self.link_of(user, origin);
            if let Some(Some(socket)) = self.pool.links.sockets.get(link).copied() {
                self.unlink(socket);
                let now = sockets.now();
                self.retire(socket, now, sockets);
            }
        }
    }

    /// Takes back bytes that were counted as sent, and that the kernel never took.
    pub(in crate::scenario_runtime) fn uncount(&mut self, connection: &Connection, untaken: usize) {
        if connection.layers.is_none() || untaken == 0 {
            return;
        }
        self.unreported.counts[Counter::BytesUnsent] += untaken as u64;
        let is_late = connection.layers.as_ref().is_some_and(|layers| {
            // Our close comes after the message.
            layers.has_late_message && untaken as u64 > layers.close_bytes
        });
        self.unreported.counts[Counter::MessagesUntaken] += u64::from(is_late);
        if let Phase::Response { attempt } = connection.phase
            && self.pool.origins[usize::from(connection.origin)].is_messaging()
        {
            // The message that waits for its response was never sent as a whole.
            let is_counted = |attempt: &mut Attempt| attempt.was_sent() && attempt.is_measured;
            self.unreported.counts[Counter::MessagesUntaken] +=
                u64::from(self.in_flight.attempts.find(attempt).is_some_and(is_counted));
        }
    }
}
