//! The steps of a user in an iteration, as a list of operations that is executed without recursion: exchanges,
//! pauses, repetitions, choices, shuffles, several exchanges at a time, and reactions to failures.
//!
//! [`CompiledProgram`] is the same for all users of a shard. A user has a counter into it; only a program that draws,
//! repeats or times several exchanges as one has a [`Position`] for each user. One step again and again is none of
//! this: it takes a short path (`is_simple`). A random draw depends on the seed, the scenario, the user, its iteration
//! and the position in the program: it is the same on 1 shard and on 7. In an open load the number of the start
//! replaces the user.

mod draws;
mod place;
mod shape;

use std::sync::Arc;

use pacing::{Nanos, Random};
use plan::{Node, OnFailure, Program, Think};

use draws::{shuffle, think_span};
use place::Frame;
pub(crate) use place::{Fork, ForkPart, OpenConversation, OpenTransaction, Position};
use shape::{asks_first, first_step};

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
        steps: Arc<[u32]>,
        most: u16,
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
    /// A loop had too many rounds: this step fails.
    Limit {
        step: u32,
        on_failure: OnFailure,
    },
    /// The loop is over.
    Uncount,
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

/// The next action of a user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UserAction {
    /// The exchange of this step.
    Ask(u32),
    /// The exchanges of these steps, up to this number at a time.
    Fork(Arc<[u32]>, u16),
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
    /// Where `on_start` and `on_stop` begin: what each user does before its first iteration and after its last.
    pub(crate) start_at: Option<u32>,
    pub(crate) stop_at: Option<u32>,
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
        let mut code = Self {
            ops: Vec::new(),
            seed: program.seed,
            has_places: false,
            asks_first: asks_first(&program.nodes),
            counts_iterations: !program.is_one_exchange(),
            most: 1,
            transactions: program.transactions.iter().map(|transaction| transaction.has_pauses).collect(),
            start_at: None,
            stop_at: None,
        };
        code.add_all(&program.nodes);
        code.ops.push(Op::Over);
        code.start_at = code.add_setup_or_teardown(&program.start);
        code.stop_at = code.add_setup_or_teardown(&program.stop);
        let is_in_setup_or_teardown = code.start_at.is_some() || code.stop_at.is_some();
        code.has_places = is_in_setup_or_teardown || code.ops.iter().any(Op::needs_place);
        code
    }

    /// The program is one step, repeated.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.ops[..], [Op::Ask { on_failure: OnFailure::GoOn, .. }, Op::Over])
    }

    /// Users pause in the middle of iterations, or between them.
    pub(crate) fn thinks(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Think(_)))
    }

    /// Adds what is done outside iterations, if there is something.
    fn add_setup_or_teardown(&mut self, nodes: &[Node]) -> Option<u32> {
        let start = self.here();
        self.add_all(nodes);
        (!nodes.is_empty()).then(|| {
            self.ops.push(Op::Over);
            start
        })
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    fn add_all(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.add(node));
    }

    fn add(&mut self, node: &Node) {
        match node {
            Node::Ask { step, on_failure } => self.ops.push(Op::Ask { step: *step as u32, on_failure: *on_failure }),
            Node::Parallel { most, steps, on_failure } => {
                let steps: Arc<[u32]> = steps.iter().map(|step| *step as u32).collect();
                self.most = self.most.max(u64::from(*most).min(steps.len() as u64));
                self.ops.push(Op::Fork { steps, most: *most, on_failure: *on_failure });
            }
            Node::Think(think) => self.ops.push(Op::Think(*think)),
            Node::If { condition, then, otherwise } => self.add_if(*condition, then, otherwise),
            Node::Loop { condition, is_until, most, on_failure, nodes } => {
                let limit = Op::Limit { step: first_step(nodes).unwrap_or_default(), on_failure: once(*on_failure) };
                self.ops.push(Op::Count(*most));
                if *is_until {
                    self.add_until(*condition, nodes)
                } else {
                    self.add_while(*condition, nodes)
                };
                // A loop that reached its limit goes here, and continues from here.
                let place = self.here() - 1;
                self.ops[place as usize] = limit;
                self.ops.push(Op::Uncount);
            }
            Node::Barrier(number) => self.ops.push(Op::Barrier(*number)),
            Node::Messaging { target, nodes } => {
                self.ops.push(Op::Enter(*target as u16));
                self.add_all(nodes);
                self.ops.push(Op::Leave(*target as u16));
            }
            Node::Transaction { number, nodes } => {
                self.ops.push(Op::Begin(*number as u16));
                self.add_all(nodes);
                self.ops.push(Op::End(*number as u16));
            }
            Node::Repeat { least, most, nodes } => {
                let repeat = self.ops.len();
                self.ops.push(Op::Over);
                let start = self.here();
                self.add_all(nodes);
                self.ops.push(Op::Again { start });
                self.ops[repeat] = Op::Repeat { least: *least, most: *most, end: self.here() };
            }
            Node::Choose(choices) => {
                let choose = self.ops.len();
                self.ops.push(Op::Over);
                let (mut sum, mut ways, mut jumps) = (0, Vec::new(), Vec::new());
                for choice in choices {
                    sum += u64::from(choice.weight);
                    ways.push((sum, self.here()));
                    self.add_all(&choice.nodes);
                    jumps.push(self.ops.len());
                    self.ops.push(Op::Over);
                }
                let end = self.here();
                jumps.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
                self.ops[choose] = Op::Choose(ways.into());
            }
            Node::InTurn(nodes) => {
                let turn = self.ops.len();
                self.ops.push(Op::Over);
                let (mut ways, mut jumps) = (Vec::new(), Vec::new());
                for node in nodes {
                    ways.push(self.here());
                    self.add(node);
                    jumps.push(self.ops.len());
                    self.ops.push(Op::Over);
                }
                let end = self.here();
                jumps.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
                self.ops[turn] = Op::InTurn(ways.into());
            }
            Node::Shuffle(nodes) => {
                let shuffle = self.ops.len();
                self.ops.push(Op::Over);
                let mut parts = Vec::new();
                for node in nodes {
                    parts.push(self.here());
                    self.add(node);
                    self.ops.push(Op::Following);
                }
                self.ops[shuffle] = Op::Shuffle(parts.into(), self.here());
            }
        }
    }

    fn add_if(&mut self, condition: u32, then: &[Node], otherwise: &[Node]) {
        let decide = self.ops.len();
        self.ops.push(Op::Over);
        self.add_all(then);
        let jump = self.ops.len();
        if !otherwise.is_empty() {
            self.ops.push(Op::Over);
        }
        let step = first_step(then).or_else(|| first_step(otherwise)).unwrap_or_default();
        self.ops[decide] = Op::Decide { condition, step, otherwise: self.here() };
        self.add_all(otherwise);
        if !otherwise.is_empty() {
            self.ops[jump] = Op::Jump(self.here());
        }
    }

    /// A loop that tests at its end; it ends with an operation for the limit, after which the loop is over.
    fn add_until(&mut self, condition: u32, nodes: &[Node]) {
        let start = self.here();
        self.ops.push(Op::Over);
        self.add_all(nodes);
        let step = first_step(nodes).unwrap_or_default();
        self.ops.push(Op::Decide { condition, step, otherwise: start });
        self.ops.push(Op::Jump(self.here() + 2));
        self.ops[start as usize] = Op::Round { limit: self.here() };
        self.ops.push(Op::Over);
    }

    /// A loop that tests at its beginning.
    fn add_while(&mut self, condition: u32, nodes: &[Node]) {
        let start = self.here();
        self.ops.extend([Op::Over, Op::Over]);
        self.add_all(nodes);
        self.ops.push(Op::Jump(start));
        let (limit, step) = (self.here(), first_step(nodes).unwrap_or_default());
        self.ops[start as usize] = Op::Decide { condition, step, otherwise: limit + 1 };
        self.ops[start as usize + 1] = Op::Round { limit };
        self.ops.push(Op::Over);
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
            Some(Op::Ask { on_failure, .. } | Op::Fork { on_failure, .. } | Op::Limit { on_failure, .. }) => {
                *on_failure
            }
            // It is unknown where it would go on.
            Some(Op::Decide { .. }) => OnFailure::Next,
            _ => OnFailure::GoOn,
        }
    }

    /// The next action of a user. `begins`: when false, only what comes to its end is executed, and nothing is begun.
    pub(crate) fn advance(
        &self,
        counter: &mut u32,
        place: Option<&mut Position>,
        by: RandomKey,
        begins: bool,
    ) -> UserAction {
        let mut none = Position::default();
        let place = place.unwrap_or(&mut none);
        for _ in 0..OPS_MAX {
            let op = &self.ops[*counter as usize];
            if !begins && op.begins_something() {
                return UserAction::Wait;
            }
            let here = std::mem::replace(counter, *counter + 1);
            match op {
                Op::Ask { step, .. } => return UserAction::Ask(*step),
                Op::Fork { steps, most, .. } => return UserAction::Fork(steps.clone(), *most),
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
                    let rounds = if least == most {
                        *least
                    } else {
                        self.random(here, place, by).between((*least).into(), (*most).into()) as u32
                    };
                    match rounds.checked_sub(1) {
                        Some(left) => place.frames.push(Frame::Rounds(left)),
                        None => *counter = *end,
                    }
                }
                Op::Again { start } => match place.frames.last_mut() {
                    Some(Frame::Rounds(left)) if *left > 0 => (*left, *counter) = (*left - 1, *start),
                    _ => drop(place.frames.pop()),
                },
                Op::Decide { condition, step, .. } => return UserAction::Decide(*condition, *step),
                Op::Limit { step, .. } => return UserAction::Limit(*step),
                Op::Count(most) => place.frames.push(Frame::Rounds(*most)),
                Op::Uncount => drop(place.frames.pop()),
                Op::Round { limit } => match place.frames.last_mut() {
                    Some(Frame::Rounds(left)) if *left > 0 => *left -= 1,
                    _ => *counter = *limit,
                },
                Op::Choose(ways) => {
                    let sum = ways.last().map_or(0, |(sum, _)| *sum);
                    let drawn = self.random(here, place, by).below(sum);
                    *counter = ways[ways.partition_point(|(end, _)| *end <= drawn)].1;
                }
                Op::InTurn(ways) => {
                    *counter = ways[turn_of(by, place.iteration, ways.len())];
                }
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

/// A loop that had too many rounds is not retried.
fn once(on_failure: OnFailure) -> OnFailure {
    if let OnFailure::Retry(_) = on_failure { OnFailure::Next } else { on_failure }
}

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
        )
    }

    fn needs_place(&self) -> bool {
        match self {
            Self::Ask { on_failure, .. } => matches!(on_failure, OnFailure::Retry(_)),
            Self::Think(think) => !matches!(think, Think::Fixed(_)),
            Self::Over | Self::Jump(_) => false,
            _ => true,
        }
    }
}
