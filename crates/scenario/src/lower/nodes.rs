//! Lowering of steps to nodes of a program, and to the steps of a plan that these refer to.

use plan::{Barrier, Choice, CustomRequest, Node, Step as PlanStep, Target, Transaction};

use super::DynamicParts;
use super::barriers::Barriers;
use super::messaging::Turn;
use super::requests::PreparedPart;
use crate::diagnostic::Problem;
use crate::file::{Action, Expression, Messaging, Step};

/// The input of the program of one scenario.
pub(super) struct Nodes<'m, 'a> {
    dynamic_parts: &'m mut DynamicParts<'a>,
    barriers: &'m mut Barriers,
    steps: Vec<PlanStep>,
    targets: Vec<(Target, Opening)>,
    transactions: Vec<Transaction>,
}

/// The handshake of a message connection, and what a custom protocol says of one; `None` for other targets.
type Opening = Option<(Vec<(String, Vec<u8>)>, Vec<String>, Vec<String>)>;

impl<'m, 'a> Nodes<'m, 'a> {
    pub(super) fn new(dynamic_parts: &'m mut DynamicParts<'a>, barriers: &'m mut Barriers) -> Self {
        Self { dynamic_parts, barriers, steps: Vec::new(), targets: Vec::new(), transactions: Vec::new() }
    }

    pub(super) fn into_parts(self) -> (Vec<PlanStep>, Vec<Target>, Vec<Transaction>) {
        (self.steps, self.targets.into_iter().map(|(target, _)| target).collect(), self.transactions)
    }

    /// Nodes of steps in sequence. Errors are reported and left out.
    pub(super) fn all(&mut self, steps: &[Step]) -> Vec<Node> {
        steps.iter().filter_map(|step| self.node(step)).collect()
    }

    fn node(&mut self, step: &Step) -> Option<Node> {
        Some(match &step.action {
            Action::Request(_) | Action::Call(_) | Action::Custom(_) => {
                let number = self.exchange(step)?;
                Node::Ask { step: number, on_failure: self.dynamic_parts.on_failure(step) }
            }
            Action::Messaging(messaging) => self.messaging(step, messaging)?,
            // These are part of a message connection, which goes through them itself.
            Action::Send(_) | Action::Receive(_) => return None,
            Action::Think(think) => Node::Think(*think),
            Action::Transaction { with_think, steps } => {
                let number = self.transactions.len();
                self.transactions.push(Transaction { name: step.name.clone(), has_pauses: *with_think });
                Node::Transaction { number, nodes: self.all(steps) }
            }
            Action::Repeat { least, most, steps } => {
                Node::Repeat { least: *least, most: *most, nodes: self.all(steps) }
            }
            Action::Choose(choices) => {
                let way =
                    |choice: &crate::file::Choice| Choice { weight: choice.weight, nodes: self.all(&choice.steps) };
                Node::Choose(choices.iter().map(way).collect())
            }
            Action::Shuffle(steps) => Node::Shuffle(self.all(steps)),
            Action::If { condition, then, otherwise } => {
                Node::If { condition: self.condition(condition), then: self.all(then), otherwise: self.all(otherwise) }
            }
            Action::Loop { condition, is_until, most, steps } => Node::Loop {
                condition: self.condition(condition),
                is_until: *is_until,
                most: *most,
                on_failure: self.dynamic_parts.on_failure(step),
                nodes: self.all(steps),
            },
            Action::Parallel { most, steps } => Node::Parallel {
                most: *most,
                steps: steps.iter().filter_map(|step| self.exchange(step)).collect(),
                on_failure: self.dynamic_parts.on_failure(step),
            },
            Action::Barrier(meet) => {
                let barrier = Barrier { name: meet.name.text.clone(), users: meet.users, within: meet.within };
                Node::Barrier(self.barriers.number(barrier, meet.name.at))
            }
        })
    }

    fn condition(&mut self, condition: &Expression) -> u32 {
        self.dynamic_parts.naming.at = condition.at;
        self.dynamic_parts.naming.expression_number(&condition.text)
    }

    /// A request or a call.
    fn exchange(&mut self, step: &Step) -> Option<usize> {
        self.dynamic_parts.naming.at = step.at;
        let part = match &step.action {
            Action::Request(request) => self.dynamic_parts.request(step, request),
            Action::Call(call) => self.dynamic_parts.call(step, call),
            Action::Custom(custom) => self.dynamic_parts.custom(step, custom),
            _ => return None,
        };
        self.add(step, part)
    }

    fn add(&mut self, step: &Step, part: Result<PreparedPart, Problem>) -> Option<usize> {
        let (target, mut made) = self.dynamic_parts.reported(step.at, part)?;
        let opening = made.messaging.as_ref().map(|messaging| {
            let of_connection = messaging.custom.as_deref().map(CustomRequest::of_connection).unwrap_or_default();
            (made.request.headers.clone(), messaging.subprotocols.clone(), of_connection)
        });
        made.target = self.target(target, opening);
        self.steps.push(made);
        Some(self.steps.len() - 1)
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
            vec![Node::Ask { step: number, on_failure: self.dynamic_parts.on_failure(step) }]
        } else {
            self.turns(&messaging.steps, messaging)
        };
        let target = self.steps.get(before).map_or(0, |step| step.target);
        Some(Node::Messaging { target, nodes })
    }

    fn turns(&mut self, steps: &[Step], messaging: &Messaging) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let (send, receive) = match &step.action {
                Action::Send(send) => {
                    let next = steps.next_if(|next| matches!(next.action, Action::Receive(_)));
                    (Some(&**send), next)
                }
                Action::Receive(_) => (None, Some(step)),
                _ => {
                    nodes.extend(self.turn_node(step, messaging));
                    continue;
                }
            };
            // The two are one exchange: settings at either of them apply to it.
            let on_failure =
                self.dynamic_parts.on_failure(receive.filter(|one| one.on_failure.is_some()).unwrap_or(step));
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

    /// A step of a message connection that contains other steps.
    fn turn_node(&mut self, step: &Step, messaging: &Messaging) -> Option<Node> {
        Some(match &step.action {
            Action::Transaction { with_think, steps } => {
                let number = self.transactions.len();
                self.transactions.push(Transaction { name: step.name.clone(), has_pauses: *with_think });
                Node::Transaction { number, nodes: self.turns(steps, messaging) }
            }
            Action::Repeat { least, most, steps } => {
                Node::Repeat { least: *least, most: *most, nodes: self.turns(steps, messaging) }
            }
            Action::Choose(choices) => {
                let way = |choice: &crate::file::Choice| Choice {
                    weight: choice.weight,
                    nodes: self.turns(&choice.steps, messaging),
                };
                Node::Choose(choices.iter().map(way).collect())
            }
            Action::Shuffle(steps) => {
                // Each by itself: a shuffled step is not one exchange with the next one.
                Node::Shuffle(steps.iter().flat_map(|step| self.turns(std::slice::from_ref(step), messaging)).collect())
            }
            Action::If { condition, then, otherwise } => Node::If {
                condition: self.condition(condition),
                then: self.turns(then, messaging),
                otherwise: self.turns(otherwise, messaging),
            },
            Action::Loop { condition, is_until, most, steps } => Node::Loop {
                condition: self.condition(condition),
                is_until: *is_until,
                most: *most,
                on_failure: self.dynamic_parts.on_failure(step),
                nodes: self.turns(steps, messaging),
            },
            _ => return self.node(step),
        })
    }
}

/// Message connections are shared only where they have the same handshake.
fn is_messaging(one: &Target, other: &Target) -> bool {
    let is_one = |target: &Target| {
        matches!(target.protocol, plan::Protocol::WebSocket | plan::Protocol::Tcp | plan::Protocol::Custom)
    };
    is_one(one) || is_one(other)
}
