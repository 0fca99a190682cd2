//! Loops whose number of rounds is known only while they run.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{Node, OnFailure, ROUNDS_MAX};
use crate::nesting::deeper;

/// The most items of a list that a loop goes through.
pub const ITEMS_MAX: usize = 100_000;

/// A loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// What ends it.
    pub rounds: Rounds,
    /// The time from the beginning of one round to that of the next, at least.
    pub every: Option<Duration>,
    /// The action when it reaches its limit, or what it goes by has no value.
    pub on_failure: OnFailure,
    /// The nodes of a round, in sequence.
    #[serde(deserialize_with = "deeper")]
    pub nodes: Vec<Node>,
}

/// What ends a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rounds {
    /// A condition.
    Condition {
        /// Its number among the expressions of the scenario.
        condition: u32,
        /// Whether it is checked after each round, and ends the loop when true; otherwise it is checked before each
        /// round, and ends the loop when false.
        is_until: bool,
        /// The maximum number of rounds, after which the loop fails.
        most: u32,
        /// The time after which no round begins, and the loop fails.
        within: Option<Duration>,
    },
    /// The end of a list: one round for each item.
    Items {
        /// The list, by its number among the expressions of the scenario.
        list: u32,
        /// The variable that has the item.
        variable: u32,
        /// Whether the rounds are concurrent: the loop is then one [`Node::Parallel`], whose steps each item has.
        is_concurrent: bool,
    },
    /// A number of rounds, by its number among the expressions of the scenario.
    Times(u32),
    /// A time after which no round begins.
    During(Duration),
}

impl Loop {
    /// The most rounds.
    pub fn rounds_most(&self) -> u32 {
        match self.rounds {
            Rounds::Condition { most, .. } => most,
            Rounds::Items { .. } => ITEMS_MAX as u32,
            Rounds::Times(_) | Rounds::During(_) => ROUNDS_MAX,
        }
    }

    /// Whether its rounds are concurrent.
    pub fn is_concurrent(&self) -> bool {
        matches!(self.rounds, Rounds::Items { is_concurrent: true, .. })
    }

    /// Whether it is what concurrent rounds must be.
    pub(super) fn is_well_formed(&self) -> bool {
        !self.is_concurrent() || self.every.is_none() && matches!(self.nodes[..], [Node::Parallel { .. }])
    }

    /// The expression that it goes by.
    pub fn expression(&self) -> Option<u32> {
        match self.rounds {
            Rounds::Condition { condition, .. } => Some(condition),
            Rounds::Items { list, .. } => Some(list),
            Rounds::Times(times) => Some(times),
            Rounds::During(_) => None,
        }
    }
}
