//! The sockets of a poll driver.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;

use super::sys;
use crate::pending::PendingSockets;
use crate::{Left, SocketError};

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
    /// Whether data may be readable that arrived while receiving was off.
    pub(super) unread: bool,
    pub(super) peer_closed: bool,
    pub(super) shut_after_queue: bool,
    /// Whether our end of the stream was sent, which counts as one byte until it is acknowledged.
    is_shut: bool,
    pub(super) is_tcp: bool,
    pub(super) is_datagram: bool,
    pub(super) send_error: Option<SocketError>,
    /// Sends that the kernel does not take yet; the box keeps sockets without any small.
    #[expect(clippy::box_collection, reason = "a slot without a queue pays 8 bytes, not 32")]
    queued: Option<Box<VecDeque<PendingSockets>>>,
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
            is_shut: false,
            is_tcp: true,
            is_datagram: false,
            send_error: None,
            queued: None,
        }
    }

    pub(super) fn has_queue(&self) -> bool {
        self.queued.is_some()
    }

    pub(super) fn queue(&mut self) -> &mut VecDeque<PendingSockets> {
        self.queued.get_or_insert_default()
    }

    pub(super) fn unsent(&self) -> usize {
        self.queued.iter().flat_map(|queue| queue.iter()).map(PendingSockets::unsent).sum()
    }

    pub(super) fn shut(&mut self) {
        self.is_shut |= sys::shutdown_write(&self.fd);
    }

    /// Drops the queued sends; returns how many bytes that was.
    pub(super) fn drop_queue(&mut self) -> usize {
        let untaken = self.unsent();
        if self.queued.take().is_some() {
            self.shut_after_queue = false;
        }
        untaken
    }

    pub(super) fn unacknowledged(&self) -> Option<usize> {
        let held = match self.kind {
            Kind::Listener => return None,
            _ if !self.is_tcp => return None,
            Kind::Connecting => 0,
            // Our end comes last: as long as it is not acknowledged, it is counted as one unacknowledged byte.
            Kind::Stream => sys::unacknowledged(&self.fd)?.saturating_sub(usize::from(self.is_shut)),
        };
        Some(self.unsent() + held)
    }

    /// The bytes that a failed socket leaves unsent or unacknowledged.
    pub(super) fn left(&self) -> Left {
        let unacknowledged = if self.kind == Kind::Stream { self.unacknowledged() } else { None };
        Left { untaken: self.unsent(), unacknowledged }
    }

    pub(super) fn next_queued(&mut self) -> Option<PendingSockets> {
        let next = self.queued.as_mut()?.pop_front();
        if next.is_none() {
            self.queued = None;
        }
        next
    }
}

/// Writes as much as the kernel takes. When all was taken: whether an event reports it, and with which buffer.
pub(super) fn write(
    mut pending: PendingSockets,
    slot: &Slot,
    templates: &[Arc<[u8]>],
) -> Result<Option<Option<Vec<u8>>>, (PendingSockets, Errno)> {
    loop {
        let rest = pending.rest(templates);
        if rest.is_empty() && !slot.is_datagram {
            return Ok(pending.into_reported());
        }
        match sys::send(&slot.fd, rest) {
            // A datagram is taken whole, also an empty one.
            Ok(_) if slot.is_datagram => return Ok(pending.into_reported()),
            Ok(count) => pending.take(count),
            Err(Errno::INTR) => {}
            Err(errno) => return Err((pending, errno)),
        }
    }
}
