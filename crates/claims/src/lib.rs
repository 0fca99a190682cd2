//! What tests share: assertions that are counted, and the [`seeds`] that a run plays. A test that looks away on a busy machine judges fewer claims there than on a quiet one: whoever runs
//! it can see that. A crate of tests takes them in place of those of the standard library:
//!
//! `#[macro_use] extern crate claims;`
//!
//! Counted is what the thread of a test judges itself, the one that has the test's name. When that thread ends, it adds a line with its
//! count to the file that the environment names; without it nothing is written.

pub mod seeds;

use std::cell::Cell;
use std::io::Write;

/// Names the file that counts are written to.
pub const FILE_VARIABLE: &str = "XTASK_CLAIMS";

/// Written down when its thread ends.
struct Count(Cell<u64>);

thread_local! {
    static COUNT: Count = const { Count(Cell::new(0)) };
}

/// Counts a claim of this thread. For the macros.
pub fn judged() {
    // A thread that ends judges nothing any more.
    let _ = COUNT.try_with(|count| count.0.set(count.0.get() + 1));
}

impl Drop for Count {
    fn drop(&mut self) {
        let (Some(file), true) = (std::env::var_os(FILE_VARIABLE), std::thread::current().name().is_some()) else {
            return;
        };
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        // Whoever asked for the count sees that it is missing.
        let _ = opened.and_then(|mut file| writeln!(file, "{}", self.0.get()));
    }
}

/// As in the standard library, and counted.
#[macro_export]
macro_rules! assert {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert!($($claim)*)
    }};
}

/// As in the standard library, and counted.
#[macro_export]
macro_rules! assert_eq {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert_eq!($($claim)*)
    }};
}

/// As in the standard library, and counted.
#[macro_export]
macro_rules! assert_ne {
    ($($claim:tt)*) => {{
        $crate::judged();
        ::core::assert_ne!($($claim)*)
    }};
}
