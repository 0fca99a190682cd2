//! The stamp of a request is near the instant at which the kernel takes it: many requests that are queued at once are
//! split into many submissions.
#![cfg(target_os = "linux")]

#[macro_use]
extern crate claims;

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use driver::uring::UringDriver;
use driver::{Clock, Driver, Event, OpenOptions, Outgoing, Socket, SocketKind};
use pacing::Nanos;

const CONNECTIONS: usize = 200;
/// Minimum number of submissions for as many requests, on any machine. At first the driver assumes 4 us per request, so
/// five of them fill the 20 us of a stamp; a submission that costs nothing at all lowers that by a sixteenth.
const SUBMISSIONS_MIN: u64 = 20;

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

#[test]
fn a_batch_is_cut_before_its_first_stamp_is_wrong() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut driver = UringDriver::new(Clock::start()).expect("a driver");
    let template = driver.sockets().register(Arc::from(&b"x"[..]));
    let (sockets, peers): (Vec<Socket>, Vec<TcpStream>) =
        (0..CONNECTIONS).map(|_| connect(&mut driver, &listener)).unzip();
    let before = driver.stamp_errors().submissions;
    // All of them are sent to in one turn: without a limit, the first would wait for the last.
    for &socket in &sockets {
        let _ = driver.sockets().now();
        driver.sockets().send(socket, Outgoing::Template(template, 0..1));
    }
    let submissions = driver.stamp_errors().submissions - before;
    assert!(submissions >= SUBMISSIONS_MIN, "{submissions} for {CONNECTIONS} requests");
    let now = driver.now();
    driver.wait(now, |_, _| {}).expect("it works");
    for mut peer in peers {
        let mut byte = [0];
        peer.read_exact(&mut byte).expect("it was sent to");
        assert_eq!(byte, *b"x");
    }
}
