//! Connections to the page: a bounded number of them, each with a bound for what it sends and for how long it says
//! nothing.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// Connections at a time: one scraper has one, and a person a few. Others wait until one is closed.
pub(super) const CONNECTIONS_MAX: usize = 16;
/// Bytes of a request: Prometheus sends 500.
pub(super) const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// A connection on which nothing happens for so long is closed; scrapers come every minute at least.
const IDLE_MAX: Duration = Duration::from_secs(90);
/// After the first byte of a request, the rest of it must come, and its answer go, within this time.
const REQUEST_WAIT_MAX: Duration = Duration::from_secs(10);

/// Accepts as long as there is room.
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let permit = self.room.clone().acquire_owned().await.expect("nobody closes it");
        let (stream, address) = axum::serve::Listener::accept(&mut self.listener).await;
        let idle = Box::pin(tokio::time::sleep(IDLE_MAX));
        (Connection { stream, _permit: permit, read_bytes: 0, until: idle }, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that has its bounds.
pub(super) struct Connection {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
    /// Since something was written last.
    read_bytes: usize,
    until: Pin<Box<Sleep>>,
}

impl Connection {
    fn wait(&mut self, span: Duration) {
        self.until.as_mut().reset(tokio::time::Instant::now() + span);
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        self.until.as_mut().poll(context).is_ready()
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
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = buffer.filled().len() - before;
        if count > 0 && self.read_bytes == 0 {
            self.wait(REQUEST_WAIT_MAX);
        }
        self.read_bytes += count;
        if self.read_bytes > REQUEST_BYTES_MAX {
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
            self.wait(IDLE_MAX);
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
