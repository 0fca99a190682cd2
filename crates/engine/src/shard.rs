//! A shard: one thread, one loop. It waits for its sockets, its timers, the end of an interval, and the end of the
//! run.

mod publisher;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use driver::{Driver, Event, Socket, Waker};
use metrics::Snapshot;
use pacing::Nanos;

use crate::RunError;
use crate::barriers::BarrierEvent;
use crate::control::{Changes, StopLevel};
use crate::remote::RemotePartEvent;
use crate::scenario_lifecycle::{ScenarioLifecycle, ScenarioOutcome};
use crate::scenario_runtime::ScenarioConfig;
#[cfg(test)]
use crate::swarm::mutants::{Bug, fault_injected};
use crate::times::Times;
use publisher::Publisher;

/// Interval of the ticks by which a shard measures how late its loop is.
const LAG_EVERY: Nanos = Nanos::from_millis(50);
/// Most ticks that one stall counts for: eight minutes.
const LAGS_MAX: u32 = 10_000;

/// A loop that never reads everything that is there has, after this many waits, read what was there before the first:
/// no deadline waits longer for it.
const UNREAD_TURNS_MAX: u32 = 64;

/// Snapshots of the scenarios of a shard, in their order.
pub(crate) type ShardSnapshots = Vec<Box<Snapshot>>;

/// Assignment of a shard: its configuration of each scenario that it plays, and how long that starts something; `None`
/// when no time ends it.
pub(crate) type ShardAssignment = Vec<(ScenarioConfig, Option<Nanos>)>;

/// A report of a shard to the run.
pub(crate) enum Report {
    /// It is ready to start, and can be woken.
    Ready { waker: Waker },
    /// What it saw in the first interval that it has not reported; it saw nothing in the others up to the end of
    /// `upto`.
    Interval { shard: usize, upto: u64, at: Nanos, seen: ShardSnapshots },
    /// Whether, in all its scenarios, every user has failed to connect and none ever did.
    Unreachable { shard: usize, is_failing: bool },
    /// All its users of a scenario wait for users of other shards.
    Gathered { shard: usize, scenario: usize, at: Nanos },
    /// A user stops the run, for this reason.
    StopRun { reason: Arc<str> },
    /// An event of users that wait for users of other partitions.
    BarrierEvent(BarrierEvent),
    /// A scenario whose users wait for each other is over here.
    Left { shard: usize, scenario: usize },
    /// It is over; the last of what it saw.
    Over { shard: usize, at: Nanos, ends: Vec<ScenarioOutcome>, seen: ShardSnapshots },
    /// It cannot go on.
    Broken(RunError),
    /// An event of a partition of the load on a remote worker.
    Remote { part: usize, remote: RemotePartEvent },
}

impl crate::shard_threads::Report for Report {
    fn readiness(self) -> Option<Result<Waker, RunError>> {
        match self {
            Self::Ready { waker } => Some(Ok(waker)),
            Self::Broken(error) => Some(Err(error)),
            _ => None,
        }
    }
}

/// The channels of a shard.
pub(crate) struct ShardChannels {
    pub(crate) shard: usize,
    pub(crate) reports: Sender<Report>,
    /// Snapshots returned empty.
    pub(crate) returned: Receiver<ShardSnapshots>,
    pub(crate) stop_level: Arc<StopLevel>,
    pub(crate) changes: Arc<Changes>,
    /// Whether it reports what is behind: of a part of a load whose worker may be lost.
    pub(crate) counts_behind: bool,
}

/// A shard between two turns. Its owner calls [`Shard::turn`] and [`Shard::wait`] in turn until it is over.
pub(crate) struct Shard<D: Driver> {
    driver: D,
    pub(crate) lifecycles: Vec<ScenarioLifecycle>,
    /// Scenarios that are not over.
    playing: usize,
    /// The scenario that last had a socket at each index, where there are several scenarios.
    owners: Vec<u16>,
    times: Times,
    publisher: Publisher,
    /// The last word of the stop level: it stays the same until there is a new intent.
    control_word: u64,
    /// The next tick of the lag.
    lag_at: Nanos,
    /// When the clock is checked again.
    alarm: Nanos,
    turned_at: Nanos,
    /// It has had a turn.
    has_turned: bool,
    /// Waits since the last one that left nothing to read.
    unread_turns: u32,
    unread_since: Nanos,
}

/// What a shard needs next.
pub(crate) enum Tick {
    /// It waits for its sockets, at most until then.
    Wait { until: Nanos },
    /// It is over.
    Over,
}

/// Runs a shard to its end on the calling thread. The run may be gone: the shard then ends.
pub(crate) fn run<D: Driver>(driver: D, assignment: ShardAssignment, channels: ShardChannels, start: &Receiver<Times>) {
    if channels.reports.send(Report::Ready { waker: driver.waker() }).is_err() {
        return;
    }
    let Ok(times) = start.recv() else { return };
    let mut shard = Shard::new(driver, assignment, channels, times);
    while let Tick::Wait { until } = shard.turn() {
        if let Err(error) = shard.wait(until) {
            return shard.publisher.report_broken(error);
        }
    }
    shard.finish();
}

impl<D: Driver> Shard<D> {
    pub(crate) fn new(mut driver: D, assignment: ShardAssignment, channels: ShardChannels, times: Times) -> Self {
        let (begins, joins_after) = (times.begins(), times.intervals_before());
        let publisher = Publisher {
            channels,
            index: joins_after,
            next_at: times.end_of(joins_after + 1),
            snapshots: 1,
            cpu_ns: host::thread_cpu_ns(),
            run_delay_ns: host::thread_run_delay_ns().unwrap_or(0),
            was_failing: false,
        };
        let waker = driver.waker();
        let begun =
            |(work, duration)| ScenarioLifecycle::new(work, Times { duration, ..times }, &waker, driver.sockets());
        let mut lifecycles: Vec<ScenarioLifecycle> = assignment.into_iter().map(begun).collect();
        // The time before it began is no stall.
        lifecycles.iter_mut().for_each(|lifecycle| lifecycle.runtime.sleep_until(begins));
        Self {
            playing: lifecycles.len(),
            lifecycles,
            driver,
            owners: Vec::new(),
            times,
            publisher,
            control_word: 0,
            lag_at: begins + LAG_EVERY,
            alarm: Nanos::ZERO,
            // It has taken up nothing of what is due then.
            turned_at: Nanos(begins.0.saturating_sub(1)),
            has_turned: false,
            unread_turns: 0,
            unread_since: begins,
        }
    }

    /// Does everything that is due now.
    pub(crate) fn turn(&mut self) -> Tick {
        let now = self.driver.now();
        if self.playing == 0 {
            return self.say_goodbye(now);
        }
        each(&mut self.lifecycles, |lifecycle| lifecycle.runtime.wake_at(now));
        let turned_at = std::mem::replace(&mut self.turned_at, now);
        let control_word = self.publisher.channels.stop_level.load_word();
        // Most turns are for sockets and users only.
        let is_alarmed = now >= self.alarm || control_word != self.control_word;
        if is_alarmed && !self.run_periodic(now, turned_at, control_word) {
            return Tick::Over;
        }
        let (mut next, mut is_failing, mut is_ended) = (Nanos::NEVER, true, false);
        for lifecycle in &mut self.lifecycles {
            let sockets = self.driver.sockets();
            if lifecycle.is_over() {
                next = next.min(lifecycle.leave(now, sockets));
                is_failing &= lifecycle.runtime.is_failing();
                continue;
            }
            if lifecycle.runtime.is_rendezvous() {
                self.publisher.release_rendezvous(lifecycle);
            }
            lifecycle.runtime.turn(now, sockets);
            if lifecycle.runtime.is_rendezvous() && lifecycle.runtime.has_gathered() {
                self.publisher.report_gathered(lifecycle.scenario, now);
            }
            if let Some(reason) = lifecycle.runtime.take_stop_reason() {
                self.publisher.report_stop(reason);
            }
            if is_alarmed {
                lifecycle.give_up_for_teardown(now, sockets);
            }
            is_ended |= lifecycle.should_end(now, is_alarmed, StopLevel::level(control_word));
            next = next.min(lifecycle.runtime.next_turn(now));
            is_failing &= lifecycle.runtime.is_failing();
        }
        if is_ended {
            return self.end_scenarios(now, is_alarmed, control_word);
        }
        if is_alarmed {
            self.set_alarm();
        }
        if is_failing != self.publisher.was_failing {
            self.publisher.report_reachability(is_failing);
        }
        Tick::Wait { until: next.min(self.alarm) }
    }

    fn set_alarm(&mut self) {
        let alarms = self.lifecycles.iter().filter(|lifecycle| !lifecycle.is_over()).map(ScenarioLifecycle::alarm);
        // A lease that is over was handled already.
        let lease = self.publisher.channels.changes.lease_end();
        let lease = if lease > self.turned_at { lease } else { Nanos::NEVER };
        let own = self.publisher.next_at.min(self.lag_at).min(lease);
        self.alarm = alarms.fold(own, Nanos::min);
    }

    /// Ends scenarios that have nothing left to do, or no time for it. The others have their turn at once.
    #[cold]
    fn end_scenarios(&mut self, now: Nanos, is_alarmed: bool, control_word: u64) -> Tick {
        for index in 0..self.lifecycles.len() {
            let lifecycle = &self.lifecycles[index];
            if !lifecycle.is_over() && lifecycle.should_end(now, is_alarmed, StopLevel::level(control_word)) {
                self.begin_shutdown(index);
            }
        }
        self.set_alarm();
        if self.playing == 0 { self.say_goodbye(now) } else { Tick::Wait { until: now } }
    }

    /// Handles what is not due at every turn; the turn before was at `turned_at`. False when the run is gone.
    fn run_periodic(&mut self, now: Nanos, turned_at: Nanos, control_word: u64) -> bool {
        if StopLevel::changes(control_word) != self.control_word {
            self.control_word = StopLevel::changes(control_word);
            self.change_load();
        }
        let mut begins = false;
        for lifecycle in &mut self.lifecycles {
            begins |= lifecycle.begin_measuring(now);
        }
        if begins {
            self.publisher.reset_usage_baseline();
        }
        self.lifecycles.iter_mut().for_each(|lifecycle| lifecycle.follow(now));
        // What was seen before belongs to the interval that is over, so it is handed over before anything is done.
        if now >= self.publisher.next_at && !self.publisher.hand_over(&mut self.lifecycles, now, &self.times) {
            return false;
        }
        self.measure_lag(now);
        let lease = self.publisher.channels.changes.lease_end();
        let stop_level = StopLevel::level(control_word);
        // It took up what was due by the turn before. Without a lease, what came due since is not started late.
        let own_until = if now >= lease { turned_at + Nanos(1) } else { now };
        // Of what it never began, it owned nothing.
        let lease_end = if self.has_turned { lease } else { own_until };
        self.has_turned = true;
        let left = (now >= lease || stop_level == StopLevel::LEAVE).then_some((own_until, lease_end));
        for lifecycle in self.lifecycles.iter_mut().filter(|lifecycle| !lifecycle.is_over()) {
            lifecycle.check_end(now, stop_level, left);
        }
        true
    }

    /// Applies changes of the load of a scenario: its end, and what starts until then.
    #[cold]
    fn change_load(&mut self) {
        let changes = &self.publisher.channels.changes;
        self.times.duration = changes.end();
        self.lifecycles.iter_mut().for_each(|lifecycle| lifecycle.change_load(changes));
        self.publisher.next_at = self.times.end_of(self.publisher.index + 1);
    }

    /// Measures the lag. A stall is late for all the ticks that it covers, not for the first only. The first scenario
    /// of a shard carries the figures of its loop.
    fn measure_lag(&mut self, now: Nanos) {
        for _ in 0..LAGS_MAX {
            if now < self.lag_at {
                break;
            }
            self.lifecycles[0].runtime.unreported.lag.record((now - self.lag_at).0);
            #[cfg(test)]
            if now - self.lag_at > LAG_EVERY && fault_injected(Bug::StallOneTick) {
                self.lag_at = now;
            }
            self.lag_at += LAG_EVERY;
        }
        if now >= self.lag_at {
            self.lag_at = now + LAG_EVERY;
        }
    }

    /// Ends what is in flight of a scenario as incomplete; its peers are notified.
    fn begin_shutdown(&mut self, index: usize) {
        let at = self.driver.now();
        let is_cut = self.publisher.channels.stop_level.get() >= StopLevel::ABORT;
        let was_warming = self.lifecycles[index].begin_shutdown(at, is_cut, self.driver.sockets());
        self.playing -= 1;
        if was_warming && self.playing == 0 {
            self.publisher.reset_usage_baseline();
        }
        if self.lifecycles[index].runtime.is_rendezvous() {
            self.publisher.report_left(self.lifecycles[index].scenario);
        }
    }

    fn say_goodbye(&mut self, now: Nanos) -> Tick {
        let sockets = self.driver.sockets();
        let until =
            self.lifecycles.iter_mut().map(|lifecycle| lifecycle.leave(now, sockets)).fold(Nanos::NEVER, Nanos::min);
        if until == Nanos::NEVER { Tick::Over } else { Tick::Wait { until } }
    }

    /// The shard may sleep until then.
    pub(crate) fn sleep_until(&mut self, until: Nanos) {
        let until = until.max(self.turned_at);
        each(&mut self.lifecycles, |lifecycle| lifecycle.runtime.sleep_until(until));
    }

    /// Waits for its sockets, and handles their events.
    pub(crate) fn wait(&mut self, until: Nanos) -> Result<(), std::io::Error> {
        self.sleep_until(until);
        let (lifecycles, owners) = (&mut self.lifecycles[..], &mut self.owners);
        let is_single = lifecycles.len() == 1;
        self.driver
            .coalesce(lifecycles.iter().map(|lifecycle| lifecycle.runtime.coalesce_span()).min().unwrap_or_default());
        self.driver.wait(until, |sockets, event| {
            let owner = if is_single { 0 } else { owner_of(lifecycles, owners, socket_of(&event)) };
            if let Some(lifecycle) = lifecycles.get_mut(owner) {
                lifecycle.runtime.handle(sockets, event);
            }
        })?;
        self.update_read_until();
        Ok(())
    }

    /// Notes that all that had come when the turn began has been read, unless the driver could not deliver it at once.
    fn update_read_until(&mut self) {
        if !self.driver.has_more() {
            self.unread_turns = 0;
            return self.has_read_until(self.turned_at);
        }
        if self.unread_turns == 0 {
            self.unread_since = self.turned_at;
        }
        self.unread_turns += 1;
        if self.unread_turns >= UNREAD_TURNS_MAX {
            self.unread_turns = 0;
            self.has_read_until(self.unread_since);
        }
    }

    fn has_read_until(&mut self, at: Nanos) {
        each(&mut self.lifecycles, |lifecycle| lifecycle.runtime.has_read_until(at));
    }

    /// Reports the last of what was seen to the run.
    pub(crate) fn finish(mut self) {
        for index in 0..self.lifecycles.len() {
            if !self.lifecycles[index].is_over() {
                self.begin_shutdown(index);
            }
        }
        let at =
            self.lifecycles.iter().filter_map(ScenarioLifecycle::over_at).max().unwrap_or_else(|| self.driver.now());
        for lifecycle in &mut self.lifecycles {
            lifecycle.runtime.abandon_all(self.driver.sockets());
        }
        self.publisher.finish(&mut self.lifecycles, at);
    }

    /// Exchanges in flight: begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.lifecycles.iter().map(|lifecycle| lifecycle.runtime.in_flight()).sum()
    }
}

/// Runs `act` on each scenario; most runs have one, and then the work of each turn costs no loop.
#[inline(always)]
fn each(lifecycles: &mut [ScenarioLifecycle], mut act: impl FnMut(&mut ScenarioLifecycle)) {
    match lifecycles {
        [only] => act(only),
        several => each_of(several, act),
    }
}

#[cold]
#[inline(never)]
fn each_of(lifecycles: &mut [ScenarioLifecycle], act: impl FnMut(&mut ScenarioLifecycle)) {
    lifecycles.iter_mut().for_each(act);
}

/// The socket of an event.
#[inline(always)]
fn socket_of(event: &Event<'_>) -> Option<Socket> {
    match *event {
        Event::Connected { socket, .. }
        | Event::Received { socket, .. }
        | Event::Sent { socket, .. }
        | Event::PeerClosed { socket, .. }
        | Event::Refused { socket, .. }
        | Event::Cut { socket, .. }
        | Event::Failed { socket, .. } => Some(socket),
        Event::Accepted { .. } | Event::Woken => None,
    }
}

/// The scenario that owns the socket of an event; an index after the last where there is none. The owner of the
/// previous socket at the same index is tried first.
#[cold]
#[inline(never)]
fn owner_of(lifecycles: &mut [ScenarioLifecycle], owners: &mut Vec<u16>, socket: Option<Socket>) -> usize {
    let Some(socket) = socket else { return lifecycles.len() };
    let index = socket.index as usize;
    let last = owners.get(index).map_or(0, |owner| usize::from(*owner));
    if lifecycles[last].runtime.knows(socket) {
        return last;
    }
    let Some(owner) = lifecycles.iter_mut().position(|lifecycle| lifecycle.runtime.knows(socket)) else {
        return lifecycles.len();
    };
    if index >= owners.len() {
        owners.resize(index + 1, 0);
    }
    owners[index] = owner as u16;
    owner
}
