//! Requirements for every driver. Each test is written once and runs on each driver: on real sockets against the
//! standard library's, and in simulated networks of several seeds.

#[macro_use]
extern crate claims;

#[cfg(target_os = "linux")]
mod coalescing;
mod datagrams;
mod ready;
mod real;
mod simulated;
mod taken;

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use datagrams::*;
use driver::{Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, SocketKind, Sockets};
use pacing::Nanos;
use ready::*;
use taken::*;

/// A driver, and independent peers.
trait Lab {
    type Driver: Driver;
    type Peer: Peer;

    fn driver(&mut self) -> &mut Self::Driver;

    /// One wait of the driver, while the peers go on.
    fn wait(&mut self, until: Nanos, mut handle: impl FnMut(Event<'_>)) {
        self.wait_with(until, |_, event| handle(event));
    }

    /// The same for a handler that uses socket operations.
    fn wait_with(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>));

    /// Whether its time is virtual, and its faults may delay completions.
    const IS_SIMULATED: bool;

    /// An instant that no test reaches in real time, since every event ends a wait. Virtual time costs nothing.
    fn far(&mut self) -> Nanos;

    /// Goes on until all consequences of earlier operations can have been reported, and reports them.
    fn catch_up(&mut self, handle: impl FnMut(Event<'_>));

    /// Waits until `bytes` bytes have arrived at sockets of the driver that connected to [`Lab::listen`], and were not
    /// read.
    fn await_ready(&mut self, bytes: usize);

    /// Waits until the connections to [`Lab::listen`] have been reset, before the reset is reported.
    fn await_reset(&mut self);

    /// `count`, or fewer to keep a test of many networks quick.
    fn scale(&self, count: usize) -> usize {
        count
    }

    /// Starts a listening peer.
    fn listen(&mut self) -> SocketAddr;

    /// The next connection to the listening peer.
    fn accept(&mut self) -> Self::Peer;

    /// An address without a listener.
    fn nobody(&mut self) -> SocketAddr;

    /// A peer that connects.
    fn connect(&mut self, to: SocketAddr) -> Self::Peer;
}

/// The other end of a connection. Dropping it closes it.
trait Peer {
    fn write_all(&mut self, bytes: &[u8]);

    /// Writes without waiting; returns how much was taken.
    fn try_write(&mut self, bytes: &[u8]) -> usize;

    fn read_exact(&mut self, count: usize) -> Vec<u8>;

    /// Ends its side of the stream, and reads on.
    fn end_writing(&mut self);

    /// Stops reading from now on.
    fn pause(&mut self);

    /// Waits until bytes have arrived that it has not read.
    fn await_unread(&mut self);

    /// Number of bytes that have arrived and that it has not read.
    fn unread(&mut self) -> usize;

    /// Reads to the end in the background, and closes then.
    fn read_to_end(self) -> impl Reading;
}

/// A peer that reads to the end.
trait Reading {
    /// Whether it has read the end.
    fn is_over(&self) -> bool;

    /// Waits for the end. Returns what was read.
    fn take(self) -> Vec<u8>;
}

/// An event with a copy of its bytes.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Connected(Socket),
    Accepted(Socket),
    Received(Socket, Vec<u8>),
    Sent(Socket, Option<usize>),
    PeerClosed(Socket),
    Failed(Socket, SocketError),
    Refused(Socket, SocketError),
    Cut(Socket),
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
        Event::Refused { socket, error, .. } => Seen::Refused(socket, error),
        Event::Cut { socket, .. } => Seen::Cut(socket),
        Event::Woken => Seen::Woken,
    }
}

/// Time limit of any wait. It protects the harness and asserts nothing.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until `is_there`, which may let the driver wait, and stores its observations in `seen`.
fn wait_for<L: Lab, T: Debug>(lab: &mut L, seen: &mut T, mut is_there: impl FnMut(&mut L, &mut T) -> bool) {
    let begun = Instant::now();
    claims::as_one(|| {
        while !is_there(lab, seen) {
            assert!(begun.elapsed() < LIMIT, "after {LIMIT:?} no more than this was seen: {seen:?}");
        }
    });
}

/// Waits for events until `done` is true. Each wait has a far deadline: an event that does not end it comes too late.
fn until<L: Lab>(lab: &mut L, mut done: impl FnMut(&[Seen]) -> bool) -> Vec<Seen> {
    let mut all = Vec::new();
    wait_for(lab, &mut all, |lab, all| {
        if done(all) {
            return true;
        }
        let far = lab.far();
        lab.wait(far, |event| all.push(seen(event)));
        false
    });
    all
}

/// Maximum time that a program in a simulated network spends on a wait.
const TURN_MAX: Nanos = Nanos(2_000);
/// Maximum waits for one instant: a timer of an earlier one may end the first, and a stop of this process the next.
const WAITS_MAX: u32 = 3;

/// Asserts that nothing happens any more.
fn is_quiet<L: Lab>(lab: &mut L) {
    lab.catch_up(|event| panic!("nothing should happen: {event:?}"));
}

fn received(all: &[Seen]) -> Vec<u8> {
    let pieces = all.iter().filter_map(|seen| match seen {
        Seen::Received(_, bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    pieces.collect::<Vec<_>>().concat()
}

fn received_bytes(all: &[Seen]) -> usize {
    all.iter().map(|seen| if let Seen::Received(_, bytes) = seen { bytes.len() } else { 0 }).sum()
}

fn open<L: Lab>(lab: &mut L, to: SocketAddr) -> Socket {
    lab.driver()
        .sockets()
        .open(&OpenOptions { kind: SocketKind::Stream, to: to.into(), from: None, no_delay: true })
        .expect("a socket")
}

/// A connection of the driver to a peer.
fn connected<L: Lab>(lab: &mut L) -> (Socket, L::Peer) {
    let address = lab.listen();
    let socket = open(lab, address);
    until(lab, |all| all.contains(&Seen::Connected(socket)));
    let peer = lab.accept();
    (socket, peer)
}

/// On real sockets only: a simulated host has one address.
fn comes_from_an_address<L: Lab<Peer = std::net::TcpStream>>(mut lab: L) {
    let to = lab.listen();
    let from = "127.3.2.1".parse().expect("an address");
    let options = OpenOptions { kind: SocketKind::Stream, to: to.into(), from: Some(from), no_delay: true };
    let sockets: Vec<Socket> = (0..40).map(|_| lab.driver().sockets().open(&options).expect("a socket")).collect();
    until(&mut lab, |all| sockets.iter().all(|socket| all.contains(&Seen::Connected(*socket))));
    let mut peer = lab.accept();
    assert_eq!(peer.peer_addr().expect("it is connected").ip(), from);
    for socket in &sockets {
        lab.driver().sockets().send(*socket, Outgoing::Lent(b"hello".to_vec()));
    }
    until(&mut lab, |all| all.len() == sockets.len());
    assert_eq!(peer.read_exact(5), b"hello");
    // A socket that is closed before it was connected releases its slot.
    let early = lab.driver().sockets().open(&options).expect("a socket");
    lab.driver().sockets().close(early);
    let again = lab.driver().sockets().open(&options).expect("a socket");
    until(&mut lab, |all| all.contains(&Seen::Connected(again)));
    let strange = OpenOptions { from: Some("192.0.2.7".parse().expect("an address")), ..options.clone() };
    assert_eq!(lab.driver().sockets().open(&strange), Err(SocketError::NoLocalPort), "it is not ours");
}

fn sends_and_receives<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    let sockets = lab.driver().sockets();
    let template = sockets.register(Arc::from(&b"hello, peer"[..]));
    sockets.send(socket, Outgoing::Template(template, 0..5));
    sockets.send(socket, Outgoing::Shared(Arc::from(&b"xx shared"[..]), 2..9));
    sockets.send(socket, Outgoing::Lent(b" lent".to_vec()));
    let reported = until(&mut lab, |all| all.len() >= 2);
    assert_eq!(reported, [Seen::Sent(socket, None), Seen::Sent(socket, Some(5))], "templates are not told");
    assert_eq!(peer.read_exact(17), b"hello shared lent");
    assert_eq!(lab.driver().sockets().unsent(socket), 0);
    peer.write_all(b"answer");
    let all = until(&mut lab, |all| received(all).len() == 6);
    assert_eq!(received(&all), b"answer");
}

fn tells_the_end_after_the_data<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.write_all(&vec![7; 300_000]);
    drop(peer);
    let all = until(&mut lab, |all| all.contains(&Seen::PeerClosed(socket)));
    assert_eq!(received(&all).len(), 300_000);
    assert_eq!(all.last(), Some(&Seen::PeerClosed(socket)), "the end comes last");
    lab.driver().sockets().close(socket);
}

fn refused_is_reported<L: Lab>(mut lab: L) {
    let to = lab.nobody();
    match lab.driver().sockets().open(&OpenOptions {
        kind: SocketKind::Stream,
        to: to.into(),
        from: None,
        no_delay: false,
    }) {
        Err(error) => assert_eq!(error, SocketError::Refused),
        Ok(socket) => {
            let all = until(&mut lab, |all| !all.is_empty());
            assert_eq!(all, [Seen::Failed(socket, SocketError::Refused)]);
        }
    }
}

fn a_reset_is_reported_once<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.pause();
    lab.driver().sockets().send(socket, Outgoing::Lent(b"unread".to_vec()));
    until(&mut lab, |all| !all.is_empty());
    peer.await_unread();
    // Closing with unread data resets.
    drop(peer);
    let all = until(&mut lab, |all| all.contains(&Seen::Failed(socket, SocketError::Reset)));
    assert_eq!(all.len(), 1);
    is_quiet(&mut lab);
}

fn a_slow_consumer_pushes_back<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    lab.driver().sockets().receive(socket, false);
    let mut written = 0;
    let mut idle = 0;
    claims::as_one(|| {
        while idle < 20 {
            match peer.try_write(&[1; 65_536]) {
                0 => idle += 1,
                count => (written, idle) = (written + count, 0),
            }
            is_quiet(&mut lab);
        }
    });
    assert!(written < 64 << 20, "{written} bytes went to a reader that does not read");
    lab.driver().sockets().receive(socket, true);
    let all = until(&mut lab, |all| received_bytes(all) >= written);
    assert_eq!(received_bytes(&all), written);
}

fn large_sends_arrive_in_order<L: Lab>(mut lab: L) {
    const PIECES: usize = 40;
    const PIECE_BYTES: usize = 200_000;
    let (socket, peer) = connected(&mut lab);
    for piece in 0..PIECES {
        lab.driver().sockets().send(socket, Outgoing::Lent(vec![piece as u8; PIECE_BYTES]));
    }
    lab.driver().sockets().shutdown(socket);
    let read = peer.read_to_end();
    // The reader ends when it has read our end, and then sends its own.
    let all = until(&mut lab, |all| all.contains(&Seen::PeerClosed(socket)));
    assert_eq!(all.iter().filter(|seen| matches!(seen, Seen::Sent(..))).count(), PIECES);
    assert!(all.iter().all(|seen| matches!(seen, Seen::Sent(_, Some(PIECE_BYTES)) | Seen::PeerClosed(_))));
    let bytes = read.take();
    assert_eq!(bytes.len(), PIECES * PIECE_BYTES);
    assert!(bytes.chunks(PIECE_BYTES).enumerate().all(|(piece, chunk)| chunk.iter().all(|&byte| byte == piece as u8)));
}

fn accepts_many<L: Lab>(mut lab: L) {
    let options =
        ListenOptions { kind: SocketKind::Stream, on: "127.0.0.1:0".parse().expect("an address"), share_port: false };
    let (_, address) = lab.driver().sockets().listen(&options).expect("a port");
    // An operation may wait for the next wait.
    lab.wait(Nanos::ZERO, |event| panic!("nobody is there: {event:?}"));
    let mut peers: Vec<L::Peer> = (0..100).map(|_| lab.connect(address)).collect();
    for (number, peer) in peers.iter_mut().enumerate() {
        peer.write_all(&[number as u8]);
    }
    let all = until(&mut lab, |all| received_bytes(all) == 100);
    assert_eq!(all.iter().filter(|seen| matches!(seen, Seen::Accepted(_))).count(), 100);
    let mut bytes = received(&all);
    bytes.sort_unstable();
    assert_eq!(bytes, (0..100).collect::<Vec<u8>>());
}

fn a_taken_address_is_refused<L: Lab>(mut lab: L) {
    let on = lab.listen();
    assert_eq!(
        lab.driver().sockets().listen(&ListenOptions { kind: SocketKind::Stream, on, share_port: false }).err(),
        Some(SocketError::AddressInUse)
    );
}

fn a_closed_socket_says_nothing<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.write_all(b"too late");
    let sockets = lab.driver().sockets();
    sockets.close(socket);
    sockets.send(socket, Outgoing::Lent(b"nowhere".to_vec()));
    sockets.receive(socket, true);
    sockets.shutdown(socket);
    sockets.close(socket);
    assert_eq!(sockets.unsent(socket), 0);
    is_quiet(&mut lab);
    let (next, _peer) = connected(&mut lab);
    assert_ne!(next, socket, "a socket of another generation");
}

/// A wait is over when it is due, and does not poll repeatedly until then.
fn waits_as_long_as_requested<L: Lab>(mut lab: L) {
    for span in [Nanos(300_000), Nanos::from_millis(3), Nanos::from_millis(90)] {
        let (until, mut waits) = (lab.driver().now() + span, 0);
        while lab.driver().now() < until {
            lab.wait(until, |event| panic!("nothing should happen: {event:?}"));
            waits += 1;
        }
        let late = lab.driver().now().since(until);
        if L::IS_SIMULATED {
            assert!(late <= TURN_MAX, "late by {late:?} after {span:?}");
        } else {
            assert!(waits <= WAITS_MAX, "{waits} waits of {span:?}");
        }
    }
}

fn another_thread_wakes_it<L: Lab>(mut lab: L) {
    let waker = lab.driver().waker();
    let thread = std::thread::spawn(move || waker.wake());
    let all = until(&mut lab, |all| !all.is_empty());
    assert_eq!(all, [Seen::Woken]);
    thread.join().expect("the thread ends");
}

/// With a listener and connections a driver may have more than one ring.
fn every_wake_is_received<L: Lab>(mut lab: L) {
    let listen =
        ListenOptions { kind: SocketKind::Stream, on: "127.0.0.1:0".parse().expect("an address"), share_port: false };
    lab.driver().sockets().listen(&listen).expect("a listener");
    let (rounds, waker) = (lab.scale(1_000), lab.driver().waker());
    let (received, next) = channel();
    // The driver goes to sleep while this thread is signalled to wake it again: either may be first.
    let thread = std::thread::spawn(move || {
        for _ in 0..rounds {
            waker.wake();
            next.recv().expect("the wake is heard");
        }
    });
    wait_for(&mut lab, &mut 0, |lab, wakes| {
        let far = lab.far();
        lab.wait(far, |event| {
            assert_eq!(seen(event), Seen::Woken);
            *wakes += 1;
            received.send(()).expect("it waits for this");
        });
        *wakes == rounds
    });
    thread.join().expect("the thread ends");
    is_quiet(&mut lab);
}

macro_rules! on_each_driver {
    ($($test:ident)*) => {
        mod on_poll {
            $(#[test] fn $test() { super::$test(super::real::Real::chosen(driver::Kind::Poll)); })*
        }

        #[cfg(target_os = "linux")]
        mod on_uring {
            $(#[test] fn $test() { super::$test(super::real::Real::chosen(driver::Kind::Uring)); })*
        }

        mod on_sim {
            $(#[test] fn $test() { super::simulated::in_each_world(super::$test); })*
        }
    };
}

on_each_driver! {
    sends_and_receives
    tells_the_end_after_the_data
    refused_is_reported
    a_reset_is_reported_once
    a_slow_consumer_pushes_back
    large_sends_arrive_in_order
    accepts_many
    a_taken_address_is_refused
    a_closed_socket_says_nothing
    waits_as_long_as_requested
    another_thread_wakes_it
    every_wake_is_received
    what_was_read_is_acknowledged
    what_came_after_the_close_is_not_acknowledged
    what_a_reset_left_unread_is_acknowledged
    what_was_refused_is_not_acknowledged
    a_half_closed_peer_acknowledges
    our_own_end_counts_for_nothing
    a_stopped_send_says_what_was_not_taken
    a_small_send_is_taken_when_it_is_stopped
    a_closed_socket_sends_no_more
    questions_do_not_disturb_a_send
    questions_do_not_disturb_the_order
    what_came_while_asking_is_reported_at_once
    a_failed_connection_leaves_nothing
    many_ready_sockets_are_more
    much_ready_data_is_more
    datagrams_keep_their_boundaries
    a_long_datagram_is_cut
    a_refused_datagram_leaves_its_socket
    an_error_of_an_earlier_datagram_costs_the_next_nothing
    a_socket_of_datagrams_has_no_end
    many_datagrams_are_all_read
}

#[test]
fn poll_comes_from_an_address() {
    comes_from_an_address(real::Real::chosen(driver::Kind::Poll));
}

#[test]
#[cfg(target_os = "linux")]
fn uring_comes_from_an_address() {
    comes_from_an_address(real::Real::chosen(driver::Kind::Uring));
}
