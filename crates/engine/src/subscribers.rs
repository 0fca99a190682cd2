//! Other readers of a run: each has a mailbox of a bounded length, and reads it on its own thread.
//!
//! Intervals are sent to them where the reports of the shards come together, so no reader ever slows a shard. A
//! lossless reader may delay reporting for 5 s; then the intervals that it did not take are merged into one, which
//! says so. A reader of the latest interval gets the newest one, and the number that it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// A lossless subscriber whose mailbox is full holds up the desk for so long. Then it is slow: what it is told is added to the last
/// that it has not taken, until it has taken some.
pub const HOLD_UP_MAX: Duration = Duration::from_secs(5);

/// What becomes of intervals that a subscriber does not take in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It misses nothing: for files and histories. It may hold up the telling, for [`HOLD_UP_MAX`]; then intervals come together as one.
    Lossless,
    /// It has the newest: for screens. Older ones are skipped.
    Latest,
}

/// An interval as it comes to a subscriber.
#[derive(Clone, Debug)]
pub struct Delivered<T> {
    /// The interval; all subscribers have the same one, unless it was joined with others.
    pub row: Arc<T>,
    /// Intervals before it that this subscriber did not take in time, and that it will not have: what is new in them is in the totals
    /// alone. Always 0 of [`Delivery::Lossless`].
    pub skipped: u64,
    /// Later intervals that were joined with this one, since the subscriber did not take them in time: what is seen in it is what is
    /// new in any of them, and it takes the place of no other row. Always 0 of [`Delivery::Latest`].
    pub joined: u64,
}

/// What can be told as one with what came later.
pub(crate) trait Join: Clone {
    /// Adds what was told after it.
    fn join(&mut self, later: &Self);
}

/// The way to one subscriber.
struct Mailbox<T> {
    state: Mutex<State<T>>,
    /// Something was delivered, or the run is over.
    news: Condvar,
    /// Something was taken, or the subscriber is gone.
    room: Condvar,
}

struct State<T> {
    queue: VecDeque<Delivered<T>>,
    /// Those that were left out since the last that was taken.
    skipped: u64,
    /// It has held up the desk for as long as it may, and has taken nothing since.
    is_slow: bool,
    is_over: bool,
    is_gone: bool,
}

impl<T> Mailbox<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("no holder of the lock panics")
    }
}

/// One who listens to a run. When it is dropped, it hears nothing more and holds up nobody.
pub struct Subscription<T> {
    mailbox: Arc<Mailbox<T>>,
}

impl<T> Subscription<T> {
    /// Waits for the next interval; `None` when the run is over and all was taken.
    pub fn wait(&self) -> Option<Delivered<T>> {
        let state = self.mailbox.state();
        let has_nothing = |state: &mut State<T>| state.queue.is_empty() && !state.is_over;
        let state = self.mailbox.news.wait_while(state, has_nothing).expect("no holder of the lock panics");
        self.take(state)
    }

    /// The next interval that has been told; `None` when all were taken.
    pub fn try_next(&self) -> Option<Delivered<T>> {
        self.take(self.mailbox.state())
    }

    fn take(&self, mut state: MutexGuard<'_, State<T>>) -> Option<Delivered<T>> {
        let mut delivered = state.queue.pop_front()?;
        delivered.skipped = std::mem::take(&mut state.skipped);
        state.is_slow = false;
        self.mailbox.room.notify_one();
        Some(delivered)
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        let mut state = self.mailbox.state();
        state.is_gone = true;
        state.queue.clear();
        self.mailbox.room.notify_one();
    }
}

struct Subscriber<T> {
    delivery: Delivery,
    bound: usize,
    mailbox: Arc<Mailbox<T>>,
}

/// All who listen to a run.
pub(crate) struct Subscribers<T> {
    all: Vec<Subscriber<T>>,
    hold_up_max: Duration,
}

impl<T> Default for Subscribers<T> {
    fn default() -> Self {
        Self { all: Vec::new(), hold_up_max: HOLD_UP_MAX }
    }
}

impl<T: Join> Subscribers<T> {
    /// One more, with a mailbox for `bound` intervals; for one at least. It hears what is told from now on.
    pub(crate) fn add(&mut self, delivery: Delivery, bound: usize) -> Subscription<T> {
        let state = State { queue: VecDeque::new(), skipped: 0, is_slow: false, is_over: false, is_gone: false };
        let mailbox = Arc::new(Mailbox { state: Mutex::new(state), news: Condvar::new(), room: Condvar::new() });
        self.all.push(Subscriber { delivery, bound: bound.max(1), mailbox: mailbox.clone() });
        Subscription { mailbox }
    }

    /// Nobody listens.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Tells all of them, and forgets those who are gone.
    pub(crate) fn tell(&mut self, row: T) {
        let (row, until) = (Arc::new(row), Instant::now() + self.hold_up_max);
        // Those who hold up nobody are told first.
        for delivery in [Delivery::Latest, Delivery::Lossless] {
            for subscriber in self.all.iter().filter(|one| one.delivery == delivery) {
                subscriber.tell(&row, until);
            }
        }
        self.all.retain(|subscriber| !subscriber.mailbox.state().is_gone);
    }
}

impl<T: Join> Subscriber<T> {
    /// Delivers a row. Several who are slow hold up the desk together, not one after the other: all until the same instant.
    fn tell(&self, row: &Arc<T>, until: Instant) {
        let mut state = self.mailbox.state();
        if state.queue.len() >= self.bound && self.delivery == Delivery::Lossless && !state.is_slow {
            let left = until.saturating_duration_since(Instant::now());
            let has_no_room = |state: &mut State<T>| state.queue.len() >= self.bound && !state.is_gone;
            let waited = self.mailbox.room.wait_timeout_while(state, left, has_no_room);
            state = waited.expect("no holder of the lock panics").0;
        }
        if state.is_gone {
            return;
        }
        if state.queue.len() < self.bound {
            state.queue.push_back(Delivered { row: row.clone(), skipped: 0, joined: 0 });
        } else if self.delivery == Delivery::Latest {
            state.queue.pop_front();
            state.skipped += 1;
            state.queue.push_back(Delivered { row: row.clone(), skipped: 0, joined: 0 });
        } else {
            state.is_slow = true;
            let last = state.queue.back_mut().expect("a mailbox that is full has some");
            Arc::make_mut(&mut last.row).join(row);
            last.joined += 1;
        }
        self.mailbox.news.notify_one();
    }
}

impl<T> Drop for Subscribers<T> {
    fn drop(&mut self) {
        for subscriber in &self.all {
            subscriber.mailbox.state().is_over = true;
            subscriber.mailbox.news.notify_one();
        }
    }
}
