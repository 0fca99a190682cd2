//! Lowering of calls of fragments: their arguments are variables that are set in front of their steps.

use plan::{AssignedTo, Assignment, Node};

use super::nodes::Nodes;
use crate::file::{FragmentCall, Step};

impl Nodes<'_, '_> {
    /// What a call begins with, if it has arguments.
    pub(super) fn arguments(&mut self, step: &Step, call: &FragmentCall) -> Vec<Node> {
        let assignments: Vec<Assignment> =
            call.args.iter().filter_map(|arg| self.argument(step, &call.fragment.text, arg)).collect();
        if assignments.is_empty() { Vec::new() } else { vec![Node::Set(assignments)] }
    }

    /// An argument, whose value is made with the names at the call.
    fn argument(
        &mut self,
        step: &Step,
        fragment: &str,
        (name, value): &(String, crate::file::Json),
    ) -> Option<Assignment> {
        self.dynamic_parts.naming.at = step.at;
        let pattern = self.dynamic_parts.value_pattern(value);
        let value = self.dynamic_parts.reported(step.at, pattern)?;
        let variable = self.dynamic_parts.naming.argument(fragment, name)?;
        Some(Assignment { to: AssignedTo::Variable(variable), name: name.clone(), value })
    }
}
