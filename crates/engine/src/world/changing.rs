//! A load that is changed while it goes on: other starts, other users, and pauses, in which users finish their step and keep their
//! connections.

use driver::Sockets;
use pacing::Nanos;
use pacing::change::{Course, Timeline};

use super::World;

/// When the load stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halt {
    from: Nanos,
    to: Nanos,
    is_on: bool,
    /// When that changes.
    pub(super) due: Nanos,
}

impl Default for Halt {
    fn default() -> Self {
        Self { from: Nanos::NEVER, to: Nanos::NEVER, is_on: false, due: Nanos::NEVER }
    }
}

impl World {
    /// The load is another from some instant on, which may be past by now.
    pub(crate) fn change_load(&mut self, timeline: &Timeline) {
        match timeline.course() {
            Course::Rate(schedule) => {
                if let Some(open) = &mut self.open {
                    open.change(schedule, timeline.is_paused());
                }
            }
            Course::Users(levels, _) => {
                let users_max = self.closed.change(levels, self.started);
                if users_max > self.work.share.users {
                    self.work.share.users = users_max;
                    let is_shared = self.origins.iter().any(super::Origin::is_shared);
                    self.links.make_room_for(users_max, self.work.streams, self.origins.len(), is_shared);
                }
            }
        }
        if let Some((from, to)) = timeline.last_pause() {
            let halt = &mut self.halt;
            (halt.from, halt.to) = (self.measured_from + from, self.measured_from + to);
            halt.due = if halt.is_on { halt.to } else { halt.from };
        }
    }

    /// The load stands still, or goes on.
    #[cold]
    pub(super) fn look_at_halt<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        if !self.halt.is_on {
            // One that is over before anybody heard of it stops nobody.
            self.halt.due = if now < self.halt.to { self.halt.to } else { Nanos::NEVER };
            if now < self.halt.to {
                self.halt.is_on = true;
                self.closed.halt();
                if let Some(open) = &mut self.open {
                    open.halt();
                }
            }
            return;
        }
        let at = self.halt.to;
        (self.halt.is_on, self.halt.due) = (false, Nanos::NEVER);
        if self.open.is_some() {
            return self.resume_open(now, sockets);
        }
        for user in self.closed.resume(at, self.started)..self.users.len() as u32 {
            // Who has no place any more kept its connection until now.
            if self.users[user as usize].is_parked {
                self.leave_connection(user, sockets);
            }
        }
    }
}
