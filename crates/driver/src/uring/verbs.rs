//! The socket operations of the driver.

use std::net::SocketAddr;
use std::sync::Arc;

use io_uring::{opcode, squeue, types};
use pacing::Nanos;

use super::op::{Op, template_data};
use super::table::{Entry, Kind};
use super::{OPENS_WAITING_MAX, SEND_FLAGS, SMALL_TEMPLATE_BYTES, UringSockets, ring};
use crate::pending::PendingSockets;
use crate::poll::sys;
use crate::{ListenOptions, OpenOptions, Outgoing, Socket, SocketError, SocketKind, Sockets, Template};

impl Sockets for UringSockets {
    #[inline]
    fn now(&self) -> Nanos {
        let now = self.clock.now();
        self.last_now.set(now);
        now
    }

    fn register(&mut self, bytes: Arc<[u8]>) -> Template {
        self.templates.push(bytes);
        Template(u32::try_from(self.templates.len() - 1).expect("few templates"))
    }

    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError> {
        let index = self.ring_with_slot()?;
        let slot = self.rings[index].take_slot();
        if options.from.is_some()
            && let Err(error) = self.bind_slot(index, slot, options)
        {
            self.rings[index].give_back(slot, false);
            return Err(error);
        }
        let mut entry = Entry::new(Kind::Connecting, index, slot, false);
        entry.is_datagram = options.kind == SocketKind::Datagram;
        let socket = self.table.insert(entry);
        self.opening.push((socket, options.clone()));
        if self.opening.len() >= OPENS_WAITING_MAX {
            self.submit_all();
        }
        Ok(socket)
    }

    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        let (fd, address) = sys::listen(options, ring::backlog())?;
        let mut entry = Entry::new(Kind::Listener, 0, 0, false);
        entry.listener = Some(Box::new(fd));
        let socket = self.table.insert(entry);
        self.arm_accept(socket);
        Ok((socket, address))
    }

    fn send(&mut self, socket: Socket, bytes: Outgoing) {
        let Some(entry) = self.table.find(socket) else { return };
        if let Outgoing::Template(Template(id), range) = &bytes
            && range.len() <= SMALL_TEMPLATE_BYTES
            && entry.kind == Kind::Stream
            && !entry.is_datagram
            && entry.more.is_none()
            && !entry.send_failed
        {
            let part = &self.templates[*id as usize][range.clone()];
            let send = opcode::Send::new(types::Fixed(entry.slot), part.as_ptr(), part.len() as u32);
            let send = send.flags(SEND_FLAGS).build().flags(squeue::Flags::SKIP_SUCCESS);
            let ring = usize::from(entry.ring);
            self.rings[ring].push(&send.user_data(template_data(socket, range.len())));
            self.count_queued();
            return;
        }
        if entry.is_datagram && entry.kind == Kind::Stream && entry.more.is_none() {
            return self.send_datagram(socket, PendingSockets::new(bytes));
        }
        let more = match &mut entry.more {
            Some(more) => more,
            None => entry.more.insert(self.spare.pop().unwrap_or_default()),
        };
        more.queue.push_back(PendingSockets::new(bytes));
        self.send_next(socket);
    }

    fn unsent(&mut self, socket: Socket) -> usize {
        let Some(more) = self.table.find(socket).and_then(|entry| entry.more.as_ref()) else { return 0 };
        more.refused + more.sending.iter().chain(&more.queue).map(PendingSockets::unsent).sum::<usize>()
    }

    fn unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        let entry = self.table.find(socket)?;
        match entry.kind {
            Kind::Listener => None,
            _ if entry.is_datagram => None,
            Kind::Connecting => Some(self.unsent(socket)),
            Kind::Stream => self.ask_unacknowledged(socket),
        }
    }

    fn entropy(&self) -> u64 {
        sys::entropy()
    }

    fn dropped(&mut self, socket: Socket) -> u64 {
        self.ask_dropped(socket)
    }

    fn is_reset(&mut self, socket: Socket) -> bool {
        match self.table.find(socket).filter(|entry| entry.peer_closed) {
            Some(entry) => entry.send_failed || self.ask_reset(socket),
            None => false,
        }
    }

    fn stop_sending(&mut self, socket: Socket) -> usize {
        self.drop_queue(socket)
    }

    fn receive(&mut self, socket: Socket, on: bool) {
        let Some(entry) = self.table.find(socket).filter(|entry| !entry.is_datagram) else { return };
        if entry.receives == on {
            return;
        }
        entry.receives = on;
        if on {
            self.again.push_back(socket);
        } else if entry.receive_is_armed {
            let cancel = opcode::AsyncCancel::new(entry.receive_op().data(socket)).build();
            let quiet = Op::Quiet.data(socket);
            let ring = usize::from(entry.ring);
            self.rings[ring].push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        }
    }

    fn shutdown(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket).filter(|entry| !entry.is_datagram) else { return };
        if entry.more.is_some() {
            entry.more_mut().shut_after_queue = true;
            return self.send_next(socket);
        }
        self.push_shutdown(socket);
    }

    fn close(&mut self, socket: Socket) {
        self.release(socket);
    }
}
