//! The threads of a run, and the channels to them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use driver::{Clock, Driver};
use metrics::Snapshot;
use plan::Plan;

use super::divide::works;
use super::{RunError, RunOptions};
use crate::control::{Changes, StopHandle};
use crate::shard::{self, Ends, Report, Times};

/// The threads of a run, and the channels to them.
pub(super) struct Crew {
    threads: Vec<JoinHandle<()>>,
    pub(super) reports: Receiver<Report>,
    starts: Vec<Sender<Times>>,
    pub(super) returns: Vec<Sender<Box<Snapshot>>>,
}

impl Crew {
    /// Starts one thread for each share that has users, and waits until all are ready.
    pub(super) fn start<D: Driver>(
        plan: &Plan,
        options: &RunOptions,
        stop: &StopHandle,
        changes: &Arc<Changes>,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        let first = (options.address, options.tls.clone());
        let ways: Vec<_> = std::iter::once(first).chain(options.others.iter().cloned()).collect();
        let works = works(plan, &ways, options.threads)?;
        let cores = host::allowed_cores();
        let clock = changes.clock();
        let (report, reports) = channel();
        let mut crew = Self { threads: Vec::new(), reports, starts: Vec::new(), returns: Vec::new() };
        for (shard, work) in works.into_iter().enumerate() {
            let (start, started) = channel();
            let (back, returned) = channel();
            crew.starts.push(start);
            crew.returns.push(back);
            let ends =
                Ends { shard, reports: report.clone(), returned, wish: stop.wish_of(), changes: changes.clone() };
            let core = options.pins_threads.then(|| cores[shard % cores.len()]);
            let make = make.clone();
            let thread = std::thread::Builder::new().name(format!("shard-{shard}"));
            crew.threads.push(thread.spawn(move || {
                let pinned = core
                    .map_or(Ok(()), |core| host::pin_to_core(core).map_err(|reason| RunError::Pin { core, reason }));
                match pinned.and_then(|()| Ok(make(clock)?)) {
                    Ok(driver) => shard::run(driver, work, ends, &started),
                    // The run may be gone already; then nobody asks why.
                    Err(error) => drop(ends.reports.send(Report::Broken(error))),
                }
            })?);
        }
        drop(report);
        for _ in 0..crew.threads.len() {
            match crew.reports.recv() {
                Ok(Report::Ready { waker }) => stop.add_waker(waker),
                Ok(Report::Broken(error)) => {
                    crew.join();
                    return Err(error);
                }
                _ => break,
            }
        }
        Ok(crew)
    }

    pub(super) fn begin(&self, times: Times) {
        for start in &self.starts {
            // A shard that broke before its start is met in the reports.
            let _ = start.send(times);
        }
    }

    /// Threads that were started.
    pub(super) fn len(&self) -> usize {
        self.returns.len()
    }

    /// Waits for the end of all threads.
    pub(super) fn join(&mut self) {
        self.starts.clear();
        for thread in self.threads.drain(..) {
            thread.join().expect("a shard does not panic");
        }
    }
}
