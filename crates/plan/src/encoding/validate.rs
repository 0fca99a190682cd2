//! Validation that flags or a file could have made a plan: every number in it is in range.

use std::time::Duration;

use super::EncodedPlan;
use crate::render::SlotCounts;
use crate::{
    AssignedTo, CUSTOM_TEXTS_MAX, HOLD_MAX, INTERVAL_MIN, Load, Meaning, Memory, Node, Plan, RATE_MAX, RATE_UNIT,
    ResponseEnd, Rounds, STAGES_MAX, STREAMS_MAX, Scenario, Step, Target, USERS_MAX, UserShape, ValuePattern,
};

type Validity = Result<(), &'static str>;

fn must(holds: bool, what: &'static str) -> Validity {
    if holds { Ok(()) } else { Err(what) }
}

/// Validates all of it.
pub(super) fn validate(encoded_plan: &EncodedPlan) -> Validity {
    match encoded_plan {
        EncodedPlan::Load(plan) => validate_plan(plan),
        EncodedPlan::Hold(hold) => {
            must((1..=HOLD_MAX).contains(&hold.connections), "a number of connections that cannot be held")?;
            must(hold.interval >= INTERVAL_MIN, "an interval that is too short")?;
            validate_target(&hold.target)?;
            validate_step(&hold.step, &Memory::default())
        }
    }
}

fn validate_plan(plan: &Plan) -> Validity {
    must(!plan.scenarios.is_empty() && plan.scenarios.len() <= SCENARIOS_MAX, "no scenario, or too many")?;
    must(plan.interval >= PIECE_MIN, "an interval that is too short")?;
    plan.scenarios.iter().try_for_each(|scenario| validate_scenario(scenario, plan.barriers.len()))
}

/// The shortest interval: a search uses shorter ones than those for users.
const PIECE_MIN: Duration = Duration::from_millis(1);

/// The most scenarios of a remote plan.
const SCENARIOS_MAX: usize = 10_000;

fn validate_scenario(scenario: &Scenario, barriers: usize) -> Validity {
    must(!scenario.targets.is_empty(), "a scenario without a target")?;
    scenario.targets.iter().try_for_each(validate_target)?;
    let is_there = |step: &Step| step.target < scenario.targets.len();
    must(!scenario.steps.is_empty() && scenario.all_steps().all(is_there), "no step, or one that goes nowhere")?;
    must(scenario.shared_connections.is_none_or(|shared| shared > 0), "no connection for all")?;
    let memory = &scenario.memory;
    scenario.all_steps().try_for_each(|step| validate_step(step, memory))?;
    scenario.steps.iter().try_for_each(validate_origins)?;
    for (variable, pattern) in &memory.of_user {
        must((*variable as usize) < memory.variables.len(), "a variable of users that is not there")?;
        pattern.rendering().map_or(Ok(()), |rendering| rendering.check_references(known(memory)))?;
    }
    must(scenario.program.check(scenario.steps.len()).is_ok(), "a program that cannot be carried out")?;
    let places = Places { memory, barriers, targets: scenario.targets.len() };
    must(memory.carried.iter().all(|one| (*one as usize) < memory.variables.len()), "a variable that is not there")?;
    let program = &scenario.program;
    let mut conditions = program.retries.iter().filter_map(|retry| retry.condition);
    conditions.try_for_each(|condition| places.validate_expression(condition))?;
    [&program.start, &program.nodes, &program.stop].into_iter().try_for_each(|nodes| places.validate_nodes(nodes))?;
    let is_known = |meaning: &Meaning| match meaning {
        Meaning::Variable(number) => (*number as usize) < memory.variables.len(),
        Meaning::Column(number) => (*number as usize) < memory.columns.len(),
        Meaning::Constant(number) => (*number as usize) < memory.constants.len(),
        Meaning::Builtin(_) => true,
    };
    let names = memory.expressions.iter().flat_map(|expression| &expression.names);
    must(names.map(|(_, meaning)| meaning).all(is_known), "an expression with a name that means nothing")?;
    validate_load(&scenario.load)
}

fn validate_load(load: &Load) -> Validity {
    match load {
        Load::Closed { users, shape, .. } => {
            must((1..=USERS_MAX).contains(users), "a number of users that cannot be")?;
            match shape {
                UserShape::Stages(stages) => {
                    must(stages.len() <= STAGES_MAX, "too many stages")?;
                    must(stages.iter().all(|stage| stage.from.max(stage.to) <= USERS_MAX), "too many users")
                }
                _ => Ok(()),
            }
        }
        Load::Open { stages, connections, .. } => {
            must((1..=USERS_MAX).contains(&connections.most()), "a number of connections that cannot be")?;
            must(stages.len() <= STAGES_MAX, "too many stages")?;
            let most = RATE_MAX.saturating_mul(RATE_UNIT);
            must(stages.iter().all(|stage| stage.from.max(stage.to) <= most), "a rate that cannot be")
        }
    }
}

fn validate_target(target: &Target) -> Validity {
    must((1..=STREAMS_MAX).contains(&target.streams.into()), "a number of streams that cannot be")
}

fn validate_step(step: &Step, memory: &Memory) -> Validity {
    if let Some(messaging) = &step.messaging {
        let width = if let ResponseEnd::LengthPrefix { width, .. } = messaging.response { width } else { 1 };
        must(matches!(width, 1 | 2 | 4 | 8), "a length of 1, 2, 4 or 8 bytes")?;
        if let Some(custom) = messaging.custom.as_deref() {
            let made = step.dynamic_parts.as_deref().map_or(0, |parts| parts.messages.len());
            must(made == 0 || made == custom.texts.len(), "a request without some of its texts")?;
            must(custom.texts.len() <= CUSTOM_TEXTS_MAX, "a request with too many texts")?;
        }
    }
    let Some(dynamic_parts) = step.dynamic_parts.as_deref() else { return Ok(()) };
    let fields = step.request.headers.len();
    let of_headers = dynamic_parts.headers.iter().map(|(place, _)| place).chain(&dynamic_parts.trace);
    must(of_headers.into_iter().all(|place| *place < fields), "a header that is not there")?;
    let is_kept = |variable: u32| (variable as usize) < memory.variables.len();
    let mut taken = dynamic_parts.takes.iter().flat_map(|taking| taking.of.into_iter().chain([taking.variable]));
    must(taken.all(is_kept), "a variable that is not there")?;
    dynamic_parts.renderings().try_for_each(|rendering| rendering.check_references(known(memory)))
}

/// A step lies at each of its origins, and at no other.
fn validate_origins(step: &Step) -> Validity {
    let named = step.dynamic_parts.as_deref().map_or(0, |parts| parts.origins.len());
    let is_one = |step: &Step| step.at_origins.is_empty();
    must(named == step.at_origins.len() && step.at_origins.iter().all(is_one), "an origin without a step")
}

fn known(memory: &Memory) -> SlotCounts {
    SlotCounts {
        variables: memory.variables.len(),
        columns: memory.columns.len(),
        counters: memory.counters as usize,
        expressions: memory.expressions.len(),
    }
}

/// The numbers of things that nodes refer to.
struct Places<'a> {
    memory: &'a Memory,
    barriers: usize,
    targets: usize,
}

impl Places<'_> {
    fn validate_nodes(&self, nodes: &[Node]) -> Validity {
        for node in nodes {
            self.validate_node(node)?;
            node.inner().try_for_each(|inner| self.validate_nodes(inner))?;
        }
        Ok(())
    }

    /// One node, without those in it.
    fn validate_node(&self, node: &Node) -> Validity {
        let is_kept = |variable: u32| (variable as usize) < self.memory.variables.len();
        match node {
            Node::If { condition, .. } | Node::Check { condition, .. } => self.validate_expression(*condition),
            Node::Loop(one) => {
                one.expression().map_or(Ok(()), |expression| self.validate_expression(expression))?;
                let is_there = !matches!(one.rounds, Rounds::Items { variable, .. } if !is_kept(variable));
                must(is_there, "an item without a variable")
            }
            Node::Set(assignments) => assignments.iter().try_for_each(|assignment| {
                let is_there = !matches!(assignment.to, AssignedTo::Variable(variable) if !is_kept(variable));
                must(is_there, "a variable that is not there")?;
                self.validate_value(&assignment.value)
            }),
            Node::Record(all) => all.iter().try_for_each(|one| self.validate_value(&one.value)),
            Node::Barrier(barrier) => must((*barrier as usize) < self.barriers, "a meeting that is not there"),
            Node::Messaging { target, .. } => must(*target < self.targets, "a conversation with nobody"),
            _ => Ok(()),
        }
    }

    fn validate_value(&self, value: &ValuePattern) -> Validity {
        value.rendering().map_or(Ok(()), |rendering| rendering.check_references(known(self.memory)))
    }

    fn validate_expression(&self, number: u32) -> Validity {
        must((number as usize) < self.memory.expressions.len(), "a condition that is not there")
    }
}
