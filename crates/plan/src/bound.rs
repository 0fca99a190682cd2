//! Bounds of numbers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A bound of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The comparison.
    pub relation: Relation,
    /// The limit.
    pub limit: u64,
}

/// A comparison of a number with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the sign of its name")]
pub enum Relation {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
}

impl fmt::Display for Relation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
        })
    }
}

impl Bound {
    /// Whether a number is within it.
    #[inline]
    pub fn holds(self, number: u64) -> bool {
        match self.relation {
            Relation::Below => number < self.limit,
            Relation::AtMost => number <= self.limit,
            Relation::Above => number > self.limit,
            Relation::AtLeast => number >= self.limit,
            Relation::Equal => number == self.limit,
        }
    }
}
