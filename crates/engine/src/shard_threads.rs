//! The threads of a run, and the channels to them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use driver::{Clock, Waker};
use pacing::Nanos;

use crate::RunError;
use crate::control::StopHandle;

/// A report of a shard to the run.
pub(crate) trait Report: Send + Sized + 'static {
    /// Whether a shard is ready to start, and can be woken, or cannot start at all; `None` for another report.
    fn readiness(self) -> Option<Result<Waker, RunError>>;
}

/// Start parameters of a thread: its number, its channel to the run, and the channel of its start signal.
pub(crate) struct ShardStart<R, S> {
    pub(crate) shard: usize,
    pub(crate) reports: Sender<R>,
    pub(crate) start: Receiver<S>,
}

/// The threads of a run, and the channels to them.
pub(crate) struct ShardThreads<R, S> {
    threads: Vec<JoinHandle<()>>,
    pub(crate) reports: Receiver<R>,
    starts: Vec<Sender<S>>,
}

impl<R: Report, S: Copy> ShardThreads<R, S> {
    /// Starts threads with `spawn`, and waits until all are ready.
    pub(crate) fn start(
        shards: usize,
        stop: &StopHandle,
        mut spawn: impl FnMut(ShardStart<R, S>) -> Result<JoinHandle<()>, std::io::Error>,
    ) -> Result<Self, RunError> {
        let (report, reports) = channel();
        let mut shard_threads = Self { threads: Vec::new(), reports, starts: Vec::new() };
        for shard in 0..shards {
            let (start, started) = channel();
            shard_threads.starts.push(start);
            shard_threads.threads.push(spawn(ShardStart { shard, reports: report.clone(), start: started })?);
        }
        drop(report);
        for _ in 0..shard_threads.threads.len() {
            match shard_threads.reports.recv().ok().and_then(Report::readiness) {
                Some(Ok(waker)) => stop.add_waker(waker),
                Some(Err(error)) => return Err(error),
                None => break,
            }
        }
        Ok(shard_threads)
    }

    /// No threads: the reports come from remote workers.
    pub(crate) fn remote() -> (Sender<R>, Self) {
        let (report, reports) = channel();
        (report, Self { threads: Vec::new(), reports, starts: Vec::new() })
    }

    pub(crate) fn begin(&self, start: S) {
        for shard in &self.starts {
            // The error of a shard that broke before its start is in the reports.
            let _ = shard.send(start);
        }
    }

    /// Number of threads started.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }
}

impl<R, S> ShardThreads<R, S> {
    /// Waits for the end of all threads.
    fn join(&mut self) {
        // Threads that have not started never will.
        self.starts.clear();
        for thread in self.threads.drain(..) {
            thread.join().expect("a shard does not panic");
        }
    }
}

/// Waits for the remaining threads: they were notified by the owner, or have not begun and end.
impl<R, S> Drop for ShardThreads<R, S> {
    fn drop(&mut self) {
        self.join();
    }
}

/// Maximum oversleep of a thread; the remaining time is spent spinning.
const WAKES_LATE: Nanos = Nanos::from_millis(2);
/// How often the stop level is checked.
const POLL_INTERVAL: Nanos = Nanos::from_millis(20);

/// Waits until an instant: all threads begin together, to far below a millisecond.
pub(crate) fn wait_until(clock: Clock, at: Nanos, stop: &StopHandle) {
    while !stop.is_stopped() {
        let left = at.since(clock.now());
        if left == Nanos::ZERO {
            return;
        }
        match left.since(WAKES_LATE) {
            Nanos::ZERO => std::hint::spin_loop(),
            left => std::thread::sleep(left.min(POLL_INTERVAL).as_duration()),
        }
    }
}
