//! A driver in memory: every connection is established at once, and a peer responds in as few instructions as possible.
//! Its cost is counted too.

use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets, Template, Waker};
use engine::{SteppedRun, StopHandle};
use metrics::Snapshot;
use pacing::Nanos;
use plan::{Flags, Schema};

use super::peer::AnyPeer;

/// Number of users of a run.
pub(crate) const USERS: u64 = 10;
/// Number of exchanges before the count begins.
const WARM_UP: u64 = 200;

/// An event for a peer.
pub(crate) enum ConnectionEvent<'a> {
    /// Registered bytes: a whole request, or a whole message.
    Template,
    /// Other bytes.
    Bytes(&'a [u8]),
}

enum Next {
    Connected(Socket),
    Response(Socket),
    Sent(Socket),
}

pub(crate) struct Canned {
    sockets: CannedSockets,
    spoken: Vec<u8>,
}

pub(crate) struct CannedSockets {
    peer: AnyPeer,
    next: VecDeque<Next>,
    /// The buffers of all sends, in order.
    sent: VecDeque<Option<Vec<u8>>>,
    free: Vec<Socket>,
    opened: u32,
    now: u64,
    responses: Rc<Cell<u64>>,
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

    fn send(&mut self, socket: Socket, outgoing: Outgoing) {
        let (responses, sent) = match outgoing {
            Outgoing::Template(..) => (self.peer.receive(socket, ConnectionEvent::Template), None),
            Outgoing::Shared(bytes, range) => {
                (self.peer.receive(socket, ConnectionEvent::Bytes(&bytes[range])), Some(None))
            }
            Outgoing::Whole(bytes) => (self.peer.receive(socket, ConnectionEvent::Bytes(&bytes)), Some(None)),
            Outgoing::Lent(bytes) => (self.peer.receive(socket, ConnectionEvent::Bytes(&bytes)), Some(Some(bytes))),
        };
        if let Some(buffer) = sent {
            self.next.push_back(Next::Sent(socket));
            self.sent.push_back(buffer);
        }
        if responses {
            self.next.push_back(Next::Response(socket));
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
                    let responses = self.sockets.peer.say(socket, &mut self.spoken);
                    self.sockets.responses.set(self.sockets.responses.get() + responses);
                    Event::Received { socket, bytes: &mut self.spoken, at }
                }
                Next::Sent(socket) => Event::Sent { socket, buffer: self.sockets.sent.pop_front().flatten() },
            };
            handle(&mut self.sockets, event);
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        false
    }
}

/// A run in memory that is warmed up and has no end.
pub(crate) struct CannedRun {
    run: SteppedRun<Canned>,
    responses: Rc<Cell<u64>>,
}

/// A load without an end.
pub(crate) fn flags(scheme: &str) -> Flags {
    Flags {
        url: Some(format!("{scheme}://10.0.0.1/")),
        duration: Some("1000h".to_owned()),
        interval: Some("1000h".to_owned()),
        user_agent: "bench".to_owned(),
        ..Flags::default()
    }
}

impl CannedRun {
    /// A run that has begun: connections are established, and some requests have their responses.
    ///
    /// # Panics
    /// Not every response of the peer is a good one.
    pub(crate) fn warm(flags: &Flags, make: fn() -> AnyPeer) -> Self {
        let few = Flags { requests: Some(WARM_UP.to_string()), duration: None, ..flags.clone() };
        let total = Self::start(&few, make()).finish();
        assert_eq!(total.counts.succeeded(), WARM_UP, "{:?}", total.counts);
        let mut warm = Self::start(flags, make());
        warm.exchange(WARM_UP);
        warm
    }

    fn start(flags: &Flags, peer: AnyPeer) -> Self {
        let described = Schema::from_files(&target::descriptors()).expect("the target describes itself");
        let plan = flags.plan_with(Some(&described)).expect("a good plan");
        let address = "10.0.0.1:80".parse().expect("an address");
        let responses = Rc::new(Cell::new(0));
        let mut peer = Some(peer);
        let run = SteppedRun::start(&plan, address, 1, &StopHandle::default(), || Canned {
            spoken: Vec::new(),
            sockets: CannedSockets {
                peer: peer.take().expect("one shard"),
                next: VecDeque::with_capacity(1_024),
                sent: VecDeque::new(),
                free: Vec::new(),
                opened: 0,
                now: 0,
                responses: responses.clone(),
            },
        });
        Self { run, responses }
    }

    fn finish(mut self) -> Snapshot {
        while self.run.is_waiting() {
            self.step();
        }
        self.run.finish(|_| ControlFlow::Continue(())).expect("nothing breaks").total
    }

    /// Runs until `count` more responses have arrived.
    pub(crate) fn exchange(&mut self, count: u64) {
        let goal = self.responses.get() + count;
        while self.responses.get() < goal {
            self.step();
        }
    }

    fn step(&mut self) {
        self.run.step(0, |_| ControlFlow::Continue(())).expect("nothing breaks");
    }
}
