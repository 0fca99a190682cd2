//! The worker's journal: its reports, kept on its disk while a run goes on.

use pacing::Nanos;

use super::work::WorkerTask;
use super::{WorkerEvent, WorkerRuntime};
use crate::journal::{Head, Journal, Record, Stopped, WorkerJournalEncoder};

/// The header of a journal.
pub(super) struct JournalHeader {
    plan: String,
    packet: Vec<u8>,
}

impl JournalHeader {
    pub(super) fn new(plan: String, packet: &[u8]) -> Option<Self> {
        Some(Self { plan, packet: Head::packet_of(packet)? })
    }
}

/// The journal of the current run.
#[derive(Default)]
pub(super) struct Keeper {
    own: Option<(WorkerJournalEncoder, Journal)>,
}

impl WorkerRuntime<'_> {
    /// Begins the journal with the first part of a run.
    pub(super) fn begin_journal(&mut self, run: u64) {
        // Another incarnation continues the same journal.
        if self.keeper.own.as_ref().is_some_and(|(encoder, _)| encoder.run() == run) {
            return;
        }
        let (Some(journals), Some(own), Some(started)) =
            (&self.setting.journals, self.runs.get_mut(&run), self.worker.started())
        else {
            return;
        };
        // Held connections have none.
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
        let mut journal = Journal::begin(journals, head, move |stopped| place.report(&said(&stopped)));
        // The journal is empty: this record finds room.
        let _ = journal.keep(Record::started(started, now));
        self.keeper.own = Some((WorkerJournalEncoder::new(run), journal));
    }

    /// Journals new reports; there are none of a finished run.
    pub(super) fn keep(&mut self, now: Nanos) {
        let Some((encoder, journal)) = &mut self.keeper.own else {
            // The reports of a run without a journal are not kept.
            let run = self.worker.state().run;
            if self.runs.get(&run).is_some_and(|own| own.journal_header.is_none()) {
                while self.worker.next_kept(run).is_some() {}
            }
            return;
        };
        let records = encoder.records(&mut self.worker, &self.setting.name, now);
        if let Err(stopped) = records.into_iter().try_for_each(|record| journal.keep(record)) {
            self.place.report(&said(&stopped));
        }
        if !self.runs.contains_key(&encoder.run()) && self.parts.is_empty() && self.worker.has_reported_all() {
            self.keeper.own = None;
        }
    }
}

/// The notice that a journal stopped being written.
fn said(stopped: &Stopped) -> WorkerEvent {
    let (path, reason) = stopped.reported();
    WorkerEvent::NotKept { path, reason }
}
