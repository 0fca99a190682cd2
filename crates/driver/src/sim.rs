//! The simulated driver: virtual time, one seed, no thread, no socket.
//!
//! A [`Network`] holds the hosts, the streams between them, data in transit, and the time. A [`SimDriver`] is a host.
//! Its `wait` returns what has arrived by now and never advances virtual time: the simulation loop asks
//! [`Network::next`] which host acts next, lets it take one turn, and asks again. So engine and target can be
//! *stepped* (`SteppedRun`, `SteppedServer`), in the same code as their threads. All randomness comes from one
//! generator, so a seed and a program give one history.
//!
//! It has latency, short reads and writes, late and reordered completions, narrow windows, full backlogs, refusals,
//! losses and frozen programs, each drawn from the seed (`sim/faults.rs`).

mod faults;
mod net;
mod stream;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use faults::Faults;
use net::Net;
use pacing::Nanos;

use crate::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Peer, Socket, SocketError, Sockets, Template, Waker};

/// A simulated network with its hosts.
#[derive(Clone)]
pub struct Network(Rc<RefCell<Net>>);

/// A host of a network, identified by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(usize);

impl Network {
    /// A network without hosts, at time zero.
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self(Rc::new(RefCell::new(Net::new(seed, faults))))
    }

    /// A new host with its driver.
    pub fn add_host(&self) -> SimDriver {
        let wake = Arc::new(AtomicBool::new(false));
        let host = self.0.borrow_mut().add_host(wake.clone());
        SimDriver { sockets: SimSockets { net: self.0.clone(), host }, wake }
    }

    /// The virtual time.
    pub fn now(&self) -> Nanos {
        self.0.borrow().now()
    }

    /// Advances the time until a host has something to do, and returns that host. `None`: nothing will ever happen
    /// again.
    pub fn next(&self) -> Option<Host> {
        self.0.borrow_mut().next_host(|_| true)
    }

    /// The same while the programs of all other hosts are stopped.
    pub fn next_among(&self, hosts: &[Host]) -> Option<Host> {
        self.0.borrow_mut().next_host(|host| hosts.contains(&host))
    }

    /// Delivers everything in transit, while all programs are stopped.
    pub fn settle(&self) {
        self.0.borrow_mut().settle();
    }

    /// Freezes the program of a host from one instant to another. Its kernel goes on.
    pub fn freeze(&self, host: Host, from: Nanos, to: Nanos) {
        self.0.borrow_mut().freeze(host, from, to);
    }

    /// Number of open sockets of a host, including listeners.
    pub fn open_sockets(&self, host: Host) -> usize {
        self.0.borrow().open_sockets(host)
    }

    /// Bytes that have arrived at the sockets of a host, and that its program has not read.
    pub fn unread_bytes(&self, host: Host) -> usize {
        self.0.borrow().unread_bytes(host)
    }

    /// The most sockets that a host had open at a time.
    pub fn most_open_sockets(&self, host: Host) -> usize {
        self.0.borrow().most_open_sockets(host)
    }

    /// The longest time for which a host delayed the reading of events.
    pub fn most_coalesced(&self, host: Host) -> Nanos {
        self.0.borrow().most_coalesced(host)
    }

    /// Number of connections lost so far; one end or both may never be notified.
    pub fn lost_connections(&self) -> usize {
        self.0.borrow().lost_connections()
    }

    /// Datagrams that the programs of a host have sent and received.
    pub fn datagrams(&self, host: Host) -> (u64, u64) {
        self.0.borrow().datagrams(host)
    }

    /// The driver drops the `nth` completion of a connection or read from now on, the first being 1: no network does
    /// that, but a bug would.
    pub fn lose_completion(&self, nth: u64) {
        self.0.borrow_mut().completions_to_loss = Some(nth);
    }

    /// Ends the program of a host: its events are not read any more.
    pub fn park(&self, host: Host) {
        self.0.borrow_mut().park(host);
    }

    /// The number of faults that happened so far, apart from plain latency.
    pub fn faults_so_far(&self) -> u64 {
        self.0.borrow().faults_so_far()
    }

    /// Prints each event with its time on standard error.
    pub fn trace(&self) {
        self.0.borrow_mut().is_traced = true;
    }
}

/// The driver.
pub struct SimDriver {
    sockets: SimSockets,
    wake: Arc<AtomicBool>,
}

/// Its socket operations.
pub(crate) struct SimSockets {
    net: Rc<RefCell<Net>>,
    host: Host,
}

impl SimDriver {
    /// The host of this driver.
    pub fn host(&self) -> Host {
        self.sockets.host
    }
}

impl Driver for SimDriver {
    fn sockets(&mut self) -> &mut dyn Sockets {
        &mut self.sockets
    }

    fn now(&self) -> Nanos {
        self.sockets.now()
    }

    fn waker(&self) -> Waker {
        let wake = self.wake.clone();
        Waker::new(move || wake.store(true, Ordering::Relaxed))
    }

    fn wait(
        &mut self,
        until: Nanos,
        mut handle: impl FnMut(&mut dyn Sockets, Event<'_>),
    ) -> Result<(), std::io::Error> {
        let host = self.sockets.host;
        let mut has_reported = self.wake.swap(false, Ordering::Relaxed);
        if has_reported {
            handle(&mut self.sockets, Event::Woken);
        }
        let due = self.sockets.net.borrow_mut().begin_wait(host);
        // Events that arrive while others are handled wait for the next turn, as with a real batch.
        for _ in 0..due {
            let Some(reported) = self.sockets.net.borrow_mut().next_reported(host) else { break };
            has_reported = true;
            let at = self.sockets.now();
            let event = match reported {
                net::HostEvent::Connected(socket) => Event::Connected { socket, at },
                net::HostEvent::Accepted(listener, socket) => Event::Accepted { listener, socket },
                net::HostEvent::Received(socket, mut bytes) => {
                    handle(&mut self.sockets, Event::Received { socket, bytes: &mut bytes, at });
                    continue;
                }
                net::HostEvent::Sent(socket, buffer) => Event::Sent { socket, buffer },
                net::HostEvent::PeerClosed(socket) => Event::PeerClosed { socket, at },
                net::HostEvent::Failed(socket, error, left) => Event::Failed { socket, error, at, left },
                net::HostEvent::Refused(socket, error) => Event::Refused { socket, error, at },
                net::HostEvent::Cut(socket) => Event::Cut { socket, at },
                net::HostEvent::Nothing => continue,
            };
            handle(&mut self.sockets, event);
        }
        // A program that received an event checks its timers at once.
        self.sockets.net.borrow_mut().end_wait(host, if has_reported { Nanos::ZERO } else { until });
        Ok(())
    }

    fn coalesce(&mut self, span: Nanos) {
        self.sockets.net.borrow_mut().coalesce(self.sockets.host, span);
    }

    fn has_more(&self) -> bool {
        self.sockets.net.borrow().due(self.sockets.host) > 0
    }
}

impl Sockets for SimSockets {
    fn now(&self) -> Nanos {
        self.net.borrow().now()
    }

    fn register(&mut self, bytes: Arc<[u8]>) -> Template {
        self.net.borrow_mut().register(self.host, bytes)
    }

    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError> {
        match &options.to {
            Peer::Ip(to) => self.net.borrow_mut().open(self.host, *to, options.kind),
            // The network has no file system.
            Peer::Unix(_) => Err(SocketError::Refused),
        }
    }

    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        self.net.borrow_mut().listen(self.host, options)
    }

    fn send(&mut self, socket: Socket, bytes: Outgoing) {
        self.net.borrow_mut().send(self.host, socket, bytes);
    }

    fn unsent(&mut self, socket: Socket) -> usize {
        self.net.borrow_mut().unsent(self.host, socket)
    }

    fn unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        self.net.borrow_mut().unacknowledged(self.host, socket)
    }

    fn is_reset(&mut self, socket: Socket) -> bool {
        self.net.borrow_mut().is_reset(self.host, socket)
    }

    fn stop_sending(&mut self, socket: Socket) -> usize {
        self.net.borrow_mut().stop_sending(self.host, socket)
    }

    fn receive(&mut self, socket: Socket, on: bool) {
        self.net.borrow_mut().receive(self.host, socket, on);
    }

    fn shutdown(&mut self, socket: Socket) {
        self.net.borrow_mut().shutdown(self.host, socket);
    }

    fn close(&mut self, socket: Socket) {
        self.net.borrow_mut().close(self.host, socket);
    }
}
