//! The evaluator of a scenario's expressions on a shard. The engine knows only traits: `plan::Interpreters`, `Evaluate`. A runtime
//! creates an interpreter on the thread of its shard, and none without expressions.

use plan::{Evaluate, Value};

/// The evaluator of the expressions of a scenario on this shard.
pub(super) struct ScriptEvaluator {
    pub(super) interpreter: Option<Result<Box<dyn Evaluate>, String>>,
    /// Values on their way to it that are made for it alone.
    pub(super) given: Vec<Value>,
}

impl ScriptEvaluator {
    pub(super) fn new(interpreter: Option<Result<Box<dyn Evaluate>, String>>) -> Self {
        Self { interpreter, given: Vec::new() }
    }

    /// What an expression uses, by index among its names.
    pub(super) fn uses(&self, expression: u32) -> &[u32] {
        match &self.interpreter {
            Some(Ok(interpreter)) => interpreter.uses(expression),
            _ => &[],
        }
    }

    /// Whether the value of an expression may depend on chance.
    pub(super) fn draws(&self, expression: u32) -> bool {
        match &self.interpreter {
            Some(Ok(interpreter)) => interpreter.draws(expression),
            _ => true,
        }
    }
}
