//! Users of a shard that wait at a barrier in the middle of their programs.

use std::sync::Arc;

use driver::Waker;
use pacing::Nanos;

use crate::barriers::{Arrival, Barriers};
use crate::scenario_runtime::ScenarioRuntime;

/// A user waits for others without a known end: until then at most, which is 146 years. Times are added to it.
const LONG: Nanos = Nanos(1 << 62);

/// Waiting users of a shard.
pub(in crate::scenario_runtime) struct BarrierWaiters {
    barriers: Arc<Barriers>,
    participant: usize,
    groups: Vec<Group>,
    /// The counter of releases that it has handled.
    received: u64,
    /// When the timeout of a group is over.
    due: Nanos,
    /// It has reported that no more users will come.
    is_stuck: bool,
}

/// Users of a shard that wait with one round of a barrier, in the order in which they arrived.
struct Group {
    barrier: u32,
    round: u64,
    until: Nanos,
    users: Vec<u32>,
}

impl BarrierWaiters {
    pub(in crate::scenario_runtime) fn new(barriers: Arc<Barriers>, participant: usize, waker: &Waker) -> Self {
        barriers.join(participant, waker.clone());
        Self { barriers, participant, groups: Vec::new(), received: 0, due: Nanos::NEVER, is_stuck: false }
    }

    fn has_news(&self) -> bool {
        self.barriers.news(self.participant) != self.received
    }

    /// When to check it again.
    pub(in crate::scenario_runtime) fn next_turn(&self) -> Nanos {
        if self.has_news() { Nanos::ZERO } else { self.due }
    }

    fn waiting(&self) -> u64 {
        self.groups.iter().map(|group| group.users.len() as u64).sum()
    }

    fn add(&mut self, user: u32, barrier: u32, round: u64, until: Nanos) {
        self.due = self.due.min(until);
        match self.groups.iter_mut().find(|group| (group.barrier, group.round) == (barrier, round)) {
            Some(group) => group.users.push(user),
            None => self.groups.push(Group { barrier, round, until, users: vec![user] }),
        }
    }

    /// Released users, with the instants at which they go on.
    fn take_released(&mut self, now: Nanos) -> Vec<(Nanos, Vec<u32>)> {
        let news = self.barriers.news(self.participant);
        if news != self.received {
            (self.received, self.is_stuck) = (news, false);
        } else if now < self.due {
            return Vec::new();
        }
        let (barriers, mut released) = (&self.barriers, Vec::new());
        self.groups.retain_mut(|group| {
            let at = barriers.proceed(group.barrier, group.round, group.users.len() as u64, now);
            released.extend(at.map(|at| (at, std::mem::take(&mut group.users))));
            at.is_none()
        });
        self.due = self.groups.iter().map(|group| group.until).min().unwrap_or(Nanos::NEVER);
        released
    }
}

impl ScenarioRuntime {
    /// A user arrives at a barrier. `None`: it waits; else it goes on, as one that was free at that instant.
    #[cold]
    pub(in crate::scenario_runtime) fn arrive(
        &mut self,
        user: u32,
        barrier: u32,
        intended: Nanos,
        now: Nanos,
    ) -> Option<Nanos> {
        // After the end of the load no user waits for others.
        if self.users.budget.is_over {
            return Some(intended);
        }
        let users = &mut self.users;
        let (code, is_open) = (users.programs.code.clone(), users.open.is_some());
        let waiters = users.barriers.as_mut().expect("a program with meetings has somebody who keeps them");
        let place = users.programs.place(user).expect("who meets others has a place");
        // Users of a rate are carriers: each iteration is a visitor of its own.
        let last = if is_open { 0 } else { place.last_met(barrier) };
        match waiters.barriers.arrive(barrier, waiters.participant, last, now) {
            Arrival::Passes { round, at } => {
                place.meet(barrier, round);
                // A user that is late itself does not go on before the others did.
                Some(intended.max(at.min(now)))
            }
            Arrival::Waits { round, until } => {
                place.meet(barrier, round);
                place.rest(now, LONG, &code.transactions);
                place.wakes_at = Some(Nanos::NEVER);
                waiters.add(user, barrier, round, until);
                None
            }
        }
    }

    /// Users whose round was released go on at its instant.
    #[inline]
    pub(in crate::scenario_runtime) fn resume_released(&mut self, now: Nanos) {
        let Some(waiters) = &mut self.users.barriers else { return };
        if now < waiters.due && !waiters.has_news() {
            return;
        }
        for (at, users) in waiters.take_released(now) {
            users.into_iter().for_each(|user| self.end_wait(user, at));
        }
    }

    fn end_wait(&mut self, user: u32, at: Nanos) {
        let code = self.users.programs.code.clone();
        if let Some(place) = self.users.programs.place(user) {
            place.end_rest(at, &code.transactions);
        }
        self.pause_until(user, at);
    }

    /// Reports when no more users of this shard could come to a barrier.
    pub(in crate::scenario_runtime) fn report_if_stuck(&mut self, now: Nanos) {
        let Some(waiters) = &self.users.barriers else { return };
        let is_stuck = !self.users.budget.is_over && self.all_wait(waiters.waiting());
        if let Some(waiters) = self.users.barriers.as_mut().filter(|waiters| waiters.is_stuck != is_stuck) {
            waiters.is_stuck = is_stuck;
            waiters.barriers.set_stuck(waiters.participant, is_stuck, waiters.received, now);
        }
    }

    /// Whether the waiting users are all that there are, and no more will come.
    fn all_wait(&self, waiting: u64) -> bool {
        let users = &self.users;
        match &users.open {
            Some(open) => waiting == users.inside && (open.is_over() || open.is_full(users.inside)),
            None => waiting == users.started - users.ended - users.closed.parked && users.closed.is_complete(),
        }
    }

    /// The load is over: no user waits any longer. Those that have something left to do go on.
    pub(in crate::scenario_runtime) fn leave_barriers(&mut self, at: Nanos) {
        let Some(waiters) = &mut self.users.barriers else { return };
        (waiters.due, waiters.is_stuck) = (Nanos::NEVER, false);
        for group in std::mem::take(&mut waiters.groups) {
            let Some(waiters) = &self.users.barriers else { return };
            let count = group.users.len() as u64;
            waiters.barriers.withdraw(group.barrier, waiters.participant, group.round, count);
            if self.users.programs.has_setup_or_teardown() {
                group.users.into_iter().for_each(|user| self.end_wait(user, at));
            }
        }
        if let Some(waiters) = &self.users.barriers {
            waiters.barriers.leave(waiters.participant, at);
        }
    }
}
