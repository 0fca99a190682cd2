//! `on_stop` at the end of a run, and users that stop the run.

use std::sync::Arc;

use driver::Sockets;
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::abandoned::AbandonedAttempt;
use crate::slab::Key;
use crate::user::UserPhase;

impl ScenarioRuntime {
    /// A user stops the run, for this reason.
    #[cold]
    pub(in crate::scenario_runtime) fn stop_run(&mut self, reason: &str) {
        self.stop_reason.get_or_insert_with(|| reason.into());
    }

    /// Why a user stops the run, once.
    #[inline]
    pub(crate) fn take_stop_reason(&mut self) -> Option<Arc<str>> {
        if self.stop_reason.is_some() { self.stop_reason.take() } else { None }
    }

    /// Whether users still have to run `on_stop`.
    pub(crate) fn has_pending_teardown(&self) -> bool {
        self.users.pending_teardown() > 0
    }

    /// Users give up what they wait for, and run `on_stop`.
    #[cold]
    pub(crate) fn give_up_for_teardown(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if !self.has_pending_teardown() {
            return;
        }
        // All of them are taken out before the first attempt is abandoned: that may move others to another connection.
        let (mut users, mut abandoned) = (Vec::new(), Vec::new());
        for key in self.in_flight.attempts.keys().collect::<Vec<_>>() {
            let exchange = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange);
            let Some(exchange) = exchange.filter(|exchange| self.gives_up(*exchange, &mut users)) else { continue };
            self.count_last_sent(key, sockets);
            self.count_untaken_message(key, sockets);
            let Some(attempt) = self.in_flight.attempts.remove(key) else { continue };
            let (socket, stream, sent) = (attempt.socket, attempt.stream, attempt.sent);
            self.leave_unfinished(exchange, Some(&attempt), now);
            abandoned.push(AbandonedAttempt { key, socket, stream, sent });
        }
        for exchange in self.in_flight.exchanges.keys().collect::<Vec<_>>() {
            if self.gives_up(exchange, &mut users) {
                self.leave_unfinished(exchange, None, now);
            }
        }
        users.extend(self.give_up_lookups(|user| user.stage != UserPhase::Stopping, now));
        for attempt in abandoned {
            self.abandon_attempt(attempt, false, now, sockets);
            self.advance_freed(sockets);
        }
        users.sort_unstable();
        users.dedup();
        for user in users {
            if let Some(place) = self.users.programs.place(user) {
                place.fork = None;
            }
            self.cancel(user, now, now, sockets);
            self.advance_freed(sockets);
        }
    }

    /// Whether the user of an exchange gives it up, and is noted for that.
    fn gives_up(&mut self, exchange: Key, users: &mut Vec<u32>) -> bool {
        let Some(user) = self.in_flight.exchanges.find(exchange).map(|exchange| exchange.user) else { return false };
        let gives_up = self.users.all[user as usize].stage != UserPhase::Stopping;
        users.extend(gives_up.then_some(user));
        gives_up
    }
}
