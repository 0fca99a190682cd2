//! A sink on a thread of its own behind a bounded queue. Whoever tells of an interval never waits: what finds no room
//! is counted.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use figures::{HeldInterval, Interval};

use crate::deadline::Deadline;
use crate::error::DeliveryFault;
use crate::totals::Totals;

/// Intervals that wait for a far end: a minute of the usual ones. More would only hold memory for who is gone.
pub const QUEUE_MAX: usize = 64;
/// How long all that is left may take when the run is over, unless somebody says otherwise.
pub const END_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often a wait looks whether somebody has had enough of it.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Intervals of one request: far ends bound the size of what they take.
const BATCH_MAX: usize = 8;
/// How long one request may take.
pub(crate) const SEND_WAIT_MAX: Duration = Duration::from_secs(5);
/// The first pause after a failure; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// No pause is longer, but for one that the far end asks for.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// No far end is waited for longer, whatever it asks.
const REQUESTED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// What is told to all sinks.
#[derive(Debug)]
pub(crate) struct Batch {
    /// What happened; nothing at the begin and at the end of a run.
    pub(crate) interval: Option<Arc<Interval>>,
    /// The same of connections that are held.
    pub(crate) held: Option<Arc<HeldInterval>>,
    /// Everything since the start.
    pub(crate) totals: Totals,
    /// When it was told, since the epoch of Unix. No two have the same millisecond.
    pub(crate) at_unix: Duration,
}

impl Batch {
    /// Intervals that it stands for: what is told again belongs to one that was counted.
    fn weight(&self) -> u64 {
        let is_new = self.interval.as_ref().is_some_and(|interval| !interval.is_again);
        u64::from(is_new || self.held.as_ref().is_some_and(|interval| !interval.is_again))
    }
}

/// Why a batch did not arrive.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It may arrive later; after this pause, if the far end says.
    Later(DeliveryFault, Option<Duration>),
    /// It never will.
    Never(DeliveryFault),
}

/// Where figures go.
pub(crate) trait Sink: Send + 'static {
    /// Sends what was told, the oldest first, in so much time.
    fn send(&mut self, batch: &[Arc<Batch>], wait: Duration) -> Result<(), Trouble>;

    /// Everything was sent.
    fn end(&mut self) -> Result<(), Trouble> {
        Ok(())
    }
}

/// What has become of the intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntervalTally {
    pub(crate) delivered: u64,
    pub(crate) left_out: u64,
    /// The last reason for which something is missing.
    pub(crate) fault: Option<DeliveryFault>,
}

#[derive(Default)]
struct State {
    /// In their order; the first ones are being sent and stay until they have arrived.
    waiting: VecDeque<Arc<Batch>>,
    tally: IntervalTally,
    /// What happened last, though nothing may be missing for it yet.
    last: Option<DeliveryFault>,
    /// The run is over, and this is as long as it goes on.
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
        // A sink that panicked says nothing more; the counts are whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The near end of a sink.
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

    /// Something is to be sent. Never waits for the far end.
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

    /// The run is over: `last`, and what is left, may still be sent. It always has a place, since all sums are in it.
    pub(crate) fn end(&self, last: &Arc<Batch>, end_by: Deadline) {
        let mut state = self.shared.lock();
        state.waiting.push_back(last.clone());
        state.end_by = Some(end_by);
        self.shared.wake.notify_all();
    }

    /// Waits until that is done, the time is over, or nobody wants to wait any longer.
    pub(crate) fn finish(self, has_enough: &dyn Fn() -> bool) -> IntervalTally {
        let mut state = self.shared.lock();
        while !state.is_done && !has_enough() {
            let left = state.end_by.map_or(Duration::ZERO, Deadline::left);
            if left.is_zero() {
                break;
            }
            state = match self.shared.wake.wait_timeout(state, left.min(LOOK_EVERY)) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        if !state.waiting.is_empty() {
            let fault = state.last.clone().unwrap_or(DeliveryFault::TimedOut);
            lose(&mut state, usize::MAX, fault);
        }
        // The thread sees that nothing is left for it.
        state.is_done = true;
        self.shared.wake.notify_all();
        state.tally.clone()
    }
}

/// The first ones will not arrive.
fn lose(state: &mut State, count: usize, fault: DeliveryFault) {
    let count = count.min(state.waiting.len());
    let lost: u64 = state.waiting.drain(..count).map(|reported| reported.weight()).sum();
    state.tally.left_out += lost;
    state.tally.fault = Some(fault);
}

/// The life of a sink.
fn work(shared: &Shared, sink: &mut impl Sink) {
    let mut pause = PAUSE_MIN;
    loop {
        let (batch, end_by) = next(shared);
        if batch.is_empty() {
            if let Err(Trouble::Later(fault, _) | Trouble::Never(fault)) = sink.end() {
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
            Err(Trouble::Never(fault)) => lose(&mut state, batch.len(), fault),
            Err(Trouble::Later(fault, requested)) => {
                state.last = Some(fault);
                let wait = requested.map_or(pause, |requested| requested.min(REQUESTED_PAUSE_MAX));
                pause = (pause * 2).min(PAUSE_MAX);
                rest(shared, state, wait, end_by.is_some());
            }
        }
    }
}

/// What is to be sent now, the oldest of what waits; nothing when the run is over and nothing is left.
fn next(shared: &Shared) -> (Vec<Arc<Batch>>, Option<Deadline>) {
    let mut state = shared.lock();
    while state.waiting.is_empty() && state.end_by.is_none() && !state.is_done {
        state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    (state.waiting.iter().take(BATCH_MAX).cloned().collect(), state.end_by)
}

/// Pauses. `was_over`: the try that failed began after the end of the run. Else that end cuts the pause, so that
/// there is one more try at least, whatever the far end asked for.
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
