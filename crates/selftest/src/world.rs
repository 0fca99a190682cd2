//! Where the loads of the self-test run: with threads and sockets of this machine, or in a simulated network.

mod simulated;

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use metrics::Distribution;
use pacing::Nanos;
use plan::Plan;
use target::{ServeOptions, Server};

use crate::SelftestError;
pub use simulated::{Happens, SimulatedWorld};

/// A place with a target in it, for loads.
pub(crate) trait World {
    /// What stands in the column of the driver.
    fn name(&self) -> &'static str;

    /// A new target, which has served nothing yet, in the place of the one before. Gives its address.
    fn serve(&mut self) -> Result<SocketAddr, SelftestError>;

    /// Carries out a plan for the address of that target.
    fn load(&mut self, plan: &Plan) -> Result<RunResult, SelftestError>;

    /// How long the target held answers that were to be held.
    fn held(&self) -> Distribution;

    /// How long the target stood still, as it was asked to.
    fn frozen(&self) -> Nanos;
}

/// Threads and sockets of this machine.
pub(crate) struct RealWorld<'a> {
    driver: &'a DriverSelection,
    server: Option<Server>,
}

impl<'a> RealWorld<'a> {
    pub(crate) fn new(driver: &'a DriverSelection) -> Self {
        Self { driver, server: None }
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("a load has a target")
    }
}

impl World for RealWorld<'_> {
    fn name(&self) -> &'static str {
        if self.driver.kind == Kind::Poll { "poll" } else { "uring" }
    }

    fn serve(&mut self) -> Result<SocketAddr, SelftestError> {
        // The one before ends first: the new one has the machine for itself.
        self.server = None;
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::start(&ServeOptions::plain(listen, 1, self.driver.kind))?;
        Ok(self.server.insert(server).address())
    }

    fn load(&mut self, plan: &Plan) -> Result<RunResult, SelftestError> {
        let options = RunOptions {
            address: self.server().address(),
            tls: None,
            others: Vec::new(),
            threads: 1,
            pins_threads: false,
            driver: self.driver.clone(),
            log_config: engine::RequestLogConfig::default(),
            supplies: engine::DataSources::default(),
            team: None,
        };
        Ok(engine::run(plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(()))?)
    }

    fn held(&self) -> Distribution {
        self.server().held()
    }

    fn frozen(&self) -> Nanos {
        self.server().frozen()
    }
}
