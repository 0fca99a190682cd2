//! Limits of kept connections: their requests, their age, and the time without a request.
//!
//! A connection that has reached a limit takes no further request: it is closed between two requests, and with streams
//! when the last of them is over. The user that needs one next opens it. The first connections of a load
//! open together, so their limits are drawn evenly from zero to the limit; those of later ones from its last tenth.
//! The idle limit is
//! not drawn. Requests are counted, and ages checked, where requests end; idle connections are checked in rounds.

use std::time::Duration;

use driver::{Socket, Sockets};
use metrics::Counter;
use pacing::{Nanos, Random};
use plan::ConnectionLimits;

use crate::scenario_runtime::Origin;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::timer_entry::TimerEntry;
use crate::scenario_runtime::{Pool, connections::Connection};

/// Rounds within the shortest limit in time.
const ROUNDS: u32 = 20;
/// The longest time between two rounds, and the shortest.
const ROUND_MAX: Nanos = Nanos::from_millis(500);
const ROUND_MIN: Nanos = Nanos::from_millis(2);
/// Later connections end in the last part of a limit: one of this number.
const LAST_PART: u64 = 10;

/// What is left to each connection until its limits.
pub(in crate::scenario_runtime) struct Lifetimes {
    /// By the index of its socket.
    lives: Vec<ConnectionLife>,
    /// The number of connections to each origin so far.
    opened: Vec<u64>,
    /// The time between two rounds; none without a limit in time.
    round: Option<Nanos>,
}

#[derive(Clone, Copy)]
struct ConnectionLife {
    /// That of its socket: an index is used again.
    generation: u32,
    /// Requests that it may still carry.
    requests: u32,
    ends: Nanos,
    /// The longest time without a request, and the end of the last one.
    idle: Nanos,
    used: Nanos,
}

impl ConnectionLife {
    const NONE: Self =
        Self { generation: 0, requests: u32::MAX, ends: Nanos::NEVER, idle: Nanos::NEVER, used: Nanos::ZERO };

    fn of(limits: &ConnectionLimits, at: Nanos, round: Nanos, is_first: bool, random: &mut Random) -> Self {
        let mut drawn = |limit: u64| match is_first {
            true => random.below(limit.max(1)),
            false => limit - random.below(limit / LAST_PART + 1),
        };
        Self {
            generation: 0,
            requests: limits.requests.map_or(u32::MAX, |most| drawn(u64::from(most)).max(1) as u32),
            // Nothing lasts longer than its limit, though rounds are rare.
            ends: limits.age.map_or(Nanos::NEVER, |age| at + Nanos(drawn(nanos(age))).since(round)),
            idle: limits.idle.map_or(Nanos::NEVER, |idle| Nanos(nanos(idle)).since(round)),
            used: at,
        }
    }

    fn is_over(&self, now: Nanos) -> bool {
        self.requests == 0 || self.ends <= now
    }

    fn is_idle_too_long(&self, now: Nanos) -> bool {
        self.idle != Nanos::NEVER && now.since(self.used) >= self.idle
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The time between two rounds for these limits.
fn round_for(limits: &ConnectionLimits) -> Option<Nanos> {
    let shortest = [limits.age, limits.idle].into_iter().flatten().min()?;
    Some(Nanos(nanos(shortest / ROUNDS)).clamp(ROUND_MIN, ROUND_MAX))
}

impl Lifetimes {
    /// None where no origin has limits.
    pub(in crate::scenario_runtime) fn of(origins: &[Origin]) -> Option<Box<Self>> {
        let all = || origins.iter().map(|origin| &origin.target.connection_limits);
        if all().all(ConnectionLimits::is_empty) {
            return None;
        }
        Some(Box::new(Self { lives: Vec::new(), opened: Vec::new(), round: all().filter_map(round_for).min() }))
    }

    /// A connection begins.
    fn begin(&mut self, socket: Socket, origin: usize, life: ConnectionLife) {
        let index = socket.index as usize;
        if self.lives.len() <= index {
            self.lives.resize(index + 1, ConnectionLife::NONE);
        }
        self.lives[index] = ConnectionLife { generation: socket.generation, ..life };
        if self.opened.len() <= origin {
            self.opened.resize(origin + 1, 0);
        }
        self.opened[origin] += 1;
    }

    fn known(&self, socket: Socket) -> Option<&ConnectionLife> {
        self.lives.get(socket.index as usize).filter(|life| life.generation == socket.generation)
    }

    fn life(&mut self, socket: Socket) -> Option<&mut ConnectionLife> {
        self.lives.get_mut(socket.index as usize).filter(|life| life.generation == socket.generation)
    }

    /// A request begins on a stream.
    pub(in crate::scenario_runtime) fn take_request(&mut self, socket: Socket) {
        if let Some(life) = self.life(socket) {
            life.requests = life.requests.saturating_sub(1);
        }
    }

    /// A connection takes no further request on a stream.
    pub(in crate::scenario_runtime) fn is_used_up(&self, socket: Socket) -> bool {
        self.known(socket).is_some_and(|life| life.requests == 0)
    }
}

impl Pool {
    /// An exchange ended on a connection that carries one at a time. True when it was the last.
    #[cold]
    pub(in crate::scenario_runtime) fn reaches_limit(&mut self, socket: Socket, now: Nanos) -> bool {
        let Some(life) = self.lifetimes.as_mut().and_then(|lifetimes| lifetimes.life(socket)) else { return false };
        life.requests = life.requests.saturating_sub(1);
        life.used = now;
        life.is_over(now)
    }

    /// A connection with streams takes no further request.
    pub(in crate::scenario_runtime) fn is_used_up(&self, socket: Socket) -> bool {
        self.lifetimes.as_ref().is_some_and(|lifetimes| lifetimes.is_used_up(socket))
    }

    /// Whether a connection is to be closed in this round.
    fn is_over(&self, socket: Socket, connection: &Connection, now: Nanos) -> bool {
        let Some(life) = self.lifetimes.as_ref().and_then(|lifetimes| lifetimes.known(socket)) else {
            return false;
        };
        match (connection.phase, &connection.layers) {
            (Phase::Idle { .. }, _) => life.is_over(now) || life.is_idle_too_long(now),
            (Phase::Shared, Some(layers)) => {
                let used = layers.received_at();
                layers.is_linked_in(&self.links, socket)
                    && (life.is_over(now) || layers.is_idle() && ConnectionLife { used, ..*life }.is_idle_too_long(now))
            }
            _ => false,
        }
    }
}

impl ScenarioRuntime {
    /// A connection is open: its limits begin.
    #[cold]
    pub(in crate::scenario_runtime) fn begin_life(&mut self, socket: Socket, at: Nanos) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let origin = usize::from(connection.origin);
        let lifetimes = self.pool.lifetimes.as_ref();
        let opened = lifetimes.and_then(|lifetimes| lifetimes.opened.get(origin).copied()).unwrap_or(0);
        let (number, own) = (self.number_of(opened), self.own_connections());
        let origin_of = &self.pool.origins[origin];
        // Conversations end as their steps say.
        let is_endless = origin_of.is_messaging();
        let limits = if is_endless { ConnectionLimits::default() } else { origin_of.target.connection_limits };
        if let Some(lifetimes) = &mut self.pool.lifetimes {
            let mut random = Random::for_stream(origin as u64, number);
            let round = lifetimes.round.unwrap_or(Nanos::ZERO);
            lifetimes.begin(socket, origin, ConnectionLife::of(&limits, at, round, opened < own, &mut random));
        }
    }

    /// The next round is due.
    pub(in crate::scenario_runtime) fn arm_limits(&mut self, now: Nanos) {
        if let Some(round) = self.pool.lifetimes.as_ref().and_then(|lifetimes| lifetimes.round) {
            self.timers.insert(now + round, TimerEntry::Limits);
        }
    }

    /// Closes what is too old, or had no request for too long.
    #[cold]
    pub(in crate::scenario_runtime) fn close_old(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        let pool = &self.pool;
        let is_over = |(socket, connection): &(Socket, &Connection)| pool.is_over(*socket, connection, now);
        let over: Vec<Socket> = pool.connections.all().filter(is_over).map(|(socket, _)| socket).collect();
        for socket in over {
            let Some(connection) = self.pool.connections.find(socket) else { continue };
            match connection.phase {
                Phase::Idle { user } => {
                    let origin = connection.origin;
                    self.forget_own(user, origin, socket);
                    self.close_at_limit(socket, now, sockets);
                }
                Phase::Shared => {
                    self.leave_at_limit(socket, sockets);
                    self.retire(socket, now, sockets);
                    self.advance_freed(sockets);
                }
                _ => {}
            }
        }
        self.arm_limits(now);
    }

    /// Closes a connection that carries one exchange at a time and has none now.
    #[cold]
    pub(in crate::scenario_runtime) fn close_at_limit(
        &mut self,
        socket: Socket,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        self.unreported.counts[Counter::ConnectionsRetired] += 1;
        if !self.layers(socket).is_some_and(|layers| layers.is_sealed()) {
            return self.close(socket, sockets);
        }
        self.await_close(socket, now, sockets);
        self.send_close_notify(socket, sockets);
    }
}
