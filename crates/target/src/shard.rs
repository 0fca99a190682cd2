//! One thread of the target: accepts, reads requests, answers them, now or later.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use driver::{Driver, Event, Outgoing, Socket, Sockets, Template};
use engine::pages::Pages;
use engine::timers::Timers;
use pacing::{Nanos, Random};
use wire::hpack::FieldList;
use wire::tls::ServerConfig;

use crate::Shared;
use crate::behavior::{Agreed, Behavior};
use crate::connection::Wait;
use crate::peer::{Happened, Peer};
use crate::respond::{self, Manner};
use crate::stats::Stats;
use wire::websocket::{Deflater, Scratch};

/// How long a connection that we end waits for the peer's end, so that our last bytes are not reset away.
const DRAIN_WAIT: Nanos = Nanos::from_millis(1_000);
/// A freeze looks so often whether the server is to end.
const FREEZE_SLICE: Nanos = Nanos::from_millis(100);
/// Buffers that are kept for later.
const SPARE_MAX: usize = 256;
/// A buffer that grew beyond this for one answer is not kept.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// Serves until the server is over.
pub(crate) fn run<D: Driver>(driver: D, listeners: Listeners, shared: &Arc<Shared>, index: usize) {
    let mut thread = Thread::new(driver, listeners, shared.clone(), index);
    thread.shard.tools.can_freeze = true;
    while !shared.is_over.load(Ordering::Relaxed) {
        if thread.step().is_err() {
            break;
        }
    }
    thread.end();
}

/// What a thread listens with.
#[derive(Clone, Copy)]
pub(crate) struct Listeners {
    pub(crate) http: Socket,
    /// For plain TCP.
    pub(crate) tcp: Option<Socket>,
}

/// One thread's work between two waits.
pub(crate) struct Thread<D: Driver> {
    driver: D,
    listeners: Listeners,
    shard: Shard,
}

impl<D: Driver> Thread<D> {
    pub(crate) fn new(mut driver: D, listeners: Listeners, shared: Arc<Shared>, index: usize) -> Self {
        let shard = Shard::new(driver.sockets(), shared, index, listeners.tcp);
        Self { driver, listeners, shard }
    }

    /// Answers whoever is due, and waits for what comes.
    pub(crate) fn step(&mut self) -> Result<(), std::io::Error> {
        let now = self.driver.now();
        self.shard.freeze(now);
        self.shard.fire(now, self.driver.sockets());
        let mut until = self.shard.tools.timers.next();
        let freeze = self.shard.tools.agreed().freeze_from();
        if freeze > now {
            until = until.min(freeze);
        }
        let shard = &mut self.shard;
        self.driver.wait(until, |sockets, event| shard.handle(sockets, event))
    }

    /// Closes all connections.
    pub(crate) fn end(mut self) {
        let sockets = self.driver.sockets();
        sockets.close(self.listeners.http);
        if let Some(tcp) = self.listeners.tcp {
            sockets.close(tcp);
        }
        for connection in self.shard.connections.iter() {
            sockets.close(connection.socket());
        }
    }
}

struct Shard {
    /// Indexed by [`Socket::index`].
    connections: Pages<Peer>,
    tools: Tools,
    tcp: Option<Socket>,
}

/// What all connections of a thread use.
pub(crate) struct Tools {
    pub(crate) timers: Timers<Socket>,
    pub(crate) block: Arc<[u8]>,
    shared: Arc<Shared>,
    index: usize,
    pub(crate) random: Random,
    /// Thousandths of a percent that `/fail` owes.
    failures_due: u32,
    /// It has a thread of its own, which may sleep.
    pub(crate) can_freeze: bool,
    spare: Vec<Vec<u8>>,
    /// The answer to a plain GET of `/`, rendered once.
    root: Template,
    pub(crate) root_bytes: Arc<[u8]>,
    /// What TLS gave, and the fields of a request: for the time of a call.
    pub(crate) plain: Vec<u8>,
    pub(crate) fields: FieldList,
    pub(crate) scratch: Scratch,
    /// One for each window that a client allows us.
    deflaters: Vec<(u8, Deflater)>,
}

impl Tools {
    pub(crate) fn stats(&self) -> &Stats {
        &self.shared.stats[self.index]
    }

    pub(crate) fn stats_json(&self) -> String {
        crate::stats::to_json(&self.shared.stats)
    }

    pub(crate) fn conns_json(&self) -> String {
        crate::stats::conns_json(&self.shared.stats)
    }

    pub(crate) fn agreed(&self) -> &Agreed {
        &self.shared.agreed
    }

    pub(crate) fn behavior(&self) -> &Behavior {
        &self.shared.behavior
    }

    /// Every thread looks up, from whatever it waits for.
    pub(crate) fn wake_all(&self) {
        self.shared.wake_all();
    }

    /// Whether the next answer fails, so that `share` of 100,000 do, spread evenly.
    pub(crate) fn fails(&mut self, share: u32) -> bool {
        self.failures_due += share;
        let fails = self.failures_due >= 100_000;
        self.failures_due -= if fails { 100_000 } else { 0 };
        fails
    }

    /// What compresses for a window.
    pub(crate) fn deflater(&mut self, bits: u8) -> &mut Deflater {
        let place = self.deflaters.iter().position(|(known, _)| *known == bits).unwrap_or_else(|| {
            self.deflaters.push((bits, Deflater::with_window(bits)));
            self.deflaters.len() - 1
        });
        &mut self.deflaters[place].1
    }

    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub(crate) fn root(&self) -> Outgoing {
        Outgoing::Template(self.root, 0..self.root_bytes.len())
    }
}

impl Shard {
    fn new(sockets: &mut impl Sockets, shared: Arc<Shared>, index: usize, tcp: Option<Socket>) -> Self {
        let mut root = Vec::new();
        let manner = Manner { is_head: false, close: false, is_old: false };
        respond::whole(manner, 200, respond::Kind::of("text/plain"), respond::ROOT_BODY, &mut root);
        let root_bytes: Arc<[u8]> = root.into();
        let tools = Tools {
            timers: Timers::default(),
            block: respond::block(),
            random: Random::of_stream(shared.behavior.seed, index as u64),
            shared,
            index,
            failures_due: 0,
            can_freeze: false,
            spare: Vec::new(),
            root: sockets.register(root_bytes.clone()),
            root_bytes,
            plain: Vec::new(),
            fields: FieldList::default(),
            scratch: Scratch::default(),
            deflaters: Vec::new(),
        };
        Self { connections: Pages::default(), tools, tcp }
    }

    fn handle<S: Sockets>(&mut self, sockets: &mut S, event: Event<'_>) {
        match event {
            Event::Accepted { listener, socket } => self.accepted(listener, socket, sockets),
            Event::Received { socket, bytes, at } => {
                self.freeze(at);
                self.with(socket, sockets, Happened::Received(bytes, at));
            }
            Event::Sent { socket, buffer } => {
                if let Some(buffer) = buffer {
                    self.tools.give_back(buffer);
                }
                self.with(socket, sockets, Happened::Sent);
            }
            Event::PeerClosed { socket, .. } => {
                self.with(socket, sockets, Happened::PeerClosed);
            }
            Event::Failed { socket, .. } => self.forget(socket),
            Event::Connected { .. } | Event::Woken => {}
        }
    }

    fn fire<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        while let Some(socket) = self.tools.timers.poll(now) {
            self.with(socket, sockets, Happened::Due(now));
        }
    }

    /// Stands still when that was agreed on, as a program does that collects garbage or waits for a disk.
    fn freeze(&self, at: Nanos) {
        if let Some(freeze) = self.tools.agreed().frozen_at(at)
            && self.tools.can_freeze
        {
            let shared = &self.tools.shared;
            let clock = shared.clock;
            while clock.now() < freeze.until && !shared.is_over.load(Ordering::Relaxed) {
                std::thread::sleep(freeze.until.since(clock.now()).min(FREEZE_SLICE).as_duration());
            }
            self.tools.stats().frozen_ns.add(clock.now().since(freeze.from).0);
        }
    }

    fn accepted<S: Sockets>(&mut self, listener: Socket, socket: Socket, sockets: &mut S) {
        if self.tcp == Some(listener) {
            let now = sockets.now();
            self.connections.put(socket.index, Peer::of_tcp(socket, now, &mut self.tools));
            self.tools.stats().accepted.add(1);
            self.tools.stats().open.add(1);
            return;
        }
        let session = match self.tools.shared.tls.as_ref().map(ServerConfig::session).transpose() {
            Ok(session) => session,
            // The settings were tried when the server started.
            Err(_) => return sockets.close(socket),
        };
        let delay = self.tools.behavior().accept_delay;
        let alone_until = (!delay.is_zero()).then(|| sockets.now() + delay.into());
        if let Some(until) = alone_until {
            self.tools.timers.insert(until, socket);
        }
        self.connections.put(socket.index, Peer::new(socket, session, alone_until));
        self.tools.stats().accepted.add(1);
        self.tools.stats().open.add(1);
    }

    fn with<S: Sockets>(&mut self, socket: Socket, sockets: &mut S, what: Happened<'_>) {
        let Some(Some(connection)) = self.connections.place(socket.index) else { return };
        if connection.socket() != socket {
            return;
        }
        match connection.happened(what, &mut self.tools, sockets) {
            Wait::More => {}
            Wait::PeerClose => {
                let now = sockets.now();
                connection.drain_until(now + DRAIN_WAIT, &mut self.tools, sockets);
                sockets.shutdown(socket);
                self.tools.timers.insert(now + DRAIN_WAIT, socket);
            }
            Wait::Nothing => {
                sockets.close(socket);
                self.forget(socket);
            }
        }
    }

    fn forget(&mut self, socket: Socket) {
        if let Some(entry) = self.connections.place(socket.index)
            && let Some(peer) = entry.take_if(|connection| connection.socket() == socket)
        {
            peer.ended(&self.tools);
            self.tools.stats().open.subtract(1);
        }
    }
}
