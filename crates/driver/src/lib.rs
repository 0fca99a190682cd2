//! Sockets, time and wake-ups behind one completion-shaped trait.
//!
//! A [`Driver`] knows sockets, not the connections of a protocol. Its verbs ([`Sockets`]) start an operation; the
//! result is an [`Event`] from [`Driver::wait`]. `uring` runs on io_uring, `poll` on mio (epoll), `sim` on virtual
//! time; `choice` selects one and says why, and `chosen` is the one that was selected. What runs on a driver sees
//! `dyn Sockets`, so it is compiled once for all of them. The test suite (`tests/suite`) is written once, too.
//!
//! - Verbs can be used while events are handled, since the bytes of an event belong to the driver, not to the caller.
//!   A verb may take effect with the next `wait`.
//! - Every send says who owns its bytes: a registered template, a shared `Arc`, or a buffer that comes back with
//!   `Sent`.
//! - Each event that is measured carries its instant.
//! - A closed socket gives no further event. Indices are reused; generations tell owners apart.
//!
//! No other crate of the program has unsafe code, and each block has its SAFETY line.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod choice;
mod chosen;
mod clock;
mod error;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no library has this setting")]
mod heap;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library has this option")]
mod late_port;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library asks this question")]
mod memory_info;
mod peer;
mod pending;
pub mod poll;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library asks this question")]
mod send_queue;
mod short_sleep;
pub mod sim;
mod table;
mod timer;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the ring shares memory with the kernel")]
pub mod uring;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;

pub use choice::{Choice, DriverSelection, Kind, choose};
pub use chosen::ChosenDriver;
pub use clock::Clock;
pub use error::SocketError;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use heap::give_large_memory_back;
use pacing::Nanos;
pub use peer::Peer;

/// A socket of one driver. The index is small and is reused; the generation distinguishes its owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Socket {
    /// Position in the driver's table.
    pub index: u32,
    /// Number of earlier owners of the position.
    pub generation: u32,
}

/// Bytes that were registered once and can be sent many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template(u32);

impl Template {
    /// The template of a number, for implementations of a driver: the number has a meaning only for the driver that
    /// returned it.
    pub fn new(number: u32) -> Self {
        Self(number)
    }
}

/// Bytes to send, and their owner until the kernel has taken them all.
#[derive(Debug)]
pub enum Outgoing {
    /// Registered bytes: the driver owns them. No event reports that they were sent.
    Template(Template, Range<usize>),
    /// Shared bytes: the driver keeps its reference until [`Event::Sent`].
    Shared(Arc<[u8]>, Range<usize>),
    /// The same of bytes that are sent whole, however many there are: who made them has not copied them to share them.
    Whole(Arc<Vec<u8>>),
    /// A buffer that the driver owns until it comes back with [`Event::Sent`].
    Lent(Vec<u8>),
}

/// What a socket carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketKind {
    /// A stream of bytes: TCP, or a Unix domain socket.
    Stream,
    /// Datagrams (UDP): each [`Sockets::send`] is one, and each [`Event::Received`] is one, whole. They may be lost,
    /// arrive twice, or in another order. The socket lives until it is closed: it is always receiving, has no end of
    /// its own, and a datagram that fails is an [`Event::Refused`].
    Datagram,
}

/// Maximum bytes of a datagram that is received; a longer one is an [`Event::Cut`].
pub const DATAGRAM_BYTES_MAX: usize = 4 * 1_024;

/// The options of a connection.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What it carries.
    pub kind: SocketKind,
    /// The peer.
    pub to: Peer,
    /// The local address; `None` for the kernel's choice. The limit of its ports applies to each peer separately.
    pub from: Option<IpAddr>,
    /// Whether small segments are sent at once (`TCP_NODELAY`); a Unix domain socket has no such option.
    pub no_delay: bool,
}

/// The options of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// What it carries. Only simulated networks listen for datagrams: there each peer is an accepted socket.
    pub kind: SocketKind,
    /// The local address; port 0 for any free one.
    pub on: SocketAddr,
    /// Whether the port is shared with other listeners that set this too.
    pub share_port: bool,
}

/// The bytes that were passed to a socket and had not reached its peer when it failed. For a connection that was never
/// established, only those that waited in the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Bytes that the kernel did not take.
    pub untaken: usize,
    /// The untaken bytes, and those that the peer's kernel has not acknowledged; see [`Sockets::unacknowledged`].
    pub unacknowledged: Option<usize>,
}

/// An event of a socket.
#[derive(Debug)]
pub enum Event<'a> {
    /// A socket that was opened is connected.
    Connected {
        /// The socket.
        socket: Socket,
        /// The instant of the event.
        at: Nanos,
    },
    /// A listener has a new connection; it receives from now on.
    Accepted {
        /// The listener.
        listener: Socket,
        /// The new socket.
        socket: Socket,
    },
    /// Bytes arrived.
    Received {
        /// The socket.
        socket: Socket,
        /// The bytes, borrowed for the length of the call; the receiver may modify them in place.
        bytes: &'a mut [u8],
        /// The instant of the event.
        at: Nanos,
    },
    /// The bytes of a [`Outgoing::Shared`], [`Outgoing::Whole`] or [`Outgoing::Lent`] were taken by the kernel. That of a
    /// datagram comes with a later event: no wait ends for it.
    Sent {
        /// The socket.
        socket: Socket,
        /// The buffer that was lent, if one was.
        buffer: Option<Vec<u8>>,
    },
    /// The peer will send nothing more. The socket is still open for sending.
    PeerClosed {
        /// The socket.
        socket: Socket,
        /// The instant of the event.
        at: Nanos,
    },
    /// The socket failed, and is gone.
    Failed {
        /// The socket.
        socket: Socket,
        /// The reason.
        error: SocketError,
        /// The instant of the event.
        at: Nanos,
        /// Bytes that had not reached the peer by then.
        left: Left,
    },
    /// A datagram did not reach its peer: its host, or this one, has refused it. The socket lives.
    Refused {
        /// The socket.
        socket: Socket,
        /// The reason.
        error: SocketError,
        /// The instant of the event.
        at: Nanos,
    },
    /// A datagram arrived that is longer than [`DATAGRAM_BYTES_MAX`]; it is gone.
    Cut {
        /// The socket.
        socket: Socket,
        /// The instant of the event.
        at: Nanos,
    },
    /// [`Waker::wake`] was called.
    Woken,
}

/// The socket operations. None of them blocks.
pub trait Sockets {
    /// The clock of this driver.
    fn now(&self) -> Nanos;

    /// Registers bytes that will be sent many times.
    fn register(&mut self, bytes: Arc<[u8]>) -> Template;

    /// Starts a connection. [`Event::Connected`] or [`Event::Failed`] follows.
    ///
    /// # Errors
    /// The kernel refuses at once; there is no socket and no event.
    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError>;

    /// Starts listening, and returns the address that was bound.
    ///
    /// # Errors
    /// The address is in use, not ours, or forbidden.
    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError>;

    /// Sends bytes after those that were passed before. A failure comes as [`Event::Failed`], after the received bytes.
    fn send(&mut self, socket: Socket, bytes: Outgoing);

    /// Bytes that were passed to [`Sockets::send`] and that the kernel has not taken yet; 0 for a socket that is gone.
    fn unsent(&mut self, socket: Socket) -> usize;

    /// Bytes that were passed to [`Sockets::send`] and that the peer's kernel has not acknowledged: those that wait in
    /// the driver and those in the kernel. `None` where it cannot be known: the socket is gone or no TCP connection, or
    /// the kernel does not report it. During [`Sockets::shutdown`] it may be one too few.
    ///
    /// At [`Event::PeerClosed`] the peer has acknowledged all that arrived before it closed, so more than 0 means that
    /// the rest came too late, or that a peer that has only half-closed has yet to acknowledge it. A reset acknowledges
    /// nothing, and a peer delays its acknowledgements by some 40 ms: after a reset, more than 0 does not mean that the
    /// bytes were not read.
    ///
    /// It may cost some calls into the kernel, so it is for the end of a connection and not for every request.
    fn unacknowledged(&mut self, socket: Socket) -> Option<usize>;

    /// Whether the peer's kernel has refused, after [`Event::PeerClosed`], bytes that followed the peer's end. Before
    /// that event, and for a socket that is gone, it is false.
    ///
    /// If those bytes are all not [acknowledged](Self::unacknowledged), the peer's program has read none of them: a
    /// peer that has only half-closed accepts what arrives, and does not refuse it.
    fn is_reset(&mut self, socket: Socket) -> bool;

    /// Passes no more bytes to the kernel, and returns how many of the bytes that were passed to [`Sockets::send`] it
    /// did not take. Their buffers are dropped without [`Event::Sent`], and a shutdown queued after them is dropped
    /// too.
    ///
    /// The stream ends in the middle of the sent bytes, so this is for a socket that is about to be closed.
    fn stop_sending(&mut self, socket: Socket) -> usize;

    /// Datagrams for this socket that its kernel has dropped since it was opened, because they were not read fast
    /// enough; 0 for a stream, for a socket that is gone, and where the kernel does not report it.
    ///
    /// It may cost some calls into the kernel, so it is for the end of a socket.
    fn dropped(&mut self, _socket: Socket) -> u64 {
        0
    }

    /// Switches receiving off, so that a slow consumer applies backpressure, or on again. New sockets receive.
    fn receive(&mut self, socket: Socket, on: bool);

    /// Ends our side of the stream, after the queued bytes.
    fn shutdown(&mut self, socket: Socket);

    /// A number that other processes draw differently, for what a peer must not guess. In a simulated network it is
    /// always the same.
    fn entropy(&self) -> u64 {
        0
    }

    /// Closes the socket at once. Buffers that it was sending are dropped.
    fn close(&mut self, socket: Socket);
}

/// What each event of a wait is passed to.
type Handle<'h> = &'h mut dyn FnMut(&mut dyn Sockets, Event<'_>);

/// Waits for events of sockets.
pub trait Driver {
    /// The socket operations, outside of events.
    fn sockets(&mut self) -> &mut dyn Sockets;

    /// The clock of this driver.
    fn now(&self) -> Nanos;

    /// Wakes this driver from another thread.
    fn waker(&self) -> Waker;

    /// Waits until there is an event or `until` has come, and passes each event to `handle`. It may return early.
    ///
    /// # Errors
    /// The driver itself is broken; none of its sockets can be used any more.
    fn wait(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>)) -> Result<(), std::io::Error>;

    /// Allows events to be delayed by up to `span`, so that a wait finds more of them at once and each costs less. No
    /// wait becomes longer by it. Initially zero: events are found at once. A driver may ignore it.
    fn coalesce(&mut self, _span: Nanos) {}

    /// Whether the last [`Driver::wait`] left something ready that it did not report; the next one does not sleep. When
    /// peers are silent it becomes false after some waits. Under load it may stay true, so a loop that waits again
    /// because of it needs a limit.
    fn has_more(&self) -> bool;
}

/// Wakes a driver from another thread.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// A waker that calls `wake`.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// Makes [`Driver::wait`] return with [`Event::Woken`].
    pub fn wake(&self) {
        (self.0)();
    }
}
