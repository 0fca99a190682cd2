//! A worker model without sockets: starts come at their instants while its lease lasts, and rows report their counts.

use std::sync::Arc;

use engine::Lease;
use pacing::change::{Change, LoadProfile, Timeline};
use pacing::open::{Schedule, Spacing, Starts};
use pacing::{Nanos, RevokedSlots, Segment};

use crate::protocol::{News, Row};
use crate::sim::{Bug, fault_injected};
use crate::worker::{Act, PartLease, PartOf};

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
    lease: Lease,
    /// The last time that it had a turn.
    turned_at: Option<Nanos>,
    is_to_stop: bool,
    stops_at: Nanos,
    /// It has no lease any more: what is due from `stops_at` on is left.
    leaves_rest: bool,
    /// When what is in flight has ended.
    drained_at: Nanos,
    is_over: bool,
}

impl RunningPart {
    /// Starts before this instant that it has not made.
    fn due_before(&self, at: Nanos) -> u64 {
        if at == Nanos::ZERO { 0 } else { self.starts.due_by(at - Nanos(1), u64::MAX) }
    }

    /// Reports the rows up to this one, whose end is not later than `now`.
    fn report_until(&mut self, upto: u64, now: Nanos, news: &mut Vec<(PartOf, News)>) {
        let owned_until = self.lease.end().since(self.started);
        for number in self.reported_upto + 1..=upto {
            let reported_until = Nanos(number * SECOND).min(now);
            let seen = vec![std::mem::take(&mut self.unreported).to_le_bytes().to_vec()];
            let stops_at = if self.leaves_rest { Nanos::NEVER } else { self.stops_at };
            let behind = self.due_before(reported_until.min(owned_until).min(stops_at));
            let row = Row { part: self.of.part, number, first: number, upto: number, reported_until, behind, seen };
            news.push((self.of, News::Row(row.owned_until(owned_until))));
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
    lease: PartLease,
    /// Its parts have no turn until then.
    stalled_until: Nanos,
    /// How long a part waits for what is in flight.
    drain: Nanos,
}

impl Model {
    pub(super) fn new(schedule: Arc<Schedule>, spacing: Spacing, drain: Nanos) -> Self {
        let end = schedule.end();
        let timeline = Timeline::new(LoadProfile::Rate(schedule), Some(end));
        let planned = timeline.clone();
        let (lease, stalled_until) = (PartLease::default(), Nanos::ZERO);
        Self { planned, timeline, spacing, parts: Vec::new(), losses: Vec::new(), lease, stalled_until, drain }
    }

    /// Its parts stand still until then.
    pub(super) fn stall(&mut self, until: Nanos) {
        self.stalled_until = self.stalled_until.max(until);
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
                    lease: self.lease.of_part(),
                    turned_at: None,
                    is_to_stop: false,
                    stops_at: self.timeline.end().unwrap_or(Nanos::NEVER),
                    leaves_rest: false,
                    drained_at: Nanos::NEVER,
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
            Act::Lease(until) => self.lease.extend(*until),
            // The threads of its parts do the rest, when they have their turn.
            Act::Stop { run_incarnation } => {
                self.lease.pass_on(now);
                let is_of = |part: &&mut RunningPart| (part.of.run, part.of.incarnation) == *run_incarnation;
                self.parts.iter_mut().filter(is_of).for_each(|part| part.is_to_stop = true);
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
        let is_next = |part: &&mut RunningPart| {
            !part.is_over && !part.is_to_stop && change.revision == part.timeline.revision() + 1
        };
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
        if now < self.stalled_until {
            return (news, done);
        }
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
            // As in a shard, a row is written before what has come due meanwhile is taken up, and the lease is checked
            // before that, too.
            part.report_until(run_now.0 / SECOND, run_now, &mut news);
            let turned_at = part.turned_at.replace(run_now).map_or(part.from.unwrap_or_default(), |at| at + Nanos(1));
            if part.drained_at == Nanos::NEVER {
                if now >= part.lease.end() && !fault_injected(Bug::GoesOn) {
                    (part.stops_at, part.leaves_rest) = (part.stops_at.min(turned_at), true);
                } else if part.is_to_stop {
                    (part.stops_at, part.leaves_rest) = (part.stops_at.min(run_now), true);
                }
            }
            while let Some(at) = part.starts.peek().filter(|at| *at <= run_now && *at < part.stops_at) {
                part.starts.next();
                part.unreported += 1;
                made.push(Made { intended: at, late: run_now.since(at), worker });
            }
            if run_now >= part.stops_at && part.drained_at == Nanos::NEVER {
                part.drained_at = run_now + self.drain;
            }
            if run_now >= part.drained_at {
                part.is_over = true;
                part.report_until(run_now.0 / SECOND + 1, run_now, &mut news);
                let owned_until = part.lease.end().since(part.started);
                let left = if part.leaves_rest { part.due_before(owned_until) } else { 0 };
                let until = if left > 0 { owned_until } else { part.stops_at };
                news.push((part.of, News::Ended { part: part.of.part, until, left, end: Vec::new() }));
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
            let next = if part.drained_at < Nanos::NEVER {
                part.drained_at
            } else {
                part.starts.peek().unwrap_or(Nanos::NEVER).min(part.stops_at)
            };
            let second = Nanos((part.reported_upto + 1) * SECOND);
            let begins = if part.has_begun { Nanos::NEVER } else { part.from.unwrap_or_default() };
            Nanos(part.started.0.saturating_add(next.min(second).min(begins).0))
        };
        self.parts.iter().filter(|part| !part.is_over).map(of).min().unwrap_or(Nanos::NEVER).max(self.stalled_until)
    }
}
