//! The network between two programs: kernels that take and deliver, packets in transit, and their faults.

use std::net::SocketAddr;

use pacing::Nanos;

use super::{Completion, Kind, Net};
use crate::sim::stream::{End, Owner};
use crate::{SocketError, SocketKind};

/// The kernel retransmits lost bytes after this.
const RETRANSMISSION_WAIT: Nanos = Nanos::from_millis(200);
/// The kernel retries after this to reach a listener that did not respond.
const SYN_WAIT: Nanos = Nanos::from_millis(1_000);
/// Connection attempts before the kernel gives up, as with `tcp_syn_retries`.
const SYN_TRIES_MAX: u32 = 7;

/// An event within the network.
pub(super) enum Happening {
    Syn {
        from: usize,
        to: SocketAddr,
        tries: u32,
    },
    Established {
        end: usize,
    },
    NotEstablished {
        end: usize,
        error: SocketError,
    },
    Segment {
        to: usize,
        bytes: Vec<u8>,
    },
    Fin {
        to: usize,
    },
    Reset {
        to: usize,
    },
    /// The kernel takes more queued bytes.
    Write {
        end: usize,
    },
    Datagram {
        from: usize,
        bytes: Vec<u8>,
    },
    /// A host says that a datagram reached no program.
    Unreachable {
        to: usize,
    },
}

impl Net {
    /// The program stops reading and writing at this end.
    pub(super) fn leave(&mut self, end: usize) {
        let end = &mut self.ends[end];
        end.owner = Owner::Gone;
        end.queue.clear();
        end.arrived.clear();
    }

    /// The kernel takes as many queued bytes as it can.
    pub(super) fn write(&mut self, number: usize) {
        self.ends[number].write_is_due = false;
        if self.ends[number].datagrams_to.is_some() {
            return self.write_datagrams(number);
        }
        while let Some(pending) = self.ends[number].queue.front() {
            let (unsent, room) = (pending.unsent(), self.faults.window_bytes - self.ends[number].in_flight);
            let mut count = unsent.min(room);
            if unsent > 0 && count == 0 {
                return;
            }
            let is_short = count > 1 && self.draws_fault(self.faults.short_write);
            if is_short {
                count = self.random.between(1, count as u64 - 1) as usize;
            }
            self.take(number, count);
            if is_short {
                let delay = Nanos(self.random.between(1_000, 3_000_000));
                return self.schedule_write(number, delay);
            }
        }
        let end = &self.ends[number];
        if end.shut && end.owner != Owner::Gone {
            self.send_fin(number);
        }
    }

    /// The kernel takes `count` bytes of the first queued send, and transmits them.
    fn take(&mut self, number: usize, count: usize) {
        let Some(mut pending) = self.ends[number].queue.pop_front() else { return };
        let Owner::Program(host, socket) = self.ends[number].owner else { return };
        if count > 0 {
            let bytes = pending.rest(&self.hosts[host.0].templates)[..count].to_vec();
            self.ends[number].in_flight += count;
            self.ends[number].unacknowledged += count;
            pending.take(count);
            self.send_segment(number, bytes);
        }
        if pending.unsent() > 0 {
            return self.ends[number].queue.push_front(pending);
        }
        if let Some(buffer) = pending.into_reported() {
            let at = self.ends[number].last_sent.max(self.reported_at());
            self.ends[number].last_sent = at;
            self.complete_at(host, at, Completion::Sent(socket, buffer));
        }
    }

    pub(super) fn send_syn(&mut self, from: usize, to: SocketAddr, tries: u32) {
        let at = self.now + self.latency();
        if self.draws_fault(self.faults.syn_lost) {
            return self.try_again(from, to, tries);
        }
        self.happen_at(at, Happening::Syn { from, to, tries });
    }

    /// There was no response: the kernel waits and retries, or gives up.
    fn try_again(&mut self, from: usize, to: SocketAddr, tries: u32) {
        let wait = Nanos(SYN_WAIT.0 << (tries - 1));
        if tries < SYN_TRIES_MAX {
            self.happen_at(self.now + wait, Happening::Syn { from, to, tries: tries + 1 });
        } else {
            let error = SocketError::TimedOut;
            self.happen_at(self.now + wait, Happening::NotEstablished { end: from, error });
        }
    }

    fn send_segment(&mut self, from: usize, bytes: Vec<u8>) {
        let Some(to) = self.ends[from].peer else { return };
        if self.draws_fault(self.faults.loss) {
            self.lose(from, to);
        }
        if self.ends[from].is_dark {
            return;
        }
        let at = self.arrival(to);
        self.happen_at(at, Happening::Segment { to, bytes });
    }

    /// A middlebox drops the connection.
    fn lose(&mut self, here: usize, there: usize) {
        self.lost += 1;
        let (near, far) = (self.now + self.latency(), self.now + self.latency());
        match self.random.below(4) {
            0 => {
                self.happen_at(near, Happening::Reset { to: here });
                self.happen_at(far, Happening::Reset { to: there });
            }
            1 => self.happen_at(near, Happening::Reset { to: here }),
            2 => self.happen_at(far, Happening::Reset { to: there }),
            _ => {
                self.ends[here].is_dark = true;
                self.ends[there].is_dark = true;
            }
        }
    }

    pub(super) fn send_fin(&mut self, from: usize) {
        let end = &mut self.ends[from];
        let Some(to) = end.peer else { return };
        if end.fin_sent || end.is_dark {
            return;
        }
        end.fin_sent = true;
        let at = self.arrival(to);
        self.happen_at(at, Happening::Fin { to });
    }

    pub(super) fn send_reset(&mut self, from: usize) {
        let Some(to) = self.ends[from].peer else { return };
        if !self.ends[from].is_dark {
            let at = self.arrival(to);
            self.happen_at(at, Happening::Reset { to });
        }
    }

    /// The instant at which a segment sent now arrives at an end: after those that were sent before.
    fn arrival(&mut self, to: usize) -> Nanos {
        let mut at = self.now + self.latency();
        if self.draws_fault(self.faults.retransmission) {
            at += RETRANSMISSION_WAIT;
        }
        let at = at.max(self.ends[to].last_arrival);
        self.ends[to].last_arrival = at;
        at
    }

    pub(super) fn schedule_write(&mut self, end: usize, delay: Nanos) {
        if !self.ends[end].write_is_due && (self.ends[end].shut || !self.ends[end].queue.is_empty()) {
            self.ends[end].write_is_due = true;
            self.happen_at(self.now + delay, Happening::Write { end });
        }
    }

    pub(super) fn schedule_read(&mut self, number: usize) {
        let at = self.reported_at();
        let end = &mut self.ends[number];
        let Owner::Program(host, socket) = end.owner else { return };
        if end.read_is_due || !end.has_news() {
            return;
        }
        let Some(slot) = self.hosts[host.0].table.find(socket) else { return };
        let may_fail = end.error.is_some() && !end.queue.is_empty();
        if !matches!(slot.kind, Kind::Stream(_)) || !(slot.receives || may_fail) {
            return;
        }
        end.read_is_due = true;
        end.last_reported = end.last_reported.max(at);
        let at = end.last_reported;
        self.complete_at(host, at, Completion::Readable(socket));
    }

    pub(super) fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Syn { from, to, tries } => self.knock(from, to, tries),
            Happening::Established { end } => match self.ends[end].owner {
                Owner::Program(host, socket) => {
                    let at = self.reported_at();
                    self.ends[end].last_reported = at;
                    self.complete_at(host, at, Completion::Connected(socket));
                }
                Owner::Kernel | Owner::Gone => self.send_reset(end),
            },
            Happening::NotEstablished { end, error } => {
                if let Owner::Program(host, socket) = self.ends[end].owner {
                    let at = self.reported_at();
                    self.complete_at(host, at, Completion::Refused(socket, error));
                }
            }
            Happening::Datagram { from, bytes } => self.deliver_datagram(from, bytes),
            Happening::Unreachable { to } => {
                if let Owner::Program(host, socket) = self.ends[to].owner {
                    let at = self.reported_at();
                    self.complete_at(host, at, Completion::DatagramRefused(socket));
                }
            }
            Happening::Segment { to, bytes } => {
                if self.ends[to].is_dark || self.ends[to].error.is_some() {
                    return;
                }
                if self.ends[to].owner == Owner::Gone {
                    return self.send_reset(to);
                }
                if let Some(from) = self.ends[to].peer {
                    self.ends[from].unacknowledged -= bytes.len();
                }
                self.ends[to].arrived.extend(bytes);
                self.schedule_read(to);
            }
            Happening::Fin { to } => {
                if !self.ends[to].is_dark {
                    self.ends[to].fin_arrived = true;
                    self.schedule_read(to);
                }
            }
            Happening::Reset { to } => {
                if !self.ends[to].is_dark {
                    self.ends[to].error = Some(SocketError::Reset);
                    self.schedule_read(to);
                }
            }
            Happening::Write { end } => match self.ends[end].owner {
                Owner::Program(host, socket) => {
                    if self.slot(host, socket).is_some_and(|slot| matches!(slot.kind, Kind::Stream(_))) {
                        self.write(end);
                    } else {
                        self.ends[end].write_is_due = false;
                    }
                }
                Owner::Kernel | Owner::Gone => {}
            },
        }
    }

    /// The first packet of a connection arrives at an address.
    fn knock(&mut self, from: usize, to: SocketAddr, tries: u32) {
        if self.ends[from].owner == Owner::Gone {
            return;
        }
        let response = self.now + self.latency();
        let backlog = self.faults.backlog;
        let listening: Vec<usize> = self.listening(to, SocketKind::Stream);
        if listening.is_empty() || self.draws_fault(self.faults.refused) {
            let error = SocketError::Refused;
            return self.happen_at(response, Happening::NotEstablished { end: from, error });
        }
        let pick = listening[self.random.below(listening.len() as u64) as usize];
        let listener = &mut self.listeners[pick].1;
        if listener.waiting >= backlog {
            return self.try_again(from, to, tries);
        }
        listener.waiting += 1;
        let (host, socket) = (listener.host, listener.socket);
        let end = self.ends.len();
        self.ends.push(End::new(Owner::Kernel, Some(from)));
        self.ends[from].peer = Some(end);
        let at = self.reported_at();
        self.ends[end].last_reported = at;
        self.complete_at(host, at, Completion::Waiting(socket, end));
        self.ends[from].last_arrival = response;
        self.happen_at(response, Happening::Established { end: from });
    }
}
