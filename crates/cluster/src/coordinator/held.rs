//! Held connections of workers, as the observer sees them.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use driver::Clock;
use engine::{BackendFault, HoldReporter, StartAccounting, WorkerResult, WorkersSummary};
use host::CpuTime;
use metrics::{Held, HeldNow};
use pacing::{Nanos, Segment};

use super::results::{Introduction, WorkerResults};
use crate::encoding::{held_now, hold_end_of_bytes, memory_of_bytes};
use crate::protocol::{News, Row, State};

/// The reported progress of a member's connections.
#[derive(Clone, Copy, Debug, Default)]
struct MemberProgress {
    /// The number of its connections.
    share: u64,
    /// It has reported that all were tried.
    has_opened: bool,
    /// First attempts.
    tried: u64,
    /// Connections that were open, opening, or to be reopened at the last report.
    held: u64,
    /// Messages sent that had no response then.
    unanswered: u64,
    has_ended: bool,
}

impl MemberProgress {
    fn row(&mut self, held: &Held) {
        let counts = &held.counts;
        // Whatever a worker reports, nothing overflows.
        self.tried = self.tried.saturating_add(counts.tried().saturating_sub(counts.retries()));
        let left = self.unanswered.saturating_add(counts.sent());
        self.unanswered = left.saturating_sub(counts.answered().saturating_add(counts.unanswered()));
        self.held = in_hand(held.now);
    }

    /// Connections whose outcome is unknown if no more is reported. During opening, that includes those that it may
    /// have tried since.
    fn unknown(&self) -> u64 {
        match (self.has_ended, self.has_opened) {
            (true, _) => 0,
            (false, true) => self.held,
            (false, false) => self.held.saturating_add(self.share.saturating_sub(self.tried)),
        }
    }
}

/// Connections that are held, or are to be.
pub(super) struct OwnHold {
    clock: Clock,
    pub(super) reporter: HoldReporter,
    pub(super) response: Option<SyncSender<Result<(Nanos, usize), BackendFault>>>,
    /// When all members begin, on the leader's clock.
    started: Nanos,
    /// Members that have a part, in the order of their parts.
    members: Vec<u16>,
    pub(super) workers: WorkerResults,
    connections: u64,
    standing: BTreeMap<u16, MemberProgress>,
    has_said_end: bool,
}

impl OwnHold {
    /// `connections`: how many there are; `clock`: that of the observer.
    pub(super) fn new(
        clock: Clock,
        reporter: HoldReporter,
        connections: u64,
        response: SyncSender<Result<(Nanos, usize), BackendFault>>,
    ) -> Self {
        Self {
            clock,
            reporter,
            response: Some(response),
            started: Nanos::NEVER,
            members: Vec::new(),
            workers: WorkerResults::default(),
            connections,
            standing: BTreeMap::new(),
            has_said_end: false,
        }
    }

    /// Sets the instant at which all members begin.
    pub(super) fn begins(&mut self, at: Nanos, state: &State) {
        let mut slots: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
        for (slot, to) in state.slot_grants.iter().flat_map(|slot_grant| &slot_grant.moves) {
            slots.entry(*to).or_default().push(*slot);
        }
        (self.started, self.members) = (at, slots.keys().copied().collect());
        for (member, slots) in slots {
            let share = Segment::from_slots(slots).map_or(0, |segment| segment.count_of_first(self.connections));
            self.standing.insert(member, MemberProgress { share, ..MemberProgress::default() });
        }
        if let Some(response) = self.response.take() {
            let _ = response.send(Ok((at, self.members.len())));
        }
    }

    /// When all connections are closed, since the start; returned once, as soon as it is known.
    pub(super) fn ends_at(&mut self, now: Nanos) -> Option<Nanos> {
        let at = self.reporter.closes_at().filter(|_| !self.has_said_end)?;
        self.has_said_end = true;
        let (theirs, late) = (self.clock.now(), self.clock.now().since(at));
        Some((now + at.since(theirs)).since(self.started).since(late).max(Nanos(1)))
    }

    pub(super) fn news(&mut self, member: u16, known: Option<Introduction>, news: News) {
        let Ok(part) = self.members.binary_search(&member) else { return };
        let standing = self.standing.entry(member).or_default();
        let is_lost = self.workers.is_lost(member);
        let seen = self.workers.of(member);
        if let Some(known) = known {
            known.introduce(seen);
        }
        match news {
            News::Began { slots, late, .. } => {
                (seen.slots, seen.began_late) = (slots.len() as u32, Some(late.as_duration()));
            }
            News::Row(Row { number, upto, seen: bytes, .. }) => {
                let [held, memory] = bytes.as_slice() else { return };
                let (Ok(held), Some(memory)) = (Held::decode(held), memory_of_bytes(memory)) else { return };
                count(seen, &held);
                standing.row(&held);
                self.reporter.seen(part, (number, upto), held, memory);
            }
            News::Held { is_closing, now, since, .. } => {
                if is_closing {
                    self.reporter.closing(held_now(now), since);
                } else {
                    (standing.has_opened, standing.held) = (true, in_hand(held_now(now)));
                    self.reporter.opened(part, held_now(now), since);
                }
            }
            News::Ended { end, .. } => {
                if let Some(end) = hold_end_of_bytes(&end) {
                    (standing.has_ended, standing.held) = (true, 0);
                    seen.threads = end.threads;
                    seen.cpu = CpuTime::plus(seen.cpu, end.cpu);
                    self.reporter.ended(part, end);
                }
            }
            // The member is no longer counted on.
            News::Broken { .. } if is_lost => {}
            News::Broken { reason } => {
                let worker = seen.name.clone();
                self.reporter.broken(BackendFault::System { worker, reason }.into());
            }
            _ => {}
        }
    }

    /// Marks a lost member: its connections are unknown until it reports.
    pub(super) fn lost(&mut self, member: u16, name: String, slots: u32) {
        if self.workers.is_lost(member) {
            return;
        }
        self.workers.lost(member, name, slots);
        if let Ok(part) = self.members.binary_search(&member) {
            self.reporter.lost(part);
        }
    }

    pub(super) fn over(self) {
        let lost =
            self.standing.iter().filter(|(member, standing)| self.workers.is_lost(**member) && !standing.has_ended);
        let (unknown, unknown_responses) = lost.fold((0, 0), |(connections, responses), (_, standing)| {
            (standing.unknown().saturating_add(connections), standing.unanswered.saturating_add(responses))
        });
        let books = StartAccounting {
            unaccounted: unknown,
            unaccounted_responses: unknown_responses,
            ..StartAccounting::default()
        };
        let (workers, received_late) = (self.workers.in_order(), self.workers.received_late.as_duration());
        self.reporter.over(WorkersSummary { workers, books, received_late, ..WorkersSummary::default() });
    }
}

/// Connections that are open or being opened.
fn in_hand(now: HeldNow) -> u64 {
    now.open.saturating_add(now.connecting).saturating_add(now.waiting)
}

/// Adds what a member has established, and what failed.
fn count(seen: &mut WorkerResult, held: &Held) {
    seen.started += held.counts.established();
    seen.failed += held.counts.failed_in_all();
}
