//! Events of a host: completions, one after the other, with the faults that a network and a kernel may add.

use super::{Completion, HostEvent, Kind, Net, STARVED_WAIT};
use crate::sim::Host;
use crate::sim::stream::Owner;
use crate::{Left, Socket, SocketError};
use pacing::Nanos;

impl Net {
    pub(in crate::sim) fn next_reported(&mut self, host: Host) -> Option<HostEvent> {
        let first = self.hosts[host.0].inbox.first_entry()?;
        if first.key().0 > self.now {
            return None;
        }
        let completion = first.remove();
        self.spend();
        let reported = match completion {
            Completion::Connected(socket) => self.report_connected(host, socket),
            Completion::Refused(socket, error) => self.report_failed(host, socket, error),
            Completion::Waiting(listener, end) => self.report_accepted(host, listener, end),
            Completion::Readable(socket) => self.report_read(host, socket),
            Completion::Sent(socket, buffer) if self.slot(host, socket).is_some() => HostEvent::Sent(socket, buffer),
            Completion::Sent(..) => HostEvent::Nothing,
            Completion::NewPeer(listener, socket) => HostEvent::Accepted(listener, socket),
            Completion::Datagram(socket, bytes) => self.report_datagram(host, socket, bytes),
            Completion::DatagramRefused(socket) if self.slot(host, socket).is_some() => {
                HostEvent::Refused(socket, SocketError::Refused)
            }
            Completion::DatagramRefused(_) => HostEvent::Nothing,
        };
        if self.is_traced {
            self.print(host, &reported);
        }
        let matters = matches!(reported, HostEvent::Connected(_) | HostEvent::Accepted(..) | HostEvent::Received(..));
        if let Some(left) = self.completions_to_loss.as_mut().filter(|_| matters) {
            *left -= 1;
            if *left == 0 {
                self.completions_to_loss = None;
                return Some(HostEvent::Nothing);
            }
        }
        Some(reported)
    }

    pub(super) fn report_connected(&mut self, host: Host, socket: Socket) -> HostEvent {
        let Some(slot) = self.slot(host, socket) else { return HostEvent::Nothing };
        let Kind::Connecting(end) = slot.kind else { return HostEvent::Nothing };
        slot.kind = Kind::Stream(end);
        self.write(end);
        self.schedule_read(end);
        HostEvent::Connected(socket)
    }

    pub(super) fn report_failed(&mut self, host: Host, socket: Socket, error: SocketError) -> HostEvent {
        let Some(slot) = self.slot(host, socket) else { return HostEvent::Nothing };
        let kind = slot.kind;
        let mut left = Left::default();
        if let Kind::Connecting(end) | Kind::Stream(end) = kind {
            left.untaken = self.ends[end].unsent();
            self.leave(end);
        }
        if let Kind::Stream(end) = kind {
            left.unacknowledged = Some(left.untaken + self.ends[end].unacknowledged);
        }
        self.remove(host, socket);
        HostEvent::Failed(socket, error, left)
    }

    pub(super) fn report_accepted(&mut self, host: Host, listener: Socket, end: usize) -> HostEvent {
        let Some(Kind::Listener(address)) = self.slot(host, listener).map(|slot| slot.kind) else {
            // There is no listener any more: the kernel resets the waiting connections.
            self.ends[end].owner = Owner::Gone;
            self.send_reset(end);
            return HostEvent::Nothing;
        };
        if self.hosts[host.0].open >= self.faults.sockets_max {
            let at = self.now + STARVED_WAIT;
            self.complete_at(host, at, Completion::Waiting(listener, end));
            return HostEvent::Nothing;
        }
        if let Some((_, state)) = self
            .listeners
            .iter_mut()
            .find(|(on, state)| *on == address && (state.host, state.socket) == (host, listener))
        {
            state.waiting -= 1;
        }
        let socket = self.insert(host, Kind::Stream(end));
        self.ends[end].owner = Owner::Program(host, socket);
        self.schedule_read(end);
        HostEvent::Accepted(listener, socket)
    }

    pub(super) fn report_read(&mut self, host: Host, socket: Socket) -> HostEvent {
        let Some(slot) = self.slot(host, socket) else { return HostEvent::Nothing };
        let receives = slot.receives;
        let Kind::Stream(number) = slot.kind else { return HostEvent::Nothing };
        let limit = self.read_limit();
        let end = &mut self.ends[number];
        end.read_is_due = false;
        if !receives {
            return match end.error {
                Some(error) if !end.queue.is_empty() => self.report_failed(host, socket, error),
                _ => HostEvent::Nothing,
            };
        }
        if !end.arrived.is_empty() {
            let count = limit.min(end.arrived.len());
            let bytes: Vec<u8> = end.arrived.drain(..count).collect();
            if let Some(peer) = end.peer {
                self.ends[peer].in_flight -= count;
                self.schedule_write(peer, Nanos::ZERO);
            }
            self.schedule_read(number);
            return HostEvent::Received(socket, bytes);
        }
        if let Some(error) = end.error {
            return self.report_failed(host, socket, error);
        }
        if end.fin_arrived && !end.fin_reported {
            end.fin_reported = true;
            return HostEvent::PeerClosed(socket);
        }
        HostEvent::Nothing
    }

    /// Maximum bytes of the next read.
    pub(super) fn read_limit(&mut self) -> usize {
        let most = self.faults.read_bytes_max as u64;
        if self.draws_fault(self.faults.short_read) { self.random.between(1, most) as usize } else { most as usize }
    }
}
