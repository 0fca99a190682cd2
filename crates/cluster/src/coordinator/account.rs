//! Worker reports of a run, merged: for the engine's view of the run, and for the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{BackendFault, Release, RunReporter, StartAccounting, WorkersSummary, starts_between};
use host::CpuTime;
use pacing::change::Timeline;
use pacing::{Nanos, Segment};
use plan::Plan;

use super::results::{Introduction, WorkerResults};
use crate::encoding::{end_of_bytes, snapshots_of_bytes};
use crate::leader::PartId;
use crate::protocol::{BarrierRelease, News, State};
use crate::start_accounting::{Due, Ledger};

/// The merged reports of a run.
pub(super) struct Account {
    plan: Arc<Plan>,
    pub(super) reporter: RunReporter,
    ledger: Ledger,
    parts: BTreeMap<PartId, usize>,
    ended: Vec<usize>,
    pub(super) workers: WorkerResults,
    /// The end of the load, if it was ended.
    until: Option<Nanos>,
    /// When a part ended before its time by itself: its rows or its budget were used up.
    early: Option<Nanos>,
}

impl Account {
    pub(super) fn new(plan: Arc<Plan>, reporter: RunReporter) -> Self {
        Self {
            plan,
            reporter,
            ledger: Ledger::default(),
            parts: BTreeMap::new(),
            ended: Vec::new(),
            workers: WorkerResults::default(),
            until: None,
            early: None,
        }
    }

    /// Handles a report of a member, given the current state.
    pub(super) fn news(&mut self, state: &State, member: u16, known: Option<Introduction>, news: News) {
        // Reports of a change that does not exist are dropped.
        if matches!(news, News::Follows { revision, .. } if revision as usize > state.changes.len()) {
            return;
        }
        self.ledger.news(member, &news);
        let seen = self.workers.of(member);
        if let Some(known) = known {
            known.introduce(seen);
        }
        let place_of = |part: u16| self.parts.get(&PartId { member, part }).copied();
        match news {
            News::Began { part, slots, late, from, .. } => {
                let place = self.parts.len();
                self.parts.insert(PartId { member, part }, place);
                // With the slots that it already has.
                let has = state.owners(usize::MAX).into_iter().filter(|owner| *owner == member).count();
                seen.slots = seen.slots.max(has.max(slots.len()) as u32);
                if from.is_none() {
                    seen.began_late = Some(late.as_duration());
                }
                self.reporter.joined(place);
            }
            News::Row(row) => {
                if let (Some(place), Some(all)) =
                    (place_of(row.part), snapshots_of_bytes(&row.seen, self.plan.scenarios.len()))
                {
                    for one in &all {
                        seen.started += one.counts.started();
                        seen.failed += one.counts.failed();
                    }
                    self.reporter.seen(place, (row.first, row.number), row.upto, all);
                }
            }
            News::Ended { part, until, end, .. } => {
                if let (Some(place), Some(end)) = (place_of(part), end_of_bytes(&end)) {
                    seen.threads = seen.threads.max(end.shards.len());
                    seen.cpu = CpuTime::plus(seen.cpu, end.cpu);
                    self.until = Some(self.until.map_or(until, |known| known.max(until)));
                    let is_early = end.scenarios.iter().any(|scene| scene.spent.is_some())
                        || end.used_up.iter().any(|file| !file.is_update);
                    if is_early {
                        self.early = Some(self.early.map_or(until, |known| known.min(until)));
                    }
                    self.ended.push(place);
                    self.reporter.ended(place, end);
                }
            }
            News::Broken { reason } => {
                let worker = seen.name.clone();
                self.reporter.broken(BackendFault::System { worker, reason }.into());
            }
            other => self.news_of_users(member, &other),
        }
    }

    /// Passes on to the run what concerns a member's users that wait at barriers, or cannot connect.
    fn news_of_users(&self, member: u16, news: &News) {
        let place_of = |part: u16| self.parts.get(&PartId { member, part }).copied();
        match news {
            News::Gathered { part, scenario, at } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.gathered(place, usize::from(*scenario), self.reporter.instant(*at));
                }
            }
            News::Arrived { part, barrier, count, at } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.arrived(place, usize::from(*barrier), *count, self.reporter.instant(*at));
                }
            }
            News::Withdrawn { part, barrier, ticket } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.withdrawn(place, usize::from(*barrier), *ticket);
                }
            }
            News::Stuck { part, received } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.stuck(place, *received);
                }
            }
            News::Left { part, scenario } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.left(place, usize::from(*scenario));
                }
            }
            News::StopRun { part, reason } if place_of(*part).is_some() => self.reporter.stop_run(reason),
            News::StopRun { .. } => {}
            News::Unreachable { part, is_failing } => {
                if let Some(place) = place_of(*part) {
                    self.reporter.failing(place, *is_failing);
                }
            }
            _ => {}
        }
    }

    /// Handles a lost member, whose reports are no longer awaited; it may have gone on until then.
    pub(super) fn lost(&mut self, state: &State, member: u16, name: String, until: Nanos) {
        let slots = slots_of(state, member);
        self.ledger.lost(member, until);
        self.workers.lost(member, name, slots);
        for (id, place) in &self.parts {
            if id.member == member && !self.ended.contains(place) {
                self.reporter.silent(*place);
            }
        }
    }

    /// Sets the expected number of parts; parts of members that were lost before they began do not count.
    pub(super) fn expect(&self, state: &State) {
        let first = state.slot_grants.first().into_iter().flat_map(|slot_grant| &slot_grant.moves);
        let members: BTreeSet<u16> = first.map(|(_, to)| *to).collect();
        let has_begun = |member: &u16| self.parts.keys().any(|id| id.member == *member);
        self.reporter
            .expects(members.iter().filter(|member| has_begun(member) || !self.workers.is_lost(**member)).count());
    }

    /// The barrier releases after the first `total`.
    pub(super) fn met_after(&self, total: u64) -> Vec<BarrierRelease> {
        let id_of = |place: usize| self.parts.iter().find(|(_, other)| **other == place).map(|(id, _)| *id);
        let met = |release: Release| BarrierRelease {
            barrier: release.barrier as u16,
            total: release.total,
            at: self.reporter.since_start(release.at),
            upto: release
                .upto
                .into_iter()
                .filter_map(|(place, ticket)| id_of(place).map(|id| (id.member, id.part, ticket)))
                .collect(),
        };
        self.reporter.released_after(total).into_iter().map(met).collect()
    }

    /// Ends the run. `is_stopped`: before its time, by request.
    pub(super) fn over(self, state: &State, is_stopped: bool) {
        let planned = end_of(&self.reporter);
        let end = match (planned, self.until) {
            (Some(planned), Some(until)) if is_stopped => planned.min(until),
            (Some(planned), _) => planned,
            (None, until) => until.unwrap_or_default(),
        };
        // Starts after that were assigned to no member.
        let end = self.early.map_or(end, |early| end.min(early));
        let due = PlanDue { plan: &self.plan, reporter: &self.reporter, timelines: self.reporter.timelines() };
        let cut = match self.early {
            Some(_) => end,
            // A member that does not know of an earlier end goes on until it is stopped.
            None if is_stopped => self.until.map_or(end, |until| until.max(end)),
            None => Nanos::NEVER,
        };
        let balance = self.ledger.balance(state, (end, cut), &due);
        let books = StartAccounting {
            undelivered: if is_stopped { 0 } else { balance.undelivered },
            unaccounted: balance.unaccounted,
            late_change_delta: balance.late_change_delta,
            stalled: balance.stalled.as_duration(),
            unaccounted_responses: 0,
        };
        let (workers, received_late) = (self.workers.in_order(), self.workers.received_late.as_duration());
        let changed_late = balance.changed_late.as_duration();
        self.reporter.over(WorkersSummary { workers, books, received_late, changed_late });
    }
}

/// The slots that a member has, or had.
pub(super) fn slots_of(state: &State, member: u16) -> u32 {
    state.slot_grants.iter().flat_map(|slot_grant| &slot_grant.moves).filter(|(_, to)| *to == member).count() as u32
}

/// The earliest end of the load as changed: `NEVER` while its clock is paused; `None` when the end is not set by time.
pub(super) fn goes_on_until(reporter: &RunReporter) -> Option<Nanos> {
    let is_paused = reporter.timelines().iter().any(|timeline| timeline.is_paused());
    if is_paused { Some(Nanos::NEVER) } else { end_of(reporter) }
}

/// The end of the load as changed, counted from the beginning of the measured load; `None` when it is not set by time.
fn end_of(reporter: &RunReporter) -> Option<Nanos> {
    let ends: Option<Vec<Nanos>> = reporter.timelines().iter().map(|timeline| timeline.end()).collect();
    ends.and_then(|ends| ends.into_iter().max())
}

/// The starts due of the open loads of a plan, as changed.
struct PlanDue<'a> {
    plan: &'a Plan,
    reporter: &'a RunReporter,
    timelines: Vec<Arc<Timeline>>,
}

impl Due for PlanDue<'_> {
    fn count(&self, slots: &Segment, from: Nanos, to: Nanos) -> u64 {
        starts_between(self.plan, &self.timelines, slots, (from, to))
    }

    fn with_late_changes(&self, late: &[(u32, Nanos)]) -> Box<dyn Due + '_> {
        Box::new(PlanDue { timelines: self.reporter.timelines_of_late(late), ..*self })
    }
}
