//! The sockets of a ring driver.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use super::op::Op;
use crate::pending::PendingSockets;

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
    pub(super) is_datagram: bool,
    /// Whether the kernel chose the slot.
    pub(super) is_accepted: bool,
    pub(super) receives: bool,
    /// Whether a multishot receive (of a listener: accept) is armed.
    pub(super) receive_is_armed: bool,
    /// Whether the armed receive, or the next one, is into large buffers.
    pub(super) is_large: bool,
    /// Receives in a row that filled a small buffer.
    pub(super) filled: u8,
    pub(super) peer_closed: bool,
    pub(super) send_failed: bool,
    /// Whether the kernel is shutting down our side, which it does later and by the slot.
    pub(super) is_shutting: bool,
    /// Whether our end of the stream was sent, which counts as one byte until it is acknowledged.
    pub(super) is_shut: bool,
    /// Present only for sockets that send more than small templates.
    pub(super) more: Option<Box<More>>,
    pub(super) listener: Option<Box<OwnedFd>>,
}

#[derive(Default)]
pub(super) struct More {
    /// The send in progress, which the kernel may be reading.
    pub(super) sending: Option<PendingSockets>,
    pub(super) queue: VecDeque<PendingSockets>,
    pub(super) shut_after_queue: bool,
    /// Bytes of small templates that the kernel did not take.
    pub(super) refused: usize,
    /// Bytes that arrived after receiving was switched off.
    pub(super) held: Vec<u8>,
    /// Whether the end of the stream arrived after receiving was switched off.
    pub(super) held_end: bool,
}

impl More {
    /// Whether nothing is in progress, and nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.sending.is_none()
            && self.queue.is_empty()
            && !self.shut_after_queue
            && self.refused == 0
            && self.held.is_empty()
            && !self.held_end
    }
}

impl Entry {
    pub(super) fn new(kind: Kind, ring: usize, slot: u32, is_accepted: bool) -> Self {
        Self {
            kind,
            ring: ring as u16,
            slot,
            is_datagram: false,
            is_accepted,
            receives: true,
            receive_is_armed: false,
            is_large: false,
            filled: 0,
            peer_closed: false,
            send_failed: false,
            is_shutting: false,
            is_shut: false,
            more: None,
            listener: None,
        }
    }

    /// The operation of the receive that is armed, or will be.
    pub(super) fn receive_op(&self) -> Op {
        if self.is_large { Op::ReceiveLarge } else { Op::Receive }
    }

    pub(super) fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    pub(super) fn is_sending(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.sending.is_some())
    }
}
