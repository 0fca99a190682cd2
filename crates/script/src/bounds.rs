//! Resource limits of expressions.

use std::time::Duration;

/// Maximum CPU time of an expression.
pub const TIME_MAX: Duration = Duration::from_millis(50);
/// Maximum memory of an interpreter, for all its expressions together.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Maximum stack of an expression.
pub const STACK_BYTES_MAX: usize = 256 << 10;
/// Maximum text length of an expression.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum number of expressions per interpreter.
pub const EXPRESSIONS_MAX: usize = 100_000;
