//! The incarnations of a worker: one ends with its lease, when the leader says so, and when the worker leaves.

use pacing::Nanos;

use super::{Act, Worker};
use crate::protocol::News;

impl Worker {
    /// Leaves: releases its parts, and reports what it did.
    pub fn leave(&mut self, now: Nanos) {
        self.is_leaving = true;
        self.begin_new_incarnation();
        self.run_due(now);
    }

    /// Begins a new incarnation: its parts go to others. The worker reports the rest of them, and may get new ones.
    pub(super) fn begin_new_incarnation(&mut self) {
        if let Some(run) = self.run.take() {
            let run_incarnation = (run.run, run.incarnation);
            self.acts.push_back(Act::Stop { run_incarnation });
            if run.parts == 0
                && let Some((_, outbox)) = self.boxes.iter_mut().find(|(of, _)| *of == run_incarnation)
            {
                // It has begun nothing, so no part will report that all is over.
                outbox.push(News::Gone { is_over: false });
            }
        }
        self.hello.incarnation += 1;
        self.hello.standing = None;
        self.said_at = None;
    }

    /// Gives up: the leader is gone for good, and there is no receiver for reports.
    pub(super) fn give_up(&mut self) {
        if let Some(run) = self.run.take() {
            self.acts.push_back(Act::Abort { run: run.run });
        }
        self.boxes.clear();
        (self.is_closed, self.is_leaving) = (true, true);
        self.acts.push_back(Act::Close);
    }

    pub(super) fn check_lease(&mut self, now: Nanos) {
        let is_out = self.run.as_ref().is_some_and(|run| run.parts > run.ended) && now >= self.lease_until;
        #[cfg(test)]
        let is_out = is_out && !crate::sim::fault_injected(crate::sim::Bug::GoesOn);
        if is_out {
            // Its parts are no longer counted on.
            self.begin_new_incarnation();
        }
    }
}
