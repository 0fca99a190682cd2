//! Users outside their iterations: `on_start`, `on_stop`, pacing between iterations, and users that leave.

use driver::Sockets;
use pacing::Nanos;

use crate::scenario_runtime::users::freed::{FreedUser, NextAction};
use crate::scenario_runtime::users::programs::UserTurn;
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
use crate::user::{LastExchange, UserPhase};

/// Pause before a failed `on_start` is retried.
const START_PAUSE_MIN: Nanos = Nanos::from_millis(1_000);
/// With each failure the pause doubles, up to this.
const START_PAUSE_MAX: Nanos = Nanos::from_millis(30_000);

/// The pause of a user whose `on_start` failed `failed` times.
fn start_pause(failed: u32) -> Nanos {
    let times = 2u64.saturating_pow(failed.saturating_sub(1));
    Nanos(START_PAUSE_MIN.0.saturating_mul(times).min(START_PAUSE_MAX.0))
}

impl ScenarioRuntime {
    /// The user has begun something: it owes `on_stop` from then on.
    pub(in crate::scenario_runtime) fn begin_user(&mut self, user: u32, stage: UserPhase) {
        let one = &mut self.users.all[user as usize];
        let was = std::mem::replace(&mut one.stage, stage);
        self.users.pending_teardown += u64::from(was == UserPhase::New && self.users.programs.stop_at().is_some());
        if let Some(open) = self.users.open.as_mut().filter(|_| was == UserPhase::New && stage == UserPhase::Starting) {
            open.starting += 1;
        }
    }

    /// Runs `on_start` of a user, when that is not done. True when the user is busy with it.
    pub(in crate::scenario_runtime) fn starts_later(
        &mut self,
        user: u32,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let one = self.users.all[user as usize];
        if one.is_inside || matches!(one.stage, UserPhase::Ready | UserPhase::Stopping) {
            return false;
        }
        let Some(start_at) = self.users.programs.start_at() else {
            self.begin_user(user, UserPhase::Ready);
            return false;
        };
        if let Some(place) = self.users.programs.place(user)
            && std::mem::take(&mut place.waits_to_start)
        {
            let pause = start_pause(place.starts_failed);
            // It is to get ready, though it has left in between: no other user does that for its start.
            self.begin_user(user, UserPhase::Starting);
            self.pause_until(user, intended.max(now) + pause);
            return true;
        }
        self.begin_user(user, UserPhase::Starting);
        self.draw_own(user, now);
        self.users.states.begins_start(user);
        self.enter_setup_or_teardown(user, start_at);
        let turn = UserTurn { intended, taken_up: now, is_counted: false };
        // Steps that request nothing are done at once.
        if self.run_program(user, turn, sockets) {
            return true;
        }
        let next = NextAction::Advance { view: LastExchange::Rested, now };
        self.users.freed.push_back(FreedUser { user, intended, next });
        true
    }

    fn enter_setup_or_teardown(&mut self, user: u32, at: u32) {
        let users = &mut self.users;
        let one = &mut users.all[user as usize];
        (one.is_inside, one.is_counted, one.counter) = (true, false, at);
        users.inside += 1;
        if let Some(place) = users.programs.place(user) {
            let iteration = place.iteration;
            place.begin(iteration);
        }
    }

    /// `on_start` or `on_stop` of a user is over.
    pub(in crate::scenario_runtime) fn end_setup_or_teardown(&mut self, user: u32, is_good: bool) {
        let one = &mut self.users.all[user as usize];
        match one.stage {
            UserPhase::Starting if one.is_inside => {
                if is_good {
                    one.stage = UserPhase::Ready;
                    self.users.states.ends_start(user);
                    if let Some(open) = &mut self.users.open {
                        open.starting -= 1;
                    }
                }
                if let Some(place) = self.users.programs.place(user) {
                    place.starts_failed = if is_good { 0 } else { place.starts_failed + 1 };
                    place.waits_to_start = !is_good;
                }
            }
            _ => {}
        }
    }

    /// A user begins nothing any more: it runs `on_stop`, and then it is gone.
    pub(in crate::scenario_runtime) fn leave(&mut self, user: u32, turn: UserTurn, sockets: &mut dyn Sockets) {
        if self.needs_teardown(user)
            && let Some(stop_at) = self.users.programs.stop_at()
        {
            let was = std::mem::replace(&mut self.users.all[user as usize].stage, UserPhase::Stopping);
            if let Some(open) = self.users.open.as_mut().filter(|_| was == UserPhase::Starting) {
                open.starting -= 1;
            }
            self.enter_setup_or_teardown(user, stop_at);
            if self.run_program(user, turn, sockets) {
                return;
            }
        }
        self.forget_user(user);
        if self.users.open.is_some() {
            return self.make_room(user, sockets);
        }
        self.users.gave_up += u64::from(self.users.all[user as usize].is_leaving);
        self.end_user(user, sockets);
    }

    /// Whether `on_stop` of a user is not done.
    fn needs_teardown(&self, user: u32) -> bool {
        let stage = self.users.all[user as usize].stage;
        let is_requested_for = self.users.programs.stop_at().is_some() && !self.users.is_out_of_requests;
        matches!(stage, UserPhase::Starting | UserPhase::Ready) && is_requested_for
    }

    /// Resets the user to one that has begun nothing.
    fn forget_user(&mut self, user: u32) {
        let was = std::mem::take(&mut self.users.all[user as usize].stage);
        let has_stop = self.users.programs.stop_at().is_some();
        self.users.pending_teardown -= u64::from(was != UserPhase::New && has_stop);
        if has_stop && self.users.is_out_of_requests && matches!(was, UserPhase::Starting | UserPhase::Ready) {
            self.count_without_stop(1);
        }
        if let Some(open) = self.users.open.as_mut().filter(|_| was == UserPhase::Starting) {
            open.starting -= 1;
        }
    }

    /// A user that is not needed any more goes no further in its iteration, and runs `on_stop`. True when it is busy
    /// with that. Where the load is only paused, and is not over, it does neither.
    pub(in crate::scenario_runtime) fn stops_before_parking(
        &mut self,
        user: u32,
        turn: UserTurn,
        sockets: &mut dyn Sockets,
    ) -> bool {
        if self.users.closed.is_halted() && !self.users.budget.is_over {
            return false;
        }
        let one = self.users.all[user as usize];
        if one.stage == UserPhase::Stopping && one.is_inside {
            if self.run_program(user, turn, sockets) {
                return true;
            }
        } else {
            self.cut_iteration(user, turn.taken_up, sockets);
            if self.needs_teardown(user)
                && let Some(stop_at) = self.users.programs.stop_at()
            {
                self.users.all[user as usize].stage = UserPhase::Stopping;
                self.enter_setup_or_teardown(user, stop_at);
                if self.run_program(user, turn, sockets) {
                    return true;
                }
            }
        }
        self.forget_user(user);
        false
    }

    /// The load is over: users in a pause, or paused with the load, come back to run `on_stop`.
    pub(in crate::scenario_runtime) fn wake_owing(&mut self, at: Nanos) {
        if self.users.pending_teardown() == 0 {
            return;
        }
        if let Some(open) = &mut self.users.open {
            open.is_halted = false;
            std::mem::take(&mut open.halted).into_iter().for_each(|user| self.pause_until(user, at));
        }
        for user in 0..self.users.all.len() as u32 {
            let one = &mut self.users.all[user as usize];
            let has_stood = one.is_parked && one.stage != UserPhase::New;
            if has_stood {
                one.is_parked = false;
                self.users.closed.parked -= 1;
                self.pause_until(user, at);
            }
            let needs_teardown = self.needs_teardown(user);
            // A carrier of starts at a rate that pauses between two of them stops when nothing more comes.
            let is_resting = self.users.open.is_some() && !self.users.all[user as usize].is_inside;
            let Some(place) = self.users.programs.place(user).filter(|_| needs_teardown && !is_resting) else {
                continue;
            };
            if place.wakes_at.is_some_and(|wakes_at| wakes_at > at) {
                place.wakes_at = Some(at);
                self.timers.insert(at, TimerEntry::User { user, at });
            }
        }
    }

    /// A user comes back at this instant; false when it came back before.
    pub(in crate::scenario_runtime) fn wakes(&mut self, user: u32, at: Nanos) -> bool {
        if !self.users.programs.knows_rests() {
            return true;
        }
        let Some(place) = self.users.programs.place(user) else { return true };
        let is_it = place.wakes_at == Some(at);
        if is_it {
            place.wakes_at = None;
        }
        is_it
    }

    /// A pausing user that is not needed any more leaves at `at`, and not when its pause is over.
    #[cold]
    pub(in crate::scenario_runtime) fn wake_surplus_users(&mut self, users: std::ops::Range<u64>, at: Nanos) {
        if !self.users.programs.knows_rests() {
            return;
        }
        for user in users.start..users.end.min(self.users.all.len() as u64) {
            let Some(place) = self.users.programs.place(user as u32) else { continue };
            // A user that waits for others goes on with them.
            if place.wakes_at.is_some_and(|wakes_at| wakes_at > at && wakes_at != Nanos::NEVER) {
                place.wakes_at = Some(at);
                self.timers.insert(at, TimerEntry::User { user: user as u32, at });
            }
        }
    }

    /// A user of a closed load is one too many.
    pub(in crate::scenario_runtime) fn has_lost_its_place(&self, user: u32) -> bool {
        self.users.open.is_none() && !self.users.closed.is_halted() && !self.users.closed.is_active(user)
    }

    /// The load ended while a user with something left to do paused, or it goes on without this user.
    pub(in crate::scenario_runtime) fn is_canceled(&self, user: u32) -> bool {
        if self.users.budget.is_over {
            return self.needs_teardown(user);
        }
        let is_stopping = || self.users.all[user as usize].stage == UserPhase::Stopping;
        self.users.programs.knows_rests() && self.has_lost_its_place(user) && !is_stopping()
    }

    /// Its pause ends with its iteration.
    #[cold]
    pub(in crate::scenario_runtime) fn cancel(&mut self, user: u32, at: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let turn = UserTurn { intended: at, taken_up: now, is_counted: false };
        if !self.users.budget.is_over {
            if !self.stops_before_parking(user, turn, sockets) {
                self.park(user, sockets);
            }
            return;
        }
        self.cut_iteration(user, at, sockets);
        if self.users.open.is_some() {
            return self.next_open(user, LastExchange::Rested, at, now, sockets);
        }
        self.leave(user, turn, sockets);
    }

    /// The user has finished its number of iterations.
    pub(in crate::scenario_runtime) fn has_had_all(&self, user: u32) -> bool {
        self.work.iterations_per_user.is_some_and(|each| self.users.programs.iteration(user) >= each)
    }

    /// It is too early for the next iteration of a user; it comes back.
    pub(in crate::scenario_runtime) fn is_paced(&mut self, user: u32, intended: Nanos) -> bool {
        let Some(every) = self.work.every else { return false };
        let Some(place) = self.users.programs.place(user) else { return false };
        let until = place.paced_until;
        if intended < until {
            self.pause_until(user, until);
            return true;
        }
        place.paced_until = intended + every;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        let millis = |failed| start_pause(failed).0 / 1_000_000;
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 7, 60, 200].map(millis),
            [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]
        );
    }
}
