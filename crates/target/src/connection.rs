//! One connection of the target: requests one after another, each answered before the next is read.

use driver::{Outgoing, Socket, Sockets};
use pacing::Nanos;
use wire::http1::{ProtocolError, RequestHead, Server, ServerEvent, Version};

use crate::respond::{self, BLOCK_BYTES, Manner};
use crate::routes::Route;
use crate::shard::Tools;

/// The largest body that `/echo` gives back.
const ECHO_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A freeze begins at the earliest so long after it was asked for.
const FREEZE_LEAD: Nanos = Nanos::from_millis(1);

/// One piece of `/drip`.
const DRIP_BYTES: u64 = 64;

/// Bytes of further requests that are kept while an answer is on its way; beyond it the peer has to wait.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// What a connection waits for after something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The next event.
    More,
    /// The peer's close; we have sent our last.
    PeerClose,
    /// Nothing: it is to be closed.
    Nothing,
}

/// A request that is being read or answered.
#[derive(Debug)]
struct Request {
    route: Route,
    manner: Manner,
    /// What `/echo` gives back.
    body: Vec<u8>,
    body_is_too_large: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reads,
    /// For the time that new connections are left alone.
    Waits {
        until: Nanos,
    },
    /// Holds its answer from one instant to another.
    Delays {
        since: Nanos,
        until: Nanos,
    },
    /// A body of which so much is still to be sent.
    SendsBytes {
        remaining: u64,
    },
    SendsChunks {
        remaining: Option<u64>,
    },
    /// For the next piece of a slow body; so many are left.
    Drips {
        pieces: u32,
        gap: Nanos,
        until: Nanos,
    },
    /// For the peer to close.
    Drains {
        until: Nanos,
    },
}

pub(crate) struct Connection {
    socket: Socket,
    machine: Server,
    phase: Phase,
    request: Option<Request>,
    /// Bytes that came while an answer was on its way.
    held: Vec<u8>,
    peer_closed: bool,
    /// Requests that were read to the end of their heads.
    requests: u32,
}

impl Connection {
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            socket,
            machine: Server::default(),
            phase: Phase::Reads,
            request: None,
            held: Vec::new(),
            peer_closed: false,
            requests: 0,
        }
    }

    /// The connection is left alone until then.
    pub(crate) fn wait_until(&mut self, until: Nanos) {
        self.phase = Phase::Waits { until };
    }

    pub(crate) fn socket(&self) -> Socket {
        self.socket
    }

    pub(crate) fn drain_until(&mut self, until: Nanos) {
        self.phase = Phase::Drains { until };
        (self.request, self.held) = (None, Vec::new());
    }

    pub(crate) fn received<S: Sockets>(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools, sockets: &mut S) -> Wait {
        match self.phase {
            Phase::Reads => self.read(bytes, at, tools, sockets),
            Phase::Drains { .. } => Wait::More,
            _ => {
                self.held.extend_from_slice(bytes);
                if self.held.len() > HELD_BYTES_MAX {
                    sockets.receive(self.socket, false);
                }
                Wait::More
            }
        }
    }

    pub(crate) fn sent<S: Sockets>(&mut self, tools: &mut Tools, sockets: &mut S) -> Wait {
        match self.phase {
            Phase::SendsBytes { remaining: 0 } | Phase::SendsChunks { remaining: None } => {
                self.end_answer(tools, sockets)
            }
            Phase::SendsBytes { remaining } => {
                let count = remaining.min(BLOCK_BYTES as u64);
                self.phase = Phase::SendsBytes { remaining: remaining - count };
                sockets.send(self.socket, Outgoing::Shared(tools.block.clone(), 0..count as usize));
                Wait::More
            }
            Phase::SendsChunks { remaining: Some(remaining) } => {
                let mut buffer = tools.buffer();
                self.phase = Phase::SendsChunks { remaining: respond::chunk(remaining, &tools.block, &mut buffer) };
                sockets.send(self.socket, Outgoing::Lent(buffer));
                Wait::More
            }
            Phase::Reads | Phase::Waits { .. } | Phase::Delays { .. } | Phase::Drips { .. } | Phase::Drains { .. } => {
                Wait::More
            }
        }
    }

    pub(crate) fn due<S: Sockets>(&mut self, now: Nanos, tools: &mut Tools, sockets: &mut S) -> Wait {
        match self.phase {
            Phase::Delays { since, until } if until <= now => {
                // Whoever has the answer finds it counted.
                tools.stats().hold(sockets.now().since(since));
                self.answer_plain(200, b"", tools, sockets)
            }
            Phase::Drips { pieces, gap, until } if until <= now => self.drip(pieces, gap, until, tools, sockets),
            Phase::Waits { until } if until <= now => {
                self.phase = Phase::Reads;
                self.read_held(tools, sockets)
            }
            Phase::Drains { until } if until <= now => Wait::Nothing,
            _ => Wait::More,
        }
    }

    pub(crate) fn peer_closed(&mut self) -> Wait {
        self.peer_closed = true;
        match self.phase {
            // A peer may end its side and still wait for the answer that it asked for.
            Phase::Waits { .. }
            | Phase::Delays { .. }
            | Phase::Drips { .. }
            | Phase::SendsBytes { .. }
            | Phase::SendsChunks { .. } => Wait::More,
            Phase::Reads | Phase::Drains { .. } => Wait::Nothing,
        }
    }

    fn read<S: Sockets>(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools, sockets: &mut S) -> Wait {
        let mut rest = bytes;
        loop {
            match self.machine.handle(rest) {
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    match event {
                        ServerEvent::NeedMore => return Wait::More,
                        ServerEvent::Head(head) => {
                            if head.expect_continue {
                                let mut buffer = tools.buffer();
                                buffer.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                                sockets.send(self.socket, Outgoing::Lent(buffer));
                            }
                            self.requests = self.requests.saturating_add(1);
                            let is_last = tools.behavior().close_after.is_some_and(|most| self.requests >= most);
                            self.request = Some(Request::new(&head, is_last));
                        }
                        ServerEvent::Body(body) => {
                            if let Some(request) = &mut self.request {
                                request.take_body(body);
                            }
                        }
                        ServerEvent::End => {
                            let wait = self.answer(at, tools, sockets);
                            if wait != Wait::More {
                                return wait;
                            }
                            if self.phase != Phase::Reads {
                                self.held.extend_from_slice(rest);
                                return Wait::More;
                            }
                        }
                    }
                }
                Err(error) => return self.refuse(error, tools, sockets),
            }
        }
    }

    /// The request is complete: its answer begins.
    fn answer<S: Sockets>(&mut self, at: Nanos, tools: &mut Tools, sockets: &mut S) -> Wait {
        let Some(request) = &mut self.request else { return Wait::Nothing };
        let manner = request.manner;
        tools.stats().requests[request.route.index()].add(1);
        match request.route {
            Route::Root if !(manner.is_head || manner.close || manner.is_old) && sockets.unsent(self.socket) == 0 => {
                tools.stats().statuses[200].add(1);
                sockets.send(self.socket, tools.root());
                self.request = None;
                Wait::More
            }
            Route::Root => self.answer_plain(200, respond::ROOT_BODY, tools, sockets),
            Route::Close => self.answer_plain(200, b"bye\n", tools, sockets),
            Route::Bytes(count) => self.answer_long(Some(count), manner, tools, sockets),
            // HTTP/1.0 has no chunks; it gets the same body with a length.
            Route::Chunked(count) if manner.is_old => self.answer_long(Some(count), manner, tools, sockets),
            Route::Chunked(count) => {
                self.answer_long(None, manner, tools, sockets);
                if !manner.is_head {
                    self.phase = Phase::SendsChunks { remaining: Some(count) };
                }
                Wait::More
            }
            Route::Delay(delay) => {
                let until = at + delay.draw(&mut tools.random);
                self.hold(at, until, tools)
            }
            Route::Serial(span) => {
                let until = tools.agreed().serve_alone(at, span);
                self.hold(at, until, tools)
            }
            Route::Stall { .. } if !tools.can_freeze => {
                self.answer_plain(501, b"this server has no thread to freeze\n", tools, sockets)
            }
            Route::Stall { after, span } => {
                // The answer to this goes out first.
                let from = at + after.max(FREEZE_LEAD);
                let is_new = tools.agreed().freeze(at, from, from + span);
                if is_new {
                    tools.wake_all();
                }
                let body = if is_new { &b"the freeze is agreed on\n"[..] } else { b"another freeze comes first\n" };
                self.answer_plain(200, body, tools, sockets)
            }
            // HTTP/1.0 has no chunks, and a head needs no body.
            Route::Drip { pieces, .. } if manner.is_old || manner.is_head => {
                self.answer_long(Some(u64::from(pieces) * DRIP_BYTES), manner, tools, sockets)
            }
            Route::Drip { pieces, gap } => {
                self.answer_long(None, manner, tools, sockets);
                self.drip(pieces, gap, at, tools, sockets)
            }
            Route::Fail { share, status } => {
                let fails = tools.fails(share);
                let (status, body) = if fails { (status, &b"failed\n"[..]) } else { (200, &b"fine\n"[..]) };
                self.answer_plain(status, body, tools, sockets)
            }
            Route::Status(status) => {
                let body = format!("{status}\n");
                self.answer_plain(status, body.as_bytes(), tools, sockets)
            }
            Route::Echo if request.body_is_too_large => {
                self.answer_plain(413, b"the body is too large\n", tools, sockets)
            }
            Route::Echo => {
                let body = std::mem::take(&mut request.body);
                self.answer_plain(200, &body, tools, sockets)
            }
            Route::Drop => Wait::Nothing,
            Route::Stats => {
                let json = tools.stats_json();
                self.answer_with(200, "application/json", json.as_bytes(), tools, sockets)
            }
            Route::NotFound => self.answer_plain(404, b"no such path\n", tools, sockets),
            Route::BadNumber => self.answer_plain(400, b"the number in the path is out of range\n", tools, sockets),
        }
    }

    /// Sends a piece, and the end behind the last one.
    fn drip<S: Sockets>(&mut self, pieces: u32, gap: Nanos, now: Nanos, tools: &mut Tools, sockets: &mut S) -> Wait {
        let mut buffer = tools.buffer();
        respond::chunk(DRIP_BYTES, &tools.block, &mut buffer);
        let left = pieces - 1;
        if left == 0 {
            let remaining = respond::chunk(0, &tools.block, &mut buffer);
            self.phase = Phase::SendsChunks { remaining };
        } else {
            // The pieces keep their rhythm, also when one is late.
            self.phase = Phase::Drips { pieces: left, gap, until: now + gap };
            tools.timers.insert(now + gap, self.socket);
        }
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// Answers later.
    fn hold(&mut self, since: Nanos, until: Nanos, tools: &mut Tools) -> Wait {
        self.phase = Phase::Delays { since, until };
        tools.timers.insert(until, self.socket);
        Wait::More
    }

    fn answer_plain<S: Sockets>(&mut self, status: u16, body: &[u8], tools: &mut Tools, sockets: &mut S) -> Wait {
        self.answer_with(status, "text/plain", body, tools, sockets)
    }

    fn answer_with<S: Sockets>(
        &mut self,
        status: u16,
        content_type: &'static str,
        body: &[u8],
        tools: &mut Tools,
        sockets: &mut S,
    ) -> Wait {
        let Some(request) = &self.request else { return Wait::Nothing };
        let mut buffer = tools.buffer();
        respond::whole(request.manner, status, content_type, body, &mut buffer);
        tools.stats().statuses[usize::from(status)].add(1);
        // What comes next waits until the peer has taken this: a reader that is slow pushes back.
        self.phase = Phase::SendsBytes { remaining: 0 };
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// The head goes out; the body follows piece by piece, as the peer takes it.
    fn answer_long<S: Sockets>(
        &mut self,
        body_bytes: Option<u64>,
        manner: Manner,
        tools: &mut Tools,
        sockets: &mut S,
    ) -> Wait {
        let mut buffer = tools.buffer();
        respond::head_of_long(manner, body_bytes, &mut buffer);
        tools.stats().statuses[200].add(1);
        let mut remaining = if manner.is_head { 0 } else { body_bytes.unwrap_or(0) };
        if remaining <= BLOCK_BYTES as u64 / 2 {
            // A short body travels with its head.
            buffer.extend_from_slice(&tools.block[..remaining as usize]);
            remaining = 0;
        }
        self.phase = Phase::SendsBytes { remaining };
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// The peer has taken the answer: what it asked meanwhile comes next.
    fn end_answer<S: Sockets>(&mut self, tools: &mut Tools, sockets: &mut S) -> Wait {
        let close = self.request.take().is_none_or(|request| request.manner.close);
        self.phase = Phase::Reads;
        if close {
            return Wait::PeerClose;
        }
        self.read_held(tools, sockets)
    }

    /// Reads what came while it could not be read, and goes on.
    fn read_held<S: Sockets>(&mut self, tools: &mut Tools, sockets: &mut S) -> Wait {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            let now = sockets.now();
            let wait = self.read(&held, now, tools, sockets);
            if wait != Wait::More || self.phase != Phase::Reads {
                return wait;
            }
        }
        if self.peer_closed {
            return Wait::PeerClose;
        }
        sockets.receive(self.socket, true);
        Wait::More
    }

    fn refuse<S: Sockets>(&mut self, error: ProtocolError, tools: &mut Tools, sockets: &mut S) -> Wait {
        let status = match error {
            ProtocolError::HeadTooLarge | ProtocolError::TooManyHeaders => 431,
            ProtocolError::TransferEncoding => 501,
            _ => 400,
        };
        tools.stats().requests[Route::BadNumber.index()].add(1);
        let manner = Manner { is_head: false, close: true, is_old: false };
        self.request = Some(Request { route: Route::BadNumber, manner, body: Vec::new(), body_is_too_large: false });
        let body = format!("{error}\n");
        self.answer_plain(status, body.as_bytes(), tools, sockets)
    }
}

impl Request {
    /// `is_last`: the connection has carried as many as it may.
    fn new(head: &RequestHead<'_>, is_last: bool) -> Self {
        let route = Route::of(head.target);
        let manner = Manner {
            is_head: head.method == "HEAD",
            close: is_last || !head.keep_alive || route == Route::Close,
            is_old: head.version == Version::Http10,
        };
        Self { route, manner, body: Vec::new(), body_is_too_large: false }
    }

    fn take_body(&mut self, bytes: &[u8]) {
        if self.route != Route::Echo {
            return;
        }
        if self.body.len() + bytes.len() > ECHO_BYTES_MAX {
            self.body_is_too_large = true;
            self.body = Vec::new();
        } else if !self.body_is_too_large {
            self.body.extend_from_slice(bytes);
        }
    }
}
