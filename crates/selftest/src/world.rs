//! The world in which the loads of the self-test run: threads and sockets of this machine, or a simulated network.

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

/// A world with a target, for loads.
pub(crate) trait World {
    /// The name in the driver column.
    fn name(&self) -> &'static str;

    /// Starts a new target, which has served nothing yet, in place of the last one. Returns its address.
    fn serve(&mut self) -> Result<SocketAddr, SelftestError>;

    /// Runs a plan against the address of that target.
    fn load(&mut self, plan: &Plan) -> Result<RunResult, SelftestError>;

    /// The actual delays of responses that the target was to delay.
    fn held(&self) -> Distribution;

    /// The actual length of the requested freezes of the target.
    fn frozen(&self) -> Nanos;
}

/// A world of threads and sockets of this machine.
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
        // The last target ends first: the new one has the machine for itself.
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
            names: Vec::new(),
            threads: 1,
            pins_threads: false,
            driver: self.driver.clone(),
            log_config: engine::RequestLogConfig::default(),
            data_sources: engine::DataSources::default(),
            backend: None,
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
