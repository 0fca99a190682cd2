//! Lowering of steps to nodes of a program, and to the steps of a plan that these refer to.

use std::collections::HashMap;
use std::sync::Arc;

use plan::{Barrier, Choice, CustomRequest, Node, OnFailure, Program, Step as PlanStep, Target, Transaction};

use super::DynamicParts;
use super::barriers::Barriers;
use super::messaging::Turn;
use super::requests::PreparedPart;
use crate::diagnostic::Problem;
use crate::file::{Action, FragmentCall, Loop, Messaging, Request, Rounds, Scenario, Step};

/// The input of the program of one scenario.
pub(super) struct Nodes<'m, 'a> {
    pub(super) dynamic_parts: &'m mut DynamicParts<'a>,
    barriers: &'m mut Barriers,
    steps: Vec<PlanStep>,
    targets: Vec<(Target, Opening)>,
    pub(super) program: Program,
    /// The steps that were made of the steps of fragments, by their positions.
    of_fragments: HashMap<usize, Vec<usize>>,
}

/// The handshake of a message connection, and what a custom protocol says of one; `None` for other targets.
type Opening = Option<(Vec<(String, Vec<u8>)>, Vec<String>, Vec<String>)>;

impl<'m, 'a> Nodes<'m, 'a> {
    pub(super) fn new(dynamic_parts: &'m mut DynamicParts<'a>, barriers: &'m mut Barriers) -> Self {
        let (steps, targets, program) = (Vec::new(), Vec::new(), Program::default());
        Self { dynamic_parts, barriers, steps, targets, program, of_fragments: HashMap::new() }
    }

    /// The program of a scenario, its steps and its targets.
    pub(super) fn lower(mut self, scenario: &Scenario) -> (Program, Vec<PlanStep>, Vec<Target>) {
        let start = self.all(&scenario.start, None);
        let nodes = self.all(&scenario.steps, None);
        let stop = self.all(&scenario.stop, None);
        let program = Program { start, nodes, stop, ..self.program };
        (program, self.steps, self.targets.into_iter().map(|(target, _)| target).collect())
    }

    /// Nodes of steps in sequence, on the message connection around them, if there is one. Errors are reported and left
    /// out.
    pub(super) fn all(&mut self, steps: &[Step], around: Option<&Messaging>) -> Vec<Node> {
        match around {
            None => steps.iter().flat_map(|step| self.nodes(step)).collect(),
            Some(messaging) => self.turns(steps, messaging),
        }
    }

    fn nodes(&mut self, step: &Step) -> Vec<Node> {
        match &step.action {
            Action::Do(call) => self.call(step, call, None),
            _ => self.node(step, None).into_iter().collect(),
        }
    }

    fn node(&mut self, step: &Step, around: Option<&Messaging>) -> Option<Node> {
        Some(match &step.action {
            Action::Request(_) | Action::Call(_) | Action::Custom(_) => {
                let number = self.exchange(step)?;
                Node::Ask { step: number, on_failure: self.on_failure(step) }
            }
            Action::Messaging(messaging) => self.messaging(step, messaging)?,
            // These are part of a message connection, which goes through them itself.
            Action::Send(_) | Action::Receive(_) => return None,
            Action::Do(call) => return grouped(self.call(step, call, around)),
            Action::Think(think) => Node::Think(*think),
            Action::Transaction { with_think, steps } => {
                let number = self.transaction(step, *with_think);
                let nodes = self.all(steps, around);
                Node::Transaction { number, nodes: self.retried(step, nodes) }
            }
            Action::Loop(one) => self.looping(step, one, around),
            Action::Choose(choices) => {
                let mut way = |choice: &crate::file::Choice| Choice {
                    weight: choice.weight,
                    nodes: self.all(&choice.steps, around),
                };
                Node::Choose(choices.iter().map(&mut way).collect())
            }
            // Each by itself: a shuffled step is not one exchange with the next one.
            Action::Shuffle(steps) => {
                let one = |step| grouped(self.all(std::slice::from_ref(step), around));
                Node::Shuffle(steps.iter().filter_map(one).collect())
            }
            Action::If { condition, then, otherwise } => Node::If {
                condition: self.condition(condition),
                then: self.all(then, around),
                otherwise: self.all(otherwise, around),
            },
            Action::Set(values) => Node::Set(self.assignments(values)),
            Action::Record(values) => Node::Record(self.measurements(values)),
            Action::Cookies(change) => return self.cookies(step, change),
            Action::Check(condition) => self.check(step, condition),
            Action::End(end) => Node::End(end.clone()),
            Action::Parallel { most, steps } => {
                let on_failure = self.on_failure(step);
                self.parallel(*most, steps, on_failure)
            }
            Action::Barrier(meet) => {
                let barrier = Barrier { name: meet.name.text.clone(), users: meet.users, within: meet.within };
                Node::Barrier(self.barriers.number(barrier, meet.name.at))
            }
        })
    }

    /// The nodes of a call; `around`: the message connection around it.
    fn call(&mut self, step: &Step, call: &FragmentCall, around: Option<&Messaging>) -> Vec<Node> {
        let mut nodes = self.arguments(step, call);
        self.dynamic_parts.naming.enter(&call.fragment.text);
        nodes.extend(self.all(&call.steps, around));
        self.dynamic_parts.naming.leave();
        self.retried(step, nodes)
    }

    /// A loop. A fixed number of rounds without a pace needs no expression.
    fn looping(&mut self, step: &Step, one: &Loop, around: Option<&Messaging>) -> Node {
        if let Rounds::Count { least, most } = one.rounds
            && one.every.is_none()
        {
            return Node::Repeat { least, most, nodes: self.all(&one.steps, around) };
        }
        let rounds = self.rounds(step, one);
        let on_failure = self.without_retry(step);
        let nodes = match one.rounds {
            Rounds::Items { at_once: Some(most), .. } => {
                let of_all = self.on_failure(step);
                vec![self.parallel(most, &one.steps, of_all)]
            }
            _ => self.all(&one.steps, around),
        };
        Node::Loop(plan::Loop { rounds, every: one.every, on_failure, nodes })
    }

    /// The number of a transaction; that of a fragment is the same at each call.
    fn transaction(&mut self, step: &Step, has_pauses: bool) -> usize {
        let deadline = step.deadline.map(|deadline| deadline.span);
        let transaction = Transaction { name: step.name.clone(), has_pauses, deadline };
        let transactions = &mut self.program.transactions;
        let known = transactions.iter().position(|known| *known == transaction);
        known.filter(|_| self.dynamic_parts.naming.is_in_fragment()).unwrap_or_else(|| {
            transactions.push(transaction);
            transactions.len() - 1
        })
    }

    /// Concurrent requests.
    pub(super) fn parallel(&mut self, most: u16, steps: &[Step], on_failure: OnFailure) -> Node {
        let (mut numbers, mut optional) = (Vec::with_capacity(steps.len()), Vec::new());
        for step in steps {
            let Some(number) = self.exchange(step) else { continue };
            numbers.push(number);
            let own = step.on_failure.as_ref();
            let goes_on = own.is_some_and(|own| own.retry.is_none() && own.then == OnFailure::GoOn);
            optional.extend(goes_on.then_some(number));
        }
        Node::Parallel { most, steps: numbers, optional, on_failure }
    }

    /// A request or a call.
    fn exchange(&mut self, step: &Step) -> Option<usize> {
        self.dynamic_parts.naming.at = step.at;
        let part = match &step.action {
            Action::Request(request) => return self.request(step, request),
            Action::Call(call) => self.dynamic_parts.call(step, call),
            Action::Custom(custom) => self.dynamic_parts.custom(step, custom),
            _ => return None,
        };
        self.add(step, part)
    }

    /// A request, also at the origins where its URL may lead.
    fn request(&mut self, step: &Step, request: &Request) -> Option<usize> {
        let part = self.dynamic_parts.request(step, request);
        let is_taken =
            part.as_ref().is_ok_and(|(_, made)| made.dynamic_parts.as_ref().is_some_and(|parts| parts.is_url()));
        if !is_taken || self.dynamic_parts.origins.is_empty() {
            return self.add(step, part);
        }
        let (target, mut made) = self.dynamic_parts.reported(step.at, part)?;
        // The target of a scenario is that of its first step, and not the first origin.
        self.target(target.clone(), None);
        let count = self.dynamic_parts.origins.len();
        let mut origins = Vec::with_capacity(count);
        for number in 0..count {
            let part = self.dynamic_parts.at_origin(number, step, request);
            let (origin, (there, mut at_origin)) = self.dynamic_parts.reported(step.at, part)?;
            at_origin.target = self.target(there, None);
            origins.push(origin);
            made.at_origins.push(at_origin);
        }
        if let Some(parts) = &mut made.dynamic_parts {
            Arc::make_mut(parts).origins = origins;
        }
        self.add(step, Ok((target, made)))
    }

    fn add(&mut self, step: &Step, part: Result<PreparedPart, Problem>) -> Option<usize> {
        let (target, mut made) = self.dynamic_parts.reported(step.at, part)?;
        let opening = made.messaging.as_ref().map(|messaging| {
            let of_connection = messaging.custom.as_deref().map(CustomRequest::of_connection).unwrap_or_default();
            (made.request.headers.clone(), messaging.subprotocols.clone(), of_connection)
        });
        made.target = self.target(target, opening);
        if !self.dynamic_parts.naming.is_in_fragment() {
            self.steps.push(made);
            return Some(self.steps.len() - 1);
        }
        // A step of a fragment is the same at each call, if it has the same settings.
        let numbers = self.of_fragments.entry(step.at.start).or_default();
        if let Some(known) = numbers.iter().copied().find(|number| self.steps[*number] == made) {
            return Some(known);
        }
        numbers.push(self.steps.len());
        self.steps.push(made);
        numbers.last().copied()
    }

    /// The number of a target; targets that are reached in the same way are one.
    fn target(&mut self, target: Target, opening: Opening) -> usize {
        let known = self.targets.iter().position(|(known, opened)| {
            (&known.host, known.port, &known.dial, &known.unix, known.protocol, &known.tls)
                == (&target.host, target.port, &target.dial, &target.unix, target.protocol, &target.tls)
                && known.custom == target.custom
                && (!is_messaging(known, &target) || (&known.url, opened) == (&target.url, &opening))
        });
        known.unwrap_or_else(|| {
            self.targets.push((target, opening));
            self.targets.len() - 1
        })
    }

    /// A message connection: its exchanges in sequence on a connection of its own.
    fn messaging(&mut self, step: &Step, messaging: &Messaging) -> Option<Node> {
        let before = self.steps.len();
        let nodes = if messaging.steps.is_empty() {
            let turn = Turn { messaging, send: None, receive: None, is_alone: true };
            let part = self.dynamic_parts.turn(step, &turn);
            let number = self.add(step, part)?;
            vec![Node::Ask { step: number, on_failure: self.on_failure(step) }]
        } else {
            self.turns(&messaging.steps, messaging)
        };
        let target = self.steps.get(before).map_or(0, |step| step.target);
        Some(Node::Messaging { target, nodes })
    }

    pub(super) fn turns(&mut self, steps: &[Step], messaging: &Messaging) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let (send, receive) = match &step.action {
                Action::Send(send) => {
                    let next = steps.next_if(|next| matches!(next.action, Action::Receive(_)));
                    (Some(&**send), next)
                }
                Action::Receive(_) => (None, Some(step)),
                Action::Do(call) => {
                    nodes.extend(self.call(step, call, Some(messaging)));
                    continue;
                }
                _ => {
                    nodes.extend(self.node(step, Some(messaging)));
                    continue;
                }
            };
            // The two are one exchange: settings at either of them apply to it.
            let on_failure = self.on_failure(receive.filter(|one| one.on_failure.is_some()).unwrap_or(step));
            let named = receive.filter(|one| step.name == "send" && one.name != "receive").unwrap_or(step);
            let receive = receive.and_then(|step| match &step.action {
                Action::Receive(receive) => Some(&**receive),
                _ => None,
            });
            let part = self.dynamic_parts.turn(named, &Turn { messaging, send, receive, is_alone: false });
            if let Some(number) = self.add(step, part) {
                nodes.push(Node::Ask { step: number, on_failure });
            }
        }
        nodes
    }
}

/// Message connections are shared only where they have the same handshake.
fn is_messaging(one: &Target, other: &Target) -> bool {
    let is_one = |target: &Target| {
        matches!(target.protocol, plan::Protocol::WebSocket | plan::Protocol::Tcp | plan::Protocol::Custom)
    };
    is_one(one) || is_one(other)
}

/// Nodes as one that is not torn apart.
fn grouped(mut nodes: Vec<Node>) -> Option<Node> {
    match nodes.len() {
        0 | 1 => nodes.pop(),
        _ => Some(Node::Choose(vec![Choice { weight: 1, nodes }])),
    }
}
