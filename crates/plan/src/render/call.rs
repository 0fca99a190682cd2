//! Calls of functions from expressions: the values of their arguments are known.

use super::{Function, NotFilled, Scope, Term, called};
use crate::Value;
use crate::pattern::PatternFault;

/// The draws and the time of a call.
struct CallScope<'a> {
    draw: &'a mut dyn FnMut(u64) -> u64,
    now_ns: u128,
}

impl Scope for CallScope<'_> {
    fn variable(&self, _: u32) -> &Value {
        &Value::Null
    }

    fn column(&mut self, _: u32) -> Option<Value> {
        None
    }

    fn draw(&mut self, bound: u64) -> u64 {
        (self.draw)(bound)
    }

    fn now_ns(&self) -> u128 {
        self.now_ns
    }

    fn count(&mut self, _: u32) -> u64 {
        0
    }

    fn evaluate(&mut self, _: u32) -> Result<Value, String> {
        Ok(Value::Null)
    }
}

impl Function {
    /// Its value for these arguments. `draw`: as [`Scope::draw`]. Counters are no functions of their arguments, and
    /// have none here.
    ///
    /// # Errors
    /// The arguments are too few, too many, or none of its.
    #[inline]
    pub fn call(
        self,
        arguments: Vec<Value>,
        draw: &mut dyn FnMut(u64) -> u64,
        now_ns: u128,
    ) -> Result<Value, NotFilled> {
        if !self.takes(arguments.len()) || self == Self::Counter {
            return Err(NotFilled::Expression { reason: PatternFault::Arguments(self).to_string() });
        }
        let terms: Vec<Term> = arguments.into_iter().map(Term::Constant).collect();
        called(self, &terms, &mut CallScope { draw, now_ns })
    }
}
