//! The closed model: users that are kept busy, that come and go by a level over time, or that wait for each other.

use std::ops::Range;
use std::sync::Arc;

use driver::Sockets;
use pacing::{Nanos, RevokedSlots, UserProfile};

use crate::scenario_runtime::{ClosedWork, START_BATCH, ScenarioConfig, ScenarioRuntime};
use crate::user::{LastExchange, Next};

/// The closed load of a shard.
pub(crate) struct Closed {
    work: ClosedWork,
    /// Largest number of its own users.
    users_max: u64,
    /// Users for each connection that they share.
    streams: u64,
    /// Own active users: those with a lower index.
    active: u64,
    /// Own users that should be active, since `since`, counted from the start of the run.
    wanted: u64,
    since: Nanos,
    next_change: Option<Nanos>,
    /// Nothing is to be done before this instant.
    due: Nanos,
    /// Users that have left, and may come back.
    pub(in crate::scenario_runtime) parked: u64,
    /// The load is paused: no user is active.
    is_halted: bool,
    /// Own users that were there when the load was paused, and have to be woken after it resumed.
    waking: Range<u64>,
    gathering: Option<Gathering>,
    /// Users that other runs have.
    lost: Option<Box<LostUsers>>,
}

/// Users that other runs have, each from its instant on.
struct LostUsers {
    /// Counted from the start of the measured load.
    lost: RevokedSlots,
    warmup: Nanos,
    /// The instant, counted likewise, of the last check; none before the first.
    at: Option<Nanos>,
    /// When more are lost.
    next: Nanos,
}

/// A rendezvous: users that wait for each other.
#[derive(Default)]
struct Gathering {
    gathered: Vec<u32>,
    /// Users that start at `at`.
    released: Vec<u32>,
    at: Nanos,
    is_reported: bool,
}

impl Closed {
    pub(in crate::scenario_runtime) fn new(all: &ScenarioConfig) -> Self {
        let (work, users_max, streams) = (all.closed.clone(), all.share.users, all.streams);
        let gathering = work.is_rendezvous.then(Gathering::default);
        let mut closed = Self {
            work,
            users_max,
            streams: streams.into(),
            active: 0,
            wanted: 0,
            since: Nanos::ZERO,
            next_change: None,
            due: Nanos::ZERO,
            parked: 0,
            is_halted: false,
            waking: 0..0,
            gathering,
            lost: None,
        };
        closed.update_target(closed.work.from);
        closed
    }

    /// Computes the users that should be active from `at` on, and when that changes.
    fn update_target(&mut self, at: Nanos) {
        let own = self.work.segment.count_of_first(self.work.levels.count(at));
        let (own, most) = (own.min(self.users_max / self.streams), self.users_max / self.streams);
        (self.wanted, self.since) = (own * self.streams, at);
        let low = own.checked_sub(1).map(|last| self.work.segment.nth(last));
        // Beyond the last own user none joins.
        let high = if own < most { self.work.segment.nth(own) } else { u64::MAX };
        self.next_change = self.work.levels.next_change(at, low, high);
    }

    pub(in crate::scenario_runtime) fn next_turn(&self) -> Nanos {
        self.due
    }

    /// The profile changes from some instant on. Returns the most users that this shard may have.
    pub(in crate::scenario_runtime) fn change(&mut self, levels: &Arc<UserProfile>, started: Nanos) -> u64 {
        self.work.levels = levels.clone();
        self.users_max = self.users_max.max(self.work.segment.count_of_first(levels.most()) * self.streams);
        // The past is the same; so the users are those of the last look, until the next change.
        self.update_target(self.since);
        self.compute(started);
        self.users_max
    }

    /// Users of some slots go to other runs, each at its instant.
    pub(in crate::scenario_runtime) fn revoke_slots(&mut self, lost: &RevokedSlots, warmup: Nanos, started: Nanos) {
        let at = self.lost.as_ref().and_then(|known| known.at);
        let next = lost.next_change(None).map_or(Nanos::NEVER, |next| warmup + next);
        self.lost = Some(Box::new(LostUsers { lost: lost.clone(), warmup, at, next }));
        self.compute(started);
    }

    /// Checks which users have gone to other runs by now.
    fn remove_lost_users(&mut self, now: Nanos, started: Nanos) {
        let Some(lost) = self.lost.as_mut().filter(|lost| started + lost.next <= now) else { return };
        let at = now.since(started + lost.warmup);
        lost.at = Some(at);
        lost.next = lost.lost.next_change(Some(at)).map_or(Nanos::NEVER, |next| lost.warmup + next);
    }

    /// Another run has this user.
    #[cold]
    fn is_lost(&self, user: u64) -> bool {
        self.lost.as_ref().is_some_and(|lost| {
            lost.at.is_some_and(|at| lost.lost.has_lost(self.work.segment.nth(user / self.streams), at))
        })
    }

    /// Pauses: no user is active until the load resumes.
    pub(in crate::scenario_runtime) fn pause(&mut self) {
        self.waking = 0..self.active;
        (self.is_halted, self.active, self.due) = (true, 0, Nanos::NEVER);
    }

    /// Resumes the load at this instant. Returns the first user that is not active then.
    pub(in crate::scenario_runtime) fn resume(&mut self, at: Nanos, started: Nanos) -> u32 {
        self.is_halted = false;
        self.update_target(at.since(started));
        self.waking.end = self.waking.end.min(self.wanted);
        self.active = self.waking.end;
        if let Some(gathering) = &mut self.gathering {
            gathering.at = gathering.at.max(at);
        }
        self.compute(started);
        self.wanted as u32
    }

    /// Computes when there is something to do again.
    fn compute(&mut self, started: Nanos) {
        if self.is_halted {
            self.due = Nanos::NEVER;
            return;
        }
        let released = self.gathering.as_ref().filter(|gathering| !gathering.released.is_empty());
        let released = released.map_or(Nanos::NEVER, |gathering| gathering.at);
        let change = self.next_change.map_or(Nanos::NEVER, |at| started + at);
        let lost = self.lost.as_ref().map_or(Nanos::NEVER, |lost| started + lost.next);
        let change = change.min(lost);
        self.due =
            if self.active < self.wanted || !self.waking.is_empty() { Nanos::ZERO } else { change.min(released) };
    }

    pub(in crate::scenario_runtime) fn is_rendezvous(&self) -> bool {
        self.gathering.is_some()
    }

    /// All users have joined, and no more will come.
    pub(in crate::scenario_runtime) fn is_complete(&self) -> bool {
        !self.is_halted && self.due == Nanos::NEVER
    }

    /// The load is paused.
    pub(in crate::scenario_runtime) fn is_halted(&self) -> bool {
        self.is_halted
    }

    /// The user is active at this instant.
    #[inline]
    pub(in crate::scenario_runtime) fn is_active(&self, user: u32) -> bool {
        u64::from(user) < self.active && (self.lost.is_none() || !self.is_lost(user.into()))
    }

    /// The user waits for the others; false when users do not wait for each other in this load.
    #[inline]
    pub(in crate::scenario_runtime) fn gather(&mut self, user: u32) -> bool {
        self.gathering.as_mut().map(|gathering| gathering.gathered.push(user)).is_some()
    }
}

impl ScenarioRuntime {
    /// Number of users at work.
    pub(crate) fn users_at_work(&self) -> u64 {
        if self.users.open.is_some() {
            return if self.in_flight.is_simple { self.in_flight.exchanges.len() as u64 } else { self.users.inside };
        }
        self.users.started - self.users.ended - self.users.closed.parked
    }

    /// Users of a closed load that have begun, whether they are still at work or not.
    pub(crate) fn users_begun(&self) -> u64 {
        if self.users.open.is_some() { 0 } else { self.users.started }
    }

    /// Starts and parks users to reach their number, and starts those whose common instant has come.
    #[inline]
    pub(in crate::scenario_runtime) fn turn_closed(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if now >= self.users.closed.due {
            self.change_users(now, sockets);
        }
    }

    #[cold]
    fn change_users(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        self.users.closed.remove_lost_users(now, self.instants.started);
        for _ in 0..START_BATCH {
            let Some(user) = self.users.closed.waking.next() else { break };
            let intended = self.instants.started + self.users.closed.since;
            self.join(user, intended, now, sockets);
            self.advance_freed(sockets);
        }
        let before = self.users.closed.active;
        for _ in 0..START_BATCH {
            let closed = &mut self.users.closed;
            if closed.active < closed.wanted {
                let (user, intended) = (closed.active, self.instants.started + closed.since);
                closed.active += 1;
                self.join(user, intended, now, sockets);
                self.advance_freed(sockets);
                continue;
            }
            // A busy user that is not needed any more notices when it is free.
            closed.active = closed.wanted;
            match closed.next_change {
                Some(at) if self.instants.started + at <= now => closed.update_target(at),
                _ => break,
            }
        }
        let closed = &self.users.closed;
        if closed.active < before {
            self.wake_surplus_users(closed.active..before, self.instants.started + closed.since);
        }
        for _ in 0..START_BATCH {
            let Some(gathering) = &mut self.users.closed.gathering else { break };
            let at = gathering.at;
            if at > now {
                break;
            }
            let Some(user) = gathering.released.pop() else { break };
            self.act(user, LastExchange::Nothing, at, now, sockets);
            self.advance_freed(sockets);
        }
        self.users.closed.compute(self.instants.started);
    }

    /// A user joins. The plan wants it at `intended`: one that had to wait for its turn was late, and counts from then.
    fn join(&mut self, index: u64, intended: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let is_lost = self.users.closed.lost.is_some() && self.users.closed.is_lost(index);
        if index >= self.users.all.len() as u64 {
            let user = self.new_user();
            if is_lost {
                return self.park(user, sockets);
            }
            return self.advance_user(user, LastExchange::Nothing, intended, now, sockets);
        }
        if is_lost {
            return;
        }
        // A user that has not yet noticed that it had left just goes on.
        let user = &mut self.users.all[index as usize];
        if std::mem::take(&mut user.is_parked) {
            self.users.closed.parked -= 1;
            self.advance_user(index as u32, LastExchange::Nothing, intended, now, sockets);
        }
    }

    /// A user is not needed any more.
    pub(in crate::scenario_runtime) fn park(&mut self, user: u32, sockets: &mut dyn Sockets) {
        let place = &mut self.users.all[user as usize];
        place.is_parked = true;
        self.users.closed.parked += 1;
        // In a pause connections stay.
        if !self.users.closed.is_halted {
            self.leave_connection(user, sockets);
        }
    }

    /// Closes the connection of a user that is not needed any more.
    pub(in crate::scenario_runtime) fn leave_connection(&mut self, user: u32, sockets: &mut dyn Sockets) {
        self.close_own(user, sockets);
        if self.pool.is_layered {
            self.leave_link(user, sockets);
        }
    }

    /// Whether all users of this shard wait for the others. True once for each round.
    pub(crate) fn has_gathered(&mut self) -> bool {
        let working = self.users.started - self.users.ended;
        let all_started = self.users.started == self.work.share.users;
        let Some(gathering) = &mut self.users.closed.gathering else { return false };
        let is_complete = all_started && working > 0 && gathering.gathered.len() as u64 == working;
        is_complete && !std::mem::replace(&mut gathering.is_reported, true)
    }

    /// The waiting users start at `at`.
    pub(crate) fn release(&mut self, at: Nanos) {
        if let Some(gathering) = &mut self.users.closed.gathering {
            gathering.released.append(&mut gathering.gathered);
            // Taken from the end: the first user goes first.
            gathering.released.reverse();
            (gathering.at, gathering.is_reported) = (at, false);
        }
        self.users.closed.compute(self.instants.started);
    }

    /// Whether users wait for each other in this load.
    #[inline]
    pub(crate) fn is_rendezvous(&self) -> bool {
        self.users.closed.is_rendezvous()
    }

    /// Runs the next action of a user.
    #[inline]
    pub(in crate::scenario_runtime) fn act(
        &mut self,
        user: u32,
        view: LastExchange,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if !self.in_flight.is_simple {
            return self.act_in_program(user, view, intended, now, sockets);
        }
        let is_measured = intended >= self.instants.counts_from;
        match self.users.budget.next(view, is_measured) {
            Next::Exchange => self.begin_exchange(user, 0, intended, now, sockets),
            Next::Rest(span) => self.pause_until(user, intended + span),
            Next::End => self.end_user(user, sockets),
        }
    }

    /// A user has nothing left to do.
    pub(in crate::scenario_runtime) fn end_user(&mut self, user: u32, sockets: &mut dyn Sockets) {
        self.users.ended += 1;
        self.close_own(user, sockets);
    }
}
