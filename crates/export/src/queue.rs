//! A sink on its own thread behind a bounded queue. The caller that reports an interval never waits: intervals that
//! find the queue full are counted.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use figures::{HeldInterval, Interval};

use crate::deadline::Deadline;
use crate::error::DeliveryFault;
use crate::totals::Totals;

/// The most intervals that wait for a backend: a minute of the default ones. More would only hold memory for a lost
/// backend.
pub const QUEUE_MAX: usize = 64;
/// The default time limit for delivering the remainder after the run.
pub const END_WAIT_MAX: Duration = Duration::from_secs(5);
/// The interval at which a wait checks whether the user wants to stop it.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The most intervals of one request: backends limit the request size.
const BATCH_MAX: usize = 8;
/// The time limit of one request.
pub(crate) const SEND_WAIT_MAX: Duration = Duration::from_secs(5);
/// The first pause after a failure; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// The longest pause, except for one that the backend requests.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// The longest pause that a backend can request.
const REQUESTED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The data that is sent to all sinks.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The interval; `None` at the begin and at the end of a run.
    pub(crate) interval: Option<Arc<Interval>>,
    /// The interval of a hold.
    pub(crate) held: Option<Arc<HeldInterval>>,
    /// Totals since the start.
    pub(crate) totals: Totals,
    /// The instant of the report, since the Unix epoch. No two have the same millisecond.
    pub(crate) at_unix: Duration,
}

impl Batch {
    /// The number of intervals in it: an update belongs to one that was counted before.
    fn weight(&self) -> u64 {
        let is_new = self.interval.as_ref().is_some_and(|interval| !interval.is_update);
        u64::from(is_new || self.held.as_ref().is_some_and(|interval| !interval.is_update))
    }
}

/// The reason why a batch was not delivered.
#[derive(Debug)]
pub(crate) enum DeliveryError {
    /// Retry later; after this pause, if the backend gave one.
    Later(DeliveryFault, Option<Duration>),
    /// No retry.
    Never(DeliveryFault),
}

/// A destination of figures.
pub(crate) trait Sink: Send + 'static {
    /// Sends batches, the oldest first, within this time.
    fn send(&mut self, batch: &[Arc<Batch>], wait: Duration) -> Result<(), DeliveryError>;

    /// Ends the sink: everything was sent.
    fn end(&mut self) -> Result<(), DeliveryError> {
        Ok(())
    }
}

/// The delivery counts of intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntervalTally {
    pub(crate) delivered: u64,
    pub(crate) left_out: u64,
    /// The last reason for a loss.
    pub(crate) fault: Option<DeliveryFault>,
}

#[derive(Default)]
struct State {
    /// Waiting batches in order; the first ones are being sent and stay until they are delivered.
    waiting: VecDeque<Arc<Batch>>,
    tally: IntervalTally,
    /// The last fault, though nothing may be lost for it yet.
    last: Option<DeliveryFault>,
    /// The deadline once the run is over.
    end_by: Option<Deadline>,
    is_done: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A sink that panicked reports no more; the counts are intact.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The producer side of a sink.
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

impl Queue {
    /// Starts the thread of a sink.
    pub(crate) fn start(name: &str, sink: impl Sink) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let far = shared.clone();
        std::thread::Builder::new().name(format!("export {name}")).spawn(move || {
            let mut sink = sink;
            work(&far, &mut sink);
            far.lock().is_done = true;
            far.wake.notify_all();
        })?;
        Ok(Self { shared })
    }

    /// Queues a batch. Never waits for the backend.
    pub(crate) fn push(&self, reported: &Arc<Batch>) {
        let mut state = self.shared.lock();
        if state.waiting.len() >= QUEUE_MAX || state.is_done {
            state.tally.left_out += reported.weight();
            state.tally.fault = state.last.clone().or(Some(DeliveryFault::Full));
        } else {
            state.waiting.push_back(reported.clone());
            self.shared.wake.notify_all();
        }
    }

    /// Ends the run: `last` and the remainder may still be sent. `last` always gets a place, since it contains all
    /// sums.
    pub(crate) fn end(&self, last: &Arc<Batch>, end_by: Deadline) {
        let mut state = self.shared.lock();
        state.waiting.push_back(last.clone());
        state.end_by = Some(end_by);
        self.shared.wake.notify_all();
    }

    /// Waits until the remainder is sent, the time is over, or the user wants to stop waiting.
    pub(crate) fn finish(self, has_enough: &dyn Fn() -> bool) -> IntervalTally {
        let mut state = self.shared.lock();
        while !state.is_done && !has_enough() {
            let left = state.end_by.map_or(Duration::ZERO, Deadline::left);
            if left.is_zero() {
                break;
            }
            state = match self.shared.wake.wait_timeout(state, left.min(POLL_INTERVAL)) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        if !state.waiting.is_empty() {
            let fault = state.last.clone().unwrap_or(DeliveryFault::TimedOut);
            lose(&mut state, usize::MAX, fault);
        }
        // The thread finds nothing left to send.
        state.is_done = true;
        self.shared.wake.notify_all();
        state.tally.clone()
    }
}

/// Counts the first batches as lost.
fn lose(state: &mut State, count: usize, fault: DeliveryFault) {
    let count = count.min(state.waiting.len());
    let lost: u64 = state.waiting.drain(..count).map(|reported| reported.weight()).sum();
    state.tally.left_out += lost;
    state.tally.fault = Some(fault);
}

/// The loop of a sink's thread.
fn work(shared: &Shared, sink: &mut impl Sink) {
    let mut pause = PAUSE_MIN;
    loop {
        let (batch, end_by) = next(shared);
        if batch.is_empty() {
            if let Err(DeliveryError::Later(fault, _) | DeliveryError::Never(fault)) = sink.end() {
                shared.lock().tally.fault = Some(fault);
            }
            return;
        }
        let left = end_by.map(Deadline::left);
        let sent = sink.send(&batch, left.map_or(SEND_WAIT_MAX, |left| left.min(SEND_WAIT_MAX)));
        let mut state = shared.lock();
        if state.is_done {
            return;
        }
        match sent {
            Ok(()) => {
                state.tally.delivered += batch.iter().map(|reported| reported.weight()).sum::<u64>();
                state.waiting.drain(..batch.len());
                state.last = None;
                pause = PAUSE_MIN;
            }
            Err(DeliveryError::Never(fault)) => lose(&mut state, batch.len(), fault),
            Err(DeliveryError::Later(fault, requested)) => {
                state.last = Some(fault);
                let wait = requested.map_or(pause, |requested| requested.min(REQUESTED_PAUSE_MAX));
                pause = (pause * 2).min(PAUSE_MAX);
                rest(shared, state, wait, end_by.is_some());
            }
        }
    }
}

/// The batch to send next, the oldest of the waiting ones; empty when the run is over and nothing is left.
fn next(shared: &Shared) -> (Vec<Arc<Batch>>, Option<Deadline>) {
    let mut state = shared.lock();
    while state.waiting.is_empty() && state.end_by.is_none() && !state.is_done {
        state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    (state.waiting.iter().take(BATCH_MAX).cloned().collect(), state.end_by)
}

/// Pauses. `was_over`: the failed attempt began after the end of the run. Otherwise the end of the run shortens the
/// pause, so that there is at least one more attempt, whatever pause the backend requested.
fn rest(shared: &Shared, state: MutexGuard<'_, State>, wait: Duration, was_over: bool) {
    let until = Deadline::after(wait);
    let mut state = state;
    while !state.is_done && (was_over || state.end_by.is_none()) {
        let left = until.left();
        if left.is_zero() {
            return;
        }
        state = match shared.wake.wait_timeout(state, left) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}

#[cfg(test)]
mod tests;
