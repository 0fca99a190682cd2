//! The open model: starts come at their instants, however slow the target is, and a bounded number of users carries
//! them out.
//!
//! A due start goes to an idle user, to a new one, or into a queue; its intended instant goes with it. The user whose
//! connection was busy last goes first; with several addresses, the one that has been idle longest. A start that has waited too long in the queue is dropped and counted.

mod ledger;

use std::collections::VecDeque;
use std::sync::Arc;

use driver::Sockets;
use metrics::{Counter, RequestRecordEnd};
use pacing::open::{Schedule, Starts};
use pacing::{Nanos, RevokedSlots, Segment};

use crate::scenario_runtime::users::programs::UserTurn;
use crate::scenario_runtime::{OpenWork, START_BATCH, ScenarioConfig, ScenarioRuntime};
use crate::user::LastExchange;
use ledger::LeftStarts;

/// Starts of a shard that may wait for a user; a further one is dropped at once.
const QUEUE_MAX: usize = 1_000_000;

/// A start that has come.
#[derive(Clone, Copy, Debug)]
struct Start {
    intended: Nanos,
    taken_up: Nanos,
    /// Its number among those of this shard.
    number: u64,
}

/// The open load of a shard.
pub(crate) struct Open {
    work: OpenWork,
    users_max: u64,
    /// Starts that are due and have no user, the oldest first.
    queue: VecDeque<Start>,
    /// Users without an exchange, the one that was busy last behind all others.
    pub(in crate::scenario_runtime) idle: VecDeque<u32>,
    /// Users that have left, after `on_stop`.
    pub(in crate::scenario_runtime) stopped: Vec<u32>,
    /// Users that run `on_start`, or wait to run it again.
    pub(in crate::scenario_runtime) starting: u64,
    /// Idle users were notified that nothing more comes.
    pub(in crate::scenario_runtime) has_retired: bool,
    /// Starts that have come.
    taken: u64,
    segment: Segment,
    /// Slots that others have.
    lost: Option<RevokedSlots>,
    /// A start is counted when it is due; else when it requests something.
    counts_due: bool,
    /// Nothing that is intended later starts.
    last: Nanos,
    /// What is intended later and before the end of its lease is left to others.
    left: Option<LeftStarts>,
    /// Start of the warm-up; the next field is the start of the measured load.
    started: Nanos,
    measured_from: Nanos,
    /// It is paused from some instant on, without a known end.
    is_paused: bool,
    /// The load is paused.
    pub(in crate::scenario_runtime) is_halted: bool,
    /// Users in the middle of an iteration, until the load resumes.
    pub(in crate::scenario_runtime) halted: Vec<u32>,
}

impl Open {
    pub(in crate::scenario_runtime) fn new(
        work: OpenWork,
        all: &ScenarioConfig,
        counts_due: bool,
        started: Nanos,
    ) -> Self {
        Self {
            work,
            users_max: all.share.users,
            queue: VecDeque::new(),
            idle: VecDeque::new(),
            stopped: Vec::new(),
            starting: 0,
            has_retired: false,
            taken: all.segment.count_of_first(all.first_number),
            segment: all.segment.clone(),
            lost: None,
            counts_due,
            last: Nanos::NEVER,
            left: None,
            started,
            measured_from: started + all.warmup,
            is_paused: false,
            is_halted: false,
            halted: Vec::new(),
        }
    }

    /// The schedule changes from some instant on. `is_paused`: it is not known yet when more starts come.
    pub(in crate::scenario_runtime) fn change(&mut self, schedule: &Arc<Schedule>, is_paused: bool) {
        self.is_paused = is_paused;
        self.work.ends_by_count = schedule.reaches_limit();
        self.work.starts.change(schedule.clone());
    }

    /// Slots go to others.
    pub(in crate::scenario_runtime) fn revoke_slots(&mut self, lost: &RevokedSlots) {
        self.work.starts.lose(lost.clone());
        self.lost = Some(lost.clone());
    }

    /// No step is begun until the load resumes.
    pub(in crate::scenario_runtime) fn pause(&mut self) {
        self.is_halted = true;
    }

    /// The idle user that serves the next start: the one that was busy last, whose connection is warm; with several
    /// addresses the one that has been idle longest, so that all of them get the same share.
    #[inline]
    fn next_idle(&mut self, has_addresses: bool) -> Option<u32> {
        if has_addresses { self.idle.pop_front() } else { self.idle.pop_back() }
    }

    /// Instant of the next start; `None` after the last.
    fn peek(&self) -> Option<Nanos> {
        let warm = self.work.warmup.as_ref().and_then(Starts::peek).map(|at| self.started + at);
        warm.or_else(|| self.work.starts.peek().map(|at| self.measured_from + at)).filter(|at| *at <= self.last)
    }

    /// Takes the start that was peeked at, and is intended then; returns its number among those of this shard.
    fn take(&mut self, intended: Nanos) -> u64 {
        if let Some(lost) = &self.lost {
            let at = intended.since(self.measured_from);
            // Numbers of slots that others have belong to them.
            while at < lost.all_from(&self.segment) && lost.has_lost(self.segment.nth(self.taken), at) {
                self.taken += 1;
            }
        }
        let warm = self.work.warmup.as_mut().and_then(Iterator::next);
        if warm.is_none() {
            self.work.starts.next();
        }
        self.taken += 1;
        self.taken - 1
    }

    /// Whether starts that wait for a user have been counted.
    pub(in crate::scenario_runtime) fn counts_due(&self) -> bool {
        self.counts_due
    }

    /// Starts that wait for a user.
    pub(in crate::scenario_runtime) fn waiting(&self) -> u64 {
        self.queue.len() as u64
    }

    /// The intended instants of waiting starts, from this instant on.
    pub(in crate::scenario_runtime) fn waiting_from(&self, from: Nanos) -> impl Iterator<Item = Nanos> + '_ {
        self.queue.iter().map(|start| start.intended).filter(move |intended| *intended >= from)
    }

    /// Nothing that is intended after `at` starts.
    pub(in crate::scenario_runtime) fn stop_at(&mut self, at: Nanos) {
        self.last = self.last.min(at);
    }

    /// Nothing more starts, except what was counted as started and waits for a user.
    #[cold]
    pub(in crate::scenario_runtime) fn stop_taking(&mut self) {
        self.last = Nanos::ZERO;
        if !self.counts_due {
            self.queue.clear();
        }
    }

    pub(in crate::scenario_runtime) fn ends_by_count(&self) -> bool {
        self.work.ends_by_count
    }

    /// End of the time of all starts, once a load that ends with its last one has taken all of its own; `None` before,
    /// and when something else has ended it.
    pub(in crate::scenario_runtime) fn end_of_starts(&self) -> Option<Nanos> {
        let has_all = self.work.ends_with_last && self.last == Nanos::NEVER && self.peek().is_none() && !self.goes_on();
        has_all.then(|| self.measured_from + self.work.starts.end())
    }

    pub(in crate::scenario_runtime) fn is_over(&self) -> bool {
        let may_end = self.work.ends_with_last || self.last != Nanos::NEVER;
        may_end && self.queue.is_empty() && self.peek().is_none() && !self.goes_on()
    }

    /// With this many users busy, no further start finds a user.
    pub(in crate::scenario_runtime) fn is_full(&self, busy: u64) -> bool {
        busy >= self.users_max && !self.is_halted
    }

    /// It is paused, or will be, and starts more when it resumes.
    fn goes_on(&self) -> bool {
        self.last == Nanos::NEVER && (self.is_paused || !self.halted.is_empty())
    }

    /// The counter of a start: one that was intended in the warm-up, and waited until it was over, is carried over.
    pub(in crate::scenario_runtime) fn counter_of(&self, intended: Nanos) -> Counter {
        if intended < self.measured_from { Counter::Carried } else { Counter::Started }
    }

    pub(in crate::scenario_runtime) fn next_turn(&self, users: usize) -> Nanos {
        let may_come_back = !self.stopped.is_empty() && self.waiting() > self.starting;
        let may_serve = may_come_back || !self.idle.is_empty() && (!self.queue.is_empty() || self.has_retired);
        if may_serve || (self.work.opens_all && (users as u64) < self.users_max) {
            return Nanos::ZERO;
        }
        let dropped = self.queue.front().map_or(Nanos::NEVER, |start| start.intended + self.work.start_within());
        self.peek().unwrap_or(Nanos::NEVER).min(dropped)
    }

    /// The latest instant at which a start may be sent.
    pub(in crate::scenario_runtime) fn send_before(&self, intended: Nanos, step: u32) -> Nanos {
        match self.work.first_deadline {
            Some((deadline, first)) if first == step => intended + deadline,
            _ => intended + self.work.max_lateness,
        }
    }

    /// Whether the exchange of a step is dropped at its deadline, before the longest lateness.
    pub(in crate::scenario_runtime) fn is_by_deadline(&self, step: u32) -> bool {
        self.work.first_deadline.is_some_and(|(_, first)| first == step)
    }
}

impl ScenarioRuntime {
    /// The plan's time is that of its last start, and what has begun by then comes to its end.
    pub(crate) fn ends_by_count(&self) -> bool {
        self.users.open.as_ref().is_some_and(Open::ends_by_count)
    }

    /// End of the time of all starts, for an open load that has taken all that it had.
    pub(crate) fn end_of_starts(&self) -> Option<Nanos> {
        self.users.open.as_ref().and_then(Open::end_of_starts)
    }

    /// Takes up starts that are due, drops those that are too late, and serves those that wait.
    pub(in crate::scenario_runtime) fn turn_open(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        let counts_from = self.instants.counts_from;
        let Some(open) = &mut self.users.open else { return };
        let opens = if open.work.opens_all { open.users_max - self.users.all.len() as u64 } else { 0 };
        for _ in 0..opens.min(START_BATCH) {
            let user = self.new_user();
            if self.users.programs.start_at().is_none() {
                self.prepare(user, sockets);
            } else {
                self.gets_ready(user, now, sockets);
            }
            self.advance_freed(sockets);
        }
        for _ in 0..START_BATCH {
            let Some(open) = &mut self.users.open else { return };
            let Some(intended) = open.peek().filter(|at| *at <= now) else { break };
            let number = open.take(intended);
            if self.users.states.rows.reads_ahead() {
                self.order_rows_of_starts(number);
            }
            if self.users.states.rows.may_end() && self.ends_with(number) {
                break;
            }
            let Some(open) = &mut self.users.open else { return };
            if self.users.budget_lease.is_some() && open.counts_due && !self.may_start() {
                return;
            }
            let Some(open) = &mut self.users.open else { return };
            let is_measured = intended >= counts_from;
            let late = now.since(intended);
            let is_too_late = late >= open.work.start_within();
            let is_dropped = is_too_late || open.queue.len() >= QUEUE_MAX;
            self.unreported.counts[open.counter_of(intended)] +=
                u64::from(is_measured && (open.counts_due || is_dropped));
            if is_dropped {
                if is_measured {
                    let is_by_deadline = is_too_late && open.work.first_deadline.is_some();
                    self.unreported.counts[Counter::DroppedByGenerator] += u64::from(is_too_late);
                    self.unreported.counts[Counter::DroppedByDeadline] += u64::from(is_by_deadline);
                    self.unreported.drop_start(late.0);
                    self.trace_start(intended, now, RequestRecordEnd::Dropped);
                }
                continue;
            }
            let start = Start { intended, taken_up: now, number };
            // Usually some user is free, and no start waits.
            if open.queue.is_empty()
                && !self.users.programs.has_setup_or_teardown()
                && let Some(user) = open.next_idle(self.pool.addresses.are_counted())
            {
                self.begin_start(user, start, sockets);
                self.advance_freed(sockets);
                continue;
            }
            open.queue.push_back(start);
            self.serve(now, sockets);
            self.advance_freed(sockets);
        }
        for _ in 0..START_BATCH {
            let waits = self.users.open.as_ref().is_some_and(|open| !open.queue.is_empty());
            if !waits || !self.serve(now, sockets) {
                break;
            }
            self.advance_freed(sockets);
        }
        if self.users.pending_teardown > 0 {
            self.retire_idle_users(now, sockets);
        }
    }

    /// A start finds no row any more: nothing begins from there on.
    #[cold]
    #[inline(never)]
    fn ends_with(&mut self, number: u64) -> bool {
        let is_used_up = self.users.open.as_ref().is_some_and(|open| self.is_used_up_at(open.segment.nth(number)));
        if let Some(open) = self.users.open.as_mut().filter(|_| is_used_up) {
            open.last = Nanos::ZERO;
        }
        is_used_up
    }

    /// Drops starts that have waited too long.
    #[inline]
    fn drop_late(&mut self, now: Nanos) {
        let Some(open) = &self.users.open else { return };
        if open.queue.front().is_some_and(|start| open.work.start_within() <= now.since(start.intended)) {
            self.drop_waiting(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_waiting(&mut self, now: Nanos) {
        let Some(open) = &mut self.users.open else { return };
        let mut late = Vec::new();
        while let Some(start) = open.queue.front().filter(|start| open.work.start_within() <= now.since(start.intended))
        {
            if start.intended >= self.instants.counts_from {
                self.unreported.counts[open.counter_of(start.intended)] += u64::from(!open.counts_due);
                self.unreported.counts[Counter::DroppedByDeadline] += u64::from(open.work.first_deadline.is_some());
                self.unreported.drop_start(now.since(start.intended).0);
                late.push(start.intended);
            }
            open.queue.pop_front();
        }
        late.into_iter().for_each(|intended| self.trace_start(intended, now, RequestRecordEnd::Dropped));
    }

    /// Gives the oldest start to an idle user, or to a new one. False when there is no start or no user.
    fn serve(&mut self, now: Nanos, sockets: &mut dyn Sockets) -> bool {
        self.drop_late(now);
        let Some(open) = &mut self.users.open else { return false };
        if open.queue.is_empty() {
            return false;
        }
        let user = match open.next_idle(self.pool.addresses.are_counted()) {
            Some(user) => user,
            // Each waiting start has a user that gets ready.
            None if open.waiting() <= open.starting => return false,
            None if !open.stopped.is_empty() => open.stopped.swap_remove(0),
            None if (self.users.all.len() as u64) < open.users_max => self.new_user(),
            None => return false,
        };
        if self.users.programs.has_setup_or_teardown() && self.gets_ready(user, now, sockets) {
            return true;
        }
        self.serve_with(user, sockets);
        true
    }

    fn serve_with(&mut self, user: u32, sockets: &mut dyn Sockets) {
        let Some(open) = &mut self.users.open else { return };
        match open.queue.pop_front() {
            Some(start) => self.begin_start(user, start, sockets),
            None => open.idle.push_back(user),
        }
    }

    fn begin_start(&mut self, user: u32, start: Start, sockets: &mut dyn Sockets) {
        let Start { intended, taken_up, number } = start;
        if self.in_flight.is_simple {
            return self.begin_due(user, 0, intended, taken_up, sockets);
        }
        let Some(open) = &self.users.open else { return };
        let (is_counted, number) = (open.counts_due, open.segment.nth(number));
        self.draw_own(user, taken_up);
        self.enter(user, intended >= self.instants.measured_from, Some(number));
        if !self.run_program(user, UserTurn { intended, taken_up, is_counted }, sockets)
            && let Some(open) = &mut self.users.open
        {
            // It requested nothing.
            open.idle.push_back(user);
        }
    }

    /// Resumes the load, with the users that were in the middle of an iteration.
    pub(in crate::scenario_runtime) fn resume_open(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(open) = &mut self.users.open else { return };
        open.is_halted = false;
        for user in std::mem::take(&mut open.halted) {
            self.next_open(user, LastExchange::Ended, now, now, sockets);
            self.advance_freed(sockets);
        }
    }

    /// A user is free. One that got no connection waits for the next turn: with a target that refuses at once, the loop
    /// would never poll its sockets.
    pub(in crate::scenario_runtime) fn next_open(
        &mut self,
        user: u32,
        view: LastExchange,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        self.drop_late(now);
        // A begun iteration goes on, one step after the other, until nothing is started any more.
        if self.users.all[user as usize].is_inside {
            if let Some(open) = self.users.open.as_mut().filter(|open| open.is_halted)
                && view != LastExchange::NoConnection
                && !self.users.budget.is_over
            {
                return open.halted.push(user);
            }
            if self.goes_on_open(user, view, intended, now, sockets) {
                return;
            }
        }
        if self.users.all[user as usize].is_leaving {
            if let Some(open) = self.users.open.as_mut().filter(|open| open.is_halted)
                && !self.users.budget.is_over
            {
                return open.halted.push(user);
            }
            return self.give_way(user, now, sockets);
        }
        if self.users.programs.has_setup_or_teardown() && self.serves_no_start(user, intended, now, sockets) {
            return;
        }
        let Some(open) = &mut self.users.open else { return };
        if view == LastExchange::NoConnection {
            // Users with a start go first.
            if self.pool.addresses.are_counted() { open.idle.push_back(user) } else { open.idle.push_front(user) }
        } else if open.queue.is_empty() {
            open.idle.push_back(user);
        } else {
            self.serve_with(user, sockets);
        }
    }
}
