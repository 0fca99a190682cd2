//! Sockets, time and wake-ups behind one completion-shaped trait.
//!
//! A [`Driver`] knows sockets, not the connections of a protocol. Its verbs ([`Sockets`]) start an operation; the
//! result is an [`Event`] from [`Driver::wait`]. `uring` runs on io_uring, `poll` on mio (epoll), `sim` on virtual
//! time; `choice` selects one and says why. The test suite (`tests/suite`) is written once for all of them.
//!
//! - Verbs can be used while events are handled, since the bytes of an event belong to the driver, not to the caller.
//!   A verb may take effect with the next `wait`.
//! - Every send says who owns its bytes: a registered template, a shared `Arc`, or a buffer that comes back with
//!   `Sent`.
//! - Each event that is measured carries its instant.
//! - A closed socket gives no further event. Indices are reused; generations tell owners apart.
//!
//! This is the only crate with unsafe code, each block with its SAFETY line.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod choice;
mod clock;
mod error;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no library has this setting")]
mod heap;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library has this option")]
mod late_port;
mod nap;
mod peer;
mod pending;
pub mod poll;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library asks this question")]
mod send_queue;
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
pub use clock::Clock;
pub use error::SocketError;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use heap::give_large_memory_back;
use pacing::Nanos;
pub use peer::Peer;

/// A socket of one driver. The index is small and is used again; the generation tells its owners apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Socket {
    /// Position in the driver's table.
    pub index: u32,
    /// How many owners the position had before.
    pub generation: u32,
}

/// Bytes that were registered once and can be sent often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template(u32);

impl Template {
    /// The template of a number, for whoever writes a driver: only the driver that gave it knows what it means.
    pub fn new(number: u32) -> Self {
        Self(number)
    }
}

/// Bytes to send, and who owns them until the kernel has taken them all.
#[derive(Debug)]
pub enum Outgoing {
    /// Registered bytes: the driver owns them. No event says that they were sent.
    Template(Template, Range<usize>),
    /// Shared bytes: the driver keeps its reference until [`Event::Sent`].
    Shared(Arc<[u8]>, Range<usize>),
    /// A buffer that the driver owns until it comes back with [`Event::Sent`].
    Lent(Vec<u8>),
}

/// Where to connect, and how.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The peer.
    pub to: Peer,
    /// The address of ours that it comes from; `None` for the kernel's choice. Its ports are counted for each peer by itself.
    pub from: Option<IpAddr>,
    /// Sends small segments at once (`TCP_NODELAY`); a socket of this machine alone has none.
    pub no_delay: bool,
}

/// Where to listen, and how.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// The local address; port 0 for any free one.
    pub on: SocketAddr,
    /// Shares the port with other listeners that ask for it too.
    pub share_port: bool,
}

/// What was given to a socket and had not reached its peer when it failed. A connection that never came about has only
/// what waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Bytes that the kernel never took.
    pub untaken: usize,
    /// These, and those that the peer's kernel has not acknowledged; see [`Sockets::unacknowledged`].
    pub unacknowledged: Option<usize>,
}

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A socket that was opened is connected.
    Connected {
        /// Which.
        socket: Socket,
        /// When.
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
        /// Which.
        socket: Socket,
        /// They are lent for the length of the call; the machine that takes them may change them in place.
        bytes: &'a mut [u8],
        /// When.
        at: Nanos,
    },
    /// The bytes of a [`Outgoing::Shared`] or [`Outgoing::Lent`] were taken by the kernel.
    Sent {
        /// Which.
        socket: Socket,
        /// The buffer that was lent, if one was.
        buffer: Option<Vec<u8>>,
    },
    /// The peer will send nothing more. The socket is still open for sending.
    PeerClosed {
        /// Which.
        socket: Socket,
        /// When.
        at: Nanos,
    },
    /// The socket failed, and is gone.
    Failed {
        /// Which.
        socket: Socket,
        /// Why.
        error: SocketError,
        /// When.
        at: Nanos,
        /// What had not reached the peer by then.
        left: Left,
    },
    /// Somebody called [`Waker::wake`].
    Woken,
}

/// What can be asked of sockets. No verb blocks.
pub trait Sockets {
    /// The clock of this driver.
    fn now(&self) -> Nanos;

    /// Registers bytes that will be sent often.
    fn register(&mut self, bytes: Arc<[u8]>) -> Template;

    /// Starts a connection. [`Event::Connected`] or [`Event::Failed`] follows.
    ///
    /// # Errors
    /// The kernel refuses at once; there is no socket and no event.
    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError>;

    /// Listens, and gives the address that was taken.
    ///
    /// # Errors
    /// The address is in use, not ours, or forbidden.
    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError>;

    /// Sends bytes after those that were given before. A failure comes as [`Event::Failed`], after what was received.
    fn send(&mut self, socket: Socket, bytes: Outgoing);

    /// Bytes that were given to [`Sockets::send`] and that the kernel has not taken yet; 0 for a socket that is gone.
    fn unsent(&mut self, socket: Socket) -> usize;

    /// Bytes that were given to [`Sockets::send`] and that the peer's kernel has not acknowledged: what waits in the
    /// driver and what the kernel holds. `None` where it cannot be known: the socket is gone or no TCP connection, or
    /// the kernel does not answer. While [`Sockets::shutdown`] is on its way it may be one too few.
    ///
    /// At [`Event::PeerClosed`] the peer has acknowledged all that came before it closed, so more than 0 says that the
    /// rest came too late, or that a peer that has only half-closed has yet to acknowledge it. A reset acknowledges
    /// nothing, and a peer delays its acknowledgements by some 40 ms: after a reset, more than 0 does not say that
    /// nobody read them.
    ///
    /// It may cost some calls into the kernel, so it is for the end of a connection and not for every request.
    fn unacknowledged(&mut self, socket: Socket) -> Option<usize>;

    /// Whether the peer's kernel has refused, after [`Event::PeerClosed`], what came behind the peer's end. Before that event, and of a
    /// socket that is gone, it is false.
    ///
    /// With all of that not [acknowledged](Self::unacknowledged), nobody there has read it: a peer that has only half-closed takes what
    /// comes, and does not refuse it.
    fn is_reset(&mut self, socket: Socket) -> bool;

    /// Gives nothing more to the kernel, and says how many of the bytes that were given to [`Sockets::send`] it never
    /// took. Their buffers are dropped, no [`Event::Sent`] tells of them, and a shutdown that waited behind them is
    /// forgotten.
    ///
    /// The stream ends in the middle of what was sent, so this is for a socket that is about to be closed.
    fn stop_sending(&mut self, socket: Socket) -> usize;

    /// Switches receiving off, so that a slow consumer pushes back, or on again. New sockets receive.
    fn receive(&mut self, socket: Socket, on: bool);

    /// Says that nothing more will be sent, after what is queued.
    fn shutdown(&mut self, socket: Socket);

    /// Ends the socket at once. Buffers that it was sending are dropped.
    fn close(&mut self, socket: Socket);
}

/// Waits for what happens to sockets.
pub trait Driver {
    /// The verbs.
    type Sockets: Sockets;

    /// The verbs, outside of events.
    fn sockets(&mut self) -> &mut Self::Sockets;

    /// The clock of this driver.
    fn now(&self) -> Nanos;

    /// Wakes this driver from another thread.
    fn waker(&self) -> Waker;

    /// Waits until something happened or `until` has come, and gives each event to `handle`. It may return early.
    ///
    /// # Errors
    /// The driver itself is broken; no socket of it can be used any more.
    fn wait(&mut self, until: Nanos, handle: impl FnMut(&mut Self::Sockets, Event<'_>)) -> Result<(), std::io::Error>;

    /// What comes to the sockets may lie unseen for so long, so that a wait finds more at once and each costs less. No wait becomes
    /// longer by it. At first it is zero: all is seen at once. A driver may do without.
    fn gather(&mut self, _span: Nanos) {}

    /// The last [`Driver::wait`] left something that was ready and that it did not tell; the next one does not sleep.
    /// When peers are silent it becomes false after some waits. Under load it may stay true, so whoever waits again
    /// because of it needs a bound.
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
