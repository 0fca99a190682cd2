//! The steps of a user in an iteration, as a list of operations that is executed without recursion: exchanges,
//! pauses, repetitions, choices, shuffles, several exchanges at a time, and reactions to failures.
//!
//! [`CompiledProgram`] is the same for all users of a shard. A user has a counter into it; only a program that draws,
//! repeats or times several exchanges as one has a [`Position`] for each user. One step again and again is none of
//! this: it takes a short path (`is_simple`). A random draw depends on the seed, the scenario, the user, its iteration
//! and the position in the program: it is the same on 1 shard and on 7. In an open load the number of the start
//! replaces the user.

mod compile;
mod draws;
mod open_failures;
mod place;
mod shape;

use std::sync::Arc;

use pacing::{Nanos, Random};
use plan::{Assignment, Measurement, OnFailure, Program, Retry, Think};

use compile::Compiler;
use draws::{shuffle, think_span};
use place::Frame;
pub(crate) use place::{Fork, ForkPart, ForkSteps, OpenConversation, OpenTransaction, Position, RoundStart};
use shape::asks_first;

/// Operations that a user executes at a time; then other users have their turn, and it goes on after a [`BREATH`].
const OPS_MAX: usize = 10_000;
const BREATH: Nanos = Nanos::from_millis(1);

/// An operation of a program.
#[derive(Clone, Debug)]
enum Op {
    Ask {
        step: u32,
        on_failure: OnFailure,
    },
    Fork {
        fork: Arc<ForkSteps>,
        on_failure: OnFailure,
    },
    Think(Think),
    Barrier(u32),
    Begin(u16),
    End(u16),
    /// A conversation with this target begins.
    Enter(u16),
    /// The conversation is over.
    Leave(u16),
    /// Operations begin that are tried again together; `end`: where they end. `is_whole`: they are all of the
    /// transaction around them, whose end is the operation there.
    Try {
        retry: u16,
        end: u32,
        is_whole: bool,
    },
    /// The rounds of a repetition are drawn; with none it goes to `end`.
    Repeat {
        least: u32,
        most: u32,
        end: u32,
    },
    /// A round is over.
    Again {
        start: u32,
    },
    /// A condition is evaluated; when it is false it goes to `otherwise`. An evaluation that fails counts as a failure
    /// of this step.
    Decide {
        condition: u32,
        step: u32,
        otherwise: u32,
    },
    /// A loop of at most this many rounds begins.
    Count(u32),
    /// A round begins; when there are none left it goes to `limit`.
    Round {
        limit: u32,
    },
    /// A loop that goes by the clock or by a list begins.
    Open(LoopLimits),
    /// Its list, or its number of rounds, is evaluated. An evaluation that fails is a failure of this step.
    Gather {
        gathered: Gathered,
        step: u32,
        on_failure: OnFailure,
    },
    /// A round of such a loop begins; `limit`: where it goes when none is left.
    TimedRound {
        limit: u32,
        variable: Option<u32>,
    },
    /// A loop had too many rounds: this step fails.
    Limit {
        step: u32,
        on_failure: OnFailure,
    },
    /// The loop is over, or what is tried again together.
    Uncount,
    /// Variables are set; a value that cannot be made is a failure of this step.
    Set(Arc<[Assignment]>, u32),
    /// Figures get values; one that is no value of its figure is a failure of this step.
    Record(Arc<[Measurement]>, u32),
    /// A check.
    Check {
        number: u32,
        condition: u32,
        on_failure: OnFailure,
    },
    /// Loops, shuffles and what is tried again are left: this many.
    Drop(u32),
    /// The user leaves, as planned.
    Stop,
    /// The run ends, for this reason.
    StopRun(Arc<str>),
    /// A weighted choice: the ends of the ranges of the weights, and their targets.
    Choose(Arc<[(u64, u32)]>),
    Jump(u32),
    /// Branches that take turns, one in each iteration.
    InTurn(Arc<[u32]>),
    /// A shuffle: where its parts begin, and what follows it.
    Shuffle(Arc<[u32]>, u32),
    /// A part of a shuffle is over.
    Following,
    Over,
}

/// The limits of a loop that goes by the clock or by a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopLimits {
    /// The most rounds.
    pub(crate) most: u32,
    /// The time after which no round begins.
    pub(crate) within: Option<Nanos>,
    /// The time from one round to the next.
    pub(crate) every: Option<Nanos>,
}

/// What a loop goes by, by its number among the expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    Items(u32),
    Times(u32),
}

/// What is left when a failure ends a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopExit {
    /// Open transactions and conversations in the loop.
    pub(crate) transactions: usize,
    pub(crate) conversations: usize,
    /// Loops, shuffles and what is tried again, with this loop.
    pub(crate) frames: usize,
    /// Where it goes on.
    pub(crate) to: u32,
}

/// The next action of a user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UserAction {
    /// The exchange of this step.
    Ask(u32),
    /// Concurrent exchanges.
    Fork(Arc<ForkSteps>),
    /// A pause.
    Think(Nanos),
    /// The user waits for others at this barrier.
    Barrier(u32),
    /// A transaction begins.
    Begin(u16),
    /// The transaction is over.
    End(u16),
    /// A conversation with this target begins, on a connection of its own.
    Enter(u16),
    /// The conversation is over.
    Leave(u16),
    /// A condition to evaluate, for [`CompiledProgram::decide`]. When it has no value, this step fails.
    Decide(u32, u32),
    /// This step fails: a loop had too many rounds.
    Limit(u32),
    /// A loop begins that goes by the clock or by a list.
    Open(LoopLimits),
    /// A list or a number of rounds to evaluate. When it has no value, this step fails.
    Gather(Gathered, u32),
    /// A round of a loop that goes by the clock or by a list begins, with its item in this variable; where it goes when
    /// there is none.
    Round(Option<u32>, u32),
    /// Variables to set. When a value cannot be made, this step fails.
    Set(Arc<[Assignment]>, u32),
    /// Values of figures. When one is no value of its figure, this step fails.
    Record(Arc<[Measurement]>, u32),
    /// A check with this number: its condition.
    Check(u32, u32),
    /// The user leaves, as planned.
    Stop,
    /// The run ends, for this reason.
    StopRun(Arc<str>),
    /// The iteration is over.
    Over,
    /// The next action would begin something.
    Wait,
}

/// A compiled program.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    ops: Vec<Op>,
    seed: u64,
    /// Users need a [`Position`].
    pub(crate) has_places: bool,
    /// Every iteration begins with the exchange of one step, whatever is drawn.
    pub(crate) asks_first: bool,
    /// An iteration is more than one exchange.
    pub(crate) counts_iterations: bool,
    /// The most concurrent exchanges of one user.
    pub(crate) most: u64,
    /// For each transaction, whether its pauses are part of its time.
    pub(crate) transactions: Vec<bool>,
    /// For each transaction, the time after which its success counts as missed; never without one.
    pub(crate) deadlines: Vec<Nanos>,
    /// Where `on_start` and `on_stop` begin: what each user does before its first iteration and after its last.
    pub(crate) start_at: Option<u32>,
    pub(crate) stop_at: Option<u32>,
    /// Retries, by their numbers.
    pub(crate) retries: Vec<Retry>,
    /// The ends of loops by failures, by the operation that fails; in order.
    exits: Vec<(u32, LoopExit)>,
}

/// The key of random draws: see [`plan::Program`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomKey {
    pub(crate) scenario: usize,
    pub(crate) user: u64,
}

impl CompiledProgram {
    /// # Panics
    /// When the program was not checked.
    pub(crate) fn new(program: &Program, steps: usize) -> Self {
        program.check(steps).expect("a plan is checked before it runs");
        let mut compiler = Compiler::default();
        compiler.add_all(&program.nodes);
        compiler.end();
        let (start_at, stop_at) = (compiler.add_apart(&program.start), compiler.add_apart(&program.stop));
        let is_in_setup_or_teardown = start_at.is_some() || stop_at.is_some();
        let (ops, exits, most) = compiler.into_parts();
        Self {
            has_places: is_in_setup_or_teardown || ops.iter().any(Op::needs_place),
            ops,
            seed: program.seed,
            asks_first: asks_first(&program.nodes),
            counts_iterations: !program.is_one_exchange(),
            most,
            transactions: program.transactions.iter().map(|transaction| transaction.has_pauses).collect(),
            deadlines: program.transactions.iter().map(|one| one.deadline.map_or(Nanos::NEVER, Nanos::from)).collect(),
            start_at,
            stop_at,
            retries: program.retries.clone(),
            exits,
        }
    }

    /// The program is one step, repeated.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.ops[..], [Op::Ask { on_failure: OnFailure::GoOn, .. }, Op::Over])
    }

    /// Users pause in the middle of iterations, or between them.
    pub(crate) fn thinks(&self) -> bool {
        let waits = |op: &Op| matches!(op, Op::Think(_)) || matches!(op, Op::Open(limits) if limits.every.is_some());
        !self.retries.is_empty() || self.ops.iter().any(waits)
    }

    /// Continues after the condition that was evaluated last.
    pub(crate) fn decide(&self, counter: &mut u32, is_true: bool) {
        let last = counter.checked_sub(1).map(|last| &self.ops[last as usize]);
        if let Some(Op::Decide { otherwise, .. }) = last
            && !is_true
        {
            *counter = *otherwise;
        }
    }

    /// What follows when the last requested exchange fails.
    pub(crate) fn on_failure(&self, counter: u32) -> OnFailure {
        let last = counter.checked_sub(1).map(|last| &self.ops[last as usize]);
        match last {
            Some(
                Op::Ask { on_failure, .. }
                | Op::Fork { on_failure, .. }
                | Op::Limit { on_failure, .. }
                | Op::Gather { on_failure, .. }
                | Op::Check { on_failure, .. },
            ) => *on_failure,
            // It is unknown where it would go on.
            Some(Op::Decide { .. } | Op::Set(..) | Op::Record(..)) => OnFailure::Next,
            _ => OnFailure::GoOn,
        }
    }

    /// What the failure of the last operation leaves, when it ends a loop.
    pub(crate) fn exit(&self, counter: u32) -> Option<LoopExit> {
        let last = counter.checked_sub(1)?;
        let place = self.exits.binary_search_by_key(&last, |(op, _)| *op).ok()?;
        Some(self.exits[place].1)
    }

    /// The next action of a user. `begins`: when false, only what comes to its end is executed, and nothing is begun.
    pub(crate) fn advance(
        &self,
        counter: &mut u32,
        place: Option<&mut Position>,
        by: RandomKey,
        begins: bool,
    ) -> UserAction {
        // Made only where there is none.
        let mut none = None;
        let place = place.unwrap_or_else(|| none.insert(Position::default()));
        for _ in 0..OPS_MAX {
            let op = &self.ops[*counter as usize];
            if !begins && op.begins_something() {
                return UserAction::Wait;
            }
            let here = std::mem::replace(counter, *counter + 1);
            match op {
                Op::Ask { step, .. } => return UserAction::Ask(*step),
                Op::Fork { fork, .. } => return UserAction::Fork(fork.clone()),
                Op::Think(think) => return UserAction::Think(self.span(*think, || self.random(here, place, by))),
                Op::Barrier(number) => return UserAction::Barrier(*number),
                Op::Begin(number) => return UserAction::Begin(*number),
                Op::End(number) => return UserAction::End(*number),
                Op::Enter(target) => return UserAction::Enter(*target),
                Op::Leave(target) => return UserAction::Leave(*target),
                Op::Over => {
                    *counter = here;
                    return UserAction::Over;
                }
                Op::Jump(to) => *counter = *to,
                Op::Repeat { least, most, end } => {
                    let draws = least != most;
                    let rounds = if draws { self.draw_rounds(here, place, by, (*least, *most)) } else { *least };
                    match rounds.checked_sub(1) {
                        Some(left) => place.frames.push(Frame::Rounds { begun: 1, left }),
                        None => *counter = *end,
                    }
                }
                Op::Again { start } if place.begins_round() => *counter = *start,
                Op::Again { .. } => place.drop_frames(1),
                Op::Decide { condition, step, .. } => return UserAction::Decide(*condition, *step),
                Op::Limit { step, .. } => return UserAction::Limit(*step),
                Op::Count(most) => place.frames.push(Frame::Rounds { begun: 0, left: *most }),
                Op::Try { retry, end, is_whole } => place.open_block(*retry, *counter, (*end, *is_whole)),
                Op::Uncount => place.drop_frames(1),
                Op::Drop(frames) => place.drop_frames(*frames as usize),
                Op::Round { .. } if place.begins_round() => {}
                Op::Round { limit } => *counter = *limit,
                Op::Open(limits) => return UserAction::Open(*limits),
                Op::Gather { gathered, step, .. } => return UserAction::Gather(*gathered, *step),
                Op::TimedRound { limit, variable } => return UserAction::Round(*variable, *limit),
                Op::Set(assignments, step) => return UserAction::Set(assignments.clone(), *step),
                Op::Record(measurements, step) => return UserAction::Record(measurements.clone(), *step),
                Op::Check { number, condition, .. } => return UserAction::Check(*number, *condition),
                Op::Stop => {
                    *counter = here;
                    return UserAction::Stop;
                }
                Op::StopRun(reason) => {
                    *counter = here;
                    return UserAction::StopRun(reason.clone());
                }
                Op::Choose(ways) => *counter = self.draw_way(here, place, by, ways),
                Op::InTurn(ways) => *counter = ways[turn_of(by, place.iteration, ways.len())],
                Op::Shuffle(parts, end) => {
                    let mut order = parts.to_vec();
                    shuffle(&mut order, &mut self.random(here, place, by));
                    place.frames.push(Frame::Parts(order, *end));
                    *counter = place.following();
                }
                Op::Following => *counter = place.following(),
            }
        }
        UserAction::Think(BREATH)
    }

    /// The number of rounds of a loop whose number is random.
    fn draw_rounds(&self, here: u32, place: &mut Position, by: RandomKey, (least, most): (u32, u32)) -> u32 {
        self.random(here, place, by).between(least.into(), most.into()) as u32
    }

    /// The start of one of several ways, by their weights.
    fn draw_way(&self, here: u32, place: &mut Position, by: RandomKey, ways: &[(u64, u32)]) -> u32 {
        let sum = ways.last().map_or(0, |(sum, _)| *sum);
        let drawn = self.random(here, place, by).below(sum);
        ways[ways.partition_point(|(end, _)| *end <= drawn)].1
    }

    /// The random draws of one operation, each time it is executed.
    fn random(&self, here: u32, place: &mut Position, by: RandomKey) -> Random {
        let draw = place.draw();
        self.random_of(here, place, by, draw)
    }

    fn random_of(&self, here: u32, place: &Position, by: RandomKey, draw: u32) -> Random {
        let of_scenario = Random::for_stream(self.seed, by.scenario as u64).next_u64();
        let of_user = Random::for_stream(of_scenario, by.user).next_u64();
        let of_iteration = Random::for_stream(of_user, place.iteration).next_u64();
        Random::for_stream(of_iteration, u64::from(here) << 32 | u64::from(draw))
    }

    /// The random draws of the exchange of a step.
    pub(crate) fn random_for(&self, step: u32, place: &mut Position, by: RandomKey) -> Random {
        self.random(u32::MAX - step, place, by)
    }

    /// The random draws of one of several concurrent exchanges, whatever the others have drawn before.
    pub(crate) fn random_for_part(&self, step: u32, place: &Position, by: RandomKey, stream: u64) -> Random {
        let draw = place.fork.as_ref().map_or(0, |fork| fork.draw);
        Random::for_stream(self.random_of(u32::MAX - step, place, by, draw).next_u64(), stream)
    }

    fn span(&self, think: Think, random: impl FnOnce() -> Random) -> Nanos {
        if let Think::Fixed(span) = think { span.into() } else { think_span(think, &mut random()) }
    }
}

/// Which of `count` branches has its turn. A user that only carries scheduled starts has no number of its own; users
/// begin far from each other.
fn turn_of(by: RandomKey, iteration: u64, count: usize) -> usize {
    let count = count as u64;
    let turn = match by.user {
        u64::MAX => iteration,
        user => {
            let place = (u128::from(user.wrapping_mul(GOLDEN)) * u128::from(count)) >> 64;
            (place as u64).wrapping_add(iteration.saturating_sub(1))
        }
    };
    (turn % count) as usize
}

/// The golden ratio as a part of 2^64: multiples of it lie far from each other.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Op {
    fn begins_something(&self) -> bool {
        !matches!(
            self,
            Self::End(_)
                | Self::Leave(_)
                | Self::Again { .. }
                | Self::Jump(_)
                | Self::Following
                | Self::Over
                | Self::Decide { .. }
                | Self::Count(_)
                | Self::Round { .. }
                | Self::Uncount
                | Self::Drop(_)
                | Self::Set(..)
                | Self::Record(..)
                | Self::Check { .. }
                | Self::Stop
                | Self::StopRun(_)
        )
    }

    fn needs_place(&self) -> bool {
        match self {
            Self::Ask { on_failure, .. } => on_failure.retries(),
            Self::Think(think) => !matches!(think, Think::Fixed(_)),
            Self::Over | Self::Jump(_) | Self::Stop | Self::StopRun(_) => false,
            _ => true,
        }
    }
}
