//! The sockets of a ring driver.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::{Outgoing, Socket};

/// The user data of a completion has this many bits for the generation.
pub(super) const GENERATION_MASK: u32 = 0x00ff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Connecting,
    Stream,
    Listener,
}

/// A socket. It is small: an idle connection owns nothing else.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) ring: u16,
    pub(super) slot: u32,
    /// The kernel chose the slot.
    pub(super) is_accepted: bool,
    pub(super) receives: bool,
    /// A multishot receive (of a listener: accept) is armed.
    pub(super) receive_is_armed: bool,
    pub(super) peer_closed: bool,
    pub(super) send_failed: bool,
    /// Only sockets that send more than small templates have it.
    pub(super) more: Option<Box<More>>,
    pub(super) listener: Option<Box<OwnedFd>>,
}

#[derive(Default)]
pub(super) struct More {
    /// What the kernel may be reading.
    pub(super) sending: Option<Pending>,
    pub(super) queue: VecDeque<Pending>,
    pub(super) shut_after_queue: bool,
    /// What arrived after receiving was switched off.
    pub(super) held: Vec<u8>,
    /// The end of the stream came after receiving was switched off.
    pub(super) held_end: bool,
}

impl Entry {
    pub(super) fn new(kind: Kind, ring: usize, slot: u32, is_accepted: bool) -> Self {
        Self {
            kind,
            ring: ring as u16,
            slot,
            is_accepted,
            receives: true,
            receive_is_armed: false,
            peer_closed: false,
            send_failed: false,
            more: None,
            listener: None,
        }
    }

    pub(super) fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    pub(super) fn is_sending(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.sending.is_some())
    }
}

/// Bytes of which `written` were taken.
pub(super) struct Pending {
    pub(super) bytes: Outgoing,
    pub(super) written: usize,
}

impl Pending {
    pub(super) fn new(bytes: Outgoing) -> Self {
        Self { bytes, written: 0 }
    }

    /// What is still to be sent. It stays where it is until the owner drops this value.
    pub(super) fn rest(&self, templates: &[Arc<[u8]>]) -> (*const u8, u32) {
        let rest = match &self.bytes {
            Outgoing::Template(id, range) => &templates[id.0 as usize][range.clone()][self.written..],
            Outgoing::Shared(bytes, range) => &bytes[range.clone()][self.written..],
            Outgoing::Lent(buffer) => &buffer[self.written..],
        };
        // The kernel takes at most 2 GiB at once; what is left goes with the next send.
        (rest.as_ptr(), rest.len().min(1 << 30) as u32)
    }

    pub(super) fn total(&self) -> usize {
        match &self.bytes {
            Outgoing::Template(_, range) | Outgoing::Shared(_, range) => range.len(),
            Outgoing::Lent(buffer) => buffer.len(),
        }
    }
}

/// Entries with generations: a stale [`Socket`] finds nothing.
#[derive(Default)]
pub(super) struct Table {
    entries: Vec<(u32, Option<Entry>)>,
    free: Vec<u32>,
}

impl Table {
    pub(super) fn insert(&mut self, entry: Entry) -> Socket {
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.entries[index as usize];
            *place = Some(entry);
            return Socket { index, generation: *generation };
        }
        let index = u32::try_from(self.entries.len()).expect("sockets are fewer than 2^32");
        self.entries.push((0, Some(entry)));
        Socket { index, generation: 0 }
    }

    #[inline]
    pub(super) fn find(&mut self, socket: Socket) -> Option<&mut Entry> {
        match self.entries.get_mut(socket.index as usize) {
            Some((generation, entry)) if *generation == socket.generation => entry.as_mut(),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, socket: Socket) -> Option<Entry> {
        self.find(socket)?;
        let (generation, place) = &mut self.entries[socket.index as usize];
        *generation = (*generation + 1) & GENERATION_MASK;
        self.free.push(socket.index);
        place.take()
    }
}
