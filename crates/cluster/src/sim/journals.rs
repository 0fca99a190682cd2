//! Journals of a world: they must report what was done, whichever nodes are left.

use std::collections::BTreeMap;

use pacing::Nanos;

use super::world::{Node, Who, World, count_of};
use crate::bus::BusEvent;
use crate::journal::{
    CompactedTotals, Cut, Head, JournalContents, LeaderJournalEncoder, Record, WorkerJournalEncoder, put_together,
    recalled,
};
use crate::leader::{Leader, LeaderUpdate};
use crate::protocol::{Draft, News, Phase, State};
use crate::start_accounting::{Balance, Ledger};
use crate::worker::{Act, Worker};

/// The journal of one node.
#[derive(Default)]
pub(super) struct SimulatedJournal {
    head: Option<Head>,
    of_worker: Option<WorkerJournalEncoder>,
    of_leader: LeaderJournalEncoder,
    records: Vec<Record>,
    /// When it was merged last.
    drafted_at: Option<Nanos>,
}

fn head_of(state: &State, is_of_leader: bool, id: u64) -> Head {
    let (name, plan, address) = (String::new(), state.plan.clone(), String::new());
    Head { is_of_leader, id, name, run: state.run, begun_by: state.begun_by, plan, packet: Vec::new(), address }
}

impl SimulatedJournal {
    pub(super) fn act(&mut self, act: &Act, worker: &Worker) {
        if let Act::Begin { part, .. } = act
            && self.of_worker.as_ref().is_none_or(|encoder| encoder.run() != part.run)
        {
            let head = head_of(worker.state(), false, worker.member().0.id);
            (self.head, self.of_worker, self.records) =
                (Some(head), Some(WorkerJournalEncoder::new(part.run)), Vec::new());
        }
    }

    pub(super) fn keep(&mut self, worker: &mut Worker, now: Nanos) {
        if let Some(encoder) = &mut self.of_worker {
            self.records.extend(encoder.records(worker, "worker", now));
        }
    }

    pub(super) fn lead(&mut self, leader: &Leader, id: u64) {
        let state = leader.state();
        if leader.leads() && state.phase == Phase::Running && self.head.is_none() {
            self.head = Some(head_of(state, true, id));
        }
        if self.head.is_some() {
            self.records.extend(self.of_leader.state(leader));
        }
    }

    pub(super) fn received(&mut self, received: &BusEvent, leader: &Leader) {
        if let (BusEvent::Entry { place, payload }, Some(_)) = (received, &self.head) {
            self.records.extend(self.of_leader.received(leader, *place, payload));
        }
    }

    pub(super) fn reported(&mut self, reported: &LeaderUpdate, leader: &Leader) {
        if *reported == LeaderUpdate::WantsCheckpoint {
            self.drafted_at = None;
        }
        if let LeaderUpdate::Recalled(checkpoint) = reported
            && self.head.is_some()
        {
            self.records.extend(recalled(checkpoint));
        }
        if let LeaderUpdate::Lost { member, until, .. } = reported
            && self.head.is_some()
        {
            let member = leader.state().members[usize::from(*member)];
            self.records.push(Record::Lost { member, until: *until });
        }
    }

    /// The merged reports received by now, at this interval, if at all.
    pub(super) fn draft(&mut self, every: Nanos, now: Nanos) -> Option<Draft> {
        let is_due = every > Nanos::ZERO && self.drafted_at.is_none_or(|last| now.since(last) >= every);
        let head = self.head.as_ref().filter(|_| is_due)?;
        self.drafted_at = Some(now);
        let mut sums = CompactedTotals::default();
        sums.add(head, self.records.clone());
        sums.checkpoint(head.run).map(|checkpoint| Draft::from_checkpoint(&checkpoint))
    }

    fn kept(&self) -> Option<JournalContents> {
        let head = self.head.clone()?;
        Some(JournalContents::new(head.id.to_string().into(), head, [self.records.clone(), Vec::new()]))
    }
}

fn journal_of(node: &Node) -> &SimulatedJournal {
    match &node.who {
        Who::Leader(_, _, journal) | Who::Worker(_, _, journal) => journal,
    }
}

/// The result of a recovery from journals.
#[derive(Debug)]
struct ByRings {
    planned: u64,
    started: u64,
    balance: Balance,
    /// Whether slots were given to a worker that is in no journal because it never learned of it.
    has_strangers: bool,
}

impl World {
    /// Recovers the run from the journals of these nodes.
    fn by_journals<'a>(&self, nodes: impl Iterator<Item = &'a Node>) -> Result<Option<ByRings>, String> {
        let all: Vec<JournalContents> = nodes.filter_map(|node| journal_of(node).kept()).collect();
        // A leader may have cancelled one run, and begun another.
        let Some(run) = all.iter().map(|kept| kept.head.run).max() else { return Ok(None) };
        let all = all.into_iter().filter(|kept| kept.head.run == run).collect();
        let recovery = put_together(all).map_err(|error| error.to_string())?;
        let by_name = |cut: &Cut| matches!(cut, Cut::Missing { name } if name.is_empty());
        let has_strangers = recovery.cuts.iter().any(by_name);
        let mut ledger = Ledger::default();
        let mut counts: BTreeMap<(u16, u16), u64> = BTreeMap::new();
        for (_, member, news) in recovery.news {
            ledger.news(member, &news);
            if let News::Row(row) = &news {
                *counts.entry((member, row.part)).or_default() += count_of(row);
            }
        }
        recovery.losses.iter().for_each(|(member, until)| ledger.lost(*member, *until));
        let due = self.due(&recovery.state.changes);
        let (planned, end) = (self.starts(&due).len() as u64, due.timeline().end().unwrap_or(Nanos::NEVER));
        let balance = ledger.balance(&recovery.state, (end, Nanos::NEVER), &due);
        Ok(Some(ByRings { planned, started: counts.values().sum(), balance, has_strangers }))
    }

    /// Checks all journals, and those of the leaders with some of the others. `reported`: what the leader knew at its
    /// end.
    pub(super) fn judge_journals(&self, reported: Option<(u64, Balance)>) -> Result<(), String> {
        let really = self.made.len() as u64;
        let sound = |what: &str, ByRings { planned, started, balance, .. }: &ByRings| {
            if started + balance.undelivered + balance.unaccounted
                != planned.wrapping_add_signed(balance.late_change_delta)
            {
                return Err(format!("by {what}: {planned} planned, and {started} started, {balance:?}"));
            }
            if !(*started..=started + balance.unaccounted).contains(&really) {
                return Err(format!("by {what}: {really} were made; {started} are there, {balance:?}"));
            }
            Ok(())
        };
        let is_worker = |node: &&Node| matches!(node.who, Who::Worker(..));
        if let Some(all) = self.by_journals(self.nodes.iter().filter(is_worker))? {
            sound("the journals of workers", &all)?;
            if !self.was_killed && !all.has_strangers && all.balance.unaccounted > 0 {
                return Err(format!(
                    "nobody was killed, and by their journals {} are unknown",
                    all.balance.unaccounted
                ));
            }
        }
        let Some((started, balance)) = reported else { return Ok(()) };
        let has_reported =
            |node: &&Node| matches!(&node.who, Who::Leader(_, tally, _) if tally.is_over && !node.is_dead);
        for every in 1..4 {
            let some = self.nodes.iter().filter(is_worker).skip(every).step_by(every);
            let leader = self.nodes.iter().filter(has_reported).take(1);
            let Some(all) = self.by_journals(leader.chain(some))? else { continue };
            sound("the journal of the leader and some of workers", &all)?;
            if all.started < started || all.balance.unaccounted > balance.unaccounted {
                return Err(format!("journals say less than the leader: {started}, {balance:?}, {all:?}"));
            }
        }
        Ok(())
    }
}
