//! A driver in memory: every connection is there at once, and every request has the same answer.

use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets, Template, Waker};
use engine::{SteppedRun, StopHandle};
use pacing::Nanos;
use plan::Flags;

/// What nginx answers.
pub(super) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n\
Content-Type: text/plain\r\nContent-Length: 27\r\nLast-Modified: Fri, 20 Nov 2026 12:00:00 GMT\r\nConnection: keep-alive\r\n\
ETag: \"673dc1a0-1b\"\r\nAccept-Ranges: bytes\r\n\r\nabcdefghijklmnopqrstuvwxyz\n";

/// Users of a run.
const USERS: u64 = 10;
/// Exchanges before the count begins.
const WARM_UP: u64 = 200;

enum Next {
    Connected(Socket),
    Answer(Socket),
    Closed(Socket),
}

pub(super) struct Canned {
    sockets: CannedSockets,
    answer: Vec<u8>,
}

pub(super) struct CannedSockets {
    next: VecDeque<Next>,
    free: Vec<Socket>,
    opened: u32,
    now: u64,
    answers: Rc<Cell<u64>>,
    closes: bool,
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

    fn send(&mut self, socket: Socket, _: Outgoing) {
        self.next.push_back(Next::Answer(socket));
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
    type Sockets = CannedSockets;

    fn sockets(&mut self) -> &mut CannedSockets {
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
        mut handle: impl FnMut(&mut CannedSockets, Event<'_>),
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
                Next::Answer(socket) => {
                    self.sockets.answers.set(self.sockets.answers.get() + 1);
                    Event::Received { socket, bytes: &mut self.answer, at }
                }
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

/// Heads of which none is like the one before.
pub(super) fn other_heads() -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(HEAD);
    (0..4).map(|number| text.replace("nginx", &format!("ng{number}")).into_bytes()).collect()
}

/// A run in memory that is warm and has no end.
pub(crate) struct CannedRun {
    run: SteppedRun<Canned>,
    answers: Rc<Cell<u64>>,
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

    fn warm_with(flags: &Flags) -> Self {
        let closes = flags.no_keepalive;
        let plan = flags.plan().expect("a good plan");
        let address = "10.0.0.1:80".parse().expect("an address");
        let answers = Rc::new(Cell::new(0));
        let run = SteppedRun::start(&plan, address, 1, &StopHandle::default(), || Canned {
            sockets: CannedSockets {
                next: VecDeque::with_capacity(1_024),
                free: Vec::new(),
                opened: 0,
                now: 0,
                answers: answers.clone(),
                closes,
            },
            answer: HEAD.to_vec(),
        });
        let mut warm = Self { run, answers };
        warm.exchange(WARM_UP);
        warm
    }

    /// Goes on until so many more answers have come.
    pub(super) fn exchange(&mut self, count: u64) {
        let goal = self.answers.get() + count;
        while self.answers.get() < goal {
            self.run.step(0, |_| ControlFlow::Continue(())).expect("nothing breaks");
        }
    }
}
