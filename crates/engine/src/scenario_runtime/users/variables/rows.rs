//! Rows of files for the users of a shard. Each scenario has a reader of each feed.
//!
//! Which row an iteration has is arithmetic, so shards need no coordination. A row that is read ahead may not be
//! there yet: then its exchange waits, with its intended instant, until the reader wakes the shard; the wait is
//! lateness of the generator. An iteration without a row left does not begin.

use std::collections::VecDeque;

use driver::{Sockets, Waker};
use feed::{AtEnd, Feed, Pick, Reader, Row, RowPosition, RowTurn, Share};
use metrics::{Counter, Outcome};
use pacing::{Nanos, Random};
use plan::{Memory, Node};

use crate::data_sources::SharedData;
use crate::program::ForkPart;
use crate::scenario_runtime::users::programs::UserTurn;
use crate::scenario_runtime::users::variables::ahead::Ahead;
use crate::scenario_runtime::users::variables::evaluator::ScriptEvaluator;
use crate::scenario_runtime::{ScenarioConfig, ScenarioRuntime};
use crate::slab::Key;

/// Most waiting exchanges and users that are checked in vain at a time: more than a reader has on its way.
const MISSES_MAX: usize = 2_048;

/// A row that a user has.
pub(super) struct UserRow {
    pub(super) row: Row,
    /// It was drawn before the first iteration, and stays.
    is_of_start: bool,
}

/// The feeds of a scenario.
pub(in crate::scenario_runtime) struct Rows {
    feeds: Vec<OwnFeed>,
    /// For each column of slots its feed, by its index here, and the index in its rows.
    columns: Vec<(u16, u32)>,
    /// For each step the feeds that it uses.
    of_steps: Vec<Box<[u16]>>,
    /// The feeds that conditions use.
    of_conditions: Box<[u16]>,
    /// Feeds that iterations draw from, and that end.
    ending: Box<[u16]>,
    /// The same for `on_start` of users of a closed load.
    ending_start: Box<[u16]>,
    /// The most users of a closed load.
    users: u64,
    shared_data: SharedData,
    waiting: VecDeque<RowWaiter>,
    /// Feeds that are read ahead.
    pub(super) ahead: Vec<Ahead>,
}

struct OwnFeed {
    /// Its number in the run.
    number: usize,
    reader: Reader,
    seed: u64,
}

/// A waiter for a row.
enum RowWaiter {
    /// An exchange whose request is not made.
    Exchange(Key, ForkPart),
    /// A user before a condition.
    User(u32, UserTurn),
}

/// The purpose of rows.
#[derive(Clone, Copy)]
enum Want {
    Step(u32),
    Conditions,
}

/// Availability of rows.
pub(super) enum Supply {
    Here,
    OnItsWay,
    /// They never come.
    Broken(String),
}

impl Rows {
    pub(super) fn new(work: &ScenarioConfig, evaluator: &ScriptEvaluator, waker: &Waker) -> Self {
        let memory = &work.memory;
        let mut numbers: Vec<usize> = memory.columns.iter().map(|column| column.feed as usize).collect();
        numbers.retain(|number| *number < work.shared_data.data_sources.feeds.len());
        numbers.sort_unstable();
        numbers.dedup();
        let of_scenario = Random::for_stream(work.program.seed, work.scenario as u64).next_u64();
        let own = |number: &usize| {
            let (feed, waker) = (&work.shared_data.data_sources.feeds[*number], waker.clone());
            let seed = Random::for_stream(of_scenario, *number as u64).next_u64();
            OwnFeed { number: *number, reader: feed.reader(move || waker.wake()), seed }
        };
        // A missing feed has no rows: what needs one fails.
        let place = |feed: u32| numbers.iter().position(|number| *number == feed as usize).unwrap_or(numbers.len());
        let columns = memory.columns.iter().map(|column| (place(column.feed) as u16, column.column)).collect();
        let mut rows = Self {
            feeds: numbers.iter().map(own).collect(),
            columns,
            of_steps: Vec::new(),
            of_conditions: Box::default(),
            ending: Box::default(),
            ending_start: Box::default(),
            users: work.closed.levels.most() * u64::from(work.streams.max(1)),
            shared_data: work.shared_data.clone(),
            waiting: VecDeque::new(),
            ahead: Vec::new(),
        };
        if rows.feeds.is_empty() {
            return rows;
        }
        let needs = |step: &crate::scenario_runtime::users::variables::PreparedStep| {
            step.dynamic_parts.as_ref().map(|(dynamic_parts, _)| dynamic_parts.uses()).unwrap_or_default()
        };
        let steps = work.steps.iter().map(needs);
        rows.of_steps = steps.map(|uses| rows.feeds_of(&uses.columns, &uses.expressions, memory, evaluator)).collect();
        let (mut of_all, mut of_iteration) = (Found::default(), Found::default());
        [&work.program.start, &work.program.nodes, &work.program.stop].into_iter().for_each(|nodes| of_all.walk(nodes));
        of_iteration.walk(&work.program.nodes);
        let of_retries = work.program.retries.iter().filter_map(|retry| retry.condition);
        of_all.expressions.extend(of_retries);
        rows.of_conditions = rows.feeds_of(&of_all.columns, &of_all.expressions, memory, evaluator);
        let mut of_start_found = Found::default();
        of_start_found.walk(&work.program.start);
        let of_start = rows.ending_of(&of_start_found, memory, evaluator);
        // A carrier of starts at a rate has drawn these before, one for all of its iterations.
        let (drawn, of_start) =
            if work.open.is_some() { (of_start, Box::default()) } else { (Box::default(), of_start) };
        rows.ending_start = of_start;
        let mut ending = rows.ending_of(&of_iteration, memory, evaluator).into_vec();
        ending.retain(|feed| !drawn.contains(feed));
        rows.ending = ending.into();
        let of_start = rows.feeds_that(&of_start_found, memory, evaluator, |_| true);
        let is_anywhere = |feed: &Feed| !feed.is_held() && feed.spec().pick == Pick::Random;
        let all = rows.feeds_that(&of_iteration, memory, evaluator, is_anywhere);
        // A row drawn at the beginning stays for all iterations.
        rows.ahead = all.iter().filter(|feed| !of_start.contains(feed)).map(|feed| Ahead::new(*feed)).collect();
        rows
    }

    /// The feeds of some columns, and of those that expressions use.
    fn feeds_of(
        &self,
        columns: &[u32],
        expressions: &[u32],
        memory: &Memory,
        evaluator: &ScriptEvaluator,
    ) -> Box<[u16]> {
        let mut columns = columns.to_vec();
        for expression in expressions {
            let names = &memory.expressions[*expression as usize].names;
            columns.extend(evaluator.uses(*expression).iter().filter_map(|place| match names[*place as usize].1 {
                plan::Meaning::Column(number) => Some(number),
                plan::Meaning::Variable(_) | plan::Meaning::Constant(_) | plan::Meaning::Builtin(_) => None,
            }));
        }
        let mut feeds: Vec<u16> = columns.iter().map(|column| self.columns[*column as usize].0).collect();
        feeds.retain(|feed| usize::from(*feed) < self.feeds.len());
        feeds.sort_unstable();
        feeds.dedup();
        feeds.into()
    }

    fn ending_of(&self, found: &Found, memory: &Memory, evaluator: &ScriptEvaluator) -> Box<[u16]> {
        let stops = |feed: &Feed| feed.spec().has_end() && feed.spec().at_end == AtEnd::Stop;
        self.feeds_that(found, memory, evaluator, stops)
    }

    /// The feeds of the steps and conditions that satisfy a predicate.
    fn feeds_that(
        &self,
        found: &Found,
        memory: &Memory,
        evaluator: &ScriptEvaluator,
        is_so: impl Fn(&Feed) -> bool,
    ) -> Box<[u16]> {
        let mut feeds = self.feeds_of(&found.columns, &found.expressions, memory, evaluator).into_vec();
        found.steps.iter().for_each(|step| feeds.extend(&self.of_steps[*step]));
        feeds.sort_unstable();
        feeds.dedup();
        feeds.retain(|feed| is_so(&self.shared_data.data_sources.feeds[self.feeds[usize::from(*feed)].number]));
        feeds.into()
    }

    pub(super) fn columns(&self) -> &[(u16, u32)] {
        &self.columns
    }

    /// The most users of the scenario, over all shards.
    pub(super) fn users(&self) -> u64 {
        self.users
    }

    /// Number of feeds of which users have rows.
    pub(super) fn count(&self) -> usize {
        self.feeds.len()
    }

    fn wanted(&self, want: Want) -> &[u16] {
        match want {
            Want::Step(step) => self.of_steps.get(step as usize).map_or(&[], |feeds| feeds),
            Want::Conditions => &self.of_conditions,
        }
    }

    fn place(&self, feed: u16, turn: RowTurn) -> RowPosition {
        let own = &self.feeds[usize::from(feed)];
        self.shared_data.data_sources.feeds[own.number].place(turn, own.seed)
    }

    /// Whether there is no row left for a turn; that is reported.
    fn is_used_up(&self, ending: &[u16], turn: RowTurn, held: &[Option<UserRow>]) -> bool {
        let has_row = |feed: u16| held.get(usize::from(feed)).is_some_and(Option::is_some);
        let ended = ending.iter().find(|feed| !has_row(**feed) && self.place(**feed, turn) == RowPosition::End);
        ended.inspect(|feed| self.shared_data.has_ended(self.feeds[usize::from(**feed)].number)).is_some()
    }

    /// Gives a user the row of a feed.
    fn draw(&mut self, feed: u16, turn: RowTurn, is_of_start: bool, held: &mut [Option<UserRow>]) -> Supply {
        let number = self.feeds[usize::from(feed)].number;
        let source = &self.shared_data.data_sources.feeds[number];
        let RowPosition::Row { number: row, round } = self.place(feed, turn) else {
            self.shared_data.has_ended(number);
            return Supply::Broken(format!("all {} rows of {} are used up", source.rows(), source.file().display()));
        };
        if round > 0 && source.spec().share == Share::Unique {
            self.shared_data.begins_again(number);
        }
        match self.feeds[usize::from(feed)].reader.row(row) {
            Ok(Some(row)) => {
                held[usize::from(feed)] = Some(UserRow { row, is_of_start });
                Supply::Here
            }
            Ok(None) => Supply::OnItsWay,
            Err(error) => Supply::Broken(error.to_string()),
        }
    }

    /// Orders the row of a turn that will be needed. False when it cannot be ordered yet.
    pub(super) fn hurry(&mut self, feed: u16, turn: RowTurn) -> bool {
        match self.place(feed, turn) {
            RowPosition::Row { number, .. } => self.feeds[usize::from(feed)].reader.hurry(number),
            RowPosition::End => true,
        }
    }

    /// The most rows of a feed that are ordered before they are wanted.
    pub(super) fn ahead_max(&self, feed: u16) -> u64 {
        self.feeds[usize::from(feed)].reader.ahead_max()
    }

    /// Some rows are read before they are wanted.
    #[inline]
    pub(in crate::scenario_runtime) fn reads_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Iterations may find no row any more.
    #[inline]
    pub(in crate::scenario_runtime) fn may_end(&self) -> bool {
        !self.ending.is_empty()
    }

    /// Some exchange or user waits for a row.
    #[inline]
    pub(in crate::scenario_runtime) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn has_news(&mut self) -> bool {
        self.feeds.iter_mut().fold(false, |news, own| own.reader.poll() | news)
    }
}

/// Drops what is drawn anew in each iteration.
pub(super) fn forget(held: &mut [Option<UserRow>]) {
    held.iter_mut().filter(|held| held.as_ref().is_some_and(|held| !held.is_of_start)).for_each(|held| *held = None);
}

/// What a program uses.
#[derive(Default)]
struct Found {
    steps: Vec<usize>,
    expressions: Vec<u32>,
    columns: Vec<u32>,
}

impl Found {
    fn walk(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Ask { step, .. } => self.steps.push(*step),
                Node::Parallel { steps, .. } => self.steps.extend(steps),
                Node::If { condition, .. } | Node::Check { condition, .. } => self.expressions.push(*condition),
                Node::Loop(one) => self.expressions.extend(one.expression()),
                Node::Set(assignments) => {
                    for uses in assignments.iter().map(|assignment| assignment.value.uses()) {
                        self.columns.extend(uses.columns);
                        self.expressions.extend(uses.expressions);
                    }
                }
                Node::Record(measurements) => {
                    for uses in measurements.iter().map(|one| one.value.uses()) {
                        self.columns.extend(uses.columns);
                        self.expressions.extend(uses.expressions);
                    }
                }
                _ => {}
            }
            node.inner().for_each(|inner| self.walk(inner));
        }
    }
}

impl ScenarioRuntime {
    /// The turn of a user for drawing rows. `iteration`: its number; from 0 for each user of a closed load.
    pub(super) fn turn_of(&self, user: u32, iteration: u64) -> RowTurn {
        match self.users.open {
            Some(_) => RowTurn::Open { iteration, user: self.user_number(user) },
            None => RowTurn::Closed { user: self.drawer(user).user, users: self.users.states.rows.users, iteration },
        }
    }

    fn turn_now(&mut self, user: u32) -> (RowTurn, bool) {
        let is_starting = self.users.states.state(user).is_starting;
        let number = self.users.programs.iteration(user);
        let number = match (&self.users.open, is_starting) {
            (Some(_), false) => number,
            // Users of an open load are carriers, and each has rows of its own.
            (Some(_), true) => self.work.segment.nth(u64::from(user)),
            (None, true) => 0,
            // Users of a closed load count from 1.
            (None, false) => number.saturating_sub(1),
        };
        (self.turn_of(user, number), is_starting)
    }

    /// There is no row left for the next iteration of a user of a closed load: it leaves.
    pub(in crate::scenario_runtime) fn is_used_up(&mut self, user: u32) -> bool {
        if self.users.states.rows.ending.is_empty() {
            return false;
        }
        let turn = self.turn_of(user, self.users.programs.iteration(user));
        let states = &mut self.users.states;
        states.state(user);
        let held = &mut states.all[user as usize].rows;
        forget(held);
        states.rows.is_used_up(&states.rows.ending, turn, held)
    }

    /// There is no row for `on_start` of a user of a closed load.
    pub(in crate::scenario_runtime) fn lacks_rows_to_start(&self, user: u32) -> bool {
        let rows = &self.users.states.rows;
        !rows.ending_start.is_empty() && rows.is_used_up(&rows.ending_start, self.turn_of(user, 0), &[])
    }

    /// There is no row left for an iteration of an open load.
    pub(in crate::scenario_runtime) fn is_used_up_at(&self, number: u64) -> bool {
        let rows = &self.users.states.rows;
        rows.is_used_up(&rows.ending, self.turn_of(0, number), &[])
    }

    /// Supplies the needed rows that the user does not have yet.
    fn supply(&mut self, user: u32, want: Want) -> Supply {
        if self.users.states.rows.wanted(want).is_empty() {
            return Supply::Here;
        }
        let (turn, is_starting) = self.turn_now(user);
        let states = &mut self.users.states;
        let held = &mut states.all[user as usize].rows;
        for place in 0..states.rows.wanted(want).len() {
            let feed = states.rows.wanted(want)[place];
            if held[usize::from(feed)].is_some() {
                continue;
            }
            match states.rows.draw(feed, turn, is_starting, held) {
                Supply::Here => {}
                other => return other,
            }
        }
        Supply::Here
    }

    /// Supplies the rows that a request is made of.
    pub(super) fn supply_step(&mut self, user: u32, step: u32) -> Supply {
        match self.supply(user, Want::Step(step)) {
            // What follows may depend on it.
            Supply::Here => self.supply(user, Want::Conditions),
            other => other,
        }
    }

    /// A user waits for rows that conditions use; it goes on when they are there. False when they are.
    pub(in crate::scenario_runtime) fn awaits_rows(&mut self, user: u32, turn: UserTurn) -> bool {
        // What was counted when it was due begins with an exchange, which waits itself. What is broken fails where it
        // is evaluated.
        if turn.is_counted || self.users.states.rows.of_conditions.is_empty() {
            return false;
        }
        let is_awaited = matches!(self.supply(user, Want::Conditions), Supply::OnItsWay);
        if is_awaited {
            self.users.states.rows.waiting.push_back(RowWaiter::User(user, turn));
        }
        is_awaited
    }

    /// An exchange waits for the rows of its request.
    #[cold]
    pub(in crate::scenario_runtime) fn await_rows(&mut self, exchange: Key, part: ForkPart) {
        self.users.states.rows.waiting.push_back(RowWaiter::Exchange(exchange, part));
    }

    /// Rows may have come: lets waiters go on.
    #[cold]
    pub(in crate::scenario_runtime) fn resume_row_waiters(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if !self.users.states.rows.has_news() {
            return;
        }
        let (mut left, mut still) = (self.users.states.rows.waiting.len(), VecDeque::new());
        while left > 0
            && still.len() < MISSES_MAX
            && let Some(one) = self.users.states.rows.waiting.pop_front()
        {
            left -= 1;
            match one {
                RowWaiter::Exchange(key, part) if self.resume_exchange(key, part, now, sockets) => {}
                RowWaiter::User(user, turn) if !self.is_awaited(user) => {
                    self.go_on_behind_rows(user, UserTurn { taken_up: now, ..turn }, now, sockets);
                }
                waits => still.push_back(waits),
            }
            self.advance_freed(sockets);
        }
        let waiting = &mut self.users.states.rows.waiting;
        still.into_iter().rev().for_each(|one| waiting.push_front(one));
    }

    fn is_awaited(&mut self, user: u32) -> bool {
        matches!(self.supply(user, Want::Conditions), Supply::OnItsWay)
    }

    /// False when its rows are still on their way.
    fn resume_exchange(&mut self, key: Key, part: ForkPart, now: Nanos, sockets: &mut dyn Sockets) -> bool {
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return true };
        let (user, step) = (exchange.user, exchange.step);
        if self.is_too_late(key, now) {
            self.drop_unsent(key, now);
            return true;
        }
        let made = self.step_for(user, step, part, sockets);
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return true };
        match made {
            Ok(None) => return false,
            Ok(Some(step)) => {
                // The wait until now was the generator's.
                (exchange.step, exchange.taken_up) = (step, now);
                self.try_exchange(key, sockets);
            }
            Err(failure) => {
                self.unreported.counts[Counter::Attempts] += u64::from(exchange.is_measured);
                self.end_exchange(key, None, Outcome::Failed(failure), now);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use plan::{OnFailure, Program, Think};

    use super::*;

    #[test]
    fn all_steps_and_conditions_of_a_program_are_found() {
        let ask = |step| Node::Ask { step, on_failure: OnFailure::GoOn };
        let way = |step| plan::Choice { weight: 1, nodes: vec![ask(step)] };
        let until = |condition, step| {
            let rounds = plan::Rounds::Condition { condition, is_until: true, most: 3, within: None };
            Node::Loop(plan::Loop { rounds, every: None, on_failure: OnFailure::Next, nodes: vec![ask(step)] })
        };
        let nodes = vec![
            ask(0),
            Node::If { condition: 7, then: vec![ask(1)], otherwise: vec![until(8, 2)] },
            Node::Transaction { number: 0, nodes: vec![Node::Repeat { least: 1, most: 2, nodes: vec![ask(3)] }] },
            Node::Choose(vec![way(4), way(5)]),
            Node::Shuffle(vec![ask(6), Node::Messaging { target: 0, nodes: vec![ask(7)] }]),
            Node::Parallel { most: 2, steps: vec![8, 9], optional: Vec::new(), on_failure: OnFailure::Next },
            Node::Think(Think::Fixed(std::time::Duration::ZERO)),
            Node::Barrier(0),
        ];
        let mut found = Found::default();
        found.walk(&Program { nodes, ..Program::default() }.nodes);
        assert_eq!((found.steps, found.expressions), ((0..10).collect(), vec![7, 8]));
    }
}
