//! A server of datagrams that sends whatever a test says, and what the kernel says of its peers.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::loads::number;

/// The counts of a report's datagrams.
const COUNTS: [&str; 8] =
    ["resent", "late", "duplicate", "unmatched", "refused", "too_long", "dropped_here", "over_tcp"];

/// The longest datagram of UDP over IPv4.
pub(crate) const DATAGRAM_BYTES_MAX: usize = 65_507;

/// Size of the receive buffer of the server.
const RECEIVE_BUFFER_BYTES: usize = 1 << 20;

/// The sender of a datagram.
pub(crate) struct Peer<'a> {
    socket: &'a UdpSocket,
    pub(crate) address: SocketAddr,
}

impl Peer<'_> {
    /// Sends a datagram to it. It may be gone.
    pub(crate) fn send(&self, bytes: &[u8]) {
        let _ = self.socket.send_to(bytes, self.address);
    }
}

/// The server, on a port of 127.0.0.1; its thread ends with the value.
pub(crate) struct DatagramServer {
    pub(crate) port: u16,
    socket: UdpSocket,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl DatagramServer {
    /// Calls `handle` with each datagram that comes.
    pub(crate) fn start(handle: impl FnMut(&[u8], &Peer<'_>) + Send + 'static) -> Self {
        Self::on(UdpSocket::bind("127.0.0.1:0").expect("a free port"), handle)
    }

    pub(crate) fn on(socket: UdpSocket, mut handle: impl FnMut(&[u8], &Peer<'_>) + Send + 'static) -> Self {
        // There is room for what comes while it is stopped.
        rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES).expect("a buffer");
        let (own, is_over) = (socket.try_clone().expect("a descriptor"), Arc::new(AtomicBool::new(false)));
        let ends = is_over.clone();
        let thread = std::thread::spawn(move || {
            let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
            while let Ok((count, address)) = own.recv_from(&mut bytes) {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                handle(&bytes[..count], &Peer { socket: &own, address });
            }
        });
        let port = socket.local_addr().expect("an address").port();
        Self { port, socket, is_over, thread: Some(thread) }
    }

    pub(crate) fn url(&self, scheme: &str, rest: &str) -> String {
        format!("{scheme}://127.0.0.1:{}{rest}", self.port)
    }
}

impl Drop for DatagramServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // It waits for the next datagram.
        let _ = self.socket.send_to(&[], ("127.0.0.1", self.port));
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || !matches!(ended, Some(Err(_))), "the server failed");
    }
}

/// The counts of a report's datagrams that are not zero.
#[track_caller]
pub(crate) fn datagrams(seen: &Value) -> Vec<(&'static str, u64)> {
    let all = COUNTS.map(|name| (name, number(seen, &format!("/datagrams/{name}"))));
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// What waits to be read at the socket of a peer, in bytes, and the datagrams that were dropped there (proc_net_udp).
pub(crate) fn queue_of(peer: SocketAddr) -> (u64, u64) {
    let table = std::fs::read_to_string("/proc/net/udp").expect("the sockets of this machine");
    let port = format!(":{:04X}", peer.port());
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    let row = rows.into_iter().find(|row| row[1].ends_with(&port)).expect("its socket");
    let (_, waiting) = row[4].split_once(':').expect("two queues");
    let drops = row.last().expect("a column").parse().expect("a number");
    (u64::from_str_radix(waiting, 16).expect("a hexadecimal number"), drops)
}
