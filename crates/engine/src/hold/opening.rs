//! Opening of connections: at a pace, few at a time, and reopening after a pause.

use driver::{OpenOptions, SocketKind, Sockets};
use metrics::{Failure, HeldCounter, TlsFault};
use pacing::Nanos;
use plan::HoldWork;
use wire::connection::IdleState;

use super::runtime::{Connection, HoldRuntime, Phase, Wake};
use crate::faults;
use crate::scenario_runtime::is_of_peer;

/// Most connections of a shard being opened at one time: fewer than an accept queue takes.
const OPENING_MAX: u32 = 1_024;
/// The same where a pace was requested: the network latency may be high.
const PACED_OPENING_MAX: u32 = 16 * 1_024;
/// Connections opened between two polls of the sockets.
const OPEN_BATCH: u32 = 64;
/// Pause before a connection that could not be opened is first retried; it doubles with each failure.
const RETRY_FIRST: Nanos = Nanos::from_millis(500);
const RETRY_MAX: Nanos = Nanos::from_millis(30_000);
/// How long the last connection may take to be established before all count as tried.
const FIRST_WAIT: Nanos = Nanos::from_millis(1_000);
/// Rate at which lost connections are reopened when no pace was requested.
const RETURN_PER_S: u64 = 10_000;
const HOUR_NS: u128 = 3_600_000_000_000;

impl HoldRuntime {
    /// When the `own`-th of its connections is to be opened.
    fn open_at(&self, own: u32) -> Nanos {
        let Some(rate) = self.job.ramp else { return Nanos::ZERO };
        let number = self.segment.nth(u64::from(own));
        self.started + Nanos((u128::from(number) * HOUR_NS * 1_000 / u128::from(rate)) as u64)
    }

    fn opening_max(&self) -> u32 {
        if self.job.ramp.is_some() { PACED_OPENING_MAX } else { OPENING_MAX }
    }

    /// Every connection has been tried, and the last of them is established or failed.
    pub(super) fn has_tried_all(&self, now: Nanos) -> bool {
        let has_tried = self.connections.len() as u32 == self.count || self.stops_opening;
        // With reconnects there may always be one on its way.
        has_tried
            && self.elsewhere.is_empty()
            && (self.opening == 0 || (self.job.reconnects && now >= self.last_first + FIRST_WAIT))
    }

    /// Stops opening connections.
    pub(super) fn stop_opening(&mut self) {
        self.stops_opening = true;
    }

    pub(super) fn next_open(&self, now: Nanos) -> Nanos {
        if self.stops_opening || self.opening >= self.opening_max() {
            return Nanos::NEVER;
        }
        if !self.elsewhere.is_empty() {
            return now;
        }
        let first = self.connections.len() as u32;
        let first = if first < self.count { self.open_at(first) } else { Nanos::NEVER };
        let again = if self.retries.is_empty() { Nanos::NEVER } else { self.retry_at.max(now) };
        first.min(again)
    }

    pub(super) fn open_some(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        let before = self.unreported.counts.tried();
        for _ in 0..OPEN_BATCH.min(self.elsewhere.len() as u32) {
            if let Some((number, _)) = self.elsewhere.pop_front() {
                self.open_again(number, sockets);
            }
        }
        let has_room = |tried: u64| tried - before < u64::from(OPEN_BATCH);
        while self.elsewhere.is_empty() && self.next_open(now) <= now && has_room(self.unreported.counts.tried()) {
            let first = self.connections.len() as u32;
            if first < self.count && self.open_at(first) <= now {
                self.connections.push(Connection {
                    socket: driver::Socket { index: u32::MAX, generation: 0 },
                    since: now,
                    intended: Nanos::ZERO,
                    more: None,
                    owed: 0,
                    endpoint: 0,
                    phase: Phase::Gone,
                    tries: 0,
                    parked: IdleState::default(),
                    was_tried: false,
                    was_established: false,
                    is_ending: false,
                });
                self.last_first = now;
                self.open_one(first, sockets);
            } else if let Some(number) = self.retries.pop_front() {
                // Reopened connections keep the requested pace.
                let gap = self.job.ramp.map_or(0, |rate| {
                    HOUR_NS * 1_000 * u128::from(self.job.connections) / u128::from(rate) / u128::from(self.count)
                });
                self.retry_at = now + Nanos(gap as u64);
                self.open_one(number, sockets);
            }
        }
    }

    fn open_one(&mut self, number: u32, sockets: &mut dyn Sockets) {
        let connection = &mut self.connections[number as usize];
        self.unreported.counts[HeldCounter::Retries] += u64::from(std::mem::replace(&mut connection.was_tried, true));
        self.unreported.counts[HeldCounter::Tried] += 1;
        self.open_again(number, sockets);
    }

    /// Whether a connection that was not established goes to another address: to one that did not fail either.
    pub(super) fn goes_elsewhere(&mut self, number: u32, failure: Failure, now: Nanos) -> bool {
        if self.is_closing() || !is_of_peer(failure) || self.rotation.single().is_some() {
            return false;
        }
        self.rotation.rest(self.connections[number as usize].endpoint, now);
        self.rotation.is_any_awake(now)
    }

    /// Opens a connection that was counted, at the address whose turn it is.
    fn open_again(&mut self, number: u32, sockets: &mut dyn Sockets) {
        self.rotation.update();
        let turn = self.job.turn_of(self.segment.nth(u64::from(number)));
        // On loopback the whole handshake happens inside the call.
        let since = sockets.now();
        let (endpoint, to, from) = self.rotation.next(turn, since);
        let opened = sockets.open(&OpenOptions { kind: SocketKind::Stream, to, from, no_delay: true });
        let connection = &mut self.connections[number as usize];
        (connection.since, connection.phase) = (since, Phase::Connects);
        connection.endpoint = endpoint;
        self.opening += 1;
        match opened {
            Ok(socket) => {
                connection.socket = socket;
                self.remember(socket, number);
                self.open_deadlines.push(number, since);
            }
            Err(error) => self.gone(number, faults::while_connecting(error), since),
        }
    }

    /// Schedules a retry. Connections lost together come back one after the other.
    pub(super) fn plan_retry(&mut self, number: u32, was_established: bool, now: Nanos) {
        let spread = Nanos(u64::from(self.count) * 1_000_000_000 / RETURN_PER_S);
        let connection = &mut self.connections[number as usize];
        connection.phase = Phase::Waits;
        let pause = if was_established {
            connection.tries = 0;
            RETRY_FIRST.0 / 2 + self.random.below(RETRY_FIRST.0.max(spread.0))
        } else {
            let doubled = RETRY_FIRST.0 << connection.tries.min(8);
            connection.tries = connection.tries.saturating_add(1);
            let pause = doubled.min(RETRY_MAX.0);
            pause / 2 + self.random.below(pause.max(spread.0))
        };
        self.waiting += 1;
        self.timers.insert(now + Nanos(pause), Wake::Retry(number));
    }

    pub(super) fn retry_due(&mut self, number: u32) {
        self.waiting -= 1;
        if self.is_closing() {
            self.get(number).phase = Phase::Gone;
        } else {
            self.retries.push_back(number);
        }
    }

    /// The connection is established.
    pub(super) fn established(&mut self, number: u32, now: Nanos, sockets: &mut dyn Sockets) {
        let connection = &mut self.connections[number as usize];
        self.unreported.connect.record(now.since(connection.since).0);
        (connection.phase, connection.tries) = (Phase::Idle, 0);
        connection.since = Nanos::NEVER;
        connection.was_established = true;
        connection.tidy();
        self.opening -= 1;
        self.open += 1;
        self.unreported.counts[HeldCounter::Established] += 1;
        match self.job.work {
            HoldWork::Once => self.due(number, now, now, sockets),
            // The first pause is as long as any, so that the connections do not all send at once.
            HoldWork::Pause { .. } => self.pause(number, now),
            HoldWork::Nothing | HoldWork::Every(_) => {}
        }
    }

    /// Whether a deadline is over, unless the awaited data has arrived and was not read.
    pub(super) fn is_deadline_due(&mut self, now: Nanos) -> bool {
        self.forget_met_deadlines();
        let closing = if self.is_closing() { self.timers.next().min(self.next_grace_end()) } else { Nanos::NEVER };
        self.next_deadline().min(closing) <= now
    }

    /// Drops deadlines that were met.
    fn forget_met_deadlines(&mut self) {
        let connections = &self.connections;
        self.open_deadlines.keep_from(connections, Connection::is_opening);
        self.response_deadlines.keep_from(connections, |connection| connection.phase == Phase::Asks);
        self.close_deadlines.keep_from(connections, Connection::is_parting);
    }

    /// Checks deadlines: connections not established in time, missing responses, peers that do not close.
    pub(super) fn look_at_deadlines(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if now < self.spared_until {
            return;
        }
        let (connect, response) = (self.job.step.connect_timeout(), self.job.step.timeout());
        while let Some((number, since)) = self.open_deadlines.front() {
            let connection = &self.connections[number as usize];
            let is_over = !connection.is_opening() || connection.since != since;
            if !is_over && now < since + connect {
                break;
            }
            self.open_deadlines.pop();
            if !is_over {
                let failure = match connection.phase {
                    Phase::Shakes => Failure::Tls(TlsFault::NoAnswer),
                    Phase::Begins => Failure::NoFirstAnswer,
                    _ => Failure::ConnectTimeout,
                };
                self.lose(number, failure, now, sockets);
            }
        }
        while let Some((number, since)) = self.response_deadlines.front() {
            let connection = &self.connections[number as usize];
            let is_over = connection.phase != Phase::Asks || connection.since != since;
            if !is_over && now < since + response {
                break;
            }
            self.response_deadlines.pop();
            if !is_over {
                self.lose(number, Failure::Timeout, now, sockets);
            }
        }
        self.look_at_closes(now, sockets);
    }

    pub(super) fn next_deadline(&self) -> Nanos {
        let at = |front: Option<(u32, Nanos)>, span: Nanos| front.map_or(Nanos::NEVER, |(_, since)| since + span);
        at(self.open_deadlines.front(), self.job.step.connect_timeout())
            .min(at(self.response_deadlines.front(), self.job.step.timeout()))
            .min(self.next_close_deadline())
            .max(self.spared_until)
    }
}
