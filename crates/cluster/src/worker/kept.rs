//! The reports of a worker, for its journal.

use pacing::Nanos;

use super::Worker;
use crate::protocol::{Member, News, State};

impl Worker {
    /// Keeps all further reports for a journal, too.
    pub fn keep_all(&mut self) {
        self.keeps = true;
    }

    /// The next report of a run for the journal: its incarnation, the number of earlier ones, and the report.
    pub fn next_kept(&mut self, run: u64) -> Option<(u32, u64, News)> {
        let own = self.boxes.iter_mut().filter(|((of, _), _)| *of == run);
        own.filter_map(|((_, incarnation), outbox)| outbox.next_kept().map(|(index, news)| (*incarnation, index, news)))
            .next()
    }

    /// The state, as far as the worker knows it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its current identity, and its shortest round trip to the leader.
    pub fn member(&self) -> (Member, Option<Nanos>) {
        let ready = self.hello.standing.as_ref().and_then(|standing| standing.ready.as_ref().ok());
        (Member { id: self.hello.id, incarnation: self.hello.incarnation }, ready.map(|ready| ready.round_trip))
    }
}
