//! What the driver says of held connections, and what follows from it.

use driver::{Event, Socket, SocketError, Sockets};
use metrics::{CLOSE_WITHOUT_CODE, Failure, ProtocolFault};
use pacing::Nanos;
use plan::Protocol;
use wire::http1::{Answer, Client};
use wire::websocket::{Heard, Session};

use super::world::{Phase, World};
use crate::faults;
use crate::talk::{Expects, PreparedTalk};

/// Answers to a peer that does not read them.
const UNSENT_MAX: usize = 1024 * 1024;

/// The number of a try of a connection, from which its key is made.
fn key_of(number: u64, since: Nanos) -> String {
    PreparedTalk::key(number ^ since.0 << 24)
}

impl World {
    pub(super) fn handle<S: Sockets>(&mut self, sockets: &mut S, event: Event<'_>) {
        match event {
            Event::Received { socket, bytes, at } => {
                let Some(number) = self.find(socket) else { return };
                self.seen.counts.bytes_received += bytes.len() as u64;
                self.received(number, bytes, at, sockets);
            }
            Event::Connected { socket, at } => self.connected(socket, at, sockets),
            Event::Sent { socket, buffer } => {
                if let Some(buffer) = buffer {
                    self.give_back(buffer);
                }
                if let Some(number) = self.find(socket)
                    && self.get(number).phase == Phase::Says
                    && sockets.unsent(socket) == 0
                {
                    let now = sockets.now();
                    self.spoken(number, now, sockets);
                }
            }
            Event::PeerClosed { socket, at } => self.peer_closed(socket, at, sockets),
            Event::Failed { socket, error, at, .. } => self.failed(socket, error, at),
            // A client has no listener.
            Event::Accepted { .. } | Event::Woken => {}
        }
    }

    fn connected<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) {
        let Some(number) = self.find(socket) else { return };
        let Some(tls) = &self.job.tls else { return self.begin(number, at, sockets) };
        let mut flight = Vec::new();
        match tls.session().and_then(|mut session| session.start(&mut flight).map(|()| session)) {
            Ok(session) => {
                let connection = self.get(number);
                connection.phase = Phase::Shakes;
                connection.more().tls = Some(session);
                self.send_raw(socket, flight, sockets);
            }
            Err(fault) => self.lose(number, faults::tls(fault), at, sockets),
        }
    }

    /// Bytes can be exchanged: what is spoken begins.
    fn begin<S: Sockets>(&mut self, number: u32, at: Nanos, sockets: &mut S) {
        match self.job.protocol {
            Protocol::Tcp => self.established(number, at, sockets),
            Protocol::WebSocket => {
                let own = self.segment.nth(u64::from(number));
                let connection = self.get(number);
                connection.phase = Phase::Begins;
                let key = key_of(own, connection.since);
                let mut opening = self.buffer();
                if let Some(talk) = &self.job.talk {
                    talk.push_opening(&key, &mut opening);
                }
                self.send_own(number, opening, sockets);
            }
            _ => {
                let (kind, request) = (self.job.step.kind(), self.job.step.request_bytes().clone());
                let mut client = Client::default();
                client.start(kind);
                let connection = self.get(number);
                connection.phase = Phase::Begins;
                connection.more().http = Some(client);
                let mut copy = self.buffer();
                copy.extend_from_slice(&request);
                self.send_own(number, copy, sockets);
            }
        }
    }

    fn received<S: Sockets>(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let Some(session) = connection.more.as_mut().and_then(|more| more.tls.as_mut()) else {
            return self.heard(number, bytes, at, sockets);
        };
        let (mut plain, mut back) = (std::mem::take(&mut self.plain), Vec::new());
        plain.clear();
        let fed = session.feed(bytes, &mut plain, &mut back);
        let (is_shaking, is_closed, is_resumed) =
            (session.is_handshaking(), session.is_closed_by_peer(), session.is_resumed());
        let was_shaking = connection.phase == Phase::Shakes;
        if !back.is_empty() {
            self.send_raw(socket, back, sockets);
        }
        if was_shaking && !is_shaking && fed.is_ok() {
            self.seen.counts.tls_resumed += u64::from(is_resumed);
            self.begin(number, at, sockets);
        }
        if !plain.is_empty() && self.find(socket) == Some(number) {
            self.heard(number, &mut plain, at, sockets);
        }
        self.plain = plain;
        if self.find(socket) != Some(number) {
            return;
        }
        match fed {
            Err(fault) => self.lose(number, faults::tls(fault), at, sockets),
            Ok(()) if is_closed => self.peer_closed(socket, at, sockets),
            Ok(()) => {}
        }
    }

    /// Bytes that nothing covers any more.
    fn heard<S: Sockets>(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        match (self.job.protocol, self.get(number).phase) {
            (_, Phase::Leaves) => {}
            (Protocol::WebSocket, Phase::Begins) => self.read_opening(number, bytes, at, sockets),
            (Protocol::WebSocket, _) => self.converse(number, bytes, at, sockets),
            (Protocol::Tcp, Phase::Closes) => {}
            (Protocol::Tcp, _) => self.read_stream(number, bytes, at, sockets),
            _ => self.read_http(number, bytes, at, sockets),
        }
    }

    /// The answer to our handshake, which may come in pieces.
    fn read_opening<S: Sockets>(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let job = self.job.clone();
        let Some(talk) = &job.talk else { return };
        let own = self.segment.nth(u64::from(number));
        let connection = self.get(number);
        let key = key_of(own, connection.since);
        let mut head = connection.more.as_mut().map(|more| std::mem::take(&mut more.head)).unwrap_or_default();
        let had = head.len();
        let read = if had == 0 {
            talk.read_answer(bytes, &key)
        } else {
            head.extend_from_slice(bytes);
            talk.read_answer(&head, &key)
        };
        match read {
            Err(fault) => self.lose(number, faults::handshake(fault), at, sockets),
            Ok(None) => {
                if had == 0 {
                    head.extend_from_slice(bytes);
                }
                connection.more().head = head;
            }
            Ok(Some((length, deflate))) => {
                connection.deflate = deflate;
                let socket = connection.socket;
                self.established(number, at, sockets);
                let rest = &mut bytes[length - had..];
                if !rest.is_empty() && self.find(socket) == Some(number) {
                    self.converse(number, rest, at, sockets);
                }
            }
        }
    }

    fn converse<S: Sockets>(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let job = self.job.clone();
        let Some(talk) = &job.talk else { return };
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let kept = connection.more.as_mut().and_then(|more| more.websocket.take());
        let mut session = kept.unwrap_or_else(|| Box::new(Session::new(talk.terms(connection.deflate))));
        let mask = Some((self.random.next_u64() as u32).to_le_bytes());
        let (mut out, mut scratch) = (self.buffer(), std::mem::take(&mut self.scratch));
        let mut rest = bytes;
        let (mut fault, mut has_closed, mut why) = (None, false, Failure::ClosedEarly);
        loop {
            let (taken, news) = match session.handle(rest, &mut scratch, mask, &mut out) {
                Ok((_, Heard::NeedMore)) => break,
                Ok((taken, Heard::Nothing)) => (taken, News::Nothing),
                Ok((taken, Heard::Pong(_))) => (taken, News::Pong),
                Ok((taken, Heard::Close { code, .. })) => {
                    why = Failure::WebSocketClose(code.unwrap_or(CLOSE_WITHOUT_CODE));
                    (taken, News::Close)
                }
                Ok((taken, Heard::Message { bytes, is_cut, .. })) => {
                    (taken, News::Message { is_good: !is_cut && job.step.accepts(bytes) })
                }
                Err(broken) => {
                    fault = Some(broken);
                    break;
                }
            };
            rest = &mut rest[taken..];
            self.take_news(number, &news, &talk.expects, at, sockets);
            has_closed |= matches!(news, News::Close);
            if self.find(socket) != Some(number) || has_closed {
                break;
            }
        }
        self.scratch = scratch;
        let is_there = self.find(socket) == Some(number);
        // Who has sent a close says nothing more.
        if out.is_empty() || !is_there || self.get(number).is_parting() {
            self.give_back(out);
        } else if !self.send_own(number, out, sockets) {
            return;
        }
        if self.find(socket) == Some(number) && sockets.unsent(socket) > UNSENT_MAX {
            // It asks and does not read.
            let failure = Failure::Protocol(ProtocolFault::WebSocketFlood);
            return self.lose(number, failure, at, sockets);
        }
        if self.find(socket) != Some(number) {
            return;
        }
        let connection = self.get(number);
        if connection.is_established() && (fault.is_some() || has_closed) {
            // The answer to its close, or what is wrong with what it sent, is on its way.
            let failure = fault.map_or(why, faults::websocket);
            return self.leave(number, failure, at, sockets);
        }
        if !session.is_at_rest() {
            connection.more().websocket = Some(session);
        }
        connection.tidy();
    }

    fn take_news<S: Sockets>(&mut self, number: u32, news: &News, expects: &Expects, at: Nanos, sockets: &mut S) {
        let connection = self.get(number);
        // What came before a message had left is no answer to it.
        let phase = match connection.phase {
            Phase::Asks if connection.since >= at => Phase::Idle,
            phase => phase,
        };
        match (news, expects, phase) {
            (News::Pong, Expects::Pong, Phase::Asks) => self.answered(number, true, at, sockets),
            (News::Message { is_good }, Expects::Message, Phase::Asks) => self.answered(number, *is_good, at, sockets),
            (News::Message { .. }, ..) => self.pushed(number, at),
            (News::Close, _, Phase::Closes) => self.agreed_to_close(number, at),
            (News::Close | News::Pong | News::Nothing, ..) => {}
        }
    }

    /// Something came unasked.
    fn pushed(&mut self, number: u32, at: Nanos) {
        self.seen.counts.pushed += 1;
        let connection = &mut self.connections[number as usize];
        if connection.phase == Phase::Idle {
            let last = std::mem::replace(&mut connection.since, at);
            if last != Nanos::NEVER {
                self.seen.gap.record(at.since(last).0);
            }
        }
    }

    fn read_stream<S: Sockets>(&mut self, number: u32, bytes: &[u8], at: Nanos, sockets: &mut S) {
        let job = self.job.clone();
        let expects = job.talk.as_ref().map_or(&Expects::Nothing, |talk| &talk.expects);
        let Expects::Framed(framing) = expects else { return self.pushed(number, at) };
        let socket = self.get(number).socket;
        let mut rest = bytes;
        while !rest.is_empty() && self.find(socket) == Some(number) {
            let connection = self.get(number);
            let mut reader = connection.more.as_ref().map(|more| more.tcp).unwrap_or_default();
            let (taken, is_over) = match reader.handle(framing, rest) {
                Ok(read) => read,
                Err(_) => {
                    let failure = Failure::Protocol(ProtocolFault::AnswerLength);
                    return self.lose(number, failure, at, sockets);
                }
            };
            rest = &rest[taken..];
            if reader.is_within() || connection.more.is_some() {
                connection.more().tcp = reader;
                connection.tidy();
            }
            if !is_over {
                continue;
            }
            if connection.phase == Phase::Asks && connection.since < at {
                self.answered(number, true, at, sockets);
            } else {
                self.pushed(number, at);
            }
        }
    }

    fn read_http<S: Sockets>(&mut self, number: u32, bytes: &[u8], at: Nanos, sockets: &mut S) {
        let connection = &mut self.connections[number as usize];
        let Some(more) = connection.more.as_deref_mut().filter(|more| more.http.is_some()) else {
            // Nobody asked for these bytes.
            if connection.phase != Phase::Closes {
                let failure = Failure::Protocol(ProtocolFault::Unsolicited);
                self.lose(number, failure, at, sockets);
            }
            return;
        };
        let Some(client) = &mut more.http else { return };
        let mut rest = bytes;
        loop {
            match client.handle(rest, &mut self.heads) {
                Ok((taken, answer)) => {
                    rest = &rest[taken..];
                    match answer {
                        Answer::NeedMore => return,
                        Answer::Head(head) => more.answer = Some((head.status, head.keep_alive)),
                        Answer::Interim(_) | Answer::Body(_) => {}
                        Answer::End => break,
                    }
                }
                Err(error) => return self.lose(number, faults::protocol(error), at, sockets),
            }
        }
        if !rest.is_empty() {
            // More than was asked for: what follows could not be told from an answer.
            let failure = Failure::Protocol(ProtocolFault::Unsolicited);
            return self.lose(number, failure, at, sockets);
        }
        let (status, stays) = more.answer.take().unwrap_or((0, false));
        more.http = None;
        connection.tidy();
        let (is_good, is_first) = (self.job.step.accepts_status(status), connection.phase == Phase::Begins);
        match (is_first, stays) {
            (true, _) if !is_good => self.lose(number, Failure::Status, at, sockets),
            (true, true) => self.established(number, at, sockets),
            (_, false) => {
                if !is_first {
                    let socket = self.get(number).socket;
                    self.answered(number, is_good, at, sockets);
                    if self.find(socket) != Some(number) {
                        return;
                    }
                }
                self.lose(number, Failure::ClosedEarly, at, sockets);
            }
            (false, true) => self.answered(number, is_good, at, sockets),
        }
    }

    fn peer_closed<S: Sockets>(&mut self, socket: Socket, at: Nanos, sockets: &mut S) {
        let Some(number) = self.find(socket) else { return };
        let connection = self.get(number);
        if connection.phase == Phase::Closes && self.job.protocol != Protocol::WebSocket {
            // Its end is its agreement.
            self.get(number).is_ending = true;
        }
        let failure = match self.get(number).phase {
            Phase::Shakes => Failure::Tls(metrics::TlsFault::ClosedEarly),
            _ => Failure::ClosedEarly,
        };
        self.lose(number, failure, at, sockets);
    }

    fn failed(&mut self, socket: Socket, error: SocketError, at: Nanos) {
        let Some(number) = self.find(socket) else { return };
        let failure = match (self.get(number).phase, error) {
            (Phase::Connects, _) => faults::while_connecting(error),
            (Phase::Shakes, SocketError::Reset) => Failure::Tls(metrics::TlsFault::ClosedEarly),
            _ => faults::while_connected(error),
        };
        self.gone(number, failure, at);
    }
}

/// What a conversation brought, without its bytes.
enum News {
    Nothing,
    Pong,
    Message { is_good: bool },
    Close,
}
