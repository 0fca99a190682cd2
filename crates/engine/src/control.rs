//! Stops and changes a run from any thread.
//!
//! A load over time is its plan folded with its changes (`pacing::change`), each from a named instant on, 100 ms
//! ahead. All shards compute the same schedule; a shard that learns of a change late starts late. Past starts never
//! move, and the fractional start is carried over. A rate applies to open loads, users to closed loads that run for a
//! time; a pause applies to both (`scenario_runtime/users/load_changes.rs`): users finish their step and keep their connections, stages
//! and end move back, and the pause is in no rate.

mod changes;
mod workers;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use driver::Waker;
use pacing::Nanos;
use pacing::change::{Change, ChangeKind, Timeline};

use crate::barriers::Barriers;
pub use crate::lease::Lease;
use crate::remote::WorkerResult;
pub(crate) use changes::Changes;
pub(crate) use workers::Workers;

/// Stop level of a run, read by its shards. It only grows.
#[derive(Debug, Default)]
pub(crate) struct StopLevel {
    /// The count of load changes, above a byte with the stop level.
    word: AtomicU64,
}

impl StopLevel {
    /// Continue with the plan.
    pub(crate) const RUN: u8 = 0;
    /// Start nothing more; wait for the exchanges in flight.
    pub(crate) const STOP: u8 = 1;
    /// The same for a part whose owner leaves: what it does not start by the end of its lease is left to others.
    pub(crate) const LEAVE: u8 = 2;
    /// End at once.
    pub(crate) const ABORT: u8 = 3;

    /// One more change, in the word.
    const CHANGE: u64 = 1 << 8;

    pub(crate) fn raise(&self, stop_level: u8) {
        let raised = |word: u64| Some(Self::changes(word) | u64::from(stop_level.max(Self::level(word))));
        // The closure always returns a value. A shard that sees the level also sees the lease that was cut before.
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, raised);
    }

    pub(crate) fn get(&self) -> u8 {
        Self::level(self.load_word())
    }

    /// The stop level and the count of changes, in one word.
    pub(crate) fn load_word(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// The stop level in a word.
    pub(crate) fn level(word: u64) -> u8 {
        (word & (Self::CHANGE - 1)) as u8
    }

    /// The changes alone in a word: the word to expect again unless the stop level rises.
    pub(crate) fn changes(word: u64) -> u64 {
        word & !(Self::CHANGE - 1)
    }

    /// Notes a change of the load.
    pub(crate) fn notify_change(&self) {
        self.word.fetch_add(Self::CHANGE, Ordering::Relaxed);
    }
}

/// A handle that stops a run from another thread.
#[derive(Clone, Default)]
pub struct StopHandle {
    stop_level: Arc<StopLevel>,
    /// Why the load stopped the run, when it did.
    reason: Arc<Mutex<Option<String>>>,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

/// What the run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    /// Continue with the plan.
    Run,
    /// Start nothing more; what is in flight has its time.
    Stop,
    /// End at once.
    Abort,
}

impl StopHandle {
    /// The intent so far.
    pub fn wanted(&self) -> Intent {
        match self.stop_level.get() {
            StopLevel::RUN => Intent::Run,
            StopLevel::STOP | StopLevel::LEAVE => Intent::Stop,
            _ => Intent::Abort,
        }
    }

    /// Starts nothing more and waits for what is in flight, for at most the plan's grace.
    pub fn stop(&self) {
        self.raise(StopLevel::STOP);
    }

    /// The same for a part whose lease was cut: what it does not start by then is left to others.
    pub fn leave(&self) {
        self.raise(StopLevel::LEAVE);
    }

    /// The same for the load itself, for this reason; the first one counts.
    pub(crate) fn stop_because(&self, reason: &str) {
        if !self.is_stopped() {
            self.reason.lock().expect("no holder of the lock panics").get_or_insert_with(|| reason.to_owned());
        }
        self.stop();
    }

    /// Why the load stopped the run, if it did.
    pub(crate) fn reason(&self) -> Option<String> {
        self.reason.lock().expect("no holder of the lock panics").clone()
    }

    /// Ends at once. Measurements are kept.
    pub fn abort(&self) {
        self.raise(StopLevel::ABORT);
    }

    /// A stop was requested, or the run stopped itself.
    pub fn is_stopped(&self) -> bool {
        self.stop_level.get() > StopLevel::RUN
    }

    /// An immediate end was requested.
    pub fn is_aborted(&self) -> bool {
        self.stop_level.get() >= StopLevel::ABORT
    }

    fn raise(&self, stop_level: u8) {
        self.stop_level.raise(stop_level);
        self.wake_all();
    }

    pub(crate) fn stop_level_of(&self) -> Arc<StopLevel> {
        self.stop_level.clone()
    }

    pub(crate) fn add_waker(&self, waker: Waker) {
        self.wakers.lock().expect("no holder of the lock panics").push(waker);
    }

    pub(crate) fn wake_all(&self) {
        self.wakers.lock().expect("no holder of the lock panics").iter().for_each(Waker::wake);
    }
}

/// Why a change of a run is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such scenario.
    #[error("this run has no such scenario; they are counted from 0")]
    NoScenario,
    /// The scenario has no rate.
    #[error("this load has users and no rate; change its users instead")]
    NoRate,
    /// The scenario has no users.
    #[error("this load has a rate and no users; change its rate instead")]
    NoUsers,
    /// Its users wait for each other.
    #[error("the users of this load wait for each other; their number stays as it is")]
    Rendezvous,
    /// Its requests are divided among its users beforehand.
    #[error("this load deals a number of requests to its users; give it a duration instead, and they can change")]
    Counted,
    /// It is paused already.
    #[error("this load is paused already")]
    IsPaused,
    /// It is not paused.
    #[error("this load is not paused")]
    NotPaused,
    /// Its end would leave nothing to measure.
    #[error("this load is warming up, and would end with nothing measured; stop it instead")]
    WarmingUp,
    /// It starts nothing any more.
    #[error("this load is over; start it anew")]
    Over,
    /// The load has been changed since the revision that the caller saw.
    #[error("this load was changed meanwhile, and is at revision {now}; look at it again, then change it")]
    StaleRevision {
        /// The current revision.
        now: u32,
    },
    /// It is a hold: connections can only be ended, not changed.
    #[error("connections that are held have no load to pause or to change; stop them instead")]
    Held,
}

/// Control of a run in progress. All copies control the same run.
#[derive(Clone)]
pub struct Control {
    stop: StopHandle,
    /// None for held connections.
    changes: Option<Arc<Changes>>,
    /// The barriers of its users, if it has some.
    barriers: Option<Arc<Barriers>>,
    /// The remote workers of the run.
    workers: Workers,
}

impl Control {
    pub(crate) fn new(stop: StopHandle, changes: Arc<Changes>) -> Self {
        let workers = changes.workers().clone();
        Self { stop, changes: Some(changes), barriers: None, workers }
    }

    /// Adds the barriers of a run whose users wait for each other.
    pub(crate) fn with_barriers(self, barriers: Option<Arc<Barriers>>) -> Self {
        Self { barriers, ..self }
    }

    /// For a partition of a load: users that wait at a barrier go on, up to a ticket, at an instant of its clock; or
    /// none of this partition. `total`: releases by then.
    pub fn let_go(&self, barrier: usize, upto: Option<u64>, at: Nanos, total: u64) {
        if let Some(barriers) = &self.barriers {
            barriers.receive(barrier, upto, at, total);
        }
    }

    /// Control of held connections: they can only be ended.
    pub(crate) fn for_hold(stop: StopHandle, workers: Workers) -> Self {
        Self { stop, changes: None, barriers: None, workers }
    }

    /// Changes the load of a scenario from a named instant on, slightly later than now: all threads start exactly what
    /// the changed plan says. Scenarios are counted from 0.
    ///
    /// # Errors
    /// The load cannot be changed this way, or not any more.
    pub fn change(&self, scenario: usize, what: ChangeKind) -> Result<Change, Refused> {
        let now = self.changes.as_ref().map_or(Nanos::ZERO, |changes| changes.clock().now());
        self.change_at(scenario, what, now)
    }

    /// Same as [`Control::change`], at the instant `now` on the clock of the run.
    pub(crate) fn change_at(&self, scenario: usize, what: ChangeKind, now: Nanos) -> Result<Change, Refused> {
        let mut changes = self.change_all(None, vec![(scenario, what)], now)?;
        Ok(changes.remove(0))
    }

    /// Makes several changes at one instant, or none of them; none either when the load was changed since revision
    /// `seen`.
    ///
    /// # Errors
    /// Same as [`Control::change`].
    pub fn change_since(&self, seen: u32, changes: Vec<(usize, ChangeKind)>) -> Result<Vec<Change>, Refused> {
        let now = self.changes.as_ref().map_or(Nanos::ZERO, |changes| changes.clock().now());
        self.change_all(Some(seen), changes, now)
    }

    fn change_all(
        &self,
        seen: Option<u32>,
        changes: Vec<(usize, ChangeKind)>,
        now: Nanos,
    ) -> Result<Vec<Change>, Refused> {
        if self.stop.is_stopped() {
            return Err(Refused::Over);
        }
        let changes = self.changes.as_ref().ok_or(Refused::Held)?.add(seen, changes, now)?;
        for _ in &changes {
            self.stop.stop_level_of().notify_change();
        }
        self.stop.wake_all();
        Ok(changes)
    }

    /// The revision: how often the load was changed; 0 for held connections.
    pub fn revision(&self) -> u32 {
        self.changes.as_ref().map_or(0, |changes| changes.folded().all.len() as u32)
    }

    /// The instant at which a change made now would take effect, counted from the beginning of the measured load.
    pub fn next_instant(&self) -> Nanos {
        self.changes.as_ref().map_or(Nanos::ZERO, |changes| {
            let folded = changes.folded();
            folded.instant(changes.clock().now(), changes.lead())
        })
    }

    /// Whether its measured load has not begun; a change made now takes effect at its beginning.
    pub fn is_warming_up(&self) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.clock().now() < changes.folded().measured_from)
    }

    /// Whether it starts nothing any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Why the load itself stopped the run, if it did.
    pub fn stop_reason(&self) -> Option<String> {
        self.stop.reason()
    }

    /// The remote workers, as far as is known; empty where threads of this process run all of it.
    pub fn workers(&self) -> Arc<[WorkerResult]> {
        self.workers.all()
    }

    /// Whether it is a load rather than held connections.
    pub fn is_load(&self) -> bool {
        self.changes.is_some()
    }

    /// The load of a scenario over time, with all changes so far.
    ///
    /// # Panics
    /// There is no such scenario, as for held connections.
    pub fn timeline(&self, scenario: usize) -> Arc<Timeline> {
        self.changes.as_ref().expect("connections that are held have no scenario").timeline(scenario)
    }

    /// Applies a change made elsewhere, for all partitions of the load, from its instant on. One that is not the next
    /// is ignored.
    pub fn follow(&self, change: Change) {
        if let Some(changes) = &self.changes {
            changes.follow(change);
            self.stop.stop_level_of().notify_change();
            self.stop.wake_all();
        }
    }

    /// Users of a scenario that wait for users of other partitions start at this instant, on the clock of the run.
    pub fn release(&self, scenario: usize, at: Nanos) {
        if let Some(changes) = &self.changes {
            changes.release(scenario, at);
            self.stop.wake_all();
        }
    }

    /// Slots of this run go to another one at an instant, counted from the beginning of the measured load: what is
    /// intended from then on is not its own. Users of these slots leave when they finish what they are doing.
    pub fn lose(&self, slots: impl IntoIterator<Item = u16>, at: Nanos) {
        if let Some(changes) = &self.changes {
            changes.lose(slots, at);
            self.stop.stop_level_of().notify_change();
            self.stop.wake_all();
        }
    }

    /// Starts nothing more and waits for what is in flight, for at most the plan's grace.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Ends at once. Measurements are kept.
    pub fn abort(&self) {
        self.stop.abort();
    }
}
