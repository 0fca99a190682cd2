//! A simulated network with a target in it. Its time is virtual, so the state of the machine affects no figure: a load
//! gives the same figures each time, and a stall has exactly its configured length.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::sim::{Faults, Host, Network, SimDriver};
use engine::{DataSources, Interval, Partition, Probe, ProbeOption, Probing, RunResult, SteppedRun, StopHandle};
use metrics::Distribution;
use pacing::Nanos;
use plan::Plan;
use target::{Behavior, SteppedServer};

use super::World;
use crate::SelftestError;

/// Events during a load, in virtual time since its start.
#[derive(Clone, Debug, Default)]
pub struct Happens {
    /// Stalls of the target, from one instant to another.
    pub target_stalls: Vec<(Nanos, Nanos)>,
    /// Stalls of all threads of the generator.
    pub generator_stalls: Vec<(Nanos, Nanos)>,
    /// The instant at which the load is stopped; requests in flight go on.
    pub stop_at: Option<Nanos>,
}

/// A simulated network with a target, which persists from one load to the next.
pub struct SimulatedWorld {
    seed: u64,
    faults: Faults,
    /// What its users read and evaluate.
    pub data_sources: DataSources,
    world: Option<SimulatedNetwork>,
}

struct SimulatedNetwork {
    network: Network,
    server: SteppedServer<SimDriver>,
    host: Host,
    /// The last freeze that was requested of the target and applied; `frozen` is the sum of all.
    freeze: Option<(Nanos, Nanos)>,
    frozen: Nanos,
    /// The beginning of the last load.
    began: Nanos,
    /// Total of requests that the target has read completely, from each instant on.
    came: Vec<(Nanos, u64)>,
}

impl SimulatedWorld {
    /// A world whose network has these faults; the same seed gives the same world. [`Faults::none`] has latency only.
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self { seed, faults, data_sources: DataSources::default(), world: None }
    }

    /// The address of the target in every world.
    pub fn address() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 80))
    }

    /// Runs a plan against [`Self::address`] on `threads` threads, and reports its intervals.
    ///
    /// # Errors
    /// A simulated driver does not work.
    pub fn run(
        &mut self,
        plan: &Plan,
        threads: usize,
        happens: &Happens,
        observe: impl FnMut(&Interval<'_>),
    ) -> Result<RunResult, SelftestError> {
        self.run_with(plan, threads, happens, &StopHandle::default(), observe)
    }

    /// The same, followed by a probe with half of its users, if that is informative.
    ///
    /// # Errors
    /// A simulated driver does not work.
    pub fn run_and_probe(
        &mut self,
        plan: &Plan,
        threads: usize,
        happens: &Happens,
        observe: impl FnMut(&Interval<'_>),
    ) -> Result<RunResult, SelftestError> {
        let mut result = self.run(plan, threads, happens, observe)?;
        if result.wants_probe() {
            let probed = match Probing::new(plan, &result, ProbeOption::Safe) {
                Ok(probing) => Ok(self.probe(probing, threads)?),
                Err(why) => Err(why),
            };
            result.learn(probed);
        }
        Ok(result)
    }

    fn probe(&mut self, mut probing: Probing, threads: usize) -> Result<Vec<Probe>, SelftestError> {
        let Some(plan) = probing.plan().cloned() else { return Ok(probing.finish(None)) };
        let stop = StopHandle::default();
        let done = self.run_with(&plan, threads, &Happens::default(), &stop, |interval| {
            if probing.take(interval) {
                stop.abort();
            }
        })?;
        Ok(probing.finish(Some(&done)))
    }

    /// The same with a load that its observer may stop.
    ///
    /// # Errors
    /// A simulated driver does not work.
    pub fn run_with(
        &mut self,
        plan: &Plan,
        threads: usize,
        happens: &Happens,
        stop: &StopHandle,
        mut observe: impl FnMut(&Interval<'_>),
    ) -> Result<RunResult, SelftestError> {
        let (data_sources, part) = (self.data_sources.clone(), Partition::default());
        let world = self.world()?;
        let mut hosts = Vec::new();
        let began = world.network.now();
        let mut run = SteppedRun::start_with(plan, (data_sources, part), Self::address(), threads, stop, || {
            let driver = world.network.add_host();
            hosts.push(driver.host());
            driver
        });
        let freeze = |host, stalls: &[(Nanos, Nanos)]| {
            stalls.iter().for_each(|(from, to)| world.network.freeze(host, began + *from, began + *to));
        };
        freeze(world.host, &happens.target_stalls);
        hosts.iter().for_each(|host| freeze(*host, &happens.generator_stalls));
        let mut reported = |interval: &Interval<'_>| {
            observe(interval);
            ControlFlow::Continue(())
        };
        (world.began, world.came) = (began, vec![(Nanos::ZERO, world.server.requests())]);
        while run.is_waiting() {
            let host = world.network.next().expect("a load that is not over has something to do");
            if happens.stop_at.is_some_and(|at| began + at <= world.network.now()) && !stop.is_stopped() {
                stop.stop();
            }
            if host == world.host {
                world.serve()?;
                continue;
            }
            let is_on = match hosts.iter().position(|of| *of == host) {
                Some(shard) => run.step(shard, &mut reported)?,
                None => false,
            };
            if !is_on {
                world.network.park(host);
            }
        }
        Ok(run.finish_run(plan, reported)?)
    }

    /// Delivers and handles everything in transit: some time passes.
    ///
    /// # Errors
    /// A simulated driver does not work.
    pub fn settle(&mut self) -> Result<(), SelftestError> {
        self.world.as_mut().map_or(Ok(()), SimulatedNetwork::settle)
    }

    /// Number of requests that the target has read completely after an instant of the last load.
    pub fn requests_after(&self, at: Nanos) -> u64 {
        let came = self.world.as_ref().map_or(&[][..], |world| &world.came);
        let total = |wanted: Nanos| came.iter().rev().find(|(at, _)| *at <= wanted).map_or(0, |(_, count)| *count);
        total(Nanos::NEVER) - total(at)
    }

    /// What the target serves under `/stats/books`; empty before the first load.
    pub fn books_json(&self) -> String {
        self.world.as_ref().map(|world| world.server.books_json()).unwrap_or_default()
    }

    /// Number of requests of the last load that the target read completely.
    pub fn requests(&self) -> u64 {
        self.requests_after(Nanos::ZERO)
    }

    fn world(&mut self) -> Result<&mut SimulatedNetwork, SelftestError> {
        if self.world.is_none() {
            self.serve()?;
        }
        Ok(self.world.as_mut().expect("it was just made"))
    }
}

impl SimulatedNetwork {
    /// One turn of the target. Its network applies a freeze that it accepted.
    fn serve(&mut self) -> Result<(), SelftestError> {
        self.server.step()?;
        let requested = self.server.freeze_requested();
        if let Some((from, to)) = requested.filter(|_| requested != self.freeze) {
            self.network.freeze(self.host, from, to);
            (self.freeze, self.frozen) = (requested, self.frozen + to.since(from));
        }
        let requests = self.server.requests();
        if self.came.last().is_none_or(|(_, count)| *count < requests) {
            self.came.push((self.network.now().since(self.began), requests));
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), SelftestError> {
        let until = self.network.now() + Nanos::from_millis(10);
        while self.network.now() < until {
            match self.network.next() {
                Some(host) if host == self.host => self.serve()?,
                Some(host) => self.network.park(host),
                None => break,
            }
        }
        Ok(())
    }
}

impl World for SimulatedWorld {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn serve(&mut self) -> Result<SocketAddr, SelftestError> {
        let network = Network::new(self.seed, self.faults.clone());
        let driver = network.add_host();
        let host = driver.host();
        let behavior = Behavior { seed: self.seed, ..Behavior::default() };
        let server = SteppedServer::start_as(driver, Self::address(), behavior)?.frozen_by_owner();
        let (freeze, frozen, began, came) = (None, Nanos::ZERO, Nanos::ZERO, Vec::new());
        self.world = Some(SimulatedNetwork { network, server, host, freeze, frozen, began, came });
        Ok(Self::address())
    }

    fn load(&mut self, plan: &Plan) -> Result<RunResult, SelftestError> {
        self.run(plan, 1, &Happens::default(), |_| ())
    }

    fn held(&self) -> Distribution {
        self.world.as_ref().map(|world| world.server.held()).unwrap_or_default()
    }

    fn frozen(&self) -> Nanos {
        self.world.as_ref().map_or(Nanos::ZERO, |world| world.frozen)
    }
}
