//! Checks of a program: what its nodes refer to is there.

use super::{NODES_MAX, Node, OnFailure, PARALLEL_MAX, PlannedEnd, Program, ProgramFault, ROUNDS_MAX};

impl Program {
    /// `depth`: how much deeper they may lie; and whether a loop is around them.
    pub(super) fn check_nodes(
        &self,
        nodes: &[Node],
        steps: usize,
        (depth, is_in_loop): (usize, bool),
        seen: &mut usize,
    ) -> Result<(), ProgramFault> {
        *seen += nodes.len();
        if *seen > NODES_MAX {
            return Err(ProgramFault::TooLarge);
        }
        let Some(depth) = depth.checked_sub(1) else { return Err(ProgramFault::TooDeep) };
        for node in nodes {
            self.check_node(node, steps, is_in_loop)?;
            if let Node::Parallel { steps: own, .. } = node {
                *seen += own.len();
            }
            if let Node::Choose(choices) = node {
                *seen += choices.len();
            }
            let is_in_loop = is_in_loop || matches!(node, Node::Loop(_) | Node::Repeat { .. });
            for inner in node.inner() {
                self.check_nodes(inner, steps, (depth, is_in_loop), seen)?;
            }
        }
        Ok(())
    }

    /// Checks one node, without those in it.
    fn check_node(&self, node: &Node, steps: usize, is_in_loop: bool) -> Result<(), ProgramFault> {
        let must = |holds: bool, fault| if holds { Ok(()) } else { Err(fault) };
        match node {
            Node::Ask { step, .. } => must(*step < steps, ProgramFault::Nowhere)?,
            Node::Transaction { number, .. } => must(*number < self.transactions.len(), ProgramFault::Nowhere)?,
            Node::Check { number, .. } => must(*number < self.checks.len(), ProgramFault::NoCheck)?,
            Node::Record(all) => {
                must(all.iter().all(|one| (one.figure as usize) < self.figures.len()), ProgramFault::Figures)?;
            }
            Node::Repeat { least, most, .. } => must(least <= most && *most <= ROUNDS_MAX, ProgramFault::Rounds)?,
            Node::Loop(one) => {
                must(one.rounds_most() <= ROUNDS_MAX, ProgramFault::Rounds)?;
                must(one.is_well_formed(), ProgramFault::Parallel)?;
            }
            Node::Choose(choices) => {
                must(choices.iter().any(|choice| choice.weight > 0), ProgramFault::Weights)?;
            }
            Node::InTurn(nodes) => must(!nodes.is_empty(), ProgramFault::Weights)?,
            Node::Parallel { most, steps: own, .. } => {
                must(!own.is_empty() && (1..=PARALLEL_MAX).contains(most), ProgramFault::Parallel)?;
                must(own.iter().all(|step| *step < steps), ProgramFault::Nowhere)?;
            }
            Node::Retried { retry, .. } => self.check_retry(*retry, is_in_loop)?,
            Node::End(PlannedEnd::Round | PlannedEnd::Loop) => must(is_in_loop, ProgramFault::NoLoop)?,
            Node::Think(_) | Node::Barrier(_) | Node::Set(_) | Node::End(_) => {}
            Node::Shuffle(_) | Node::If { .. } | Node::Messaging { .. } => {}
        }
        match node.on_failure() {
            OnFailure::Break => must(is_in_loop, ProgramFault::NoLoop),
            OnFailure::RetryBy(number) => self.check_retry(number, is_in_loop),
            _ => Ok(()),
        }
    }

    fn check_retry(&self, number: u16, is_in_loop: bool) -> Result<(), ProgramFault> {
        match self.retries.get(usize::from(number)) {
            Some(retry) if retry.then == OnFailure::Break && !is_in_loop => Err(ProgramFault::NoLoop),
            Some(_) => Ok(()),
            None => Err(ProgramFault::Retry),
        }
    }
}
