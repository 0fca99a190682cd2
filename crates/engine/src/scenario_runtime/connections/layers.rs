//! The layers between a socket and its exchanges: TLS, proxies, and every protocol but plain HTTP/1. The streams of
//! HTTP/2: `layers/streams.rs`; how connections and their streams end: `layers/closing.rs`.
//!
//! A connection of plain HTTP/1 has no layer. One of HTTP/2 serves a *link*: the users of its streams share it,
//! and an attempt gets a stream, or waits in the connection for one. Frames made while events are handled leave at
//! the end of the turn, in one piece per connection. After a GOAWAY or a refused stream there is another attempt of
//! the same exchange. The fields of a request are compressed once for all connections (`wire::http2::Request`): with
//! a fresh table, with one that knows them, and without.
//!
//! Bytes that leave in layers are counted when they leave; those that the kernel never took are subtracted.
//!
//! A body of 64 KiB or more (`plan::BodyBytes`) is in memory once: the plan, redirects, all threads and connections
//! share it. Its head is sent before it; a plain socket takes it as it is, TLS seals it piece by piece
//! (`layers/large_bodies.rs`), and frames of HTTP/2 are cut from it.

mod closing;
mod large_bodies;
mod preamble;
mod read_coalescer;
mod sending;
mod streams;

use std::collections::VecDeque;
use std::ops::Range;

use driver::{Socket, Sockets};
use metrics::{Counter, Failure};
use pacing::Nanos;
use plan::Protocol;
use wire::connection::{AnyConnection, Http2, ProtocolConnection};
use wire::http2;
use wire::tls::Session;
use wire::tls::TlsFault;

use crate::faults;
use crate::scenario_runtime::connections::origins::Origin;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::grpc::HeldMessages;
use crate::scenario_runtime::messaging::Transport;
use crate::scenario_runtime::{ScenarioConfig, ScenarioRuntime};
use crate::slab::Key;
use crate::user::LastExchange;
use large_bodies::Unsealed;
pub(crate) use preamble::Passage;
use preamble::PassageState;
#[cfg(test)]
pub(crate) use read_coalescer::COALESCE_MAX;
use read_coalescer::ReadCoalescer;

/// The error code of a stream that was refused: its request was not processed (RFC 9113, 8.7).
const REFUSED_STREAM: u32 = http2::Code::RefusedStream as u32;
/// The error code of a stream that is not wanted any more.
const CANCEL: u32 = http2::Code::Cancel as u32;
/// A connection on which a request timed out, and on which nothing came for this long, takes no further ones.
const SILENCE_MAX: Nanos = Nanos::from_millis(5_000);
/// Buffers kept for reuse.
const SPARE_MAX: usize = 64;
/// A larger buffer is not kept.
const SPARE_BYTES_MAX: usize = 256 * 1024;

/// Bytes accepted from a peer that was notified of the close, and should close now: what was on its way. Beyond it
/// reading stops and the connection is closed, or the peer would keep the shard reading for as long as it waits.
const CLOSING_BYTES_MAX: usize = 256 * 1024;
/// Bytes accepted while its kernel has not acknowledged the close: a close with bytes unread would discard that.
const CLOSING_BYTES_UNTOLD_MAX: usize = 4 * 1024 * 1024;

/// The layers of a connection.
pub(crate) struct Layers {
    tls: Option<Session>,
    /// What the connection begins with, while it lasts.
    passage: Option<Box<PassageState>>,
    /// The protocol state, once it is known. None for HTTP/1: it needs no state while idle, so attempts have theirs.
    pub(in crate::scenario_runtime) line: Option<AnyConnection>,
    /// Bytes to send next; for frames, with the attempts whose requests are among them.
    pub(in crate::scenario_runtime) out: Vec<u8>,
    leaving: Vec<Key>,
    /// What is sealed when the kernel has taken what is before it.
    unsealed: Option<Unsealed>,
    /// Messages that are to be counted when they are framed.
    held: Vec<HeldMessages>,
    /// Attempts that wait for the connection, or for a stream of it.
    waiting: VecDeque<Key>,
    link: usize,
    /// Bytes that were handed to the socket.
    pub(in crate::scenario_runtime) handed: u64,
    /// Bytes that came while the peer's close was awaited.
    came_late: usize,
    /// Start of the TLS handshake.
    shakes_since: Nanos,
    /// When frames last came.
    received_at: Nanos,
    /// Range of the last message of a conversation among the bytes that were handed over.
    pub(in crate::scenario_runtime) message: Range<u64>,
    /// The wait whose events were handled when the last message of a conversation was sent.
    pub(in crate::scenario_runtime) sent_in: u64,
    /// Bytes of our close frame, with the overhead of TLS.
    pub(in crate::scenario_runtime) close_bytes: u64,
    /// What its messages travel in.
    pub(in crate::scenario_runtime) transport: Transport,
    /// At the end of the run the kernel had not taken all of a message that counts.
    pub(in crate::scenario_runtime) has_late_message: bool,
    is_dirty: bool,
}

/// State of a shard for connections with layers.
#[derive(Default)]
pub(crate) struct Links {
    /// The connection of each link, if it takes requests, origin by origin; empty when no connection is shared.
    sockets: Vec<Option<Socket>>,
    /// Links to each origin, and how many there may be.
    each: usize,
    most: u64,
    /// Connections that have bytes to send.
    dirty: Vec<Socket>,
    /// Connections whose session is broken: they are lost at the end of the turn.
    broken: Vec<(Socket, TlsFault)>,
    plain: Vec<u8>,
    outer_plain: Vec<u8>,
    spare: Vec<Vec<u8>>,
    pub(in crate::scenario_runtime) read_coalescer: ReadCoalescer,
}

impl Links {
    pub(in crate::scenario_runtime) fn new(origins: &[Origin], work: &ScenarioConfig) -> Self {
        let most = work.shared.unwrap_or(u64::MAX);
        let each = work.share.users.div_ceil(u64::from(work.streams)).min(most) as usize;
        let mut links = Self { each, most, ..Self::default() };
        links.make_room(origins.len(), origins.iter().any(Origin::is_shared));
        // For these each response, or each of many messages in it, is timed by itself.
        let times_more = work.steps.iter().any(|step| step.call.as_ref().is_some_and(|call| call.is_stream));
        if times_more || !origins.iter().all(Origin::is_shared) {
            links.read_coalescer.end();
        }
        links
    }

    /// Makes room for a number of origins, of which some has shared connections.
    pub(in crate::scenario_runtime) fn make_room(&mut self, origins: usize, is_shared: bool) {
        if is_shared || !self.sockets.is_empty() {
            self.sockets.resize(origins * self.each, None);
        }
    }

    /// Makes room for more users.
    pub(in crate::scenario_runtime) fn make_room_for(
        &mut self,
        users: u64,
        streams: u32,
        origins: usize,
        is_shared: bool,
    ) {
        let (before, each) = (self.each, users.div_ceil(u64::from(streams)).min(self.most) as usize);
        if each > before && (is_shared || !self.sockets.is_empty()) {
            let old = std::mem::take(&mut self.sockets);
            self.sockets.resize(origins * each, None);
            for (index, socket) in old.into_iter().enumerate() {
                self.sockets[index / before * each + index % before] = socket;
            }
        }
        self.each = each.max(before);
    }

    /// Connections with streams to an origin.
    pub(in crate::scenario_runtime) fn count(&self, origin: u16) -> u64 {
        let from = usize::from(origin) * self.each;
        self.sockets.get(from..from + self.each).map_or(0, |links| links.iter().flatten().count() as u64)
    }

    /// Whether something is left to do at the end of a turn.
    pub(in crate::scenario_runtime) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty() || !self.broken.is_empty()
    }

    /// A session can seal nothing more. Senders run while exchanges begin, so the connection is lost at the end of the
    /// turn.
    #[cold]
    pub(in crate::scenario_runtime) fn lose_later(&mut self, socket: Socket, fault: TlsFault) {
        self.broken.push((socket, fault));
    }

    pub(super) fn next_broken(&mut self) -> Option<(Socket, TlsFault)> {
        self.broken.pop()
    }

    pub(in crate::scenario_runtime) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(in crate::scenario_runtime) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

impl ScenarioRuntime {
    /// The connection that the users of a link share, when it is established or being opened.
    pub(in crate::scenario_runtime) fn shared_connection(&self, user: u32, origin: u16) -> Option<Socket> {
        if self.pool.links.sockets.is_empty() {
            return None;
        }
        self.pool.links.sockets[self.link_of(user, origin)]
    }

    fn link_of(&self, user: u32, origin: u16) -> usize {
        let each = self.pool.links.each;
        usize::from(origin) * each + (user / self.work.streams) as usize % each.max(1)
    }

    /// The link index of a connection that has streams now: its own, or another one where users that share connections
    /// opened several for one link before they knew.
    fn free_link(&self, own: usize, socket: Socket) -> usize {
        let (sockets, each) = (&self.pool.links.sockets, self.pool.links.each.max(1));
        if self.pool.sharing.is_none() || sockets[own].is_none_or(|known| known == socket) {
            return own;
        }
        let first = own / each * each;
        let free = sockets[first..].iter().take(each).position(Option::is_none);
        free.map_or(own, |place| first + place)
    }

    /// A new connection gets the layers that its target needs.
    pub(in crate::scenario_runtime) fn add_layers(&mut self, socket: Socket, user: u32, origin: u16) {
        let link = if self.pool.links.sockets.is_empty() { 0 } else { self.link_of(user, origin) };
        let layers = Layers {
            tls: None,
            passage: None,
            line: None,
            out: Vec::new(),
            leaving: Vec::new(),
            unsealed: None,
            held: Vec::new(),
            waiting: VecDeque::new(),
            link,
            handed: 0,
            came_late: 0,
            shakes_since: Nanos::NEVER,
            received_at: Nanos::ZERO,
            message: 0..0,
            sent_in: 0,
            close_bytes: 0,
            transport: Transport::Stream,
            has_late_message: false,
            is_dirty: false,
        };
        if let Some(connection) = self.pool.connections.find(socket) {
            connection.layers = Some(Box::new(layers));
        }
        if self.pool.origins[usize::from(origin)].protocol() == Protocol::Http2 {
            // Users that come later wait for this one.
            self.pool.links.sockets[link] = Some(socket);
        }
    }

    pub(in crate::scenario_runtime) fn layers(&mut self, socket: Socket) -> Option<&mut Layers> {
        self.pool.connections.find(socket)?.layers.as_deref_mut()
    }

    /// The socket is connected: the handshake begins. False when there is none.
    pub(in crate::scenario_runtime) fn begin_handshake(
        &mut self,
        socket: Socket,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let Some(origin) = self.pool.connections.find(socket).map(|connection| connection.origin) else { return false };
        let Some(tls) = &self.pool.origins[usize::from(origin)].tls else { return false };
        let mut flight = self.pool.links.buffer();
        let begun = tls.session().and_then(|mut session| session.start(&mut flight).map(|()| session));
        let session = match begun {
            Ok(session) => session,
            Err(fault) => {
                self.lose_connection(socket, faults::tls(fault), at, sockets);
                return true;
            }
        };
        if let Some(layers) = self.layers(socket) {
            (layers.tls, layers.shakes_since) = (Some(session), at);
        }
        self.send_lent(socket, flight, sockets);
        true
    }

    /// Bytes came on a connection with layers.
    pub(in crate::scenario_runtime) fn received_in_layers(
        &mut self,
        socket: Socket,
        bytes: &mut [u8],
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        if connection.phase == Phase::Close && self.comes_too_late(socket, bytes.len(), sockets) {
            return self.close(socket, sockets);
        }
        if self.pool.has_passages && self.layers(socket).is_some_and(|layers| layers.passage.is_some()) {
            return self.received_in_passage(socket, bytes, at, sockets);
        }
        self.received_inside(socket, bytes, at, sockets);
    }

    /// Bytes came from the target.
    #[inline]
    fn received_inside(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let is_new = matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. });
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let Some(session) = &mut layers.tls else { return self.received_plain(socket, bytes, at, sockets) };
        let (mut plain, mut back) = (std::mem::take(&mut self.pool.links.plain), self.pool.links.buffer());
        plain.clear();
        let fed = session.feed(bytes, &mut plain, &mut back);
        // Where a protocol is running already, both sides have agreed on it.
        let is_ready = is_new && layers.line.is_none() && !session.is_handshaking();
        let (is_resumed, is_closed) = (session.is_resumed(), session.is_closed_by_peer());
        let since = layers.shakes_since;
        if back.is_empty() {
            self.pool.links.give_back(back);
        } else {
            self.send_lent(socket, back, sockets);
        }
        match fed {
            Err(fault) => {
                // What was complete before the fault counts, however the bytes were split.
                if !is_new && !plain.is_empty() {
                    self.received_plain(socket, &mut plain, at, sockets);
                }
                self.lose_connection(socket, faults::tls(fault), at, sockets);
            }
            Ok(()) => {
                if is_ready {
                    self.unreported.tls.record(at.since(since).0);
                    self.unreported.counts[Counter::TlsResumed] += u64::from(is_resumed);
                    self.ready(socket, at, sockets);
                }
                if !plain.is_empty() {
                    self.received_plain(socket, &mut plain, at, sockets);
                }
                if is_closed {
                    self.on_close_notify(socket, at, sockets);
                }
            }
        }
        self.pool.links.plain = plain;
    }

    /// A peer that was notified of the close keeps sending.
    #[cold]
    fn comes_too_late(&mut self, socket: Socket, bytes: usize, sockets: &mut dyn Sockets) -> bool {
        let Some(layers) = self.layers(socket) else { return false };
        layers.came_late += bytes;
        let came_late = layers.came_late;
        let is_reported = |sockets: &mut dyn Sockets| sockets.unacknowledged(socket).is_none_or(|bytes| bytes == 0);
        came_late > CLOSING_BYTES_MAX && (came_late > CLOSING_BYTES_UNTOLD_MAX || is_reported(sockets))
    }

    /// Whether the connection speaks HTTP/2 once its handshake is over; `None` when that is not what was requested.
    fn speaks_http2(&mut self, socket: Socket) -> Option<bool> {
        let connection = self.pool.connections.find(socket)?;
        let protocol = self.pool.origins[usize::from(connection.origin)].protocol();
        let Some(layers) = &connection.layers else { return Some(false) };
        let agreed = layers.tls.as_ref().map(|session| session.alpn() == Some(b"h2"));
        match (protocol, agreed) {
            (Protocol::Http1 | Protocol::WebSocket | Protocol::Tcp | Protocol::Custom, _)
            | (Protocol::Negotiated, None) => Some(false),
            (Protocol::Http2, Some(false)) => None,
            (Protocol::Http2, _) => Some(true),
            (Protocol::Negotiated, Some(is_http2)) => Some(is_http2),
        }
    }

    /// The connection can carry requests: the one for which it was opened is sent.
    pub(in crate::scenario_runtime) fn ready(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(is_http2) = self.speaks_http2(socket) else {
            return self.lose_connection(socket, Failure::Tls(metrics::TlsFault::NoProtocol), at, sockets);
        };
        if !is_http2 {
            // Its responses are timed as well, and their speed is unknown.
            self.pool.links.read_coalescer.end();
            if !self.begin_messaging(socket, sockets) {
                self.ready_alone(socket, at, sockets);
            }
            return;
        }
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let (attempt, user) = match connection.phase {
            Phase::Connect { attempt, .. } => (Some(attempt), None),
            Phase::Prepare { user, .. } => (None, Some(user)),
            _ => return,
        };
        self.pool.connections.turn_into(socket, Phase::Shared);
        self.pool.reachability_guard.was_connected = true;
        self.unreported.counts[Counter::ConnectionsEstablished] += 1;
        if self.pool.addresses.rotate {
            self.count_established(socket);
        }
        self.ready_for_streams(socket, attempt, user, at, sockets);
    }

    fn ready_for_streams(
        &mut self,
        socket: Socket,
        attempt: Option<Key>,
        user: Option<u32>,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(layers) = self.layers(socket) else { return };
        let mut line = AnyConnection::Http2(Box::<Http2>::default());
        line.start(&mut layers.out);
        (layers.line, layers.received_at) = (Some(line), at);
        if let Some(attempt) = attempt {
            layers.waiting.push_front(attempt);
        }
        let link = layers.link;
        let link = self.free_link(link, socket);
        if let Some(layers) = self.layers(socket) {
            layers.link = link;
        }
        self.pool.links.sockets[link] = Some(socket);
        self.soil(socket);
        self.start_waiting(socket);
        if self.pool.is_used_up(socket) {
            self.leave_at_limit(socket, sockets);
        }
        if let Some(user) = user {
            self.advance_user(user, LastExchange::Nothing, at, at, sockets);
        }
    }
}

#[cfg(test)]
impl ScenarioRuntime {
    /// Users share connections.
    pub(in crate::scenario_runtime) fn shares_connections(&self) -> bool {
        !self.pool.links.sockets.is_empty()
    }
}

impl Layers {
    /// A body that ends with the connection is complete only if TLS reported its end (RFC 9112, 9.8).
    #[inline]
    pub(in crate::scenario_runtime) fn may_be_cut(&self) -> bool {
        let outer = || self.passage.as_ref().and_then(|passage| passage.outer());
        self.tls.as_ref().or_else(outer).is_some_and(|session| !session.is_closed_by_peer())
    }

    /// The way to the target is not open yet.
    fn is_passing(&self) -> bool {
        self.passage.as_ref().is_some_and(|passage| passage.is_passing())
    }

    /// Takes all attempts, with a stream or waiting for one: none of them stays.
    pub(in crate::scenario_runtime) fn take_attempts(&mut self) -> (Vec<u64>, VecDeque<Key>) {
        let streams = self.line.as_mut().map(|line| line.take_unprocessed(0)).unwrap_or_default();
        (streams, std::mem::take(&mut self.waiting))
    }

    /// The connection takes the requests of its link.
    pub(in crate::scenario_runtime) fn is_linked_in(&self, links: &Links, socket: Socket) -> bool {
        links.sockets.get(self.link) == Some(&Some(socket))
    }

    /// When frames last came.
    pub(in crate::scenario_runtime) fn received_at(&self) -> Nanos {
        self.received_at
    }

    /// No stream is open.
    pub(in crate::scenario_runtime) fn is_idle(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.is_idle())
    }

    /// What is sent is sealed by TLS.
    pub(in crate::scenario_runtime) fn is_sealed(&self) -> bool {
        self.tls.is_some() || self.passage.as_ref().is_some_and(|passage| passage.outer().is_some())
    }

    /// The peer has ended the TLS session.
    pub(in crate::scenario_runtime) fn peer_closed_tls(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| !session.is_handshaking() && session.is_closed_by_peer())
    }

    /// Ends the TLS session. False without one that could be ended.
    pub(in crate::scenario_runtime) fn say_goodbye(&mut self, out: &mut Vec<u8>) -> bool {
        self.tls.as_mut().is_some_and(|session| session.close(out).is_ok())
    }

    /// The TLS handshake is in progress.
    pub(in crate::scenario_runtime) fn is_shaking(&self) -> bool {
        self.tls.as_ref().is_some_and(Session::is_handshaking)
    }
}
