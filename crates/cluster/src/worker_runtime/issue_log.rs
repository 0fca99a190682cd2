//! Notices to the user of a worker that cannot go on as it should.

use pacing::Nanos;

use super::{WorkerEvent, WorkerRuntime};

/// The issues that were already reported, as long as they last.
#[derive(Debug, Default)]
pub(super) struct IssueLog {
    is_full: bool,
    is_unled: bool,
}

impl WorkerRuntime<'_> {
    /// Reports each issue once, until it is over.
    pub(super) fn report_issues(&mut self, now: Nanos) {
        let is_full = self.worker.refused().is_some();
        if is_full && !self.issue_log.is_full {
            self.place.report(&WorkerEvent::Full);
        }
        // Nothing is started without the leader.
        let is_leaving = self.stopping_since.is_some();
        let is_unled = !is_leaving && !self.parts.is_empty() && now >= self.lease.end();
        if is_unled && !self.issue_log.is_unled {
            self.place.report(&WorkerEvent::Unanswered);
        }
        self.issue_log = IssueLog { is_full, is_unled };
    }
}
