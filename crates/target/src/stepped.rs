//! A server without threads: its owner calls it to act. A simulated world has no threads.

use std::net::SocketAddr;
use std::sync::Arc;

use driver::{Clock, Driver, ListenOptions, SocketKind};
use metrics::Distribution;
use pacing::Nanos;

use crate::shard::{Listeners, Thread};
use crate::{Behavior, ServeError, Shared, listen_on, service, stats};

/// A constant, so that the same run of a world gives the same responses.
const SECRET: u64 = 1;

/// A server that is stepped by its owner.
pub struct SteppedServer<D: Driver> {
    thread: Thread<D>,
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl<D: Driver> SteppedServer<D> {
    /// Starts listening on an address of the driver's world.
    ///
    /// # Errors
    /// The address is in use or forbidden.
    pub fn start(driver: D, listen: SocketAddr) -> Result<Self, ServeError> {
        Self::start_as(driver, listen, Behavior::default())
    }

    /// The same, with the given behavior.
    ///
    /// # Errors
    /// The address is in use or forbidden.
    pub fn start_as(driver: D, listen: SocketAddr, behavior: Behavior) -> Result<Self, ServeError> {
        // Its freezes come from its world, which has its own clock.
        Self::start_shared(driver, listen, Shared::new(1, behavior, Clock::start(), SECRET))
    }

    /// The same with a custom protocol instead of HTTP.
    ///
    /// # Errors
    /// The address is in use or forbidden, or there is no server of this protocol.
    pub fn start_protocol(driver: D, listen: SocketAddr, behavior: Behavior, name: &str) -> Result<Self, ServeError> {
        let protocol = Some(service::served(name)?);
        let shared = Shared { protocol, ..Shared::new(1, behavior, Clock::start(), SECRET) };
        Self::start_shared(driver, listen, shared)
    }

    fn start_shared(mut driver: D, listen: SocketAddr, shared: Shared) -> Result<Self, ServeError> {
        let (http, address) =
            listen_on(driver.sockets(), &ListenOptions { kind: SocketKind::Stream, on: listen, share_port: false })?;
        let shared = Arc::new(shared);
        let mut thread = Thread::new(driver, Listeners { http, tcp: None }, shared.clone(), 0);
        thread.take_datagrams(address);
        Ok(Self { thread, shared, address })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends the responses that are due, and waits once, as its driver waits.
    ///
    /// # Errors
    /// The driver failed.
    pub fn step(&mut self) -> Result<(), std::io::Error> {
        self.thread.step()
    }

    /// Number of requests and messages that were read completely.
    pub fn requests(&self) -> u64 {
        self.shared.stats[0].requests_in_all()
    }

    /// The actual delays of delayed responses, as [`Server::held`](crate::Server::held) reports them.
    pub fn held(&self) -> Distribution {
        stats::held(&self.shared.stats)
    }

    /// Accepts requests for freezes (`/stall`): its owner checks [`Self::freeze_requested`], and freezes its host.
    /// Otherwise it refuses them.
    #[must_use]
    pub fn frozen_by_owner(mut self) -> Self {
        self.thread.is_frozen_by_owner();
        self
    }

    /// The span of the last requested freeze.
    pub fn freeze_requested(&self) -> Option<(Nanos, Nanos)> {
        self.shared.agreed.freeze_requested()
    }

    /// The current content of `/stats`.
    pub fn stats_json(&self) -> String {
        stats::to_json(&self.shared.stats, &self.shared.shop.sessions)
    }

    /// The current content of `/stats/books`.
    pub fn books_json(&self) -> String {
        stats::books_json(&self.shared.stats, &self.shared.shop.books)
    }

    /// Number of open connections.
    pub fn open_connections(&self) -> u64 {
        self.shared.stats[0].open_now()
    }
}
