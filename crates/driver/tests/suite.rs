//! What every driver must do, on real sockets. Each test is written once and runs on each driver.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::poll::PollDriver;
#[cfg(target_os = "linux")]
use driver::uring::UringDriver;
use driver::{Clock, Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, Sockets};
use pacing::Nanos;

/// An event with its bytes kept.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Connected(Socket),
    Accepted(Socket),
    Received(Socket, Vec<u8>),
    Sent(Socket, Option<usize>),
    PeerClosed(Socket),
    Failed(Socket, SocketError),
    Woken,
}

fn seen(event: Event<'_>) -> Seen {
    match event {
        Event::Connected { socket, .. } => Seen::Connected(socket),
        Event::Accepted { socket, .. } => Seen::Accepted(socket),
        Event::Received { socket, bytes, .. } => Seen::Received(socket, bytes.to_vec()),
        Event::Sent { socket, buffer } => Seen::Sent(socket, buffer.map(|buffer| buffer.len())),
        Event::PeerClosed { socket, .. } => Seen::PeerClosed(socket),
        Event::Failed { socket, error, .. } => Seen::Failed(socket, error),
        Event::Woken => Seen::Woken,
    }
}

/// Waits for events until `done` says so; a test that never gets there fails after ten seconds.
fn until<D: Driver>(driver: &mut D, mut done: impl FnMut(&[Seen]) -> bool) -> Vec<Seen> {
    let mut all = Vec::new();
    let give_up = Instant::now() + Duration::from_secs(10);
    while !done(&all) {
        assert!(Instant::now() < give_up, "only this came: {all:?}");
        let soon = driver.sockets().now() + Nanos::from_millis(50);
        driver.wait(soon, |_, event| all.push(seen(event))).expect("the driver works");
    }
    all
}

fn received(all: &[Seen]) -> Vec<u8> {
    let pieces = all.iter().filter_map(|seen| match seen {
        Seen::Received(_, bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    pieces.collect::<Vec<_>>().concat()
}

fn open<D: Driver>(driver: &mut D, to: SocketAddr) -> Socket {
    driver.sockets().open(&OpenOptions { to, no_delay: true }).expect("a socket")
}

/// A connection of the driver to a plain socket of the test.
fn connected<D: Driver>(driver: &mut D) -> (Socket, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let socket = open(driver, listener.local_addr().expect("an address"));
    until(driver, |all| all.contains(&Seen::Connected(socket)));
    let (peer, _) = listener.accept().expect("a connection");
    (socket, peer)
}

fn sends_and_receives<D: Driver>(mut driver: D) {
    let (socket, mut peer) = connected(&mut driver);
    let template = driver.sockets().register(Arc::from(&b"hello, peer"[..]));
    driver.sockets().send(socket, Outgoing::Template(template, 0..5));
    driver.sockets().send(socket, Outgoing::Shared(Arc::from(&b"xx shared"[..]), 2..9));
    driver.sockets().send(socket, Outgoing::Lent(b" lent".to_vec()));
    let told = until(&mut driver, |all| all.len() >= 2);
    assert_eq!(told, [Seen::Sent(socket, None), Seen::Sent(socket, Some(5))], "templates are not told");
    let mut bytes = [0; 17];
    peer.read_exact(&mut bytes).expect("all of it");
    assert_eq!(&bytes, b"hello shared lent");
    peer.write_all(b"answer").expect("it goes out");
    let all = until(&mut driver, |all| received(all).len() == 6);
    assert_eq!(received(&all), b"answer");
}

fn tells_the_end_after_the_data<D: Driver>(mut driver: D) {
    let (socket, mut peer) = connected(&mut driver);
    peer.write_all(&vec![7; 300_000]).expect("it goes out");
    drop(peer);
    let all = until(&mut driver, |all| all.contains(&Seen::PeerClosed(socket)));
    assert_eq!(received(&all).len(), 300_000);
    assert_eq!(all.last(), Some(&Seen::PeerClosed(socket)), "the end comes last");
    driver.sockets().close(socket);
}

fn refused_is_told<D: Driver>(mut driver: D) {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    match driver.sockets().open(&OpenOptions { to: nobody, no_delay: false }) {
        Err(error) => assert_eq!(error, SocketError::Refused),
        Ok(socket) => {
            let all = until(&mut driver, |all| !all.is_empty());
            assert_eq!(all, [Seen::Failed(socket, SocketError::Refused)]);
        }
    }
}

fn a_reset_is_told_once<D: Driver>(mut driver: D) {
    let (socket, peer) = connected(&mut driver);
    driver.sockets().send(socket, Outgoing::Lent(b"unread".to_vec()));
    until(&mut driver, |all| !all.is_empty());
    peer.peek(&mut [0]).expect("it has arrived");
    // Closing with unread data resets.
    drop(peer);
    let all = until(&mut driver, |all| all.contains(&Seen::Failed(socket, SocketError::Reset)));
    assert_eq!(all.len(), 1);
    driver.wait(Nanos::ZERO, |_, event| panic!("after its end: {event:?}")).expect("the driver works");
}

fn a_slow_consumer_pushes_back<D: Driver>(mut driver: D) {
    let (socket, peer) = connected(&mut driver);
    driver.sockets().receive(socket, false);
    peer.set_nonblocking(true).expect("a flag");
    let mut written = 0;
    let mut idle = 0;
    while idle < 20 {
        match (&peer).write(&[1; 65_536]) {
            Ok(count) => (written, idle) = (written + count, 0),
            Err(_) => idle += 1,
        }
        let soon = driver.sockets().now() + Nanos::from_millis(2);
        driver.wait(soon, |_, event| panic!("receiving is off: {event:?}")).expect("the driver works");
    }
    assert!(written < 64 << 20, "{written} bytes went to a reader that does not read");
    driver.sockets().receive(socket, true);
    let all = until(&mut driver, |all| received(all).len() >= written);
    assert_eq!(received(&all).len(), written);
}

fn large_sends_arrive_in_order<D: Driver>(mut driver: D) {
    const PIECES: usize = 40;
    const PIECE_BYTES: usize = 200_000;
    let (socket, mut peer) = connected(&mut driver);
    for piece in 0..PIECES {
        driver.sockets().send(socket, Outgoing::Lent(vec![piece as u8; PIECE_BYTES]));
    }
    driver.sockets().shutdown(socket);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).expect("all of it");
        bytes
    });
    // The reader ends when it has heard our end, and then tells its own.
    let all = until(&mut driver, |all| all.contains(&Seen::PeerClosed(socket)));
    assert_eq!(all.iter().filter(|seen| matches!(seen, Seen::Sent(..))).count(), PIECES);
    assert!(all.iter().all(|seen| matches!(seen, Seen::Sent(_, Some(PIECE_BYTES)) | Seen::PeerClosed(_))));
    let bytes = reader.join().expect("the reader ends");
    assert_eq!(bytes.len(), PIECES * PIECE_BYTES);
    assert!(bytes.chunks(PIECE_BYTES).enumerate().all(|(piece, chunk)| chunk.iter().all(|&byte| byte == piece as u8)));
}

fn accepts_many<D: Driver>(mut driver: D) {
    let options = ListenOptions { on: "127.0.0.1:0".parse().expect("an address"), share_port: false };
    let (_, address) = driver.sockets().listen(&options).expect("a port");
    // A verb may wait for the next look.
    driver.wait(Nanos::ZERO, |_, event| panic!("nobody is there: {event:?}")).expect("the driver works");
    let mut peers: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(address).expect("a connection")).collect();
    for (number, peer) in peers.iter_mut().enumerate() {
        peer.write_all(&[number as u8]).expect("it goes out");
    }
    let all = until(&mut driver, |all| received(all).len() == 100);
    assert_eq!(all.iter().filter(|seen| matches!(seen, Seen::Accepted(_))).count(), 100);
    let mut bytes = received(&all);
    bytes.sort_unstable();
    assert_eq!(bytes, (0..100).collect::<Vec<u8>>());
}

fn a_taken_address_is_refused<D: Driver>(mut driver: D) {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let on = taken.local_addr().expect("an address");
    assert_eq!(
        driver.sockets().listen(&ListenOptions { on, share_port: false }).err(),
        Some(SocketError::AddressInUse)
    );
}

fn a_closed_socket_says_nothing<D: Driver>(mut driver: D) {
    let (socket, mut peer) = connected(&mut driver);
    peer.write_all(b"too late").expect("it goes out");
    driver.sockets().close(socket);
    driver.sockets().send(socket, Outgoing::Lent(b"nowhere".to_vec()));
    driver.sockets().receive(socket, true);
    driver.sockets().shutdown(socket);
    driver.sockets().close(socket);
    let soon = driver.sockets().now() + Nanos::from_millis(30);
    driver.wait(soon, |_, event| panic!("from a closed socket: {event:?}")).expect("the driver works");
    let (next, _peer) = connected(&mut driver);
    assert_ne!(next, socket, "a socket of another generation");
}

fn waits_as_long_as_asked<D: Driver>(mut driver: D) {
    for span in [Nanos(300_000), Nanos::from_millis(3), Nanos::from_millis(90)] {
        let begun = driver.sockets().now();
        let until = begun + span;
        while driver.sockets().now() < until {
            driver.wait(until, |_, event| panic!("nothing happens: {event:?}")).expect("the driver works");
        }
        let late = driver.sockets().now().since(until);
        assert!(late < Nanos::from_millis(50), "late by {late:?} after {span:?}");
    }
}

fn another_thread_wakes_it<D: Driver>(mut driver: D) {
    let waker = driver.waker();
    let thread = std::thread::spawn(move || waker.wake());
    let all = until(&mut driver, |all| !all.is_empty());
    assert_eq!(all, [Seen::Woken]);
    thread.join().expect("the thread ends");
}

macro_rules! on_each_driver {
    ($($test:ident)*) => {
        mod poll {
            $(#[test] fn $test() { super::$test(super::PollDriver::new(super::Clock::start()).expect("a driver")); })*
        }

        #[cfg(target_os = "linux")]
        mod uring {
            $(#[test] fn $test() { super::$test(super::UringDriver::new(super::Clock::start()).expect("a driver")); })*
        }
    };
}

on_each_driver! {
    sends_and_receives
    tells_the_end_after_the_data
    refused_is_told
    a_reset_is_told_once
    a_slow_consumer_pushes_back
    large_sends_arrive_in_order
    accepts_many
    a_taken_address_is_refused
    a_closed_socket_says_nothing
    waits_as_long_as_asked
    another_thread_wakes_it
}
