//! Closing: messages in flight may complete, and connections are closed in an orderly way, few at a time.

use driver::Sockets;
use metrics::HeldCounter;
use pacing::Nanos;
use plan::Protocol;
use wire::connection::ProtocolConnection;

use super::runtime::{HoldRuntime, Phase, Wake};

/// Most connections of a shard that wait for their peers to close. The kernel cuts short what is beyond its own bounds
/// (tcp_max_orphans, tcp_max_tw_buckets).
const CLOSING_MAX: u32 = 1_024;
/// Connections closed between two polls of the sockets.
const CLOSE_BATCH: u32 = 256;
/// How long a peer has to close; then the connection is dropped.
const CLOSE_WAIT: Nanos = Nanos::from_millis(5_000);
/// How long a peer that has agreed to a close has to close first.
const PART_WAIT: Nanos = Nanos::from_millis(500);
impl HoldRuntime {
    pub(super) fn is_closing(&self) -> bool {
        self.closing_since.is_some()
    }

    /// Begins closing: nothing is opened or sent any more, except messages due until `end`.
    pub(super) fn begin_closing(&mut self, now: Nanos, end: Nanos, sockets: &mut dyn Sockets) {
        self.speak_until(end.min(now), now, sockets);
        self.closing_since = Some(now);
        self.stops_opening = true;
        self.retries.clear();
        for (_, failure) in std::mem::take(&mut self.elsewhere) {
            self.unreported.counts.failed[failure.index()] += 1;
        }
    }

    /// Whether all connections are closed.
    pub(super) fn is_over(&self) -> bool {
        self.is_closing() && self.open == 0 && self.opening == 0 && self.closing == 0
    }

    fn grace_end(&self) -> Nanos {
        self.closing_since.map_or(Nanos::NEVER, |since| since + self.job.grace)
    }

    /// When what is in flight is incomplete; never, once that has passed.
    pub(super) fn next_grace_end(&self) -> Nanos {
        if self.grace_is_over { Nanos::NEVER } else { self.grace_end() }
    }

    pub(super) fn next_close(&self, now: Nanos) -> Nanos {
        let has_more = (self.closing_next as usize) < self.connections.len();
        if has_more && self.closing < CLOSING_MAX { now } else { self.next_grace_end() }
    }

    pub(super) fn close_some(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        for _ in 0..CLOSE_BATCH {
            if self.closing >= CLOSING_MAX || self.closing_next as usize >= self.connections.len() {
                break;
            }
            let number = self.closing_next;
            self.closing_next += 1;
            let grace_is_over = self.grace_is_over;
            let connection = self.get(number);
            match connection.phase {
                Phase::Idle => self.close_one(number, now, sockets),
                // Its response may still come.
                Phase::Asks | Phase::Says if grace_is_over => {
                    self.unreported.counts[HeldCounter::CloseTimedOut] += 1;
                    self.drop_one(number, now, sockets);
                }
                Phase::Asks | Phase::Says => connection.is_ending = true,
                Phase::Connects | Phase::Shakes | Phase::Begins => self.abandon(number, sockets),
                Phase::Gone | Phase::Waits | Phase::Closes | Phase::Leaves => {}
            }
        }
        if now >= self.grace_end() && !std::mem::replace(&mut self.grace_is_over, true) {
            for number in 0..self.connections.len() as u32 {
                if matches!(self.get(number).phase, Phase::Asks | Phase::Says) {
                    self.unreported.counts[HeldCounter::CloseTimedOut] += 1;
                    self.drop_one(number, now, sockets);
                }
            }
        }
    }

    /// Gives up a connection that is not established yet.
    fn abandon(&mut self, number: u32, sockets: &mut dyn Sockets) {
        self.close_socket(number, sockets);
        let connection = self.get(number);
        (connection.phase, connection.more) = (Phase::Gone, None);
        self.opening -= 1;
        self.unreported.counts[HeldCounter::Abandoned] += 1;
    }

    /// Closes an established connection without a closing handshake.
    fn drop_one(&mut self, number: u32, now: Nanos, sockets: &mut dyn Sockets) {
        self.give_up_owed(number, now);
        let connection = &mut self.connections[number as usize];
        if connection.phase == Phase::Asks {
            self.unreported.counts[HeldCounter::Unanswered] += 1;
            self.unreported.incomplete.record(now.since(connection.intended).0);
        }
        self.close_socket(number, sockets);
        let connection = self.get(number);
        (connection.phase, connection.more, connection.is_ending) = (Phase::Gone, None, false);
        self.open -= 1;
    }

    /// Closes an idle connection as its protocol requires.
    pub(super) fn close_one(&mut self, number: u32, now: Nanos, sockets: &mut dyn Sockets) {
        let is_ws = self.job.protocol == Protocol::WebSocket;
        let connection = self.get(number);
        let is_sealed = connection.more.as_ref().is_some_and(|more| more.tls.is_some());
        if !is_ws && !is_sealed {
            // The kernel signals the end of the stream to the peer.
            self.unreported.counts[HeldCounter::Closed] += 1;
            return self.drop_one(number, now, sockets);
        }
        (connection.phase, connection.since) = (Phase::Closes, now);
        let socket = connection.socket;
        self.give_up_owed(number, now);
        self.open -= 1;
        self.closing += 1;
        self.close_deadlines.push(number, now);
        if is_ws {
            let mut close = self.buffer();
            let (mask, job) = (self.mask(), self.job.clone());
            let connection = self.get(number);
            let parked = connection.parked;
            // What arrives until the peer agrees is processed by a protocol state that knows of the close.
            let line = connection.more().line.get_or_insert_with(|| job.unparked(parked));
            line.close(mask, &mut close);
            self.send_own(number, close, sockets);
            return;
        }
        let mut goodbye = self.buffer();
        let session = self.get(number).more.as_mut().and_then(|more| more.tls.as_mut());
        if session.is_some_and(|session| session.close(&mut goodbye).is_ok()) {
            self.send_raw(socket, goodbye, sockets);
        }
        sockets.shutdown(socket);
    }

    /// How long to wait for a close. Peers that do not respond to a close are not waited for one batch after the other.
    fn close_wait(&self) -> Nanos {
        if self.agreed == 0 && self.unacknowledged >= CLOSING_MAX { Nanos::ZERO } else { CLOSE_WAIT }
    }

    /// The peer has agreed to the close, and should close first.
    pub(super) fn agreed_to_close(&mut self, number: u32, now: Nanos) {
        let connection = self.get(number);
        connection.is_ending = true;
        let since = connection.since;
        self.timers.insert(now + PART_WAIT, Wake::Part(number, since));
    }

    pub(super) fn part(&mut self, number: u32, since: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let connection = self.get(number);
        if connection.phase == Phase::Closes && connection.since == since {
            self.lose(number, metrics::Failure::Timeout, now, sockets);
        }
    }

    pub(super) fn next_close_deadline(&self) -> Nanos {
        self.close_deadlines.front().map_or(Nanos::NEVER, |(_, since)| since + self.close_wait())
    }

    pub(super) fn look_at_closes(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        while let Some((number, since)) = self.close_deadlines.front() {
            let connection = &self.connections[number as usize];
            let is_over = !connection.is_parting() || connection.since != since;
            if !is_over && now < since + self.close_wait() {
                break;
            }
            self.close_deadlines.pop();
            if !is_over {
                self.lose(number, metrics::Failure::Timeout, now, sockets);
            }
        }
    }

    /// Ends at once: remaining connections are closed.
    pub(super) fn end(&mut self, sockets: &mut dyn Sockets) {
        for number in 0..self.connections.len() as u32 {
            let connection = self.get(number);
            if connection.is_opening() {
                self.abandon(number, sockets);
            } else if connection.is_established() {
                self.unreported.counts[HeldCounter::CloseTimedOut] += 1;
                let now = sockets.now();
                self.drop_one(number, now, sockets);
            } else if connection.is_parting() {
                let now = sockets.now();
                self.lose(number, metrics::Failure::Timeout, now, sockets);
            }
        }
    }
}
