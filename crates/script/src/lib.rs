//! Expressions of scenario files: JavaScript over `plan::Value`, compiled once, bounded in time and memory,
//! sandboxed. Plain ones need no interpreter.
//!
//! An expression is a function of its variables. It has no files, no network, no clock and no randomness but those
//! that are given to it, and no effect on the next expression.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod bounds;
mod compiled;
mod fault;
mod interpreter;
mod names;
mod plain;

pub use bounds::{EXPRESSIONS_MAX, MEMORY_BYTES_MAX, STACK_BYTES_MAX, TEXT_BYTES_MAX, TIME_MAX};
pub use compiled::JavaScript;
pub use fault::ScriptFault;
pub use interpreter::{Draws, Expression, Interpreter};
pub use plain::PlainProgram;
