//! Connections that are held, as a value: started, watched and ended, as a load is.

use std::sync::Arc;
use std::sync::mpsc::channel;

use driver::poll::PollDriver;
use driver::{Clock, Driver, Kind};
use host::CpuTime;
use metrics::HeldNow;
use pacing::{Nanos, Segment};
use plan::Hold;
use wire::tls::ClientConfig;

use super::desk::{HoldDesk, Setting};
use super::job::Job;
use super::shard::{self, Ends, Report};
use super::world::World;
use super::{HoldInterval, HoldOptions, HoldResult, KeptHold, Orders};
use crate::control::Control;
use crate::crew::Crew;
use crate::going::Going;
use crate::subscribers::{Delivery, Subscription};
use crate::{Places, RunError, StopHandle};

/// Connections that are held. When it is dropped, all of them are closed at once.
///
/// What memory they take is that of the whole process.
pub struct Holding {
    options: HoldOptions,
    going: Going<HoldDesk, Nanos>,
    stop: StopHandle,
    /// Where connections come from, and where they go: how many of each.
    places: (usize, usize),
    cpu_before: CpuTime,
}

impl Holding {
    /// Begins to open them. `stop` ends it too.
    ///
    /// # Errors
    /// The system refuses what the engine needs, or the connections cannot come from where they should. What the target does is
    /// never an error, but data.
    pub fn start(plan: Arc<Hold>, options: HoldOptions, stop: &StopHandle) -> Result<Self, RunError> {
        match options.driver.kind {
            Kind::Poll => Self::start_on(plan, options, stop, PollDriver::new),
            #[cfg(target_os = "linux")]
            Kind::Uring => Self::start_on(plan, options, stop, driver::uring::UringDriver::new),
            #[cfg(not(target_os = "linux"))]
            Kind::Uring => Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
        }
    }

    fn start_on<D: Driver>(
        plan: Arc<Hold>,
        options: HoldOptions,
        stop: &StopHandle,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, RunError> {
        let clock = Clock::start();
        let to = Places::of(&plan.target, options.address, plan.connections)?;
        let shards = (options.threads.max(1) as u64).min(plan.connections) as u32;
        let orders = Arc::new(Orders::new(&plan, shards.into()));
        let mut takes = Vec::new();
        let crew = Crew::start(shards as usize, stop, |place| {
            let (take, taken) = channel();
            takes.push(take);
            let (shard, orders, stop) = (place.shard, orders.clone(), stop.clone());
            let ends = Ends { shard, reports: place.reports, taken, orders, stop };
            // One for each: threads that share it would write its count of references in turn.
            let job = Arc::new(Job::new(&plan, to.clone(), options.tls.clone()));
            let (make, share) = (make.clone(), Segment::share(shard as u32, shards));
            std::thread::Builder::new().name(format!("hold-{shard}")).spawn(move || match make(clock) {
                Ok(mut driver) => {
                    let world = World::new(job, share, driver.sockets());
                    shard::run(driver, world, &ends, &place.start);
                }
                // The run may be gone already; then nobody asks why.
                Err(error) => drop(ends.reports.send(Report::Broken(error.into()))),
            })
        })?;
        // What is there before the first connection is no part of what connections cost.
        let before = (host::resident_bytes().unwrap_or(0), host::kernel_memory());
        let cpu_before = host::process_cpu_time();
        let started = clock.now();
        let desk = HoldDesk::new(Setting { clock, started, plan, stop: stop.clone(), orders, before }, takes);
        let going = Going::begin(crew, started, desk, stop.clone());
        Ok(Self { options, going, stop: stop.clone(), places: to.counts(), cpu_before })
    }

    /// Ends it, from any thread. It cannot be changed or paused.
    pub fn control(&self) -> Control {
        Control::of_held(self.stop.clone())
    }

    /// One more who hears intervals, on a thread of its own: those that are told from now on, while somebody waits for them here or
    /// for the end. Its mailbox takes `bound` of them. While a lossless one holds up the telling, nobody looks at memory.
    pub fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<KeptHold> {
        self.going.subscribe(delivery, bound)
    }

    /// Waits for the next interval, or for more of one that was told before; `None` when it is over. Who does not ask holds up the
    /// telling, and the look at memory that stops the opening before it runs out.
    pub fn wait(&mut self) -> Option<HoldInterval<'_>> {
        let (ready, desk) = self.going.wait()?;
        Some(desk.interval(&ready))
    }

    /// What it came to. Waits for its end; what was not asked for by then is not told.
    ///
    /// # Errors
    /// As [`Holding::start`].
    pub fn finish(self) -> Result<HoldResult, RunError> {
        let (desk, threads) = self.going.finish();
        let mut desk = desk.finish()?;
        let add = |all: &[HeldNow]| {
            let mut sum = HeldNow::default();
            all.iter().for_each(|now| sum.add(*now));
            sum
        };
        let (when_opened, when_closing) = (add(&desk.opened), add(&desk.closing));
        desk.most_open = desk.most_open.max(when_opened.open).max(when_closing.open);
        let tls = self.options.tls.as_ref();
        Ok(HoldResult {
            wall: desk.shown_to,
            opened_after: desk.opened_after,
            when_opened,
            when_closing,
            closing_after: desk.closing_after,
            most_open: desk.most_open,
            memory: desk.memory,
            stopped_opening: desk.stopped_opening,
            places: self.places,
            threads,
            cpu: host::process_cpu_time().since(self.cpu_before),
            refused: tls.and_then(ClientConfig::refused),
            lacked_certificate: tls.is_some_and(ClientConfig::was_asked_in_vain),
            was_stopped: self.stop.is_stopped(),
            driver: self.options.driver,
            lags: desk.lags,
            total: desk.total,
        })
    }
}
