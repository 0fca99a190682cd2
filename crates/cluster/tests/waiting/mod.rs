//! The one way in which a test of the cluster waits for what others do.

use std::time::{Duration, Instant};

/// Whatever a test waits for is there by then. It guards the harness and judges nothing.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until something is there.
pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
