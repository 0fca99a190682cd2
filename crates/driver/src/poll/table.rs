//! The sockets of a poll driver.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;

use super::sys;
use crate::{Outgoing, Socket, SocketError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Connecting,
    Stream,
    Listener,
}

pub(super) struct Slot {
    pub(super) fd: OwnedFd,
    pub(super) kind: Kind,
    pub(super) receives: bool,
    /// Something may be there to read, seen while receiving was off.
    pub(super) unread: bool,
    pub(super) peer_closed: bool,
    pub(super) shut_after_queue: bool,
    pub(super) send_error: Option<SocketError>,
    /// Only a socket that the kernel blocks has a queue; the box keeps the others small.
    #[expect(clippy::box_collection, reason = "a slot without a queue pays 8 bytes, not 32")]
    queued: Option<Box<VecDeque<Pending>>>,
}

impl Slot {
    pub(super) fn new(fd: OwnedFd, kind: Kind) -> Self {
        Self {
            fd,
            kind,
            receives: true,
            unread: false,
            peer_closed: false,
            shut_after_queue: false,
            send_error: None,
            queued: None,
        }
    }

    pub(super) fn has_queue(&self) -> bool {
        self.queued.is_some()
    }

    pub(super) fn queue(&mut self) -> &mut VecDeque<Pending> {
        self.queued.get_or_insert_default()
    }

    pub(super) fn unsent(&self) -> usize {
        self.queued.iter().flat_map(|queue| queue.iter()).map(Pending::unsent).sum()
    }

    pub(super) fn next_queued(&mut self) -> Option<Pending> {
        let next = self.queued.as_mut()?.pop_front();
        if next.is_none() {
            self.queued = None;
        }
        next
    }
}

/// Bytes of which `written` were taken.
pub(super) struct Pending {
    bytes: Outgoing,
    written: usize,
}

impl Pending {
    pub(super) fn new(bytes: Outgoing) -> Self {
        Self { bytes, written: 0 }
    }

    fn unsent(&self) -> usize {
        let total = match &self.bytes {
            Outgoing::Template(_, range) | Outgoing::Shared(_, range) => range.len(),
            Outgoing::Lent(buffer) => buffer.len(),
        };
        total - self.written
    }

    /// Writes as much as the kernel takes. When all was taken, whether that is told and with which buffer.
    pub(super) fn write(
        mut self,
        fd: &OwnedFd,
        templates: &[Arc<[u8]>],
    ) -> Result<Option<Option<Vec<u8>>>, (Self, Errno)> {
        loop {
            let rest = match &self.bytes {
                Outgoing::Template(id, range) => &templates[id.0 as usize][range.clone()][self.written..],
                Outgoing::Shared(bytes, range) => &bytes[range.clone()][self.written..],
                Outgoing::Lent(buffer) => &buffer[self.written..],
            };
            if rest.is_empty() {
                return Ok(match self.bytes {
                    Outgoing::Template(..) => None,
                    Outgoing::Shared(..) => Some(None),
                    Outgoing::Lent(buffer) => Some(Some(buffer)),
                });
            }
            match sys::send(fd, rest) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err((self, errno)),
            }
        }
    }
}

/// Slots with generations: a stale [`Socket`] finds nothing.
#[derive(Default)]
pub(super) struct Table {
    slots: Vec<(u32, Option<Slot>)>,
    free: Vec<u32>,
}

impl Table {
    pub(super) fn insert(&mut self, slot: Slot) -> Socket {
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.slots[index as usize];
            *place = Some(slot);
            return Socket { index, generation: *generation };
        }
        let index = u32::try_from(self.slots.len()).expect("descriptors are fewer than 2^31");
        self.slots.push((0, Some(slot)));
        Socket { index, generation: 0 }
    }

    #[inline]
    pub(super) fn find(&mut self, socket: Socket) -> Option<&mut Slot> {
        match self.slots.get_mut(socket.index as usize) {
            Some((generation, slot)) if *generation == socket.generation => slot.as_mut(),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, socket: Socket) -> Option<Slot> {
        let (generation, place) = self.slots.get_mut(socket.index as usize)?;
        if *generation != socket.generation {
            return None;
        }
        let slot = place.take()?;
        // The token of the poller has 32 bits for it, less the two tokens of our own.
        *generation = (*generation + 1) & 0x7fff_ffff;
        self.free.push(socket.index);
        Some(slot)
    }
}
