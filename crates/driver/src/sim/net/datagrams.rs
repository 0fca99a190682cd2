//! Datagrams in a simulated network: each on its own, lost, doubled, late, or refused.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use pacing::Nanos;

use super::transport::Happening;
use super::{Completion, HostEvent, Kind, Net};
use crate::sim::Host;
use crate::sim::stream::{End, Owner};
use crate::{DATAGRAM_BYTES_MAX, Socket, SocketKind};

/// An address without a listener.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
/// The latest that a late datagram arrives.
const LATE_MAX: Nanos = Nanos::from_millis(3_000);

impl Net {
    /// The kernel takes all queued datagrams, and transmits each.
    pub(super) fn write_datagrams(&mut self, number: usize) {
        while let Some(pending) = self.ends[number].queue.pop_front() {
            let Owner::Program(host, socket) = self.ends[number].owner else { return };
            let bytes = pending.rest(&self.hosts[host.0].templates).to_vec();
            self.hosts[host.0].datagrams.0 += 1;
            if self.draws_fault(self.faults.datagram_doubled) {
                self.transmit(number, bytes.clone());
            }
            self.transmit(number, bytes);
            if let Some(buffer) = pending.into_reported() {
                let at = self.ends[number].last_sent.max(self.reported_at());
                self.ends[number].last_sent = at;
                self.complete_at(host, at, Completion::Sent(socket, buffer));
            }
        }
    }

    fn transmit(&mut self, from: usize, bytes: Vec<u8>) {
        if self.draws_fault(self.faults.datagram_lost) {
            return;
        }
        let mut at = self.now + self.latency();
        if self.draws_fault(self.faults.datagram_late) {
            at += Nanos(self.random.below(LATE_MAX.0));
        }
        self.happen_at(at, Happening::Datagram { from, bytes });
    }

    /// Indices of the listeners of an address.
    pub(super) fn listening(&self, on: SocketAddr, kind: SocketKind) -> Vec<usize> {
        let fits = |index: &usize| self.listeners[*index].0 == on && self.listeners[*index].1.kind == kind;
        (0..self.listeners.len()).filter(fits).collect()
    }

    /// A datagram arrives at its host.
    pub(super) fn deliver_datagram(&mut self, from: usize, bytes: Vec<u8>) {
        let peer = self.ends[from].peer.filter(|peer| self.ends[*peer].owner != Owner::Gone);
        let Some(to) = peer.or_else(|| self.meet(from)) else { return };
        let Owner::Program(host, socket) = self.ends[to].owner else { return };
        let at = self.reported_at();
        self.complete_at(host, at, Completion::Datagram(socket, bytes));
    }

    /// The end of a program that did not know this peer; `None` if no program listens, which its host says.
    fn meet(&mut self, from: usize) -> Option<usize> {
        let is_new = self.ends[from].peer.is_none();
        let listening = self.ends[from].datagrams_to.map_or(Vec::new(), |to| self.listening(to, SocketKind::Datagram));
        if listening.is_empty() || (is_new && self.draws_fault(self.faults.refused)) {
            let at = self.now + self.latency();
            self.happen_at(at, Happening::Unreachable { to: from });
            return None;
        }
        let pick = listening[self.random.below(listening.len() as u64) as usize];
        let listener = &self.listeners[pick].1;
        let (host, listening) = (listener.host, listener.socket);
        let end = self.ends.len();
        let socket = self.insert(host, Kind::Stream(end));
        let mut new = End::new(Owner::Program(host, socket), Some(from));
        // Replies go to its peer, and when that is gone, to nobody.
        new.datagrams_to = Some(NOWHERE);
        self.ends.push(new);
        self.ends[from].peer = Some(end);
        let at = self.now;
        self.complete_at(host, at, Completion::NewPeer(listening, socket));
        Some(end)
    }

    pub(super) fn report_datagram(&mut self, host: Host, socket: Socket, bytes: Vec<u8>) -> HostEvent {
        let is_open = self.slot(host, socket).is_some();
        self.hosts[host.0].datagrams.1 += u64::from(is_open);
        match self.slot(host, socket) {
            None => HostEvent::Nothing,
            Some(_) if bytes.len() > DATAGRAM_BYTES_MAX => HostEvent::Cut(socket),
            Some(_) => HostEvent::Received(socket, bytes),
        }
    }
}
