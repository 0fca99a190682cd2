//! Receives on io_uring that go on into large buffers: no byte is lost or reordered, whatever happens meanwhile.
#![cfg(target_os = "linux")]

#[macro_use]
extern crate claims;

use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream};

use driver::uring::UringDriver;
use driver::{Clock, Driver, Event, OpenOptions, Socket, SocketKind};
use pacing::Nanos;

/// Bytes that one connection receives.
const TOTAL: usize = 4 << 20;
/// More connections than there are large buffers at first.
const CONNECTIONS: usize = 40;

/// Size of a small buffer of the driver.
const SMALL_BYTES: usize = 4_096;
/// Many small buffers.
const WRITTEN_MIN: usize = 64 * SMALL_BYTES;

fn byte_at(place: usize) -> u8 {
    (place / 3 % 251) as u8
}

/// A connection and its peer.
fn connect(driver: &mut UringDriver, listener: &TcpListener) -> (Socket, TcpStream) {
    let to = listener.local_addr().expect("an address");
    let socket = driver
        .sockets()
        .open(&OpenOptions { kind: SocketKind::Stream, to: to.into(), from: None, no_delay: true })
        .expect("a socket");
    let mut is_connected = false;
    while !is_connected {
        let soon = driver.now() + Nanos::from_millis(20);
        driver.wait(soon, |_, event| is_connected |= matches!(event, Event::Connected { .. })).expect("it works");
    }
    (socket, listener.accept().expect("it is there").0)
}

/// Writes all bytes on a thread of its own, in pieces, and closes.
fn write_all(mut peer: TcpStream, piece: usize) {
    std::thread::spawn(move || {
        let bytes: Vec<u8> = (0..TOTAL).map(byte_at).collect();
        for part in bytes.chunks(piece) {
            if peer.write_all(part).is_err() {
                return;
            }
        }
    });
}

/// Writes as much as the kernel takes without waiting, and closes; returns how much that was.
fn write_what_fits(mut peer: TcpStream) -> usize {
    let bytes: Vec<u8> = (0..TOTAL).map(byte_at).collect();
    peer.set_nonblocking(true).expect("a flag");
    let mut written = 0;
    while written < TOTAL {
        match peer.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    written
}

#[derive(Default)]
struct Seen {
    bytes: usize,
    events: usize,
    is_over: bool,
}

/// Receives everything, switching each socket off for a moment every `pause_every` receives, and closing those in
/// `closed` halfway.
fn receive_all(sockets: &[Socket], driver: &mut UringDriver, pause_every: usize, closed: &[Socket]) -> Vec<Seen> {
    let mut seen: Vec<Seen> = sockets.iter().map(|_| Seen::default()).collect();
    let mut paused = Vec::new();
    let mut turns = 0;
    claims::as_one(|| {
        while !seen.iter().all(|one| one.is_over) {
            turns += 1;
            assert!(turns < 2_000_000, "it does not end");
            let soon = driver.now() + Nanos::from_millis(1);
            let wait = driver.wait(soon, |driver, event| {
                let place = |socket| sockets.iter().position(|own| *own == socket).expect("one of ours");
                match event {
                    Event::Received { socket, bytes, .. } => {
                        let one = &mut seen[place(socket)];
                        for (number, byte) in bytes.iter().enumerate() {
                            assert_eq!(*byte, byte_at(one.bytes + number), "byte {} of {socket:?}", one.bytes + number);
                        }
                        one.bytes += bytes.len();
                        one.events += 1;
                        if closed.contains(&socket) && one.bytes > TOTAL / 2 {
                            one.is_over = true;
                            driver.close(socket);
                        } else if one.events.is_multiple_of(pause_every) {
                            driver.receive(socket, false);
                            paused.push(socket);
                        }
                    }
                    Event::PeerClosed { socket, .. } => {
                        seen[place(socket)].is_over = true;
                        driver.close(socket);
                    }
                    Event::Failed { socket, error, .. } => panic!("{socket:?}: {error:?}"),
                    _ => {}
                }
            });
            wait.expect("it works");
            for socket in paused.drain(..) {
                driver.sockets().receive(socket, true);
            }
        }
    });
    seen
}

#[test]
fn large_receives_come_whole_and_in_few_pieces() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut driver = UringDriver::new(Clock::start()).expect("a driver");
    let (socket, peer) = connect(&mut driver, &listener);
    // The kernel holds all of it before the first wait, so no writer has to keep up.
    let written = write_what_fits(peer);
    assert!(written > WRITTEN_MIN, "the kernel took {written} bytes only");
    let seen = receive_all(&[socket], &mut driver, usize::MAX, &[]);
    assert_eq!(seen[0].bytes, written);
    // Small buffers would need more than twice as many events.
    assert!(seen[0].events < written / SMALL_BYTES / 2, "{} pieces of {written} bytes", seen[0].events);
}

#[test]
fn many_at_once_with_pauses_and_closes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    for (piece, pause_every) in [(64 * 1_024, 1), (5_000, 7), (4_096, 3), (100_000, usize::MAX)] {
        let mut driver = UringDriver::new(Clock::start()).expect("a driver");
        let (sockets, peers): (Vec<Socket>, Vec<TcpStream>) =
            (0..CONNECTIONS).map(|_| connect(&mut driver, &listener)).unzip();
        peers.into_iter().for_each(|peer| write_all(peer, piece));
        let closed: Vec<Socket> = sockets.iter().step_by(5).copied().collect();
        let seen = receive_all(&sockets, &mut driver, pause_every, &closed);
        for (socket, one) in sockets.iter().zip(&seen) {
            let is_whole = if closed.contains(socket) { one.bytes > TOTAL / 2 } else { one.bytes == TOTAL };
            assert!(is_whole, "{} bytes of {socket:?}, pieces of {piece}", one.bytes);
        }
    }
}
