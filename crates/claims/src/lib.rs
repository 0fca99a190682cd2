//! Shared by tests: counted assertions, the [`seeds`] that a run plays, and [`wait_for`]. No program contains this
//! crate.
//!
//! A test that skips a check on a busy machine judges fewer claims there than on a quiet one: the counts show it. A
//! crate of tests uses these assertions instead of those of the standard library:
//!
//! `#[macro_use] extern crate claims;`
//!
//! What is asserted in turns whose number depends on time is judged [`as_one`] claim.
//!
//! Claims are counted per named thread: the thread of a test has the name of the test. When it ends, it appends a
//! line with its count to the file that the environment names; without that nothing is written.

pub mod seeds;
mod wait;

use std::cell::Cell;
use std::io::Write;

pub use wait::wait_for;

/// Environment variable with the file that counts are written to.
pub const FILE_VARIABLE: &str = "XTASK_CLAIMS";

/// The count of a thread, written when the thread ends.
struct Count(Cell<u64>);

thread_local! {
    static COUNT: Count = const { Count(Cell::new(0)) };
    /// Whether what this thread asserts is a part of a claim that is counted.
    static IS_PART: Cell<bool> = const { Cell::new(false) };
}

/// Counts an assertion of this thread, unless it is a part of a claim that is counted. Used by the macros.
pub fn judged() {
    if IS_PART.get() {
        return;
    }
    // A thread that is ending makes no more assertions.
    let _ = COUNT.try_with(|count| count.0.set(count.0.get() + 1));
}

/// Counts one claim, whatever `body` asserts: how many turns it takes depends on time.
pub fn as_one<T>(body: impl FnOnce() -> T) -> T {
    judged();
    uncounted(body)
}

/// Counts nothing that `body` asserts.
fn uncounted<T>(body: impl FnOnce() -> T) -> T {
    let before = IS_PART.replace(true);
    let result = body();
    IS_PART.set(before);
    result
}

impl Drop for Count {
    fn drop(&mut self) {
        let (Some(file), true) = (std::env::var_os(FILE_VARIABLE), std::thread::current().name().is_some()) else {
            return;
        };
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        // A failure is not reported here: the reader of the file notices the missing count.
        let _ = opened.and_then(|mut file| writeln!(file, "{}", self.0.get()));
    }
}

/// `assert!` of the standard library, counted.
#[macro_export]
macro_rules! assert {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert!($($claim)*)
    }};
}

/// `assert_eq!` of the standard library, counted.
#[macro_export]
macro_rules! assert_eq {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert_eq!($($claim)*)
    }};
}

/// `assert_ne!` of the standard library, counted.
#[macro_export]
macro_rules! assert_ne {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert_ne!($($claim)*)
    }};
}
