//! Expressions in JavaScript, and whoever evaluates them.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;

use crate::Value;

/// A column of the rows of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The number of the feed in the run.
    pub feed: u32,
    /// Its number among the columns of the feed.
    pub column: u32,
}

/// An expression, and all names that there are for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    /// In JavaScript.
    pub text: String,
    /// Names of variables, and `row.column` for columns, with what they mean.
    pub names: Vec<(String, Meaning)>,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meaning {
    /// The variable of this number.
    Variable(u32),
    /// The column of this number, as slots have it.
    Column(u32),
}

/// What an evaluation draws from, and the clock that it sees.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// For `Math.random`.
    pub seed: u64,
    /// For `Date`, since the epoch of Unix.
    pub now: Duration,
}

/// The expressions of one scenario, on one thread.
pub trait Evaluate: Debug {
    /// What an expression uses, by places among its names.
    fn uses(&self, expression: u32) -> &[u32];

    /// What an expression gives. `values`: those that it uses, in that order.
    ///
    /// # Errors
    /// Why it gives nothing, for a person.
    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String>;
}

/// Makes interpreters: they stay on the thread that asks for one.
pub trait Interpreters: Send + Sync + Debug {
    /// One for these expressions.
    ///
    /// # Errors
    /// An expression cannot be compiled, or there is no memory; for a person.
    fn start(&self, expressions: &[Expression]) -> Result<Box<dyn Evaluate>, String>;
}
