//! Expressions of scenario files: JavaScript, compiled once, bounded in time and memory, with no way out.
//!
//! An expression is a function of its variables. It finds no files, no net, no clock and no chance but those that are given to it,
//! and nothing that it does is seen by the next one.

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
