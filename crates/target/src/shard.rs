//! One thread of the target: accepts, reads requests, answers them, now or later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::{Driver, Event, Outgoing, Socket, Sockets, Template};
use engine::timers::Timers;
use pacing::Nanos;

use crate::connection::{Connection, Wait};
use crate::respond::{self, Manner};
use crate::stats::Stats;

/// How long a connection that we end waits for the peer's end, so that our last bytes are not reset away.
const DRAIN_WAIT: Nanos = Nanos::from_millis(1_000);
/// Buffers that are kept for later.
const SPARE_MAX: usize = 256;
/// A buffer that grew beyond this for one answer is not kept.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// Serves until `is_over`.
pub(crate) fn run<D: Driver>(driver: D, listener: Socket, is_over: &AtomicBool, stats: &Arc<[Stats]>, index: usize) {
    let mut thread = Thread::new(driver, listener, stats.clone(), index);
    while !is_over.load(Ordering::Relaxed) {
        if thread.step().is_err() {
            break;
        }
    }
    thread.end();
}

/// One thread's work between two waits.
pub(crate) struct Thread<D: Driver> {
    driver: D,
    listener: Socket,
    shard: Shard,
}

impl<D: Driver> Thread<D> {
    pub(crate) fn new(mut driver: D, listener: Socket, stats: Arc<[Stats]>, index: usize) -> Self {
        let shard = Shard::new(driver.sockets(), stats, index);
        Self { driver, listener, shard }
    }

    /// Answers whoever is due, and waits for what comes.
    pub(crate) fn step(&mut self) -> Result<(), std::io::Error> {
        let now = self.driver.now();
        self.shard.fire(now, self.driver.sockets());
        let until = self.shard.tools.timers.next();
        let shard = &mut self.shard;
        self.driver.wait(until, |sockets, event| shard.handle(sockets, event))
    }

    /// Closes all connections.
    pub(crate) fn end(mut self) {
        let sockets = self.driver.sockets();
        sockets.close(self.listener);
        for connection in self.shard.connections.iter().flatten() {
            sockets.close(connection.socket());
        }
    }
}

struct Shard {
    /// Indexed by [`Socket::index`].
    connections: Vec<Option<Connection>>,
    tools: Tools,
}

/// What all connections of a thread use.
pub(crate) struct Tools {
    pub(crate) timers: Timers<Socket>,
    pub(crate) block: Arc<[u8]>,
    all_stats: Arc<[Stats]>,
    index: usize,
    spare: Vec<Vec<u8>>,
    /// The answer to a plain GET of `/`, rendered once.
    root: Template,
    root_bytes: usize,
}

impl Tools {
    pub(crate) fn stats(&self) -> &Stats {
        &self.all_stats[self.index]
    }

    pub(crate) fn stats_json(&self) -> String {
        crate::stats::to_json(&self.all_stats)
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
        Outgoing::Template(self.root, 0..self.root_bytes)
    }
}

impl Shard {
    fn new(sockets: &mut impl Sockets, all_stats: Arc<[Stats]>, index: usize) -> Self {
        let mut root = Vec::new();
        let manner = Manner { is_head: false, close: false, is_old: false };
        respond::whole(manner, 200, "text/plain", respond::ROOT_BODY, &mut root);
        let root_bytes = root.len();
        let tools = Tools {
            timers: Timers::default(),
            block: respond::block(),
            all_stats,
            index,
            spare: Vec::new(),
            root: sockets.register(root.into()),
            root_bytes,
        };
        Self { connections: Vec::new(), tools }
    }

    fn handle<S: Sockets>(&mut self, sockets: &mut S, event: Event<'_>) {
        match event {
            Event::Accepted { socket, .. } => self.accepted(socket),
            Event::Received { socket, bytes, at } => {
                self.with(socket, sockets, |connection, tools, sockets| connection.received(bytes, at, tools, sockets));
            }
            Event::Sent { socket, buffer } => {
                if let Some(buffer) = buffer {
                    self.tools.give_back(buffer);
                }
                self.with(socket, sockets, |connection, tools, sockets| connection.sent(tools, sockets));
            }
            Event::PeerClosed { socket, .. } => {
                self.with(socket, sockets, |connection, _, _| connection.peer_closed());
            }
            Event::Failed { socket, .. } => self.forget(socket),
            Event::Connected { .. } | Event::Woken => {}
        }
    }

    fn fire<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        while let Some(socket) = self.tools.timers.poll(now) {
            self.with(socket, sockets, |connection, tools, sockets| connection.due(now, tools, sockets));
        }
    }

    fn accepted(&mut self, socket: Socket) {
        let index = socket.index as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(Connection::new(socket));
        self.tools.stats().accepted.add(1);
        self.tools.stats().open.add(1);
    }

    fn with<S: Sockets>(
        &mut self,
        socket: Socket,
        sockets: &mut S,
        act: impl FnOnce(&mut Connection, &mut Tools, &mut S) -> Wait,
    ) {
        let Some(Some(connection)) = self.connections.get_mut(socket.index as usize) else { return };
        if connection.socket() != socket {
            return;
        }
        match act(connection, &mut self.tools, sockets) {
            Wait::More => {}
            Wait::PeerClose => {
                let now = sockets.now();
                sockets.shutdown(socket);
                connection.drain_until(now + DRAIN_WAIT);
                self.tools.timers.insert(now + DRAIN_WAIT, socket);
            }
            Wait::Nothing => {
                sockets.close(socket);
                self.forget(socket);
            }
        }
    }

    fn forget(&mut self, socket: Socket) {
        if let Some(entry) = self.connections.get_mut(socket.index as usize)
            && entry.take_if(|connection| connection.socket() == socket).is_some()
        {
            self.tools.stats().open.subtract(1);
        }
    }
}
