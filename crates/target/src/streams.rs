//! One HTTP/2 connection: requests on streams, each answered independently; gRPC calls among them (`calls`).

mod calls;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use driver::{Outgoing, Socket, Sockets};
use pacing::Nanos;
use wire::hpack::FieldList;
use wire::http2::{Code, Event, Server};

use calls::Calls;

use crate::action::{Action, RequestData};
use crate::gates::GateWaiter;
use crate::happened::{Happened, Wait};
use crate::respond::{BLOCK_BYTES, DRIP_BYTES, Kind};
use crate::routes::Route;
use crate::shop::ShopRequest;
use crate::tools::Tools;

/// Maximum framed bytes that the peer has not taken.
const AHEAD_BYTES_MAX: usize = 128 * 1024;
/// Unsent bytes beyond which the peer is not read until it has taken more.
const UNSENT_BYTES_MAX: usize = 512 * 1024;
/// Size of body pieces, so that streams take turns.
const TURN_BYTES: usize = 16 * 1024;

/// The response of a stream.
#[derive(Debug)]
enum StreamReply {
    /// None yet: the request is still arriving.
    Reads,
    /// Delayed until an instant.
    Holds { since: Nanos, until: Nanos },
    /// Waiting for a gate to open.
    Waits(GateWaiter),
    /// The rest of a body.
    Sends { body: Body, from: u64 },
    /// A slow body.
    Drips { pieces: u32, gap: Nanos, until: Nanos },
}

/// The head of a response.
struct Head {
    status: u16,
    kind: Kind,
    /// The length of the body, if it is announced.
    length: Option<u64>,
}

#[derive(Debug)]
enum Body {
    Own(Vec<u8>),
    /// This many bytes of the repeated block.
    Block(u64),
}

impl Body {
    fn len(&self) -> u64 {
        match self {
            Self::Own(bytes) => bytes.len() as u64,
            Self::Block(bytes) => *bytes,
        }
    }
}

#[derive(Debug)]
struct Stream {
    route: Route,
    is_head: bool,
    request_data: RequestData,
    reply: StreamReply,
}

/// The state of an HTTP/2 connection. See the module.
pub(crate) struct Streams {
    socket: Socket,
    machine: Server,
    streams: HashMap<u32, Stream>,
    calls: Calls,
    /// Timers of streams, the earliest first.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Streams with a body to send, which take turns.
    sending: VecDeque<u32>,
    out: Vec<u8>,
    /// Number of buffers that the peer has not taken.
    buffers_unsent: u32,
    requests: u32,
    peer_closed: bool,
    /// Whether reading is paused until the peer has read.
    is_paused: bool,
}

impl Streams {
    pub(crate) fn start(socket: Socket, tools: &mut Tools, sockets: &mut dyn Sockets) -> Box<Self> {
        let mut streams = Box::new(Self {
            socket,
            machine: Server::default(),
            streams: HashMap::new(),
            calls: Calls::default(),
            due: BinaryHeap::new(),
            sending: VecDeque::new(),
            out: Vec::new(),
            buffers_unsent: 0,
            requests: 0,
            peer_closed: false,
            is_paused: false,
        });
        streams.machine.start(&mut streams.out);
        streams.flush(tools, sockets);
        streams
    }

    pub(crate) fn happened(&mut self, what: Happened<'_>, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        if matches!(what, Happened::PeerClosed) {
            // A request at a gate is counted: a peer that ended its side is taken to be gone.
            self.streams.retain(|_, stream| !matches!(stream.reply, StreamReply::Waits(_)));
        }
        let wait = match what {
            Happened::Received(bytes, at) => self.received(bytes, at, tools),
            Happened::Sent => {
                self.buffers_unsent = self.buffers_unsent.saturating_sub(1);
                if self.is_paused && sockets.unsent(self.socket) < UNSENT_BYTES_MAX {
                    self.is_paused = false;
                    sockets.receive(self.socket, true);
                }
                Wait::More
            }
            Happened::Due(now) => self.fire(now, tools, sockets),
            Happened::GateOpened => self.gate_opened(tools),
            Happened::PeerClosed if self.is_idle() && self.buffers_unsent == 0 => Wait::Nothing,
            // A peer may end its side and still wait for its responses.
            Happened::PeerClosed => {
                self.peer_closed = true;
                self.machine.leave(&mut self.out);
                Wait::More
            }
        };
        self.pump(tools);
        self.pump_calls(sockets.now(), tools);
        self.flush(tools, sockets);
        if self.peer_closed && self.buffers_unsent == 0 {
            // The rest of the requests will never arrive, and no window grows any more.
            let is_alive =
                |stream: &Stream| matches!(stream.reply, StreamReply::Holds { .. } | StreamReply::Drips { .. });
            self.streams.retain(|_, stream| is_alive(stream));
            self.drop_deaf_calls();
        }
        let is_done = self.machine.is_leaving() && self.is_idle() && self.buffers_unsent == 0;
        if wait == Wait::More && is_done { Wait::PeerClose } else { wait }
    }

    /// Whether no request waits for its response.
    fn is_idle(&self) -> bool {
        self.streams.is_empty() && self.calls.is_empty()
    }

    fn flush(&mut self, tools: &mut Tools, sockets: &mut dyn Sockets) {
        if !self.out.is_empty() {
            let bytes = std::mem::replace(&mut self.out, tools.buffer());
            self.buffers_unsent += 1;
            sockets.send(self.socket, Outgoing::Lent(bytes));
            // A peer that writes and does not read has to wait.
            if !self.is_paused && sockets.unsent(self.socket) > UNSENT_BYTES_MAX {
                self.is_paused = true;
                tools.stats().reads_paused.add(1);
                sockets.receive(self.socket, false);
            }
        }
    }

    fn received(&mut self, bytes: &[u8], at: Nanos, tools: &mut Tools) -> Wait {
        let mut fields = std::mem::take(&mut tools.fields);
        let mut rest = bytes;
        let wait = loop {
            match self.machine.handle(rest, &mut fields, &mut self.out) {
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    let is_done = matches!(event, Event::NeedMore) && rest.is_empty();
                    let wait = self.act_on(&event, at, tools);
                    if is_done || wait != Wait::More {
                        break wait;
                    }
                }
                // The error is being sent.
                Err(_) => {
                    tools.stats().count(Route::BadNumber.path(""));
                    self.streams.clear();
                    self.calls.clear();
                    break Wait::PeerClose;
                }
            }
        };
        tools.fields = fields;
        wait
    }

    fn act_on(&mut self, event: &Event<'_>, at: Nanos, tools: &mut Tools) -> Wait {
        match *event {
            Event::Request { stream, fields, is_last } => {
                let is_call = self.accept_call(stream, fields, is_last, at, tools);
                let is_last_one = !is_call && self.accept(stream, fields);
                if is_last_one || self.has_enough(tools) {
                    self.machine.leave(&mut self.out);
                }
                if is_call {
                    Wait::More
                } else if is_last {
                    self.response(stream, at, tools)
                } else {
                    Wait::More
                }
            }
            Event::Body { stream, bytes, is_last, .. } if self.calls.has(stream) => {
                self.take_messages(stream, bytes, is_last, at, tools);
                Wait::More
            }
            Event::Trailers { stream, .. } if self.calls.has(stream) => {
                self.take_messages(stream, &[], true, at, tools);
                Wait::More
            }
            Event::Body { stream, bytes, is_last, .. } => {
                self.take_body(stream, bytes);
                if is_last { self.response(stream, at, tools) } else { Wait::More }
            }
            Event::Trailers { stream, .. } => self.response(stream, at, tools),
            Event::Reset { stream, .. } | Event::Broken { stream, .. } => {
                self.streams.remove(&stream);
                self.calls.remove(stream);
                Wait::More
            }
            Event::GoAway { .. } => {
                self.machine.leave(&mut self.out);
                Wait::More
            }
            _ => Wait::More,
        }
    }

    /// Handles the beginning of a request. True when the connection takes no further one.
    fn accept(&mut self, number: u32, fields: &FieldList) -> bool {
        let path = fields.find(b":path").unwrap_or_default();
        let route = std::str::from_utf8(path).map_or(Route::NotFound, Route::from_target);
        let method = fields.find(b":method").unwrap_or_default();
        let is_head = method == b"HEAD";
        if fields.find(b"expect").is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue")) {
            self.machine.response(number, 100, std::iter::empty(), false, &mut self.out);
        }
        self.requests = self.requests.saturating_add(1);
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        let request_data = RequestData::new(route, route.path(text(method)), || {
            ShopRequest::read(text(method), text(path), fields.iter())
        });
        self.streams.insert(number, Stream { route, is_head, request_data, reply: StreamReply::Reads });
        route == Route::Close
    }

    fn has_enough(&self, tools: &Tools) -> bool {
        tools.behavior().close_after.is_some_and(|most| self.requests >= most)
    }

    fn take_body(&mut self, number: u32, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.request_data.take_body(stream.route, bytes);
        }
    }

    /// The request is complete: begins its response.
    fn response(&mut self, number: u32, at: Nanos, tools: &mut Tools) -> Wait {
        let Some(stream) = self.streams.get_mut(&number) else { return Wait::More };
        let (route, is_head) = (stream.route, stream.is_head);
        tools.stats().count(stream.request_data.path);
        match Action::new(route, stream.request_data.take(), at, tools) {
            Action::Whole { status, kind, body } => {
                self.whole(number, (status, kind), body.into_owned(), is_head, tools);
            }
            Action::Long { bytes, says_length } => {
                let length = says_length.then_some(bytes);
                let head = Head { status: 200, kind: Kind::new("application/octet-stream"), length };
                self.begin(number, head, is_head || bytes == 0, tools);
                if !is_head && bytes > 0 {
                    self.send(number, Body::Block(bytes));
                }
            }
            Action::Hold { until } => {
                stream.reply = StreamReply::Holds { since: at, until };
                self.wait_until(number, until, tools);
            }
            Action::Wait(waiting) => stream.reply = StreamReply::Waits(waiting),
            Action::Drip { pieces, gap } => {
                let head = Head { status: 200, kind: Kind::new("application/octet-stream"), length: None };
                self.begin(number, head, is_head, tools);
                if let Some(stream) = self.streams.get_mut(&number) {
                    stream.reply = StreamReply::Drips { pieces, gap, until: at };
                    self.wait_until(number, at, tools);
                }
            }
            Action::Drop => return Wait::Nothing,
        }
        Wait::More
    }

    fn wait_until(&mut self, number: u32, until: Nanos, tools: &mut Tools) {
        self.due.push(Reverse((until, number)));
        tools.timers.insert(until, self.socket);
    }

    fn whole(&mut self, number: u32, said: (u16, Kind), body: Vec<u8>, is_head: bool, tools: &Tools) {
        let (status, kind) = said;
        let is_bodiless = is_head || body.is_empty() || status == 204 || status == 304;
        let length = (status != 204 && status != 304).then_some(body.len() as u64);
        self.begin(number, Head { status, kind, length }, is_bodiless, tools);
        if !is_bodiless {
            self.send(number, Body::Own(body));
        }
    }

    /// Sends the head of a response.
    fn begin(&mut self, number: u32, head: Head, is_last: bool, tools: &Tools) {
        let Head { status, kind, length } = head;
        let length = length.map(|length| length.to_string());
        // RFC 9113 8.2: names are in lower case.
        let more = kind.more.as_ref().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let location = kind.location.map(|location| (&b"location"[..], location.as_bytes()));
        let fields = [(&b"content-type"[..], kind.content_type.as_bytes())]
            .into_iter()
            .chain(location)
            .chain(more.as_ref().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
            .chain(length.as_ref().map(|length| (&b"content-length"[..], length.as_bytes())));
        self.machine.response(number, status, fields, is_last, &mut self.out);
        tools.stats().statuses[usize::from(status)].add(1);
        if is_last {
            self.streams.remove(&number);
        }
    }

    fn send(&mut self, number: u32, body: Body) {
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.reply = StreamReply::Sends { body, from: 0 };
            self.sending.push_back(number);
        }
    }

    /// Sends bodies in turns, as far as windows and the peer allow.
    fn pump(&mut self, tools: &Tools) {
        let mut without_room = 0;
        while self.buffers_unsent < 2 && self.out.len() < AHEAD_BYTES_MAX && without_room < self.sending.len() {
            let Some(number) = self.sending.pop_front() else { return };
            let Some(Stream { reply: StreamReply::Sends { body, from }, .. }) = self.streams.get_mut(&number) else {
                continue;
            };
            let left = body.len() - *from;
            let count = (self.machine.room(number) as u64).min(left).min(TURN_BYTES as u64);
            if count == 0 {
                without_room += 1;
                self.sending.push_back(number);
                continue;
            }
            without_room = 0;
            let is_last = count == left;
            let at = *from as usize;
            let piece = match body {
                Body::Own(bytes) => &bytes[at..at + count as usize],
                // The block starts anew with each piece that would exceed it.
                Body::Block(_) => {
                    let at = at % (BLOCK_BYTES - TURN_BYTES);
                    &tools.block[at..at + count as usize]
                }
            };
            self.machine.data(number, piece, is_last, &mut self.out);
            *from += count;
            if is_last {
                self.streams.remove(&number);
            } else {
                self.sending.push_back(number);
            }
        }
    }

    pub(crate) fn waits_at_gate(&self) -> bool {
        self.streams.values().any(|stream| matches!(stream.reply, StreamReply::Waits(_)))
    }

    /// A gate was opened: answers the requests that waited there, the oldest stream first.
    fn gate_opened(&mut self, tools: &Tools) -> Wait {
        let has_passed = |stream: &Stream| matches!(&stream.reply, StreamReply::Waits(waiting) if waiting.is_over());
        let passed = self.streams.iter().filter(|(_, stream)| has_passed(stream));
        let mut numbers: Vec<u32> = passed.map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(stream) = self.streams.get_mut(&number) else { continue };
            // A request with a response is no longer counted.
            stream.reply = StreamReply::Reads;
            let is_head = stream.is_head;
            self.whole(number, (200, Kind::new("text/plain")), Vec::new(), is_head, tools);
        }
        Wait::More
    }

    /// Handles streams whose timer has expired.
    fn fire(&mut self, now: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        self.calls_due(now, tools);
        while let Some(Reverse((at, number))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let Some(stream) = self.streams.get_mut(&number) else { continue };
            match stream.reply {
                StreamReply::Holds { since, until } if until <= now => {
                    let is_head = stream.is_head;
                    // Counted first: a client that has the response finds it counted.
                    tools.stats().hold(sockets.now().since(since));
                    self.whole(number, (200, Kind::new("text/plain")), Vec::new(), is_head, tools);
                }
                StreamReply::Drips { pieces, gap, until } if until <= now => {
                    self.drip(number, pieces, gap, until, tools)
                }
                _ => {}
            }
        }
        Wait::More
    }

    /// Sends a piece, and the end after the last one.
    fn drip(&mut self, number: u32, pieces: u32, gap: Nanos, now: Nanos, tools: &mut Tools) {
        let piece = &tools.block[..DRIP_BYTES as usize];
        if self.machine.room(number) < piece.len() {
            // A peer whose window does not even fit this is not waited for.
            self.machine.reset(number, Code::EnhanceYourCalm, &mut self.out);
            self.streams.remove(&number);
            return;
        }
        self.machine.data(number, piece, pieces == 1, &mut self.out);
        if pieces == 1 {
            self.streams.remove(&number);
        } else if let Some(stream) = self.streams.get_mut(&number) {
            // The pieces keep their rhythm, even when one is late.
            stream.reply = StreamReply::Drips { pieces: pieces - 1, gap, until: now + gap };
            self.wait_until(number, now + gap, tools);
        }
    }
}
