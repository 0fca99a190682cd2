//! Datagrams: each call into the kernel is one, and an error leaves the socket as it is.

use rustix::io::Errno;

use super::table::write;
use super::{PollSockets, TURNS_MAX, sys};
use crate::pending::PendingSockets;
use crate::{Clock, DATAGRAM_BYTES_MAX, Event, Handle, Socket, SocketError};

/// The end of a send.
pub(super) enum SendEnd {
    /// The kernel took all of it; with the buffer that was lent.
    Taken(Option<Vec<u8>>),
    /// The kernel refused a datagram.
    Refused(SocketError),
}

impl SendEnd {
    pub(super) fn event(self, socket: Socket, clock: &Clock) -> Event<'static> {
        match self {
            Self::Taken(buffer) => Event::Sent { socket, buffer },
            Self::Refused(error) => Event::Refused { socket, error, at: clock.now() },
        }
    }
}

impl PollSockets {
    /// Gives back the buffers of datagrams that were taken.
    pub(super) fn give_back_datagrams(&mut self, handle: Handle<'_>) {
        let mut taken = std::mem::take(&mut self.taken);
        for (socket, buffer) in taken.drain(..) {
            if self.table.find(socket).is_some() {
                handle(self, Event::Sent { socket, buffer });
            }
        }
        // Its memory is for the next ones, unless there are some already.
        if self.taken.is_empty() {
            self.taken = taken;
        }
    }

    /// A datagram was not sent: once more, if the error is that of an earlier one.
    pub(super) fn send_again(&mut self, socket: Socket, mut pending: PendingSockets, errno: Errno) {
        let mut error = SocketError::from(errno);
        if pending.may_retry(error) {
            let Some(slot) = self.table.find(socket) else { return };
            match write(pending, slot, &self.templates) {
                Ok(None) => return,
                Ok(Some(buffer)) => return self.taken.push((socket, buffer)),
                Err((rest, Errno::AGAIN)) => return slot.queue().push_front(rest),
                Err((rest, errno)) => (pending, error) = (rest, errno.into()),
            }
        }
        // The buffer comes back all the same.
        self.sent.extend(pending.into_reported().map(|buffer| (socket, SendEnd::Taken(buffer))));
        self.sent.push_back((socket, SendEnd::Refused(error)));
    }

    /// Reads until the kernel has no more: a short read says nothing about the next datagram.
    pub(super) fn read_datagrams(&mut self, socket: Socket, buffer: &mut [u8], handle: Handle<'_>) {
        for _ in 0..TURNS_MAX {
            let Some(slot) = self.table.find(socket) else { return };
            let received = sys::receive(&slot.fd, buffer);
            let at = self.clock.now();
            match received {
                Ok(count) if count > DATAGRAM_BYTES_MAX => handle(self, Event::Cut { socket, at }),
                Ok(count) => handle(self, Event::Received { socket, bytes: &mut buffer[..count], at }),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(errno) => handle(self, Event::Refused { socket, error: errno.into(), at }),
            }
        }
        self.again.push_back(socket);
    }
}
