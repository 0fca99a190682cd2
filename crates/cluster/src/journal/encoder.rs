//! The records of a journal: reports as a worker sends them, and as the leader receives them.

use std::collections::HashSet;

use pacing::Nanos;

use super::Record;
use crate::bus::Bytes;
use crate::leader::{KnownWorker, Leader};
use crate::protocol::{Member, Phase};
use crate::worker::Worker;

/// The journal encoder of a worker, for one run.
#[derive(Debug)]
pub struct WorkerJournalEncoder {
    run: u64,
    /// The epoch and revision of the last recorded state.
    knows: (u64, u64),
    /// The incarnation that was recorded last.
    named: Option<Member>,
}

impl WorkerJournalEncoder {
    /// An encoder for this run.
    pub fn new(run: u64) -> Self {
        Self { run, knows: (0, 0), named: None }
    }

    /// The number of the run.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The new records.
    pub fn records(&mut self, worker: &mut Worker, name: &str, now: Nanos) -> Vec<Record> {
        let (state, (member, round_trip)) = (worker.state(), worker.member());
        let mut records = Vec::new();
        if state.run == self.run && round_trip.is_some() && self.named != Some(member) {
            self.named = Some(member);
            records.push(Record::Who { member, name: name.to_owned(), round_trip });
        }
        if state.run == self.run && (state.epoch, state.revision) != self.knows {
            self.knows = (state.epoch, state.revision);
            records.push(Record::State(state.clone()));
        }
        let at = worker.started().map_or(Nanos::ZERO, |started| now.since(started));
        while let Some((incarnation, index, news)) = worker.next_kept(self.run) {
            records.push(Record::News { incarnation, index, at, news });
        }
        records
    }
}

/// The journal encoder of a leader, for one run.
#[derive(Debug, Default)]
pub struct LeaderJournalEncoder {
    knows: (u64, u64),
    named: HashSet<Member>,
    /// The last recorded position of the stream.
    upto: u64,
}

impl LeaderJournalEncoder {
    /// The state, if it is new and written.
    pub fn state(&mut self, leader: &Leader) -> Option<Record> {
        let state = leader.written().filter(|state| state.phase >= Phase::Running)?;
        let knows = (state.epoch, state.revision);
        (std::mem::replace(&mut self.knows, knows) != knows).then(|| Record::State(state.clone()))
    }

    /// A batch at a position of the stream, once, after it was read.
    pub fn received(&mut self, leader: &Leader, place: u64, payload: &Bytes) -> Option<Record> {
        (place > self.upto && leader.has_read(place)).then(|| {
            self.upto = place;
            Record::Batch { place, bytes: payload.clone() }
        })
    }

    /// The identity of a member, as far as it is known; once.
    pub fn who(&mut self, member: Member, known: &KnownWorker) -> Option<Record> {
        let hello = &known.hello;
        let is_new = hello.incarnation == member.incarnation && !hello.name.is_empty() && self.named.insert(member);
        let ready = hello.standing.as_ref().and_then(|standing| standing.ready.as_ref().ok());
        is_new.then(|| Record::Who {
            member,
            name: hello.name.clone(),
            round_trip: ready.map(|ready| ready.round_trip),
        })
    }
}
