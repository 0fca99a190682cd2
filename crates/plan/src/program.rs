//! The program of a user's iteration: exchanges, pauses, and control flow.
//!
//! All random draws depend on the seed, the scenario, the user, its iteration and the position in the program alone:
//! they are the same on one thread and on seven.

mod assignment;
mod check;
mod figures;
mod measures;
mod retry;
mod retry_after;
mod rounds;

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::nesting::deeper;
pub use assignment::{AssignedTo, Assignment};
pub use figures::{FIGURES_MAX, Measurement, OwnFigure, OwnKind};
use measures::{asks_something, exactly, most, pause, widest};
pub use retry::{OnFailure, RETRIES_MAX, Retry, RetryFault};
pub use retry_after::retry_after;
pub use rounds::{ITEMS_MAX, Loop, Rounds};

/// The most nodes of a program.
pub const NODES_MAX: usize = 100_000;
/// The most rounds of one repetition.
pub const ROUNDS_MAX: u32 = 1_000_000;
/// The most concurrent exchanges of one user.
pub const PARALLEL_MAX: u16 = 256;
/// The maximum nesting of nodes.
pub const DEPTH_MAX: usize = 64;

/// The program of a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The seed of its random draws.
    pub seed: u64,
    /// The nodes of `on_start`, run once per user before its first iteration. On failure they are tried again later.
    pub start: Vec<Node>,
    /// The nodes of one iteration, in sequence.
    pub nodes: Vec<Node>,
    /// The nodes of `on_stop`, run once per user after its last iteration.
    pub stop: Vec<Node>,
    /// The transactions, by the number in [`Node::Transaction`].
    pub transactions: Vec<Transaction>,
    /// The names of the checks, by the number in [`Node::Check`].
    pub checks: Vec<String>,
    /// The retries, by the number in [`OnFailure::RetryBy`].
    pub retries: Vec<Retry>,
    /// The figures of the run, by the number in [`Measurement`]: the same in all of its scenarios.
    pub figures: Vec<OwnFigure>,
}

/// Several exchanges that are timed as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its name in reports.
    pub name: String,
    /// Whether its pauses are part of its time.
    pub has_pauses: bool,
    /// The time after which a success counts as missed, as in [`Step::deadline`](crate::Step::deadline).
    pub deadline: Option<Duration>,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// The exchange of a step.
    Ask {
        /// The number of the step.
        step: usize,
        /// The action on failure.
        on_failure: OnFailure,
    },
    /// A pause of the user; it is in no latency.
    Think(Think),
    /// Nodes that are timed as one. It counts once: as a success when all of its nodes completed.
    Transaction {
        /// Its number among the transactions.
        number: usize,
        /// The nodes in sequence.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// Nodes that begin again when one of them fails and nothing else follows that failure.
    Retried {
        /// Its number among the retries.
        retry: u16,
        /// Whether it is all of the transaction around it, which fails with its last try.
        is_whole: bool,
        /// The nodes in sequence.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// A repetition, with a random number of rounds.
    Repeat {
        /// The minimum number of rounds.
        least: u32,
        /// The maximum number of rounds.
        most: u32,
        /// The nodes in sequence.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// One of several alternatives, chosen by weight.
    Choose(Vec<Choice>),
    /// Each node once, in random order.
    Shuffle(#[serde(deserialize_with = "deeper")] Vec<Node>),
    /// One node in each iteration, in turn: users begin at different ones, and iterations at a rate take the next one.
    InTurn(#[serde(deserialize_with = "deeper")] Vec<Node>),
    /// A conditional.
    If {
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// The nodes when it is true.
        #[serde(deserialize_with = "deeper")]
        then: Vec<Node>,
        /// The nodes when it is false.
        #[serde(deserialize_with = "deeper")]
        otherwise: Vec<Node>,
    },
    /// A loop whose number of rounds is known only while it runs.
    Loop(Loop),
    /// Variables that are set, in order.
    Set(Vec<Assignment>),
    /// A condition that should be true. It is counted by itself, and is no request; a check that fails fails the
    /// transactions around it.
    Check {
        /// Its number among the checks.
        number: usize,
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// The action on failure.
        on_failure: OnFailure,
    },
    /// Values of figures.
    Record(Vec<Measurement>),
    /// A planned end: what is open around it ends well.
    End(PlannedEnd),
    /// A wait at the barrier with this number in the plan.
    Barrier(u32),
    /// Nodes with a connection of their own to this target, which ends with them.
    Messaging {
        /// The index of the target in the scenario.
        target: usize,
        /// The nodes in sequence.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// Concurrent exchanges of steps; the next node waits for all of them.
    Parallel {
        /// The maximum number at a time.
        most: u16,
        /// Their steps; waiting ones go first to last.
        steps: Vec<usize>,
        /// Those of them whose failure is none of the node.
        optional: Vec<usize>,
        /// The action when one of them fails.
        on_failure: OnFailure,
    },
}

/// The choice of the step of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OneOf {
    /// The next one.
    InTurn,
    /// A random one.
    Drawn,
}

/// An alternative of a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The weight, relative to those of the others.
    pub weight: u32,
    /// The nodes in sequence; an empty list does nothing.
    #[serde(deserialize_with = "deeper")]
    pub nodes: Vec<Node>,
}

/// A planned end of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlannedEnd {
    /// Of this round of the innermost loop.
    Round,
    /// Of the innermost loop.
    Loop,
    /// Of the iteration.
    Iteration,
    /// Of the user.
    User,
    /// Of the run, for this reason.
    Run(String),
}

/// A barrier at which users wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barrier {
    /// Its name in reports.
    pub name: String,
    /// The number of arrivals that releases the waiting users.
    pub users: u64,
    /// The longest wait of a user.
    pub within: Option<Duration>,
}

/// The length of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Think {
    /// Constant.
    Fixed(Duration),
    /// Uniformly distributed.
    Uniform(Duration, Duration),
    /// Exponentially distributed, with this mean.
    Exponential(Duration),
    /// Normally distributed, with a mean and a standard deviation; never below zero.
    Normal(Duration, Duration),
    /// Log-normally distributed: the median, and the standard deviation of the logarithm.
    LogNormal(Duration, f64),
}

/// An error in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFault {
    /// More than [`NODES_MAX`].
    TooLarge,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
    /// It refers to a step or a transaction that does not exist.
    Nowhere,
    /// A repetition from more to fewer rounds, or of more than [`ROUNDS_MAX`].
    Rounds,
    /// Weights that are all zero, or an empty choice.
    Weights,
    /// No exchange, or more at a time than [`PARALLEL_MAX`], or none at a time.
    Parallel,
    /// Nothing is ever requested.
    Idle,
    /// The end of a loop, or of a round, outside any loop.
    NoLoop,
    /// A retry that does not exist, or that nothing follows.
    Retry,
    /// A check that does not exist.
    NoCheck,
    /// A figure that does not exist, or has no valid step; or more than [`FIGURES_MAX`].
    Figures,
}

impl Program {
    /// Steps in sequence; a failure changes nothing.
    pub fn in_turn(steps: usize) -> Self {
        Self { nodes: asks(steps), ..Self::default() }
    }

    /// Each step once, in a new random order for each iteration of each user.
    pub fn shuffled(steps: usize, seed: u64) -> Self {
        Self { seed, nodes: vec![Node::Shuffle(asks(steps))], ..Self::default() }
    }

    /// One step in each iteration, in turn.
    pub fn one_in_turn(steps: usize) -> Self {
        Self { nodes: vec![Node::InTurn(asks(steps))], ..Self::default() }
    }

    /// One random step in each iteration.
    pub fn one_drawn(steps: usize, seed: u64) -> Self {
        let choices = asks(steps).into_iter().map(|node| Choice { weight: 1, nodes: vec![node] });
        Self { seed, nodes: vec![Node::Choose(choices.collect())], ..Self::default() }
    }

    /// One step, with a pause before it.
    pub fn after_pause(pause: Duration) -> Self {
        let mut program = Self::in_turn(1);
        program.nodes.insert(0, Node::Think(Think::Fixed(pause)));
        program
    }

    /// Whether its steps are in random order.
    pub fn is_shuffled(&self) -> bool {
        matches!(self.nodes[..], [Node::Shuffle(_)])
    }

    /// Whether each iteration requests one of its steps: a random one, or the next one.
    pub fn asks_one(&self) -> Option<OneOf> {
        let is_ask = |node: &Node| matches!(node, Node::Ask { .. });
        let is_equal = |choice: &Choice| choice.weight == 1 && matches!(&choice.nodes[..], [one] if is_ask(one));
        match &self.nodes[..] {
            [Node::InTurn(nodes)] if nodes.iter().all(is_ask) => Some(OneOf::InTurn),
            [Node::Choose(choices)] if choices.iter().all(is_equal) => Some(OneOf::Drawn),
            _ => None,
        }
    }

    /// Checks that it is valid for this number of steps.
    ///
    /// # Errors
    /// The error.
    pub fn check(&self, steps: usize) -> Result<(), ProgramFault> {
        if self.retries.iter().any(|retry| retry.fault().is_some()) {
            return Err(ProgramFault::Retry);
        }
        if self.figures.len() > FIGURES_MAX || !self.figures.iter().all(OwnFigure::is_valid) {
            return Err(ProgramFault::Figures);
        }
        let mut seen = 0;
        for nodes in [&self.start, &self.nodes, &self.stop] {
            self.check_nodes(nodes, steps, (DEPTH_MAX, false), &mut seen)?;
        }
        if asks_something(&self.nodes) { Ok(()) } else { Err(ProgramFault::Idle) }
    }

    /// The most requests that one iteration can make, with those of `on_start` and `on_stop`; `of_step`: those of one
    /// exchange of a step.
    pub fn requests_most(&self, of_step: &dyn Fn(usize) -> u64) -> u64 {
        [&self.start, &self.nodes, &self.stop]
            .into_iter()
            .fold(0, |sum, nodes| sum.saturating_add(most(nodes, &self.retries, of_step)))
    }

    /// The exchanges of each iteration, where chance and conditions do not change them, and there is no `on_start` or
    /// `on_stop`.
    pub fn asks_each(&self) -> Option<u64> {
        exactly(&self.nodes).filter(|_| !self.has_setup_or_teardown())
    }

    /// Whether there is an `on_start` or `on_stop`.
    pub fn has_setup_or_teardown(&self) -> bool {
        !self.start.is_empty() || !self.stop.is_empty()
    }

    /// The step that each iteration begins with, and the least deadline of the transactions around it; `None` where that
    /// is drawn, decided on the way, or no step.
    pub fn first_step(&self) -> Option<(usize, Option<Duration>)> {
        fn first(program: &Program, nodes: &[Node], around: Option<Duration>) -> Option<(usize, Option<Duration>)> {
            match nodes.iter().find(|node| !matches!(node, Node::Set(_) | Node::Check { .. }))? {
                Node::Ask { step, .. } => Some((*step, around)),
                Node::Retried { nodes, .. } => first(program, nodes, around),
                Node::Transaction { number, nodes } => {
                    let own = program.transactions.get(*number)?.deadline;
                    first(program, nodes, own.into_iter().chain(around).min())
                }
                _ => None,
            }
        }
        first(self, &self.nodes, None)
    }

    /// Whether an iteration is one exchange, with its redirects and perhaps pauses: then only exchanges are counted.
    pub fn is_one_exchange(&self) -> bool {
        let is_ask = |node: &Node| matches!(node, Node::Ask { .. });
        let is_plain = |node: &Node| match node {
            Node::Ask { on_failure, .. } => !on_failure.retries(),
            node => matches!(node, Node::Think(_)),
        };
        let asks = self.nodes.iter().filter(|node| is_ask(node)).count();
        !self.has_setup_or_teardown() && asks == 1 && self.nodes.iter().all(is_plain)
    }

    /// Whether there is a pause in an iteration.
    pub fn pauses(&self) -> bool {
        pause(&self.nodes)
    }

    /// Whether there is a retry.
    pub fn retries(&self) -> bool {
        self.asks_each().is_some_and(|each| self.requests_most(&|_| 1) > each)
    }

    /// Whether some retry waits as the server asks.
    pub fn waits_as_requested(&self) -> bool {
        self.retries.iter().any(|retry| retry.retry_after)
    }

    /// The barriers of its users, by their numbers in the plan; each once.
    pub fn barriers(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        [&self.start, &self.nodes, &self.stop].into_iter().for_each(|nodes| collect_barriers(nodes, &mut numbers));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The most concurrent exchanges of one iteration.
    pub fn parallel_most(&self) -> u64 {
        [&self.start, &self.nodes, &self.stop].into_iter().map(|nodes| widest(nodes)).max().unwrap_or(1)
    }
}

impl Node {
    /// The lists of nodes in it.
    pub fn inner(&self) -> impl Iterator<Item = &[Self]> {
        let (one, more, choices): (&[Self], &[Self], &[Choice]) = match self {
            Self::Transaction { nodes, .. }
            | Self::Retried { nodes, .. }
            | Self::Repeat { nodes, .. }
            | Self::Loop(Loop { nodes, .. })
            | Self::Messaging { nodes, .. }
            | Self::Shuffle(nodes)
            | Self::InTurn(nodes) => (nodes, &[], &[]),
            Self::If { then, otherwise, .. } => (then, otherwise, &[]),
            Self::Choose(choices) => (&[], &[], choices),
            Self::Ask { .. } | Self::Parallel { .. } | Self::Check { .. } => (&[], &[], &[]),
            Self::Think(_) | Self::Barrier(_) | Self::Set(_) | Self::Record(_) | Self::End(_) => (&[], &[], &[]),
        };
        [one, more].into_iter().chain(choices.iter().map(|choice| &choice.nodes[..]))
    }

    /// The action on failure of what can fail.
    pub fn on_failure(&self) -> OnFailure {
        match self {
            Self::Ask { on_failure, .. } | Self::Parallel { on_failure, .. } | Self::Check { on_failure, .. } => {
                *on_failure
            }
            Self::Loop(one) => one.on_failure,
            _ => OnFailure::GoOn,
        }
    }
}

fn asks(steps: usize) -> Vec<Node> {
    (0..steps).map(|step| Node::Ask { step, on_failure: OnFailure::GoOn }).collect()
}

fn collect_barriers(nodes: &[Node], numbers: &mut Vec<u32>) {
    for node in nodes {
        if let Node::Barrier(number) = node {
            numbers.push(*number);
        }
        node.inner().for_each(|nodes| collect_barriers(nodes, numbers));
    }
}
