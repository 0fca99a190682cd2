//! Simulated networks: the peers are sockets of another host.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;

use driver::sim::{Faults, Network, SimDriver};
use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketKind, Sockets};
use pacing::{Nanos, Random};

use super::{Lab, Peer, Reading};

/// Number of networks in which each test runs.
const SEEDS: u64 = 25;
/// A wait for another thread's action passes through this instant again and again.
const FAR: Nanos = Nanos::from_millis(4_000);
/// A longer time than anything takes in these networks.
const QUIET_AFTER: Nanos = Nanos::from_millis(1_000);

/// Runs a test in a plain network, and in some that are slow, out of order and narrow. None loses anything: the suite
/// specifies the behavior without failures.
pub(super) fn in_each_world(test: impl Fn(Sim)) {
    test(Sim::new(0, Faults::none()));
    for seed in 1..=SEEDS {
        let drawn = Faults::draw(&mut Random::new(seed));
        let faults = Faults {
            loss: 0,
            refused: 0,
            syn_lost: 0,
            open_fails: 0,
            datagram_lost: 0,
            datagram_doubled: 0,
            datagram_late: 0,
            sockets_max: usize::MAX,
            backlog: usize::MAX,
            window_bytes: drawn.window_bytes.max(1_000),
            read_bytes_max: drawn.read_bytes_max.max(200),
            ..drawn
        };
        test(Sim::new(seed, faults));
    }
}

pub(super) struct Sim {
    network: Network,
    driver: SimDriver,
    pub(super) peers: Rc<RefCell<Peers>>,
}

/// The host of the peers.
pub(super) struct Peers {
    network: Network,
    pub(super) driver: SimDriver,
    accepted: VecDeque<Socket>,
    read: HashMap<Socket, Vec<u8>>,
    /// What was read, each with its socket.
    pub(super) pieces: VecDeque<(Socket, Vec<u8>)>,
    /// Sockets whose peer has ended its side, or is gone.
    ended: HashSet<Socket>,
    /// Sockets that are closed when their peer has ended its side.
    to_the_end: Vec<Socket>,
    /// Sockets that are closed when their bytes were sent.
    leaving: Vec<Socket>,
}

impl Peers {
    /// Handles the events that have arrived.
    fn take(&mut self) {
        let (accepted, read, pieces) = (&mut self.accepted, &mut self.read, &mut self.pieces);
        let (ended, to_the_end) = (&mut self.ended, &self.to_the_end);
        let took = self.driver.wait(Nanos::NEVER, |sockets, event| match event {
            Event::Accepted { socket, .. } => accepted.push_back(socket),
            Event::Received { socket, bytes, .. } => {
                pieces.push_back((socket, bytes.to_vec()));
                read.entry(socket).or_default().extend_from_slice(bytes);
            }
            Event::PeerClosed { socket, .. } => {
                ended.insert(socket);
                if to_the_end.contains(&socket) {
                    sockets.close(socket);
                }
            }
            Event::Failed { socket, .. } => drop(ended.insert(socket)),
            _ => {}
        });
        took.expect("the driver works");
        self.close_leaving();
    }

    fn close_leaving(&mut self) {
        let sockets = self.driver.sockets();
        self.leaving.retain(|&socket| {
            let is_done = sockets.unsent(socket) == 0;
            if is_done {
                sockets.close(socket);
            }
            !is_done
        });
    }

    /// Runs alone until `done`.
    pub(super) fn until(&mut self, mut done: impl FnMut(&Self) -> bool) {
        loop {
            self.take();
            if done(self) {
                return;
            }
            self.network.next_among(&[self.driver.host()]).expect("it will happen");
        }
    }
}

impl Sim {
    fn new(seed: u64, faults: Faults) -> Self {
        let network = Network::new(seed, faults);
        let (driver, other) = (network.add_host(), network.add_host());
        let peers = Peers {
            network: network.clone(),
            driver: other,
            accepted: VecDeque::new(),
            read: HashMap::new(),
            pieces: VecDeque::new(),
            ended: HashSet::new(),
            to_the_end: Vec::new(),
            leaving: Vec::new(),
        };
        Self { network, driver, peers: Rc::new(RefCell::new(peers)) }
    }

    fn peer(&self, socket: Socket) -> SimPeer {
        SimPeer { peers: self.peers.clone(), socket, is_left: false }
    }
}

impl Lab for Sim {
    type Driver = SimDriver;
    type Peer = SimPeer;

    const IS_SIMULATED: bool = true;

    fn driver(&mut self) -> &mut SimDriver {
        &mut self.driver
    }

    fn wait_with(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>)) {
        self.driver.wait(until, handle).expect("the driver works");
        let hosts = [self.driver.host(), self.peers.borrow().driver.host()];
        match self.network.next_among(&hosts) {
            Some(host) if host == hosts[1] => self.peers.borrow_mut().take(),
            _ => {}
        }
    }

    fn far(&mut self) -> Nanos {
        self.driver.now() + FAR
    }

    fn catch_up(&mut self, mut handle: impl FnMut(Event<'_>)) {
        let end = self.driver.now() + QUIET_AFTER;
        while self.driver.now() < end {
            self.wait(end, &mut handle);
        }
    }

    fn await_ready(&mut self, _: usize) {
        self.network.settle();
    }

    fn await_reset(&mut self) {
        self.network.settle();
    }

    fn scale(&self, count: usize) -> usize {
        count / 10
    }

    fn listen(&mut self) -> SocketAddr {
        let on = "127.0.0.1:0".parse().expect("an address");
        let mut peers = self.peers.borrow_mut();
        peers
            .driver
            .sockets()
            .listen(&ListenOptions { kind: SocketKind::Stream, on, share_port: false })
            .expect("a port")
            .1
    }

    fn accept(&mut self) -> SimPeer {
        let mut peers = self.peers.borrow_mut();
        peers.until(|peers| !peers.accepted.is_empty());
        let socket = peers.accepted.pop_front().expect("a connection");
        drop(peers);
        self.peer(socket)
    }

    fn nobody(&mut self) -> SocketAddr {
        "127.0.0.1:9".parse().expect("an address")
    }

    fn connect(&mut self, to: SocketAddr) -> SimPeer {
        let socket = self
            .peers
            .borrow_mut()
            .driver
            .sockets()
            .open(&OpenOptions { kind: SocketKind::Stream, to: to.into(), from: None, no_delay: true })
            .expect("a socket");
        self.peer(socket)
    }
}

pub(super) struct SimPeer {
    peers: Rc<RefCell<Peers>>,
    socket: Socket,
    /// Whether the socket is closed elsewhere.
    is_left: bool,
}

impl Drop for SimPeer {
    fn drop(&mut self) {
        if !self.is_left {
            let mut peers = self.peers.borrow_mut();
            let socket = self.socket;
            peers.leaving.push(socket);
            peers.close_leaving();
        }
    }
}

impl Peer for SimPeer {
    fn write_all(&mut self, bytes: &[u8]) {
        self.peers.borrow_mut().driver.sockets().send(self.socket, Outgoing::Lent(bytes.to_vec()));
    }

    fn try_write(&mut self, bytes: &[u8]) -> usize {
        if self.peers.borrow_mut().driver.sockets().unsent(self.socket) > 0 {
            return 0;
        }
        self.write_all(bytes);
        bytes.len()
    }

    fn read_exact(&mut self, count: usize) -> Vec<u8> {
        let socket = self.socket;
        let mut peers = self.peers.borrow_mut();
        peers.until(|peers| peers.read.get(&socket).is_some_and(|bytes| bytes.len() >= count));
        peers.read.get_mut(&socket).expect("it has read").drain(..count).collect()
    }

    fn end_writing(&mut self) {
        self.peers.borrow_mut().driver.sockets().shutdown(self.socket);
    }

    fn pause(&mut self) {
        self.peers.borrow_mut().driver.sockets().receive(self.socket, false);
    }

    fn await_unread(&mut self) {
        self.peers.borrow().network.settle();
    }

    fn unread(&mut self) -> usize {
        let peers = self.peers.borrow();
        peers.network.unread_bytes(peers.driver.host())
    }

    fn read_to_end(mut self) -> impl Reading {
        self.is_left = true;
        let (peers, socket) = (self.peers.clone(), self.socket);
        peers.borrow_mut().to_the_end.push(socket);
        peers.borrow_mut().driver.sockets().receive(socket, true);
        SimReading { peers, socket }
    }
}

struct SimReading {
    peers: Rc<RefCell<Peers>>,
    socket: Socket,
}

impl Reading for SimReading {
    fn is_over(&self) -> bool {
        self.peers.borrow().ended.contains(&self.socket)
    }

    fn take(self) -> Vec<u8> {
        let mut peers = self.peers.borrow_mut();
        peers.until(|peers| peers.ended.contains(&self.socket));
        peers.read.remove(&self.socket).unwrap_or_default()
    }
}
