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

/// How long a lossless subscriber with a full queue may block the aggregator. After that it is slow: intervals are
/// merged into the last one that it has not taken, until it has taken some.
pub const HOLD_UP_MAX: Duration = Duration::from_secs(5);

/// Handling of intervals that a subscriber does not take in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It misses nothing: for files and histories. It may block delivery for [`HOLD_UP_MAX`]; then intervals are merged
    /// into one.
    Lossless,
    /// It gets the newest: for screens. Older ones are skipped.
    Latest,
}

/// An interval as delivered to a subscriber.
#[derive(Clone, Debug)]
pub struct Delivered<T> {
    /// The interval; all subscribers share the same one, unless it was merged with others.
    pub row: Arc<T>,
    /// Intervals before it that this subscriber did not take in time, and that it will not get: what is new in them is
    /// in the totals only. Always 0 for [`Delivery::Lossless`].
    pub skipped: u64,
    /// Later intervals that were merged into this one, since the subscriber did not take them in time: it contains what
    /// is new in any of them, and replaces no other row. Always 0 for [`Delivery::Latest`].
    pub joined: u64,
}

/// A row that can be merged with later ones.
pub(crate) trait Join: Clone {
    /// Merges a later row into it.
    fn join(&mut self, later: &Self);
}

/// The queue of one subscriber.
struct Mailbox<T> {
    state: Mutex<State<T>>,
    /// Notified when something was delivered, or the run is over.
    news: Condvar,
    /// Notified when something was taken, or the subscriber is gone.
    room: Condvar,
}

struct State<T> {
    queue: VecDeque<Delivered<T>>,
    /// Intervals skipped since the last one taken.
    skipped: u64,
    /// It has blocked the aggregator for as long as it may, and has taken nothing since.
    is_slow: bool,
    is_over: bool,
    is_gone: bool,
}

impl<T> Mailbox<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("no holder of the lock panics")
    }
}

/// A subscription to a run. When it is dropped, it receives nothing more and blocks nothing.
pub struct Subscription<T> {
    mailbox: Arc<Mailbox<T>>,
}

impl<T> Subscription<T> {
    /// Waits for the next interval; `None` when the run is over and all were taken.
    pub fn wait(&self) -> Option<Delivered<T>> {
        let state = self.mailbox.state();
        let has_nothing = |state: &mut State<T>| state.queue.is_empty() && !state.is_over;
        let state = self.mailbox.news.wait_while(state, has_nothing).expect("no holder of the lock panics");
        self.take(state)
    }

    /// The next interval that was delivered; `None` when all were taken.
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

/// All subscribers of a run.
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
    /// Adds a subscriber, with a queue for `bound` intervals, at least one. It receives what is emitted from now on.
    pub(crate) fn add(&mut self, delivery: Delivery, bound: usize) -> Subscription<T> {
        let state = State { queue: VecDeque::new(), skipped: 0, is_slow: false, is_over: false, is_gone: false };
        let mailbox = Arc::new(Mailbox { state: Mutex::new(state), news: Condvar::new(), room: Condvar::new() });
        self.all.push(Subscriber { delivery, bound: bound.max(1), mailbox: mailbox.clone() });
        Subscription { mailbox }
    }

    /// Whether there are no subscribers.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Delivers a row to all of them, and drops those that are gone.
    pub(crate) fn notify(&mut self, row: T) {
        let (row, until) = (Arc::new(row), Instant::now() + self.hold_up_max);
        // Subscribers that never block come first.
        for delivery in [Delivery::Latest, Delivery::Lossless] {
            for subscriber in self.all.iter().filter(|one| one.delivery == delivery) {
                subscriber.notify(&row, until);
            }
        }
        self.all.retain(|subscriber| !subscriber.mailbox.state().is_gone);
    }
}

impl<T: Join> Subscriber<T> {
    /// Delivers a row. Several slow subscribers block the aggregator together, not one after the other: all until the
    /// same instant.
    fn notify(&self, row: &Arc<T>, until: Instant) {
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
