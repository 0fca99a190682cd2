//! Datagrams of custom protocols. On a real network a thread has a socket of the standard library, and each peer a
//! number; in a simulated network each peer has a socket.

use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::Duration;

use driver::{ListenOptions, Outgoing, Socket, SocketKind, Sockets};
use protocol::{Protocol, Replies, Service};

use crate::Shared;
use crate::custom::{number_of, socket_of};
use crate::service::CustomService;
use crate::tools::Tools;

/// Maximum peers of a thread; beyond it all are forgotten.
const PEERS_MAX: usize = 65_536;
/// Maximum bytes of a datagram.
const DATAGRAM_BYTES_MAX: usize = 65_536;
/// How long a thread waits before it checks whether the server is to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Whether requests of a protocol may come as datagrams.
pub(crate) fn has_datagrams(protocol: Option<&'static dyn Protocol>) -> bool {
    protocol.is_some_and(|protocol| protocol.about().schemes.iter().any(|scheme| scheme.is_datagram))
}

/// The numbers of the peers of a thread.
#[derive(Default)]
struct Peers {
    numbers: HashMap<SocketAddr, u64>,
    addresses: HashMap<u64, SocketAddr>,
    next: u64,
}

impl Peers {
    fn number(&mut self, address: SocketAddr, service: &mut dyn Service) -> u64 {
        if let Some(number) = self.numbers.get(&address) {
            return *number;
        }
        if self.numbers.len() >= PEERS_MAX {
            self.addresses.keys().for_each(|number| service.close(*number));
            self.numbers.clear();
            self.addresses.clear();
        }
        self.next += 1;
        self.numbers.insert(address, self.next);
        self.addresses.insert(self.next, address);
        self.next
    }
}

/// Serves the datagrams of a socket until the server stops. `index`: that of the counters of this thread.
pub(crate) fn serve(socket: &UdpSocket, shared: &Shared, index: usize) {
    let Some(mut service) = shared.protocol.and_then(Protocol::serve) else { return };
    if socket.set_read_timeout(Some(STOP_CHECK)).is_err() {
        return;
    }
    let (mut peers, mut replies, mut datagram) = (Peers::default(), Replies::default(), vec![0; DATAGRAM_BYTES_MAX]);
    let stats = &shared.stats[index];
    while !shared.is_over.load(Ordering::Relaxed) {
        // A timeout, a signal, or a peer that is gone.
        let Ok((count, from)) = socket.recv_from(&mut datagram) else { continue };
        stats.received_bytes.add(count as u64);
        let peer = peers.number(from, &mut *service);
        service.handle_datagram(peer, &datagram[..count], &mut replies);
        stats.long_connection_messages.add(std::mem::take(&mut replies.requests));
        for (to, bytes) in replies.sent.drain(..) {
            if let Some(address) = peers.addresses.get(&to)
                && socket.send_to(&bytes, address).is_ok()
            {
                stats.sent_bytes.add(bytes.len() as u64);
            }
        }
        replies.closed.clear();
    }
}

/// The sockets of peers in a simulated network.
#[derive(Default)]
pub(crate) struct DatagramPeers {
    listener: Option<Socket>,
    /// By the order in which they came.
    sockets: VecDeque<Socket>,
    /// By their index.
    known: HashMap<u32, Socket>,
}

impl DatagramPeers {
    /// Listens at an address, where the network allows it and the protocol wants it.
    pub(crate) fn listen(&mut self, on: SocketAddr, tools: &Tools, sockets: &mut dyn Sockets) {
        if has_datagrams(tools.shared.protocol) {
            let options = ListenOptions { kind: SocketKind::Datagram, on, share_port: false };
            self.listener = sockets.listen(&options).ok().map(|(listener, _)| listener);
        }
    }

    /// Takes a peer; false if it is none.
    pub(crate) fn accept(&mut self, listener: Socket, socket: Socket, sockets: &mut dyn Sockets) -> bool {
        if self.listener != Some(listener) {
            return false;
        }
        if self.sockets.len() >= PEERS_MAX
            && let Some(oldest) = self.sockets.pop_front()
        {
            self.known.remove(&oldest.index);
            sockets.close(oldest);
        }
        self.sockets.push_back(socket);
        self.known.insert(socket.index, socket);
        true
    }

    /// Handles a datagram, and sends the replies; false if it came on another socket.
    pub(crate) fn received(&self, socket: Socket, bytes: &[u8], tools: &mut Tools, sockets: &mut dyn Sockets) -> bool {
        if self.known.get(&socket.index) != Some(&socket) {
            return false;
        }
        let Some(CustomService { service, replies }) = &mut tools.custom else { return true };
        service.handle_datagram(number_of(socket), bytes, replies);
        let (requests, sent) = (std::mem::take(&mut replies.requests), std::mem::take(&mut replies.sent));
        tools.stats().long_connection_messages.add(requests);
        for (number, bytes) in sent {
            let to = socket_of(number);
            if self.known.get(&to.index) == Some(&to) {
                sockets.send(to, Outgoing::Lent(bytes));
            }
        }
        true
    }

    pub(crate) fn close(&mut self, sockets: &mut dyn Sockets) {
        self.sockets.drain(..).chain(self.listener.take()).for_each(|socket| sockets.close(socket));
    }
}
