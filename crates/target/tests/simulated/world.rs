//! A simulated network with one server, single scripted requests, and an optional load.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::sim::{Faults, Host, Network, SimDriver};
use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Peer, Socket, SocketKind, Sockets};
use engine::{Finished, Interval, SteppedRun, StopHandle};
use pacing::Nanos;
use plan::{Flags, Plan};
use target::{Behavior, SteppedServer};

use crate::lines;

/// One-way latency.
pub(crate) const LATENCY: Nanos = Nanos(50_000);

/// Maximum CPU time of a simulated program per event.
const EVENT_NS_MAX: u64 = 2_000;

/// Asserts that a time is the computed one, or longer by the CPU time of at most `events` events.
#[track_caller]
pub(crate) fn is_by_arithmetic(time_ns: u64, expected_ns: u64, events: u64) {
    let most = expected_ns + events * EVENT_NS_MAX;
    assert!((expected_ns..=most).contains(&time_ns), "{time_ns} ns, by arithmetic {expected_ns} to {most} ns");
}

fn address() -> SocketAddr {
    "10.0.0.1:80".parse().expect("an address")
}

/// A load on a path of the server.
pub(crate) fn flags(path: &str) -> Flags {
    Flags { url: Some(format!("http://{}{path}", address())), user_agent: "test".to_owned(), ..Flags::default() }
}

/// A request on a connection of its own.
pub(crate) struct Call {
    pub(crate) at: Nanos,
    /// The instant at which it closes its connection, with or without a response.
    pub(crate) leaves: Nanos,
    pub(crate) request: String,
    /// When the same request is sent again on its connection, in milliseconds.
    pub(crate) again_ms: Vec<u64>,
    /// Further bytes for its connection, and when they are sent, in milliseconds.
    pub(crate) later: Vec<(u64, Vec<u8>)>,
    /// Whether it ends its side after the request.
    pub(crate) half_closes: bool,
    /// The instant before which it reads nothing.
    pub(crate) reads_from: Nanos,
    pub(crate) socket: Option<Socket>,
    pub(crate) response: Vec<u8>,
    /// The instants at which pieces of responses arrived.
    pub(crate) instants: Vec<Nanos>,
    /// When the server had closed; never, if it did not.
    pub(crate) closed: Nanos,
}

impl Call {
    pub(crate) fn get(at_ms: u64, path: &str) -> Self {
        Self {
            at: Nanos::from_millis(at_ms),
            leaves: Nanos::NEVER,
            request: format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"),
            again_ms: Vec::new(),
            later: Vec::new(),
            half_closes: false,
            reads_from: Nanos::ZERO,
            socket: None,
            response: Vec::new(),
            instants: Vec::new(),
            closed: Nanos::NEVER,
        }
    }

    pub(crate) fn post(at_ms: u64, path: &str) -> Self {
        let request = format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
        Self { request, ..Self::get(at_ms, path) }
    }

    /// The arrival of the last byte; never, if there was none.
    pub(crate) fn answered(&self) -> Nanos {
        self.instants.last().copied().unwrap_or(Nanos::NEVER)
    }

    /// Status and body.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let response = std::str::from_utf8(&self.response).expect("text");
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        (head.get(9..12).expect("a status"), body)
    }
}

/// The client that makes the calls.
struct Caller {
    driver: SimDriver,
    calls: Vec<Call>,
}

impl Caller {
    fn step(&mut self) {
        let now = self.driver.now();
        let until = self.calls.iter_mut().map(|call| call.act(now, self.driver.sockets())).min();
        let calls = &mut self.calls;
        let handle = |sockets: &mut dyn Sockets, event: Event<'_>| {
            let (Event::Connected { socket, .. } | Event::Received { socket, .. } | Event::PeerClosed { socket, .. }) =
                event
            else {
                return;
            };
            let call = calls.iter_mut().find(|call| call.socket == Some(socket)).expect("one of ours");
            match event {
                Event::Connected { .. } => call.connected(socket, sockets),
                Event::Received { bytes, at, .. } => {
                    call.response.extend_from_slice(bytes);
                    call.instants.push(at);
                }
                _ => call.closed = sockets.now(),
            }
        };
        self.driver.wait(until.unwrap_or(Nanos::NEVER), handle).expect("a simulated driver works");
    }
}

impl Call {
    /// Does what is due now; returns when it has to act again.
    fn act(&mut self, now: Nanos, sockets: &mut dyn Sockets) -> Nanos {
        if self.at <= now && now < self.leaves && self.socket.is_none() {
            let options = OpenOptions { kind: SocketKind::Stream, to: Peer::Ip(address()), from: None, no_delay: true };
            self.socket = Some(sockets.open(&options).expect("a socket"));
        }
        let Some(socket) = self.socket else { return self.at };
        if self.leaves <= now {
            sockets.close(socket);
            (self.socket, self.at) = (None, Nanos::NEVER);
            return Nanos::NEVER;
        }
        if Nanos::ZERO < self.reads_from && self.reads_from <= now {
            self.reads_from = Nanos::ZERO;
            sockets.receive(socket, true);
        }
        while self.again_ms.first().is_some_and(|at_ms| Nanos::from_millis(*at_ms) <= now) {
            self.again_ms.remove(0);
            sockets.send(socket, Outgoing::Lent(self.request.clone().into_bytes()));
        }
        while self.later.first().is_some_and(|(at_ms, _)| Nanos::from_millis(*at_ms) <= now) {
            sockets.send(socket, Outgoing::Lent(self.later.remove(0).1));
        }
        let later = self.later.first().map_or(Nanos::NEVER, |(at_ms, _)| Nanos::from_millis(*at_ms));
        let again = self.again_ms.first().map_or(Nanos::NEVER, |at_ms| Nanos::from_millis(*at_ms));
        let reads = if self.reads_from == Nanos::ZERO { Nanos::NEVER } else { self.reads_from };
        self.leaves.min(again).min(later).min(reads)
    }

    fn connected(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        sockets.send(socket, Outgoing::Lent(self.request.clone().into_bytes()));
        if self.half_closes {
            sockets.shutdown(socket);
        }
        if self.reads_from > Nanos::ZERO {
            sockets.receive(socket, false);
        }
    }
}

/// The server of the world.
enum Served {
    Target(Box<SteppedServer<SimDriver>>),
    /// Its kernel accepts connections and bytes, and they are not read.
    Silence(SimDriver),
    /// A server of a test.
    Own(SimDriver, Box<dyn OwnServer>),
}

/// A server whose behavior a test defines.
pub(crate) trait OwnServer {
    /// Handles an event.
    fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>);

    /// Does what is due now; returns when there is more to do.
    fn turn(&mut self, _now: Nanos, _sockets: &mut dyn Sockets) -> Nanos {
        Nanos::NEVER
    }
}

/// A simulated network with one server. See the module.
pub(crate) struct World {
    network: Network,
    server: Served,
    server_host: Host,
}

/// The result of a play.
pub(crate) struct Played {
    pub(crate) calls: Vec<Call>,
    pub(crate) finished: Option<Finished>,
}

impl Default for World {
    fn default() -> Self {
        Self::new(Behavior::default())
    }
}

impl World {
    fn network() -> Network {
        Network::new(1, Faults { latency_min: LATENCY, latency_max: LATENCY, ..Faults::none() })
    }

    /// A world with a target of this behavior.
    pub(crate) fn new(behavior: Behavior) -> Self {
        let network = Self::network();
        let driver = network.add_host();
        let server_host = driver.host();
        let server = SteppedServer::start_as(driver, address(), behavior).expect("a free address");
        Self { network, server: Served::Target(Box::new(server)), server_host }
    }

    /// A world with a target that serves the custom protocol of lines.
    pub(crate) fn of_lines(behavior: Behavior) -> Self {
        lines::register();
        let network = Self::network();
        let driver = network.add_host();
        let server_host = driver.host();
        let server = SteppedServer::start_protocol(driver, address(), behavior, "lines").expect("a free address");
        Self { network, server: Served::Target(Box::new(server)), server_host }
    }

    /// A world with a server that never responds.
    pub(crate) fn silent() -> Self {
        let network = Self::network();
        let mut driver = network.add_host();
        let server_host = driver.host();
        let listen = ListenOptions { kind: SocketKind::Stream, on: address(), share_port: false };
        driver.sockets().listen(&listen).expect("a free address");
        Self { network, server: Served::Silence(driver), server_host }
    }

    /// A world with a server of a test.
    pub(crate) fn with(own: impl OwnServer + 'static) -> Self {
        let Self { network, server, server_host } = Self::silent();
        let Served::Silence(driver) = server else { unreachable!("it is silent") };
        Self { network, server: Served::Own(driver, Box::new(own)), server_host }
    }

    /// Freezes the server from one instant to another.
    pub(crate) fn freeze(&self, from: Nanos, until: Nanos) {
        self.network.freeze(self.server_host, from, until);
    }

    /// The target.
    pub(crate) fn target(&self) -> &SteppedServer<SimDriver> {
        match &self.server {
            Served::Target(server) => server,
            Served::Silence(_) | Served::Own(..) => panic!("this world has no target"),
        }
    }

    /// Plays single requests, and a load on a number of threads.
    pub(crate) fn play(&mut self, calls: Vec<Call>, load: Option<(&Plan, usize)>) -> Played {
        self.play_and_notify(calls, load, |_| {})
    }

    /// The same, with the intervals of the load while it runs.
    pub(crate) fn play_and_notify(
        &mut self,
        calls: Vec<Call>,
        load: Option<(&Plan, usize)>,
        mut notify: impl FnMut(&Interval<'_>),
    ) -> Played {
        let mut caller = Caller { driver: self.network.add_host(), calls };
        let caller_host = caller.driver.host();
        caller.step();
        let (stop, mut shards) = (StopHandle::default(), Vec::new());
        let network = self.network.clone();
        let mut run = load.map(|(plan, threads)| {
            SteppedRun::start(plan, address(), threads, &stop, || {
                let driver = network.add_host();
                shards.push(driver.host());
                driver
            })
        });
        let mut notify = |interval: &Interval<'_>| {
            notify(interval);
            ControlFlow::Continue(())
        };
        while let Some(host) = self.network.next() {
            if host == self.server_host {
                self.step_server();
            } else if host == caller_host {
                caller.step();
            } else if let Some(run) = &mut run {
                let shard = shards.iter().position(|shard| *shard == host).expect("a shard");
                if !run.step(shard, &mut notify).expect("a simulated driver works") {
                    self.network.park(host);
                }
            }
        }
        let finished = run.map(|run| run.finish(&mut notify).expect("a simulated driver works"));
        Played { calls: caller.calls, finished }
    }

    fn step_server(&mut self) {
        match &mut self.server {
            Served::Target(server) => server.step(),
            Served::Silence(driver) => driver.wait(Nanos::NEVER, |_, _| {}),
            Served::Own(driver, own) => {
                let now = driver.now();
                let until = own.turn(now, driver.sockets());
                driver.wait(until, |sockets, event| own.handle(sockets, event))
            }
        }
        .expect("a simulated driver works");
    }
}
