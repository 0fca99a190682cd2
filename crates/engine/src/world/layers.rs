//! What stands between a socket and the exchanges on it: TLS, and the streams of HTTP/2.
//!
//! A connection of plain HTTP/1 has none of it. One of HTTP/2 serves a *link*: the users of so many streams, whose requests are
//! framed one after the other and leave in one piece at the end of the turn.

use std::collections::VecDeque;
use std::sync::Arc;

use driver::{Outgoing, Socket, Sockets};
use metrics::{Failure, Outcome, PartKind};
use pacing::Nanos;
use plan::Protocol;
use wire::hpack::FieldList;
use wire::http2::{self, Event, Fault};
use wire::tls::Session;

use super::World;
use super::calls::CallState;
use super::connections::{Connection, Phase};
use super::exchanges::{Attempt, TRIES_MAX};
use super::origins::Origin;
use super::step::PreparedCall;
use super::talks::TalkState;
use crate::faults;
use crate::slab::Key;
use crate::user::View;

/// The error code of a stream that was refused: its request was not looked at (RFC 9113, 8.7).
const REFUSED_STREAM: u32 = http2::Code::RefusedStream as u32;
/// A stream that is not wanted any more.
const CANCEL: u32 = http2::Code::Cancel as u32;
/// A connection on which a request timed out, and nothing came for so long, takes no further ones.
const SILENCE_MAX: Nanos = Nanos::from_millis(5_000);
/// Buffers that are kept for later.
const SPARE_MAX: usize = 64;
/// A buffer that grew beyond this is not kept.
const SPARE_BYTES_MAX: usize = 256 * 1024;

/// A peer that was told goodbye, and should close now, may send so much more: what was on its way. Beyond it we stop to read and close,
/// or it would keep us reading for as long as we wait.
const CLOSING_BYTES_MAX: usize = 256 * 1024;
/// So much more while its kernel has not acknowledged the goodbye: a close with bytes unread would take that back.
const CLOSING_BYTES_UNTOLD_MAX: usize = 4 * 1024 * 1024;

/// An attempt that is given up.
pub(super) struct Given {
    pub(super) key: Key,
    pub(super) socket: Socket,
    pub(super) stream: u32,
    pub(super) sent: Nanos,
}

/// Messages of a stream that windows hold back.
pub(super) struct Held {
    pub(super) stream: u32,
    pub(super) count: u64,
}

/// See the module.
pub(crate) struct Layers {
    tls: Option<Session>,
    http2: Option<http2::Client>,
    pub(super) talk: Option<Box<TalkState>>,
    /// Frames that leave with the next piece, and the attempts whose requests are among them.
    out: Vec<u8>,
    leaving: Vec<Key>,
    /// Messages that are to be counted when they are framed.
    held: Vec<Held>,
    /// Attempts that wait for the connection, or for a stream of it.
    waiting: VecDeque<Key>,
    link: usize,
    /// Bytes that were handed to the socket.
    pub(super) handed: u64,
    /// Bytes that came while the peer's close was awaited.
    came_late: usize,
    /// When the TLS handshake began.
    shakes_since: Nanos,
    /// When frames came the last time.
    heard_at: Nanos,
    is_dirty: bool,
}

/// What a shard keeps for connections with layers.
#[derive(Default)]
pub(crate) struct Links {
    /// The connection of each link that takes requests, origin by origin; empty when no connection is shared.
    sockets: Vec<Option<Socket>>,
    /// Links to each origin.
    each: usize,
    /// Connections that have something to send.
    dirty: Vec<Socket>,
    plain: Vec<u8>,
    fields: FieldList,
    spare: Vec<Vec<u8>>,
}

impl Links {
    pub(super) fn new(origins: &[Origin], users: u64, streams: u32) -> Self {
        let mut links = Self { each: users.div_ceil(u64::from(streams)) as usize, ..Self::default() };
        links.make_room(origins.len(), origins.iter().any(Origin::is_shared));
        links
    }

    /// There are so many origins; one of them has connections that are shared.
    pub(super) fn make_room(&mut self, origins: usize, is_shared: bool) {
        if is_shared || !self.sockets.is_empty() {
            self.sockets.resize(origins * self.each, None);
        }
    }

    /// There are more users than before.
    pub(super) fn make_room_for(&mut self, users: u64, streams: u32, origins: usize, is_shared: bool) {
        let (before, each) = (self.each, users.div_ceil(u64::from(streams)) as usize);
        if each > before && (is_shared || !self.sockets.is_empty()) {
            let old = std::mem::take(&mut self.sockets);
            self.sockets.resize(origins * each, None);
            for (index, socket) in old.into_iter().enumerate() {
                self.sockets[index / before * each + index % before] = socket;
            }
        }
        self.each = each.max(before);
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

impl World {
    /// The connection that the users of a link share, when it is there or on its way.
    pub(super) fn shared_connection(&self, user: u32, origin: u16) -> Option<Socket> {
        if self.links.sockets.is_empty() {
            return None;
        }
        self.links.sockets[self.link_of(user, origin)]
    }

    fn link_of(&self, user: u32, origin: u16) -> usize {
        usize::from(origin) * self.links.each + (user / self.work.streams) as usize
    }

    /// A new connection gets the layers that its target wants.
    pub(super) fn add_layers(&mut self, socket: Socket, user: u32, origin: u16) {
        let link = if self.links.sockets.is_empty() { 0 } else { self.link_of(user, origin) };
        let layers = Layers {
            tls: None,
            http2: None,
            talk: None,
            out: Vec::new(),
            leaving: Vec::new(),
            held: Vec::new(),
            waiting: VecDeque::new(),
            link,
            handed: 0,
            came_late: 0,
            shakes_since: Nanos::NEVER,
            heard_at: Nanos::ZERO,
            is_dirty: false,
        };
        if let Some(connection) = self.connections.find(socket) {
            connection.layers = Some(Box::new(layers));
        }
        if self.origins[usize::from(origin)].protocol() == Protocol::Http2 {
            // Those who come later wait for this one.
            self.links.sockets[link] = Some(socket);
        }
    }

    pub(super) fn layers(&mut self, socket: Socket) -> Option<&mut Layers> {
        self.connections.find(socket)?.layers.as_deref_mut()
    }

    /// The socket is connected: the handshake begins. False when there is none to make.
    pub(super) fn begin_handshake<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) -> bool {
        let Some(origin) = self.connections.find(socket).map(|connection| connection.origin) else { return false };
        let Some(tls) = &self.origins[usize::from(origin)].tls else { return false };
        let mut flight = self.links.buffer();
        let begun = tls.session().and_then(|mut session| session.start(&mut flight).map(|()| session));
        let session = match begun {
            Ok(session) => session,
            Err(fault) => {
                self.lose(socket, faults::tls(fault), at, sockets);
                return true;
            }
        };
        if let Some(layers) = self.layers(socket) {
            (layers.tls, layers.shakes_since) = (Some(session), at);
        }
        self.send_lent(socket, flight, sockets);
        true
    }

    /// Sends bytes, sealed where there is TLS. False when the session is broken, and the connection lost.
    pub(super) fn send_through<S: Sockets>(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut S) -> bool {
        let mut sealed = self.links.buffer();
        let session = self.layers(socket).and_then(|layers| layers.tls.as_mut());
        match session.map(|session| session.seal(&bytes, &mut sealed)) {
            None => self.send_lent(socket, bytes, sockets),
            Some(Ok(())) => self.send_lent(socket, sealed, sockets),
            Some(Err(fault)) => {
                let now = sockets.now();
                self.lose(socket, faults::tls(fault), now, sockets);
                return false;
            }
        }
        true
    }

    pub(super) fn send_lent<S: Sockets>(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut S) {
        self.count_handed(socket, bytes.len());
        sockets.send(socket, Outgoing::Lent(bytes));
    }

    /// Bytes go to a socket with layers.
    pub(super) fn count_handed(&mut self, socket: Socket, bytes: usize) {
        self.seen.counts.bytes_handed += bytes as u64;
        if let Some(layers) = self.layers(socket) {
            layers.handed += bytes as u64;
        }
    }

    /// Bytes that were handed to a socket with layers.
    pub(super) fn handed_to(&mut self, socket: Socket) -> u64 {
        self.layers(socket).map_or(0, |layers| layers.handed)
    }

    /// Bytes came on a connection with layers.
    pub(super) fn received_in_layers<S: Sockets>(
        &mut self,
        socket: Socket,
        bytes: &mut [u8],
        at: Nanos,
        sockets: &mut S,
    ) {
        let Some(connection) = self.connections.find(socket) else { return };
        let is_new = matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. });
        if connection.phase == Phase::Close && self.comes_too_late(socket, bytes.len(), sockets) {
            return self.close(socket, sockets);
        }
        let Some(connection) = self.connections.find(socket) else { return };
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let Some(session) = &mut layers.tls else { return self.received_plain(socket, bytes, at, sockets) };
        let (mut plain, mut back) = (std::mem::take(&mut self.links.plain), self.links.buffer());
        plain.clear();
        let fed = session.feed(bytes, &mut plain, &mut back);
        // A conversation that has begun is not new any more.
        let is_ready = is_new && layers.talk.is_none() && !session.is_handshaking();
        let (is_resumed, is_closed) = (session.is_resumed(), session.is_closed_by_peer());
        let since = layers.shakes_since;
        if back.is_empty() {
            self.links.give_back(back);
        } else {
            self.send_lent(socket, back, sockets);
        }
        match fed {
            Err(fault) => {
                // What came whole before the fault counts, however the bytes were cut.
                if !is_new && !plain.is_empty() {
                    self.received_plain(socket, &mut plain, at, sockets);
                }
                self.lose(socket, faults::tls(fault), at, sockets);
            }
            Ok(()) => {
                if is_ready {
                    self.seen.tls.record(at.since(since).0);
                    self.seen.counts.tls_resumed += u64::from(is_resumed);
                    self.ready(socket, at, sockets);
                }
                if !plain.is_empty() {
                    self.received_plain(socket, &mut plain, at, sockets);
                }
                if is_closed {
                    self.peer_says_goodbye(socket, at, sockets);
                }
            }
        }
        self.links.plain = plain;
    }

    /// A peer that was told goodbye sends on and on.
    #[cold]
    fn comes_too_late<S: Sockets>(&mut self, socket: Socket, bytes: usize, sockets: &mut S) -> bool {
        let Some(layers) = self.layers(socket) else { return false };
        layers.came_late += bytes;
        let came_late = layers.came_late;
        let is_told = |sockets: &mut S| sockets.unacknowledged(socket).is_none_or(|bytes| bytes == 0);
        came_late > CLOSING_BYTES_MAX && (came_late > CLOSING_BYTES_UNTOLD_MAX || is_told(sockets))
    }

    /// What the connection speaks once its handshake is over; `None` when that is not what was asked for.
    fn speaks_http2(&mut self, socket: Socket) -> Option<bool> {
        let connection = self.connections.find(socket)?;
        let protocol = self.origins[usize::from(connection.origin)].protocol();
        let Some(layers) = &connection.layers else { return Some(false) };
        let agreed = layers.tls.as_ref().map(|session| session.alpn() == Some(b"h2"));
        match (protocol, agreed) {
            (Protocol::Http1 | Protocol::WebSocket | Protocol::Tcp, _) | (Protocol::Negotiated, None) => Some(false),
            (Protocol::Http2, Some(false)) => None,
            (Protocol::Http2, _) => Some(true),
            (Protocol::Negotiated, Some(is_http2)) => Some(is_http2),
        }
    }

    /// The connection can carry requests: the one for which it was opened goes out.
    pub(super) fn ready<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) {
        let Some(is_http2) = self.speaks_http2(socket) else {
            return self.lose(socket, Failure::Tls(metrics::TlsFault::NoProtocol), at, sockets);
        };
        if !is_http2 {
            if !self.begin_talk(socket, sockets) {
                self.ready_for_http1(socket, at, sockets);
            }
            return;
        }
        let Some(connection) = self.connections.find(socket) else { return };
        let (attempt, user) = match connection.phase {
            Phase::Connect { attempt, .. } => (Some(attempt), None),
            Phase::Prepare { user, .. } => (None, Some(user)),
            _ => return,
        };
        connection.phase = Phase::Shared;
        self.hope.was_connected = true;
        self.seen.counts.connections_established += 1;
        self.ready_for_streams(socket, attempt, user, at, sockets);
    }

    fn ready_for_streams<S: Sockets>(
        &mut self,
        socket: Socket,
        attempt: Option<Key>,
        user: Option<u32>,
        at: Nanos,
        sockets: &mut S,
    ) {
        let Some(layers) = self.layers(socket) else { return };
        let mut client = http2::Client::default();
        client.start(&mut layers.out);
        (layers.http2, layers.heard_at) = (Some(client), at);
        if let Some(attempt) = attempt {
            layers.waiting.push_front(attempt);
        }
        let link = layers.link;
        self.links.sockets[link] = Some(socket);
        self.soil(socket);
        self.start_waiting(socket);
        if let Some(user) = user {
            self.next(user, View::Nothing, at, at, sockets);
        }
    }

    /// Something is to be sent when this event has been handled.
    fn soil(&mut self, socket: Socket) {
        if let Some(layers) = self.layers(socket)
            && !std::mem::replace(&mut layers.is_dirty, true)
        {
            self.links.dirty.push(socket);
        }
    }

    /// An attempt on a connection that others use too: it gets a stream, or waits for one.
    pub(super) fn share<S: Sockets>(&mut self, exchange: Key, socket: Socket, step: usize, sockets: &mut S) {
        let now = sockets.now();
        let Some(known) = self.exchanges.find(exchange) else { return };
        let (intended, is_first_try, is_measured) = (known.intended, known.tries == 0, known.is_measured);
        let attempt = self.insert_attempt(exchange, step, is_measured, socket);
        let Some(layers) = self.layers(socket) else { return };
        layers.waiting.push_back(attempt);
        self.start_waiting(socket);
        if self.attempts.find(attempt).is_some_and(|attempt| attempt.stream == 0) {
            let mut deadline = now + self.steps[step].connect_timeout;
            if let Some(open) = self.open.as_ref().filter(|_| is_first_try) {
                deadline = deadline.min(open.send_before(intended));
            }
            self.arm(attempt, deadline);
        }
    }

    /// Attempts that wait get streams, as many as there are.
    fn start_waiting(&mut self, socket: Socket) {
        let mut has_begun = false;
        while let Some(connection) = self.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(client) = &mut layers.http2
            && client.can_send()
            && let Some(key) = layers.waiting.pop_front()
        {
            // One that waited too long is gone already.
            let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.socket == socket) else { continue };
            let Some(exchange) = self.exchanges.find(attempt.exchange) else { continue };
            let Some(request) = &self.steps[exchange.step as usize].http2 else { continue };
            let call = self.steps[exchange.step as usize].call.as_ref();
            attempt.call = call.map(|call| CallState::new(call.is_stream));
            attempt.stream = client.send(request, key.to_bits(), &mut layers.out);
            if call.is_some_and(PreparedCall::is_empty) {
                client.send_more(attempt.stream, Arc::new([]), true, &mut layers.out);
            }
            layers.leaving.push(key);
            has_begun = true;
        }
        if has_begun {
            self.soil(socket);
        }
    }

    /// All that was framed since the last time leaves.
    #[cold]
    pub(super) fn flush<S: Sockets>(&mut self, sockets: &mut S) {
        while let Some(socket) = self.links.dirty.pop() {
            let mut buffer = self.links.buffer();
            let Some(layers) = self.layers(socket) else {
                self.links.give_back(buffer);
                continue;
            };
            layers.is_dirty = false;
            let sealed = match &mut layers.tls {
                Some(session) => session.seal(&layers.out, &mut buffer).map(|()| layers.out.clear()),
                None => {
                    std::mem::swap(&mut layers.out, &mut buffer);
                    Ok(())
                }
            };
            let mut leaving = std::mem::take(&mut layers.leaving);
            if let Err(fault) = sealed {
                let now = sockets.now();
                self.lose(socket, faults::tls(fault), now, sockets);
                continue;
            }
            let (sent, begins) = (sockets.now(), self.handed_to(socket));
            self.send_lent(socket, buffer, sockets);
            for key in leaving.drain(..) {
                self.mark_sent(key, sent, begins);
            }
            if let Some(layers) = self.layers(socket) {
                layers.leaving = leaving;
            }
        }
    }

    /// The request is in a piece that left, which begins behind so many bytes.
    fn mark_sent(&mut self, key: Key, sent: Nanos, begins: u64) {
        let Some(attempt) = self.attempts.find(key) else { return };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        (attempt.sent, attempt.begins) = (sent, begins);
        let deadline = sent + self.steps[exchange.step as usize].timeout;
        self.seen.counts.sent += u64::from(exchange.is_measured);
        let is_call = attempt.call.is_some();
        self.arm(key, deadline);
        if is_call {
            self.call_sent(key, sent);
        }
    }

    /// More on a stream that was kept open.
    pub(super) fn send_more(&mut self, socket: Socket, stream: u32, bytes: Arc<[u8]>, ends: bool) {
        let Some(layers) = self.layers(socket) else { return };
        if let Some(client) = &mut layers.http2 {
            client.send_more(stream, bytes, ends, &mut layers.out);
            self.soil(socket);
        }
    }

    /// A request of HTTP/1 leaves through TLS. Gives the instant.
    pub(super) fn send_sealed<S: Sockets>(&mut self, socket: Socket, step: usize, sockets: &mut S) -> Option<Nanos> {
        let mut buffer = self.links.buffer();
        let connection = self.connections.find(socket)?;
        let session = connection.layers.as_deref_mut()?.tls.as_mut()?;
        if let Err(fault) = session.seal(&self.steps[step].request, &mut buffer) {
            let now = sockets.now();
            self.lose(socket, faults::tls(fault), now, sockets);
            return None;
        }
        let sent = sockets.now();
        self.send_lent(socket, buffer, sockets);
        Some(sent)
    }

    /// The kernel took a buffer: what was held back follows.
    #[inline(never)]
    pub(super) fn taken<S: Sockets>(&mut self, socket: Socket, buffer: Option<Vec<u8>>, sockets: &mut S) {
        if let Some(buffer) = buffer {
            self.links.give_back(buffer);
        }
        if self.is_talk {
            return self.message_taken(socket, sockets);
        }
        self.resume(socket);
    }

    fn resume(&mut self, socket: Socket) {
        let Some(layers) = self.layers(socket) else { return };
        let Some(client) = layers.http2.as_mut().filter(|client| client.holds_back()) else { return };
        client.resume(&mut layers.out);
        let (mut framed, is_dirty) = (0, !layers.out.is_empty());
        layers.held.retain(|held| {
            let is_held = client.holds_back_of(held.stream);
            // A stream that ended before it was framed took its messages with it.
            framed += if !is_held && client.has(held.stream) { held.count } else { 0 };
            is_held
        });
        self.seen.counts.messages_sent += framed;
        if is_dirty {
            self.soil(socket);
        }
    }

    pub(super) fn is_held_back(&mut self, socket: Socket, stream: u32) -> bool {
        let client = self.layers(socket).and_then(|layers| layers.http2.as_mut());
        client.is_some_and(|client| client.holds_back_of(stream))
    }

    pub(super) fn hold_messages(&mut self, socket: Socket, held: Held) {
        if let Some(layers) = self.layers(socket) {
            layers.held.push(held);
        }
    }

    /// Frames came.
    pub(super) fn read_frames<S: Sockets>(&mut self, socket: Socket, bytes: &[u8], at: Nanos, sockets: &mut S) {
        if let Some(layers) = self.layers(socket) {
            layers.heard_at = at;
        }
        let mut fields = std::mem::take(&mut self.links.fields);
        let mut rest = bytes;
        while let Some(connection) = self.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(client) = &mut layers.http2
        {
            match client.handle(rest, &mut fields, &mut layers.out) {
                Ok((taken, Event::Broken { tag, fault, .. })) => {
                    rest = &rest[taken..];
                    // What was wrong with a head stands in it.
                    if let Some(attempt) = self.attempts.find(Key::from_bits(tag)).filter(|_| fault == Fault::Headers) {
                        attempt.record_fields(PartKind::Head, &fields);
                    }
                    self.end_attempt(Key::from_bits(tag), Outcome::Failed(faults::http2(fault)), at, sockets);
                }
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    let is_done = matches!(event, Event::NeedMore) && rest.is_empty();
                    self.act_on(socket, &event, at, sockets);
                    if is_done {
                        break;
                    }
                }
                Err(error) => {
                    self.record_broken(socket, rest);
                    self.part(socket, faults::http2(error.fault), at, sockets);
                    break;
                }
            }
        }
        self.links.fields = fields;
        self.start_waiting(socket);
        if self.layers(socket).is_some_and(|layers| !layers.out.is_empty()) {
            self.soil(socket);
        }
        self.retire(socket, at, sockets);
    }

    /// The peer has broken the protocol, and hears so before it is left: a close with bytes unread would take that back.
    fn part<S: Sockets>(&mut self, socket: Socket, failure: Failure, at: Nanos, sockets: &mut S) {
        self.flush_last(socket, sockets);
        self.unlink(socket);
        let Some(connection) = self.connections.find(socket) else { return };
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let (streams, waiting) = layers.take_attempts();
        sockets.shutdown(socket);
        self.await_close(socket, at, sockets);
        self.end_streams(streams, u64::MAX, failure, at, sockets);
        for key in waiting {
            self.retry(key, failure, at, sockets);
        }
    }

    fn flush_last<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) {
        self.soil(socket);
        self.flush(sockets);
    }

    fn act_on<S: Sockets>(&mut self, socket: Socket, event: &Event<'_>, at: Nanos, sockets: &mut S) {
        match *event {
            Event::NeedMore | Event::Nothing | Event::Request { .. } | Event::Broken { .. } => {}
            Event::Settings | Event::Window => self.resume(socket),
            Event::Interim { tag, fields } => {
                self.hear_first(Key::from_bits(tag), at);
                if let Some(attempt) = self.attempts.find(Key::from_bits(tag)) {
                    attempt.record_fields(PartKind::Head, fields);
                }
            }
            Event::Head { tag, status, is_last, fields } => {
                let key = Key::from_bits(tag);
                self.hear_first(key, at);
                let has_room = self.has_room_for_head(key, fields);
                if let Some(attempt) = self.attempts.find(key) {
                    attempt.status = Some(status);
                    if attempt.needs.head && !has_room {
                        attempt.kept.get_or_insert_default().is_crowded = true;
                    } else if attempt.needs.head {
                        attempt.keep_fields(status, fields);
                    }
                }
                self.call_head(key, fields, is_last);
                if is_last {
                    self.end_stream(key, at, sockets);
                }
            }
            Event::Body { tag, bytes, is_last, .. } => {
                let key = Key::from_bits(tag);
                self.hear_first(key, at);
                if !self.take_messages(key, bytes, at) {
                    self.take_body(key, bytes);
                }
                if is_last {
                    self.end_stream(key, at, sockets);
                }
            }
            Event::Trailers { tag, fields, .. } => {
                let key = Key::from_bits(tag);
                if let Some(attempt) = self.attempts.find(key) {
                    attempt.record_fields(PartKind::Trailers, fields);
                }
                self.call_trailers(key, fields);
                self.end_stream(key, at, sockets);
            }
            Event::Reset { tag, code: REFUSED_STREAM, .. } => {
                let failure = Failure::StreamReset(REFUSED_STREAM as u8);
                self.retry(Key::from_bits(tag), failure, at, sockets);
            }
            Event::Reset { tag, code, .. } => {
                let key = Key::from_bits(tag);
                // A server that was told the deadline may give the call up just then.
                let is_due = |attempt: &mut Attempt| at >= attempt.deadline;
                let is_due = code == CANCEL && self.attempts.find(key).is_some_and(is_due);
                let expired = if is_due { self.expire_call(key, at) } else { None };
                let reset = Failure::StreamReset(u8::try_from(code).unwrap_or(u8::MAX));
                let ended = expired.or_else(|| self.judge_reset(key, reset));
                self.end_attempt(key, ended.unwrap_or(Outcome::Failed(reset)), at, sockets);
            }
            Event::GoAway { last, .. } => self.go_away(socket, last, at, sockets),
        }
    }

    fn hear_first(&mut self, key: Key, at: Nanos) {
        if let Some(attempt) = self.attempts.find(key) {
            attempt.first_byte = attempt.first_byte.min(at);
        }
    }

    /// The peer takes no more requests here: those that it has not looked at go out again elsewhere (RFC 9113, 6.8).
    fn go_away<S: Sockets>(&mut self, socket: Socket, last: u32, at: Nanos, sockets: &mut S) {
        self.unlink(socket);
        let Some(layers) = self.layers(socket) else { return };
        let Some(client) = &mut layers.http2 else { return };
        for key in client.take_unprocessed(last).into_iter().map(Key::from_bits) {
            self.retry(key, Failure::Goaway, at, sockets);
        }
        self.move_waiting(socket, Failure::Goaway, at, sockets);
    }

    /// What waits for a stream of a connection that takes no more requests goes to another.
    fn move_waiting<S: Sockets>(&mut self, socket: Socket, failure: Failure, now: Nanos, sockets: &mut S) {
        let Some(layers) = self.layers(socket) else { return };
        for key in std::mem::take(&mut layers.waiting) {
            self.retry(key, failure, now, sockets);
        }
    }

    /// The connection takes no further requests.
    pub(super) fn unlink(&mut self, socket: Socket) {
        let Some(link) = self.layers(socket).map(|layers| layers.link) else { return };
        if let Some(place) = self.links.sockets.get_mut(link)
            && *place == Some(socket)
        {
            *place = None;
        }
    }

    /// Tries once more what the peer has not looked at.
    pub(super) fn retry<S: Sockets>(&mut self, key: Key, failure: Failure, now: Nanos, sockets: &mut S) {
        let Some(attempt) = self.attempts.find(key) else { return };
        let (exchange, was_sent, was_heard) =
            (attempt.exchange, attempt.was_sent(), attempt.first_byte != Nanos::NEVER);
        let Some(known) = self.exchanges.find(exchange) else { return };
        // Whoever has begun to answer has looked at it.
        if was_heard || known.tries >= TRIES_MAX || known.moves >= TRIES_MAX {
            return self.end_attempt(key, Outcome::Failed(failure), now, sockets);
        }
        if was_sent {
            known.tries += 1;
            self.seen.counts.reconnects += u64::from(known.is_measured);
        } else {
            // The same attempt, on another connection.
            known.moves += 1;
            known.is_moved = true;
        }
        self.attempts.remove(key);
        self.try_exchange(exchange, sockets);
    }

    /// An answer on a stream is complete.
    fn end_stream<S: Sockets>(&mut self, key: Key, now: Nanos, sockets: &mut S) {
        let Some((socket, outcome)) = self.judge(key, now) else { return };
        if let Some(connection) = self.connections.find(socket) {
            let is_first = !std::mem::replace(&mut connection.is_reused, true);
            self.connections.proven += u64::from(is_first);
        }
        // Each step says whether its connection is used again.
        let step = self.attempts.find(key).and_then(|attempt| self.exchanges.find(attempt.exchange));
        if step.is_some_and(|exchange| !self.steps[exchange.step as usize].keep_alive) {
            self.unlink(socket);
        }
        self.end_attempt(key, outcome, now, sockets);
    }

    /// A connection that takes no further requests and has none in flight is closed.
    fn retire<S: Sockets>(&mut self, socket: Socket, now: Nanos, sockets: &mut S) {
        let Some(connection) = self.connections.find(socket) else { return };
        if connection.phase != Phase::Shared {
            return;
        }
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let Some(client) = &mut layers.http2 else { return };
        let (is_over, is_used_up) = (client.streams() == 0, client.is_used_up());
        if is_used_up {
            self.unlink(socket);
            self.move_waiting(socket, Failure::Goaway, now, sockets);
        }
        let is_linked = self.layers(socket).map(|layers| layers.link);
        let is_linked = is_linked.is_some_and(|link| self.links.sockets[link] == Some(socket));
        if is_over && !is_linked {
            if let Some(layers) = self.layers(socket)
                && let Some(client) = &mut layers.http2
            {
                client.leave(&mut layers.out);
            }
            self.flush_last(socket, sockets);
            self.await_close(socket, now, sockets);
        }
    }

    /// What a connection that is not ready in time waits for.
    pub(super) fn unanswered_stage(&mut self, socket: Socket) -> Failure {
        match self.layers(socket) {
            Some(layers) if layers.talk.is_some() => Failure::NoFirstAnswer,
            Some(layers) if layers.tls.is_some() => Failure::Tls(metrics::TlsFault::NoAnswer),
            _ => Failure::ConnectTimeout,
        }
    }

    /// The attempt is given up: its stream, its place in the queue, or the connection that was opened for it.
    pub(super) fn give_up<S: Sockets>(
        &mut self,
        Given { key, socket, stream, sent }: Given,
        is_late: bool,
        now: Nanos,
        sockets: &mut S,
    ) {
        let late = self.unanswered_stage(socket);
        let Some(connection) = self.connections.find(socket) else { return };
        match connection.phase {
            Phase::Shared => {
                let Some(layers) = connection.layers.as_deref_mut() else { return };
                layers.waiting.retain(|waiting| *waiting != key);
                let is_silent = sent != Nanos::NEVER && now.since(layers.heard_at) >= SILENCE_MAX;
                if let Some(client) = layers.http2.as_mut().filter(|_| stream != 0) {
                    client.cancel(stream, &mut layers.out);
                    self.soil(socket);
                }
                if is_silent {
                    // The peer may be gone, and further requests find out on another connection.
                    self.unlink(socket);
                    self.move_waiting(socket, Failure::Timeout, now, sockets);
                }
                self.start_waiting(socket);
                self.retire(socket, now, sockets);
            }
            Phase::Connect { attempt, since } if attempt == key => {
                let is_over = now >= since + self.origins[usize::from(connection.origin)].connect_timeout;
                let attempts = &mut self.attempts;
                let next = connection.layers.as_deref_mut().and_then(|layers| {
                    // One that waited too long is gone already.
                    layers.waiting.retain(|key| attempts.find(*key).is_some());
                    layers.waiting.pop_front()
                });
                match next.filter(|_| is_late && !is_over) {
                    // The connection may come in time for those who came later.
                    Some(next) => connection.phase = Phase::Connect { attempt: next, since },
                    None => {
                        if let Some(next) = next {
                            self.end_attempt(next, Outcome::Failed(late), now, sockets);
                        }
                        self.lose(socket, late, now, sockets);
                    }
                }
            }
            Phase::Connect { .. } | Phase::Prepare { .. } => {
                if let Some(layers) = connection.layers.as_deref_mut() {
                    layers.waiting.retain(|waiting| *waiting != key);
                }
            }
            Phase::Answer { .. } if self.is_talk && sockets.unsent(socket) == 0 => {
                self.say_goodbye(socket, now, sockets);
            }
            Phase::Answer { .. } | Phase::Exchange { .. } | Phase::Close => self.close(socket, sockets),
        }
    }

    /// The connection is of no use any more: it is closed, and all that ran or waited on it fails.
    pub(super) fn lose<S: Sockets>(&mut self, socket: Socket, failure: Failure, at: Nanos, sockets: &mut S) {
        if self.records {
            self.record_begun(socket);
        }
        self.unlink(socket);
        let is_shared = self.connections.find(socket).is_some_and(|connection| connection.phase == Phase::Shared);
        // Only an end that the peer made says what it had taken by then.
        let unacknowledged =
            if is_shared && failure == Failure::ClosedEarly { sockets.unacknowledged(socket) } else { None };
        let untaken = sockets.stop_sending(socket);
        let Some(connection) = self.connections.remove(socket) else { return };
        self.uncount(&connection, untaken);
        sockets.close(socket);
        self.end_all(connection, unacknowledged, failure, at, sockets);
    }

    /// What ran or waited on a connection that is gone, ends. `unacknowledged`: bytes that the peer had not taken, where that is
    /// known.
    pub(super) fn end_all<S: Sockets>(
        &mut self,
        connection: Connection,
        unacknowledged: Option<usize>,
        failure: Failure,
        at: Nanos,
        sockets: &mut S,
    ) {
        match connection.phase {
            Phase::Connect { attempt, .. } => {
                self.hope.failed_connects += 1;
                self.end_attempt(attempt, Outcome::Failed(failure), at, sockets);
            }
            Phase::Answer { attempt } => self.end_attempt(attempt, Outcome::Failed(failure), at, sockets),
            Phase::Prepare { user, .. } => {
                self.hope.failed_connects += 1;
                self.next(user, View::NoConnection, at, at, sockets);
            }
            Phase::Exchange { user } => self.forget_own(user, &connection),
            Phase::Shared | Phase::Close => {}
        }
        let Some(mut layers) = connection.layers else { return };
        let was_ready = layers.http2.is_some();
        // Where it is unknown, the peer may have taken all of it.
        let taken = unacknowledged.filter(|_| connection.is_reused);
        let taken = taken.map_or(u64::MAX, |bytes| layers.handed - bytes as u64);
        let streams = layers.http2.take().map(|mut client| client.take_unprocessed(0)).unwrap_or_default();
        self.end_streams(streams, taken, failure, at, sockets);
        for key in layers.waiting {
            if was_ready {
                // It has not been sent.
                self.retry(key, failure, at, sockets);
            } else {
                self.end_attempt(key, Outcome::Failed(failure), at, sockets);
            }
        }
    }

    /// What ran on streams of a connection that is gone, ends. `taken`: bytes of it that the peer may have seen.
    pub(super) fn end_streams<S: Sockets>(
        &mut self,
        streams: Vec<u64>,
        taken: u64,
        failure: Failure,
        at: Nanos,
        sockets: &mut S,
    ) {
        for key in streams.into_iter().map(Key::from_bits) {
            let Some(attempt) = self.attempts.find(key) else { continue };
            let is_unheard = attempt.first_byte == Nanos::NEVER;
            if !attempt.was_sent() {
                self.retry(key, failure, at, sockets);
                continue;
            }
            if is_unheard && attempt.begins >= taken {
                self.end_stale_attempt(key, failure, at, sockets);
            } else {
                self.end_attempt(key, Outcome::Failed(failure), at, sockets);
            }
        }
    }

    /// A user has left: when it was the last of its link, the connection is closed.
    pub(super) fn leave_link<S: Sockets>(&mut self, user: u32, sockets: &mut S) {
        let streams = self.work.streams as usize;
        let from = user as usize / streams * streams;
        let users = &self.users[from..self.users.len().min(from + streams)];
        if !users.iter().all(|user| user.is_parked) {
            return;
        }
        for origin in 0..self.origins.len() as u16 {
            let link = self.link_of(user, origin);
            if let Some(Some(socket)) = self.links.sockets.get(link).copied() {
                self.unlink(socket);
                let now = sockets.now();
                self.retire(socket, now, sockets);
            }
        }
    }

    /// Bytes that were counted as sent, and that the kernel never took.
    pub(super) fn uncount(&mut self, connection: &Connection, untaken: usize) {
        if connection.layers.is_none() || untaken == 0 {
            return;
        }
        self.seen.counts.bytes_untaken += untaken as u64;
        let talk = connection.layers.as_ref().and_then(|layers| layers.talk.as_deref());
        let is_late = talk.is_some_and(|talk| talk.has_late_message && untaken as u64 > talk.close_bytes);
        self.seen.counts.messages_untaken += u64::from(is_late);
        if let Phase::Answer { attempt } = connection.phase
            && self.is_talk
        {
            // The message that waits for its answer never left as a whole.
            let is_counted = |attempt: &mut Attempt| attempt.was_sent() && attempt.is_measured;
            self.seen.counts.messages_untaken += u64::from(self.attempts.find(attempt).is_some_and(is_counted));
        }
    }
}

#[cfg(test)]
impl World {
    /// Users share connections.
    pub(super) fn shares_connections(&self) -> bool {
        !self.links.sockets.is_empty()
    }
}

impl Layers {
    /// A body that ends with the connection is whole only if TLS says that it ended (RFC 9112, 9.8).
    #[inline]
    pub(super) fn may_be_cut(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| !session.is_closed_by_peer())
    }

    /// Whoever has a stream, and whoever waits for one: none of them stays.
    pub(super) fn take_attempts(&mut self) -> (Vec<u64>, VecDeque<Key>) {
        let streams = self.http2.as_mut().map(|client| client.take_unprocessed(0)).unwrap_or_default();
        (streams, std::mem::take(&mut self.waiting))
    }

    /// The peer has ended the session of TLS.
    pub(super) fn was_told(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| !session.is_handshaking() && session.is_closed_by_peer())
    }

    /// Ends the session of TLS. False without one that could be ended.
    pub(super) fn say_goodbye(&mut self, out: &mut Vec<u8>) -> bool {
        self.tls.as_mut().is_some_and(|session| session.close(out).is_ok())
    }

    /// The TLS handshake has begun and is not over.
    pub(super) fn is_shaking(&self) -> bool {
        self.tls.as_ref().is_some_and(Session::is_handshaking)
    }
}
