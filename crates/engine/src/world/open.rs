//! The open model: starts come at their instants, whatever the target does, and are served by a bounded number of users.
//!
//! A start that finds no user waits in a queue with the instant at which it was intended; when it has waited too long it is
//! dropped and counted.

use std::collections::VecDeque;
use std::sync::Arc;

use driver::Sockets;
use metrics::Snapshot;
use pacing::Nanos;
use pacing::open::{Schedule, Starts};

use super::exchanges::Exchange;
use super::{START_BATCH, World};
use crate::user::View;

/// Starts of a shard that wait for a user; a further one is dropped at once.
const QUEUE_MAX: usize = 1_000_000;

/// Starts that were due and not taken up at the end of a run: the waiting of so many is looked at one by one, and that of the others
/// is only known to be at least as long as the last one's.
const GIVEN_UP_MAX: usize = 1_000_000;

/// What a shard has of an open load.
#[derive(Clone)]
pub(crate) struct OpenWork {
    /// What comes before the measured load.
    pub(crate) warmup: Option<Starts>,
    pub(crate) starts: Starts,
    pub(crate) max_lateness: Nanos,
    /// All connections are opened at the beginning.
    pub(crate) opens_all: bool,
    /// The load is over with its last start; else with the end of its schedule.
    pub(crate) ends_with_last: bool,
    /// Its number of starts is reached before its time is over: so all that began comes to its end.
    pub(crate) ends_by_count: bool,
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
    /// Nothing that is intended later starts.
    last: Nanos,
    /// When the warm-up starts, and the measured load.
    started: Nanos,
    measured_from: Nanos,
    /// It stands still from some instant on, and nobody has let it go on.
    is_paused: bool,
    /// The load stands still.
    is_halted: bool,
    /// Users in the middle of an iteration, until the load goes on.
    halted: Vec<u32>,
}

impl Open {
    pub(super) fn new(work: OpenWork, users_max: u64, started: Nanos, measured_from: Nanos) -> Self {
        let last = Nanos::NEVER;
        let (queue, idle) = (VecDeque::new(), VecDeque::new());
        Self {
            work,
            users_max,
            queue,
            idle,
            last,
            started,
            measured_from,
            is_paused: false,
            is_halted: false,
            halted: Vec::new(),
        }
    }

    /// There are other starts from some instant on. `is_paused`: nobody knows yet when more come.
    pub(super) fn change(&mut self, schedule: &Arc<Schedule>, is_paused: bool) {
        self.is_paused = is_paused;
        self.work.ends_by_count = schedule.reaches_limit();
        self.work.starts.change(schedule.clone());
    }

    /// No step is begun until the load goes on.
    pub(super) fn halt(&mut self) {
        self.is_halted = true;
    }

    /// When the next start is intended; `None` after the last.
    fn peek(&self) -> Option<Nanos> {
        let warm = self.work.warmup.as_ref().and_then(Starts::peek).map(|at| self.started + at);
        warm.or_else(|| self.work.starts.peek().map(|at| self.measured_from + at)).filter(|at| *at <= self.last)
    }

    /// The start that was peeked at is taken.
    fn take(&mut self) {
        let warm = self.work.warmup.as_mut().and_then(Iterator::next);
        if warm.is_none() {
            self.work.starts.next();
        }
    }

    /// Starts that wait for a user.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.len() as u64
    }

    /// When those of them were intended that were so from this instant on.
    pub(super) fn waiting_from(&self, from: Nanos) -> impl Iterator<Item = Nanos> + '_ {
        self.queue.iter().map(|start| start.intended).filter(move |intended| *intended >= from)
    }

    /// Nothing that is intended after `at` starts.
    pub(super) fn stop_at(&mut self, at: Nanos) {
        self.last = at;
    }

    pub(super) fn ends_by_count(&self) -> bool {
        self.work.ends_by_count
    }

    pub(super) fn is_over(&self) -> bool {
        let may_end = self.work.ends_with_last || self.last != Nanos::NEVER;
        may_end && self.queue.is_empty() && self.peek().is_none() && !self.goes_on()
    }

    /// It stands still, or will, and starts more when it goes on.
    fn goes_on(&self) -> bool {
        self.last == Nanos::NEVER && (self.is_paused || !self.halted.is_empty())
    }

    /// The run is over: starts that came and found no user, and those that were due and not yet taken up, did not end.
    pub(super) fn give_up(&mut self, now: Nanos, seen: &mut Snapshot) {
        let waiting: Vec<Nanos> = self.waiting_from(self.measured_from).collect();
        self.queue.clear();
        waiting.iter().for_each(|intended| seen.leave_unfinished(0, now.since(*intended).0, None));
        let until = now.min(self.last);
        if until < self.measured_from {
            return;
        }
        for _ in 0..GIVEN_UP_MAX {
            let Some(at) = self.work.starts.peek().map(|at| self.measured_from + at).filter(|at| *at <= until) else {
                return;
            };
            self.work.starts.next();
            // It was intended all the same.
            seen.counts.started += 1;
            seen.leave_unfinished(0, now.since(at).0, None);
        }
        let rest = self.work.starts.take_until(until.since(self.measured_from));
        seen.counts.started += rest;
        seen.leave_many_unfinished(rest, now.since(until).0);
    }

    pub(super) fn next_turn(&self, users: usize) -> Nanos {
        let may_serve = !self.queue.is_empty() && !self.idle.is_empty();
        if may_serve || (self.work.opens_all && (users as u64) < self.users_max) {
            return Nanos::ZERO;
        }
        let dropped = self.queue.front().map_or(Nanos::NEVER, |start| start.intended + self.work.max_lateness);
        self.peek().unwrap_or(Nanos::NEVER).min(dropped)
    }

    /// The latest instant at which a start may be sent.
    pub(super) fn send_before(&self, intended: Nanos) -> Nanos {
        intended + self.work.max_lateness
    }
}

impl World {
    /// Takes up what is due, drops what is too late, and serves what waits.
    pub(super) fn turn_open<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        let measured_from = self.measured_from;
        let Some(open) = &mut self.open else { return };
        let opens = if open.work.opens_all { open.users_max - self.users.len() as u64 } else { 0 };
        for _ in 0..opens.min(START_BATCH) {
            let user = self.new_user();
            self.prepare(user, sockets);
        }
        for _ in 0..START_BATCH {
            let Some(open) = &mut self.open else { return };
            let Some(intended) = open.peek().filter(|at| *at <= now) else { break };
            open.take();
            let is_measured = intended >= measured_from;
            self.seen.counts.started += u64::from(is_measured);
            let late = now.since(intended);
            let is_too_late = late >= open.work.max_lateness;
            if is_too_late || open.queue.len() >= QUEUE_MAX {
                if is_measured {
                    self.seen.counts.dropped_by_generator += u64::from(is_too_late);
                    self.seen.drop_start(late.0);
                }
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
            if start.intended >= self.measured_from {
                self.seen.drop_start(now.since(start.intended).0);
            }
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
        let step = self.take_step(user, start.intended >= self.measured_from);
        let exchange = Exchange::new(user, step, start.intended, start.taken_up, self.measured_from);
        let key = self.exchanges.insert(exchange);
        self.try_exchange(key, sockets);
    }

    /// The load goes on, with those who were in the middle of an iteration.
    pub(super) fn resume_open<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        let Some(open) = &mut self.open else { return };
        open.is_halted = false;
        for user in std::mem::take(&mut open.halted) {
            self.next_open(user, View::Ended, now, sockets);
        }
    }

    /// A user is free. One that found no connection waits for the next turn: a target that refuses at once would never let
    /// the loop look at its sockets.
    pub(super) fn next_open<S: Sockets>(&mut self, user: u32, view: View, now: Nanos, sockets: &mut S) {
        self.drop_late(now);
        // An iteration that has begun goes on, one step after the other, until nothing is started any more.
        if self.users[user as usize].position > 0 {
            if view == View::Ended && !self.budget.is_over {
                if let Some(open) = self.open.as_mut().filter(|open| open.is_halted) {
                    return open.halted.push(user);
                }
                let step = self.take_step(user, true);
                return self.begin_exchange(user, step, now, now, sockets);
            }
            self.cut_iteration(user);
        }
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
