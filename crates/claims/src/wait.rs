//! Waiting for other threads and processes in tests: the only place where tests read a clock.

use std::time::{Duration, Instant};

use super::uncounted;

/// Time limit, long enough for a busy machine. It protects the harness and asserts nothing.
const LIMIT: Duration = Duration::from_secs(120);
/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(2);

/// Waits until `holds` is true; panics with `what` if it never is.
#[track_caller]
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    // What it asserts depends on how often it looks.
    while !uncounted(&mut holds) {
        core::assert!(begun.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        std::thread::sleep(LOOK);
    }
}
