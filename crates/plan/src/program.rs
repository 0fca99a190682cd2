//! What a user does in one iteration: exchanges, pauses, and what decides which of them come next.
//!
//! All that is drawn depends on the seed, the scenario, the user, its iteration and the place in the program alone: the same
//! on one thread and on seven.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::nesting::deeper;

/// The most nodes of a program.
pub const NODES_MAX: usize = 100_000;
/// The most rounds of one repetition.
pub const ROUNDS_MAX: u32 = 1_000_000;
/// The most exchanges of one user that are under way at a time.
pub const PARALLEL_MAX: u16 = 256;
/// How deep nodes may lie in each other.
pub const DEPTH_MAX: usize = 64;

/// What a user does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The same seed draws the same.
    pub seed: u64,
    /// Once for each user, before its first iteration. When it fails, it is tried again later.
    pub start: Vec<Node>,
    /// One iteration: one after the other.
    pub nodes: Vec<Node>,
    /// Once for each user, after its last iteration.
    pub stop: Vec<Node>,
    /// What is timed as one, by the number that [`Node::Transaction`] says.
    pub transactions: Vec<Transaction>,
}

/// Several exchanges that are timed as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its name in reports.
    pub name: String,
    /// Its pauses are part of its time.
    pub has_pauses: bool,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// The exchange of a step.
    Ask {
        /// Its number.
        step: usize,
        /// What comes next when it fails.
        on_failure: OnFailure,
    },
    /// The user does nothing; that is in no latency.
    Think(Think),
    /// What is in it is timed as one. It counts once: as a success when all that it holds came to its end.
    Transaction {
        /// Its number among the transactions.
        number: usize,
        /// One after the other.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// Several times, a number that is drawn.
    Repeat {
        /// At least so often.
        least: u32,
        /// At most so often.
        most: u32,
        /// One after the other.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// One of them, as often as its weight says.
    Choose(Vec<Choice>),
    /// Each once, in an order that is drawn.
    Shuffle(#[serde(deserialize_with = "deeper")] Vec<Node>),
    /// One of them in each iteration, in turn: users begin at different ones, and what comes at a rate takes the next one.
    InTurn(#[serde(deserialize_with = "deeper")] Vec<Node>),
    /// What a condition says.
    If {
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// When it is true.
        #[serde(deserialize_with = "deeper")]
        then: Vec<Node>,
        /// When it is not.
        #[serde(deserialize_with = "deeper")]
        otherwise: Vec<Node>,
    },
    /// Again and again, until a condition ends it.
    Loop {
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// It is looked at behind each round, and ends the loop when it is true; else before each round, and when it is false.
        is_until: bool,
        /// After so many rounds it fails.
        most: u32,
        /// What comes next then.
        on_failure: OnFailure,
        /// One after the other.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// Users wait for each other at the meeting of this number in the plan.
    Barrier(u32),
    /// What is in it has a connection of its own to this target, which ends with it.
    Talk {
        /// Which of the targets of the scenario.
        target: usize,
        /// One after the other.
        #[serde(deserialize_with = "deeper")]
        nodes: Vec<Node>,
    },
    /// Exchanges of steps that are under way at a time; what follows waits for all of them.
    Parallel {
        /// So many at most.
        most: u16,
        /// Their steps; those that wait go first to last.
        steps: Vec<usize>,
        /// What comes next when one of them fails.
        on_failure: OnFailure,
    },
}

/// Which of its steps an iteration asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OneOf {
    /// The next one.
    InTurn,
    /// One that is drawn.
    Drawn,
}

/// One way of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// How often, beside the weights of the others.
    pub weight: u32,
    /// One after the other; none does nothing.
    #[serde(deserialize_with = "deeper")]
    pub nodes: Vec<Node>,
}

/// What comes next when an exchange fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// What would come after a success.
    #[default]
    GoOn,
    /// The iteration ends, and what is timed as one around it fails.
    Next,
    /// The exchange again, so often at most; then the iteration ends.
    Retry(u16),
    /// The user leaves; in an open load its iteration ends.
    Stop,
}

/// Where users wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barrier {
    /// Its name in reports.
    pub name: String,
    /// The arrival of so many lets them all go on.
    pub users: u64,
    /// Nobody waits longer than this.
    pub within: Option<Duration>,
}

/// How long a pause is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Think {
    /// Always so long.
    Fixed(Duration),
    /// Evenly spread.
    Uniform(Duration, Duration),
    /// Without memory, of this mean.
    Exponential(Duration),
    /// Around a mean, with a standard deviation; never below zero.
    Normal(Duration, Duration),
    /// With a long tail: the median, and the standard deviation of its logarithm.
    LogNormal(Duration, f64),
}

/// What is wrong with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFault {
    /// More than [`NODES_MAX`].
    TooLarge,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
    /// It names a step or a transaction that is not there.
    Nowhere,
    /// A repetition from more to fewer rounds, or of more than [`ROUNDS_MAX`].
    Rounds,
    /// Weights that are all zero, or nothing to choose of.
    Weights,
    /// No exchange, or more at a time than [`PARALLEL_MAX`], or none at a time.
    Parallel,
    /// Nothing is ever asked.
    Idle,
}

impl Program {
    /// Steps one after the other; what fails changes nothing.
    pub fn in_turn(steps: usize) -> Self {
        Self { nodes: asks(steps), ..Self::default() }
    }

    /// Each step once, in an order that is drawn for each iteration of each user.
    pub fn shuffled(steps: usize, seed: u64) -> Self {
        Self { seed, nodes: vec![Node::Shuffle(asks(steps))], ..Self::default() }
    }

    /// One step in each iteration, in turn.
    pub fn one_in_turn(steps: usize) -> Self {
        Self { nodes: vec![Node::InTurn(asks(steps))], ..Self::default() }
    }

    /// One step in each iteration, which is drawn.
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

    /// Its steps come in an order that is drawn.
    pub fn is_shuffled(&self) -> bool {
        matches!(self.nodes[..], [Node::Shuffle(_)])
    }

    /// Each iteration asks for one of its steps: one that is drawn, or the next one.
    pub fn asks_one(&self) -> Option<OneOf> {
        let is_ask = |node: &Node| matches!(node, Node::Ask { .. });
        let is_equal = |choice: &Choice| choice.weight == 1 && matches!(&choice.nodes[..], [one] if is_ask(one));
        match &self.nodes[..] {
            [Node::InTurn(nodes)] if nodes.iter().all(is_ask) => Some(OneOf::InTurn),
            [Node::Choose(choices)] if choices.iter().all(is_equal) => Some(OneOf::Drawn),
            _ => None,
        }
    }

    /// Looks whether it can be carried out with so many steps.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, steps: usize) -> Result<(), ProgramFault> {
        let mut seen = 0;
        for nodes in [&self.start, &self.nodes, &self.stop] {
            self.look(nodes, steps, DEPTH_MAX, &mut seen)?;
        }
        if asks_something(&self.nodes) { Ok(()) } else { Err(ProgramFault::Idle) }
    }

    /// The most requests that one iteration can make, with those at the ends of a user; `of_step`: those of one exchange of a step.
    pub fn requests_most(&self, of_step: &dyn Fn(usize) -> u64) -> u64 {
        [&self.start, &self.nodes, &self.stop]
            .into_iter()
            .fold(0, |sum, nodes| sum.saturating_add(most(nodes, of_step)))
    }

    /// The exchanges of each iteration, where chances and conditions have no say in them, and users do nothing beside their iterations.
    pub fn asks_each(&self) -> Option<u64> {
        exactly(&self.nodes).filter(|_| !self.has_apart())
    }

    /// Users do something before their first iteration or behind their last.
    pub fn has_apart(&self) -> bool {
        !self.start.is_empty() || !self.stop.is_empty()
    }

    /// An iteration is one exchange, with its redirects and perhaps pauses: so many are they that nobody counts both.
    pub fn is_one_exchange(&self) -> bool {
        let is_ask = |node: &Node| matches!(node, Node::Ask { .. });
        let is_plain = |node: &Node| match node {
            Node::Ask { on_failure, .. } => !matches!(on_failure, OnFailure::Retry(_)),
            node => matches!(node, Node::Think(_)),
        };
        let asks = self.nodes.iter().filter(|node| is_ask(node)).count();
        !self.has_apart() && asks == 1 && self.nodes.iter().all(is_plain)
    }

    /// Users do nothing for a while somewhere in an iteration.
    pub fn pauses(&self) -> bool {
        pause(&self.nodes)
    }

    /// What fails is tried again somewhere.
    pub fn retries(&self) -> bool {
        self.asks_each().is_some_and(|each| self.requests_most(&|_| 1) > each)
    }

    /// The meetings at which its users wait for others, by their numbers in the plan; each once.
    pub fn barriers(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        [&self.start, &self.nodes, &self.stop].into_iter().for_each(|nodes| collect_barriers(nodes, &mut numbers));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The most exchanges of one iteration at a time.
    pub fn parallel_most(&self) -> u64 {
        [&self.start, &self.nodes, &self.stop].into_iter().map(|nodes| widest(nodes)).max().unwrap_or(1)
    }

    fn look(&self, nodes: &[Node], steps: usize, depth: usize, seen: &mut usize) -> Result<(), ProgramFault> {
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
                Node::Loop { nodes, .. } | Node::Talk { nodes, .. } => self.look(nodes, steps, depth, seen)?,
                Node::If { then, otherwise, .. } => {
                    self.look(then, steps, depth, seen)?;
                    self.look(otherwise, steps, depth, seen)?;
                }
                Node::Transaction { number, nodes } => {
                    if *number >= self.transactions.len() {
                        return Err(ProgramFault::Nowhere);
                    }
                    self.look(nodes, steps, depth, seen)?;
                }
                Node::Repeat { least, most, nodes } => {
                    if least > most || *most > ROUNDS_MAX {
                        return Err(ProgramFault::Rounds);
                    }
                    self.look(nodes, steps, depth, seen)?;
                }
                Node::Choose(choices) => {
                    if choices.iter().all(|choice| choice.weight == 0) {
                        return Err(ProgramFault::Weights);
                    }
                    for choice in choices {
                        *seen += 1;
                        self.look(&choice.nodes, steps, depth, seen)?;
                    }
                }
                Node::InTurn(nodes) if nodes.is_empty() => return Err(ProgramFault::Weights),
                Node::Shuffle(nodes) | Node::InTurn(nodes) => self.look(nodes, steps, depth, seen)?,
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
            | Node::Talk { nodes, .. }
            | Node::Shuffle(nodes)
            | Node::InTurn(nodes) => collect_barriers(nodes, numbers),
        }
    }
}

/// The exchanges of these, where that is one number.
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
        Node::Transaction { nodes, .. } | Node::Talk { nodes, .. } | Node::Shuffle(nodes) => exactly(nodes),
    };
    nodes.iter().try_fold(0u64, |sum, node| Some(sum.saturating_add(of_node(node)?)))
}

/// The most of these that one user has under way at a time.
fn widest(nodes: &[Node]) -> u64 {
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) | Node::Ask { .. } => 1,
        Node::Parallel { most, steps, .. } => u64::from(*most).min(steps.len() as u64).max(1),
        Node::If { then, otherwise, .. } => widest(then).max(widest(otherwise)),
        Node::Choose(choices) => choices.iter().map(|choice| widest(&choice.nodes)).max().unwrap_or(1),
        Node::Repeat { nodes, .. }
        | Node::Loop { nodes, .. }
        | Node::Transaction { nodes, .. }
        | Node::Talk { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => widest(nodes),
    };
    nodes.iter().map(of_node).max().unwrap_or(1)
}

/// The most requests that these make.
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
        Node::Transaction { nodes, .. } | Node::Talk { nodes, .. } | Node::Shuffle(nodes) => most(nodes, of_step),
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
        | Node::Talk { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => pause(nodes),
    })
}

/// Some way through it asks something.
fn asks_something(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Ask { .. } | Node::Parallel { .. } => true,
        Node::Think(_) | Node::Barrier(_) => false,
        Node::If { then, otherwise, .. } => asks_something(then) || asks_something(otherwise),
        Node::Repeat { most: 0, .. } => false,
        Node::Transaction { nodes, .. }
        | Node::Repeat { nodes, .. }
        | Node::Loop { nodes, .. }
        | Node::Talk { nodes, .. }
        | Node::Shuffle(nodes)
        | Node::InTurn(nodes) => asks_something(nodes),
        Node::Choose(choices) => choices.iter().any(|choice| choice.weight > 0 && asks_something(&choice.nodes)),
    })
}
