//! An accounting driver: it stands between the engine and the poll driver, sees each request sent and each response
//! received, and sums up the times by itself.

use std::sync::{Arc, Mutex};

use driver::poll::PollDriver;
use driver::{
    Driver, Event, Left, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets, Template, Waker,
};
use pacing::Nanos;

/// The accounts.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Sum of the times from each send to the response after it.
    pub(crate) service_ns: u128,
    /// Sum of the times from each response to the send after it.
    pub(crate) idle_ns: u128,
    lines: Vec<Line>,
    /// The last clock reading: the engine reads the clock just before it sends.
    pub(crate) read: Nanos,
}

/// The times of one socket.
#[derive(Clone, Copy, Default)]
struct Line {
    first_sent: Option<Nanos>,
    sent: Nanos,
    answered: Option<Nanos>,
}

impl Ledger {
    fn line(&mut self, socket: Socket) -> &mut Line {
        let index = socket.index as usize;
        if index >= self.lines.len() {
            self.lines.resize(index + 1, Line::default());
        }
        &mut self.lines[index]
    }

    fn sends(&mut self, socket: Socket) {
        let at = self.read;
        let line = self.line(socket);
        line.first_sent.get_or_insert(at);
        line.sent = at;
        let idle = line.answered.map_or(0, |answered| at.0 - answered.0);
        self.idle_ns += u128::from(idle);
    }

    fn hears(&mut self, socket: Socket, at: Nanos) {
        let line = self.line(socket);
        let service = at.0 - line.sent.0;
        line.answered = Some(at);
        self.service_ns += u128::from(service);
    }

    /// Sum of the times from the first send of each socket to its last response.
    pub(crate) fn spans_ns(&self) -> u128 {
        let ends = self.lines.iter().filter_map(|line| line.first_sent.zip(line.answered));
        ends.map(|(first, last)| u128::from(last.0 - first.0)).sum()
    }

    /// The first send of all, and the last response.
    pub(crate) fn span(&self) -> Option<(Nanos, Nanos)> {
        let first = self.lines.iter().filter_map(|line| line.first_sent).min();
        first.zip(self.lines.iter().filter_map(|line| line.answered).max())
    }
}

pub(crate) struct LedgerDriver {
    sockets: LedgerSockets,
    events: Vec<Owned>,
}

pub(crate) struct LedgerSockets {
    inner: PollDriver,
    book: Arc<Mutex<Ledger>>,
}

enum Owned {
    Connected(Socket, Nanos),
    Received(Socket, Vec<u8>, Nanos),
    PeerClosed(Socket, Nanos),
    Failed(Socket, SocketError, Nanos, Left),
    Woken,
}

impl LedgerDriver {
    pub(crate) fn new(inner: PollDriver, book: Arc<Mutex<Ledger>>) -> Self {
        let sockets = LedgerSockets { inner, book };
        Self { sockets, events: Vec::new() }
    }
}

impl Driver for LedgerDriver {
    fn sockets(&mut self) -> &mut dyn Sockets {
        &mut self.sockets
    }

    fn now(&self) -> Nanos {
        self.sockets.now()
    }

    fn waker(&self) -> Waker {
        self.sockets.inner.waker()
    }

    fn wait(
        &mut self,
        until: Nanos,
        mut handle: impl FnMut(&mut dyn Sockets, Event<'_>),
    ) -> Result<(), std::io::Error> {
        let events = &mut self.events;
        self.sockets.inner.wait(until, |_, event| {
            events.push(match event {
                Event::Connected { socket, at } => Owned::Connected(socket, at),
                Event::Received { socket, bytes, at } => Owned::Received(socket, bytes.to_vec(), at),
                Event::PeerClosed { socket, at } => Owned::PeerClosed(socket, at),
                Event::Failed { socket, error, at, left } => Owned::Failed(socket, error, at, left),
                Event::Woken => Owned::Woken,
                Event::Accepted { .. } | Event::Sent { .. } => unreachable!("a client with templates"),
                Event::Refused { .. } | Event::Cut { .. } => unreachable!("a client of streams"),
            });
        })?;
        for event in self.events.drain(..) {
            let sockets = &mut self.sockets;
            match event {
                Owned::Connected(socket, at) => handle(sockets, Event::Connected { socket, at }),
                Owned::Received(socket, mut bytes, at) => {
                    sockets.book.lock().expect("no thread panicked").hears(socket, at);
                    handle(sockets, Event::Received { socket, bytes: &mut bytes, at });
                }
                Owned::PeerClosed(socket, at) => handle(sockets, Event::PeerClosed { socket, at }),
                Owned::Failed(socket, error, at, left) => {
                    handle(sockets, Event::Failed { socket, error, at, left });
                }
                Owned::Woken => handle(sockets, Event::Woken),
            }
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        self.sockets.inner.has_more()
    }
}

impl LedgerSockets {
    fn inner(&mut self) -> &mut dyn Sockets {
        self.inner.sockets()
    }
}

impl Sockets for LedgerSockets {
    fn now(&self) -> Nanos {
        let now = self.inner.now();
        self.book.lock().expect("no thread panicked").read = now;
        now
    }

    fn register(&mut self, bytes: Arc<[u8]>) -> Template {
        self.inner().register(bytes)
    }

    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError> {
        self.inner().open(options)
    }

    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, std::net::SocketAddr), SocketError> {
        self.inner().listen(options)
    }

    fn send(&mut self, socket: Socket, bytes: Outgoing) {
        self.book.lock().expect("no thread panicked").sends(socket);
        self.inner().send(socket, bytes);
    }

    fn unsent(&mut self, socket: Socket) -> usize {
        self.inner().unsent(socket)
    }

    fn unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        self.inner().unacknowledged(socket)
    }

    fn is_reset(&mut self, _: Socket) -> bool {
        false
    }

    fn stop_sending(&mut self, socket: Socket) -> usize {
        self.inner().stop_sending(socket)
    }

    fn receive(&mut self, socket: Socket, on: bool) {
        self.inner().receive(socket, on);
    }

    fn shutdown(&mut self, socket: Socket) {
        self.inner().shutdown(socket);
    }

    fn close(&mut self, socket: Socket) {
        self.inner().close(socket);
    }
}
