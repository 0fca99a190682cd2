//! Expressions of scenario files: JavaScript, compiled once, limited in time and memory, sandboxed.
//!
//! An expression is a function of its variables. It has no access to files or the network, and no clock and no
//! randomness except the given ones; its side effects are not visible to the next one.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod bounds;
mod compiled;
mod fault;
mod interpreter;
mod names;

pub use bounds::{EXPRESSIONS_MAX, MEMORY_BYTES_MAX, STACK_BYTES_MAX, TEXT_BYTES_MAX, TIME_MAX};
pub use compiled::JavaScript;
pub use fault::ScriptFault;
pub use interpreter::{Draws, Expression, Interpreter};
