//! Users of an open load outside their iterations: how they get ready, leave and are replaced. Steps before the first iteration of a user, and
//! after its last one, are done by the users that exist: a due start that finds no idle user begins a new one, which
//! gets ready first.
//!
//! The start keeps the instant at which it was intended, and waits until some user is ready; that is part of its
//! response time. So the load makes the starts of the schedule, however long users take to get ready. There is one
//! user getting ready for each waiting start; they stop when no start waits any more.

use driver::Sockets;
use pacing::Nanos;

use crate::scenario_runtime::users::programs::UserTurn;
use crate::scenario_runtime::{START_BATCH, ScenarioRuntime};
use crate::user::UserPhase;

impl ScenarioRuntime {
    /// A user of an open load is outside an iteration. True when it gets ready for one, or has stopped: it serves no
    /// start.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn serves_no_start(
        &mut self,
        user: u32,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let stage = self.users.all[user as usize].stage;
        let Some(open) = &mut self.users.open else { return false };
        if stage == UserPhase::Stopping || (stage != UserPhase::New && open.is_over()) {
            self.leave(user, UserTurn { intended: now, taken_up: now, is_counted: false }, sockets);
            return true;
        }
        if stage != UserPhase::Starting {
            return false;
        }
        if open.is_halted && !self.users.budget.is_over {
            open.halted.push(user);
            return true;
        }
        self.starts_later(user, intended, now, sockets)
    }

    /// A user that is to serve a start gets ready for it first. False when it is ready.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn gets_ready(&mut self, user: u32, now: Nanos, sockets: &mut dyn Sockets) -> bool {
        self.starts_later(user, now, now, sockets)
    }

    /// Whether a user is in `on_start` or `on_stop`, outside iterations.
    pub(in crate::scenario_runtime) fn is_in_setup_or_teardown(&self, user: u32) -> bool {
        self.users.programs.has_setup_or_teardown()
            && matches!(self.users.all[user as usize].stage, UserPhase::Starting | UserPhase::Stopping)
    }

    /// The load is over for a user in the middle of what it does. `on_stop` is run all the same; and a user that gets
    /// ready goes on as long as starts wait that were due before the end.
    pub(in crate::scenario_runtime) fn is_over_for(&self, user: u32) -> bool {
        let waiting = self.users.open.as_ref().map_or(0, crate::scenario_runtime::Open::waiting);
        self.users.budget.is_over
            && match self.users.all[user as usize].stage {
                UserPhase::Stopping => false,
                UserPhase::Starting => waiting == 0,
                UserPhase::New | UserPhase::Ready => true,
            }
    }

    /// The program of a user says that it leaves: it runs `on_stop`, and another user takes its place.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn give_way(&mut self, user: u32, now: Nanos, sockets: &mut dyn Sockets) {
        self.users.all[user as usize].is_leaving = false;
        self.leave(user, UserTurn { intended: now, taken_up: now, is_counted: false }, sockets);
    }

    /// A user has left. While the load goes on it may come back as another, with nothing of what it had.
    pub(in crate::scenario_runtime) fn make_room(&mut self, user: u32, sockets: &mut dyn Sockets) {
        let Some(open) = &mut self.users.open else { return };
        open.stopped.push(user);
        if open.is_over() {
            return;
        }
        self.users.states.forget_all(user);
        self.close_own(user, sockets);
        if self.pool.is_layered {
            self.users.all[user as usize].is_parked = true;
            self.leave_link(user, sockets);
            self.users.all[user as usize].is_parked = false;
        }
    }

    /// Nothing more comes: idle users run `on_stop`.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn retire_idle_users(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(open) = &mut self.users.open else { return };
        let (is_over, had_retired) = (open.is_over(), open.has_retired);
        open.has_retired = is_over;
        if !is_over {
            return;
        }
        let turn = UserTurn { intended: now, taken_up: now, is_counted: false };
        for _ in 0..START_BATCH {
            let Some(user) = self.users.open.as_mut().and_then(|open| open.idle.pop_front()) else { break };
            self.leave(user, turn, sockets);
            self.advance_freed(sockets);
        }
        if had_retired {
            return;
        }
        for user in 0..self.users.all.len() as u32 {
            let one = self.users.all[user as usize];
            if one.stage != UserPhase::Starting || one.is_inside {
                continue;
            }
            if let Some(place) = self.users.programs.place(user) {
                place.wakes_at = None;
            }
            self.leave(user, turn, sockets);
            self.advance_freed(sockets);
        }
    }
}
