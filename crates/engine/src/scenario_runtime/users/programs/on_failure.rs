//! What follows a failure: another try, the end of a loop, of the iteration, of the user or of the run.

use driver::Sockets;
use metrics::Counter;
use pacing::Nanos;
use plan::{OnFailure, Retry};

use crate::program::{CompiledProgram, LoopExit, Position};
use crate::scenario_runtime::ScenarioRuntime;
use crate::user::UserPhase;

/// The reason of a run that a failure stops.
const STOPPED_BY_FAILURE: &str = "a step failed whose 'on_failure' is stop_run";

/// What follows a failure in a block that is tried again.
enum AfterBlock {
    /// It begins again.
    Again,
    /// It had its last try.
    Then(OnFailure),
    /// There is no block around.
    None,
}

impl ScenarioRuntime {
    /// What the program does when an exchange or a check fails.
    pub(super) fn handle_failure(&mut self, user: u32, at: Nanos, sockets: &mut dyn Sockets) {
        let code = self.users.programs.code.clone();
        let on_failure = code.on_failure(self.users.all[user as usize].counter);
        let tries_again = match on_failure {
            OnFailure::Retry(most) => self.tries_again(user, most),
            OnFailure::RetryBy(number) => {
                let retry = &code.retries[usize::from(number)];
                self.is_worth_a_try(user, retry, at) && self.tries_again(user, retry.most) && {
                    let tries = self.users.programs.place(user).map_or(0, |place| place.tries);
                    self.plan_wait(user, retry, tries);
                    true
                }
            }
            _ => false,
        };
        if tries_again {
            if let Some(place) = self.users.programs.place(user) {
                place.failures.try_last_again();
            }
            self.users.all[user as usize].counter -= 1;
            return;
        }
        let (mut then, mut exit) =
            (on_failure.after_last_try(&code.retries), code.exit(self.users.all[user as usize].counter));
        while then == OnFailure::Next {
            match self.fail_block(user, &code, at, sockets) {
                AfterBlock::Again => return,
                AfterBlock::Then(following) => {
                    (then, exit) = (following, code.exit(self.users.all[user as usize].counter));
                    if then == OnFailure::GoOn {
                        return self.leave_block(user, at);
                    }
                    self.leave_frame(user);
                }
                AfterBlock::None => break,
            }
        }
        match (then, exit) {
            (OnFailure::GoOn, _) => self.forget_tries(user),
            (OnFailure::Break, Some(exit)) => self.break_loop(user, exit, at, sockets),
            (OnFailure::Stop, _) => {
                // A user in `on_stop` leaves anyway.
                let leaves = self.users.all[user as usize].stage != UserPhase::Stopping;
                self.users.all[user as usize].is_leaving |= leaves;
                self.unreported.counts[Counter::UsersLeft] += u64::from(leaves);
                self.abandon(user, Counter::IterationsFailed, at, sockets);
            }
            (OnFailure::StopRun, _) => {
                self.stop_run(STOPPED_BY_FAILURE);
                self.abandon(user, Counter::IterationsFailed, at, sockets);
            }
            _ => self.abandon(user, Counter::IterationsFailed, at, sockets),
        }
    }

    /// A failure that ends the innermost block around it: the block begins again, or has had its last try.
    fn fail_block(&mut self, user: u32, code: &CompiledProgram, at: Nanos, sockets: &mut dyn Sockets) -> AfterBlock {
        let Some(place) = self.users.programs.place(user) else { return AfterBlock::None };
        let Some(block) = place.innermost_block().map(|block| *block) else { return AfterBlock::None };
        place.fork = None;
        let (transactions, conversations) = place.open_in(block);
        self.leave_inner_conversations(user, conversations, sockets);
        self.close_inner_transactions(user, transactions, false, at);
        self.forget_tries(user);
        let retry = &code.retries[usize::from(block.retry)];
        let goes_again = block.tries < retry.most && self.is_worth_a_try(user, retry, at);
        self.users.all[user as usize].counter = block.start;
        if !goes_again {
            return AfterBlock::Then(retry.then);
        }
        if let Some(block) = self.users.programs.place(user).and_then(Position::innermost_block) {
            block.tries += 1;
        }
        if let Some(place) = self.users.programs.place(user) {
            place.failures.try_again_from(block.failures);
        }
        self.plan_wait(user, retry, block.tries + 1);
        self.forget_lost_conversation(user);
        AfterBlock::Again
    }

    /// The user goes on behind the innermost block. The transaction that it is all of has failed.
    fn leave_block(&mut self, user: u32, at: Nanos) {
        let block = self.users.programs.place(user).and_then(Position::innermost_block).map(|block| *block);
        self.leave_frame(user);
        let Some(block) = block else { return };
        let fails = usize::from(block.is_whole);
        self.close_inner_transactions(user, fails, false, at);
        self.users.all[user as usize].counter = block.end + u32::from(block.is_whole);
    }

    fn leave_frame(&mut self, user: u32) {
        if let Some(place) = self.users.programs.place(user) {
            place.drop_frames(1);
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

    /// The user waits before its next try, which is this one.
    fn plan_wait(&mut self, user: u32, retry: &Retry, tries: u16) {
        let requested = self.users.states.requested_wait(user);
        let drawn = if retry.jitter > 0.0 { self.draw_unit(user) } else { 0.0 };
        if let Some(place) = self.users.programs.place(user) {
            let millis = retry.wait(tries, requested, drawn).as_millis();
            place.retry_wait_ms = u32::try_from(millis).unwrap_or(u32::MAX);
        }
    }

    /// Whether the user waits before its next try.
    #[inline]
    pub(super) fn waits_before_try(&mut self, user: u32) -> bool {
        let has_retries = !self.users.programs.code.retries.is_empty();
        has_retries && self.users.programs.place(user).is_some_and(|place| place.retry_wait_ms > 0)
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
    fn break_loop(&mut self, user: u32, exit: LoopExit, at: Nanos, sockets: &mut dyn Sockets) {
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
