//! Stops and changes a run from any thread.
//!
//! A load over time is its plan folded with its changes (`pacing::change`), each from a named instant on, 100 ms
//! ahead. All shards compute the same schedule; a shard that learns of a change late starts late. Past starts never
//! move, and the fractional start is carried over. A rate applies to open loads, users to closed loads that run for a
//! time; a pause applies to both (`world/changing.rs`): users finish their step and keep their connections, stages
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

/// What the run wants of its shards. It only grows.
#[derive(Debug, Default)]
pub(crate) struct StopLevel {
    /// How often the load was changed, above a byte that says whether it goes on.
    word: AtomicU64,
}

impl StopLevel {
    /// Go on with the plan.
    pub(crate) const RUN: u8 = 0;
    /// Start nothing more; wait for what is in flight.
    pub(crate) const STOP: u8 = 1;
    /// End at once.
    pub(crate) const ABORT: u8 = 2;

    /// One more change of the load.
    const CHANGE: u64 = 1 << 8;

    pub(crate) fn raise(&self, stop_level: u8) {
        let raised = |word: u64| Some(Self::changes_of(word) | u64::from(stop_level.max(Self::of(word))));
        // It always gives a word.
        let _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
    }

    pub(crate) fn get(&self) -> u8 {
        Self::of(self.look())
    }

    /// The wish, and the changes of the load, in one.
    pub(crate) fn look(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }

    /// What is wished, of what was seen.
    pub(crate) fn of(word: u64) -> u8 {
        (word & (Self::CHANGE - 1)) as u8
    }

    /// The changes alone, of what was seen: what is seen again when nobody wants anything else.
    pub(crate) fn changes_of(word: u64) -> u64 {
        word & !(Self::CHANGE - 1)
    }

    /// The load was changed.
    pub(crate) fn tell_of_change(&self) {
        self.word.fetch_add(Self::CHANGE, Ordering::Relaxed);
    }
}

/// Stops a run from another thread.
#[derive(Clone, Default)]
pub struct StopHandle {
    stop_level: Arc<StopLevel>,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

/// What is wanted of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    /// It goes on with its plan.
    Run,
    /// Nothing more starts; what is in flight has its time.
    Stop,
    /// It ends at once.
    Abort,
}

impl StopHandle {
    /// What is wanted.
    pub fn wanted(&self) -> Intent {
        match self.stop_level.get() {
            StopLevel::RUN => Intent::Run,
            StopLevel::STOP => Intent::Stop,
            _ => Intent::Abort,
        }
    }

    /// Starts nothing more and waits for what is in flight, as long as the plan's grace.
    pub fn stop(&self) {
        self.raise(StopLevel::STOP);
    }

    /// Ends at once. What was measured is kept.
    pub fn abort(&self) {
        self.raise(StopLevel::ABORT);
    }

    /// Somebody asked for it, or the run itself gave up.
    pub fn is_stopped(&self) -> bool {
        self.stop_level.get() > StopLevel::RUN
    }

    /// Somebody asked for the end at once.
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

/// Why a run is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such scenario.
    #[error("this run has no such scenario; they are counted from 0")]
    NoScenario,
    /// It has no rate.
    #[error("this load has users and no rate; change its users instead")]
    NoRate,
    /// It has no users.
    #[error("this load has a rate and no users; change its rate instead")]
    NoUsers,
    /// Its users wait for each other.
    #[error("the users of this load wait for each other; their number stays as it is")]
    Rendezvous,
    /// Its requests are dealt to its users beforehand.
    #[error("this load deals a number of requests to its users; give it a duration instead, and they can change")]
    Counted,
    /// It stands still already.
    #[error("this load is paused already")]
    IsPaused,
    /// It does not stand still.
    #[error("this load is not paused")]
    NotPaused,
    /// Its end would leave nothing to measure.
    #[error("this load is warming up, and would end with nothing measured; stop it instead")]
    WarmingUp,
    /// It starts nothing any more.
    #[error("this load is over; start it anew")]
    Over,
    /// Somebody else has changed it since whoever asks has looked.
    #[error("this load was changed meanwhile, and is at revision {now}; look at it again, then change it")]
    Behind {
        /// How often it was changed.
        now: u32,
    },
    /// Connections are held, and nothing of it changes but its end.
    #[error("connections that are held have no load to pause or to change; stop them instead")]
    Held,
}

/// What a run is told while it goes on. All copies are of the same run.
#[derive(Clone)]
pub struct Control {
    stop: StopHandle,
    /// None of connections that are held.
    changes: Option<Arc<Changes>>,
    /// Where its users wait for each other, if they do.
    barriers: Option<Arc<Barriers>>,
    /// Those who have parts of it elsewhere.
    workers: Workers,
}

impl Control {
    pub(crate) fn new(stop: StopHandle, changes: Arc<Changes>) -> Self {
        let workers = changes.workers().clone();
        Self { stop, changes: Some(changes), barriers: None, workers }
    }

    /// The same of a run whose users wait for each other.
    pub(crate) fn with_barriers(self, barriers: Option<Arc<Barriers>>) -> Self {
        Self { barriers, ..self }
    }

    /// Of a part of a load: users that wait at a meeting go on, up to those of a ticket, at an instant of its clock; or none of this part.
    /// So many releases there were by then.
    pub fn let_go(&self, barrier: usize, upto: Option<u64>, at: Nanos, total: u64) {
        if let Some(barriers) = &self.barriers {
            barriers.hear(barrier, upto, at, total);
        }
    }

    /// Of connections that are held: they can be ended.
    pub(crate) fn of_held(stop: StopHandle, workers: Workers) -> Self {
        Self { stop, changes: None, barriers: None, workers }
    }

    /// Changes the load of a scenario from a named instant on, a little later than now: all threads start exactly what the changed
    /// plan says. Scenarios are counted from 0.
    ///
    /// # Errors
    /// The load is none that can be changed so, or no longer.
    pub fn change(&self, scenario: usize, what: ChangeKind) -> Result<Change, Refused> {
        let now = self.changes.as_ref().map_or(Nanos::ZERO, |changes| changes.clock().now());
        self.change_at(scenario, what, now)
    }

    /// The same, when it is `now` on the clock of the run.
    pub(crate) fn change_at(&self, scenario: usize, what: ChangeKind, now: Nanos) -> Result<Change, Refused> {
        let mut changes = self.change_all(None, vec![(scenario, what)], now)?;
        Ok(changes.remove(0))
    }

    /// Several changes at one instant, or none of them; none either when the load was changed since revision `seen`.
    ///
    /// # Errors
    /// As [`Control::change`].
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
            self.stop.stop_level_of().tell_of_change();
        }
        self.stop.wake_all();
        Ok(changes)
    }

    /// How often the load was changed; 0 of connections that are held.
    pub fn revision(&self) -> u32 {
        self.changes.as_ref().map_or(0, |changes| changes.folded().all.len() as u32)
    }

    /// The instant from which on a change that is made now would hold, counted from the beginning of the measured load.
    pub fn next_instant(&self) -> Nanos {
        self.changes.as_ref().map_or(Nanos::ZERO, |changes| {
            let folded = changes.folded();
            folded.instant(changes.clock().now(), changes.lead())
        })
    }

    /// Its measured load has not begun; what is changed now holds from its beginning on.
    pub fn is_warming_up(&self) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.clock().now() < changes.folded().measured_from)
    }

    /// Whether it starts nothing any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Those who have parts of it elsewhere, as far as is known by now; nobody, where threads of this process have all of it.
    pub fn workers(&self) -> Arc<[WorkerResult]> {
        self.workers.all()
    }

    /// A load, and no connections that are held.
    pub fn is_load(&self) -> bool {
        self.changes.is_some()
    }

    /// The load of a scenario over time, by all changes so far.
    ///
    /// # Panics
    /// There is no such scenario, as with connections that are held.
    pub fn timeline(&self, scenario: usize) -> Arc<Timeline> {
        self.changes.as_ref().expect("connections that are held have no scenario").timeline(scenario)
    }

    /// A change that was made elsewhere, for all who have a part of the load: it holds from its instant on. One that is not the next is not
    /// taken.
    pub fn follow(&self, change: Change) {
        if let Some(changes) = &self.changes {
            changes.follow(change);
            self.stop.stop_level_of().tell_of_change();
            self.stop.wake_all();
        }
    }

    /// Users of a scenario that wait for those of other parts start at this instant, on the clock of the run.
    pub fn release(&self, scenario: usize, at: Nanos) {
        if let Some(changes) = &self.changes {
            changes.release(scenario, at);
            self.stop.wake_all();
        }
    }

    /// Slots of this run go to another one at an instant, counted from the beginning of the measured load: what is intended from then
    /// on is not its own. Users of theirs leave when they come to the end of what they do.
    pub fn lose(&self, slots: impl IntoIterator<Item = u16>, at: Nanos) {
        if let Some(changes) = &self.changes {
            changes.lose(slots, at);
            self.stop.stop_level_of().tell_of_change();
            self.stop.wake_all();
        }
    }

    /// Starts nothing more and waits for what is in flight, as long as the plan's grace.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Ends at once. What was measured is kept.
    pub fn abort(&self) {
        self.stop.abort();
    }
}
