//! What can be said of a program before it runs: its requests, their number at a time, its pauses.

use super::{Node, OnFailure, Retry};

/// The exchanges of these nodes, where that number is fixed.
pub(super) fn exactly(nodes: &[Node]) -> Option<u64> {
    let same = |all: Vec<Option<u64>>| {
        let first = (*all.first()?)?;
        all.iter().all(|other| *other == Some(first)).then_some(first)
    };
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) | Node::Set(_) | Node::Record(_) => Some(0),
        // A check that fails ends the iteration, unless it goes on.
        Node::Check { on_failure, .. } => (*on_failure == OnFailure::GoOn).then_some(0),
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
        Node::Loop(_) | Node::End(_) => None,
        // As of a step that is tried again: its first try.
        Node::Retried { nodes, .. }
        | Node::Transaction { nodes, .. }
        | Node::Messaging { nodes, .. }
        | Node::Shuffle(nodes) => exactly(nodes),
    };
    nodes.iter().try_fold(0u64, |sum, node| Some(sum.saturating_add(of_node(node)?)))
}

/// The most concurrent exchanges of one user in these nodes.
pub(super) fn widest(nodes: &[Node]) -> u64 {
    let of_node = |node: &Node| match node {
        Node::Parallel { most, steps, .. } => u64::from(*most).min(steps.len() as u64).max(1),
        Node::Loop(one) if one.is_concurrent() => one.nodes.iter().map(at_a_time).max().unwrap_or(1),
        node => node.inner().map(widest).max().unwrap_or(1),
    };
    nodes.iter().map(of_node).max().unwrap_or(1)
}

/// The exchanges at a time that a node allows, however many there are.
fn at_a_time(node: &Node) -> u64 {
    match node {
        Node::Parallel { most, .. } => u64::from(*most),
        _ => 1,
    }
}

/// The most requests of these nodes.
pub(super) fn most(nodes: &[Node], retries: &[Retry], of_step: &dyn Fn(usize) -> u64) -> u64 {
    let inner = |nodes: &[Node]| most(nodes, retries, of_step);
    let tries = |on_failure: &OnFailure| match on_failure {
        OnFailure::Retry(times) => 1 + u64::from(*times),
        OnFailure::RetryBy(number) => retries.get(usize::from(*number)).map_or(1, |retry| 1 + u64::from(retry.most)),
        OnFailure::GoOn | OnFailure::Next | OnFailure::Break | OnFailure::Stop | OnFailure::StopRun => 1,
    };
    let of_node = |node: &Node| match node {
        Node::Think(_) | Node::Barrier(_) | Node::Set(_) | Node::Record(_) | Node::Check { .. } | Node::End(_) => 0,
        Node::Retried { retry, nodes, .. } => inner(nodes).saturating_mul(tries(&OnFailure::RetryBy(*retry))),
        Node::Ask { step, on_failure } => of_step(*step).saturating_mul(tries(on_failure)),
        Node::Parallel { steps, on_failure, .. } => {
            let once = steps.iter().fold(0, |sum: u64, step| sum.saturating_add(of_step(*step)));
            once.saturating_mul(tries(on_failure))
        }
        Node::If { then, otherwise, .. } => inner(then).max(inner(otherwise)),
        Node::Choose(choices) => choices.iter().map(|choice| inner(&choice.nodes)).max().unwrap_or(0),
        Node::InTurn(nodes) => nodes.iter().map(|node| inner(std::slice::from_ref(node))).max().unwrap_or(0),
        Node::Repeat { most: rounds, nodes, .. } => inner(nodes).saturating_mul(u64::from(*rounds)),
        Node::Loop(one) => inner(&one.nodes).saturating_mul(u64::from(one.rounds_most())),
        Node::Transaction { nodes, .. } | Node::Messaging { nodes, .. } | Node::Shuffle(nodes) => inner(nodes),
    };
    nodes.iter().fold(0, |sum, node| sum.saturating_add(of_node(node)))
}

/// Whether there is a pause in them.
pub(super) fn pause(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Think(_) | Node::Barrier(_) => true,
        Node::Loop(one) if one.every.is_some() => true,
        node => node.inner().any(pause),
    })
}

/// Whether some path through them makes a request.
pub(super) fn asks_something(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Ask { .. } | Node::Parallel { .. } => true,
        Node::Repeat { most: 0, .. } => false,
        Node::Choose(choices) => choices.iter().any(|choice| choice.weight > 0 && asks_something(&choice.nodes)),
        node => node.inner().any(asks_something),
    })
}
