//! One end of a simulated stream: what its program gave, what its kernel took, what came.

use std::collections::VecDeque;

use pacing::Nanos;

use super::Host;
use crate::pending::PendingSockets;
use crate::{Socket, SocketError};

/// Who reads and writes at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody yet: it waits to be accepted.
    Kernel,
    Program(Host, Socket),
    /// Nobody any more.
    Gone,
}

pub(super) struct End {
    pub(super) owner: Owner,
    /// The other end; none while the connection is on its way.
    pub(super) peer: Option<usize>,
    /// Given by the program, and not yet taken whole by the kernel.
    pub(super) queue: VecDeque<PendingSockets>,
    /// Taken by the kernel, and not yet read by the peer's program.
    pub(super) in_flight: usize,
    /// Taken by the kernel, and not yet come to the peer's kernel.
    pub(super) unacknowledged: usize,
    pub(super) shut: bool,
    pub(super) fin_sent: bool,
    /// Came, and not yet read by the program.
    pub(super) arrived: VecDeque<u8>,
    pub(super) fin_arrived: bool,
    pub(super) fin_reported: bool,
    pub(super) error: Option<SocketError>,
    /// Nothing that it sends arrives any more.
    pub(super) is_dark: bool,
    /// When the last segment for this end arrives: the next one comes later.
    pub(super) last_arrival: Nanos,
    /// When the last completion of a read is told.
    pub(super) last_reported: Nanos,
    /// When the last completion of a send is told.
    pub(super) last_sent: Nanos,
    pub(super) write_is_due: bool,
    pub(super) read_is_due: bool,
}

impl End {
    pub(super) fn new(owner: Owner, peer: Option<usize>) -> Self {
        Self {
            owner,
            peer,
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

    /// Given by the program, and not yet taken by the kernel.
    pub(super) fn unsent(&self) -> usize {
        self.queue.iter().map(PendingSockets::unsent).sum()
    }

    /// Something that its program has not been told yet.
    pub(super) fn has_news(&self) -> bool {
        !self.arrived.is_empty() || self.has_ending()
    }

    /// An end or an error to tell, once what arrived is read. A program that has heard the end hears of an error only
    /// when it sends.
    pub(super) fn has_ending(&self) -> bool {
        (self.fin_arrived && !self.fin_reported)
            || (self.error.is_some() && (!self.fin_reported || !self.queue.is_empty()))
    }
}
