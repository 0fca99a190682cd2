//! Compilation of a program's nodes to operations.

use std::sync::Arc;

use pacing::Nanos;
use plan::{Choice, Loop, Node, OnFailure, PlannedEnd, Rounds};

use super::shape::first_step;
use super::{ForkSteps, Gathered, LoopExit, LoopLimits, Op};

/// Something that is open around an operation.
#[derive(Debug)]
enum Around {
    Transaction(u16),
    Conversation(u16),
    /// A shuffle.
    Parts,
    /// What is tried again together.
    Block,
    Loop(OpenLoop),
}

/// A loop while its rounds are compiled.
#[derive(Debug, Default)]
struct OpenLoop {
    /// Jumps to the end of a round, and behind the loop, which are set when these are known.
    of_rounds: Vec<usize>,
    of_loop: Vec<usize>,
    /// Exits by failures, by their places.
    exits: Vec<usize>,
}

/// The operations so far.
#[derive(Debug, Default)]
pub(super) struct Compiler {
    ops: Vec<Op>,
    around: Vec<Around>,
    exits: Vec<(u32, LoopExit)>,
    most: u64,
}

impl Compiler {
    /// The operations, the ends of loops by failures, and the most concurrent exchanges.
    pub(super) fn into_parts(mut self) -> (Vec<Op>, Vec<(u32, LoopExit)>, u64) {
        self.exits.sort_by_key(|(op, _)| *op);
        (self.ops, self.exits, self.most.max(1))
    }

    /// The program ends here.
    pub(super) fn end(&mut self) {
        self.ops.push(Op::Over);
    }

    /// Adds what is done outside iterations, if there is something; returns where it begins.
    pub(super) fn add_apart(&mut self, nodes: &[Node]) -> Option<u32> {
        let start = self.here();
        self.add_all(nodes);
        (!nodes.is_empty()).then(|| {
            self.end();
            start
        })
    }

    pub(super) fn add_all(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.add(node));
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Adds an operation that may fail.
    fn add_failing(&mut self, op: Op, on_failure: OnFailure, breaks: bool) {
        if breaks || on_failure == OnFailure::Break {
            self.add_exit(0);
        }
        self.ops.push(op);
    }

    /// The next operation may end the innermost loop around it. `more`: loops of its own that it leaves with that.
    fn add_exit(&mut self, more: usize) {
        let Some(place) = self.around.iter().rposition(|one| matches!(one, Around::Loop(_))) else { return };
        let inside = &self.around[place + 1..];
        let count = |is_one: fn(&Around) -> bool| inside.iter().filter(|one| is_one(one)).count();
        let exit = LoopExit {
            transactions: count(|one| matches!(one, Around::Transaction(_))),
            conversations: count(|one| matches!(one, Around::Conversation(_))),
            frames: count(|one| matches!(one, Around::Parts | Around::Block)) + 1 + more,
            to: 0,
        };
        self.exits.push((self.here(), exit));
        let index = self.exits.len() - 1;
        if let Around::Loop(open) = &mut self.around[place] {
            open.exits.push(index);
        }
    }

    fn add(&mut self, node: &Node) {
        match node {
            Node::Ask { step, on_failure } => {
                self.add_failing(Op::Ask { step: *step as u32, on_failure: *on_failure }, *on_failure, true);
            }
            Node::Parallel { most, steps, optional, on_failure } => {
                self.most = self.most.max(u64::from(*most).min(steps.len() as u64));
                let fork = ForkSteps::new(*most, (steps, optional), None);
                self.add_failing(Op::Fork { fork: Arc::new(fork), on_failure: *on_failure }, *on_failure, true);
            }
            Node::Check { number, condition, on_failure } => {
                let check = Op::Check { number: *number as u32, condition: *condition, on_failure: *on_failure };
                self.add_failing(check, *on_failure, false);
            }
            Node::Set(assignments) => {
                // It is told with the step before it, or else with the first.
                let step = self.last_step().unwrap_or_default();
                self.ops.push(Op::Set(assignments.iter().cloned().collect(), step));
            }
            Node::Record(measurements) => {
                let step = self.last_step().unwrap_or_default();
                self.ops.push(Op::Record(measurements.iter().cloned().collect(), step));
            }
            Node::End(end) => self.add_end(end),
            Node::Think(think) => self.ops.push(Op::Think(*think)),
            Node::If { condition, then, otherwise } => self.add_if(*condition, then, otherwise),
            Node::Loop(one) => self.add_loop(one),
            Node::Barrier(number) => self.ops.push(Op::Barrier(*number)),
            Node::Messaging { target, nodes } => {
                self.ops.push(Op::Enter(*target as u16));
                self.add_inside(Around::Conversation(*target as u16), nodes);
                self.ops.push(Op::Leave(*target as u16));
            }
            Node::Transaction { number, nodes } => {
                self.ops.push(Op::Begin(*number as u16));
                match &nodes[..] {
                    // The transaction fails with its last try.
                    [Node::Retried { retry, is_whole: true, nodes }] => {
                        self.around.push(Around::Transaction(*number as u16));
                        self.add_block(*retry, nodes, true);
                        self.around.pop();
                    }
                    _ => self.add_inside(Around::Transaction(*number as u16), nodes),
                }
                self.ops.push(Op::End(*number as u16));
            }
            Node::Retried { retry, nodes, .. } => self.add_block(*retry, nodes, false),
            Node::Repeat { least, most, nodes } => self.add_repeat(*least, *most, nodes),
            Node::Choose(choices) => self.add_choices(choices),
            Node::InTurn(nodes) => self.add_turns(nodes),
            Node::Shuffle(nodes) => self.add_shuffle(nodes),
        }
    }

    /// A number of rounds.
    fn add_repeat(&mut self, least: u32, most: u32, nodes: &[Node]) {
        let repeat = self.ops.len();
        self.ops.push(Op::Over);
        let start = self.here();
        let open = self.add_rounds(nodes);
        let again = self.here();
        self.ops.push(Op::Again { start });
        self.ops[repeat] = Op::Repeat { least, most, end: self.here() };
        self.close(open, again);
    }

    /// One of several parts, each in its turn.
    fn add_turns(&mut self, nodes: &[Node]) {
        let turn = self.ops.len();
        self.ops.push(Op::Over);
        let (mut ways, mut jumps) = (Vec::new(), Vec::new());
        for node in nodes {
            ways.push(self.here());
            self.add(node);
            jumps.push(self.ops.len());
            self.ops.push(Op::Over);
        }
        self.jump_here(jumps);
        self.ops[turn] = Op::InTurn(ways.into());
    }

    /// All parts, in random order.
    fn add_shuffle(&mut self, nodes: &[Node]) {
        let shuffle = self.ops.len();
        self.ops.push(Op::Over);
        let mut parts = Vec::new();
        self.around.push(Around::Parts);
        for node in nodes {
            parts.push(self.here());
            self.add(node);
            self.ops.push(Op::Following);
        }
        self.around.pop();
        self.ops[shuffle] = Op::Shuffle(parts.into(), self.here());
    }

    /// Adds what is tried again together; `is_whole`: it is all of the transaction around it.
    fn add_block(&mut self, retry: u16, nodes: &[Node], is_whole: bool) {
        // Its last failure may end the loop around.
        self.add_exit(0);
        let begin = self.ops.len();
        self.ops.push(Op::Over);
        self.add_inside(Around::Block, nodes);
        self.ops.push(Op::Uncount);
        self.ops[begin] = Op::Try { retry, end: self.here(), is_whole };
    }

    fn add_inside(&mut self, around: Around, nodes: &[Node]) {
        self.around.push(around);
        self.add_all(nodes);
        self.around.pop();
    }

    /// Adds the rounds of a loop.
    fn add_rounds(&mut self, nodes: &[Node]) -> OpenLoop {
        self.around.push(Around::Loop(OpenLoop::default()));
        self.add_all(nodes);
        match self.around.pop() {
            Some(Around::Loop(open)) => open,
            _ => OpenLoop::default(),
        }
    }

    /// The loop is complete. `round_end`: where a round ends; what leaves the loop goes on here.
    fn close(&mut self, open: OpenLoop, round_end: u32) {
        let end = self.here();
        open.of_rounds.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(round_end));
        open.of_loop.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
        open.exits.into_iter().for_each(|exit| self.exits[exit].1.to = end);
    }

    fn jump_here(&mut self, jumps: Vec<usize>) {
        let end = self.here();
        jumps.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
    }

    fn add_choices(&mut self, choices: &[Choice]) {
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
        self.jump_here(jumps);
        self.ops[choose] = Op::Choose(ways.into());
    }

    fn add_if(&mut self, condition: u32, then: &[Node], otherwise: &[Node]) {
        let decide = self.ops.len();
        self.ops.push(Op::Over);
        self.add_all(then);
        let jump = self.ops.len();
        if !otherwise.is_empty() {
            self.ops.push(Op::Over);
        }
        let step = first_step(then).or_else(|| first_step(otherwise)).or_else(|| self.last_step()).unwrap_or_default();
        self.ops[decide] = Op::Decide { condition, step, otherwise: self.here() };
        self.add_all(otherwise);
        if !otherwise.is_empty() {
            self.ops[jump] = Op::Jump(self.here());
        }
    }

    fn add_loop(&mut self, one: &Loop) {
        let step = first_step(&one.nodes).or_else(|| self.last_step()).unwrap_or_default();
        let on_failure = one.on_failure.after_last_try(&[]);
        let of = |span: std::time::Duration| Nanos::from(span);
        let (every, most) = (one.every.map(of), one.rounds_most());
        match one.rounds {
            Rounds::Condition { condition, is_until, within, .. } => {
                let limits = LoopLimits { most, within: within.map(of), every };
                let is_timed = limits.within.is_some() || every.is_some();
                self.ops.push(if is_timed { Op::Open(limits) } else { Op::Count(most) });
                let (open, round_end) = match is_until {
                    true => self.add_until(condition, is_timed, step, &one.nodes),
                    false => self.add_while(condition, is_timed, step, &one.nodes),
                };
                // A loop that reached its limit goes here, and continues from here.
                if on_failure == OnFailure::Break {
                    self.add_exit(1);
                }
                self.ops.push(Op::Limit { step, on_failure });
                self.ops.push(Op::Uncount);
                self.close(open, round_end);
            }
            Rounds::During(span) => {
                self.ops.push(Op::Open(LoopLimits { most, within: Some(of(span)), every }));
                self.add_timed(None, &one.nodes);
            }
            Rounds::Items { list, variable, .. } => {
                self.ops.push(Op::Open(LoopLimits { most, within: None, every }));
                self.add_gather(Gathered::Items(list), step, on_failure);
                match &one.nodes[..] {
                    [Node::Parallel { most, steps, optional, on_failure }] if one.is_concurrent() => {
                        self.most = self.most.max(u64::from(*most));
                        let fork = Arc::new(ForkSteps::new(*most, (steps, optional), Some(variable)));
                        // Its last failure ends this loop with the one around.
                        self.add_exit(1);
                        self.ops.push(Op::Fork { fork, on_failure: *on_failure });
                        self.ops.push(Op::Uncount);
                    }
                    _ => self.add_timed(Some(variable), &one.nodes),
                }
            }
            Rounds::Times(times) => {
                self.ops.push(Op::Open(LoopLimits { most, within: None, every }));
                self.add_gather(Gathered::Times(times), step, on_failure);
                self.add_timed(None, &one.nodes);
            }
        }
    }

    /// What a loop goes by is evaluated in it: it ends with the loop when it has no value.
    fn add_gather(&mut self, gathered: Gathered, step: u32, on_failure: OnFailure) {
        if on_failure == OnFailure::Break {
            self.add_exit(1);
        }
        self.ops.push(Op::Gather { gathered, step, on_failure });
    }

    /// The rounds of a loop whose end is no failure.
    fn add_timed(&mut self, variable: Option<u32>, nodes: &[Node]) {
        let start = self.here();
        self.ops.push(Op::Over);
        let open = self.add_rounds(nodes);
        self.ops.push(Op::Jump(start));
        self.ops[start as usize] = Op::TimedRound { limit: self.here(), variable };
        self.ops.push(Op::Uncount);
        self.close(open, start);
    }

    /// A loop that tests at its end; an operation for the limit must follow it, after which the loop is over. Returns
    /// where a round ends.
    fn add_until(&mut self, condition: u32, is_timed: bool, step: u32, nodes: &[Node]) -> (OpenLoop, u32) {
        let start = self.here();
        self.ops.push(Op::Over);
        let open = self.add_rounds(nodes);
        let round_end = self.here();
        self.ops.push(Op::Decide { condition, step, otherwise: start });
        self.ops.push(Op::Jump(self.here() + 2));
        self.ops[start as usize] = round(self.here(), is_timed);
        (open, round_end)
    }

    /// A loop that tests at its beginning.
    fn add_while(&mut self, condition: u32, is_timed: bool, step: u32, nodes: &[Node]) -> (OpenLoop, u32) {
        let start = self.here();
        self.ops.extend([Op::Over, Op::Over]);
        let open = self.add_rounds(nodes);
        self.ops.push(Op::Jump(start));
        let limit = self.here();
        self.ops[start as usize] = Op::Decide { condition, step, otherwise: limit + 1 };
        self.ops[start as usize + 1] = round(limit, is_timed);
        (open, start)
    }

    /// Ends what is open, up to what ends.
    fn add_end(&mut self, end: &PlannedEnd) {
        let is_of_loop = matches!(end, PlannedEnd::Round | PlannedEnd::Loop);
        let innermost = self.around.iter().rposition(|one| matches!(one, Around::Loop(_)));
        let first = innermost.filter(|_| is_of_loop).map_or(0, |place| place + 1);
        let mut frames = u32::from(*end == PlannedEnd::Loop);
        for one in self.around[first..].iter().rev() {
            match one {
                Around::Transaction(number) => self.ops.push(Op::End(*number)),
                Around::Conversation(target) => self.ops.push(Op::Leave(*target)),
                Around::Parts | Around::Block => frames += 1,
                Around::Loop(_) => {}
            }
        }
        if is_of_loop && frames > 0 {
            self.ops.push(Op::Drop(frames));
        }
        let jump = self.ops.len();
        self.ops.push(match end {
            PlannedEnd::Round | PlannedEnd::Loop | PlannedEnd::Iteration => Op::Over,
            PlannedEnd::User => Op::Stop,
            PlannedEnd::Run(reason) => Op::StopRun(reason.as_str().into()),
        });
        if let Some(Around::Loop(open)) = innermost.filter(|_| is_of_loop).map(|place| &mut self.around[place]) {
            if *end == PlannedEnd::Round { &mut open.of_rounds } else { &mut open.of_loop }.push(jump);
        }
    }

    /// The step that was added last.
    fn last_step(&self) -> Option<u32> {
        self.ops.iter().rev().find_map(|op| match op {
            Op::Ask { step, .. } => Some(*step),
            Op::Fork { fork, .. } => fork.steps.last().copied(),
            _ => None,
        })
    }
}

/// The operation that begins a round.
fn round(limit: u32, is_timed: bool) -> Op {
    if is_timed { Op::TimedRound { limit, variable: None } } else { Op::Round { limit } }
}
