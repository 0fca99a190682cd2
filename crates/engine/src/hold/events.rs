//! Handling of driver events of held connections.

use driver::{Event, Socket, SocketError, Sockets};
use metrics::{CLOSE_WITHOUT_CODE, Failure, HeldCounter, ProtocolFault};
use pacing::Nanos;
use plan::Protocol;
use wire::connection::{ConnectionEvent, Head, ProtocolConnection};

use super::job::HoldConfig;
use super::runtime::{HoldRuntime, Phase};
use crate::faults;
use crate::messaging::Expects;

/// Most unsent bytes of replies to a peer that does not read them.
const UNSENT_MAX: usize = 1024 * 1024;

/// The number from which the WebSocket key of a connection attempt is made.
fn key_of(number: u64, since: Nanos) -> u64 {
    number ^ since.0 << 24
}

impl HoldRuntime {
    pub(super) fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>) {
        match event {
            Event::Received { socket, bytes, at } => {
                let Some(number) = self.find(socket) else { return };
                self.unreported.counts[HeldCounter::BytesReceived] += bytes.len() as u64;
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
            Event::Failed { socket, error, at, left } => self.failed(socket, (error, left.untaken), at),
            // A client has no listener, and holds no sockets of datagrams.
            Event::Accepted { .. } | Event::Refused { .. } | Event::Cut { .. } | Event::Woken => {}
        }
    }

    fn connected(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
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

    /// Bytes can be exchanged: the protocol begins.
    fn begin(&mut self, number: u32, at: Nanos, sockets: &mut dyn Sockets) {
        let own = self.segment.nth(u64::from(number));
        let (is_http, since) = (self.request.is_some(), self.get(number).since);
        let (mut line, mut first) = (self.job.line(key_of(own, since)), self.buffer());
        line.start(&mut first);
        if is_http {
            // A connection of HTTP counts as established when it has carried a response.
            line = self.job.asking();
            first.extend_from_slice(self.job.step.request_bytes());
        }
        let is_waiting = line.room() == 0;
        let connection = self.get(number);
        if is_waiting {
            connection.phase = Phase::Begins;
        }
        if is_waiting || line.park().is_none() {
            connection.more().line = Some(line);
        }
        if first.is_empty() {
            self.give_back(first);
        } else if !self.send_own(number, first, sockets) {
            return;
        }
        if !is_waiting {
            self.established(number, at, sockets);
        }
    }

    fn received(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let Some(session) = connection.more.as_mut().and_then(|more| more.tls.as_mut()) else {
            return self.on_plaintext(number, bytes, at, sockets);
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
            self.unreported.counts[HeldCounter::TlsResumed] += u64::from(is_resumed);
            self.begin(number, at, sockets);
        }
        if !plain.is_empty() && self.find(socket) == Some(number) {
            self.on_plaintext(number, &mut plain, at, sockets);
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

    /// Handles decrypted bytes.
    fn on_plaintext(&mut self, number: u32, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        match (self.job.protocol, self.get(number).phase) {
            // Only WebSocket has a closing handshake to wait for.
            (_, Phase::Leaves) => return,
            (protocol, Phase::Closes) if protocol != Protocol::WebSocket => return,
            _ => {}
        }
        let job = self.job.clone();
        let mask = self.mask();
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let kept = connection.more.as_mut().and_then(|more| more.line.take());
        let mut line = kept.unwrap_or_else(|| job.unparked(connection.parked));
        let (mut out, mut scratch) = (self.buffer(), std::mem::take(&mut self.scratch));
        let (mut from, mut end) = (0, None);
        while end.is_none() {
            let said = line.handle(&mut bytes[from..], &mut scratch, mask, &mut out);
            let (taken, news) = match said.map(|(taken, said)| (taken, LineEvent::of(&said, &job))) {
                Ok((_, LineEvent::NeedMore)) => break,
                Ok(news) => news,
                Err(fault) => {
                    let failure = job.failure(fault);
                    end = Some(if fault.was_reported() { ReadEnd::Reported(failure) } else { ReadEnd::Lost(failure) });
                    break;
                }
            };
            from += taken;
            if matches!(news, LineEvent::Ready) {
                self.connections[number as usize].parked = line.park().unwrap_or_default();
            }
            end = self.take_news(number, news, from == bytes.len(), at, sockets);
            if self.find(socket) != Some(number) {
                end = Some(ReadEnd::Gone);
            }
        }
        self.scratch = scratch;
        if matches!(end, Some(ReadEnd::Gone)) {
            return self.give_back(out);
        }
        if !self.response_back(number, out, at, sockets) {
            return;
        }
        let connection = self.get(number);
        match end {
            // The close frame with the error, or the reply to its close, is on its way to a WebSocket peer.
            Some(ReadEnd::Reported(failure)) if connection.is_established() => self.leave(number, failure, at, sockets),
            Some(ReadEnd::Lost(failure)) => self.lose(number, failure, at, sockets),
            _ => {
                if line.park().is_none() {
                    connection.more().line = Some(line);
                }
                connection.tidy();
            }
        }
    }

    /// Sends what the protocol itself replies. False when the connection is gone.
    fn response_back(&mut self, number: u32, out: Vec<u8>, at: Nanos, sockets: &mut dyn Sockets) -> bool {
        let connection = self.get(number);
        let socket = connection.socket;
        // After a close frame nothing more is sent.
        if out.is_empty() || connection.is_parting() {
            self.give_back(out);
        } else if !self.send_own(number, out, sockets) {
            return false;
        }
        if self.job.protocol == Protocol::WebSocket && sockets.unsent(socket) > self.unsent_max(number) {
            // It sends requests and does not read.
            self.lose(number, Failure::Protocol(ProtocolFault::WebSocketFlood), at, sockets);
            return false;
        }
        true
    }

    /// Bytes that a reading peer's kernel may not have taken: replies to its pings, and our own message while it is on
    /// its way.
    fn unsent_max(&self, number: u32) -> usize {
        let is_speaking = matches!(self.connections[number as usize].phase, Phase::Asks | Phase::Says);
        UNSENT_MAX + if is_speaking { self.message_bytes_max } else { 0 }
    }

    /// Handles events; `is_clean`: nothing came after them. Returns what ends reading, if anything does.
    fn take_news(
        &mut self,
        number: u32,
        news: LineEvent,
        is_clean: bool,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Option<ReadEnd> {
        let job = self.job.clone();
        let expects = job.messaging.as_ref().map_or(&Expects::Nothing, |messaging| &messaging.expects);
        let connection = self.get(number);
        // What came before a message had left is no response to it.
        let is_awaited = connection.phase == Phase::Asks && connection.since < at;
        match (news, expects) {
            (LineEvent::Ready, _) => self.established(number, at, sockets),
            (LineEvent::Pong, Expects::Pong) if is_awaited => self.answered(number, true, at, sockets),
            (LineEvent::Message { is_good }, Expects::Message) if is_awaited => {
                self.answered(number, is_good, at, sockets);
            }
            (LineEvent::Status { is_good }, _) if is_awaited => self.answered(number, is_good, at, sockets),
            // What follows could not be told apart from a response.
            (LineEvent::Status { .. } | LineEvent::Piece, _) if !is_awaited => {
                return Some(ReadEnd::Lost(Failure::Protocol(ProtocolFault::Unsolicited)));
            }
            (LineEvent::Response, Expects::Framed(_)) if is_awaited => self.answered(number, true, at, sockets),
            (LineEvent::Message { .. } | LineEvent::Response, _) => self.pushed(number, at),
            (LineEvent::Close(failure), _) => {
                if connection.phase == Phase::Closes {
                    self.agreed_to_close(number, at);
                }
                return Some(ReadEnd::Reported(failure));
            }
            (LineEvent::Head { status, stays }, _) => connection.more().response = Some((status, stays)),
            // More than was requested: what follows could not be told apart from a response.
            (LineEvent::ReadEnd, _) if !is_clean => {
                return Some(ReadEnd::Lost(Failure::Protocol(ProtocolFault::Unsolicited)));
            }
            (LineEvent::ReadEnd, _) => return self.end_response(number, at, sockets),
            (
                LineEvent::Pong
                | LineEvent::NeedMore
                | LineEvent::Nothing
                | LineEvent::Piece
                | LineEvent::Status { .. },
                _,
            ) => {}
        }
        None
    }

    /// An unsolicited message came.
    fn pushed(&mut self, number: u32, at: Nanos) {
        self.unreported.counts[HeldCounter::Pushed] += 1;
        let connection = &mut self.connections[number as usize];
        if connection.phase == Phase::Idle {
            let last = std::mem::replace(&mut connection.since, at);
            if last != Nanos::NEVER {
                self.unreported.gap.record(at.since(last).0);
            }
        }
    }

    /// An HTTP response is complete.
    fn end_response(&mut self, number: u32, at: Nanos, sockets: &mut dyn Sockets) -> Option<ReadEnd> {
        let connection = self.get(number);
        let (status, stays) = connection.more().response.take().unwrap_or((0, false));
        connection.tidy();
        let (socket, is_first) = (connection.socket, connection.phase == Phase::Begins);
        let is_good = self.job.step.accepts_status(status);
        match (is_first, stays) {
            (true, _) if !is_good => return Some(ReadEnd::Lost(Failure::Status)),
            (true, true) => self.established(number, at, sockets),
            (true, false) => return Some(ReadEnd::Lost(Failure::ClosedEarly)),
            (false, _) => self.answered(number, is_good, at, sockets),
        }
        (!stays && self.find(socket) == Some(number)).then_some(ReadEnd::Lost(Failure::ClosedEarly))
    }

    fn peer_closed(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(number) = self.find(socket) else { return };
        let connection = self.get(number);
        if connection.phase == Phase::Closes && self.job.protocol != Protocol::WebSocket {
            // The end of the stream is its agreement.
            self.get(number).is_ending = true;
        }
        let failure = match self.get(number).phase {
            Phase::Shakes => Failure::Tls(metrics::TlsFault::ClosedEarly),
            _ => Failure::ClosedEarly,
        };
        self.lose(number, failure, at, sockets);
    }

    fn failed(&mut self, socket: Socket, (error, untaken): (SocketError, usize), at: Nanos) {
        let Some(number) = self.find(socket) else { return };
        self.take_back(number, untaken);
        let failure = match (self.get(number).phase, error) {
            (Phase::Connects, _) => faults::while_connecting(error),
            (Phase::Shakes, SocketError::Reset) => Failure::Tls(metrics::TlsFault::ClosedEarly),
            _ => faults::while_connected(error),
        };
        self.gone(number, failure, at);
    }
}

/// An event of the protocol, without its bytes.
enum LineEvent {
    NeedMore,
    Nothing,
    /// The handshake is complete.
    Ready,
    Pong,
    Message {
        is_good: bool,
    },
    /// Bytes on a plain connection that could be a response.
    Response,
    /// A piece of a response of a custom protocol.
    Piece,
    /// A response of a custom protocol is complete.
    Status {
        is_good: bool,
    },
    Close(Failure),
    /// Head of an HTTP response.
    Head {
        status: u16,
        stays: bool,
    },
    ReadEnd,
}

impl LineEvent {
    fn of(said: &ConnectionEvent<'_>, job: &HoldConfig) -> Self {
        match said {
            ConnectionEvent::NeedMore => Self::NeedMore,
            ConnectionEvent::Ready => Self::Ready,
            ConnectionEvent::Pong => Self::Pong,
            ConnectionEvent::Message { bytes, is_cut, .. } => {
                Self::Message { is_good: !is_cut && job.step.accepts(bytes) }
            }
            ConnectionEvent::Body { is_last: true, .. } | ConnectionEvent::Unframed(_) => Self::Response,
            ConnectionEvent::Body { .. } if job.protocol == Protocol::Custom => Self::Piece,
            ConnectionEvent::Close { code, .. } => {
                Self::Close(Failure::WebSocketClose(code.unwrap_or(CLOSE_WITHOUT_CODE)))
            }
            ConnectionEvent::Head { head: Head::Http1(head), .. } => {
                Self::Head { status: head.status, stays: head.keep_alive }
            }
            ConnectionEvent::End { .. } => Self::ReadEnd,
            ConnectionEvent::Response { status, is_success, .. } => {
                Self::Status { is_good: job.step.accepts_word(status, *is_success) }
            }
            _ => Self::Nothing,
        }
    }
}

/// What ends reading.
enum ReadEnd {
    /// The connection is gone.
    Gone,
    /// The peer ends the conversation, or broke its rules: the reply is on its way.
    Reported(Failure),
    /// It is closed at once.
    Lost(Failure),
}
