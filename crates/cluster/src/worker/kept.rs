//! What a worker has to tell, for whoever keeps it beside the bus.

use pacing::Nanos;

use super::Worker;
use crate::protocol::{Member, News, State};

impl Worker {
    /// All that it has to tell from now on is to be kept too.
    pub fn keep_all(&mut self) {
        self.keeps = true;
    }

    /// What is to be kept next of a run: of which of its lives, how much of that was before, and what.
    pub fn next_kept(&mut self, run: u64) -> Option<(u32, u64, News)> {
        let own = self.boxes.iter_mut().filter(|((of, _), _)| *of == run);
        own.filter_map(|((_, incarnation), outbox)| outbox.next_kept().map(|(index, news)| (*incarnation, index, news)))
            .next()
    }

    /// What is to be done, as far as it knows.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Who it is now, and the shortest round trip to who leads.
    pub fn member(&self) -> (Member, Option<Nanos>) {
        let ready = self.hello.standing.as_ref().and_then(|standing| standing.ready.as_ref().ok());
        (Member { id: self.hello.id, incarnation: self.hello.incarnation }, ready.map(|ready| ready.round_trip))
    }
}
