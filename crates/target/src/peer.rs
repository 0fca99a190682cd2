//! A connection of the target for any protocol: with or without TLS, HTTP/1 or HTTP/2.

use driver::{ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets, Template};
use pacing::Nanos;
use std::net::SocketAddr;
use std::sync::Arc;
use wire::http2::PREFACE;
use wire::tls::Session;
use wire::websocket;

use crate::connection::Connection;
use crate::custom::{Custom, CustomReply};
use crate::front::{Front, FrontEvent, Opened};
use crate::handshakes::{self, HandshakeRefusal};
use crate::happened::{Happened, Wait};
use crate::messaging::{Messaging, TalkProtocol};
use crate::rooms::RoomMessage;
use crate::streams::Streams;
use crate::tools::Tools;

/// Bytes of the preface that distinguish HTTP/2 from an HTTP/1 request: none has the method PRI.
const TELLING_BYTES: usize = 4;
/// Maximum bytes buffered while a connection is not read; beyond it the peer has to wait.
const HELD_BYTES_MAX: usize = 64 * 1024;

enum Speaks {
    /// The protocol is not known yet.
    Undecided,
    Http1(Box<Connection>),
    Http2(Box<Streams>),
    Messaging(Messaging),
    Custom(Box<Custom>),
}

pub(crate) struct Peer {
    socket: Socket,
    /// What may come before everything else.
    front: Option<Box<Front>>,
    tls: Option<Box<Session>>,
    speaks: Speaks,
    /// Bytes that arrived before the protocol was known, or while the connection is not read.
    held: Vec<u8>,
    /// The instant until which it is not read.
    alone_until: Option<Nanos>,
    /// Set once our side is finished: the instant until which the peer's close is awaited.
    drains_until: Option<Nanos>,
    /// Whether it has requested a freeze.
    requested_freeze: bool,
}

impl Peer {
    pub(crate) fn new(socket: Socket, tls: Option<Session>, alone_until: Option<Nanos>) -> Self {
        let tls = tls.map(Box::new);
        let (speaks, held) = (Speaks::Undecided, Vec::new());
        Self { socket, front: None, tls, speaks, held, alone_until, drains_until: None, requested_freeze: false }
    }

    /// The same behind a front.
    pub(crate) fn with_front(self) -> Self {
        Self { front: Some(Box::default()), ..self }
    }

    /// The same with the custom protocol of the server instead of HTTP.
    pub(crate) fn with_protocol(self) -> Self {
        Self { speaks: Speaks::Custom(Box::new(Custom::new(self.socket))), ..self }
    }

    /// Begins a connection of a custom protocol, when nothing has to come before.
    pub(crate) fn begin(&mut self, tools: &mut Tools) {
        let is_secured = self.tls.as_ref().is_none_or(|session| !session.is_handshaking());
        if let Speaks::Custom(custom) = &mut self.speaks
            && self.alone_until.is_none()
            && self.front.is_none()
            && is_secured
        {
            custom.open(tools);
        }
    }

    /// Sends a reply of the service of a custom protocol.
    pub(crate) fn reply(&mut self, reply: CustomReply, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Speaks::Custom(custom) = &mut self.speaks else { return Wait::More };
        match &mut self.tls {
            None => custom.send(reply, tools, sockets),
            Some(session) => {
                let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
                custom.send(reply, tools, &mut sealed)
            }
        }
    }

    /// Passes on a message of its room.
    pub(crate) fn deliver(&mut self, message: &RoomMessage, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Speaks::Messaging(messaging) = &mut self.speaks else { return Wait::More };
        match &mut self.tls {
            None => messaging.deliver(message, tools, sockets),
            Some(session) => {
                let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
                messaging.deliver(message, tools, &mut sealed)
            }
        }
    }

    /// Closes a connection of a custom protocol once its bytes are sent.
    pub(crate) fn close(&mut self, sockets: &mut dyn Sockets) -> Wait {
        match &mut self.speaks {
            Speaks::Custom(custom) => custom.close(sockets),
            _ => Wait::More,
        }
    }

    /// A plain TCP connection without HTTP.
    pub(crate) fn for_tcp(socket: Socket, now: Nanos, tools: &mut Tools) -> Self {
        Self {
            speaks: Speaks::Messaging(Messaging::start(socket, TalkProtocol::Tcp, now, tools)),
            ..Self::new(socket, None, None)
        }
    }

    /// The connection is gone.
    pub(crate) fn ended(&mut self, now: Nanos, tools: &mut Tools) {
        if std::mem::take(&mut self.requested_freeze) {
            tools.agreed().asker_left(now);
        }
        match &self.speaks {
            Speaks::Messaging(messaging) => messaging.ended(tools),
            Speaks::Custom(custom) => custom.ended(tools),
            Speaks::Undecided | Speaks::Http1(_) | Speaks::Http2(_) => {}
        }
    }

    /// Records that it requests a freeze.
    pub(crate) fn asks_freeze(&mut self, tools: &Tools) {
        if !std::mem::replace(&mut self.requested_freeze, true) {
            tools.agreed().asker_came();
        }
    }

    pub(crate) fn socket(&self) -> Socket {
        self.socket
    }

    /// Whether one of its requests waits at a gate.
    pub(crate) fn waits_at_gate(&self) -> bool {
        match &self.speaks {
            Speaks::Http1(one) => one.waits_at_gate(),
            Speaks::Http2(many) => many.waits_at_gate(),
            Speaks::Undecided | Speaks::Messaging(_) | Speaks::Custom(_) => false,
        }
    }

    /// Ends our side, and waits for the peer's close until `until`.
    pub(crate) fn drain_until(&mut self, until: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) {
        if let Some(session) = &mut self.tls {
            let mut goodbye = tools.buffer();
            if session.close(&mut goodbye).is_ok() {
                sockets.send(self.socket, Outgoing::Lent(goodbye));
            }
        }
        self.drains_until = Some(until);
        self.ended(sockets.now(), tools);
        (self.speaks, self.held) = (Speaks::Undecided, Vec::new());
    }

    pub(crate) fn happened(&mut self, what: Happened<'_>, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        if let Some(until) = self.drains_until {
            return match what {
                Happened::PeerClosed => Wait::Nothing,
                Happened::Due(now) if until <= now => Wait::Nothing,
                _ => Wait::More,
            };
        }
        if let Some(until) = self.alone_until {
            match what {
                Happened::Due(now) if until <= now => {
                    self.alone_until = None;
                    tools.stats().accept_delays.add(1);
                    let mut held = std::mem::take(&mut self.held);
                    sockets.receive(self.socket, true);
                    return self.happened(Happened::Received(&mut held, now), tools, sockets);
                }
                Happened::Received(bytes, _) => {
                    let was_read = self.held.len() <= HELD_BYTES_MAX;
                    self.held.extend_from_slice(bytes);
                    if was_read && self.held.len() > HELD_BYTES_MAX {
                        tools.stats().reads_paused.add(1);
                        sockets.receive(self.socket, false);
                    }
                }
                Happened::PeerClosed => return Wait::Nothing,
                Happened::Sent | Happened::Due(_) | Happened::GateOpened => {}
            }
            return Wait::More;
        }
        if self.front.is_some() {
            return match what {
                Happened::Received(bytes, at) => self.through_front(bytes, at, tools, sockets),
                Happened::PeerClosed => Wait::Nothing,
                Happened::Sent | Happened::Due(_) | Happened::GateOpened => Wait::More,
            };
        }
        let Some(mut session) = self.tls.take() else { return self.act(what, tools, sockets) };
        let wait = self.through_tls(&mut session, what, tools, sockets);
        self.tls = Some(session);
        wait
    }

    /// Reads what comes before the requests.
    fn through_front(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Some(mut front) = self.front.take() else { return Wait::More };
        let (mut back, mut opened) = (tools.buffer(), Opened::default());
        let event = front.read(bytes, &mut back, &mut opened);
        tools.stats().tunnels.add(opened.tunnels);
        tools.stats().proxy_headers.add(opened.headers);
        if back.is_empty() {
            tools.give_back(back);
        } else {
            sockets.send(self.socket, Outgoing::Lent(back));
        }
        match event {
            FrontEvent::NeedMore => {
                self.front = Some(front);
                Wait::More
            }
            FrontEvent::Refused => Wait::PeerClose,
            FrontEvent::Over(rest) if rest.is_empty() => Wait::More,
            FrontEvent::Over(mut rest) => self.happened(Happened::Received(&mut rest, at), tools, sockets),
        }
    }

    fn through_tls(
        &mut self,
        session: &mut Session,
        what: Happened<'_>,
        tools: &mut Tools,
        sockets: &mut dyn Sockets,
    ) -> Wait {
        let Happened::Received(bytes, at) = what else {
            let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
            return self.act(what, tools, &mut sealed);
        };
        let (mut plain, mut back) = (std::mem::take(&mut tools.plain), tools.buffer());
        plain.clear();
        let fed = session.feed(bytes, &mut plain, &mut back);
        if back.is_empty() {
            tools.give_back(back);
        } else {
            sockets.send(self.socket, Outgoing::Lent(back));
        }
        let mut wait = Wait::More;
        if matches!(self.speaks, Speaks::Undecided) && session.alpn() == Some(b"h2") && !session.is_handshaking() {
            let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
            self.speaks = Speaks::Http2(Streams::start(self.socket, tools, &mut sealed));
        }
        if !plain.is_empty() {
            let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
            wait = self.act(Happened::Received(&mut plain, at), tools, &mut sealed);
        }
        tools.plain = plain;
        match fed {
            // The alert with the reason is being sent.
            Err(_) => Wait::PeerClose,
            Ok(()) if wait == Wait::More && session.is_closed_by_peer() => {
                let mut sealed = Sealed { session, sockets, tools_root: tools.root_bytes.clone() };
                self.act(Happened::PeerClosed, tools, &mut sealed)
            }
            Ok(()) => wait,
        }
    }

    fn act(&mut self, what: Happened<'_>, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        if let Speaks::Undecided = self.speaks {
            return self.decide(what, tools, sockets);
        }
        match (&mut self.speaks, what) {
            (Speaks::Http1(one), Happened::Received(bytes, at)) => one.received(bytes, at, tools, sockets),
            (Speaks::Http1(one), Happened::Sent) => one.sent(tools, sockets),
            (Speaks::Http1(one), Happened::Due(now)) => one.due(now, tools, sockets),
            (Speaks::Http1(one), Happened::PeerClosed) => one.peer_closed(),
            (Speaks::Http1(one), Happened::GateOpened) => one.gate_opened(tools, sockets),
            (Speaks::Http2(many), what) => many.happened(what, tools, sockets),
            (Speaks::Messaging(messaging), Happened::Received(bytes, _)) => messaging.received(bytes, tools, sockets),
            (Speaks::Messaging(messaging), Happened::Sent) => messaging.sent(sockets),
            (Speaks::Messaging(messaging), Happened::Due(now)) => messaging.due(now, tools, sockets),
            (Speaks::Messaging(_), Happened::PeerClosed) => Wait::Nothing,
            (Speaks::Custom(custom), Happened::Received(bytes, _)) => custom.received(bytes, tools),
            (Speaks::Custom(custom), Happened::Sent) => custom.sent(sockets),
            (Speaks::Custom(custom), Happened::PeerClosed) => custom.peer_closed(tools),
            (Speaks::Custom(_), Happened::Due(_) | Happened::GateOpened)
            | (Speaks::Messaging(_), Happened::GateOpened)
            | (Speaks::Undecided, _) => Wait::More,
        }
    }

    /// Detects the protocol from the first bytes.
    fn decide(&mut self, what: Happened<'_>, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Happened::Received(bytes, at) = what else {
            return if matches!(what, Happened::PeerClosed) { Wait::Nothing } else { Wait::More };
        };
        let count = bytes.len().min(TELLING_BYTES);
        if self.held.is_empty() && bytes[..count] != PREFACE[..count] && !wants_messaging(bytes) {
            let mut one = Box::new(Connection::new(self.socket));
            let wait = one.received(bytes, at, tools, sockets);
            self.speaks = Speaks::Http1(one);
            return wait;
        }
        self.held.extend_from_slice(bytes);
        let telling = self.held.len().min(TELLING_BYTES);
        let is_like_http2 = self.held[..telling] == PREFACE[..telling];
        if is_like_http2 && telling < TELLING_BYTES {
            return Wait::More;
        }
        let mut taken = 0;
        self.speaks = if is_like_http2 {
            Speaks::Http2(Streams::start(self.socket, tools, sockets))
        } else {
            match websocket::read_request(&self.held) {
                Ok(None) => return Wait::More,
                Ok(Some(requested)) => {
                    taken = requested.length;
                    match handshakes::channel(&requested, &self.held[..taken], at, tools) {
                        Ok(channel) => Speaks::Messaging(Messaging::upgrade(
                            self.socket,
                            (&requested, channel),
                            at,
                            tools,
                            sockets,
                        )),
                        Err(refusal) => return self.refuse_messaging(refusal, tools, sockets),
                    }
                }
                Err(fault) => match HandshakeRefusal::from_fault(&fault) {
                    Some(refusal) => return self.refuse_messaging(refusal, tools, sockets),
                    None => Speaks::Http1(Box::new(Connection::new(self.socket))),
                },
            }
        };
        let mut held = std::mem::take(&mut self.held);
        held.drain(..taken);
        if held.is_empty() {
            return Wait::More;
        }
        self.act(Happened::Received(&mut held, at), tools, sockets)
    }
}

impl Peer {
    /// Refuses a WebSocket handshake.
    fn refuse_messaging(&self, refusal: HandshakeRefusal, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let mut buffer = tools.buffer();
        buffer.extend_from_slice(refusal.response());
        tools.stats().statuses[usize::from(refusal.status())].add(1);
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::PeerClose
    }
}

/// Whether a first request is a WebSocket handshake, or its head is incomplete, so that it may be one.
fn wants_messaging(bytes: &[u8]) -> bool {
    let is_get = bytes.starts_with(b"GET ") || b"GET ".starts_with(bytes);
    let is_whole = || bytes.windows(4).any(|window| window == b"\r\n\r\n");
    let upgrades = || bytes.windows(9).any(|window| window.eq_ignore_ascii_case(b"websocket"));
    is_get && bytes.len() < websocket::HEAD_BYTES_MAX && (!is_whole() || upgrades())
}

/// Sockets whose bytes are encrypted by a session.
struct Sealed<'a> {
    session: &'a mut Session,
    sockets: &'a mut dyn Sockets,
    tools_root: Arc<[u8]>,
}

impl Sockets for Sealed<'_> {
    fn now(&self) -> Nanos {
        self.sockets.now()
    }

    fn register(&mut self, bytes: Arc<[u8]>) -> Template {
        self.sockets.register(bytes)
    }

    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError> {
        self.sockets.open(options)
    }

    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        self.sockets.listen(options)
    }

    fn send(&mut self, socket: Socket, bytes: Outgoing) {
        let mut sealed = Vec::new();
        let done = match &bytes {
            // The target has a single template.
            Outgoing::Template(_, range) => self.session.seal(&self.tools_root[range.clone()], &mut sealed),
            Outgoing::Shared(bytes, range) => self.session.seal(&bytes[range.clone()], &mut sealed),
            Outgoing::Whole(bytes) => self.session.seal(bytes, &mut sealed),
            Outgoing::Lent(bytes) => self.session.seal(bytes, &mut sealed),
        };
        if done.is_ok() {
            self.sockets.send(socket, Outgoing::Lent(sealed));
        }
    }

    fn unsent(&mut self, socket: Socket) -> usize {
        self.sockets.unsent(socket)
    }

    fn unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        self.sockets.unacknowledged(socket)
    }

    fn is_reset(&mut self, socket: Socket) -> bool {
        self.sockets.is_reset(socket)
    }

    fn stop_sending(&mut self, socket: Socket) -> usize {
        self.sockets.stop_sending(socket)
    }

    fn receive(&mut self, socket: Socket, on: bool) {
        self.sockets.receive(socket, on);
    }

    fn shutdown(&mut self, socket: Socket) {
        self.sockets.shutdown(socket);
    }

    fn close(&mut self, socket: Socket) {
        self.sockets.close(socket);
    }
}
