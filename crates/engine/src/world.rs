//! All that a shard owns but its driver: users, exchanges, attempts, connections, and what is done when something happens.
//!
//! Four slabs, not one. A user has exchanges, an exchange has attempts, an attempt runs on a connection; the state that
//! only an active exchange needs goes back when it ends, so an idle connection is a few words.

#[cfg(test)]
mod audit;
mod connections;
mod events;
mod exchanges;

use std::net::SocketAddr;
use std::sync::Arc;

use driver::{Sockets, Template};
use metrics::Snapshot;
use pacing::Nanos;
use plan::{Checks, Needs, Step};
use wire::http1::{HeadMemory, RequestKind};

use crate::slab::{Key, Slab};
use crate::timers::Timers;
use crate::user::{Budget, Next, User, View};
#[cfg(test)]
pub(crate) use connections::CLOSING_MAX;
use connections::Connections;
use exchanges::{Attempt, Exchange};

/// Users that start between two looks at the sockets, so that answers are not kept waiting while thousands connect.
const START_BATCH: u64 = 256;

/// What a shard has to do; the same for all shards but for the share.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) address: SocketAddr,
    pub(crate) steps: Arc<[PreparedStep]>,
    pub(crate) share: pacing::closed::Share,
}

/// A step with its request rendered.
pub(crate) struct PreparedStep {
    request: Arc<[u8]>,
    kind: RequestKind,
    is_idempotent: bool,
    keep_alive: bool,
    timeout: Nanos,
    connect_timeout: Nanos,
    checks: Checks,
    needs: Needs,
}

impl PreparedStep {
    pub(crate) fn new(step: &Step) -> Self {
        let request = &step.request;
        let version = match request.version {
            plan::HttpVersion::Http10 => wire::http1::Version::Http10,
            plan::HttpVersion::Http11 => wire::http1::Version::Http11,
        };
        let mut bytes = Vec::new();
        wire::http1::render_request(
            &request.method,
            &request.path,
            version,
            &request.headers,
            &request.body,
            &mut bytes,
        );
        Self {
            request: bytes.into(),
            kind: RequestKind::of(&request.method),
            is_idempotent: request.is_idempotent(),
            keep_alive: step.keep_alive,
            timeout: step.timeout.into(),
            connect_timeout: step.connect_timeout.into(),
            checks: step.checks.clone(),
            needs: step.needs(),
        }
    }
}

/// Whom a deadline wakes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// The attempt that lives at this position then, if its own deadline has come.
    Attempt(u32),
    /// A user whose pause is over then.
    User { user: u32, at: Nanos },
    /// A connection that waits for the peer to close first.
    Closing(driver::Socket),
}

/// See the module.
pub(crate) struct World {
    work: Work,
    templates: Vec<Template>,
    users: Vec<User>,
    users_started: u64,
    users_ended: u64,
    budget: Budget,
    exchanges: Slab<Exchange>,
    attempts: Slab<Attempt>,
    /// For each position in `attempts`: the instant of its entry in `timers`.
    armed: Vec<Nanos>,
    connections: Connections,
    timers: Timers<Deadline>,
    /// What was seen since the last hand-over.
    pub(crate) seen: Box<Snapshot>,
    hope: Hope,
    heads: HeadMemory,
}

/// Whether a run that never reached its target should go on.
#[derive(Clone, Copy, Debug, Default)]
struct Hope {
    was_connected: bool,
    failed_connects: u64,
}

impl World {
    pub(crate) fn new<S: Sockets>(work: Work, sockets: &mut S, seen: Box<Snapshot>) -> Self {
        let templates = work.steps.iter().map(|step| sockets.register(step.request.clone())).collect();
        let budget = Budget { starts: work.share.starts, is_over: false };
        Self {
            templates,
            // Their number is known: memory that is not touched yet costs nothing, and growing would leave halves behind.
            users: Vec::with_capacity(work.share.users as usize),
            users_started: 0,
            users_ended: 0,
            budget,
            exchanges: Slab::default(),
            attempts: Slab::default(),
            armed: Vec::new(),
            connections: Connections::with_room_for(work.share.users as usize),
            timers: Timers::default(),
            seen,
            hope: Hope::default(),
            heads: HeadMemory::default(),
            work,
        }
    }

    /// Starts users that have not started yet, and wakes whoever is due.
    pub(crate) fn turn<S: Sockets>(&mut self, sockets: &mut S, started: Nanos) {
        let now = sockets.now();
        for _ in 0..START_BATCH {
            if self.users_started == self.work.share.users {
                break;
            }
            self.users.push(User::default());
            let user = u32::try_from(self.users_started).expect("a bounded number of users");
            self.users_started += 1;
            // The plan wants all users at once: one that had to wait for its turn was late, and counts from the start.
            self.next(user, View::Nothing, started, now, sockets);
        }
        while let Some(deadline) = self.timers.poll(now) {
            match deadline {
                Deadline::Attempt(index) => self.attempt_due(index, now, sockets),
                Deadline::User { user, at } => self.next(user, View::Nothing, at, now, sockets),
                Deadline::Closing(socket) => self.close(socket, sockets),
            }
        }
    }

    /// When `turn` must be called again.
    pub(crate) fn next_turn(&self) -> Nanos {
        if self.users_started < self.work.share.users { Nanos::ZERO } else { self.timers.next() }
    }

    /// No exchange is started any more.
    pub(crate) fn stop_starting(&mut self) {
        self.budget.is_over = true;
    }

    /// Nothing is in flight and nothing will be started.
    pub(crate) fn is_over(&self) -> bool {
        let all_ended = self.users_started == self.work.share.users && self.users_ended == self.users_started;
        self.exchanges.is_empty() && (all_ended || self.budget.is_over)
    }

    /// Users that are at work.
    pub(crate) fn users_at_work(&self) -> u64 {
        self.users_started - self.users_ended
    }

    /// Exchanges that have begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.exchanges.len()
    }

    /// Every user has failed to connect and no connection was ever established.
    pub(crate) fn is_hopeless(&self) -> bool {
        !self.hope.was_connected && self.hope.failed_connects >= self.work.share.users
    }

    /// Gives up what is in flight, counts it, and closes every connection.
    pub(crate) fn end<S: Sockets>(&mut self, sockets: &mut S) {
        self.seen.counts.unfinished += self.exchanges.len() as u64;
        let open: Vec<Key> = self.attempts.keys().collect();
        for key in open {
            self.count_sent(key, sockets);
            self.attempts.remove(key);
        }
        let open: Vec<Key> = self.exchanges.keys().collect();
        for key in open {
            self.exchanges.remove(key);
        }
        self.connections.drain(|socket| sockets.close(socket));
    }

    /// Asks a user what it does next. `intended` is when it became free, `now` when the loop got to it.
    fn next<S: Sockets>(&mut self, user: u32, view: View, intended: Nanos, now: Nanos, sockets: &mut S) {
        match self.users[user as usize].next(view, &mut self.budget) {
            Next::Exchange { step } => self.begin_exchange(user, step, intended, now, sockets),
            Next::Think(span) => {
                let at = intended + span;
                self.timers.insert(at, Deadline::User { user, at });
            }
            Next::End => {
                self.users_ended += 1;
                if let Some(socket) = self.users[user as usize].connection.take() {
                    self.close(socket, sockets);
                }
            }
        }
    }
}
