//! JavaScript expressions, and their evaluators.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;

use crate::Value;

/// A column of the rows of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The number of the feed in the run.
    pub feed: u32,
    /// The index among the columns of the feed.
    pub column: u32,
}

/// An expression, and the names available to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    /// The JavaScript source.
    pub text: String,
    /// Names of variables, and `row.column` for columns, with their meanings.
    pub names: Vec<(String, Meaning)>,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meaning {
    /// The variable of this number.
    Variable(u32),
    /// The column of this number, as slots have it.
    Column(u32),
    /// The constant of this number, which all users share.
    Constant(u32),
    /// What the program itself knows.
    Builtin(Builtin),
}

/// A value that the program itself knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Builtin {
    /// The number of the user, from 1, unique over all workers.
    VuId,
    /// The number of its iteration, from 0.
    VuIteration,
    /// The name of its scenario.
    VuScenario,
    /// The number of the iteration in the scenario, from 0, unique over all workers.
    VuScenarioIteration,
    /// The number of the worker, from 1; 1 without workers.
    VuWorker,
    /// The beginning of the run, in milliseconds since 1970.
    VuStartTime,
    /// The status of the last step that ended: a number, a word, or null without a response.
    ResponseStatus,
    /// Whether that step failed; null before the first.
    ResponseFailed,
    /// The time of that step in milliseconds; null before the first.
    ResponseTimeMs,
    /// The number of the round of the innermost loop, from 0; null outside.
    LoopIndex,
}

impl Builtin {
    /// All, with their names in expressions.
    pub const ALL: [(&str, Self); 10] = [
        ("vu.id", Self::VuId),
        ("vu.iteration", Self::VuIteration),
        ("vu.scenario", Self::VuScenario),
        ("vu.scenario_iteration", Self::VuScenarioIteration),
        ("vu.worker", Self::VuWorker),
        ("vu.start_time", Self::VuStartTime),
        ("response.status", Self::ResponseStatus),
        ("response.failed", Self::ResponseFailed),
        ("response.time_ms", Self::ResponseTimeMs),
        ("loop.index", Self::LoopIndex),
    ];

    /// The words that stand before the dot; no variable has such a name.
    pub const WORDS: [&str; 3] = ["vu", "response", "loop"];

    /// Whether it is about the response of the last step.
    pub fn is_of_response(self) -> bool {
        matches!(self, Self::ResponseStatus | Self::ResponseFailed | Self::ResponseTimeMs)
    }
}

/// The source of random numbers and the clock of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The seed of `Math.random`.
    pub seed: u64,
    /// The time of `Date`, since the Unix epoch.
    pub now: Duration,
}

/// An evaluator for the expressions of one scenario, on one thread.
pub trait Evaluate: Debug {
    /// The names that an expression uses, by their indices.
    fn uses(&self, expression: u32) -> &[u32];

    /// Evaluates an expression. `values`: those that it uses, in that order.
    ///
    /// # Errors
    /// The reason why it has no value, for the user.
    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String>;

    /// The same, of values that stay where they are.
    ///
    /// # Errors
    /// As [`Evaluate::evaluate`].
    fn evaluate_lent(&mut self, expression: u32, values: &[&Value], moment: Moment) -> Result<Value, String> {
        let values: Vec<Value> = values.iter().copied().cloned().collect();
        self.evaluate(expression, &values, moment)
    }

    /// Whether the value of an expression may depend on the seed of the moment.
    fn draws(&self, _: u32) -> bool {
        true
    }

    /// The elements of the list that an expression is the name of; `None`: its value is to be evaluated, and has them.
    fn items_lent(&self, _: u32, _: &[&Value]) -> Option<Vec<Value>> {
        None
    }
}

/// A factory of evaluators: they stay on the thread that creates them.
pub trait Interpreters: Send + Sync + Debug {
    /// An evaluator for these expressions.
    ///
    /// # Errors
    /// An expression cannot be compiled, or there is no memory; the text is for the user.
    fn start(&self, expressions: &[Expression]) -> Result<Box<dyn Evaluate>, String>;

    /// Whether an expression is evaluated without JavaScript, for all values of ordinary types.
    fn is_plain(&self, _: &Expression) -> bool {
        false
    }
}
