//! A server without a thread: its owner says when it acts. A simulated world has no threads.

use std::net::SocketAddr;
use std::sync::Arc;

use driver::{Clock, Driver, ListenOptions};
use metrics::Distribution;
use pacing::Nanos;

use crate::shard::{Listeners, Thread};
use crate::{Behavior, ServeError, Shared, listen_on, stats};

/// The same run of a world has the same answers.
const SECRET: u64 = 1;

/// A server that is stepped by its owner.
pub struct SteppedServer<D: Driver> {
    thread: Thread<D>,
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl<D: Driver> SteppedServer<D> {
    /// Listens on an address of the driver's world.
    ///
    /// # Errors
    /// The address is taken or forbidden.
    pub fn start(driver: D, listen: SocketAddr) -> Result<Self, ServeError> {
        Self::start_as(driver, listen, Behavior::default())
    }

    /// The same, with a behavior of its own.
    ///
    /// # Errors
    /// The address is taken or forbidden.
    pub fn start_as(mut driver: D, listen: SocketAddr, behavior: Behavior) -> Result<Self, ServeError> {
        let (http, address) = listen_on(driver.sockets(), &ListenOptions { on: listen, share_port: false })?;
        // Its freezes come from its world, which has a clock of its own.
        let shared = Shared::new(1, behavior, None, Clock::start(), SECRET);
        Ok(Self { thread: Thread::new(driver, Listeners { http, tcp: None }, shared.clone(), 0), shared, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends the answers that are due, and waits once as its driver waits.
    ///
    /// # Errors
    /// The driver is broken.
    pub fn step(&mut self) -> Result<(), std::io::Error> {
        self.thread.step()
    }

    /// Requests and messages that were read to their end.
    pub fn requests(&self) -> u64 {
        self.shared.stats[0].requests_in_all()
    }

    /// How long answers were held that were to be held, as [`Server::held`](crate::Server::held) tells it.
    pub fn held(&self) -> Distribution {
        stats::held(&self.shared.stats)
    }

    /// It agrees to freezes (`/stall`): its owner looks for them with [`Self::freeze_requested`], and freezes its host. Else it refuses them.
    #[must_use]
    pub fn frozen_by_owner(mut self) -> Self {
        self.thread.is_frozen_by_owner();
        self
    }

    /// From when to when it is to stand still, or was, the last time.
    pub fn freeze_requested(&self) -> Option<(Nanos, Nanos)> {
        self.shared.agreed.freeze_requested()
    }

    /// What `/stats` says, now.
    pub fn stats_json(&self) -> String {
        stats::to_json(&self.shared.stats, &self.shared.sessions)
    }

    /// Connections that it holds.
    pub fn open_connections(&self) -> u64 {
        self.shared.stats[0].open_now()
    }
}
