//! Lowering of control flow: loops, values that are set, checks, and what follows a failure.

use plan::{AssignedTo, Assignment, Measurement, Node, OnFailure, ROUNDS_MAX, Rounds as PlanRounds};

use super::nodes::Nodes;
use crate::diagnostic::Problem;
use crate::file::{Action, AfterFailure, Expression, Loop, RetryOptions, Rounds, SetValue, Step};
use crate::source::Span;

impl Nodes<'_, '_> {
    /// The number of an expression.
    pub(super) fn condition(&mut self, condition: &Expression) -> u32 {
        self.dynamic_parts.naming.at = condition.at;
        self.dynamic_parts.naming.expression_number(&condition.text)
    }

    /// The rounds of a loop that is more than a fixed number of them.
    pub(super) fn rounds(&mut self, step: &Step, one: &Loop) -> PlanRounds {
        match &one.rounds {
            Rounds::Count { least, most } => {
                self.dynamic_parts.naming.at = step.at;
                PlanRounds::Times(self.dynamic_parts.naming.expression_number(&drawn(*least, *most)))
            }
            Rounds::Times(times) => PlanRounds::Times(self.condition(times)),
            Rounds::During(time) => PlanRounds::During(*time),
            Rounds::Items { list, item, at_once } => {
                let list = self.condition(list);
                let variable = self.variable(&item.text).unwrap_or_default();
                PlanRounds::Items { list, variable, is_concurrent: at_once.is_some() }
            }
            Rounds::Condition { condition, is_until, most, within } => PlanRounds::Condition {
                condition: self.condition(condition),
                is_until: *is_until,
                most: most.unwrap_or(ROUNDS_MAX),
                within: *within,
            },
        }
    }

    /// The variables of a step that sets them. Errors are reported and left out.
    pub(super) fn assignments(&mut self, values: &[SetValue]) -> Vec<Assignment> {
        let mut all = Vec::new();
        for SetValue { name, value } in values {
            self.dynamic_parts.naming.at = name.at;
            let pattern = self.dynamic_parts.value_pattern(value);
            let pattern = self.dynamic_parts.reported(name.at, pattern);
            let assigned = self.variable(&name.text).zip(pattern);
            let to = AssignedTo::Variable;
            all.extend(assigned.map(|(variable, value)| Assignment {
                to: to(variable),
                name: name.text.clone(),
                value,
            }));
        }
        all
    }

    /// The values of a step that records some. Errors are reported and left out.
    pub(super) fn measurements(&mut self, values: &[SetValue]) -> Vec<Measurement> {
        let mut all = Vec::new();
        for SetValue { name, value } in values {
            self.dynamic_parts.naming.at = name.at;
            let pattern = self.dynamic_parts.value_pattern(value);
            let pattern = self.dynamic_parts.reported(name.at, pattern);
            let figures = &self.dynamic_parts.file.figures;
            let figure = figures.iter().position(|figure| figure.own.name == name.text);
            all.extend(figure.zip(pattern).map(|(figure, value)| Measurement { figure: figure as u32, value }));
        }
        all
    }

    /// A check; checks of one name are counted together.
    pub(super) fn check(&mut self, step: &Step, condition: &Expression) -> Node {
        let checks = &mut self.program.checks;
        let number = checks.iter().position(|known| *known == step.name).unwrap_or_else(|| {
            checks.push(step.name.clone());
            checks.len() - 1
        });
        Node::Check { number, condition: self.condition(condition), on_failure: self.without_retry(step) }
    }

    /// The action after a failure of a step.
    pub(super) fn on_failure(&mut self, step: &Step) -> OnFailure {
        let file = self.dynamic_parts.file;
        match step.on_failure.as_ref().or(file.defaults.on_failure.as_ref()) {
            None => OnFailure::Next,
            Some(AfterFailure { retry: None, then, .. }) => *then,
            Some(AfterFailure { retry: Some(retry), then, at }) => {
                if *retry == RetryOptions::at_once(retry.most) && *then == OnFailure::Next {
                    return OnFailure::Retry(retry.most);
                }
                self.retry(retry, *then, *at).map_or(OnFailure::Next, OnFailure::RetryBy)
            }
        }
    }

    /// The number of a retry; `None`: there are too many, which is reported.
    fn retry(&mut self, retry: &RetryOptions, then: OnFailure, at: Span) -> Option<u16> {
        let condition = retry.condition.as_ref().map(|condition| self.condition(condition));
        let retry = retry.in_plan(condition, then);
        let retries = &mut self.program.retries;
        let number = retries.iter().position(|known| *known == retry).unwrap_or_else(|| {
            retries.push(retry);
            retries.len() - 1
        });
        let number = u16::try_from(number).ok();
        if number.is_none() {
            self.dynamic_parts.found.add(at, Problem::Program { fault: plan::ProgramFault::TooLarge });
        }
        number
    }

    /// The nodes of a step that has others, as one that is tried again, or whose failure something follows.
    pub(super) fn retried(&mut self, step: &Step, nodes: Vec<Node>) -> Vec<Node> {
        let Some(AfterFailure { at, retry, then }) = &step.on_failure else { return nodes };
        if nodes.is_empty() || (retry.is_none() && *then == OnFailure::Next) {
            return nodes;
        }
        let once = RetryOptions::at_once(0);
        match self.retry(retry.as_ref().unwrap_or(&once), *then, *at) {
            Some(retry) => {
                vec![Node::Retried { retry, is_whole: matches!(step.action, Action::Transaction { .. }), nodes }]
            }
            None => nodes,
        }
    }

    /// The same for what is never tried again: a retry of the defaults, or of the connection, is for requests.
    pub(super) fn without_retry(&mut self, step: &Step) -> OnFailure {
        let own = step.on_failure.as_ref();
        own.or(self.dynamic_parts.file.defaults.on_failure.as_ref()).map_or(OnFailure::Next, |after| after.then)
    }

    fn variable(&self, name: &str) -> Option<u32> {
        self.dynamic_parts.naming.number(name)
    }
}

/// The source of a number of rounds, which is drawn where the two differ.
fn drawn(least: u32, most: u32) -> String {
    match most - least {
        0 => least.to_string(),
        more => format!("{least} + Math.floor(Math.random() * {})", more + 1),
    }
}
