//! Users execute their programs: the effect of an ended exchange on the iteration (`on_exchange_end`), and the next operation
//! (`run_program`).
//!
//! A user whose operations send nothing yields to others after a bounded number of them. At a rate an iteration may
//! begin with a pause; then its exchange is counted as started when it is sent, not when it was due: the rate stays
//! the same, however long users pause.

mod conversations;
mod instant;
mod on_failure;
mod parallel;
mod recording;
mod transactions;

use std::sync::Arc;

use driver::Sockets;
use metrics::{Counter, Failure, OwnFigure, OwnValue};
use pacing::Nanos;
use plan::Program;

use instant::AtOnce;

use crate::scenario_runtime::exchanges::Exchange;
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
pub(in crate::scenario_runtime) use parallel::Use;

use crate::program::{CompiledProgram, Position, RandomKey, UserAction};
use crate::user::{LastExchange, REFUSED_PAUSE, UserPhase};

/// Delay to the next iteration of a user whose iteration requested nothing: a loop of nothing would never end.
const NOTHING_PAUSE: Nanos = Nanos::from_millis(1);

/// Zero pauses, and beginnings and ends of transactions, that a user passes at a time.
const NOTHINGS_MAX: usize = 1_000;

/// Memory of a user with a position.
#[cfg(test)]
pub(in crate::scenario_runtime) const PLACE_BYTES: usize = size_of::<Position>();

/// The programs of the users of a shard.
pub(in crate::scenario_runtime) struct Programs {
    pub(in crate::scenario_runtime) code: Arc<CompiledProgram>,
    /// Users have `on_start` or `on_stop`.
    has_setup_or_teardown: bool,
    /// The ends of pauses are tracked, since something may end them earlier.
    knows_rests: bool,
    /// Positions of users that need one.
    places: Vec<Position>,
    /// The figures that users record into.
    figures: Arc<[OwnFigure]>,
    /// The values of one step, until all of them are known to be valid.
    values: Vec<(usize, OwnValue)>,
}

impl Programs {
    /// `has_places`: users need a position whatever they do. `may_leave`: their number may decrease.
    pub(in crate::scenario_runtime) fn new(program: &Program, steps: usize, has_places: bool, may_leave: bool) -> Self {
        let mut code = CompiledProgram::new(program, steps);
        let has_setup_or_teardown = code.start_at.is_some() || code.stop_at.is_some();
        let knows_rests = has_setup_or_teardown || (may_leave && code.thinks());
        code.has_places |= has_places || knows_rests;
        let figures: Arc<[OwnFigure]> = crate::series::own_figures(program).into();
        let values = Vec::with_capacity(figures.len());
        Self { code: Arc::new(code), has_setup_or_teardown, knows_rests, places: Vec::new(), figures, values }
    }

    pub(in crate::scenario_runtime) fn start_at(&self) -> Option<u32> {
        self.code.start_at
    }

    pub(in crate::scenario_runtime) fn stop_at(&self) -> Option<u32> {
        self.code.stop_at
    }

    /// Users have `on_start` or `on_stop`.
    pub(in crate::scenario_runtime) fn has_setup_or_teardown(&self) -> bool {
        self.has_setup_or_teardown
    }

    /// The ends of pauses are tracked.
    pub(in crate::scenario_runtime) fn knows_rests(&self) -> bool {
        self.knows_rests
    }

    /// The number of the iteration that a user is in, or was in last.
    pub(in crate::scenario_runtime) fn iteration(&self, user: u32) -> u64 {
        self.places.get(user as usize).map_or(0, |place| place.iteration)
    }

    /// Whether it is one exchange, repeated.
    pub(in crate::scenario_runtime) fn is_constant(&self) -> bool {
        self.code.is_constant()
    }

    /// Whether starts at a rate begin with the exchange of one step, and are counted when they are due. Where
    /// `on_start` spends from a budget too, a start that waits for it takes nothing away from it.
    pub(in crate::scenario_runtime) fn counts_due(&self, has_budget: bool) -> bool {
        self.code.asks_first && !(has_budget && self.start_at().is_some())
    }

    /// The most concurrent exchanges of one user.
    pub(in crate::scenario_runtime) fn most(&self) -> u64 {
        self.code.most
    }

    /// Executes the program of a user up to its next action and no further.
    fn advance(&mut self, user: u32, counter: &mut u32, drawer: RandomKey, begins: bool) -> UserAction {
        // Not through `place`, which would borrow the code too.
        let place = if self.code.has_places { self.places.get_mut(user as usize) } else { None };
        self.code.advance(counter, place, drawer, begins)
    }

    pub(in crate::scenario_runtime) fn place(&mut self, user: u32) -> Option<&mut Position> {
        if !self.code.has_places {
            return None;
        }
        let user = user as usize;
        if user >= self.places.len() {
            self.places.resize_with(user + 1, Position::default);
        }
        Some(&mut self.places[user])
    }
}

/// The turn of a user: what it has to do, and since when.
#[derive(Clone, Copy, Debug)]
pub(in crate::scenario_runtime) struct UserTurn {
    pub(in crate::scenario_runtime) intended: Nanos,
    pub(in crate::scenario_runtime) taken_up: Nanos,
    /// The exchange that begins now was counted when it was due.
    pub(in crate::scenario_runtime) is_counted: bool,
}

impl ScenarioRuntime {
    fn advance(&mut self, user: u32, begins: bool) -> UserAction {
        let drawer = self.drawer(user);
        let users = &mut self.users;
        users.programs.advance(user, &mut users.all[user as usize].counter, drawer, begins)
    }

    /// The key of its draws. Users of an open load only carry starts: the number is that of the iteration.
    pub(in crate::scenario_runtime) fn drawer(&self, user: u32) -> RandomKey {
        // `on_start` and `on_stop` have draws of their own.
        let number = match self.users.open {
            Some(_) if !self.is_in_setup_or_teardown(user) => u64::MAX,
            _ => self.user_number(user),
        };
        RandomKey { scenario: self.work.scenario, user: number }
    }

    /// The number of a user over all shards, from 0.
    pub(in crate::scenario_runtime) fn user_number(&self, user: u32) -> u64 {
        let (streams, user) = (u64::from(self.work.streams.max(1)), u64::from(user));
        self.work.segment.nth(user / streams) * streams + user % streams
    }

    /// An iteration begins. `number`: that of a start at a rate; users of a closed load count their own.
    pub(in crate::scenario_runtime) fn enter(&mut self, user: u32, is_measured: bool, number: Option<u64>) {
        let users = &mut self.users;
        let counts = users.programs.code.counts_iterations;
        let one = &mut users.all[user as usize];
        (one.is_inside, one.is_counted, one.counter) = (true, counts && is_measured, 0);
        users.inside += 1;
        users.states.begin(user);
        if let Some(place) = users.programs.place(user) {
            place.begin(number.unwrap_or(place.iteration + 1));
        }
        if number.is_none() && users.states.rows.reads_ahead() {
            self.order_rows_of_user(user, self.users.programs.iteration(user));
        }
    }

    /// A user has finished an iteration.
    fn complete(&mut self, user: u32) {
        self.end_setup_or_teardown(user, true);
        let one = &mut self.users.all[user as usize];
        one.counter = 0;
        if std::mem::take(&mut one.is_inside) {
            self.users.inside -= 1;
            self.unreported.counts[Counter::Iterations] += u64::from(std::mem::take(&mut one.is_counted));
        }
    }

    /// A user does not go on with its iteration.
    #[cold]
    pub(in crate::scenario_runtime) fn cut_iteration(&mut self, user: u32, at: Nanos, sockets: &mut dyn Sockets) {
        self.abandon(user, Counter::IterationsCut, at, sockets);
    }

    fn abandon(&mut self, user: u32, counter: Counter, at: Nanos, sockets: &mut dyn Sockets) {
        self.leave_conversations(user, sockets);
        // An iteration that the end of the load cuts did not fail, nor one of a user that is not needed any more; one
        // that goes no further because the target is unreachable did.
        let is_cut = counter == Counter::IterationsCut && (self.users.budget.is_over || self.has_lost_its_place(user));
        self.close_transactions(user, is_cut, at);
        self.end_setup_or_teardown(user, false);
        let one = &mut self.users.all[user as usize];
        one.counter = 0;
        if std::mem::take(&mut one.is_inside) {
            self.users.inside -= 1;
            self.unreported.counts[counter] += u64::from(std::mem::take(&mut one.is_counted));
            if counter == Counter::IterationsCut {
                self.users.lack_requests();
            }
        }
        if let Some(place) = self.users.programs.place(user) {
            (place.tries, place.fork) = (0, None);
        }
    }

    /// Measured iterations in progress.
    pub(in crate::scenario_runtime) fn counted_inside(&self) -> u64 {
        self.users.all.iter().filter(|one| one.is_inside && one.is_counted).count() as u64
    }

    /// Handles the end of an exchange, or of a pause, for the iteration of a user. `None` when others of its exchanges
    /// are in flight.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn on_exchange_end(
        &mut self,
        user: u32,
        view: LastExchange,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Option<LastExchange> {
        if !self.users.all[user as usize].is_inside {
            return Some(view);
        }
        let view = self.handle_fork(user, view, at, sockets)?;
        if matches!(view, LastExchange::Failed | LastExchange::NoConnection) {
            self.handle_failure(user, at, sockets);
        } else if let Some(place) = self.users.programs.place(user)
            && view == LastExchange::Ended
        {
            place.tries = 0;
        }
        if self.users.all[user as usize].is_inside {
            self.settle(user, at, sockets);
        }
        Some(view)
    }

    /// Executes what comes to its end with the exchange that was the last of it, and what takes no time.
    fn settle(&mut self, user: u32, at: Nanos, sockets: &mut dyn Sockets) {
        for _ in 0..NOTHINGS_MAX {
            if self.waits_before_try(user) {
                return;
            }
            match self.advance(user, false) {
                UserAction::End(number) => self.end_transaction(user, number, at),
                UserAction::Leave(target) => self.leave_conversation(user, target, sockets),
                UserAction::Over => return self.complete(user),
                UserAction::Wait => return,
                action => match self.do_at_once(user, action, at, sockets) {
                    AtOnce::Done => {}
                    AtOnce::Ended => return,
                    AtOnce::Pause(_) | AtOnce::Failed(..) | AtOnce::TakesTime => {
                        // It is evaluated again where it can fail.
                        self.users.all[user as usize].counter -= 1;
                        return;
                    }
                },
            }
        }
    }

    /// Lets a user in an iteration go on, or begin one: it sends a request, or it pauses. False when the iteration is
    /// over and it requested nothing.
    pub(in crate::scenario_runtime) fn run_program(
        &mut self,
        user: u32,
        turn: UserTurn,
        sockets: &mut dyn Sockets,
    ) -> bool {
        if self.awaits_rows(user, turn) {
            return true;
        }
        if let Some(wait) = self.wait_before_try(user) {
            self.pause_until(user, turn.intended + wait);
            return true;
        }
        let mut turn = turn;
        for _ in 0..NOTHINGS_MAX {
            let UserTurn { intended, taken_up, is_counted } = turn;
            let next = self.advance(user, true);
            if let Some(place) = self.users.programs.place(user) {
                place.failed = None;
                if !place.failures.is_empty() {
                    self.settle_failures(user);
                }
            }
            match next {
                UserAction::Ask(step) if is_counted => self.begin_due(user, step, intended, taken_up, sockets),
                UserAction::Ask(step) => self.begin_exchange(user, step, intended, taken_up, sockets),
                UserAction::Fork(steps) => {
                    if !self.begin_fork(user, steps, turn, sockets) {
                        continue;
                    }
                }
                UserAction::Think(Nanos::ZERO) => continue,
                UserAction::Think(span) => self.think(user, span, intended),
                UserAction::Barrier(barrier) => {
                    if let Some(passes_at) = self.arrive(user, barrier, intended, sockets.now()) {
                        (turn.intended, turn.taken_up) = (passes_at, taken_up.max(passes_at));
                        continue;
                    }
                }
                UserAction::Begin(_) | UserAction::End(_) | UserAction::Enter(_) | UserAction::Leave(_) => {
                    self.cross_border(user, &next, intended, sockets);
                    continue;
                }
                UserAction::Limit(step) => self.fail_step(user, step, Failure::LoopLimit, turn, sockets),
                UserAction::Over | UserAction::Wait => {
                    self.complete(user);
                    return false;
                }
                action => match self.do_at_once(user, action, intended, sockets) {
                    // A check that failed may begin a block again, after a wait.
                    AtOnce::Done => match self.wait_before_try(user) {
                        None => continue,
                        Some(wait) => self.pause_until(user, intended + wait),
                    },
                    AtOnce::Pause(span) => self.think(user, span, intended),
                    AtOnce::Failed(step, failure, why) => {
                        self.in_flight.why = why;
                        self.fail_step(user, step, failure, turn, sockets);
                    }
                    AtOnce::Ended | AtOnce::TakesTime => return false,
                },
            }
            return true;
        }
        // Other users have their turn.
        self.pause_until(user, turn.intended.max(turn.taken_up) + NOTHING_PAUSE);
        true
    }

    /// A transaction or a conversation begins or ends.
    fn cross_border(&mut self, user: u32, border: &UserAction, at: Nanos, sockets: &mut dyn Sockets) {
        match *border {
            UserAction::Begin(number) => self.begin_transaction(user, number, at),
            UserAction::End(number) => self.end_transaction(user, number, at),
            UserAction::Enter(target) => self.enter_conversation(user, target, sockets),
            UserAction::Leave(target) => self.leave_conversation(user, target, sockets),
            _ => {}
        }
    }

    /// A step fails before anything of it begins.
    #[cold]
    fn fail_step(&mut self, user: u32, step: u32, failure: Failure, turn: UserTurn, sockets: &mut dyn Sockets) {
        let exchange = Exchange::new(user, step, turn.intended, turn.taken_up, self.instants.counts_from);
        let counter = self.counter_of(step, turn.intended);
        self.unreported.counts[counter] += u64::from(exchange.is_measured && !turn.is_counted);
        self.fail_unmade(exchange, failure, sockets);
    }

    fn think(&mut self, user: u32, span: Nanos, intended: Nanos) {
        let users = &mut self.users;
        let code = users.programs.code.clone();
        if let Some(place) = users.programs.place(user) {
            place.rest(intended, span, &code.transactions);
        }
        self.pause_until(user, intended + span);
    }

    /// The user comes back at this instant.
    pub(in crate::scenario_runtime) fn pause_until(&mut self, user: u32, at: Nanos) {
        if self.users.programs.knows_rests()
            && let Some(place) = self.users.programs.place(user)
        {
            place.wakes_at = Some(at);
        }
        self.timers.insert(at, TimerEntry::User { user, at });
    }

    /// A user of a closed load goes on in its program.
    pub(in crate::scenario_runtime) fn act_in_program(
        &mut self,
        user: u32,
        view: LastExchange,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let one = self.users.all[user as usize];
        let is_spent = if one.is_inside { self.users.budget.is_over } else { self.users.budget.is_spent() };
        if (is_spent || one.is_leaving) && one.stage != UserPhase::Stopping {
            self.cut_iteration(user, now, sockets);
            return self.leave(user, UserTurn { intended, taken_up: now, is_counted: false }, sockets);
        }
        if one.stage == UserPhase::Stopping && !one.is_inside {
            return self.leave(user, UserTurn { intended, taken_up: now, is_counted: false }, sockets);
        }
        if !one.is_inside && matches!(one.stage, UserPhase::New | UserPhase::Starting) && self.lacks_rows_to_start(user)
        {
            self.users.all[user as usize].is_leaving = true;
            return self.leave(user, UserTurn { intended, taken_up: now, is_counted: false }, sockets);
        }
        if self.starts_later(user, intended, now, sockets) {
            return;
        }
        if view == LastExchange::NoConnection {
            return self.pause_until(user, intended + REFUSED_PAUSE);
        }
        if !one.is_inside && (self.has_had_all(user) || self.is_used_up(user)) {
            self.users.all[user as usize].is_leaving = true;
            return self.leave(user, UserTurn { intended, taken_up: now, is_counted: false }, sockets);
        }
        if !one.is_inside && self.is_paced(user, intended) {
            return;
        }
        if !one.is_inside {
            let is_measured = intended >= self.instants.measured_from;
            self.users.budget.take(is_measured);
            self.draw_own(user, now);
            self.enter(user, is_measured, None);
        }
        let turn = UserTurn { intended, taken_up: now, is_counted: false };
        if !self.run_program(user, turn, sockets) {
            self.pause_until(user, intended.max(now) + NOTHING_PAUSE);
        }
    }

    /// A user that waited for rows goes on.
    pub(in crate::scenario_runtime) fn go_on_behind_rows(
        &mut self,
        user: u32,
        turn: UserTurn,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if self.users.budget.is_over {
            // Nothing is begun any more.
            return self.advance_user(user, LastExchange::Rested, now, now, sockets);
        }
        if self.run_program(user, turn, sockets) {
            return;
        }
        if self.users.open.is_some() {
            return self.advance_user(user, LastExchange::Rested, now, now, sockets);
        }
        self.pause_until(user, now + NOTHING_PAUSE);
    }

    /// A user of an open load goes on in the middle of its iteration; false when it has none, or does not go on.
    pub(in crate::scenario_runtime) fn goes_on_open(
        &mut self,
        user: u32,
        view: LastExchange,
        intended: Nanos,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        if !self.users.all[user as usize].is_inside {
            return false;
        }
        let tries = |place: &mut Position| place.tries > 0 || place.tries_block_again();
        let tries_again = self.users.programs.place(user).is_some_and(tries);
        if self.is_over_for(user) || (view == LastExchange::NoConnection && !tries_again) {
            self.cut_iteration(user, now, sockets);
            return false;
        }
        if view == LastExchange::NoConnection {
            self.pause_until(user, intended + REFUSED_PAUSE);
            return true;
        }
        self.run_program(user, UserTurn { intended, taken_up: now, is_counted: false }, sockets)
    }
}
