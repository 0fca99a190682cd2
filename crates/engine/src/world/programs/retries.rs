//! What follows a failure: another try, the end of a loop, of the iteration, of the user or of the run.

use driver::Sockets;
use metrics::Counter;
use pacing::Nanos;
use plan::{OnFailure, Retry};

use crate::program::LoopExit;
use crate::user::UserPhase;
use crate::world::ScenarioRuntime;

/// The reason of a run that a failure stops.
const STOPPED_BY_FAILURE: &str = "a step failed whose 'on_failure' is stop_run";

impl ScenarioRuntime {
    /// What the program does when an exchange or a check fails.
    pub(super) fn handle_failure<S: Sockets>(&mut self, user: u32, at: Nanos, sockets: &mut S) {
        let code = self.users.programs.code.clone();
        let on_failure = code.on_failure(self.users.all[user as usize].counter);
        let tries_again = match on_failure {
            OnFailure::Retry(most) => self.tries_again(user, most),
            OnFailure::RetryBy(number) => {
                let retry = &code.retries[usize::from(number)];
                self.is_worth_a_try(user, retry, at) && self.tries_again(user, retry.most) && {
                    self.plan_wait(user, retry);
                    true
                }
            }
            _ => false,
        };
        if tries_again {
            self.users.all[user as usize].counter -= 1;
            return;
        }
        let exit = code.exit(self.users.all[user as usize].counter);
        match (on_failure.after_last_try(&code.retries), exit) {
            (OnFailure::GoOn, _) => self.forget_tries(user),
            (OnFailure::Break, Some(exit)) => self.break_loop(user, exit, at, sockets),
            (OnFailure::Stop, _) => {
                // A user in `on_stop` leaves anyway.
                let leaves = self.users.all[user as usize].stage != UserPhase::Stopping;
                self.users.all[user as usize].is_leaving |= leaves;
                self.seen.counts[Counter::UsersLeft] += u64::from(leaves);
                self.abandon(user, Counter::IterationsFailed, at, sockets);
            }
            (OnFailure::StopRun, _) => {
                self.stop_run(STOPPED_BY_FAILURE);
                self.abandon(user, Counter::IterationsFailed, at, sockets);
            }
            _ => self.abandon(user, Counter::IterationsFailed, at, sockets),
        }
    }

    /// Takes one of these tries, if one is left.
    fn tries_again(&mut self, user: u32, most: u16) -> bool {
        let place = self.users.programs.place(user).expect("who tries again has a place");
        let is_left = place.tries < most;
        place.tries += u16::from(is_left);
        is_left
    }

    fn forget_tries(&mut self, user: u32) {
        if let Some(place) = self.users.programs.place(user) {
            (place.tries, place.retry_wait_ms) = (0, 0);
        }
    }

    /// Whether the retry applies to this failure.
    fn is_worth_a_try(&mut self, user: u32, retry: &Retry, at: Nanos) -> bool {
        let Some(condition) = retry.condition else { return true };
        self.evaluate(user, condition, at).is_ok_and(|given| given.is_truthy())
    }

    /// The user waits before its next try.
    fn plan_wait(&mut self, user: u32, retry: &Retry) {
        let requested = self.users.states.requested_wait(user);
        let drawn = if retry.jitter > 0.0 { self.draw_unit(user) } else { 0.0 };
        if let Some(place) = self.users.programs.place(user) {
            let millis = retry.wait(place.tries, requested, drawn).as_millis();
            place.retry_wait_ms = u32::try_from(millis).unwrap_or(u32::MAX);
        }
    }

    /// The wait before the next try of a user, once.
    #[inline]
    pub(super) fn wait_before_try(&mut self, user: u32) -> Option<Nanos> {
        if self.users.programs.code.retries.is_empty() {
            return None;
        }
        let place = self.users.programs.place(user)?;
        let millis = std::mem::take(&mut place.retry_wait_ms);
        (millis > 0).then_some(Nanos::from_millis(millis.into()))
    }

    /// A failure ends the innermost loop: what is open in it fails, and the user goes on behind it.
    fn break_loop<S: Sockets>(&mut self, user: u32, exit: LoopExit, at: Nanos, sockets: &mut S) {
        self.leave_inner_conversations(user, exit.conversations, sockets);
        self.close_inner_transactions(user, exit.transactions, false, at);
        if let Some(place) = self.users.programs.place(user) {
            place.drop_frames(exit.frames);
            place.fork = None;
        }
        self.forget_tries(user);
        self.users.all[user as usize].counter = exit.to;
    }
}
