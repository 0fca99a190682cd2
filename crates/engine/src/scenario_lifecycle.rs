//! One scenario on one shard: its runtime, and when its load stops, drains and is over.
//!
//! A shard runs some scenarios side by side. Each has a runtime with its load, users, connections, templates and
//! snapshot; all share the driver, the loop and its stalls. They share nothing that an exchange touches, so each is
//! as exact as by itself, and a single scenario needs no loop over scenarios. That is why a runtime belongs to one
//! scenario. The steps of one user may use several protocols: the protocol of each connection is known from its
//! origin. A verdict is of a scenario; that of the run is of the scenario with the tightest bottleneck.

use driver::{Sockets, Waker};
use metrics::{Counter, Distribution, Snapshot};
use pacing::{Nanos, RevokedSlots};
use plan::BudgetPart;

use crate::control::{Changes, StopLevel};
use crate::scenario_runtime::{ScenarioConfig, ScenarioRuntime};
use crate::slices::{SliceRecorder, Slices};
use crate::times::{Backlog, Times};

/// The lifecycle of a scenario between two turns of its shard.
pub(crate) struct ScenarioLifecycle {
    /// Index in the plan.
    pub(crate) scenario: usize,
    pub(crate) runtime: ScenarioRuntime,
    times: Times,
    /// The last change of its load that was applied.
    revision: u32,
    /// Slots that others have, as far as is known.
    lost: Option<RevokedSlots>,
    /// End of the plan; never, once starts have stopped.
    stop_at: Nanos,
    /// When what is in flight becomes incomplete.
    end_at: Nanos,
    /// When users give up what they wait for, to do what they do when they leave.
    give_up_at: Nanos,
    /// When starts stopped.
    stopped_at: Nanos,
    /// The end of the lease of a part that leaves the rest of its starts: until then it says what they are.
    left_until: Nanos,
    is_warming: bool,
    /// The middle of the plan's time.
    halfway_at: Nanos,
    backlog: Backlog,
    /// The plan was over, rather than stopped.
    came_to_end: bool,
    /// Start of its last round.
    round_at: Nanos,
    /// When all was over but the closing handshakes.
    over_at: Option<Nanos>,
    /// The closing handshakes are over too.
    has_left: bool,
    /// Users at work at the end of the last interval; none before the first.
    users: Option<u64>,
    /// While draining: (completed, succeeded, missed deadline) counts of this snapshot at the moment starts stopped.
    base: Option<(u64, u64, u64)>,
    follower: SliceRecorder,
}

/// The outcome of a scenario on a shard.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioOutcome {
    pub(crate) scenario: usize,
    pub(crate) stopped_at: Nanos,
    /// Starts that were due by the end of its lease, and were left.
    pub(crate) left: u64,
    /// Backlog: started and not ended. Only for a plan that came to its end.
    pub(crate) backlog: Option<Backlog>,
    /// The budget part that ended the run.
    pub(crate) spent: Option<BudgetPart>,
    /// What ended, in equal slices of time.
    pub(crate) slices: Slices,
    /// Service times of the first exchange of each user.
    pub(crate) first_times: Distribution,
}

impl ScenarioLifecycle {
    pub(crate) fn new(work: ScenarioConfig, times: Times, waker: &Waker, sockets: &mut dyn Sockets) -> Self {
        Self {
            scenario: work.scenario,
            runtime: ScenarioRuntime::new(work, waker, sockets, times.started),
            times,
            revision: 0,
            lost: None,
            stop_at: times.planned_end(),
            end_at: Nanos::NEVER,
            give_up_at: Nanos::NEVER,
            stopped_at: Nanos::NEVER,
            left_until: Nanos::ZERO,
            is_warming: times.warmup > Nanos::ZERO,
            halfway_at: times.halfway(),
            backlog: Backlog::default(),
            came_to_end: false,
            round_at: Nanos::ZERO,
            over_at: None,
            has_left: false,
            users: None,
            base: None,
            follower: SliceRecorder::new(times.measured_from(), times.begins(), times.duration),
        }
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over_at.is_some()
    }

    /// End of the scenario, once it is over.
    pub(crate) fn over_at(&self) -> Option<Nanos> {
        self.over_at
    }

    /// Begins measuring. False when it did already.
    pub(crate) fn begin_measuring(&mut self, now: Nanos) -> bool {
        let begins = self.is_warming && now >= self.times.measured_from();
        if begins {
            self.is_warming = false;
            self.runtime.settle_budget();
            self.runtime.begin_measuring(true);
            self.follower.begin();
        }
        begins
    }

    /// Applies changes of the load of a scenario: its end, and what starts until then.
    #[cold]
    pub(crate) fn change_load(&mut self, changes: &Changes) {
        if let Some(lost) = changes.lost().filter(|lost| self.lost.as_ref() != Some(lost)) {
            self.runtime.give_slots_away(&lost);
            self.lost = Some(lost);
        }
        let timeline = changes.timeline(self.scenario);
        if timeline.revision() == self.revision {
            return;
        }
        self.revision = timeline.revision();
        self.times.duration = timeline.end();
        // The middle of another load does not apply to this one.
        self.halfway_at = Nanos::NEVER;
        if self.stopped_at == Nanos::NEVER {
            self.stop_at = self.times.planned_end();
        }
        self.runtime.change_load(&timeline);
    }

    /// Closes a slice of the measured time if it is over: what was seen by now is in it.
    pub(crate) fn follow(&mut self, now: Nanos) {
        if now >= self.follower.next_at() && !self.is_over() {
            let last = self.times.planned_end().min(self.stopped_at);
            self.follower.close_slices(now, last, &self.runtime.unreported, self.runtime.in_flight());
        }
    }

    /// Checks whether the plan is over, or half of it. `left`: what is due from the first instant on is left to others,
    /// and the lease ends at the second.
    pub(crate) fn check_end(&mut self, now: Nanos, stop_level: u8, left: Option<(Nanos, Nanos)>) {
        let stop_level = if left.is_some() { stop_level.max(StopLevel::STOP) } else { stop_level };
        if now >= self.halfway_at {
            self.backlog.halfway = self.runtime.backlog();
            self.halfway_at = Nanos::NEVER;
        }
        self.runtime.flush_log();
        let spent_at = self.runtime.update_budget(now, self.stop_at);
        let stop_level = if spent_at.is_some() { stop_level.max(StopLevel::STOP) } else { stop_level };
        if now >= self.stop_at && self.runtime.ends_by_count() && stop_level < StopLevel::STOP {
            (self.stopped_at, self.came_to_end) = (self.runtime.end_of_starts().unwrap_or(self.stop_at), true);
            self.backlog.at_end = self.runtime.backlog();
            self.stop_at = Nanos::NEVER;
            return;
        }
        if self.end_at == Nanos::NEVER && (now >= self.stop_at || stop_level >= StopLevel::STOP) {
            if self.stopped_at == Nanos::NEVER {
                let ended_at = self.runtime.end_of_starts().unwrap_or(Nanos::NEVER);
                let own_until = left.map_or(Nanos::NEVER, |(own_until, _)| own_until);
                self.stopped_at = self.stop_at.min(spent_at.unwrap_or(now)).min(now).min(ended_at).min(own_until);
                self.came_to_end = now >= self.stop_at;
                self.backlog.at_end = self.runtime.backlog();
            }
            self.stop_at = Nanos::NEVER;
            self.end_at = now + self.times.grace;
            if self.runtime.has_pending_teardown() {
                self.give_up_at = self.end_at;
                self.end_at += self.times.stop_within;
            }
            // As a plan's, the time of a budget is over before what is intended at its end.
            let own_until = left.map(|(own_until, _)| own_until);
            let is_spent = spent_at.into_iter().chain(own_until).any(|at| at <= self.stopped_at);
            let last = Nanos(self.stopped_at.0.saturating_sub(u64::from(is_spent)));
            if let Some((_, lease)) = left {
                self.left_until = lease;
                self.runtime.leave_rest(last, lease.min(spent_at.unwrap_or(Nanos::NEVER)));
            }
            self.base = Some(self.runtime.stop_starting(last));
        }
    }

    /// When the clock is to be checked again.
    pub(crate) fn alarm(&self) -> Nanos {
        let warm = if self.is_warming { self.times.measured_from() } else { Nanos::NEVER };
        self.stop_at
            .min(self.end_at)
            .min(self.give_up_at)
            .min(self.halfway_at)
            .min(warm)
            .min(self.follower.next_at())
            .min(self.runtime.budget_until())
    }

    /// The grace is over: users give up what they wait for, and do what they do when they leave. What had come by then
    /// is read first.
    pub(crate) fn give_up_for_teardown(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if now >= self.give_up_at && self.runtime.read_until() >= self.give_up_at {
            self.give_up_at = Nanos::NEVER;
            self.runtime.give_up_for_teardown(now, sockets);
        }
    }

    /// Starts users that wait for each other, at the instant of their release.
    pub(crate) fn start_released(&mut self, changes: &Changes) {
        let round_at = changes.round_at(self.scenario);
        if round_at != self.round_at {
            self.round_at = round_at;
            self.runtime.release(round_at);
        }
    }

    /// Nothing is left to do, or the time for it is over. What had come when the grace was over is read first.
    #[inline]
    pub(crate) fn should_end(&self, now: Nanos, is_alarmed: bool, stop_level: u8) -> bool {
        let is_ended = now >= self.end_at && self.runtime.read_until() >= self.end_at;
        (now >= self.left_until && self.runtime.is_over())
            || (is_alarmed && (is_ended || stop_level >= StopLevel::ABORT))
    }

    /// Ends what is in flight as incomplete; its peers are notified. True when measuring began with that.
    pub(crate) fn begin_shutdown(&mut self, at: Nanos, is_cut: bool, sockets: &mut dyn Sockets) -> bool {
        let was_warming = std::mem::take(&mut self.is_warming);
        if was_warming {
            self.runtime.begin_measuring(false);
        }
        self.over_at = Some(at);
        self.runtime.give_back_starts();
        self.runtime.end(is_cut, sockets);
        was_warming
    }

    /// Leaves a scenario that is over: when its peers have had their time for closing handshakes, connections without
    /// one are dropped. Until then there is something to do; never, once it has left.
    #[cold]
    pub(crate) fn leave(&mut self, now: Nanos, sockets: &mut dyn Sockets) -> Nanos {
        if !self.has_left && now >= self.runtime.closing_until() {
            self.runtime.abandon_all(sockets);
            self.has_left = true;
        }
        if self.has_left { Nanos::NEVER } else { self.runtime.closing_until() }
    }

    /// Swaps what was seen since the last time for an empty snapshot. `due_until`: what was due before that, and is in
    /// no count, is behind.
    pub(crate) fn hand_over(&mut self, now: Nanos, due_until: Option<Nanos>, seen: &mut Box<Snapshot>) {
        self.runtime.settle_budget();
        self.follower.hand_over(&self.runtime.unreported);
        std::mem::swap(&mut self.runtime.unreported, seen);
        if !self.is_over() {
            seen.gauges.connections_open = self.runtime.connections_open();
            seen.gauges.behind = due_until.map_or(0, |end| self.runtime.behind(end));
            self.runtime.record_ages(now, &mut seen.gauges.in_flight);
        } else {
            seen.gauges.behind = due_until.map_or(0, |end| self.runtime.left_before(end));
        }
        self.complete(seen);
    }

    fn complete(&mut self, seen: &mut Snapshot) {
        if let Some((finished, succeeded, missed)) = &mut self.base {
            let counts = &mut seen.counts;
            counts[Counter::Drained] = counts.finished() - std::mem::take(finished);
            counts[Counter::DrainedSucceeded] = counts.succeeded() - std::mem::take(succeeded);
            counts[Counter::DrainedMissed] = counts.missed_deadline() - std::mem::take(missed);
        }
        // Users that worked in the interval: at its end some may have finished.
        let users = if self.is_over() { 0 } else { self.runtime.users_at_work() };
        let before = self.users.replace(users).unwrap_or_else(|| self.runtime.users_begun());
        seen.gauges.users = users.max(before);
    }

    /// The last snapshot, and the outcome.
    pub(crate) fn finish(&mut self, at: Nanos) -> (Box<Snapshot>, ScenarioOutcome) {
        let mut seen = std::mem::take(&mut self.runtime.unreported);
        let left = self.runtime.left_before(Nanos::NEVER);
        seen.gauges.behind = left;
        let users = self.runtime.users_at_work();
        self.complete(&mut seen);
        seen.gauges.users = seen.gauges.users.max(users);
        let backlog = self.came_to_end.then_some(self.backlog);
        let at = self.over_at.unwrap_or(at);
        // The time of the last start is part of the load, also when its response came sooner.
        let stopped_at = match self.runtime.end_of_starts().filter(|_| self.stopped_at == Nanos::NEVER) {
            Some(ended_at) => ended_at,
            None => self.stopped_at.min(at),
        };
        self.runtime.finish_log();
        let spent = self.runtime.ended_by();
        let (slices, first_times) = (self.follower.take(), self.runtime.take_first_times());
        (seen, ScenarioOutcome { scenario: self.scenario, stopped_at, left, backlog, spent, slices, first_times })
    }
}
