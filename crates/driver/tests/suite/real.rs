//! Real sockets: the peers are the standard library's.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use driver::{Clock, Driver, Event};
use pacing::Nanos;

use super::{Lab, Peer};

/// A peer that hears nothing for so long hears nothing any more.
const READ_PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Real<D> {
    driver: D,
    listener: Option<TcpListener>,
}

impl<D: Driver> Real<D> {
    pub(super) fn on(make: impl FnOnce(Clock) -> Result<D, std::io::Error>) -> Self {
        Self { driver: make(Clock::start()).expect("a driver"), listener: None }
    }
}

impl<D: Driver> Lab for Real<D> {
    type Driver = D;
    type Peer = TcpStream;

    fn driver(&mut self) -> &mut D {
        &mut self.driver
    }

    fn wait_with(&mut self, until: Nanos, handle: impl FnMut(&mut D::Sockets, Event<'_>)) {
        self.driver.wait(until, handle).expect("the driver works");
    }

    fn listen(&mut self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        self.listener.insert(listener).local_addr().expect("an address")
    }

    fn accept(&mut self) -> TcpStream {
        self.listener.as_ref().expect("it listens").accept().expect("a connection").0
    }

    fn nobody(&mut self) -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address")
    }

    fn connect(&mut self, to: SocketAddr) -> TcpStream {
        TcpStream::connect(to).expect("a connection")
    }
}

impl Peer for TcpStream {
    fn write_all(&mut self, bytes: &[u8]) {
        Write::write_all(self, bytes).expect("it goes out");
    }

    fn try_write(&mut self, bytes: &[u8]) -> usize {
        self.set_nonblocking(true).expect("a flag");
        self.write(bytes).unwrap_or(0)
    }

    fn read_exact(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        Read::read_exact(self, &mut bytes).expect("all of it");
        bytes
    }

    fn end_writing(&mut self) {
        self.shutdown(std::net::Shutdown::Write).expect("it is connected");
    }

    fn pause(&mut self) {}

    fn await_unread(&mut self) {
        self.peek(&mut [0]).expect("it has arrived");
    }

    fn read_to_end(mut self) -> impl FnOnce() -> Vec<u8> {
        self.set_read_timeout(Some(READ_PATIENCE)).expect("a timeout");
        let thread = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            Read::read_to_end(&mut self, &mut bytes).expect("all of it");
            bytes
        });
        || thread.join().expect("the reader ends")
    }
}
