//! Waiting for what a test has to see. It is the only place where tests of this crate look at a clock.

use std::time::{Duration, Instant};

/// Nothing that a test waits for is judged by its time. This ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Waits until something has happened, which is named when it does not.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut has_happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !has_happened() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not happen within {PATIENCE:?}");
        std::thread::sleep(LOOK_AGAIN);
    }
}
