//! The leader's journal: what it receives of a run, kept on its disk while the run goes on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use pacing::Nanos;

use crate::bus::Bytes;
use crate::journal::{Head, Journal, Journals, LeaderJournalEncoder, Record, Stopped};
use crate::leader::{Leader, RunOrder};
use crate::protocol::{Checkpoint, Draft, Phase};

/// The callback for a journal that stopped being written.
pub type Complain = Arc<dyn Fn(&Stopped) + Send + Sync>;

/// Where journals are kept, and the callback for failures.
pub struct Keeping {
    /// The journals.
    pub journals: Journals,
    /// The failure callback.
    pub complain: Complain,
}

/// The journal of the current run.
#[derive(Default)]
pub(super) struct Keeper {
    keeping: Option<Keeping>,
    /// The header of the next journal.
    journal_header: Option<(String, Vec<u8>, String)>,
    journal: Option<Journal>,
    encoder: LeaderJournalEncoder,
    /// Merged results up to some instant.
    drafts: Option<Receiver<Draft>>,
}

impl Keeper {
    pub(super) fn new(keeping: Option<Keeping>) -> Self {
        Self { keeping, ..Self::default() }
    }

    /// Prepares for a run that is to begin.
    pub(super) fn expect(&mut self, order: &RunOrder, address: SocketAddr) {
        self.end();
        let packet = self.keeping.is_some().then(|| Head::packet_of(&order.packet)).flatten();
        self.journal_header = packet.map(|packet| (order.plan.clone(), packet, address.to_string()));
    }

    /// Records the state as soon as it is written; puts merged results on the bus.
    pub(super) fn update(&mut self, leader: &mut Leader, who: u64, now: Nanos) {
        let state = leader.state();
        if let Some(keeping) = &self.keeping
            && leader.leads()
            && state.phase == Phase::Running
            && let Some((plan, packet, address)) = self.journal_header.take_if(|(plan, ..)| *plan == state.plan)
        {
            let (id, name) = (who, "leader".to_owned());
            let (run, begun_by) = (state.run, state.begun_by);
            let head = Head { is_of_leader: true, id, name, run, begun_by, plan, packet, address };
            let complain = keeping.complain.clone();
            let (put, drafts) = channel();
            // The results of a run that is over are not wanted.
            let put = move |draft| drop(put.send(draft));
            let complain = move |stopped| complain(&stopped);
            self.journal = Some(Journal::begin_with_drafts(&keeping.journals, head, complain, put));
            self.drafts = Some(drafts);
            self.encoder = LeaderJournalEncoder::default();
        }
        if self.journal.is_some() {
            let record = self.encoder.state(leader);
            self.keep(record);
        }
        for draft in self.drafts.iter().flat_map(Receiver::try_iter) {
            leader.keep(draft, now);
        }
    }

    /// Requests a merge of what was received by now. Returns whether one will be made.
    pub(super) fn draft(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::draft)
    }

    /// Sets the checkpoint that a taken-over run begins with.
    pub(super) fn recalled(&mut self, checkpoint: Arc<Checkpoint>) {
        let kept = self.journal.as_mut().map_or(Ok(()), |journal| journal.recall(checkpoint));
        self.complain(kept);
    }

    /// Records the start of the run, by our clock.
    pub(super) fn started(&mut self, at: Nanos, now: Nanos) {
        self.keep(Some(Record::started(at, now)));
    }

    /// Records the entry that the leader received at this position of the stream.
    pub(super) fn received(&mut self, leader: &Leader, place: u64, payload: &Bytes) {
        if self.journal.is_some() {
            let record = self.encoder.received(leader, place, payload);
            self.keep(record);
        }
    }

    /// Records the identity of a member that reported, or was declared lost.
    pub(super) fn who(&mut self, leader: &Leader, number: u16) {
        if self.journal.is_some()
            && let Some(member) = leader.state().members.get(usize::from(number)).copied()
        {
            let record = leader.member(number).and_then(|known| self.encoder.who(member, &known));
            self.keep(record);
        }
    }

    /// Records that a member was declared lost.
    pub(super) fn lost(&mut self, leader: &Leader, number: u16, until: Nanos) {
        self.who(leader, number);
        let member = leader.state().members.get(usize::from(number)).copied();
        self.keep(member.map(|member| Record::Lost { member, until }));
    }

    /// Ends the journal of the run.
    pub(super) fn end(&mut self) {
        (self.journal, self.journal_header, self.drafts) = (None, None, None);
    }

    fn keep(&mut self, record: Option<Record>) {
        let kept = self.journal.as_mut().zip(record).map_or(Ok(()), |(journal, record)| journal.keep(record));
        self.complain(kept);
    }

    fn complain(&self, kept: Result<(), Stopped>) {
        if let (Err(stopped), Some(keeping)) = (kept, &self.keeping) {
            (keeping.complain)(&stopped);
        }
    }
}
