//! The one way in which tests wait for what others do, and the only place where they look at a clock.

use std::time::{Duration, Instant};

/// What a test waits for comes, however busy the machine is. It guards the harness and judges nothing.
const LIMIT: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Waits until something holds, which is named when it never does.
#[track_caller]
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        core::assert!(begun.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        std::thread::sleep(LOOK);
    }
}
