//! Datagrams: their boundaries, their errors, and what is lost.

use std::net::{SocketAddr, UdpSocket};

use driver::sim::{Faults, Network};
use driver::{
    DATAGRAM_BYTES_MAX, Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, SocketKind,
};
use pacing::Nanos;

use super::real::Real;
use super::simulated::Sim;
use super::{Lab, Seen, is_quiet, seen, until};

/// A driver, and a program that receives datagrams and replies.
pub(super) trait DatagramLab: Lab {
    /// The sender of a datagram.
    type Sender;

    /// Receives datagrams at an address; at any free one without it.
    fn bind(&mut self, at: Option<SocketAddr>) -> SocketAddr;

    /// An address without a program.
    fn unbound(&mut self) -> SocketAddr;

    /// The next datagram that arrives.
    fn next(&mut self) -> (Self::Sender, Vec<u8>);

    fn reply(&mut self, to: &Self::Sender, bytes: &[u8]);
}

impl<D: Driver> DatagramLab for Real<D> {
    type Sender = SocketAddr;

    fn bind(&mut self, at: Option<SocketAddr>) -> SocketAddr {
        let at = at.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let socket = UdpSocket::bind(at).expect("a port");
        self.datagrams.insert(socket).local_addr().expect("an address")
    }

    fn unbound(&mut self) -> SocketAddr {
        UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address")
    }

    fn next(&mut self) -> (SocketAddr, Vec<u8>) {
        let mut bytes = vec![0; 65_536];
        let (count, from) = self.datagrams.as_ref().expect("it is bound").recv_from(&mut bytes).expect("a datagram");
        bytes.truncate(count);
        (from, bytes)
    }

    fn reply(&mut self, to: &SocketAddr, bytes: &[u8]) {
        self.datagrams.as_ref().expect("it is bound").send_to(bytes, to).expect("it is sent");
    }
}

impl DatagramLab for Sim {
    type Sender = Socket;

    fn bind(&mut self, at: Option<SocketAddr>) -> SocketAddr {
        let on = at.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let options = ListenOptions { kind: SocketKind::Datagram, on, share_port: false };
        self.peers.borrow_mut().driver.sockets().listen(&options).expect("a port").1
    }

    fn unbound(&mut self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    fn next(&mut self) -> (Socket, Vec<u8>) {
        let mut peers = self.peers.borrow_mut();
        peers.until(|peers| !peers.pieces.is_empty());
        peers.pieces.pop_front().expect("a datagram")
    }

    fn reply(&mut self, to: &Socket, bytes: &[u8]) {
        self.peers.borrow_mut().driver.sockets().send(*to, Outgoing::Lent(bytes.to_vec()));
    }
}

fn open_to<L: Lab>(lab: &mut L, to: SocketAddr) -> Socket {
    let options = OpenOptions { kind: SocketKind::Datagram, to: to.into(), from: None, no_delay: true };
    let socket = lab.driver().sockets().open(&options).expect("a socket");
    until(lab, |all| all.contains(&Seen::Connected(socket)));
    socket
}

/// Sends a datagram, and returns what is reported meanwhile.
fn send<L: Lab>(lab: &mut L, socket: Socket, bytes: &[u8]) -> Vec<Seen> {
    lab.driver().sockets().send(socket, Outgoing::Lent(bytes.to_vec()));
    wait_shortly(lab)
}

/// Lets the driver pass on what was sent, which ends no wait.
fn wait_shortly<L: Lab>(lab: &mut L) -> Vec<Seen> {
    let mut all = Vec::new();
    for _ in 0..3 {
        let soon = lab.driver().now() + Nanos(20_000);
        lab.wait(soon, |event| all.push(seen(event)));
    }
    all
}

fn datagrams(all: &[Seen]) -> Vec<Vec<u8>> {
    let mut bytes: Vec<Vec<u8>> = all
        .iter()
        .filter_map(|seen| match seen {
            Seen::Received(_, bytes) => Some(bytes.clone()),
            _ => None,
        })
        .collect();
    bytes.sort();
    bytes
}

pub(super) fn datagrams_keep_their_boundaries<L: DatagramLab>(mut lab: L) {
    let to = lab.bind(None);
    let socket = open_to(&mut lab, to);
    let sizes = [0, 1, 2, 700, 701, DATAGRAM_BYTES_MAX - 1, DATAGRAM_BYTES_MAX];
    let mut sent: Vec<Vec<u8>> = sizes.iter().map(|size| vec![*size as u8; *size]).collect();
    for bytes in &sent {
        lab.driver().sockets().send(socket, Outgoing::Lent(bytes.clone()));
    }
    sent.sort();
    let mut events = wait_shortly(&mut lab);
    let mut read = Vec::new();
    for _ in &sizes {
        let (from, bytes) = lab.next();
        lab.reply(&from, &bytes);
        read.push(bytes);
    }
    read.sort();
    assert_eq!(read, sent);
    let before = datagrams(&events).len();
    events.extend(until(&mut lab, |all| before + datagrams(all).len() == sizes.len()));
    assert_eq!(datagrams(&events), sent);
    assert_eq!(lab.driver().sockets().unsent(socket), 0);
    // Their buffers come back, each once.
    lab.catch_up(|event| events.push(seen(event)));
    let lengths = events.iter().filter_map(|seen| if let Seen::Sent(_, length) = seen { *length } else { None });
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    assert_eq!(lengths, sizes);
    assert_eq!(datagrams(&events), sent);
}

pub(super) fn a_long_datagram_is_cut<L: DatagramLab>(mut lab: L) {
    let to = lab.bind(None);
    let socket = open_to(&mut lab, to);
    send(&mut lab, socket, b"?");
    let (from, _) = lab.next();
    for size in [DATAGRAM_BYTES_MAX + 1, 60_000] {
        lab.reply(&from, &vec![7; size]);
        let all = until(&mut lab, |all| all.contains(&Seen::Cut(socket)));
        assert!(datagrams(&all).is_empty(), "no part of it is reported");
    }
    lab.reply(&from, b"!");
    let all = until(&mut lab, |all| !datagrams(all).is_empty());
    assert_eq!(datagrams(&all), [b"!"]);
}

pub(super) fn a_refused_datagram_leaves_its_socket<L: DatagramLab>(mut lab: L) {
    let to = lab.unbound();
    let socket = open_to(&mut lab, to);
    for _ in 0..2 {
        let refused = Seen::Refused(socket, SocketError::Refused);
        let is_refused = send(&mut lab, socket, b"nobody").contains(&refused);
        until(&mut lab, |all| is_refused || all.contains(&refused));
    }
    lab.bind(Some(to));
    send(&mut lab, socket, b"somebody");
    let (from, bytes) = lab.next();
    assert_eq!(bytes, b"somebody");
    lab.reply(&from, b"yes");
    let all = until(&mut lab, |all| !datagrams(all).is_empty());
    assert_eq!(datagrams(&all), [b"yes"]);
    assert!(!all.iter().any(|seen| matches!(seen, Seen::Refused(..))), "{all:?}");
}

pub(super) fn an_error_of_an_earlier_datagram_costs_the_next_nothing<L: DatagramLab>(mut lab: L) {
    let to = lab.unbound();
    let socket = open_to(&mut lab, to);
    lab.driver().sockets().send(socket, Outgoing::Lent(b"first".to_vec()));
    // Sent, but perhaps not reported.
    let now = lab.driver().now();
    let mut all = Vec::new();
    lab.wait(now, |event| all.push(seen(event)));
    lab.bind(Some(to));
    lab.driver().sockets().send(socket, Outgoing::Lent(b"second".to_vec()));
    all.extend(wait_shortly(&mut lab));
    // In a simulated network the first may be so slow that it arrives too.
    let arrived = loop {
        let (_, bytes) = lab.next();
        if bytes == b"second" {
            break bytes;
        }
    };
    assert_eq!(arrived, b"second");
    assert!(all.iter().filter(|seen| matches!(seen, Seen::Refused(..))).count() <= 1, "{all:?}");
}

pub(super) fn a_socket_of_datagrams_has_no_end<L: DatagramLab>(mut lab: L) {
    let to = lab.bind(None);
    let socket = open_to(&mut lab, to);
    let sockets = lab.driver().sockets();
    sockets.shutdown(socket);
    sockets.receive(socket, false);
    assert_eq!(sockets.unacknowledged(socket), None);
    assert!(!sockets.is_reset(socket));
    send(&mut lab, socket, b"?");
    let (from, _) = lab.next();
    lab.reply(&from, b"!");
    let all = until(&mut lab, |all| !datagrams(all).is_empty());
    assert_eq!(datagrams(&all), [b"!"]);
    assert_eq!(lab.driver().sockets().dropped(socket), 0);
    lab.driver().sockets().close(socket);
    lab.reply(&from, b"late");
    is_quiet(&mut lab);
}

pub(super) fn many_datagrams_are_all_read<L: DatagramLab>(mut lab: L) {
    let to = lab.bind(None);
    // More sockets than buffers, and more datagrams than one read of a socket has turns.
    let (sockets, each) = (lab.scale(200), 40);
    let sockets: Vec<Socket> = (0..sockets).map(|_| open_to(&mut lab, to)).collect();
    for socket in &sockets {
        send(&mut lab, *socket, b"?");
    }
    let senders: Vec<L::Sender> = sockets.iter().map(|_| lab.next().0).collect();
    let size = 64;
    for sender in &senders {
        (0..each).for_each(|number| lab.reply(sender, &vec![number as u8; size]));
    }
    let all = until(&mut lab, |all| datagrams(all).len() == sockets.len() * each);
    assert!(datagrams(&all).iter().all(|bytes| bytes.len() == size));
    for socket in &sockets {
        let own = all.iter().filter(|seen| matches!(seen, Seen::Received(from, _) if from == socket)).count();
        assert_eq!(own, each);
    }
    is_quiet(&mut lab);
}

/// On real sockets only: what the kernel drops is counted, to the last one.
fn dropped_datagrams_are_counted<D: Driver>(mut lab: Real<D>) {
    let to = lab.bind(None);
    let socket = open_to(&mut lab, to);
    send(&mut lab, socket, b"?");
    let (from, _) = lab.next();
    let count = 4_000;
    // More than its buffer has room for, while nothing is read.
    (0..count).for_each(|_| lab.reply(&from, &[1; 1_000]));
    let mut received = 0;
    lab.catch_up(|event| received += u64::from(matches!(event, Event::Received { .. })));
    let dropped = lab.driver().sockets().dropped(socket);
    assert!(dropped > 0);
    assert_eq!(received + dropped, count);
}

#[test]
fn poll_counts_dropped_datagrams() {
    dropped_datagrams_are_counted(Real::chosen(driver::Kind::Poll));
}

#[test]
#[cfg(target_os = "linux")]
fn uring_counts_dropped_datagrams() {
    dropped_datagrams_are_counted(Real::chosen(driver::Kind::Uring));
}

/// Sends ten datagrams through a network with these faults: the number that arrives, and the last arrival.
fn arriving(faults: Faults) -> (usize, Nanos) {
    let network = Network::new(7, faults);
    let (mut client, mut server) = (network.add_host(), network.add_host());
    let on = SocketAddr::from(([127, 0, 0, 1], 53));
    let listen = ListenOptions { kind: SocketKind::Datagram, on, share_port: false };
    server.sockets().listen(&listen).expect("a port");
    let options = OpenOptions { kind: SocketKind::Datagram, to: on.into(), from: None, no_delay: false };
    let socket = client.sockets().open(&options).expect("a socket");
    (0..10).for_each(|_| client.sockets().send(socket, Outgoing::Lent(vec![1])));
    let (mut count, mut last) = (0, Nanos::ZERO);
    while let Some(host) = network.next() {
        let driver = if host == client.host() { &mut client } else { &mut server };
        let waited = driver.wait(Nanos::NEVER, |_, event| {
            if let Event::Received { at, .. } = event {
                (count, last) = (count + 1, at);
            }
        });
        waited.expect("it works");
    }
    (count, last)
}

#[test]
fn faults_of_datagrams_happen() {
    let always = 1_000_000;
    let second = Nanos::from_millis(1_000);
    assert!(matches!(arriving(Faults::none()), (10, last) if last < second));
    assert_eq!(arriving(Faults { datagram_lost: always, ..Faults::none() }).0, 0);
    assert_eq!(arriving(Faults { datagram_doubled: always, ..Faults::none() }).0, 20);
    assert!(matches!(arriving(Faults { datagram_late: always, ..Faults::none() }), (10, last) if last > second));
    assert_eq!(arriving(Faults { refused: always, ..Faults::none() }).0, 0);
}
