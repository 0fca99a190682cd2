//! One thread of the target: accepts, reads requests, responds, now or later.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use driver::{Driver, Event, Socket, Sockets};
use engine::pages::Pages;
use pacing::Nanos;
use wire::tls::ServerConfig;

use crate::Shared;
use crate::custom::{CustomReply, socket_of};
use crate::datagrams::DatagramPeers;
use crate::happened::{Happened, Wait};
use crate::peer::Peer;
use crate::rooms::RoomDelivery;
use crate::service::CustomService;
use crate::tools::Tools;

/// Time that a connection closed by us waits for the peer's end, so that our last bytes are not lost in a reset.
const DRAIN_WAIT: Nanos = Nanos::from_millis(1_000);
/// Interval at which a frozen thread checks whether the server is to stop.
const FREEZE_SLICE: Nanos = Nanos::from_millis(100);

/// Serves until the server stops.
pub(crate) fn run<D: Driver>(driver: D, listeners: Listeners, shared: &Arc<Shared>, index: usize) {
    let mut thread = Thread::new(driver, listeners, shared.clone(), index);
    (thread.shard.tools.can_freeze, thread.shard.tools.can_sleep) = (true, true);
    while !shared.is_over.load(Ordering::Relaxed) {
        if thread.step().is_err() {
            break;
        }
    }
    thread.end();
}

/// The listeners of a thread.
#[derive(Clone, Copy)]
pub(crate) struct Listeners {
    pub(crate) http: Socket,
    /// The listener for plain TCP.
    pub(crate) tcp: Option<Socket>,
}

/// The state of a thread.
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

    /// Sends the responses that are due, and waits for input.
    pub(crate) fn step(&mut self) -> Result<(), std::io::Error> {
        let now = self.driver.now();
        self.shard.freeze(now);
        self.shard.fire(now, self.driver.sockets());
        self.shard.deliver(self.driver.sockets());
        let mut until = self.shard.tools.timers.next();
        let freeze = self.shard.tools.agreed().freeze_from();
        if freeze > now {
            until = until.min(freeze);
        }
        let shard = &mut self.shard;
        self.driver.wait(until, |sockets, event| shard.handle(sockets, event))?;
        // Opening a gate wakes all threads.
        shard.pass_gates(self.driver.sockets());
        shard.deliver(self.driver.sockets());
        Ok(())
    }

    /// Serves datagrams at an address of a simulated network too, if its protocol has any.
    pub(crate) fn take_datagrams(&mut self, on: SocketAddr) {
        self.shard.datagrams.listen(on, &self.shard.tools, self.driver.sockets());
    }

    /// Accepts requests for freezes, which its owner performs.
    pub(crate) fn is_frozen_by_owner(&mut self) {
        self.shard.tools.can_freeze = true;
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
        self.shard.datagrams.close(sockets);
    }
}

struct Shard {
    /// Connections, indexed by [`Socket::index`].
    connections: Pages<Peer>,
    tools: Tools,
    tcp: Option<Socket>,
    /// Peers of datagrams, in a simulated network.
    datagrams: DatagramPeers,
    /// Number of gate openings that were handled here.
    gate_openings: u64,
    /// Beginning of the last freeze in which this thread took part.
    frozen_from: Nanos,
}

impl Shard {
    fn new(sockets: &mut dyn Sockets, shared: Arc<Shared>, index: usize, tcp: Option<Socket>) -> Self {
        let tools = Tools::new(sockets, shared, index);
        Self {
            connections: Pages::default(),
            tools,
            tcp,
            datagrams: DatagramPeers::default(),
            gate_openings: 0,
            frozen_from: Nanos::ZERO,
        }
    }

    fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>) {
        match event {
            Event::Accepted { listener, socket } => self.accepted(listener, socket, sockets),
            Event::Received { socket, bytes, at } => {
                self.freeze(at);
                if self.datagrams.received(socket, bytes, &mut self.tools, sockets) {
                    return;
                }
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
            Event::Failed { socket, .. } => self.forget(socket, sockets.now()),
            Event::Connected { .. } | Event::Refused { .. } | Event::Cut { .. } | Event::Woken => {}
        }
    }

    fn fire(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        while let Some(socket) = self.tools.timers.poll(now) {
            self.with(socket, sockets, Happened::Due(now));
        }
    }

    /// Answers the requests whose gate was opened, by whichever thread.
    fn pass_gates(&mut self, sockets: &mut dyn Sockets) {
        let openings = self.tools.gates().openings();
        if openings == self.gate_openings {
            return;
        }
        self.gate_openings = openings;
        // Gates are rarely opened: checking each connection then is cheaper than maintaining a list all the time.
        let waiting = self.connections.iter().filter(|peer| peer.waits_at_gate()).map(Peer::socket);
        for socket in waiting.collect::<Vec<_>>() {
            self.with(socket, sockets, Happened::GateOpened);
        }
    }

    /// Sends the messages in rooms that connections of any thread have sent.
    fn deliver(&mut self, sockets: &mut dyn Sockets) {
        for RoomDelivery { socket, message } in self.tools.room_deliveries() {
            if let Some(peer) = open_peer(&mut self.connections, socket) {
                let wait = peer.deliver(&message, &mut self.tools, sockets);
                self.proceed(socket, wait, sockets);
            }
        }
    }

    /// Freezes if that is scheduled, like a program that collects garbage or waits for a disk.
    fn freeze(&mut self, at: Nanos) {
        // Bytes that arrived in a freeze have a timestamp within it, and are read when it is over.
        if self.tools.can_sleep
            && let Some(freeze) = self.tools.agreed().freeze_begun(at, self.frozen_from)
        {
            self.frozen_from = freeze.from;
            let shared = &self.tools.shared;
            let clock = shared.clock;
            while clock.now() < freeze.until && !shared.is_over.load(Ordering::Relaxed) {
                std::thread::sleep(freeze.until.since(clock.now()).min(FREEZE_SLICE).as_duration());
            }
            self.tools.stats().freezes.add(1);
            self.tools.stats().frozen_ns.add(clock.now().since(freeze.from).0);
        }
    }

    fn accepted(&mut self, listener: Socket, socket: Socket, sockets: &mut dyn Sockets) {
        if self.datagrams.accept(listener, socket, sockets) {
            return;
        }
        if self.tcp == Some(listener) {
            let now = sockets.now();
            self.connections.put(socket.index, Peer::for_tcp(socket, now, &mut self.tools));
            self.tools.stats().accepted.add(1);
            self.tools.stats().open.add(1);
            return;
        }
        let session = match self.tools.shared.tls.as_ref().map(ServerConfig::session).transpose() {
            Ok(session) => session,
            // The settings were verified when the server started.
            Err(_) => return sockets.close(socket),
        };
        let delay = self.tools.behavior().accept_delay;
        let alone_until = (!delay.is_zero()).then(|| sockets.now() + delay.into());
        if let Some(until) = alone_until {
            self.tools.timers.insert(until, socket);
        }
        let peer = Peer::new(socket, session, alone_until);
        let peer = if self.tools.behavior().is_proxy { peer.with_front() } else { peer };
        let mut peer = if self.tools.custom.is_some() { peer.with_protocol() } else { peer };
        peer.begin(&mut self.tools);
        self.connections.put(socket.index, peer);
        self.tools.stats().accepted.add(1);
        self.tools.stats().open.add(1);
        self.send_replies(socket, sockets);
    }

    fn with(&mut self, socket: Socket, sockets: &mut dyn Sockets, what: Happened<'_>) {
        let Some(connection) = open_peer(&mut self.connections, socket) else { return };
        let wait = connection.happened(what, &mut self.tools, sockets);
        if std::mem::take(&mut self.tools.asks_freeze) {
            connection.asks_freeze(&self.tools);
        }
        if self.tools.custom.is_some() && wait == Wait::More {
            connection.begin(&mut self.tools);
        }
        self.proceed(socket, wait, sockets);
        self.send_replies(socket, sockets);
    }

    /// Sends what the service of a custom protocol replied to an event of a connection, to whichever connections.
    fn send_replies(&mut self, cause: Socket, sockets: &mut dyn Sockets) {
        let Some(mut replies) = self.tools.custom.as_mut().and_then(CustomService::take_replies) else { return };
        for (number, bytes) in replies.sent.drain(..) {
            let socket = socket_of(number);
            let reply = CustomReply { bytes, is_own: socket == cause };
            if let Some(peer) = open_peer(&mut self.connections, socket) {
                let wait = peer.reply(reply, &mut self.tools, sockets);
                self.proceed(socket, wait, sockets);
            }
        }
        for number in replies.closed.drain(..) {
            let socket = socket_of(number);
            if let Some(peer) = open_peer(&mut self.connections, socket) {
                let wait = peer.close(sockets);
                self.proceed(socket, wait, sockets);
            }
        }
        if let Some(custom) = &mut self.tools.custom {
            custom.reuse(replies);
        }
    }

    /// Takes the next step of a connection.
    fn proceed(&mut self, socket: Socket, wait: Wait, sockets: &mut dyn Sockets) {
        match wait {
            Wait::More => {}
            Wait::PeerClose => {
                let now = sockets.now();
                let Some(connection) = open_peer(&mut self.connections, socket) else { return };
                connection.drain_until(now + DRAIN_WAIT, &mut self.tools, sockets);
                sockets.shutdown(socket);
                self.tools.timers.insert(now + DRAIN_WAIT, socket);
            }
            Wait::Nothing => {
                sockets.close(socket);
                self.forget(socket, sockets.now());
            }
        }
    }

    fn forget(&mut self, socket: Socket, now: Nanos) {
        if let Some(entry) = self.connections.place(socket.index)
            && let Some(mut peer) = entry.take_if(|connection| connection.socket() == socket)
        {
            peer.ended(now, &mut self.tools);
            self.tools.stats().open.subtract(1);
        }
    }
}

/// The connection of a socket, unless it is gone.
fn open_peer(connections: &mut Pages<Peer>, socket: Socket) -> Option<&mut Peer> {
    connections.place(socket.index)?.as_mut().filter(|peer| peer.socket() == socket)
}
