//! Figures of the user's own, and what steps record into them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Node, Program};
use crate::ValuePattern;

/// The most figures of a run.
pub const FIGURES_MAX: usize = 64;

/// A figure of the user's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnFigure {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: OwnKind,
    /// The unit of its values, for views; may be empty.
    pub unit: String,
    /// Of a trend: the distance of two values that are told apart.
    pub step: f64,
}

/// The kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnKind {
    /// A sum.
    Counter,
    /// A distribution of values.
    Trend,
    /// How many of all were true.
    Share,
    /// The least, the greatest and the last of values.
    Gauge,
}

impl OwnKind {
    /// Its word in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Trend => "trend",
            Self::Share => "share",
            Self::Gauge => "gauge",
        }
    }
}

/// A value of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The number of the figure.
    pub figure: u32,
    /// The value: a number, or true or false.
    pub value: ValuePattern,
}

impl OwnFigure {
    /// Whether its step can divide values.
    pub(super) fn is_valid(&self) -> bool {
        self.step.is_normal() && self.step > 0.0
    }
}

impl Program {
    /// The figures that it records, by their numbers, in order.
    pub fn recorded(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        [&self.start, &self.nodes, &self.stop].into_iter().for_each(|nodes| collect(nodes, &mut found));
        found
    }
}

fn collect(nodes: &[Node], found: &mut BTreeSet<usize>) {
    for node in nodes {
        if let Node::Record(all) = node {
            found.extend(all.iter().map(|one| one.figure as usize));
        }
        node.inner().for_each(|nodes| collect(nodes, found));
    }
}
