//! What this worker has to tell, kept on its disk as long as a run goes on.

use pacing::Nanos;

use super::work::WorkerTask;
use super::{Notice, WorkerRuntime};
use crate::journal::{Head, Journal, Record, Stopped, WorkerJournalEncoder};

/// What was to be done, as it stands in the head of a ring.
pub(super) struct JournalHeader {
    plan: String,
    packet: Vec<u8>,
}

impl JournalHeader {
    pub(super) fn of(plan: String, packet: &[u8]) -> Option<Self> {
        Some(Self { plan, packet: Head::packet_of(packet)? })
    }
}

/// The ring of the run that goes on.
#[derive(Default)]
pub(super) struct Keeper {
    own: Option<(WorkerJournalEncoder, Journal)>,
}

impl WorkerRuntime<'_> {
    /// The first part of a run begins: what it tells from now on is kept.
    pub(super) fn begin_journal(&mut self, run: u64) {
        // In another life it goes on with the same one.
        if self.keeper.own.as_ref().is_some_and(|(encoder, _)| encoder.run() == run) {
            return;
        }
        let (Some(journals), Some(own), Some(started)) =
            (&self.setting.journals, self.runs.get_mut(&run), self.worker.started())
        else {
            return;
        };
        // Connections that are held have none.
        let WorkerTask::Load(_, options, _) = &own.work else { return };
        let address = options.address;
        let Some(JournalHeader { plan, packet }) = own.journal_header.take() else { return };
        let now = self.clock.now();
        let head = Head {
            is_of_leader: false,
            id: self.setting.id,
            name: self.setting.name.clone(),
            run,
            begun_by: self.worker.state().begun_by,
            plan,
            packet,
            address: address.to_string(),
        };
        let place = self.place.clone();
        let mut journal = Journal::begin(journals, head, move |stopped| place.tell(&said(&stopped)));
        // The first that waits does so in vain at most.
        let _ = journal.keep(Record::started(started, now));
        self.keeper.own = Some((WorkerJournalEncoder::new(run), journal));
    }

    /// What is new is kept; of a run that is over nothing more comes.
    pub(super) fn keep(&mut self, now: Nanos) {
        let Some((encoder, journal)) = &mut self.keeper.own else {
            // Of a run that will have no ring nothing is kept.
            let run = self.worker.state().run;
            if self.runs.get(&run).is_some_and(|own| own.journal_header.is_none()) {
                while self.worker.next_kept(run).is_some() {}
            }
            return;
        };
        let records = encoder.records(&mut self.worker, &self.setting.name, now);
        if let Err(stopped) = records.into_iter().try_for_each(|record| journal.keep(record)) {
            self.place.tell(&said(&stopped));
        }
        if !self.runs.contains_key(&encoder.run()) && self.parts.is_empty() && self.worker.has_reported_all() {
            self.keeper.own = None;
        }
    }
}

/// A ring is not written any further.
fn said(stopped: &Stopped) -> Notice {
    let (path, reason) = stopped.reported();
    Notice::NotKept { path, reason }
}
