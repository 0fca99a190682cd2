//! Bytes being sent, of which the kernel has taken some.

use std::sync::Arc;

use crate::{Outgoing, SocketError};

pub(crate) struct PendingSockets {
    bytes: Outgoing,
    written: usize,
    /// Whether it was tried before.
    is_retry: bool,
}

impl PendingSockets {
    pub(crate) fn new(bytes: Outgoing) -> Self {
        Self { bytes, written: 0, is_retry: false }
    }

    /// The bytes that are still to be sent. Their address is stable until the owner drops this value.
    pub(crate) fn rest<'a>(&'a self, templates: &'a [Arc<[u8]>]) -> &'a [u8] {
        let all = match &self.bytes {
            Outgoing::Template(id, range) => &templates[id.0 as usize][range.clone()],
            Outgoing::Shared(bytes, range) => &bytes[range.clone()],
            Outgoing::Whole(bytes) => bytes,
            Outgoing::Lent(buffer) => buffer,
        };
        &all[self.written..]
    }

    /// Whether a datagram is sent again after this error. An error of an earlier datagram is returned by the next send,
    /// which does nothing else.
    pub(crate) fn may_retry(&mut self, error: SocketError) -> bool {
        error == SocketError::Refused && !std::mem::replace(&mut self.is_retry, true)
    }

    /// The kernel took `count` more bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.written += count;
    }

    pub(crate) fn unsent(&self) -> usize {
        let total = match &self.bytes {
            Outgoing::Template(_, range) | Outgoing::Shared(_, range) => range.len(),
            Outgoing::Whole(bytes) => bytes.len(),
            Outgoing::Lent(buffer) => buffer.len(),
        };
        total - self.written
    }

    /// Called when all was taken: whether an event reports it, and with which buffer.
    pub(crate) fn into_reported(self) -> Option<Option<Vec<u8>>> {
        match self.bytes {
            Outgoing::Template(..) => None,
            Outgoing::Shared(..) | Outgoing::Whole(_) => Some(None),
            Outgoing::Lent(buffer) => Some(Some(buffer)),
        }
    }
}
