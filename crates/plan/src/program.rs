//! The program of a user's iteration: exchanges, pauses, and control flow.
//!
//! All random draws depend on the seed, the scenario, the user, its iteration and the position in the program alone:
//! they are the same on one thread and on seven.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::nesting::deeper;

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
}

/// Several exchanges that are timed as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its name in reports.
    pub name: String,
    /// Whether its pauses are part of its time.
    pub has_pauses: bool,
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
    /// A loop with a condition.
    Loop {
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// Whether the condition is checked after each round, and ends the loop when true; otherwise it is checked
        /// before each round, and ends the loop when false.
        is_until: bool,
        /// The maximum number of rounds, after which it fails.
        most: u32,
        /// The action on failure.
        on_failure: OnFailure,
        /// The nodes in sequence.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
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

/// The action after a failed exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// Continue as after a success.
    #[default]
    GoOn,
    /// End the iteration, and fail the enclosing transaction.
    Next,
    /// Repeat the exchange, at most this many times; then end the iteration.
    Retry(u16),
    /// The user leaves; in an open load its iteration ends.
    Stop,
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
        let mut seen = 0;
        for nodes in [&self.start, &self.nodes, &self.stop] {
            self.check_nodes(nodes, steps, DEPTH_MAX, &mut seen)?;
        }
        if asks_something(&self.nodes) { Ok(()) } else { Err(ProgramFault::Idle) }
    }

    /// The most requests that one iteration can make, with those of `on_start` and `on_stop`; `of_step`: those of one
    /// exchange of a step.
    pub fn requests_most(&self, of_step: &dyn Fn(usize) -> u64) -> u64 {
        [&self.start, &self.nodes, &self.stop]
            .into_iter()
            .fold(0, |sum, nodes| sum.saturating_add(most(nodes, of_step)))
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

    /// Whether an iteration is one exchange, with its redirects and perhaps pauses: then only exchanges are counted.
    pub fn is_one_exchange(&self) -> bool {
        let is_ask = |node: &Node| matches!(node, Node::Ask { .. });
        let is_plain = |node: &Node| match node {
            Node::Ask { on_failure, .. } => !matches!(on_failure, OnFailure::Retry(_)),
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

    fn check_nodes(&self, nodes: &[Node], steps: usize, depth: usize, seen: &mut usize) -> Result<(), ProgramFault> {
        *seen += nodes.len();
        if *seen > NODES_MAX {
            return Err(ProgramFault::TooLarge);
        }
        let Some(depth) = depth.checked_sub(1) else { return Err(ProgramFault::TooDeep) };
        for node in nodes {
            match node {
                Node::Ask { step, .. } if *step >= steps => return Err(ProgramFault::Nowhere),
                Node::Ask { .. } | Node::Think(_) | Node::Barrier(_) => {}
                Node::Loop { most, .. } if *most > ROUNDS_MAX => return Err(ProgramFault::Rounds),
                Node::Loop { nodes, .. } | Node::Messaging { nodes, .. } => {
                    self.check_nodes(nodes, steps, depth, seen)?
                }
                Node::If { then, otherwise, .. } => {
                    self.check_nodes(then, steps, depth, seen)?;
                    self.check_nodes(otherwise, steps, depth, seen)?;
                }
                Node::Transaction { number, nodes } => {
                    if *number >= self.transactions.len() {
                        return Err(ProgramFault::Nowhere);
                    }
                    self.check_nodes(nodes, steps, depth, seen)?;
                }
                Node::Repeat { least, most, nodes } => {
                    if least > most || *most > ROUNDS_MAX {
                        return Err(ProgramFault::Rounds);
                    }
                    self.check_nodes(nodes, steps, depth, seen)?;
                }
                Node::Choose(choices) => {
                    if choices.iter().all(|choice| choice.weight == 0) {
                        return Err(ProgramFault::Weights);
                    }
                    for choice in choices {
                        *seen += 1;
                        self.check_nodes(&choice.nodes, steps, depth, seen)?;
                    }
                }
                Node::InTurn(nodes) if nodes.is_empty() => return Err(ProgramFault::Weights),
                Node::Shuffle(nodes) | Node::InTurn(nodes) => self.check_nodes(nodes, steps, depth, seen)?,
                Node::Parallel { most, steps: own, .. } => {
                    *seen += own.len();
                    if own.is_empty() || !(1..=PARALLEL_MAX).contains(most) {
                        return Err(ProgramFault::Parallel);
                    }
                    if own.iter().any(|step| *step >= steps) {
                        return Err(ProgramFault::Nowhere);
                    }
                }
            }
        }
        Ok(())
    }
}

fn asks(steps: usize) -> Vec<Node> {
    (0..steps).map(|step| Node::Ask { step, on_failure: OnFailure::GoOn }).collect()
}

fn collect_barriers(nodes: &[Node], numbers: &mut Vec<u32>) {
    for node in nodes {
        match node {
            Node::Barrier(number) => numbers.push(*number),
            Node::Ask { .. } | Node::Think(_) | Node::Parallel { .. } => {}
            Node::If { then, otherwise, .. } => {
                collect_barriers(then, numbers);
                collect_barriers(otherwise, numbers);
            }
            Node::Choose(choices) => choices.iter().for_each(|choice| collect_barriers(&choice.nodes, numbers)),
            Node::Transaction { nodes, .. }
            | Node::Repeat { nodes, .. }
            | Node::Loop { nodes, .. }
            | Node::Messaging { nodes, .. }
            | Node::Shuffle(nodes)
            | Node::InTurn(nodes) => collect_barriers(nodes, numbers),
        }
    }
}

/// The exchanges of these nodes, where that number is fixed.
fn exactly(nodes: &[Node]) -> Option<u64> {
    let same = |all: Vec<Option<u64>>| {
        let first = (*all.first()?)?;
        all.iter().all(|other| *other == Some(first)).then_some(first)
    };
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) => Some(0),
        Node::Ask { .. } => Some(1),
        Node::Parallel { steps, .. } => Some(steps.len() as u64),
        Node::If { then, otherwise, .. } => same(vec![exactly(then), exactly(otherwise)]),
        Node::Choose(choices) => {
            same(choices.iter().filter(|choice| choice.weight > 0).map(|choice| exactly(&choice.nodes)).collect())
        }
        Node::InTurn(nodes) => same(nodes.iter().map(|node| exactly(std::slice::from_ref(node))).collect()),
        Node::Repeat { least, most, nodes } => {
            exactly(nodes).filter(|_| least == most).map(|each| each.saturating_mul(u64::from(*most)))
        }
        Node::Loop { .. } => None,
        Node::Transaction { nodes, .. } | Node::Messaging { nodes, .. } | Node::Shuffle(nodes) => exactly(nodes),
    };
    nodes.iter().try_fold(0u64, |sum, node| Some(sum.saturating_add(of_node(node)?)))
}

/// The most concurrent exchanges of one user in these nodes.
fn widest(nodes: &[Node]) -> u64 {
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) | Node::Ask { .. } => 1,
        Node::Parallel { most, steps, .. } => u64::from(*most).min(steps.len() as u64).max(1),
        Node::If { then, otherwise, .. } => widest(then).max(widest(otherwise)),
        Node::Choose(choices) => choices.iter().map(|choice| widest(&choice.nodes)).max().unwrap_or(1),
        Node::Repeat { nodes, .. }
        | Node::Loop { nodes, .. }
        | Node::Transaction { nodes, .. }
        | Node::Messaging { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => widest(nodes),
    };
    nodes.iter().map(of_node).max().unwrap_or(1)
}

/// The most requests of these nodes.
fn most(nodes: &[Node], of_step: &dyn Fn(usize) -> u64) -> u64 {
    let tries = |on_failure: &OnFailure| match on_failure {
        OnFailure::Retry(times) => 1 + u64::from(*times),
        OnFailure::GoOn | OnFailure::Next | OnFailure::Stop => 1,
    };
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) => 0,
        Node::Ask { step, on_failure } => of_step(*step).saturating_mul(tries(on_failure)),
        Node::Parallel { steps, on_failure, .. } => {
            let once = steps.iter().fold(0, |sum: u64, step| sum.saturating_add(of_step(*step)));
            once.saturating_mul(tries(on_failure))
        }
        Node::If { then, otherwise, .. } => most(then, of_step).max(most(otherwise, of_step)),
        Node::Choose(choices) => choices.iter().map(|choice| most(&choice.nodes, of_step)).max().unwrap_or(0),
        Node::InTurn(nodes) => nodes.iter().map(|node| most(std::slice::from_ref(node), of_step)).max().unwrap_or(0),
        Node::Repeat { most: rounds, nodes, .. } | Node::Loop { most: rounds, nodes, .. } => {
            most(nodes, of_step).saturating_mul(u64::from(*rounds))
        }
        Node::Transaction { nodes, .. } | Node::Messaging { nodes, .. } | Node::Shuffle(nodes) => most(nodes, of_step),
    };
    nodes.iter().fold(0, |sum, node| sum.saturating_add(of_node(node)))
}

fn pause(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Think(_) | Node::Barrier(_) => true,
        Node::Ask { .. } | Node::Parallel { .. } => false,
        Node::If { then, otherwise, .. } => pause(then) || pause(otherwise),
        Node::Choose(choices) => choices.iter().any(|choice| pause(&choice.nodes)),
        Node::Repeat { nodes, .. }
        | Node::Loop { nodes, .. }
        | Node::Transaction { nodes, .. }
        | Node::Messaging { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => pause(nodes),
    })
}

/// Whether some path through them makes a request.
fn asks_something(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Ask { .. } | Node::Parallel { .. } => true,
        Node::Think(_) | Node::Barrier(_) => false,
        Node::If { then, otherwise, .. } => asks_something(then) || asks_something(otherwise),
        Node::Repeat { most: 0, .. } => false,
        Node::Transaction { nodes, .. }
        | Node::Repeat { nodes, .. }
        | Node::Loop { nodes, .. }
        | Node::Messaging { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => asks_something(nodes),
        Node::Choose(choices) => choices.iter().any(|choice| choice.weight > 0 && asks_something(&choice.nodes)),
    })
}
