//! Several exchanges of a user at a time. Each has its own random draws, by its position among them. Values from
//! their responses are set when all have ended, in the order of the program, not in the order of the responses.

use std::sync::Arc;

use driver::Sockets;
use pacing::{Nanos, Random};

use crate::program::{Fork, ForkPart, ForkSteps, Position, RandomKey};
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::users::programs::{NOTHING_PAUSE, NOTHINGS_MAX, Programs, UserTurn};
use crate::user::{LastExchange, UserPhase};

impl ScenarioRuntime {
    /// One of several exchanges at a time is over. `None` when its user is queued already, or still begins others: then
    /// those that end at once are counted there.
    pub(in crate::scenario_runtime) fn end_part(&mut self, user: u32, view: LastExchange) -> Option<LastExchange> {
        let Some(fork) = self.users.programs.fork(user) else { return Some(view) };
        fork.under_way -= 1;
        fork.has_failed |= view != LastExchange::Ended;
        let is_known = fork.is_beginning || std::mem::replace(&mut fork.is_freed, true);
        (!is_known).then_some(LastExchange::Rested)
    }

    /// One or more of several exchanges are over, or the user comes back to them: further ones begin, or all have ended.
    pub(super) fn handle_fork(
        &mut self,
        user: u32,
        view: LastExchange,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Option<LastExchange> {
        let Some(place) = self.users.programs.place(user) else { return Some(view) };
        let Some(fork) = &mut place.fork else { return Some(view) };
        fork.is_freed = false;
        let turn = UserTurn { intended: at, taken_up: at, is_counted: false };
        if self.begin_parts(user, turn, sockets) == PartsBegun::More {
            self.rest_between(user, turn);
            return None;
        }
        let is_cut = |fork: &mut Fork| fork.under_way == 0 && (fork.is_cut || fork.step(fork.next).is_some());
        if self.users.programs.fork(user).is_some_and(is_cut) {
            // The load is over, and the rest of them never began.
            self.cut_iteration(user, at, sockets);
            return Some(LastExchange::Rested);
        }
        self.end_fork(user)
    }

    /// Begins several exchanges; false when there is none, since a list has no item.
    pub(super) fn begin_fork(
        &mut self,
        user: u32,
        steps: Arc<ForkSteps>,
        turn: UserTurn,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let Some(place) = self.users.programs.place(user) else { return false };
        let (items, draw) = (place.take_items_for(&steps), place.draw());
        let fork = Fork::new(steps, items, draw);
        if fork.step(0).is_none() {
            return false;
        }
        place.fork = Some(Box::new(fork));
        place.failed = None;
        self.users.states.begins_fork(user);
        self.begin_parts(user, turn, sockets);
        // What ended at once is heard of later: the user may come here again and again.
        if self.users.programs.fork(user).is_some_and(|fork| fork.under_way == 0) {
            self.rest_between(user, turn);
        }
        true
    }

    /// The user comes back to its concurrent exchanges, or behind them.
    #[cold]
    fn rest_between(&mut self, user: u32, turn: UserTurn) {
        self.pause_until(user, turn.intended.max(turn.taken_up) + NOTHING_PAUSE);
    }

    /// Begins as many as may be under way. Those that end at once make room for others.
    fn begin_parts(&mut self, user: u32, turn: UserTurn, sockets: &mut dyn Sockets) -> PartsBegun {
        // The steps of `on_stop` come behind the end of the load.
        let is_over = self.users.budget.is_over && self.users.all[user as usize].stage != UserPhase::Stopping;
        let mut begun = 0;
        loop {
            let Some(fork) = self.users.programs.fork(user) else { return PartsBegun::All };
            fork.is_beginning = false;
            let has_room = fork.under_way < fork.steps.most && !fork.is_cut;
            let Some(step) = fork.step(fork.next).filter(|_| has_room && (!is_over || fork.next == 0)) else {
                return PartsBegun::All;
            };
            if begun >= NOTHINGS_MAX && fork.under_way == 0 {
                return PartsBegun::More;
            }
            begun += 1;
            (fork.next, fork.under_way, fork.is_beginning) = (fork.next + 1, fork.under_way + 1, true);
            fork.began = fork.next as ForkPart;
            self.begin_exchange(user, step, turn.intended, turn.taken_up, sockets);
        }
    }

    /// The outcome of all, when none is under way any more.
    fn end_fork(&mut self, user: u32) -> Option<LastExchange> {
        let last = self.users.programs.fork(user).filter(|fork| fork.under_way == 0)?.len() as ForkPart;
        // Behind them the variable has the last item.
        self.give_item(user, last);
        let place = self.users.programs.place(user)?;
        let fork = place.fork.take()?;
        let all = if fork.has_failed { LastExchange::Failed } else { LastExchange::Ended };
        let (taken, items) = fork.into_taken();
        // All of them may be tried again.
        if all == LastExchange::Failed {
            place.give_back_items(items);
        }
        self.users.states.keep_all(user, taken);
        Some(all)
    }

    /// The variable of a loop has the item of this exchange, one of several at a time.
    #[inline]
    pub(in crate::scenario_runtime) fn give_item(&mut self, user: u32, part: ForkPart) {
        if part > 0 {
            self.give_item_of(user, part);
        }
    }

    fn give_item_of(&mut self, user: u32, part: ForkPart) {
        let item = self.users.programs.place(user).and_then(|place| place.item_of(part));
        if let Some((variable, item)) = item {
            self.users.states.set(user, variable, item);
        }
    }

    /// Whether the failure of an exchange, one of several at a time, is that of all of them.
    #[cold]
    pub(in crate::scenario_runtime) fn fails_others(&mut self, user: u32, step: u32) -> bool {
        let number = self.in_flight.steps[step as usize].series.place() - self.work.first_series.place();
        self.users.programs.fork(user).is_none_or(|fork| !fork.is_optional(number))
    }
}

impl Programs {
    /// Number of the exchange that begins, among several at a time.
    pub(in crate::scenario_runtime) fn part(&mut self, user: u32) -> ForkPart {
        self.fork(user).map_or(0, |fork| fork.began)
    }

    /// The concurrent exchanges of a user, if there are any.
    pub(in crate::scenario_runtime) fn fork(&mut self, user: u32) -> Option<&mut Fork> {
        self.place(user)?.fork.as_deref_mut()
    }

    /// The source of draws for the request of a step, or for what is extracted from its response. Each of several at a
    /// time has its own draws, whichever begins or ends first.
    pub(in crate::scenario_runtime) fn random_for(
        &mut self,
        user: u32,
        step: u32,
        use_of: Use,
        by: RandomKey,
    ) -> Random {
        let code = self.code.clone();
        let random_at = |place: &mut Position| match use_of {
            Use::Request(0) | Use::Response(0) | Use::Condition => code.random_for(step, place, by),
            Use::Request(part) => code.random_for_part(step, place, by, u64::from(part) << 1),
            Use::Response(part) => code.random_for_part(step, place, by, u64::from(part) << 1 | 1),
        };
        match self.place(user) {
            Some(place) => random_at(place),
            None => random_at(&mut Position::default()),
        }
    }

    /// The evaluation of a condition that draws nothing: later draws are numbered as if it did.
    pub(in crate::scenario_runtime) fn pass_draw(&mut self, user: u32) {
        if let Some(place) = self.place(user) {
            place.draw();
        }
    }
}

/// How many of several exchanges were begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartsBegun {
    /// All that may be under way.
    All,
    /// Many that ended at once, and there are others: first other users have their turn.
    More,
}

/// The purpose of a draw.
#[derive(Clone, Copy, Debug)]
pub(in crate::scenario_runtime) enum Use {
    /// A request, possibly one of several at a time.
    Request(ForkPart),
    /// An extraction from its response.
    Response(ForkPart),
    /// The evaluation of a condition.
    Condition,
}
