//! Datagrams: each operation is one, and an error leaves the socket as it is.

use io_uring::{cqueue, opcode, squeue, types};

use super::UringSockets;
use super::complete::error_of;
use super::op::{Op, socket_of};
use super::table::Kind;
use crate::memory_info::{DROPS, MemoryInfo};
use crate::pending::PendingSockets;
use crate::{DATAGRAM_BYTES_MAX, Event, Handle, Socket, Sockets};

/// The socket command that reads an option (SOCKET_URING_OP_GETSOCKOPT), since Linux 6.7.
const GET_OPTION: u32 = 2;
/// The position of the command in a submission.
const COMMAND_OFFSET: usize = 8;

impl UringSockets {
    /// Handles the completion of a receive of datagrams.
    pub(super) fn datagram_received(&mut self, ring: usize, completion: &cqueue::Entry, handle: Handle<'_>) {
        let (result, flags) = (completion.result(), completion.flags());
        let socket = socket_of(completion.user_data());
        let buffer = cqueue::buffer_select(flags);
        if !cqueue::more(flags) {
            if let Some(entry) = self.table.find(socket) {
                entry.receive_is_armed = false;
            }
            self.rearm.push(socket);
        }
        let at = self.now();
        match (usize::try_from(result), buffer) {
            (Ok(length), _) if length > DATAGRAM_BYTES_MAX => handle(self, Event::Cut { socket, at }),
            (Ok(length), Some(id)) => {
                // SAFETY: the kernel put `length` bytes into this buffer, and it is offered again only by the caller.
                let bytes = unsafe { self.rings[ring].buffers(false).lent(id, length) };
                handle(self, Event::Received { socket, bytes, at });
            }
            // A datagram may be empty; no buffer is used for it.
            (Ok(_), None) => handle(self, Event::Received { socket, bytes: &mut [], at }),
            (Err(_), _) if result == -libc::ENOBUFS => self.rings[ring].buffers(false).grow(),
            (Err(_), _) if result == -libc::ECANCELED => {}
            (Err(_), _) => handle(self, Event::Refused { socket, error: error_of(result), at }),
        }
    }

    /// Sends a datagram. The kernel reads its bytes when it takes the queue, since it may not wait.
    pub(super) fn send_datagram(&mut self, socket: Socket, pending: PendingSockets) {
        let Some((ring, slot)) = self.table.find(socket).map(|entry| (usize::from(entry.ring), entry.slot)) else {
            return;
        };
        let bytes = pending.rest(&self.templates);
        let send = opcode::Send::new(types::Fixed(slot), bytes.as_ptr(), bytes.len() as u32);
        let send = send.flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT).build().flags(squeue::Flags::SKIP_SUCCESS);
        self.datagrams.push_back((socket, pending));
        self.rings[ring].push(&send.user_data(Op::SendDatagram.data(socket)));
        self.count_queued();
    }

    /// Reports the datagrams that the kernel has taken, and gives their buffers back.
    pub(super) fn give_back_datagrams(&mut self, handle: Handle<'_>) {
        for _ in 0..std::mem::take(&mut self.datagrams_taken) {
            let Some((socket, pending)) = self.datagrams.pop_front() else { return };
            if self.table.find(socket).is_some()
                && let Some(buffer) = pending.into_reported()
            {
                handle(self, Event::Sent { socket, buffer });
            }
        }
    }

    /// Handles the failure of a datagram in the queue.
    pub(super) fn datagram_failed(&mut self, socket: Socket, result: i32, handle: Handle<'_>) {
        let place = self.datagrams.iter().position(|(of, _)| *of == socket);
        let Some((_, pending)) = place.and_then(|place| self.datagrams.remove(place)) else { return };
        self.datagrams_taken -= usize::from(place.is_some_and(|place| place < self.datagrams_taken));
        self.datagram_refused(socket, pending, result, handle);
    }

    /// A datagram was not sent: once more, if the error is that of an earlier one; with a full buffer when there is
    /// room. Otherwise it is gone, and its buffer comes back all the same.
    pub(super) fn datagram_refused(
        &mut self,
        socket: Socket,
        mut pending: PendingSockets,
        result: i32,
        handle: Handle<'_>,
    ) {
        let Some(entry) = self.table.find(socket) else { return };
        let error = error_of(result);
        if result == -libc::EAGAIN || pending.may_retry(error) {
            entry.more_mut().queue.push_front(pending);
            return self.send_next(socket);
        }
        self.send_next(socket);
        self.tidy(socket);
        if let Some(buffer) = pending.into_reported() {
            handle(self, Event::Sent { socket, buffer });
        }
        let at = self.now();
        handle(self, Event::Refused { socket, error, at });
    }

    /// Datagrams that the kernel dropped because the socket's buffer was full.
    pub(super) fn ask_dropped(&mut self, socket: Socket) -> u64 {
        let open = self.table.find(socket).filter(|entry| entry.is_datagram && entry.kind == Kind::Stream);
        let Some((ring, slot)) = open.map(|entry| (usize::from(entry.ring), entry.slot)) else { return 0 };
        // If no response comes, the kernel may still write here: then the memory is never freed.
        let info = Box::into_raw(Box::<MemoryInfo>::default());
        let result = self.ask(ring, get_memory_info(slot, info));
        // SAFETY: it is the box from above, and the kernel is done with it.
        let info = result.map(|result| (result, unsafe { Box::from_raw(info) }));
        let is_whole = |result: &i32| usize::try_from(*result) == Ok(size_of::<MemoryInfo>());
        info.filter(|(result, _)| is_whole(result)).map_or(0, |(_, info)| info[DROPS].into())
    }
}

const _: () = core::assert!(size_of::<squeue::Entry>() == 64);

/// Reads SO_MEMINFO of a direct descriptor. The library can build only the command that sets an option; both have the
/// same fields.
fn get_memory_info(slot: u32, info: *mut MemoryInfo) -> squeue::Entry {
    let (level, name) = (libc::SOL_SOCKET as u32, libc::SO_MEMINFO as u32);
    let length = size_of::<MemoryInfo>() as u32;
    let mut entry = opcode::SetSockOpt::new(types::Fixed(slot), level, name, info.cast(), length).build();
    // SAFETY: an entry is a submission of 64 bytes as the kernel reads it, and has its command there.
    unsafe { std::ptr::from_mut(&mut entry).byte_add(COMMAND_OFFSET).cast::<u32>().write(GET_OPTION) };
    entry
}
