//! Incoming HTTP connections to pages of onrush (the web page, the Prometheus page): bounded in number, bytes and
//! idle time.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of concurrent connections.
    pub connections: usize,
    /// Handling of connections beyond that number.
    pub when_full: WhenFull,
    /// Maximum bytes of a request.
    pub request_bytes: usize,
    /// Idle timeout of a connection.
    pub idle: Duration,
    /// Time limit from the first byte of a request until the rest of it has arrived and its response begins.
    pub request: Duration,
}

/// Handling of a connection beyond the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits until another one is closed.
    Wait,
    /// The oldest connection that is not vouched for is closed; the new one waits when there is none.
    CloseOldest,
}

/// The state of a connection that its handler can set.
#[derive(Debug, Default)]
pub struct Guest {
    is_known: AtomicBool,
    is_gone: AtomicBool,
    /// Whether its request has arrived completely; the remaining time is that of the response.
    is_served: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Guest {
    /// Vouches for the connection: it is not closed in favour of others.
    pub fn vouch(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Marks the request as read: the limit [`Bounds::request`] no longer applies. The caller limits the time of the
    /// response itself.
    pub fn serve(&self) {
        self.is_served.store(true, Ordering::Relaxed);
    }

    fn send_away(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
        if let Some(waker) = self.waker().take() {
            waker.wake();
        }
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts connections as long as there is room.
#[derive(Debug)]
pub struct Bounded {
    listener: TcpListener,
    bounds: Bounds,
    room: Arc<Semaphore>,
    /// Connections that may be closed in favour of others, the oldest first; some are closed already.
    guests: VecDeque<Weak<Guest>>,
}

impl Bounded {
    /// A listener with these limits.
    pub fn new(listener: TcpListener, bounds: Bounds) -> Self {
        Self { listener, bounds, room: Arc::new(Semaphore::new(bounds.connections)), guests: VecDeque::new() }
    }

    fn connection(&mut self, stream: TcpStream, permit: OwnedSemaphorePermit) -> Connection {
        let guest = Arc::new(Guest::default());
        if self.bounds.when_full == WhenFull::CloseOldest {
            self.guests.push_back(Arc::downgrade(&guest));
        }
        let until = Box::pin(tokio::time::sleep(self.bounds.idle));
        Connection { stream, _permit: permit, bounds: self.bounds, guest, read_bytes: 0, until }
    }

    /// Makes room when there is none.
    fn make_room(&mut self) {
        self.guests.retain(|guest| guest.strong_count() > 0);
        if self.room.available_permits() > 0 {
            return;
        }
        let is_stranger =
            |guest: &Arc<Guest>| !guest.is_known.load(Ordering::Relaxed) && !guest.is_gone.load(Ordering::Relaxed);
        if let Some(oldest) = self.guests.iter().filter_map(Weak::upgrade).find(is_stranger) {
            oldest.send_away();
        }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // A connection that waits in the backlog is not counted: it is established, and has sent nothing.
        if self.bounds.when_full == WhenFull::Wait {
            let permit = self.room.clone().acquire_owned().await.expect("nobody closes it");
            let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
            return (self.connection(stream, permit), address);
        }
        let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
        self.make_room();
        let permit = self.room.clone().acquire_owned().await.expect("nobody closes it");
        (self.connection(stream, permit), address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with its limits.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
    bounds: Bounds,
    guest: Arc<Guest>,
    /// Bytes read since the last write.
    read_bytes: usize,
    until: Pin<Box<Sleep>>,
}

impl Connection {
    /// The state that its handler can set.
    pub fn guest(&self) -> Arc<Guest> {
        self.guest.clone()
    }

    fn wait(&mut self, span: Duration) {
        self.until.as_mut().reset(tokio::time::Instant::now() + span);
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let is_late = self.until.as_mut().poll(context).is_ready();
        is_late && !self.guest.is_served.load(Ordering::Relaxed)
    }

    /// Whether it was closed in favour of others; otherwise registers the waker for that.
    fn is_sent_away(&self, context: &Context<'_>) -> bool {
        *self.guest.waker() = Some(context.waker().clone());
        self.guest.is_gone.load(Ordering::Relaxed)
    }
}

fn too_much(what: &str) -> Poll<std::io::Result<()>> {
    Poll::Ready(Err(Error::new(ErrorKind::InvalidData, what.to_owned())))
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.is_sent_away(context) {
            return too_much("others are waiting");
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = buffer.filled().len() - before;
        if count > 0 && self.read_bytes == 0 {
            let span = self.bounds.request;
            self.wait(span);
        }
        self.read_bytes += count;
        if self.read_bytes > self.bounds.request_bytes {
            return too_much("the request is too large");
        }
        if self.is_late(context) { too_much("the request takes too long") } else { read }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(_)) = written {
            self.read_bytes = 0;
            self.guest.is_served.store(false, Ordering::Relaxed);
            let span = self.bounds.idle;
            self.wait(span);
        } else if self.is_late(context) {
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the answer is not read")));
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
