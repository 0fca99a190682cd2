//! A run without threads: its owner decides which shard acts. A simulated world has no threads, and a benchmark needs
//! none.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use driver::{Clock, Driver, DriverSelection, Kind};
use host::CpuTime;
use pacing::Nanos;
use pacing::change::{Change, ChangeKind};
use plan::Plan;

use super::aggregator::{LoadAggregator, Update};
use super::divide::{assignments, barriers_of, changes_of, scenarios_of};
use super::routes::TargetRoute;
use super::totals::paused_of_all;
use super::{Finished, Interval, Partition, RunError, RunResult, judged};
use crate::barriers::{BarrierStats, Barriers};
use crate::control::{Control, Refused, StopHandle};
use crate::data_sources::{DataSources, SharedData, UsedUp};
use crate::remote::Where;
use crate::run_loop::Aggregator;
use crate::shard::{Report, Shard, ShardChannels, Tick};
use crate::times::Times;
use crate::verdict::Verdict;

/// A run whose shards are stepped by their owner.
pub struct SteppedRun<D: Driver> {
    shards: Vec<Option<Shard<D>>>,
    reports: Receiver<Report>,
    aggregator: LoadAggregator,
    control: Control,
    shared_data: SharedData,
    barriers: Option<Arc<Barriers>>,
}

impl<D: Driver> SteppedRun<D> {
    /// Divides a plan over at most `threads` shards and starts it now, on the clock of its drivers.
    pub fn start(plan: &Plan, address: SocketAddr, threads: usize, stop: &StopHandle, make: impl FnMut() -> D) -> Self {
        Self::start_with(plan, (DataSources::default(), Partition::default()), address, threads, stop, make)
    }

    /// The same with the data that its users read and evaluate; or a partition of a load, which begins at its own
    /// instant, on the clock of its drivers.
    ///
    /// # Panics
    /// An expression cannot be evaluated.
    pub fn start_with(
        plan: &Plan,
        (data_sources, part): (DataSources, Partition),
        address: SocketAddr,
        threads: usize,
        stop: &StopHandle,
        mut make: impl FnMut() -> D,
    ) -> Self {
        data_sources.check(plan).expect("expressions that were looked at");
        let shared_data = SharedData::new(data_sources, part.worker);
        let (report, reports) = channel();
        let (mut shards, mut returns, mut scenarios, mut started) = (Vec::new(), Vec::new(), Vec::new(), Nanos::ZERO);
        let targets = plan.scenarios.iter().map(|scenario| scenario.targets.len()).sum();
        let assignments = assignments(plan, &vec![TargetRoute::to(address, None); targets], threads, &part)
            .expect("a plan that names no addresses of ours");
        let barriers = barriers_of(&assignments);
        // The clock of the drivers is the run's; this one is never read.
        let changes = changes_of(plan, Clock::start()).for_part(part.lease.clone(), part.lost.clone());
        let changes = Arc::new(changes);
        for (shard, mut assignment) in assignments.into_iter().enumerate() {
            let (back, returned) = channel();
            returns.push(back);
            scenarios.push(scenarios_of(&assignment));
            assignment.iter_mut().for_each(|(work, _)| work.shared_data = shared_data.clone());
            let driver = make();
            started = part.begins.map_or_else(|| driver.now(), |(_, begins)| begins);
            stop.add_waker(driver.waker());
            let channels = ShardChannels {
                shard,
                reports: report.clone(),
                returned,
                stop_level: stop.stop_level_of(),
                changes: changes.clone(),
                counts_behind: true,
            };
            shards.push(Some(Shard::new(
                driver,
                assignment,
                channels,
                Times { joins: part.from, ..Times::new(plan, started) },
            )));
        }
        let times = Times { joins: part.from, ..Times::new(plan, started) };
        changes.begin(times.measured_from());
        let aggregator = LoadAggregator::new(times, scenarios, returns, stop.clone(), changes.clone(), Where::Here);
        let control = Control::new(stop.clone(), changes);
        Self { shards, reports, aggregator, control, shared_data, barriers }
    }

    /// Files whose rows were used up so far.
    pub fn used_up(&self) -> Vec<UsedUp> {
        self.shared_data.used_up()
    }

    /// Statistics of the barriers of users so far.
    pub fn met(&self) -> Vec<BarrierStats> {
        self.barriers.as_ref().map(|barriers| barriers.met()).unwrap_or_default()
    }

    /// The number of its shards.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Some shard still has to act.
    pub fn is_waiting(&self) -> bool {
        self.aggregator.is_waiting()
    }

    /// One turn of a shard, and one wait as its driver waits. False when the shard is over.
    ///
    /// # Errors
    /// Its driver is broken.
    pub fn step(
        &mut self,
        shard: usize,
        mut observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
    ) -> Result<bool, RunError> {
        let Some(place) = self.shards.get_mut(shard) else { return Ok(false) };
        match place.as_mut().map(Shard::turn) {
            Some(Tick::Wait { until }) => {
                if let Some(shard) = place.as_mut() {
                    shard.wait(until)?;
                    // A simulated driver delivers what has come, and sleeps then.
                    shard.sleep_until(until);
                }
            }
            Some(Tick::Over) => {
                if let Some(shard) = place.take() {
                    shard.finish();
                }
            }
            None => {}
        }
        let is_on = place.is_some();
        let mut is_reported = false;
        while let Ok(reported) = self.reports.try_recv() {
            self.aggregator.take(reported);
            is_reported = true;
        }
        if is_reported {
            // A simulated world has no waiting: what came at this instant came.
            self.aggregator.merger.intervals.gives_up_waiting();
            self.notify(&mut observe);
        }
        Ok(is_on)
    }

    fn notify(&mut self, observe: &mut impl FnMut(&Interval<'_>) -> ControlFlow<()>) {
        while let Some(news) = self.aggregator.next() {
            if let Update::Interval(ready) = news
                && observe(&self.aggregator.interval(&ready)).is_break()
            {
                self.control.abort();
            }
        }
    }

    /// Changes the load of a scenario, when it is `now` on the clock of its drivers.
    ///
    /// # Errors
    /// Same as [`Control::change`].
    pub fn change(&self, scenario: usize, what: ChangeKind, now: Nanos) -> Result<Change, Refused> {
        self.control.change_at(scenario, what, now)
    }

    /// Control of the run.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The merged result.
    ///
    /// # Errors
    /// A driver was broken.
    pub fn finish(mut self, mut observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>) -> Result<Finished, RunError> {
        self.notify(&mut observe);
        self.aggregator.finish()
    }

    /// The result as a whole run, with the verdict of each scenario. It had no thread of its own, so there is no CPU
    /// time in it; its network has no interface, and its clock no date.
    ///
    /// # Errors
    /// A driver was broken.
    pub fn finish_run(
        mut self,
        plan: &Plan,
        mut observe: impl FnMut(&Interval<'_>) -> ControlFlow<()>,
    ) -> Result<RunResult, RunError> {
        self.notify(&mut observe);
        let (met, used_up, values) = (self.met(), self.used_up(), self.shared_data.values());
        let (threads, was_stopped) = (self.shards.len(), self.control.is_stopped());
        let timelines: Vec<_> = (0..plan.scenarios.len()).map(|scenario| self.control.timeline(scenario)).collect();
        let mut finished = self.aggregator.finish()?;
        finished.forget_cpu();
        let scenarios = judged::judged(plan, &timelines, &finished, (None, None));
        let paused = paused_of_all(&timelines, Nanos::ZERO, finished.stopped_at);
        Ok(RunResult {
            names: Vec::new(),
            started_for: finished.stopped_at.since(paused),
            paused,
            requested_per_s: scenarios.iter().map(|scenario| scenario.requested_per_s).sum(),
            verdict: Verdict::worst(scenarios.iter().map(|scenario| &scenario.verdict)),
            scenarios,
            ends: judged::ends(&finished),
            timelines,
            probes: Vec::new(),
            spent: finished.ends.iter().find_map(|end| end.spent),
            total: finished.total,
            per_scenario: finished.per_scenario,
            wall: finished.wall,
            threads,
            shards: finished.shards,
            cpu: CpuTime::default(),
            // The simulated driver has no kind of its own.
            driver: DriverSelection { kind: Kind::Poll, was_requested: true, refusal: None },
            refused: None,
            lacked_certificate: false,
            was_stopped,
            stop_reason: self.control.stop_reason(),
            began_unix: Duration::ZERO,
            used_up,
            met,
            values,
            workers_summary: None,
        })
    }

    /// Exchanges in flight: begun and not ended.
    pub fn in_flight(&self) -> usize {
        self.shards.iter().flatten().map(Shard::in_flight).sum()
    }

    /// The load over time, with its changes.
    #[cfg(test)]
    pub(crate) fn timeline(&self, scenario: usize) -> Arc<pacing::change::Timeline> {
        self.control.timeline(scenario)
    }

    #[cfg(test)]
    pub(crate) fn shard(&mut self, shard: usize) -> Option<&mut Shard<D>> {
        self.shards[shard].as_mut()
    }
}
