//! What can be wrong with an expression.

use crate::bounds::{EXPRESSIONS_MAX, MEMORY_BYTES_MAX, TEXT_BYTES_MAX, TIME_MAX};

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFault {
    /// It is no JavaScript.
    #[error("it is not a JavaScript expression: {message}")]
    Syntax {
        /// What the interpreter says of it.
        message: String,
        /// The line in the expression, from 1 on, where it is known.
        line: Option<u32>,
    },
    /// It has more text than is read.
    #[error("it has {bytes} bytes, at most {TEXT_BYTES_MAX} are read; write it shorter")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// There are more of them than one interpreter keeps.
    #[error("there are more than {EXPRESSIONS_MAX} expressions; use fewer")]
    TooMany,
    /// It threw something.
    #[error("it threw: {message}")]
    Thrown {
        /// What, as a text.
        message: String,
    },
    /// It took longer than it may.
    #[error("it took longer than {TIME_MAX:?}; do less in it")]
    TimedOut,
    /// It wanted more memory than it may have.
    #[error("it wanted more than {} MiB of memory; do less in it", MEMORY_BYTES_MAX >> 20)]
    Memory,
    /// It gave something that is not a value: a function, a symbol, a promise.
    #[error("it gives {kind}, which is not a value; give a number, a text, true, false, null, an array or an object")]
    NoValue {
        /// What it gave.
        kind: &'static str,
    },
    /// The interpreter did not start.
    #[error("the interpreter did not start: {message}; free some memory")]
    Start {
        /// What it says.
        message: String,
    },
}
