//! Held connections as a value: started, watched and ended, as a load is.

use std::sync::Arc;
use std::sync::mpsc::channel;

use driver::{ChosenDriver, Clock, Driver};
use host::CpuTime;
use pacing::{Nanos, Segment};
use plan::Hold;
use wire::tls::ClientConfig;

use super::aggregator::{AggregatorSetup, HoldAggregator, Update, sum};
use super::job::HoldConfig;
use super::remote::{HoldBackend, HoldBegun, HoldEnding, HoldOrder, HoldPart, HoldReporter, HoldUpdate};
use super::runtime::HoldRuntime;
use super::shard::{self, HoldChannels, Report};
use super::{HoldOptions, HoldResult, KeptHold, Orders};
use crate::control::{Control, Workers};
use crate::endpoints::EndpointRotation;
use crate::names::{AddressSet, Refresher};
use crate::remote::Where;
use crate::run::is_looked_up_again;
use crate::run_loop::RunLoop;
use crate::shard_threads::{ShardThreads, wait_until};
use crate::subscribers::{Delivery, Subscription};
use crate::{RunError, StopHandle};

/// A hold in progress. When it is dropped, all connections are closed at once.
///
/// Its memory figures are those of the whole process.
pub struct Holding {
    options: HoldOptions,
    going: RunLoop<HoldAggregator, Nanos>,
    orders: Arc<Orders>,
    stop: StopHandle,
    /// The remote workers.
    workers: Workers,
    /// Counts of source addresses and of target endpoints.
    places: (usize, usize),
    /// Looks the name of the target up again.
    names: Refresher,
    cpu_before: CpuTime,
}

impl Holding {
    /// Begins to open connections. `stop` ends it too.
    ///
    /// # Errors
    /// The system refuses what the engine needs, or the addresses cannot be used. What the target does is never an
    /// error, but data.
    pub fn start(plan: Arc<Hold>, options: HoldOptions, stop: &StopHandle) -> Result<Self, RunError> {
        if let Some(backend) = options.backend.clone() {
            return Self::start_remote(plan, options, &*backend, stop);
        }
        Self::start_here(plan, options, None, stop)
    }

    /// Starts a partition. Waits until all partitions begin, or it is stopped.
    ///
    /// # Errors
    /// Same as [`Holding::start`].
    pub fn start_part(
        plan: Arc<Hold>,
        options: HoldOptions,
        part: HoldPart,
        stop: &StopHandle,
    ) -> Result<Self, RunError> {
        Self::start_here(plan, options, Some(part), stop)
    }

    fn start_here(
        plan: Arc<Hold>,
        options: HoldOptions,
        part: Option<HoldPart>,
        stop: &StopHandle,
    ) -> Result<Self, RunError> {
        let kind = options.driver.kind;
        Self::start_on(plan, options, part, stop, move |clock| ChosenDriver::new(kind, clock))
    }

    /// Starts a hold on remote workers.
    fn start_remote(
        plan: Arc<Hold>,
        options: HoldOptions,
        backend: &dyn HoldBackend,
        stop: &StopHandle,
    ) -> Result<Self, RunError> {
        let clock = Clock::start();
        let orders = Arc::new(Orders::new(&plan, 0));
        let (reports, shard_threads) = ShardThreads::remote();
        let (orders_too, workers) = (orders.clone(), Workers::default());
        let reporter = HoldReporter { reports, orders: orders_too, stop: stop.clone(), workers: workers.clone() };
        let order = HoldOrder { plan: plan.clone(), clock, stop: stop.clone(), reporter };
        let HoldBegun { started, parts } = backend.begin_to_hold(order)?;
        let cpu_before = host::process_cpu_time();
        let setting = AggregatorSetup {
            clock,
            started,
            plan,
            stop: stop.clone(),
            orders: orders.clone(),
            before: (0, None),
            place: Where::Remote,
        };
        let going =
            RunLoop::begin(shard_threads, started, HoldAggregator::of(setting, parts, Vec::new()), stop.clone());
        let (places, names) = ((0, 0), Refresher::default());
        Ok(Self { options, going, orders, stop: stop.clone(), workers, places, names, cpu_before })
    }

    fn start_on<D: Driver>(
        plan: Arc<Hold>,
        options: HoldOptions,
        part: Option<HoldPart>,
        stop: &StopHandle,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        let clock = part.as_ref().map_or_else(Clock::start, |part| part.begins.0);
        let whole = part.as_ref().map_or(Segment::WHOLE, |part| part.segment.clone());
        let to = options.places(&plan)?;
        let is_moving = !options.names.is_empty() && is_looked_up_again(&plan.target);
        let name = is_moving.then(|| Arc::new(AddressSet::new(&plan.target, &options.names)));
        let names: Vec<_> = name.iter().cloned().collect();
        let turns = EndpointRotation::new(to.clone(), name);
        let own = whole.count_of_first(plan.connections).min(whole.slot_count().into());
        let shards = (options.threads.max(1) as u64).min(own).max(1) as u32;
        let orders = if part.is_some() { Orders::of_part } else { Orders::new };
        let orders = Arc::new(orders(&plan, shards.into()));
        let mut takes = Vec::new();
        let shard_threads = ShardThreads::start(shards as usize, stop, |place| {
            let (take, taken) = channel();
            takes.push(take);
            let (shard, orders, stop) = (place.shard, orders.clone(), stop.clone());
            let channels = HoldChannels { shard, reports: place.reports, taken, orders, stop };
            // One for each thread: threads that share it would all write its reference count.
            let mut job = HoldConfig::new(&plan, turns.clone(), options.tls.clone());
            job.part = part.as_ref().map(|part| part.segment.clone());
            let (job, make, share) = (Arc::new(job), make.clone(), whole.part(shard as u32, shards));
            std::thread::Builder::new().name(format!("hold-{shard}")).spawn(move || match make(clock) {
                Ok(mut driver) => {
                    let runtime = HoldRuntime::new(job, share, driver.sockets());
                    shard::run(driver, runtime, &channels, &place.start);
                }
                // The run may be gone already.
                Err(error) => drop(channels.reports.send(Report::Broken(error.into()))),
            })
        })?;
        // Memory used before the first connection is no cost of connections.
        let before = (host::resident_bytes().unwrap_or(0), host::kernel_memory());
        let cpu_before = host::process_cpu_time();
        let started = part.as_ref().map_or_else(|| clock.now(), |part| part.begins.1);
        wait_until(clock, started, stop);
        let place = if part.is_some() { Where::Partition } else { Where::Here };
        let (stop_too, orders_too) = (stop.clone(), orders.clone());
        let aggregator = HoldAggregator::new(
            AggregatorSetup { clock, started, plan, stop: stop_too, orders: orders_too, before, place },
            takes,
        );
        let going = RunLoop::begin(shard_threads, started, aggregator, stop.clone());
        let (workers, places) = (Workers::default(), to.counts());
        let names = Refresher::start(names, stop)?;
        Ok(Self { options, going, orders, stop: stop.clone(), workers, places, names, cpu_before })
    }

    /// A handle that sets when a partition ends.
    pub fn ending(&self) -> HoldEnding {
        HoldEnding { orders: self.orders.clone(), stop: self.stop.clone() }
    }

    /// A handle that ends it, from any thread. It cannot be changed or paused.
    pub fn control(&self) -> Control {
        Control::for_hold(self.stop.clone(), self.workers.clone())
    }

    /// Adds a subscriber of intervals, read on a thread of its own: it receives those emitted from now on, while a
    /// caller waits here for intervals or for the end. Its queue holds `bound` of them. While a lossless subscriber
    /// blocks delivery, memory is not checked.
    pub fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<KeptHold> {
        self.going.subscribe(delivery, bound)
    }

    /// Waits for the next update; `None` when it is over. A caller that does not
    /// poll delays reporting, and the memory check that stops opening before memory runs out.
    pub fn wait(&mut self) -> Option<HoldUpdate<'_>> {
        let (news, aggregator) = self.going.wait()?;
        Some(match news {
            Update::Interval(ready) => HoldUpdate::Interval(aggregator.interval(&ready)),
            Update::Opened(now, since) => HoldUpdate::Opened(now, since),
            Update::Closing(now, since) => HoldUpdate::Closing(now, since),
        })
    }

    /// The result. Waits for the end; intervals not polled by then are not reported.
    ///
    /// # Errors
    /// Same as [`Holding::start`].
    pub fn finish(self) -> Result<HoldResult, RunError> {
        let (aggregator, threads) = self.going.finish();
        let mut aggregator = aggregator.finish()?;
        let (when_opened, when_closing) = (sum(&aggregator.opened), sum(&aggregator.closing));
        aggregator.most_open = aggregator.most_open.max(when_opened.open).max(when_closing.open);
        let tls = self.options.tls.as_ref();
        let own = host::process_cpu_time().since(self.cpu_before);
        let lacked_certificate = aggregator.ends.iter().any(|end| end.lacked_certificate);
        Ok(HoldResult {
            wall: aggregator.merger.wall(),
            opened_after: aggregator.opened_after,
            when_opened,
            when_closing,
            closing_after: aggregator.closing_after,
            steady: aggregator.steady(),
            most_open: aggregator.most_open,
            memory: aggregator.memory,
            stopped_opening: aggregator.stopped_opening,
            places: aggregator.ends.first().map_or(self.places, |end| end.places),
            threads: threads + aggregator.ends.iter().map(|end| end.threads).sum::<usize>() + aggregator.untold(),
            cpu: aggregator.ends.iter().map(|end| end.cpu).fold(own, CpuTime::plus),
            refused: tls.and_then(ClientConfig::refused),
            lacked_certificate: lacked_certificate || tls.is_some_and(ClientConfig::was_requested_in_vain),
            names: self.names.reports(),
            was_stopped: self.stop.is_stopped(),
            driver: self.options.driver,
            lags: aggregator.lags,
            workers_summary: aggregator.merger.workers_summary.take(),
            total: aggregator.merger.into_total(),
        })
    }
}
