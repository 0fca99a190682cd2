//! One scenario on one shard: its world, and when its load stops, drains and is over.
//!
//! A shard runs some scenarios side by side. Each has a world with its load, users, connections, templates and
//! snapshot; all share the driver, the loop and its stalls. They share nothing that an exchange touches, so each is
//! as exact as by itself, and a single scenario needs no loop over scenarios. That is why a world belongs to one
//! scenario. The steps of one user may use several protocols: the protocol of each connection is known from its
//! origin. A verdict is of a scenario; that of the run is of the scenario with the tightest bottleneck.

use driver::{Sockets, Waker};
use metrics::{Counter, Distribution, Snapshot};
use pacing::{Nanos, RevokedSlots};
use plan::BudgetPart;

use crate::control::{Changes, StopLevel};
use crate::slices::{Follower, Slices};
use crate::times::{Backlog, Times};
use crate::world::{ScenarioConfig, ScenarioRuntime};

/// A scenario between two turns of its shard.
pub(crate) struct ScenarioLifecycle {
    /// Which of the plan.
    pub(crate) scenario: usize,
    pub(crate) world: ScenarioRuntime,
    times: Times,
    /// The changes of its load that it knows.
    revision: u32,
    /// Slots that others have, as far as it knows.
    lost: Option<RevokedSlots>,
    /// When the plan is over; never, once starting has stopped.
    stop_at: Nanos,
    /// When what is in flight is given up.
    end_at: Nanos,
    /// When starting stopped.
    stopped_at: Nanos,
    is_warming: bool,
    /// When half of the plan is over.
    halfway_at: Nanos,
    backlog: Backlog,
    /// The plan was over, rather than stopped.
    came_to_end: bool,
    /// When its last round started.
    round_at: Nanos,
    /// When all was over but the goodbyes.
    over_at: Option<Nanos>,
    /// These are over too.
    has_left: bool,
    /// Users at work at the end of the last interval; none before the first.
    users: Option<u64>,
    /// Of a load that starts nothing any more: what had ended before, in this snapshot, and what of it well.
    base: Option<(u64, u64)>,
    follower: Follower,
}

/// How a scenario came to its end on a shard.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioOutcome {
    pub(crate) scenario: usize,
    pub(crate) stopped_at: Nanos,
    /// What was started and not ended; of a plan that came to its end.
    pub(crate) backlog: Option<Backlog>,
    /// The part of the budget that ended the run.
    pub(crate) spent: Option<BudgetPart>,
    /// What ended in equal stretches of it.
    pub(crate) slices: Slices,
    /// Service times of the first exchange of each user.
    pub(crate) first_times: Distribution,
}

impl ScenarioLifecycle {
    pub(crate) fn new<S: Sockets>(work: ScenarioConfig, times: Times, waker: &Waker, sockets: &mut S) -> Self {
        Self {
            scenario: work.scenario,
            world: ScenarioRuntime::new(work, waker, sockets, times.started),
            times,
            revision: 0,
            lost: None,
            stop_at: times.planned_end(),
            end_at: Nanos::NEVER,
            stopped_at: Nanos::NEVER,
            is_warming: times.warmup > Nanos::ZERO,
            halfway_at: times.halfway(),
            backlog: Backlog::default(),
            came_to_end: false,
            round_at: Nanos::ZERO,
            over_at: None,
            has_left: false,
            users: None,
            base: None,
            follower: Follower::new(times.measured_from(), times.begins(), times.duration),
        }
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over_at.is_some()
    }

    /// When it was over.
    pub(crate) fn over_at(&self) -> Option<Nanos> {
        self.over_at
    }

    /// What is seen counts from now on. False when it did already.
    pub(crate) fn begin_measuring(&mut self, now: Nanos) -> bool {
        let begins = self.is_warming && now >= self.times.measured_from();
        if begins {
            self.is_warming = false;
            self.world.close_books();
            self.world.begin_measuring(true);
            self.follower.begin();
        }
        begins
    }

    /// Somebody has changed the load of a scenario: its end, and what starts until then.
    #[cold]
    pub(crate) fn change_load(&mut self, changes: &Changes) {
        if let Some(lost) = changes.lost().filter(|lost| self.lost.as_ref() != Some(lost)) {
            self.world.give_slots_away(&lost);
            self.lost = Some(lost);
        }
        let timeline = changes.timeline(self.scenario);
        if timeline.revision() == self.revision {
            return;
        }
        self.revision = timeline.revision();
        self.times.duration = timeline.end();
        // What was halfway of another load says nothing of this one.
        self.halfway_at = Nanos::NEVER;
        if self.stopped_at == Nanos::NEVER {
            self.stop_at = self.times.planned_end();
        }
        self.world.change_load(&timeline);
    }

    /// A stretch of the measured time may be over: what was seen by now is in it.
    pub(crate) fn follow(&mut self, now: Nanos) {
        if now >= self.follower.next_at() && !self.is_over() {
            let last = self.times.planned_end().min(self.stopped_at);
            self.follower.look(now, last, &self.world.seen, self.world.in_flight());
        }
    }

    /// The plan may be over, or half of it.
    pub(crate) fn look_at_clock(&mut self, now: Nanos, stop_level: u8, lease: Nanos) {
        // Nobody counts on it any more: what was due since then is for others.
        let stop_level = if now >= lease { stop_level.max(StopLevel::STOP) } else { stop_level };
        if now >= self.halfway_at {
            self.backlog.halfway = self.world.backlog();
            self.halfway_at = Nanos::NEVER;
        }
        self.world.flush_log();
        let spent_at = self.world.look_at_budget(now, self.stop_at);
        let stop_level = if spent_at.is_some() { stop_level.max(StopLevel::STOP) } else { stop_level };
        if now >= self.stop_at && self.world.ends_by_count() && stop_level < StopLevel::STOP {
            (self.stopped_at, self.came_to_end) = (self.world.end_of_starts().unwrap_or(self.stop_at), true);
            self.backlog.at_end = self.world.backlog();
            self.stop_at = Nanos::NEVER;
            return;
        }
        if self.end_at == Nanos::NEVER && (now >= self.stop_at || stop_level >= StopLevel::STOP) {
            if self.stopped_at == Nanos::NEVER {
                let ended_at = self.world.end_of_starts().unwrap_or(Nanos::NEVER);
                self.stopped_at = self.stop_at.min(spent_at.unwrap_or(now)).min(now).min(ended_at).min(lease);
                self.came_to_end = now >= self.stop_at;
                self.backlog.at_end = self.world.backlog();
            }
            self.stop_at = Nanos::NEVER;
            self.end_at = now + self.times.grace;
            // As a plan's, the time of a budget is over before what is intended at its end.
            let is_spent = spent_at.is_some_and(|at| at <= self.stopped_at) || lease <= self.stopped_at;
            self.base = Some(self.world.stop_starting(Nanos(self.stopped_at.0.saturating_sub(u64::from(is_spent)))));
        }
    }

    /// When the clock is to be looked at again.
    pub(crate) fn alarm(&self) -> Nanos {
        let warm = if self.is_warming { self.times.measured_from() } else { Nanos::NEVER };
        self.stop_at
            .min(self.end_at)
            .min(self.halfway_at)
            .min(warm)
            .min(self.follower.next_at())
            .min(self.world.budget_until())
    }

    /// Users that wait for each other start, when they were told to.
    pub(crate) fn look_at_round(&mut self, changes: &Changes) {
        let round_at = changes.round_at(self.scenario);
        if round_at != self.round_at {
            self.round_at = round_at;
            self.world.release(round_at);
        }
    }

    /// Nothing is left to do, or the time for it is over. What had come when the grace was over is read first.
    #[inline]
    pub(crate) fn should_end(&self, now: Nanos, is_alarmed: bool, stop_level: u8) -> bool {
        let is_ended = now >= self.end_at && self.world.read_until() >= self.end_at;
        self.world.is_over() || (is_alarmed && (is_ended || stop_level >= StopLevel::ABORT))
    }

    /// Gives up what is in flight; its peers hear that it is over. True when what is measured began with that.
    pub(crate) fn begin_parting<S: Sockets>(&mut self, at: Nanos, is_cut: bool, sockets: &mut S) -> bool {
        let was_warming = std::mem::take(&mut self.is_warming);
        if was_warming {
            self.world.begin_measuring(false);
        }
        self.over_at = Some(at);
        self.world.give_back_starts();
        self.world.end(is_cut, sockets);
        was_warming
    }

    /// Of one that is over: when its peers have had their time for goodbyes, whoever has not agreed is left. Until then there is
    /// something to do; never, once it has left.
    #[cold]
    pub(crate) fn leave<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) -> Nanos {
        if !self.has_left && now >= self.world.parts_until() {
            self.world.leave_all(sockets);
            self.has_left = true;
        }
        if self.has_left { Nanos::NEVER } else { self.world.parts_until() }
    }

    /// What was seen since the last time takes the place of an empty snapshot.
    pub(crate) fn hand_over(&mut self, now: Nanos, seen: &mut Box<Snapshot>) {
        self.world.close_books();
        self.follower.hand_over(&self.world.seen);
        std::mem::swap(&mut self.world.seen, seen);
        if !self.is_over() {
            seen.gauges.connections_open = self.world.connections_open();
            self.world.look_at_ages(now, &mut seen.gauges.in_flight);
        }
        self.complete(seen);
    }

    fn complete(&mut self, seen: &mut Snapshot) {
        if let Some((finished, succeeded)) = &mut self.base {
            let counts = &mut seen.counts;
            counts[Counter::Drained] = counts.finished() - std::mem::take(finished);
            counts[Counter::DrainedSucceeded] = counts.succeeded() - std::mem::take(succeeded);
        }
        // Those that worked in the interval: at its end some may have done all they had to.
        let users = if self.is_over() { 0 } else { self.world.users_at_work() };
        let before = self.users.replace(users).unwrap_or_else(|| self.world.users_begun());
        seen.gauges.users = users.max(before);
    }

    /// The last that was seen, and how it ended.
    pub(crate) fn finish(&mut self, at: Nanos) -> (Box<Snapshot>, ScenarioOutcome) {
        let mut seen = std::mem::take(&mut self.world.seen);
        let users = self.world.users_at_work();
        self.complete(&mut seen);
        seen.gauges.users = seen.gauges.users.max(users);
        let backlog = self.came_to_end.then_some(self.backlog);
        let at = self.over_at.unwrap_or(at);
        // The time of the last start is part of the load, also when its answer came sooner.
        let stopped_at = match self.world.end_of_starts().filter(|_| self.stopped_at == Nanos::NEVER) {
            Some(ended_at) => ended_at,
            None => self.stopped_at.min(at),
        };
        self.world.finish_log();
        let spent = self.world.ended_by();
        let (slices, first_times) = (self.follower.take(), self.world.take_first_times());
        (seen, ScenarioOutcome { scenario: self.scenario, stopped_at, backlog, spent, slices, first_times })
    }
}
