//! Plain expressions: names, members, indexes, operators, and calls of well-known functions. They are evaluated without
//! an interpreter, and give what JavaScript gives.
//!
//! Whatever is in doubt is left to JavaScript: an expression when it is compiled, or a value when it is evaluated. A
//! plain expression takes values as they are: texts are borrowed, and members of JSON are found in its text.

mod evaluate;
mod items;
mod json;
mod methods;
mod normal;
mod number;
mod operand;
mod operators;
mod parser;
mod tokens;
mod tree;

#[cfg(test)]
mod differential;
#[cfg(test)]
mod tests;

use plan::Value;

use crate::bounds::TEXT_BYTES_MAX;
use crate::{Draws, ScriptFault};
use evaluate::Evaluation;
use operand::Stop;

/// A plain expression, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainProgram {
    root: tree::PlainNode,
    draws: bool,
}

impl PlainProgram {
    /// Compiles an expression; `None`: it is left to JavaScript. `uses`: the names with values, as indices of `names`.
    pub fn compile(text: &str, names: &[&str], uses: &[u32]) -> Option<Self> {
        // JavaScript takes no text with a NUL.
        if text.len() > TEXT_BYTES_MAX || text.contains('\0') {
            return None;
        }
        parser::parse(text, parser::Known { names, uses }).map(|root| Self { draws: root.draws(), root })
    }

    /// The value of the expression; `None`: these values are left to JavaScript. `values`: those that it uses.
    ///
    /// # Errors
    /// It throws.
    pub fn evaluate(&self, values: &[&Value], draws: &mut Draws) -> Option<Result<Value, ScriptFault>> {
        match evaluate::evaluate(&self.root, &mut Evaluation { values, draws }) {
            Ok(value) => Some(Ok(value)),
            Err(Stop::Thrown(message)) => Some(Err(ScriptFault::thrown(&message))),
            Err(Stop::Unsure | Stop::Nothing) => None,
        }
    }

    /// Whether its value may depend on chance.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// The elements of its value where it is only the name of a list; `None`: they are those of its value.
    pub fn items(&self, values: &[&Value]) -> Option<Vec<Value>> {
        match (&self.root, values) {
            (tree::PlainNode::Given(place), values) => match values.get(*place)? {
                Value::Json(json) => items::items(json).ok(),
                _ => None,
            },
            _ => None,
        }
    }
}
