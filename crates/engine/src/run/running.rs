//! A run as a value: it is started, watched, changed and stopped; one process may have many.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use driver::poll::PollDriver;
use driver::{Clock, Driver, Kind};
use host::CpuTime;
use metrics::Snapshot;
use pacing::Nanos;
use pacing::change::Change;
use plan::Plan;
use wire::tls::ClientConfig;

use super::crew::Crew;
use super::desk::{Desk, News};
use super::{Interval, RunError, RunOptions, RunResult, divide};
use crate::control::{Changes, Control, StopHandle};
use crate::shard::Times;
use crate::verdict::{Evidence, LinkUse, Verdict};

/// Reports that follow each other within this time are of one moment.
const LATE_WAIT: Duration = Duration::from_millis(50);

/// What a run tells while it goes on.
#[derive(Debug)]
pub enum Told<'a> {
    /// What happened in an interval, or more of one that was told before.
    Interval(Interval<'a>),
    /// The load was changed; in the order of the changes.
    Changed(Change),
}

/// A run that goes on. One that is dropped ends at once.
pub struct Running {
    plan: Arc<Plan>,
    options: RunOptions,
    crew: Crew,
    desk: Option<Desk>,
    stop: StopHandle,
    changes: Arc<Changes>,
    cpu_before: CpuTime,
    /// Since when a row waits for a late shard.
    waiting_since: Option<Nanos>,
}

impl Running {
    /// Starts a run. `stop` ends it too.
    ///
    /// # Errors
    /// The system refuses what the engine needs. What the target does is never an error, but data.
    pub fn start(plan: Arc<Plan>, options: RunOptions, stop: &StopHandle) -> Result<Self, RunError> {
        match options.driver.kind {
            Kind::Poll => Self::start_on(plan, options, stop, PollDriver::new),
            #[cfg(target_os = "linux")]
            Kind::Uring => Self::start_on(plan, options, stop, driver::uring::UringDriver::new),
            #[cfg(not(target_os = "linux"))]
            Kind::Uring => Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
        }
    }

    /// The same on any driver. The maker is called on the thread of the shard.
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn start_on<D: Driver>(
        plan: Arc<Plan>,
        options: RunOptions,
        stop: &StopHandle,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        let changes = Arc::new(divide::changes_of(&plan, Clock::start()));
        let crew = Crew::start(&plan, &options, stop, &changes, make)?;
        let cpu_before = host::process_cpu_time();
        let times = Times::of(&plan, changes.clock().now());
        changes.begin(times.measured_from());
        crew.begin(times);
        let desk = Some(Desk::new(times, crew.returns.clone(), stop.clone(), changes.clone()));
        let stop = stop.clone();
        Ok(Self { plan, options, crew, desk, stop, changes, cpu_before, waiting_since: None })
    }

    /// Changes and stops it, from any thread.
    pub fn control(&self) -> Control {
        Control::new(self.stop.clone(), self.changes.clone())
    }

    /// Waits for what is told next; `None` when it is over. Who does not ask holds up the telling, never the load.
    pub fn wait(&mut self) -> Option<Told<'_>> {
        let news = self.wait_for_news()?;
        let desk = self.desk.as_ref()?;
        Some(match news {
            News::Interval(ready) => Told::Interval(desk.interval(&ready)),
            News::Changed(change) => Told::Changed(change),
        })
    }

    fn wait_for_news(&mut self) -> Option<News> {
        loop {
            let desk = self.desk.as_mut()?;
            if let Some(news) = desk.next() {
                return Some(news);
            }
            if !desk.is_waiting() {
                return None;
            }
            self.wait_for_report();
        }
    }

    fn wait_for_report(&mut self) {
        let Some(desk) = &mut self.desk else { return };
        // A row that misses a late shard waits a moment more: after a stall of all, each tells by itself.
        let told = if desk.merger.awaits_late() {
            let now = self.changes.clock().now();
            let since = *self.waiting_since.get_or_insert(now);
            let left = LATE_WAIT.saturating_sub(now.since(since).as_duration());
            if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { self.crew.reports.recv_timeout(left) }
        } else {
            self.waiting_since = None;
            self.crew.reports.recv().map_err(RecvTimeoutError::from)
        };
        match told {
            Ok(report) => desk.take(report),
            Err(RecvTimeoutError::Timeout) => desk.merger.gives_up_waiting(),
            Err(RecvTimeoutError::Disconnected) => desk.lose_all(),
        }
    }

    /// What it came to. Waits for its end; what was not asked for by then is not told.
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn finish(mut self) -> Result<RunResult, RunError> {
        while self.wait().is_some() {}
        self.crew.join();
        let desk = self.desk.take().expect("only the end takes it");
        let finished = desk.finish()?;
        let (plan, options, timeline) = (&*self.plan, &self.options, self.changes.timeline());
        let (total, wall, shards) = (finished.total, finished.wall, finished.shards);
        let paused = timeline.paused_between(Nanos::ZERO, finished.stopped_at);
        let started_for = finished.stopped_at.since(paused);
        let asked_per_s = divide::asked_per_s(plan, &timeline, finished.stopped_at);
        let link = link_use(options.address, &total, wall);
        let growth = finished.backlog.and_then(|backlog| divide::growth(&timeline, backlog));
        let evidence = Evidence { plan, total: &total, wall, shards: &shards, asked_per_s, link, growth };
        Ok(RunResult {
            started_for,
            paused,
            asked_per_s,
            verdict: Verdict::of(evidence),
            total,
            wall,
            threads: self.crew.len(),
            shards,
            cpu: host::process_cpu_time().since(self.cpu_before),
            driver: options.driver.clone(),
            lacked_certificate: options.tls.as_ref().is_some_and(ClientConfig::was_asked_in_vain),
            refused: options.tls.as_ref().and_then(ClientConfig::refused),
            was_stopped: self.stop.is_stopped(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.desk.is_some() {
            self.stop.abort();
            self.crew.join();
        }
    }
}

/// What the run took of the interface to its target; `None` where the system says no speed, as of loopback.
fn link_use(to: std::net::SocketAddr, total: &Snapshot, wall: Nanos) -> Option<LinkUse> {
    let link = host::link_to(to.ip())?;
    let busier = total.counts.bytes_received.max(total.counts.bytes_sent());
    let bits_per_s = busier as f64 * 8.0 / wall.as_secs_f64().max(1e-9);
    Some(LinkUse { share: bits_per_s / link.bits_per_s as f64, bits_per_s: link.bits_per_s, name: link.name })
}
