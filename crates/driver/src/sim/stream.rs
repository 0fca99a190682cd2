//! One end of a simulated stream: bytes passed by its program, taken by its kernel, and received.

use std::collections::VecDeque;
use std::net::SocketAddr;

use pacing::Nanos;

use super::Host;
use crate::pending::PendingSockets;
use crate::{Socket, SocketError};

/// The owner of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// No program yet: it waits to be accepted.
    Kernel,
    Program(Host, Socket),
    /// No program any more.
    Gone,
}

pub(super) struct End {
    pub(super) owner: Owner,
    /// The other end; `None` while the connection is being established.
    pub(super) peer: Option<usize>,
    /// Where its datagrams go; `None` for a stream.
    pub(super) datagrams_to: Option<SocketAddr>,
    /// Passed by the program, and not yet completely taken by the kernel.
    pub(super) queue: VecDeque<PendingSockets>,
    /// Taken by the kernel, and not yet read by the peer's program.
    pub(super) in_flight: usize,
    /// Taken by the kernel, and not yet received by the peer's kernel.
    pub(super) unacknowledged: usize,
    pub(super) shut: bool,
    pub(super) fin_sent: bool,
    /// Received, and not yet read by the program.
    pub(super) arrived: VecDeque<u8>,
    pub(super) fin_arrived: bool,
    pub(super) fin_reported: bool,
    pub(super) error: Option<SocketError>,
    /// Whether nothing that it sends arrives any more.
    pub(super) is_dark: bool,
    /// The arrival of the last segment for this end: the next one comes later.
    pub(super) last_arrival: Nanos,
    /// The instant at which the last read completion is reported.
    pub(super) last_reported: Nanos,
    /// The instant at which the last send completion is reported.
    pub(super) last_sent: Nanos,
    pub(super) write_is_due: bool,
    pub(super) read_is_due: bool,
}

impl End {
    pub(super) fn new(owner: Owner, peer: Option<usize>) -> Self {
        Self {
            owner,
            peer,
            datagrams_to: None,
            queue: VecDeque::new(),
            in_flight: 0,
            unacknowledged: 0,
            shut: false,
            fin_sent: false,
            arrived: VecDeque::new(),
            fin_arrived: false,
            fin_reported: false,
            error: None,
            is_dark: false,
            last_arrival: Nanos::ZERO,
            last_reported: Nanos::ZERO,
            last_sent: Nanos::ZERO,
            write_is_due: false,
            read_is_due: false,
        }
    }

    /// Bytes passed by the program, and not yet taken by the kernel.
    pub(super) fn unsent(&self) -> usize {
        self.queue.iter().map(PendingSockets::unsent).sum()
    }

    /// Whether there is something to report to its program.
    pub(super) fn has_news(&self) -> bool {
        !self.arrived.is_empty() || self.has_ending()
    }

    /// Whether an end or an error is to be reported once the received bytes are read. A program that knows of the end
    /// is notified of an error only when it sends.
    pub(super) fn has_ending(&self) -> bool {
        (self.fin_arrived && !self.fin_reported)
            || (self.error.is_some() && (!self.fin_reported || !self.queue.is_empty()))
    }
}
