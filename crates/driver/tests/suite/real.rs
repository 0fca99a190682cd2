//! Real sockets: the peers are the standard library's.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::JoinHandle;

use driver::{ChosenDriver, Clock, Driver, Event, Kind, Sockets};
use pacing::Nanos;

use super::{LIMIT, Lab, Peer, Reading, wait_for};

/// Number of wakes until a driver has reported everything: an operation needs two waits, some need three.
const WAKES: usize = 10;

/// Whether the kernel shows its table of connections. Elsewhere bytes sent on loopback are assumed to arrive at once.
const HAS_TABLE: bool = cfg!(target_os = "linux");

pub(super) struct Real<D> {
    driver: D,
    listener: Option<TcpListener>,
    pub(super) datagrams: Option<UdpSocket>,
}

impl Real<ChosenDriver> {
    pub(super) fn chosen(kind: Kind) -> Self {
        let driver = ChosenDriver::new(kind, Clock::start()).expect("a driver");
        Self { driver, listener: None, datagrams: None }
    }
}

impl<D: Driver> Real<D> {
    /// The kernel's rows of the driver's connections to the listening peer: bytes that arrived and were not read. A
    /// connection that was reset has no row.
    fn unread_of_each(&self) -> Vec<usize> {
        let address = self.listener.as_ref().expect("it listens").local_addr().expect("an address");
        let SocketAddr::V4(address) = address else { panic!("{address} is not of version 4") };
        let to = format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
        // `sl local_address rem_address st tx_queue:rx_queue ...`
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = rows.filter(|row| row.get(2).is_some_and(|peer| *peer == to));
        let unread =
            ours.map(|row| row[4].split_once(':').and_then(|(_, unread)| usize::from_str_radix(unread, 16).ok()));
        unread.map(|unread| unread.expect("a number")).collect()
    }
}

impl<D: Driver> Lab for Real<D> {
    type Driver = D;
    type Peer = TcpStream;

    const IS_SIMULATED: bool = false;

    fn driver(&mut self) -> &mut D {
        &mut self.driver
    }

    fn wait_with(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>)) {
        self.driver.wait(until, handle).expect("the driver works");
    }

    fn far(&mut self) -> Nanos {
        self.driver.now() + Nanos::from(LIMIT)
    }

    /// Wakes itself: each wake is reported by a wait of its own, which reports everything that is ready.
    fn catch_up(&mut self, mut handle: impl FnMut(Event<'_>)) {
        let waker = self.driver.waker();
        for _ in 0..WAKES {
            waker.wake();
            wait_for(self, &mut false, |lab, is_woken| {
                let far = lab.far();
                lab.wait(far, |event| match event {
                    Event::Woken => *is_woken = true,
                    other => handle(other),
                });
                *is_woken
            });
        }
    }

    fn await_ready(&mut self, bytes: usize) {
        wait_for(self, &mut 0, |lab, ready| {
            *ready = lab.unread_of_each().iter().sum();
            *ready >= bytes || !HAS_TABLE
        });
    }

    fn await_reset(&mut self) {
        wait_for(self, &mut Vec::new(), |lab, left| {
            *left = lab.unread_of_each();
            left.is_empty() || !HAS_TABLE
        });
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

    fn unread(&mut self) -> usize {
        rustix::io::ioctl_fionread(&*self).expect("it is connected") as usize
    }

    fn read_to_end(mut self) -> impl Reading {
        self.set_read_timeout(Some(LIMIT)).expect("a timeout");
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            Read::read_to_end(&mut self, &mut bytes).expect("all of it");
            bytes
        })
    }
}

impl Reading for JoinHandle<Vec<u8>> {
    fn is_over(&self) -> bool {
        self.is_finished()
    }

    fn take(self) -> Vec<u8> {
        self.join().expect("the reader ends")
    }
}
