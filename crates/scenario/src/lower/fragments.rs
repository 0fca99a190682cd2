//! Lowering of calls of fragments: their arguments are variables that are set in front of their steps.

use plan::{AssignedTo, Assignment, Node};

use super::nodes::Nodes;
use crate::file::{FragmentCall, Messaging, Step};

impl Nodes<'_, '_> {
    /// The nodes of a call; `messaging`: the connection around it.
    pub(super) fn call(&mut self, step: &Step, call: &FragmentCall, messaging: Option<&Messaging>) -> Vec<Node> {
        let assignments: Vec<Assignment> =
            call.args.iter().filter_map(|arg| self.argument(step, &call.fragment.text, arg)).collect();
        let mut nodes = if assignments.is_empty() { Vec::new() } else { vec![Node::Set(assignments)] };
        self.dynamic_parts.naming.enter(&call.fragment.text);
        nodes.extend(self.all(&call.steps, messaging));
        self.dynamic_parts.naming.leave();
        self.retried(step, nodes)
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
