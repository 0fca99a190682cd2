//! A driver in memory: every connection is established at once, and every request has the same response.

use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets, Template, Waker};
use engine::{DataSources, Partition, SteppedRun, StopHandle};
use pacing::Nanos;
use plan::{
    DynamicParts, Extract, ExtractFrom, Extraction, Flags, Memory, Names, Pattern, Plan, Rendering, TextContext, Value,
    Which,
};

/// A response of nginx.
pub(super) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n\
Content-Type: text/plain\r\nContent-Length: 27\r\nLast-Modified: Fri, 20 Nov 2026 12:00:00 GMT\r\nConnection: keep-alive\r\n\
ETag: \"673dc1a0-1b\"\r\nAccept-Ranges: bytes\r\n\r\nabcdefghijklmnopqrstuvwxyz\n";

/// The same with a value to extract.
const JSON: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n\
Content-Type: application/json\r\nContent-Length: 78\r\nConnection: keep-alive\r\nETag: \"673dc1a0-1b\"\r\n\
Accept-Ranges: bytes\r\n\r\n{\"id\":731,\"token\":\"b1946ac92492d2347c6235b4d2611184\",\"price\":99.5,\"stock\":17}\n";

/// Number of users of a run.
const USERS: u64 = 10;
/// Number of exchanges before the count begins.
const WARM_UP: u64 = 200;

enum Next {
    Connected(Socket),
    Response(Socket),
    Sent(Socket),
    Closed(Socket),
}

pub(super) struct Canned {
    sockets: CannedSockets,
    response: Vec<u8>,
}

pub(super) struct CannedSockets {
    next: VecDeque<Next>,
    /// Buffers that are to be returned.
    lent: VecDeque<Vec<u8>>,
    free: Vec<Socket>,
    opened: u32,
    now: u64,
    responses: Rc<Cell<u64>>,
    closes: bool,
}

impl CannedSockets {
    #[cold]
    #[inline(never)]
    fn give_back(&mut self, socket: Socket, buffer: Vec<u8>) {
        self.lent.push_back(buffer);
        self.next.push_back(Next::Sent(socket));
    }
}

impl Sockets for CannedSockets {
    fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    fn register(&mut self, _: Arc<[u8]>) -> Template {
        Template::new(0)
    }

    fn open(&mut self, _: &OpenOptions) -> Result<Socket, SocketError> {
        let socket = self.free.pop().unwrap_or_else(|| {
            self.opened += 1;
            Socket { index: self.opened - 1, generation: 0 }
        });
        self.next.push_back(Next::Connected(socket));
        Ok(socket)
    }

    fn listen(&mut self, _: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        Err(SocketError::Permission)
    }

    #[inline]
    fn send(&mut self, socket: Socket, outgoing: Outgoing) {
        if let Outgoing::Lent(buffer) = outgoing {
            self.give_back(socket, buffer);
        }
        self.next.push_back(Next::Response(socket));
        if self.closes {
            self.next.push_back(Next::Closed(socket));
        }
    }

    fn unsent(&mut self, _: Socket) -> usize {
        0
    }

    fn unacknowledged(&mut self, _: Socket) -> Option<usize> {
        None
    }

    fn is_reset(&mut self, _: Socket) -> bool {
        false
    }

    fn stop_sending(&mut self, _: Socket) -> usize {
        0
    }

    fn receive(&mut self, _: Socket, _: bool) {}

    fn shutdown(&mut self, _: Socket) {}

    fn close(&mut self, socket: Socket) {
        self.free.push(Socket { generation: socket.generation + 1, ..socket });
    }
}

impl Driver for Canned {
    fn sockets(&mut self) -> &mut dyn Sockets {
        &mut self.sockets
    }

    fn now(&self) -> Nanos {
        self.sockets.now()
    }

    fn waker(&self) -> Waker {
        Waker::new(|| {})
    }

    fn wait(
        &mut self,
        until: Nanos,
        mut handle: impl FnMut(&mut dyn Sockets, Event<'_>),
    ) -> Result<(), std::io::Error> {
        if self.sockets.next.is_empty() {
            self.sockets.now = until.0;
        }
        for _ in 0..self.sockets.next.len() {
            let Some(next) = self.sockets.next.pop_front() else { break };
            self.sockets.now += 700;
            let at = self.sockets.now();
            let event = match next {
                Next::Connected(socket) => Event::Connected { socket, at },
                Next::Response(socket) => {
                    self.sockets.responses.set(self.sockets.responses.get() + 1);
                    Event::Received { socket, bytes: &mut self.response, at }
                }
                Next::Sent(socket) => Event::Sent { socket, buffer: self.sockets.lent.pop_front() },
                Next::Closed(socket) => Event::PeerClosed { socket, at },
            };
            handle(&mut self.sockets, event);
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        false
    }
}

/// Heads that all differ from the one before.
pub(super) fn other_heads() -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(HEAD);
    (0..4).map(|number| text.replace("nginx", &format!("ng{number}")).into_bytes()).collect()
}

/// A scope with one variable.
struct Token;

impl Names for Token {
    fn variable(&mut self, name: &str) -> Option<u32> {
        (name == "token").then_some(0)
    }

    fn column(&mut self, _: &str, _: &str) -> Option<u32> {
        None
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, _: &str) -> Option<u32> {
        None
    }
}

/// A run in memory that is warmed up and has no end.
pub(crate) struct CannedRun {
    run: SteppedRun<Canned>,
    responses: Rc<Cell<u64>>,
}

impl CannedRun {
    pub(super) fn warm(closes: bool) -> Self {
        Self::warm_with(&Flags { connections: Some(USERS.to_string()), ..Self::flags(closes) })
    }

    pub(super) fn warm_at_a_rate() -> Self {
        Self::warm_with(&Flags { rate: Some("100000".to_owned()), ..Self::flags(false) })
    }

    fn flags(closes: bool) -> Flags {
        Flags {
            url: Some("http://10.0.0.1/".to_owned()),
            duration: Some("1000h".to_owned()),
            interval: Some("1000h".to_owned()),
            no_keepalive: closes,
            user_agent: "bench".to_owned(),
            ..Flags::default()
        }
    }

    /// A run whose path, header and extracted value are rendered for each exchange.
    pub(super) fn warm_and_rendered() -> Self {
        let headers = vec!["Authorization: Bearer x".to_owned(), "Accept: application/json".to_owned()];
        let flags = Flags { connections: Some(USERS.to_string()), headers, ..Self::flags(false) };
        let mut plan = flags.plan().expect("a good plan");
        let scenario = &mut plan.scenarios[0];
        let step = &mut scenario.steps[0];
        let header = step.request.headers.iter().position(|(name, _)| name == "Authorization").expect("it is there");
        let rendering = |text, ground| {
            Rendering::new(&Pattern::parse(text, ground).expect("a pattern"), &mut Token).expect("known names")
        };
        let token = Extraction {
            variable: 0,
            name: "token".to_owned(),
            take: Extract::new(&ExtractFrom::Json("$.token".to_owned()), Which::First).expect("a path"),
            of: None,
            default: None,
            is_number: false,
            from_failed: false,
        };
        step.dynamic_parts = Some(Arc::new(DynamicParts {
            path: Some(rendering("/items/${random(1,1000)}?token=${token}", TextContext::Url)),
            headers: vec![(header, rendering("Bearer ${token}", TextContext::Header))],
            takes: vec![token],
            ..DynamicParts::default()
        }));
        scenario.memory = Memory { variables: vec![Value::text("none")], carries_state: true, ..Memory::default() };
        Self::warm_of(&plan, JSON, false)
    }

    fn warm_with(flags: &Flags) -> Self {
        Self::warm_of(&flags.plan().expect("a good plan"), HEAD, flags.no_keepalive)
    }

    fn warm_of(plan: &Plan, response: &[u8], closes: bool) -> Self {
        Self::warm_supplied(plan, DataSources::default(), response, closes)
    }

    pub(super) fn warm_supplied(plan: &Plan, data_sources: DataSources, response: &[u8], closes: bool) -> Self {
        let address = "10.0.0.1:80".parse().expect("an address");
        let responses = Rc::new(Cell::new(0));
        let given = (data_sources, Partition::default());
        let run = SteppedRun::start_with(plan, given, address, 1, &StopHandle::default(), || Canned {
            sockets: CannedSockets {
                next: VecDeque::with_capacity(1_024),
                lent: VecDeque::new(),
                free: Vec::new(),
                opened: 0,
                now: 0,
                responses: responses.clone(),
                closes,
            },
            response: response.to_vec(),
        });
        let mut warm = Self { run, responses };
        warm.exchange(WARM_UP);
        warm
    }

    /// Runs until `count` more responses have arrived.
    pub(super) fn exchange(&mut self, count: u64) {
        let goal = self.responses.get() + count;
        while self.responses.get() < goal {
            self.run.step(0, |_| ControlFlow::Continue(())).expect("nothing breaks");
        }
    }
}
