//! The threads of a run, and the channels to them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use driver::{Clock, Waker};
use pacing::Nanos;

use crate::RunError;
use crate::control::StopHandle;

/// What a shard tells the run.
pub(crate) trait Report: Send + Sized + 'static {
    /// A shard is ready to start, and can be woken, or cannot start at all; `None` when it tells of something else.
    fn readiness(self) -> Option<Result<Waker, RunError>>;
}

/// What a thread gets: its number, the way to the run, and whence it hears that it starts.
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
    /// Starts threads as `spawn` does it, and waits until all are ready.
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

    /// None here: whoever reports is elsewhere.
    pub(crate) fn remote() -> (Sender<R>, Self) {
        let (report, reports) = channel();
        (report, Self { threads: Vec::new(), reports, starts: Vec::new() })
    }

    pub(crate) fn begin(&self, start: S) {
        for shard in &self.starts {
            // A shard that broke before its start is met in the reports.
            let _ = shard.send(start);
        }
    }

    /// Threads that were started.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }
}

impl<R, S> ShardThreads<R, S> {
    /// Waits for the end of all threads.
    fn join(&mut self) {
        // Those that have not started never will.
        self.starts.clear();
        for thread in self.threads.drain(..) {
            thread.join().expect("a shard does not panic");
        }
    }
}

/// Threads that are left end: whoever has started them has told them so, or they have not begun.
impl<R, S> Drop for ShardThreads<R, S> {
    fn drop(&mut self) {
        self.join();
    }
}

/// A thread that sleeps may wake so late; the rest it turns.
const WAKES_LATE: Nanos = Nanos::from_millis(2);
/// Whether it is stopped is looked at so often.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);

/// All begin at one instant, to far below a millisecond.
pub(crate) fn wait_until(clock: Clock, at: Nanos, stop: &StopHandle) {
    while !stop.is_stopped() {
        let left = at.since(clock.now());
        if left == Nanos::ZERO {
            return;
        }
        match left.since(WAKES_LATE) {
            Nanos::ZERO => std::hint::spin_loop(),
            left => std::thread::sleep(left.min(LOOK_EVERY).as_duration()),
        }
    }
}
