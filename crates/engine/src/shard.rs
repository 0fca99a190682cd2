//! A shard: one thread, one loop. It waits for its sockets, its timers, the end of an interval, and the end of the run.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use driver::{Driver, Waker};
use metrics::Snapshot;
use pacing::Nanos;
use plan::{Load, Plan};

use crate::RunError;
use crate::control::{Changes, Wish};
#[cfg(test)]
use crate::swarm::plant::{Bug, strikes};
use crate::world::{Work, World};

/// Snapshots of one shard on their way. Beyond it a shard goes on recording into the one it has, and hands over less often.
const SNAPSHOTS_MAX: usize = 4;

/// The ticks by which a shard measures how late its loop is.
const LAG_EVERY: Nanos = Nanos::from_millis(50);
/// The most ticks that one stall counts for: eight minutes.
const LAGS_MAX: u32 = 10_000;

/// A loop that never comes to the end of what is there has read after so many waits what was there before the first: no deadline
/// waits longer for it.
const LOOKS_MAX: u32 = 64;

/// What a shard tells the run.
pub(crate) enum Report {
    /// It is ready to start, and can be woken.
    Ready { waker: Waker },
    /// What it saw in the first interval that it has not told; in the others up to the end of `upto` nothing.
    Interval { shard: usize, upto: u64, at: Nanos, seen: Box<Snapshot> },
    /// Whether every user has failed to connect and none ever did.
    Hopeless { shard: usize, is_hopeless: bool },
    /// All its users wait for those of the others.
    Gathered { shard: usize, at: Nanos },
    /// It is over; the last that it saw.
    Over { shard: usize, at: Nanos, stopped_at: Nanos, backlog: Option<Backlog>, seen: Box<Snapshot> },
    /// It cannot go on.
    Broken(RunError),
}

/// Starts of an open load that had come and not ended, at two instants of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// Halfway through.
    pub(crate) halfway: u64,
    /// When the plan was over.
    pub(crate) at_end: u64,
}

/// When the run starts, and when it stops by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) started: Nanos,
    pub(crate) warmup: Nanos,
    pub(crate) duration: Option<Nanos>,
    pub(crate) grace: Nanos,
    pub(crate) interval: Nanos,
}

impl Times {
    pub(crate) fn of(plan: &Plan, started: Nanos) -> Self {
        let duration = match &plan.scenarios.first().expect("a plan has a scenario").load {
            Load::Closed { duration, .. } => duration.map(Nanos::from),
            Load::Open { stages, .. } => Some(stages.iter().fold(Nanos::ZERO, |sum, stage| sum + stage.span.into())),
        };
        let (warmup, grace, interval) = (plan.warmup.into(), plan.grace.into(), plan.interval.into());
        Self { started, warmup, duration, grace, interval }
    }

    /// When the warm-up is over.
    pub(crate) fn measured_from(&self) -> Nanos {
        self.started + self.warmup
    }

    /// When half of the plan's time is over; never without one.
    pub(crate) fn halfway(&self) -> Nanos {
        self.duration.map_or(Nanos::NEVER, |duration| self.measured_from() + Nanos(duration.0 / 2))
    }

    /// When the plan is over; [`Nanos::NEVER`] when no time ends it.
    pub(crate) fn planned_end(&self) -> Nanos {
        self.duration.map_or(Nanos::NEVER, |duration| self.measured_from() + duration)
    }

    /// The end of an interval, the first being 1. One that would end with the plan takes in the last answers too, instead of
    /// leaving them to a sliver of an interval behind it.
    pub(crate) fn end_of(&self, number: u64) -> Nanos {
        let whole = |duration: Nanos| duration.0 / self.interval.0;
        let ends_with_plan =
            |duration: &Nanos| duration.0.is_multiple_of(self.interval.0) && number >= whole(*duration);
        let longer = u64::from(self.duration.as_ref().is_some_and(ends_with_plan));
        self.measured_from() + Nanos(self.interval.0.saturating_mul(number + longer))
    }
}

/// The ends of the channels that a shard holds.
pub(crate) struct Ends {
    pub(crate) shard: usize,
    pub(crate) reports: Sender<Report>,
    /// Snapshots that come back empty.
    pub(crate) returned: Receiver<Box<Snapshot>>,
    pub(crate) wish: Arc<Wish>,
    pub(crate) changes: Arc<Changes>,
}

struct Publisher {
    ends: Ends,
    index: u64,
    next_at: Nanos,
    snapshots: usize,
    cpu_ns: u64,
    run_delay_ns: u64,
    /// Users at work at the end of the last interval.
    users: u64,
    was_hopeless: bool,
    /// Of a load that starts nothing any more: what had ended before, in this snapshot, and what of it well.
    base: Option<(u64, u64)>,
}

/// A shard between two turns. Whoever owns it calls [`Shard::turn`] and [`Shard::wait`] one after the other until it is over.
pub(crate) struct Shard<D: Driver> {
    driver: D,
    pub(crate) world: World,
    times: Times,
    publisher: Publisher,
    /// The wish as it is when nobody wants anything new.
    wished: u64,
    /// When the plan is over; never, once starting has stopped.
    stop_at: Nanos,
    /// When what is in flight is given up.
    end_at: Nanos,
    /// When starting stopped; never, until then.
    stopped_at: Nanos,
    /// What happens does not count yet.
    is_warming: bool,
    /// When the loop looks how late it is.
    lag_at: Nanos,
    /// When half of the plan is over; never, once it was.
    halfway_at: Nanos,
    backlog: Backlog,
    /// The plan came to its end, and was not stopped before.
    came_to_end: bool,
    /// The earliest of all these instants.
    alarm: Nanos,
    /// The last round that was started.
    round_at: Nanos,
    /// When the last turn began.
    turned_at: Nanos,
    /// Waits one after the other that left something to be read, and when the first of them began.
    looks: u32,
    looking_since: Nanos,
    /// When it was over: since then its connections part, and nothing is counted but their bytes.
    over_at: Option<Nanos>,
}

/// What a shard does after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits for its sockets, at most until then.
    Wait { until: Nanos },
    /// It is over.
    Over,
}

/// Runs a shard to its end on the thread that calls. The run may be gone: then nobody wants the figures, and the shard ends.
pub(crate) fn run<D: Driver>(driver: D, work: Work, ends: Ends, start: &Receiver<Times>) {
    if ends.reports.send(Report::Ready { waker: driver.waker() }).is_err() {
        return;
    }
    let Ok(times) = start.recv() else { return };
    let mut shard = Shard::new(driver, work, ends, times);
    while let Turn::Wait { until } = shard.turn() {
        if let Err(error) = shard.wait(until) {
            return shard.publisher.tell_broken(error);
        }
    }
    shard.finish();
}

impl<D: Driver> Shard<D> {
    pub(crate) fn new(mut driver: D, work: Work, ends: Ends, times: Times) -> Self {
        let publisher = Publisher {
            ends,
            index: 0,
            next_at: times.end_of(1),
            snapshots: 1,
            cpu_ns: host::thread_cpu_ns(),
            run_delay_ns: host::thread_run_delay_ns().unwrap_or(0),
            users: if work.open.is_some() { 0 } else { work.share.users },
            was_hopeless: false,
            base: None,
        };
        let world = World::new(work, driver.sockets(), times.started);
        Self {
            driver,
            world,
            times,
            publisher,
            wished: 0,
            stop_at: times.planned_end(),
            end_at: Nanos::NEVER,
            stopped_at: Nanos::NEVER,
            is_warming: times.warmup > Nanos::ZERO,
            lag_at: times.started + LAG_EVERY,
            halfway_at: times.halfway(),
            backlog: Backlog::default(),
            came_to_end: false,
            alarm: Nanos::ZERO,
            round_at: Nanos::ZERO,
            turned_at: times.started,
            looks: 0,
            looking_since: times.started,
            over_at: None,
        }
    }

    /// Does what is due now.
    pub(crate) fn turn(&mut self) -> Turn {
        let now = self.driver.now();
        if self.over_at.is_some() {
            return self.part(now);
        }
        self.world.wake_at(now);
        self.turned_at = now;
        let wished = self.publisher.ends.wish.look();
        // Most turns are for sockets and users alone.
        let is_alarmed = now >= self.alarm || wished != self.wished;
        let wish = Wish::of(wished);
        if is_alarmed {
            if Wish::changes_of(wished) != self.wished {
                self.wished = Wish::changes_of(wished);
                self.change_load();
            }
            if self.is_warming && now >= self.times.measured_from() {
                self.begin_measuring();
            }
            // What was seen before belongs to the interval that is over; so it is handed over before anything is done.
            if now >= self.publisher.next_at && !self.publisher.hand_over(&mut self.world, now, &self.times) {
                return Turn::Over;
            }
            self.look_at_clock(now, wish);
        }
        if self.world.is_rendezvous() {
            self.join_round();
        }
        self.world.turn(now, self.driver.sockets());
        if self.world.is_rendezvous() && self.world.has_gathered() {
            // A run that is gone is met at the next hand-over.
            let _ = self.publisher.ends.reports.send(Report::Gathered { shard: self.publisher.ends.shard, at: now });
        }
        // What had come when the grace was over is read first.
        let is_ended = now >= self.end_at && self.world.read_until >= self.end_at;
        if self.world.is_over() || (is_alarmed && (is_ended || wish >= Wish::ABORT)) {
            return self.begin_parting();
        }
        if is_alarmed {
            let warm = if self.is_warming { self.times.measured_from() } else { Nanos::NEVER };
            self.alarm = self
                .publisher
                .next_at
                .min(self.stop_at)
                .min(self.end_at)
                .min(self.lag_at)
                .min(self.halfway_at)
                .min(warm);
        }
        self.publisher.tell_hope(&self.world);
        Turn::Wait { until: self.world.next_turn(now).min(self.alarm) }
    }

    /// Somebody has changed the load: its end, and what starts until then.
    #[cold]
    fn change_load(&mut self) {
        let timeline = self.publisher.ends.changes.timeline();
        self.times.duration = timeline.end();
        // What was halfway of another load says nothing of this one.
        self.halfway_at = Nanos::NEVER;
        if self.stopped_at == Nanos::NEVER {
            self.stop_at = self.times.planned_end();
        }
        self.publisher.next_at = self.times.end_of(self.publisher.index + 1);
        self.world.change_load(&timeline);
    }

    /// The plan may be over, or half of it, or the time between two ticks of the lag.
    fn look_at_clock(&mut self, now: Nanos, wish: u8) {
        if now >= self.halfway_at {
            self.backlog.halfway = self.world.backlog();
            self.halfway_at = Nanos::NEVER;
        }
        // A stall is late to all the ticks that it covers, not to the first alone.
        for _ in 0..LAGS_MAX {
            if now < self.lag_at {
                break;
            }
            self.world.seen.lag.record((now - self.lag_at).0);
            #[cfg(test)]
            if now - self.lag_at > LAG_EVERY && strikes(Bug::StallOneTick) {
                self.lag_at = now;
            }
            self.lag_at += LAG_EVERY;
        }
        if now >= self.lag_at {
            self.lag_at = now + LAG_EVERY;
        }
        if now >= self.stop_at && self.world.ends_by_count() && wish < Wish::STOP {
            (self.stopped_at, self.came_to_end) = (self.stop_at, true);
            self.backlog.at_end = self.world.backlog();
            self.stop_at = Nanos::NEVER;
            return;
        }
        if self.end_at == Nanos::NEVER && (now >= self.stop_at || wish >= Wish::STOP) {
            if self.stopped_at == Nanos::NEVER {
                self.stopped_at = self.stop_at.min(now);
                self.came_to_end = now >= self.stop_at;
                self.backlog.at_end = self.world.backlog();
            }
            self.stop_at = Nanos::NEVER;
            self.end_at = now + self.times.grace;
            self.publisher.base = Some(self.world.stop_starting(self.stopped_at));
        }
    }

    fn begin_measuring(&mut self) {
        self.is_warming = false;
        self.world.begin_measuring();
        self.publisher.look_at_spending();
    }

    /// Gives up what is in flight; its peers hear that it is over.
    fn begin_parting(&mut self) -> Turn {
        let at = self.driver.now();
        self.over_at = Some(at);
        if self.is_warming {
            self.begin_measuring();
        }
        let is_cut = self.publisher.ends.wish.get() >= Wish::ABORT;
        self.world.end(is_cut, self.driver.sockets());
        self.part(at)
    }

    fn part(&mut self, now: Nanos) -> Turn {
        let until = self.world.parts_until();
        if now < until { Turn::Wait { until } } else { Turn::Over }
    }

    /// Starts the round that was agreed on.
    fn join_round(&mut self) {
        let round_at = self.publisher.ends.wish.round_at();
        if round_at != self.round_at {
            self.round_at = round_at;
            self.world.release(round_at);
        }
    }

    /// It may sleep until then.
    pub(crate) fn sleep_until(&mut self, until: Nanos) {
        self.world.sleep_until(until.max(self.turned_at));
    }

    /// Waits for its sockets, and handles what they say.
    pub(crate) fn wait(&mut self, until: Nanos) -> Result<(), std::io::Error> {
        self.sleep_until(until);
        let world = &mut self.world;
        self.driver.wait(until, |sockets, event| world.handle(sockets, event))?;
        self.look_what_was_read();
        Ok(())
    }

    /// All that had come when the turn began has been read, unless the driver could not tell it at once.
    fn look_what_was_read(&mut self) {
        if !self.driver.has_more() {
            (self.world.read_until, self.looks) = (self.turned_at, 0);
            return;
        }
        if self.looks == 0 {
            self.looking_since = self.turned_at;
        }
        self.looks += 1;
        if self.looks >= LOOKS_MAX {
            (self.world.read_until, self.looks) = (self.looking_since, 0);
        }
    }

    /// Tells the run the last that was seen.
    pub(crate) fn finish(mut self) {
        if self.over_at.is_none() {
            self.begin_parting();
        }
        let at = self.over_at.unwrap_or_else(|| self.driver.now());
        self.world.leave_all(self.driver.sockets());
        let backlog = self.came_to_end.then_some(self.backlog);
        self.publisher.finish(self.world, at, self.stopped_at.min(at), backlog);
    }
}

impl Publisher {
    /// Hands the snapshot over and goes on with an empty one. False when the run is gone.
    fn hand_over(&mut self, world: &mut World, now: Nanos, times: &Times) -> bool {
        while self.next_at <= now {
            self.index += 1;
            self.next_at = times.end_of(self.index + 1);
        }
        let fresh = match self.ends.returned.try_recv() {
            Ok(returned) => returned,
            Err(_) if self.snapshots < SNAPSHOTS_MAX => {
                self.snapshots += 1;
                Box::default()
            }
            Err(_) => return true,
        };
        let mut seen = std::mem::replace(&mut world.seen, fresh);
        seen.connections_open = world.connections_open();
        world.look_at_ages(now, &mut seen.in_flight);
        self.complete(&mut seen, world.users_at_work());
        let report = Report::Interval { shard: self.ends.shard, upto: self.index, at: now, seen };
        self.ends.reports.send(report).is_ok()
    }

    /// What was spent until now is told, or does not count.
    fn look_at_spending(&mut self) {
        self.cpu_ns = host::thread_cpu_ns();
        self.run_delay_ns = host::thread_run_delay_ns().unwrap_or(0);
    }

    fn complete(&mut self, seen: &mut Snapshot, users: u64) {
        if let Some((finished, succeeded)) = &mut self.base {
            let counts = &mut seen.counts;
            counts.drained = counts.finished() - std::mem::take(finished);
            counts.drained_well = counts.succeeded - std::mem::take(succeeded);
        }
        let (cpu_before, delay_before) = (self.cpu_ns, self.run_delay_ns);
        self.look_at_spending();
        seen.cpu_ns = self.cpu_ns - cpu_before;
        seen.run_delay_ns = self.run_delay_ns.saturating_sub(delay_before);
        // Those that worked in the interval: at its end some may have done all they had to.
        seen.users = users.max(std::mem::replace(&mut self.users, users));
    }

    fn tell_hope(&mut self, world: &World) {
        let is_hopeless = world.is_hopeless();
        if is_hopeless != self.was_hopeless {
            self.was_hopeless = is_hopeless;
            // A run that is gone is met at the next hand-over.
            let _ = self.ends.reports.send(Report::Hopeless { shard: self.ends.shard, is_hopeless });
        }
    }

    fn tell_broken(self, error: std::io::Error) {
        // The run may be gone already; then nobody asks why.
        let _ = self.ends.reports.send(Report::Broken(error.into()));
    }

    fn finish(&mut self, mut world: World, at: Nanos, stopped_at: Nanos, backlog: Option<Backlog>) {
        let users = world.users_at_work();
        let mut seen = std::mem::take(&mut world.seen);
        self.complete(&mut seen, users);
        let _ = self.ends.reports.send(Report::Over { shard: self.ends.shard, at, stopped_at, backlog, seen });
    }
}
