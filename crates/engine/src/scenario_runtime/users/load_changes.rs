//! A load that is changed while it runs: other starts, other users, and pauses, in which users finish their step and
//! keep their connections.

use driver::Sockets;
use pacing::change::{LoadProfile, Timeline};
use pacing::{Nanos, RevokedSlots};

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::users::programs::UserTurn;

/// When the load is paused.
#[derive(Clone, Copy, Debug)]
pub(in crate::scenario_runtime) struct PauseWindow {
    from: Nanos,
    to: Nanos,
    is_on: bool,
    /// When to check it again.
    pub(in crate::scenario_runtime) due: Nanos,
}

impl Default for PauseWindow {
    fn default() -> Self {
        Self { from: Nanos::NEVER, to: Nanos::NEVER, is_on: false, due: Nanos::NEVER }
    }
}

impl ScenarioRuntime {
    /// The load changes from some instant on, which may be past by now.
    pub(crate) fn change_load(&mut self, timeline: &Timeline) {
        match timeline.course() {
            LoadProfile::Rate(schedule) => {
                if let Some(open) = &mut self.users.open {
                    open.change(schedule, timeline.is_paused());
                }
            }
            LoadProfile::Users(levels, _) => {
                let users_max = self.users.closed.change(levels, self.instants.started);
                if users_max > self.work.share.users {
                    self.work.share.users = users_max;
                    let is_shared = self.pool.origins.iter().any(crate::scenario_runtime::Origin::is_shared);
                    self.pool.links.make_room_for(users_max, self.work.streams, self.pool.origins.len(), is_shared);
                }
            }
        }
        if let Some((from, to)) = timeline.last_pause() {
            let pause_window = &mut self.users.pause_window;
            (pause_window.from, pause_window.to) =
                (self.instants.measured_from + from, self.instants.measured_from + to);
            pause_window.due = if pause_window.is_on { pause_window.to } else { pause_window.from };
        }
    }

    /// Slots go to other runs, each from its instant on, which may be past by now.
    #[cold]
    pub(crate) fn give_slots_away(&mut self, lost: &RevokedSlots) {
        let warmup = self.work.warmup;
        match &mut self.users.open {
            Some(open) => open.revoke_slots(lost),
            None => self.users.closed.revoke_slots(lost, warmup, self.instants.started),
        }
    }

    /// Pauses or resumes the load when that is due.
    #[cold]
    pub(in crate::scenario_runtime) fn apply_pause(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if !self.users.pause_window.is_on {
            // A pause that is over before it was noticed stops no user.
            self.users.pause_window.due =
                if now < self.users.pause_window.to { self.users.pause_window.to } else { Nanos::NEVER };
            if now < self.users.pause_window.to {
                self.users.pause_window.is_on = true;
                self.users.closed.pause();
                if let Some(open) = &mut self.users.open {
                    open.pause();
                }
            }
            return;
        }
        let at = self.users.pause_window.to;
        (self.users.pause_window.is_on, self.users.pause_window.due) = (false, Nanos::NEVER);
        if self.users.open.is_some() {
            return self.resume_open(now, sockets);
        }
        for user in self.users.closed.resume(at, self.instants.started)..self.users.all.len() as u32 {
            // A user that is not needed any more kept its connection until now, and its place in the program.
            if std::mem::take(&mut self.users.all[user as usize].is_parked) {
                self.users.closed.parked -= 1;
                let turn = UserTurn { intended: at, taken_up: now, is_counted: false };
                if !self.stops_before_parking(user, turn, sockets) {
                    self.park(user, sockets);
                }
                self.advance_freed(sockets);
            }
        }
    }
}
