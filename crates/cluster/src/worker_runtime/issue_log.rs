//! Notices to the user of a worker that cannot go on as it should.

use pacing::Nanos;

use super::{Notice, WorkerRuntime};

/// The issues that were already reported, as long as they last.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    is_full: bool,
    is_unled: bool,
}

impl WorkerRuntime<'_> {
    /// Reports each issue once, until it is over.
    pub(super) fn tell_trouble(&mut self, now: Nanos) {
        let is_full = self.worker.refused().is_some();
        if is_full && !self.trouble.is_full {
            self.place.tell(&Notice::Full);
        }
        // Nothing is started without the leader.
        let is_leaving = self.stopping_since.is_some();
        let is_unled = !is_leaving && !self.parts.is_empty() && now >= self.lease.end();
        if is_unled && !self.trouble.is_unled {
            self.place.tell(&Notice::Unanswered);
        }
        self.trouble = Trouble { is_full, is_unled };
    }
}
