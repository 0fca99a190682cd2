//! The open model: starts come at their instants, whatever the target does, and are served by a bounded number of users.
//!
//! A start that finds no user waits in a queue with the instant at which it was intended; when it has waited too long it is
//! dropped and counted.

use std::collections::VecDeque;

use driver::Sockets;
use pacing::Nanos;
use pacing::open::Starts;

use super::exchanges::Exchange;
use super::{START_BATCH, World};
use crate::user::View;

/// Starts of a shard that wait for a user; a further one is dropped at once.
const QUEUE_MAX: usize = 1_000_000;

/// What a shard has of an open load.
#[derive(Clone)]
pub(crate) struct OpenWork {
    pub(crate) starts: Starts,
    pub(crate) max_lateness: Nanos,
    /// All connections are opened at the beginning.
    pub(crate) opens_all: bool,
    /// The load is over with its last start; else with the end of its schedule.
    pub(crate) ends_with_last: bool,
}

/// A start that has come.
#[derive(Clone, Copy, Debug)]
struct Start {
    intended: Nanos,
    taken_up: Nanos,
}

/// The open side of a shard.
pub(crate) struct Open {
    work: OpenWork,
    users_max: u64,
    /// Starts that are due and have no user, the oldest first.
    queue: VecDeque<Start>,
    /// Users without an exchange. The one that was busy last goes first: its connection is warm.
    idle: VecDeque<u32>,
    /// Nothing that is intended later starts; counted like [`Starts::peek`].
    last: Nanos,
}

impl Open {
    pub(super) fn new(work: OpenWork, users_max: u64) -> Self {
        Self { work, users_max, queue: VecDeque::new(), idle: VecDeque::new(), last: Nanos::NEVER }
    }

    /// When the next start is intended; `None` after the last.
    fn peek(&self, started: Nanos) -> Option<Nanos> {
        self.work.starts.peek().filter(|at| *at <= self.last).map(|at| started + at)
    }

    /// Nothing that is intended after `at` starts.
    pub(super) fn stop_at(&mut self, at: Nanos, started: Nanos) {
        self.last = at.since(started);
    }

    pub(super) fn is_over(&self, started: Nanos) -> bool {
        let may_end = self.work.ends_with_last || self.last != Nanos::NEVER;
        may_end && self.queue.is_empty() && self.peek(started).is_none()
    }

    /// The run is over: how many starts came and found no user, and how many were due and not yet taken up.
    pub(super) fn give_up(&mut self, now: Nanos, started: Nanos) -> (u64, u64) {
        let due = self.work.starts.take_until(now.since(started).min(self.last));
        (std::mem::take(&mut self.queue).len() as u64, due)
    }

    pub(super) fn next_turn(&self, started: Nanos, users: usize) -> Nanos {
        let may_serve = !self.queue.is_empty() && !self.idle.is_empty();
        if may_serve || (self.work.opens_all && (users as u64) < self.users_max) {
            return Nanos::ZERO;
        }
        let dropped = self.queue.front().map_or(Nanos::NEVER, |start| start.intended + self.work.max_lateness);
        self.peek(started).unwrap_or(Nanos::NEVER).min(dropped)
    }

    /// The latest instant at which a start may be sent.
    pub(super) fn send_before(&self, intended: Nanos) -> Nanos {
        intended + self.work.max_lateness
    }
}

impl World {
    /// Takes up what is due, drops what is too late, and serves what waits.
    pub(super) fn turn_open<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        let started = self.started;
        let Some(open) = &mut self.open else { return };
        let opens = if open.work.opens_all { open.users_max - self.users.len() as u64 } else { 0 };
        for _ in 0..opens.min(START_BATCH) {
            let user = self.new_user();
            self.prepare(user, sockets);
        }
        for _ in 0..START_BATCH {
            let Some(open) = &mut self.open else { return };
            let Some(intended) = open.peek(started).filter(|at| *at <= now) else { break };
            open.work.starts.next();
            self.seen.counts.started += 1;
            let late = now.since(intended);
            if late >= open.work.max_lateness {
                self.seen.counts.dropped_by_generator += 1;
                self.seen.drop_start(late.0);
                continue;
            }
            if open.queue.len() >= QUEUE_MAX {
                self.seen.drop_start(late.0);
                continue;
            }
            open.queue.push_back(Start { intended, taken_up: now });
            self.serve(now, sockets);
        }
        for _ in 0..START_BATCH {
            if !self.serve(now, sockets) {
                break;
            }
        }
    }

    fn drop_late(&mut self, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        while let Some(start) = open.queue.front().filter(|start| open.work.max_lateness <= now.since(start.intended)) {
            self.seen.drop_start(now.since(start.intended).0);
            open.queue.pop_front();
        }
    }

    /// Gives the oldest start to an idle user, or to a new one. False when there is no start or no user.
    fn serve<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) -> bool {
        self.drop_late(now);
        let Some(open) = &mut self.open else { return false };
        if open.queue.is_empty() {
            return false;
        }
        let user = match open.idle.pop_back() {
            Some(user) => user,
            None if (self.users.len() as u64) < open.users_max => self.new_user(),
            None => return false,
        };
        self.serve_with(user, sockets);
        true
    }

    fn serve_with<S: Sockets>(&mut self, user: u32, sockets: &mut S) {
        let Some(open) = &mut self.open else { return };
        let Some(start) = open.queue.pop_front() else { return open.idle.push_back(user) };
        let exchange = Exchange::new(user, 0, start.intended, start.taken_up);
        let key = self.exchanges.insert(exchange);
        self.try_exchange(key, sockets);
    }

    /// A user is free. One that found no connection waits for the next turn: a target that refuses at once would never let
    /// the loop look at its sockets.
    pub(super) fn next_open<S: Sockets>(&mut self, user: u32, view: View, now: Nanos, sockets: &mut S) {
        self.drop_late(now);
        let Some(open) = &mut self.open else { return };
        if view == View::NoConnection {
            // Those that have one go first.
            open.idle.push_front(user);
        } else if open.queue.is_empty() {
            open.idle.push_back(user);
        } else {
            self.serve_with(user, sockets);
        }
    }
}
