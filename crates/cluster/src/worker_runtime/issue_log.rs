//! What a person is told of a worker that cannot go on as it should.

use pacing::Nanos;

use super::{Notice, WorkerRuntime};

/// What it has told already, as long as it lasts.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    is_full: bool,
    is_unled: bool,
}

impl WorkerRuntime<'_> {
    /// Each is told once, until it is over.
    pub(super) fn tell_trouble(&mut self, now: Nanos) {
        let is_full = self.worker.refused().is_some();
        if is_full && !self.trouble.is_full {
            self.place.tell(&Notice::Full);
        }
        // Nothing is started without whoever leads.
        let is_leaving = self.stopping_since.is_some();
        let is_unled = !is_leaving && !self.parts.is_empty() && now >= self.lease.end();
        if is_unled && !self.trouble.is_unled {
            self.place.tell(&Notice::Unanswered);
        }
        self.trouble = Trouble { is_full, is_unled };
    }
}
