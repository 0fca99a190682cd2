//! The deadline of a wait.

use std::time::{Duration, Instant};

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The deadline after this span from now on.
    pub(crate) fn after(span: Duration) -> Self {
        Self(Instant::now() + span)
    }

    /// The time left; zero when it is over.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
