//! One HTTP/1 connection of the target: requests one after another, each answered before the next is read.

use driver::{Outgoing, Socket, Sockets};
use pacing::Nanos;
use wire::http1::{ProtocolError, RequestHead, Server, ServerEvent, Version, fields};

use crate::action::{Action, RequestData};
use crate::gates::GateWaiter;
use crate::happened::Wait;
use crate::respond::{self, BLOCK_BYTES, DRIP_BYTES, Kind, Manner};
use crate::routes::Route;
use crate::shop::ShopRequest;
use crate::tools::Tools;

/// Maximum bytes of further requests that are buffered while a response is sent; beyond it the peer has to wait.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// A request that is being received or answered.
#[derive(Debug)]
struct Request {
    route: Route,
    manner: Manner,
    request_data: RequestData,
    /// Its place at a gate.
    waiting: Option<GateWaiter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    Reads,
    /// Delays the response from one instant to another.
    Delays {
        since: Nanos,
        until: Nanos,
    },
    /// Waits for a gate to open.
    Waits,
    /// Sends a body with this many remaining bytes.
    SendsBytes {
        remaining: u64,
    },
    SendsChunks {
        remaining: Option<u64>,
    },
    /// Waits for the next piece of a slow body, with the number of remaining ones.
    Drips {
        pieces: u32,
        gap: Nanos,
        until: Nanos,
    },
}

pub(crate) struct Connection {
    socket: Socket,
    machine: Server,
    phase: ConnectionPhase,
    request: Option<Request>,
    /// Bytes that arrived while a response was being sent.
    held: Vec<u8>,
    /// Whether there are too many: reading is paused.
    is_paused: bool,
    peer_closed: bool,
    /// Number of requests whose head was read completely.
    requests: u32,
}

impl Connection {
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            socket,
            machine: Server::default(),
            phase: ConnectionPhase::Reads,
            request: None,
            held: Vec::new(),
            is_paused: false,
            peer_closed: false,
            requests: 0,
        }
    }

    pub(crate) fn received(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        match self.phase {
            ConnectionPhase::Reads => self.read(bytes, at, tools, sockets),
            _ => {
                self.held.extend_from_slice(bytes);
                if self.held.len() > HELD_BYTES_MAX && !self.is_paused {
                    self.is_paused = true;
                    tools.stats().reads_paused.add(1);
                    sockets.receive(self.socket, false);
                }
                Wait::More
            }
        }
    }

    pub(crate) fn sent(&mut self, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        match self.phase {
            ConnectionPhase::SendsBytes { remaining: 0 } | ConnectionPhase::SendsChunks { remaining: None } => {
                self.end_response(tools, sockets)
            }
            ConnectionPhase::SendsBytes { remaining } => {
                let count = remaining.min(BLOCK_BYTES as u64);
                self.phase = ConnectionPhase::SendsBytes { remaining: remaining - count };
                sockets.send(self.socket, Outgoing::Shared(tools.block.clone(), 0..count as usize));
                Wait::More
            }
            ConnectionPhase::SendsChunks { remaining: Some(remaining) } => {
                let mut buffer = tools.buffer();
                self.phase =
                    ConnectionPhase::SendsChunks { remaining: respond::chunk(remaining, &tools.block, &mut buffer) };
                sockets.send(self.socket, Outgoing::Lent(buffer));
                Wait::More
            }
            ConnectionPhase::Reads
            | ConnectionPhase::Delays { .. }
            | ConnectionPhase::Waits
            | ConnectionPhase::Drips { .. } => Wait::More,
        }
    }

    pub(crate) fn due(&mut self, now: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        match self.phase {
            ConnectionPhase::Delays { since, until } if until <= now => {
                // Counted first: a client that has the response finds it counted.
                tools.stats().hold(sockets.now().since(since));
                self.response_plain(200, b"", tools, sockets)
            }
            ConnectionPhase::Drips { pieces, gap, until } if until <= now => {
                self.drip(pieces, gap, until, tools, sockets)
            }
            _ => Wait::More,
        }
    }

    pub(crate) fn peer_closed(&mut self) -> Wait {
        self.peer_closed = true;
        match self.phase {
            // A peer may end its side and still wait for the response to its request.
            ConnectionPhase::Delays { .. }
            | ConnectionPhase::Drips { .. }
            | ConnectionPhase::SendsBytes { .. }
            | ConnectionPhase::SendsChunks { .. } => Wait::More,
            // A request at a gate has no response under way, and is counted: a peer that ended its side is taken to be
            // gone.
            ConnectionPhase::Reads | ConnectionPhase::Waits => Wait::Nothing,
        }
    }

    pub(crate) fn waits_at_gate(&self) -> bool {
        self.phase == ConnectionPhase::Waits
    }

    /// A gate was opened.
    pub(crate) fn gate_opened(&mut self, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let waiting = self.request.as_mut().map(|request| &mut request.waiting);
        if waiting.is_some_and(|waiting| waiting.take_if(|waiting| waiting.is_over()).is_some()) {
            return self.response_plain(200, b"", tools, sockets);
        }
        Wait::More
    }

    fn read(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
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
                            let wait = self.response(at, tools, sockets);
                            if wait != Wait::More {
                                return wait;
                            }
                            if self.phase != ConnectionPhase::Reads {
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

    /// The request is complete: begins its response.
    fn response(&mut self, at: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Some(request) = &mut self.request else { return Wait::Nothing };
        let manner = request.manner;
        tools.stats().count(request.request_data.path);
        let is_plain = !(manner.is_head || manner.close || manner.is_old);
        if request.route == Route::Root && is_plain && sockets.unsent(self.socket) == 0 {
            tools.stats().statuses[200].add(1);
            sockets.send(self.socket, tools.root());
            self.request = None;
            return Wait::More;
        }
        let request_data = request.request_data.take();
        match Action::new(request.route, request_data, at, tools) {
            Action::Whole { status, kind, body } => self.response_with(status, &kind, &body, tools, sockets),
            // HTTP/1.0 has no chunks; it gets the same body with a length.
            Action::Long { bytes, says_length } if says_length || manner.is_old => {
                self.response_long(Some(bytes), manner, tools, sockets)
            }
            Action::Long { bytes, .. } => {
                self.response_long(None, manner, tools, sockets);
                if !manner.is_head {
                    self.phase = ConnectionPhase::SendsChunks { remaining: Some(bytes) };
                }
                Wait::More
            }
            Action::Hold { until } => self.hold(at, until, tools),
            Action::Wait(waiting) => {
                request.waiting = Some(waiting);
                self.phase = ConnectionPhase::Waits;
                Wait::More
            }
            // A HEAD response has no body.
            Action::Drip { pieces, .. } if manner.is_old || manner.is_head => {
                self.response_long(Some(u64::from(pieces) * DRIP_BYTES), manner, tools, sockets)
            }
            Action::Drip { pieces, gap } => {
                self.response_long(None, manner, tools, sockets);
                self.drip(pieces, gap, at, tools, sockets)
            }
            Action::Drop => Wait::Nothing,
        }
    }

    /// Sends a piece, and the end after the last one.
    fn drip(&mut self, pieces: u32, gap: Nanos, now: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let mut buffer = tools.buffer();
        respond::chunk(DRIP_BYTES, &tools.block, &mut buffer);
        let left = pieces - 1;
        if left == 0 {
            let remaining = respond::chunk(0, &tools.block, &mut buffer);
            self.phase = ConnectionPhase::SendsChunks { remaining };
        } else {
            // The pieces keep their rhythm, even when one is late.
            self.phase = ConnectionPhase::Drips { pieces: left, gap, until: now + gap };
            tools.timers.insert(now + gap, self.socket);
        }
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// Responds later.
    fn hold(&mut self, since: Nanos, until: Nanos, tools: &mut Tools) -> Wait {
        self.phase = ConnectionPhase::Delays { since, until };
        tools.timers.insert(until, self.socket);
        Wait::More
    }

    fn response_plain(&mut self, status: u16, body: &[u8], tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        self.response_with(status, &Kind::new("text/plain"), body, tools, sockets)
    }

    fn response_with(
        &mut self,
        status: u16,
        kind: &Kind,
        body: &[u8],
        tools: &mut Tools,
        sockets: &mut dyn Sockets,
    ) -> Wait {
        let Some(request) = &self.request else { return Wait::Nothing };
        let mut buffer = tools.buffer();
        respond::whole(request.manner, status, kind, body, &mut buffer);
        tools.stats().statuses[usize::from(status)].add(1);
        // The rest waits until the peer has taken this: backpressure of a slow reader.
        self.phase = ConnectionPhase::SendsBytes { remaining: 0 };
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// Sends the head; the body follows piece by piece, as the peer takes it.
    fn response_long(
        &mut self,
        body_bytes: Option<u64>,
        manner: Manner,
        tools: &mut Tools,
        sockets: &mut dyn Sockets,
    ) -> Wait {
        let mut buffer = tools.buffer();
        respond::head_of_long(manner, body_bytes, &mut buffer);
        tools.stats().statuses[200].add(1);
        let mut remaining = if manner.is_head { 0 } else { body_bytes.unwrap_or(0) };
        if remaining <= BLOCK_BYTES as u64 / 2 {
            // A short body is sent with its head.
            buffer.extend_from_slice(&tools.block[..remaining as usize]);
            remaining = 0;
        }
        self.phase = ConnectionPhase::SendsBytes { remaining };
        sockets.send(self.socket, Outgoing::Lent(buffer));
        Wait::More
    }

    /// The peer has taken the response: its next request follows.
    fn end_response(&mut self, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let close = self.request.take().is_none_or(|request| request.manner.close);
        self.phase = ConnectionPhase::Reads;
        if close {
            return Wait::PeerClose;
        }
        self.read_held(tools, sockets)
    }

    /// Handles bytes that arrived while reading was not possible, and continues.
    fn read_held(&mut self, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            let now = sockets.now();
            let wait = self.read(&held, now, tools, sockets);
            if wait != Wait::More || self.phase != ConnectionPhase::Reads {
                return wait;
            }
        }
        if self.peer_closed {
            return Wait::PeerClose;
        }
        self.is_paused = false;
        sockets.receive(self.socket, true);
        Wait::More
    }

    fn refuse(&mut self, error: ProtocolError, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let status = match error {
            ProtocolError::HeadTooLarge | ProtocolError::TooManyHeaders => 431,
            ProtocolError::TransferEncoding => 501,
            _ => 400,
        };
        tools.stats().count(Route::BadNumber.path(""));
        let manner = Manner { is_head: false, close: true, is_old: false };
        self.request =
            Some(Request { route: Route::BadNumber, manner, request_data: RequestData::default(), waiting: None });
        let body = format!("{error}\n");
        self.response_plain(status, body.as_bytes(), tools, sockets)
    }
}

impl Request {
    /// `is_last`: the connection has reached its number of requests.
    fn new(head: &RequestHead<'_>, is_last: bool) -> Self {
        let route = Route::from_target(head.target);
        let manner = Manner {
            is_head: head.method == "HEAD",
            close: is_last || !head.keep_alive || route == Route::Close,
            is_old: head.version == Version::Http10,
        };
        let request_data = RequestData::new(route, route.path(head.method), || {
            ShopRequest::read(head.method, head.target, fields(head.bytes))
        });
        Self { route, manner, request_data, waiting: None }
    }

    fn take_body(&mut self, bytes: &[u8]) {
        self.request_data.take_body(self.route, bytes);
    }
}
