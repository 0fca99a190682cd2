//! A worker model without sockets: starts come at their instants while its lease lasts, and rows report their counts.

use std::sync::Arc;

use pacing::change::{Change, LoadProfile, Timeline};
use pacing::open::{Schedule, Spacing, Starts};
use pacing::{Nanos, RevokedSlots, Segment};

use crate::protocol::{News, Row};
use crate::sim::{Bug, fault_injected};
use crate::worker::{Act, PartOf};

const SECOND: u64 = 1_000_000_000;

/// The starts of a load over time.
pub(super) fn schedule_of(timeline: &Timeline) -> Arc<Schedule> {
    match timeline.course() {
        LoadProfile::Rate(schedule) => schedule.clone(),
        LoadProfile::Users(..) => unreachable!("the load is an open one"),
    }
}

/// A start that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// Its intended instant, counted from the beginning of the load.
    pub(super) intended: Nanos,
    /// How much later it was made.
    pub(super) late: Nanos,
    /// The worker that made it.
    pub(super) worker: usize,
}

/// A part that is carried out.
struct RunningPart {
    of: PartOf,
    slot_grant: u16,
    segment: Segment,
    starts: Starts,
    started: Nanos,
    from: Option<Nanos>,
    lost: RevokedSlots,
    timeline: Timeline,
    has_begun: bool,
    /// Starts in no row.
    unreported: u64,
    reported_upto: u64,
    stops_at: Nanos,
    is_over: bool,
}

impl RunningPart {
    /// Reports the rows up to this one.
    fn report_until(&mut self, upto: u64, news: &mut Vec<(PartOf, News)>) {
        for number in self.reported_upto + 1..=upto {
            let reported_until = Nanos(number * SECOND).min(if self.is_over { self.stops_at } else { Nanos::NEVER });
            let seen = vec![std::mem::take(&mut self.unreported).to_le_bytes().to_vec()];
            let last = Nanos(reported_until.0.saturating_sub(1));
            let behind = if self.is_over { 0 } else { self.starts.due_by(last, u64::MAX) };
            let row = Row { part: self.of.part, number, first: number, upto: number, reported_until, behind, seen };
            news.push((self.of, News::Row(row)));
        }
        self.reported_upto = self.reported_upto.max(upto);
    }
}

/// Slots that go to others: the run and incarnation, the slot grant, the slots, and the instant.
type Loss = ((u64, u32), u16, Vec<u16>, Nanos);

/// Reports of parts, and the incarnations that are done.
pub(super) type Turned = (Vec<(PartOf, News)>, Vec<(u64, u32)>);

/// The model of one worker.
pub(super) struct Model {
    planned: Timeline,
    timeline: Timeline,
    spacing: Spacing,
    parts: Vec<RunningPart>,
    losses: Vec<Loss>,
    lease: Nanos,
}

impl Model {
    pub(super) fn new(schedule: Arc<Schedule>, spacing: Spacing) -> Self {
        let end = schedule.end();
        let timeline = Timeline::new(LoadProfile::Rate(schedule), Some(end));
        Self { planned: timeline.clone(), timeline, spacing, parts: Vec::new(), losses: Vec::new(), lease: Nanos::ZERO }
    }

    fn schedule(&self) -> Arc<Schedule> {
        schedule_of(&self.timeline)
    }

    pub(super) fn act(&mut self, act: &Act, now: Nanos) {
        match act {
            Act::Begin { part, slot_grant, segment, from, started, .. } => {
                let begins = from.unwrap_or_default();
                let mut lost = RevokedSlots::default();
                for (run_incarnation, of, slots, at) in &self.losses {
                    if *run_incarnation == (part.run, part.incarnation) && of > slot_grant {
                        lost.lose(slots.iter().copied(), *at);
                    }
                }
                let mut starts = Starts::from(self.schedule(), self.spacing, segment.clone(), begins);
                starts.lose(lost.clone());
                self.parts.push(RunningPart {
                    of: *part,
                    slot_grant: *slot_grant,
                    segment: segment.clone(),
                    starts,
                    started: *started,
                    from: *from,
                    lost,
                    timeline: self.timeline.clone(),
                    has_begun: false,
                    unreported: 0,
                    reported_upto: begins.0 / SECOND,
                    stops_at: self.timeline.end().unwrap_or(Nanos::NEVER),
                    is_over: false,
                });
            }
            Act::Lose { run_incarnation, slot_grant, slots, at } => {
                self.losses.push((*run_incarnation, *slot_grant, slots.clone(), *at));
                let is_of = |part: &&mut RunningPart| {
                    (part.of.run, part.of.incarnation) == *run_incarnation && part.slot_grant < *slot_grant
                };
                for part in self.parts.iter_mut().filter(is_of) {
                    part.lost.lose(slots.iter().copied(), *at);
                    part.starts.lose(part.lost.clone());
                }
            }
            Act::Lease(until) => self.lease = *until,
            Act::Stop { run_incarnation } => {
                // It may have begun nothing after its lease, which is over.
                let lease = self.lease;
                for part in self.parts.iter_mut().filter(|part| (part.of.run, part.of.incarnation) == *run_incarnation)
                {
                    let until = now.min(lease).since(part.started);
                    part.stops_at = part.stops_at.min(until.max(part.from.unwrap_or_default()));
                }
            }
            Act::Abort { run } => {
                for part in self.parts.iter_mut().filter(|part| part.of.run == *run) {
                    part.stops_at = part.stops_at.min(now.since(part.started).max(part.from.unwrap_or_default()));
                }
            }
            Act::Forget { run } => self.parts.retain(|part| part.of.run != *run || !part.is_over),
            Act::Change(change) => self.change(change),
            // Another incarnation learns of all changes again.
            Act::Prepare { .. } => self.timeline = self.planned.clone(),
            Act::Release { .. } | Act::LetGo { .. } | Act::Refuse(_) | Act::Close => {}
        }
    }

    /// Applies a change of the load from an instant on. A known change is not applied again.
    fn change(&mut self, change: &Change) {
        if change.revision == self.timeline.revision() + 1 {
            self.timeline.change(change);
        }
        let is_next = |part: &&mut RunningPart| !part.is_over && change.revision == part.timeline.revision() + 1;
        for part in self.parts.iter_mut().filter(is_next) {
            let before = part.timeline.end().unwrap_or(Nanos::NEVER);
            part.timeline.change(change);
            part.starts.change(schedule_of(&part.timeline));
            // A part that ends earlier was taken away or stopped.
            if part.stops_at == before {
                part.stops_at = part.timeline.end().unwrap_or(Nanos::NEVER);
            }
        }
    }

    /// Does what is due; returns the reports, and the incarnations that are done.
    pub(super) fn turn(&mut self, worker: usize, now: Nanos, made: &mut Vec<Made>) -> Turned {
        let (mut news, mut done) = (Vec::new(), Vec::new());
        let lease = if fault_injected(Bug::GoesOn) { Nanos::NEVER } else { self.lease };
        for part in self.parts.iter_mut().filter(|part| !part.is_over) {
            let run_now = now.since(part.started);
            if now < part.started || run_now < part.from.unwrap_or_default() {
                continue;
            }
            if !part.has_begun {
                part.has_begun = true;
                let (slots, late) = (part.segment.slots().collect(), run_now.since(part.from.unwrap_or_default()));
                let began =
                    News::Began { part: part.of.part, slot_grant: part.slot_grant, slots, from: part.from, late };
                news.push((part.of, began));
            }
            // A shard checks its lease before it does anything.
            if now >= lease {
                part.stops_at = part.stops_at.min(lease.since(part.started).max(part.from.unwrap_or_default()));
            }
            // As in a shard, a row is written before what has come due meanwhile is taken up.
            part.report_until(run_now.min(part.stops_at).0 / SECOND, &mut news);
            while let Some(at) = part.starts.peek().filter(|at| *at <= run_now && *at < part.stops_at) {
                part.starts.next();
                part.unreported += 1;
                made.push(Made { intended: at, late: run_now.since(at), worker });
            }
            if run_now >= part.stops_at {
                part.is_over = true;
                part.report_until(part.stops_at.0 / SECOND + 1, &mut news);
                news.push((part.of, News::Ended { part: part.of.part, until: part.stops_at, end: Vec::new() }));
            }
        }
        let run_incarnations: std::collections::BTreeSet<(u64, u32)> =
            self.parts.iter().map(|part| (part.of.run, part.of.incarnation)).collect();
        for run_incarnation in run_incarnations {
            let mut own = self.parts.iter().filter(|part| (part.of.run, part.of.incarnation) == run_incarnation);
            if own.all(|part| part.is_over) {
                done.push(run_incarnation);
            }
        }
        self.parts.retain(|part| !done.contains(&(part.of.run, part.of.incarnation)));
        (news, done)
    }

    /// The next due instant, on the clock of the worker.
    pub(super) fn wake_at(&self) -> Nanos {
        let of = |part: &RunningPart| {
            let next = part.starts.peek().unwrap_or(Nanos::NEVER).min(part.stops_at);
            let second = Nanos((part.reported_upto + 1) * SECOND);
            let begins = if part.has_begun { Nanos::NEVER } else { part.from.unwrap_or_default() };
            Nanos(part.started.0.saturating_add(next.min(second).min(begins).0))
        };
        self.parts.iter().filter(|part| !part.is_over).map(of).min().unwrap_or(Nanos::NEVER)
    }
}
