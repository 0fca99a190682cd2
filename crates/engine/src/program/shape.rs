//! Static analysis of programs.

use plan::{Node, Rounds};

pub(super) fn asks_first(nodes: &[Node]) -> bool {
    let Some(first) = nodes.first() else { return false };
    match first {
        Node::Ask { .. } => true,
        Node::Think(_) | Node::Parallel { .. } | Node::Barrier(_) | Node::If { .. } => false,
        Node::Set(_) | Node::Record(_) | Node::Check { .. } | Node::End(_) => false,
        Node::Loop(one) => matches!(one.rounds, Rounds::Condition { is_until: true, .. }) && asks_first(&one.nodes),
        Node::Messaging { nodes, .. } => asks_first(nodes),
        Node::Transaction { nodes, .. } | Node::Retried { nodes, .. } => asks_first(nodes),
        Node::Repeat { least, nodes, .. } => *least > 0 && asks_first(nodes),
        Node::Choose(choices) => {
            choices.iter().filter(|choice| choice.weight > 0).all(|choice| asks_first(&choice.nodes))
        }
        Node::Shuffle(nodes) | Node::InTurn(nodes) => {
            !nodes.is_empty() && nodes.iter().all(|node| asks_first(std::slice::from_ref(node)))
        }
    }
}

/// The first step that some path through it requests.
pub(super) fn first_step(nodes: &[Node]) -> Option<u32> {
    nodes.iter().find_map(|node| match node {
        Node::Ask { step, .. } => Some(*step as u32),
        Node::Parallel { steps, .. } => steps.first().map(|step| *step as u32),
        node => node.inner().find_map(first_step),
    })
}
