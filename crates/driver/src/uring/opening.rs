//! Opening connections: a slot of a ring, and the operations that open it.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use io_uring::{opcode, squeue, types};

use super::UringSockets;
use super::address::Address;
use super::op::Op;
use super::ring::{self, Purpose, Ring};
use crate::poll::sys;
use crate::{OpenOptions, Peer, SocketError, SocketKind};

impl UringSockets {
    /// A ring with a free slot for an opened socket; a new ring when all are full.
    pub(super) fn ring_with_slot(&mut self) -> Result<usize, SocketError> {
        if let Some(index) = self.rings.iter().rposition(Ring::has_free_slot) {
            return Ok(index);
        }
        self.add_ring(Purpose::Open).map_err(|error| SocketError::from(&error))
    }

    pub(super) fn peer_address(&mut self, to: &Peer) -> (*const libc::sockaddr, libc::socklen_t) {
        let index = match self.peers.iter().position(|(known, _)| known == to) {
            Some(index) => index,
            None => {
                self.peers.push((to.clone(), Box::new(Address::new(to))));
                self.peers.len() - 1
            }
        };
        self.peers[index].1.as_raw()
    }

    /// Puts a socket that is bound to a local address into a slot: kernels before 6.11 cannot bind in a slot.
    pub(super) fn bind_slot(&mut self, ring: usize, slot: u32, options: &OpenOptions) -> Result<(), SocketError> {
        let fd = sys::socket_from(options)?;
        if options.no_delay && options.kind == SocketKind::Stream {
            sys::set_no_delay(&fd)?;
        }
        self.rings[ring].put(slot, fd.as_raw_fd())
    }

    /// Queues the waiting connections, after everything with a stamp.
    pub(super) fn push_opening(&mut self) {
        for place in 0..self.opening.len() {
            let (socket, options) = self.opening[place].clone();
            let Some(entry) = self.table.find(socket) else { continue };
            let (index, slot) = (usize::from(entry.ring), entry.slot);
            let domain = match options.to {
                Peer::Ip(SocketAddr::V4(_)) => libc::AF_INET,
                Peer::Ip(SocketAddr::V6(_)) => libc::AF_INET6,
                Peer::Unix(_) => libc::AF_UNIX,
            };
            let target = types::DestinationSlot::try_from_slot_target(slot).expect("a slot below the table's size");
            let socket_type = match options.kind {
                SocketKind::Stream => libc::SOCK_STREAM,
                SocketKind::Datagram => libc::SOCK_DGRAM,
            };
            let open = opcode::Socket::new(domain, socket_type, 0).file_index(Some(target)).build();
            let linked = squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS;
            let (address, length) = self.peer_address(&options.to);
            let connect = opcode::Connect::new(types::Fixed(slot), address, length).build();
            let ring = &mut self.rings[index];
            if options.from.is_some() {
                // The socket is in its slot already.
                ring.push(&connect.user_data(Op::Connect.data(socket)));
                continue;
            }
            // A link must not be split by a submission between its parts.
            ring.make_room(3);
            ring.push(&open.flags(linked).user_data(Op::Open.data(socket)));
            if options.no_delay && domain != libc::AF_UNIX && options.kind == SocketKind::Stream {
                // A kernel without this option connects all the same: a hard link goes on.
                let hard = squeue::Flags::IO_HARDLINK | squeue::Flags::SKIP_SUCCESS;
                ring.push(&ring::no_delay(slot).flags(hard).user_data(Op::Quiet.data(socket)));
            }
            ring.push(&connect.user_data(Op::Connect.data(socket)));
        }
        self.opening.clear();
    }
}
