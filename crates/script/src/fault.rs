//! Errors of expressions.

use crate::bounds::{EXPRESSIONS_MAX, MEMORY_BYTES_MAX, TEXT_BYTES_MAX, TIME_MAX};

/// Maximum length of an exception's message.
const MESSAGE_CHARS_MAX: usize = 200;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFault {
    /// It is not JavaScript.
    #[error("it is not a JavaScript expression: {message}")]
    Syntax {
        /// The message of the interpreter.
        message: String,
        /// The line in the expression, from 1, if known.
        line: Option<u32>,
    },
    /// Its text exceeds the limit.
    #[error("it has {bytes} bytes, at most {TEXT_BYTES_MAX} are read; write it shorter")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The interpreter has the maximum number of expressions.
    #[error("there are more than {EXPRESSIONS_MAX} expressions; use fewer")]
    TooMany,
    /// It threw an exception.
    #[error("it threw: {message}")]
    Thrown {
        /// The exception, as text.
        message: String,
    },
    /// It exceeded its time limit.
    #[error("it took longer than {TIME_MAX:?}; do less in it")]
    TimedOut,
    /// It exceeded its memory limit.
    #[error("it wanted more than {} MiB of memory; do less in it", MEMORY_BYTES_MAX >> 20)]
    Memory,
    /// Its result is not a value: a function, a symbol, a promise.
    #[error("it gives {kind}, which is not a value; give a number, a text, true, false, null, an array or an object")]
    NoValue {
        /// The kind of its result.
        kind: &'static str,
    },
    /// The interpreter did not start.
    #[error("the interpreter did not start: {message}; free some memory")]
    Start {
        /// The error message.
        message: String,
    },
}

impl ScriptFault {
    /// An exception with this message, of which the beginning is kept.
    pub(crate) fn thrown(message: &str) -> Self {
        Self::Thrown { message: message.chars().take(MESSAGE_CHARS_MAX).collect() }
    }
}
