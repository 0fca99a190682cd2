//! Several exchanges of a user at a time. Each has its own random draws, by its position among them. Values from
//! their responses are set when all have ended, in the order of the program, not in the order of the responses.

use std::sync::Arc;

use driver::Sockets;
use pacing::{Nanos, Random};

use super::{Programs, UserTurn};
use crate::program::{Fork, ForkPart, ForkSteps, Position, RandomKey};
use crate::user::LastExchange;
use crate::world::ScenarioRuntime;

impl ScenarioRuntime {
    /// One of several exchanges is over: another of them begins, or all have ended.
    pub(super) fn hear_of_fork<S: Sockets>(
        &mut self,
        user: u32,
        view: LastExchange,
        at: Nanos,
        sockets: &mut S,
    ) -> Option<LastExchange> {
        let is_over = self.users.budget.is_over;
        let Some(place) = self.users.programs.place(user) else { return Some(view) };
        let Some(fork) = &mut place.fork else { return Some(view) };
        fork.under_way -= 1;
        fork.has_failed |= view != LastExchange::Ended;
        if !is_over && let Some(step) = fork.step(fork.next) {
            (fork.next, fork.under_way) = (fork.next + 1, fork.under_way + 1);
            let part = fork.next as ForkPart;
            self.begin_part(user, step, part, UserTurn { intended: at, taken_up: at, is_counted: false }, sockets);
            return None;
        }
        if fork.under_way > 0 {
            return None;
        }
        // Behind them the variable has the last item.
        let last = fork.len() as ForkPart;
        self.give_item(user, last);
        let Some(place) = self.users.programs.place(user) else { return Some(view) };
        let Some(fork) = &mut place.fork else { return Some(view) };
        let all = if fork.has_failed { LastExchange::Failed } else { LastExchange::Ended };
        let taken = place.fork.take().map(|fork| fork.taken_in_order()).unwrap_or_default();
        self.users.states.keep_all(user, taken);
        Some(all)
    }

    /// Begins several exchanges; false when there is none, since a list has no item.
    pub(super) fn begin_fork<S: Sockets>(
        &mut self,
        user: u32,
        steps: Arc<ForkSteps>,
        turn: UserTurn,
        sockets: &mut S,
    ) -> bool {
        let Some(place) = self.users.programs.place(user) else { return false };
        let most = usize::from(steps.most);
        let (items, draw) = (place.take_items_for(&steps), place.draw());
        let fork = Fork { steps, items, next: 0, began: 0, draw, taken: Vec::new(), under_way: 0, has_failed: false };
        let count = fork.len().min(most);
        let first: Vec<u32> = (0..count).filter_map(|index| fork.step(index)).collect();
        if first.is_empty() {
            return false;
        }
        // All of them are counted before the first begins: it may fail at once.
        place.fork = Some(Box::new(Fork { next: count, under_way: count as u16, ..fork }));
        place.failed = None;
        self.users.states.begins_fork(user);
        for (step, part) in first.into_iter().zip(1..) {
            self.begin_part(user, step, part, turn, sockets);
        }
        true
    }

    /// The variable of a loop has the item of this exchange, one of several at a time.
    #[inline]
    pub(in crate::world) fn give_item(&mut self, user: u32, part: ForkPart) {
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
    pub(in crate::world) fn fails_others(&mut self, user: u32, step: u32) -> bool {
        let number = self.in_flight.steps[step as usize].series.place() - self.work.first_series.place();
        self.users.programs.fork(user).is_none_or(|fork| !fork.is_optional(number))
    }

    /// Begins one of them.
    fn begin_part<S: Sockets>(&mut self, user: u32, step: u32, part: ForkPart, turn: UserTurn, sockets: &mut S) {
        if let Some(fork) = self.users.programs.place(user).and_then(|place| place.fork.as_mut()) {
            fork.began = part;
        }
        self.begin_exchange(user, step, turn.intended, turn.taken_up, sockets);
    }
}

impl Programs {
    /// Number of the exchange that begins, among several at a time.
    pub(in crate::world) fn part(&mut self, user: u32) -> ForkPart {
        self.fork(user).map_or(0, |fork| fork.began)
    }

    /// The concurrent exchanges of a user, if there are any.
    pub(in crate::world) fn fork(&mut self, user: u32) -> Option<&mut Fork> {
        self.place(user)?.fork.as_deref_mut()
    }

    /// The source of draws for the request of a step, or for what is extracted from its response. Each of several at a
    /// time has its own draws, whichever begins or ends first.
    pub(in crate::world) fn random_for(&mut self, user: u32, step: u32, use_of: Use, by: RandomKey) -> Random {
        let mut none = Position::default();
        let code = self.code.clone();
        let place = self.place(user).unwrap_or(&mut none);
        match use_of {
            Use::Request(0) | Use::Response(0) | Use::Condition => code.random_for(step, place, by),
            Use::Request(part) => code.random_for_part(step, place, by, u64::from(part) << 1),
            Use::Response(part) => code.random_for_part(step, place, by, u64::from(part) << 1 | 1),
        }
    }
}

/// The purpose of a draw.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) enum Use {
    /// A request, possibly one of several at a time.
    Request(ForkPart),
    /// An extraction from its response.
    Response(ForkPart),
    /// The evaluation of a condition.
    Condition,
}
