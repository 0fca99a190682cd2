//! What an expression may use.

use std::time::Duration;

/// The longest that an expression may take, on a core of its own.
pub const TIME_MAX: Duration = Duration::from_millis(50);
/// The most memory of an interpreter, all its expressions together.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;
/// The most stack of an expression.
pub const STACK_BYTES_MAX: usize = 256 << 10;
/// The longest text of an expression.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
/// The most expressions of an interpreter.
pub const EXPRESSIONS_MAX: usize = 100_000;
