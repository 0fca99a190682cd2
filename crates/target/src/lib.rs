//! `onrush serve`, a server to load: plain paths with known behaviour, on the driver and the machines that the engine
//! uses.
//!
//! [`Server::start`] listens and returns; [`Server::stop`] ends it. Runs do not depend on it.
//!
//! - `greeter`: its gRPC service; `described`: its reflection; `messaging`: WebSocket and TCP
//! - `custom`: one protocol of the program's table ([`ServeOptions::protocol`]), instead of all others
//! - `queue`: queues with response times known from queueing theory, computed from the instants of arrival alone
//! - `gates`: requests that wait until they are released; a thread polls one counter to see whether anything was
//!   released
//! - `rooms`: WebSocket connections that pass messages on to each other, on whichever threads they are
//! - `shop`: pages for users with state; its `sessions` are divided into stripes, each with a lock, which other paths
//!   never take

#[cfg(test)]
#[macro_use]
extern crate claims;

mod action;
mod behavior;
mod certificate;
mod commands;
mod connection;
mod custom;
mod datagrams;
mod described;
mod front;
mod gates;
mod greeter;
mod handshakes;
mod happened;
mod messaging;
mod millis;
mod paths;
mod peer;
mod queue;
mod respond;
mod rooms;
mod routes;
mod service;
mod shard;
mod shop;
mod stats;
mod stepped;
mod streams;
mod tools;

use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use driver::{ChosenDriver, Clock, Driver, Kind, ListenOptions, SocketError, SocketKind, Sockets, Waker};

use behavior::Agreed;
pub use behavior::Behavior;
pub use certificate::Certificate;
pub use described::descriptors;
use gates::Gates;
use metrics::Distribution;
use pacing::Nanos;
use protocol::Protocol;
use rooms::Rooms;
pub use service::ProtocolError;
use shard::Listeners;
use shop::ShopState;
use stats::Stats;
pub use stepped::SteppedServer;
use wire::tls::ServerConfig;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on; port 0 for any free one.
    pub listen: SocketAddr,
    /// Number of serving threads; at least one.
    pub threads: usize,
    /// The driver of each thread.
    pub driver: Kind,
    /// The behavior of every connection.
    pub behavior: Behavior,
    /// The TLS configuration, if connections are encrypted.
    pub tls: Option<ServerConfig>,
    /// Address for plain TCP; port 0 for any free one.
    pub tcp: Option<SocketAddr>,
    /// The name of the custom protocol that it serves instead of HTTP.
    pub protocol: Option<String>,
}

impl ServeOptions {
    /// A server without faults, except those that a path requests.
    pub fn plain(listen: SocketAddr, threads: usize, driver: Kind) -> Self {
        Self { listen, threads, driver, behavior: Behavior::default(), tls: None, tcp: None, protocol: None }
    }
}

/// The shared state of a server's threads: counters that each thread writes for itself, and the common behavior.
pub(crate) struct Shared {
    stats: Box<[Stats]>,
    shop: ShopState,
    rooms: Rooms,
    gates: Gates,
    /// Seed of the session secrets.
    secret: u64,
    agreed: Agreed,
    behavior: Behavior,
    tls: Option<ServerConfig>,
    protocol: Option<&'static dyn Protocol>,
    clock: Clock,
    /// The time since the Unix epoch at which the clock of the server was zero.
    unix_start: Duration,
    wakers: Mutex<Vec<Waker>>,
    is_over: AtomicBool,
}

impl Shared {
    fn new(threads: usize, behavior: Behavior, clock: Clock, secret: u64) -> Self {
        let stats = std::iter::repeat_with(Stats::default).take(threads).collect();
        Self {
            stats,
            shop: ShopState::default(),
            rooms: Rooms::new(threads),
            gates: Gates::default(),
            secret,
            agreed: Agreed::new(behavior.seed),
            behavior,
            tls: None,
            protocol: None,
            clock,
            unix_start: now_unix().saturating_sub(clock.now().as_duration()),
            wakers: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    fn wake_all(&self) {
        self.wakers.lock().expect("no holder of the lock panics").iter().for_each(Waker::wake);
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}; choose another with --listen")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The error of the kernel.
        reason: SocketError,
    },
    /// The kernel provides no poller or no thread.
    #[error("the target cannot work on this system: {0}; raise its limits (ulimit -n, memory) or lower --threads")]
    System(#[from] std::io::Error),
    /// The protocol is unknown, or has no server.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
}

/// How often a free port is tried: it may be free for connections, and in use for datagrams.
const FREE_PORT_TRIES: u32 = 100;

/// A running server.
pub struct Server {
    address: SocketAddr,
    tcp: Option<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Server {
    /// Starts listening, and serves on threads of its own.
    ///
    /// # Errors
    /// The address is in use or forbidden, or the system provides no thread.
    pub fn start(options: &ServeOptions) -> Result<Self, ServeError> {
        let kind = options.driver;
        let mut tries = if options.listen.port() == 0 { FREE_PORT_TRIES } else { 1 };
        loop {
            tries -= 1;
            match Self::start_on(options, move |clock| ChosenDriver::new(kind, clock)) {
                Err(ServeError::Listen { reason: SocketError::AddressInUse, .. }) if tries > 0 => {}
                other => return other,
            }
        }
    }

    fn start_on<D: Driver>(
        options: &ServeOptions,
        make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
    ) -> Result<Self, ServeError> {
        let count = options.threads.max(1);
        let clock = Clock::start();
        // A restarted server accepts none of the cookies that it issued before.
        let secret = RandomState::new().hash_one(clock.now().0);
        let protocol = options.protocol.as_deref().map(service::served).transpose()?;
        let datagram_threads = if datagrams::has_datagrams(protocol) { count } else { 0 };
        let threads = count + datagram_threads;
        let shared =
            Shared { tls: options.tls.clone(), protocol, ..Shared::new(threads, options.behavior, clock, secret) };
        let mut server =
            Self { address: options.listen, tcp: options.tcp, threads: Vec::new(), shared: Arc::new(shared) };
        ensure_free(options.listen, clock)?;
        options.tcp.map_or(Ok(()), |tcp| ensure_free(tcp, clock))?;
        for index in 0..count {
            let shared = server.shared.clone();
            let listen = ListenOptions { kind: SocketKind::Stream, on: server.address, share_port: count > 1 };
            let listen_tcp = server.tcp.map(|on| ListenOptions { kind: SocketKind::Stream, on, share_port: count > 1 });
            let (ready, listening) = channel();
            let make = make.clone();
            server.threads.push(std::thread::Builder::new().name(format!("target-{index}")).spawn(move || {
                let made = make(clock).map_err(ServeError::from).and_then(|mut driver| {
                    let (http, address) = listen_on(driver.sockets(), &listen)?;
                    let tcp = listen_tcp.map(|tcp| listen_on(driver.sockets(), &tcp)).transpose()?;
                    let listeners = Listeners { http, tcp: tcp.map(|(listener, _)| listener) };
                    Ok((driver, listeners, address, tcp.map(|(_, address)| address)))
                });
                match made {
                    Ok((driver, listeners, address, tcp)) => {
                        if ready.send(Ok((address, tcp, driver.waker()))).is_ok() {
                            shard::run(driver, listeners, &shared, index);
                        }
                    }
                    // If there is no receiver any more, the caller of `start` is gone.
                    Err(error) => drop(ready.send(Err(error))),
                }
            })?);
            let (address, tcp, waker) = listening.recv().expect("a thread of the target says how it went")?;
            (server.address, server.tcp) = (address, tcp);
            server.shared.wakers.lock().expect("no holder of the lock panics").push(waker);
        }
        if datagram_threads > 0 {
            server.serve_datagrams(count, datagram_threads)?;
        }
        Ok(server)
    }

    /// Starts threads for datagrams, at the same address. `first`: the index of the first one.
    fn serve_datagrams(&mut self, first: usize, threads: usize) -> Result<(), ServeError> {
        let address = self.address;
        let failed = |error| ServeError::Listen { address, reason: SocketError::from(&error) };
        let socket = UdpSocket::bind(address).map_err(failed)?;
        for index in first..first + threads {
            let (socket, shared) = (socket.try_clone()?, self.shared.clone());
            let thread = std::thread::Builder::new().name(format!("datagrams-{index}"));
            self.threads.push(thread.spawn(move || datagrams::serve(&socket, &shared, index))?);
        }
        Ok(())
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for plain TCP.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp
    }

    /// The current content of `/stats`.
    pub fn stats_json(&self) -> String {
        stats::to_json(&self.shared.stats, &self.shared.shop.sessions)
    }

    /// The current content of `/stats/books`.
    pub fn books_json(&self) -> String {
        stats::books_json(&self.shared.stats, &self.shared.shop.books)
    }

    /// The actual delays of delayed responses (`/delay`, `/serial`): from the end of the request to the response.
    pub fn held(&self) -> Distribution {
        stats::held(&self.shared.stats)
    }

    /// Time in requested freezes (`/stall`), from the scheduled instant to the actual end: that of the longest thread.
    pub fn frozen(&self) -> Nanos {
        stats::frozen(&self.shared.stats)
    }

    /// Closes all connections and stops.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.wake_all();
        for thread in std::mem::take(&mut self.threads) {
            thread.join().expect("a thread of the target does not panic");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// The time since the Unix epoch.
fn now_unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn listen_on(sockets: &mut dyn Sockets, options: &ListenOptions) -> Result<(driver::Socket, SocketAddr), ServeError> {
    sockets.listen(options).map_err(|reason| ServeError::Listen { address: options.on, reason })
}

/// Threads share a port, and the kernel would let a second server share it too: half of a load would go to the wrong
/// server.
fn ensure_free(address: SocketAddr, clock: Clock) -> Result<(), ServeError> {
    let mut driver = driver::poll::PollDriver::new(clock)?;
    listen_on(driver.sockets(), &ListenOptions { kind: SocketKind::Stream, on: address, share_port: false }).map(drop)
}
