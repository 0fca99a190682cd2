//! Handling of completions.

use io_uring::cqueue;
use rustix::io::Errno;

use super::UringSockets;
use super::op::{Op, TEMPLATE_GENERATION_MASK, socket_of, template_refused};
use super::table::{Entry, Kind};
use crate::{Event, Handle, Socket, SocketError, Sockets};

/// A socket that fills this many small buffers in a row receives into large ones: its responses have 8 kB and more.
const FILLED_MAX: u8 = 2;

impl UringSockets {
    pub(super) fn complete(&mut self, ring: usize, completion: &cqueue::Entry, handle: Handle<'_>) {
        let (data, result, flags) = (completion.user_data(), completion.result(), completion.flags());
        let socket = socket_of(data);
        match Op::from_user_data(data) {
            Some(Op::Receive) => self.received((ring, false), completion, handle),
            Some(Op::ReceiveLarge) => self.received((ring, true), completion, handle),
            Some(Op::Connect) => self.connected(socket, result, handle),
            Some(Op::Open) => self.fail_if_there(socket, result, handle),
            Some(Op::SendTemplate) => self.template_failed(data, result, handle),
            Some(Op::Send) => self.sent(data, socket, result, handle),
            Some(Op::SendDatagram) => self.datagram_failed(socket, result, handle),
            Some(Op::Shutdown) => self.shut(data, socket, result),
            Some(Op::Accept) => self.accepted(ring, socket, result, flags, handle),
            Some(Op::Wake) => {
                // Read before the event is reported: a wake from now on signals again.
                let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
                if !cqueue::more(flags) {
                    self.listen_to(Op::Wake);
                }
                handle(self, Event::Woken);
            }
            Some(Op::Timer) => {
                self.timer.fired();
                if !cqueue::more(flags) {
                    self.listen_to(Op::Timer);
                }
            }
            // A response to a query that is over.
            Some(Op::Ask | Op::Quiet) | None => {}
        }
    }

    /// Reports what no completion will report: bytes that arrived while receiving was off, a listener that found no
    /// ring. True if something was reported.
    pub(super) fn report_left_over(&mut self, handle: Handle<'_>) -> bool {
        let mut has_reported = false;
        for _ in 0..self.again.len() {
            let Some(socket) = self.again.pop_front() else { break };
            let Some(entry) = self.table.find(socket) else { continue };
            if entry.kind == Kind::Listener {
                self.arm_accept(socket);
                continue;
            }
            if entry.send_failed && (!entry.receive_is_armed || !entry.receives) {
                self.fail(socket, SocketError::Reset, handle);
                has_reported = true;
                continue;
            }
            if !entry.receives {
                continue;
            }
            let (mut held, held_end) = match &mut entry.more {
                Some(more) => (std::mem::take(&mut more.held), std::mem::take(&mut more.held_end)),
                None => (Vec::new(), false),
            };
            has_reported |= !held.is_empty() || held_end;
            if !held.is_empty() {
                let at = self.now();
                handle(self, Event::Received { socket, bytes: &mut held, at });
            }
            if held_end {
                self.report_end(socket, handle);
            } else {
                self.arm_receive(socket);
            }
        }
        has_reported
    }

    /// Whether something waits for [`UringSockets::report_left_over`]. A listener without a ring reports nothing.
    pub(super) fn has_left_over(&mut self) -> bool {
        let table = &mut self.table;
        self.again.iter().any(|socket| table.find(*socket).is_some_and(|entry| entry.kind != Kind::Listener))
    }

    fn connected(&mut self, socket: Socket, result: i32, handle: Handle<'_>) {
        let Some(entry) = self.table.find(socket) else { return };
        if entry.kind != Kind::Connecting {
            return;
        }
        if result < 0 {
            // The operation before it in the link has the reason.
            if result != -libc::ECANCELED {
                self.fail(socket, error_of(result), handle);
            }
            return;
        }
        entry.kind = Kind::Stream;
        self.arm_receive(socket);
        let at = self.now();
        handle(self, Event::Connected { socket, at });
        self.send_next(socket);
    }

    fn fail_if_there(&mut self, socket: Socket, result: i32, handle: Handle<'_>) {
        if result < 0 && self.table.find(socket).is_some() {
            self.fail(socket, error_of(result), handle);
        }
    }

    /// `from`: the ring, and whether it is a large buffer.
    fn received(&mut self, from: (usize, bool), completion: &cqueue::Entry, handle: Handle<'_>) {
        let ((ring, is_large), result, flags) = (from, completion.result(), completion.flags());
        let socket = socket_of(completion.user_data());
        let buffer = cqueue::buffer_select(flags);
        let is_over = !cqueue::more(flags);
        let mut entry = self.table.find(socket);
        if entry.as_ref().is_some_and(|entry| entry.is_datagram) {
            self.datagram_received(ring, completion, handle);
        } else if let Some(entry) = &mut entry {
            entry.receive_is_armed &= !is_over;
            // Stored bytes are reported first.
            let is_received = entry.receives && entry.more.as_ref().is_none_or(|more| more.held.is_empty());
            match (result, buffer) {
                (1.., Some(id)) => {
                    let filled =
                        if result as usize == self.rings[ring].buffers(false).bytes() { entry.filled + 1 } else { 0 };
                    entry.filled = filled.min(FILLED_MAX);
                    // SAFETY: the kernel put `result` bytes into this buffer, and it is offered again only below.
                    let bytes = unsafe { self.rings[ring].buffers(is_large).lent(id, result as usize) };
                    if is_received {
                        let at = self.now();
                        handle(self, Event::Received { socket, bytes, at });
                    } else {
                        entry.more_mut().held.extend_from_slice(bytes);
                    }
                    if is_over {
                        self.rearm.push(socket);
                    }
                    if !is_large && filled == FILLED_MAX {
                        self.receive_large(socket);
                    }
                }
                (0, _) if is_received => self.report_end(socket, handle),
                (0, _) => entry.more_mut().held_end = true,
                // No buffer was free, or receiving was switched off and on again: it is re-armed after this batch.
                _ if result == -libc::ENOBUFS || result == -libc::ECANCELED => {
                    if result == -libc::ENOBUFS {
                        self.rings[ring].buffers(is_large).grow();
                    }
                    self.rearm.push(socket);
                }
                _ => self.fail(socket, error_of(result), handle),
            }
        }
        if let Some(id) = buffer {
            self.rings[ring].buffers(is_large).give_back(id);
        }
    }

    /// The received responses are large: the receive goes on into large buffers.
    fn receive_large(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket) else { return };
        let ring = usize::from(entry.ring);
        if entry.is_large || !self.rings[ring].has_large() {
            return;
        }
        if entry.receive_is_armed {
            // Its end comes as a completion, and the next one is armed then.
            let cancel = io_uring::opcode::AsyncCancel::new(Op::Receive.data(socket)).build();
            let quiet = Op::Quiet.data(socket);
            self.rings[ring].push(&cancel.flags(io_uring::squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        }
        entry.is_large = true;
    }

    fn report_end(&mut self, socket: Socket, handle: Handle<'_>) {
        let Some(entry) = self.table.find(socket) else { return };
        entry.peer_closed = true;
        let at = self.now();
        handle(self, Event::PeerClosed { socket, at });
        if self.table.find(socket).is_some_and(|entry| entry.send_failed) {
            self.fail(socket, SocketError::Reset, handle);
        }
    }

    /// Handles a small template that was not sent completely.
    fn template_failed(&mut self, data: u64, result: i32, handle: Handle<'_>) {
        let found = socket_of(data);
        let Some(socket) = self.table.owner(found.index, found.generation, TEMPLATE_GENERATION_MASK) else { return };
        if let Some(entry) = self.table.find(socket) {
            entry.more_mut().refused += template_refused(data, result);
        }
        self.send_failed(socket, handle, result);
    }

    /// Handles a failed send. A response may have arrived before: the failure is reported after the end of the stream.
    fn send_failed(&mut self, socket: Socket, handle: Handle<'_>, result: i32) {
        let Some(entry) = self.table.find(socket) else { return };
        entry.send_failed = true;
        if !entry.receive_is_armed || !entry.receives {
            let error = if result < 0 { error_of(result) } else { SocketError::Reset };
            self.fail(socket, error, handle);
        }
    }

    fn sent(&mut self, data: u64, socket: Socket, result: i32, handle: Handle<'_>) {
        if !self.orphans.is_empty() && self.orphans.remove(&data).is_some() {
            // The socket is closed or sends no more; now the kernel is done with its bytes.
            return;
        }
        let Some(entry) = self.table.find(socket) else { return };
        let is_datagram = entry.is_datagram;
        let Some(more) = &mut entry.more else { return };
        let Some(mut pending) = more.sending.take() else { return };
        if result < 0 && is_datagram {
            return self.datagram_refused(socket, pending, result, handle);
        }
        if is_send_failure(result, pending.unsent()) {
            more.queue.push_front(pending);
            return self.send_failed(socket, handle, result);
        }
        pending.take(result.max(0) as usize);
        if pending.unsent() > 0 {
            more.queue.push_front(pending);
            return self.send_next(socket);
        }
        self.send_next(socket);
        self.tidy(socket);
        if let Some(buffer) = pending.into_reported() {
            handle(self, Event::Sent { socket, buffer });
        }
    }

    fn accepted(&mut self, ring: usize, listener: Socket, result: i32, flags: u32, handle: Handle<'_>) {
        let is_over = !cqueue::more(flags);
        if result >= 0 {
            self.rings[ring].count_accepted();
            let slot = result as u32;
            let socket = self.table.insert(Entry::new(Kind::Stream, ring, slot, true));
            if self.table.find(listener).is_none() {
                return self.release(socket);
            }
            self.rings[ring].push(
                &super::ring::no_delay(slot)
                    .flags(io_uring::squeue::Flags::SKIP_SUCCESS)
                    .user_data(Op::Quiet.data(socket)),
            );
            self.arm_receive(socket);
            handle(self, Event::Accepted { listener, socket });
        }
        let Some(entry) = self.table.find(listener) else { return };
        if is_over {
            entry.receive_is_armed = false;
            self.arm_accept(listener);
        } else if usize::from(entry.ring) == ring && !self.rings[ring].can_accept() && entry.receive_is_armed {
            // The table is about to be full: the accept ends, and goes on in another ring.
            entry.receive_is_armed = false;
            let cancel = io_uring::opcode::AsyncCancel::new(Op::Accept.data(listener)).build();
            let quiet = Op::Quiet.data(listener);
            self.rings[ring].push(&cancel.flags(io_uring::squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        }
    }

    fn fail(&mut self, socket: Socket, error: SocketError, handle: Handle<'_>) {
        let left = self.left(socket);
        self.release(socket);
        let at = self.now();
        handle(self, Event::Failed { socket, error, at, left });
    }
}

/// Whether a send failed. One that was cancelled did not: it was interrupted by a query, and goes on.
pub(super) fn is_send_failure(result: i32, unsent: usize) -> bool {
    result <= 0 && unsent > 0 && result != -libc::ECANCELED
}

pub(super) fn error_of(result: i32) -> SocketError {
    Errno::from_raw_os_error(-result).into()
}
