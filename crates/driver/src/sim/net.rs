//! The simulated network: hosts, the time, operations of programs and their events. `transport` is the network between
//! them.

mod datagrams;
mod transport;

mod reporting;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pacing::{Nanos, Random};

use super::stream::{End, Owner};
use super::{Faults, Host};
use crate::pending::PendingSockets;
use crate::table::SocketTable;
use crate::{Left, ListenOptions, Outgoing, Socket, SocketError, SocketKind, Template};
use transport::Happening;

/// CPU time that a program spends on one event: minimum and maximum.
const EVENT_CPU: (u64, u64) = (100, 2_000);
/// The first free port when a program asks for any.
const FIRST_FREE_PORT: u16 = 32_768;
/// Retry interval of a listener without a file descriptor.
const STARVED_WAIT: Nanos = Nanos::from_millis(20);

/// An event for a program.
pub(super) enum HostEvent {
    Connected(Socket),
    Accepted(Socket, Socket),
    Received(Socket, Vec<u8>),
    Sent(Socket, Option<Vec<u8>>),
    PeerClosed(Socket),
    Failed(Socket, SocketError, Left),
    Refused(Socket, SocketError),
    Cut(Socket),
    /// The event became obsolete.
    Nothing,
}

/// A completion in the queue of a host.
enum Completion {
    Connected(Socket),
    Refused(Socket, SocketError),
    /// An end waits at a listener to be accepted.
    Waiting(Socket, usize),
    Readable(Socket),
    Sent(Socket, Option<Vec<u8>>),
    /// A first datagram came from a peer: a listener, and the socket for this peer.
    NewPeer(Socket, Socket),
    Datagram(Socket, Vec<u8>),
    DatagramRefused(Socket),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Connecting(usize),
    Stream(usize),
    Listener(SocketAddr),
}

struct Slot {
    kind: Kind,
    receives: bool,
}

struct HostState {
    table: SocketTable<Slot>,
    open: usize,
    most_open: usize,
    templates: Vec<Arc<[u8]>>,
    inbox: BTreeMap<(Nanos, u64), Completion>,
    /// End of the program's current wait.
    until: Nanos,
    /// The span by which waits may delay events, the longest delay so far, and the end of the current one.
    coalesce: Nanos,
    most_coalesced: Nanos,
    blind_until: Nanos,
    frozen: Vec<(Nanos, Nanos)>,
    /// Datagrams that its programs sent, and received.
    datagrams: (u64, u64),
    wake: Arc<AtomicBool>,
}

impl HostState {
    /// The next instant at which its program acts; `Nanos::NEVER` when nothing wakes it.
    fn next_turn(&self, now: Nanos) -> Nanos {
        let first = self.inbox.first_key_value().map_or(Nanos::NEVER, |((at, _), _)| *at);
        let wake = if self.wake.load(Ordering::Relaxed) { Nanos::ZERO } else { Nanos::NEVER };
        let at = first.max(self.blind_until).min(self.until).min(wake).max(now);
        self.frozen.iter().fold(at, |at, &(from, to)| if (from..to).contains(&at) { to } else { at })
    }

    /// Whether its wait may end early: it waits for something, and is not frozen.
    fn may_wake(&self, now: Nanos) -> bool {
        self.next_turn(now) != Nanos::NEVER && self.frozen.iter().all(|&(from, to)| !(from..to).contains(&now))
    }
}

struct Listener {
    host: Host,
    socket: Socket,
    kind: SocketKind,
    share_port: bool,
    waiting: usize,
}

pub(super) struct Net {
    now: Nanos,
    random: Random,
    faults: Faults,
    fault_count: u64,
    hosts: Vec<HostState>,
    ends: Vec<End>,
    listeners: Vec<(SocketAddr, Listener)>,
    happenings: BTreeMap<(Nanos, u64), Happening>,
    /// Distinguishes events of one instant.
    sequence: u64,
    lost: usize,
    /// Number of completions until one is dropped.
    pub(super) completions_to_loss: Option<u64>,
    next_port: u16,
    pub(super) is_traced: bool,
}

impl Net {
    pub(super) fn new(seed: u64, faults: Faults) -> Self {
        Self {
            now: Nanos::ZERO,
            random: Random::new(seed),
            faults,
            fault_count: 0,
            hosts: Vec::new(),
            ends: Vec::new(),
            listeners: Vec::new(),
            happenings: BTreeMap::new(),
            sequence: 0,
            lost: 0,
            completions_to_loss: None,
            next_port: FIRST_FREE_PORT,
            is_traced: false,
        }
    }

    // ---- the world ----

    pub(super) fn add_host(&mut self, wake: Arc<AtomicBool>) -> Host {
        self.hosts.push(HostState {
            table: SocketTable::default(),
            open: 0,
            most_open: 0,
            templates: Vec::new(),
            inbox: BTreeMap::new(),
            until: Nanos::ZERO,
            coalesce: Nanos::ZERO,
            most_coalesced: Nanos::ZERO,
            blind_until: Nanos::ZERO,
            frozen: Vec::new(),
            datagrams: (0, 0),
            wake,
        });
        Host(self.hosts.len() - 1)
    }

    pub(super) fn now(&self) -> Nanos {
        self.now
    }

    pub(super) fn freeze(&mut self, host: Host, from: Nanos, to: Nanos) {
        self.hosts[host.0].frozen.push((from, to));
        self.hosts[host.0].frozen.sort_unstable();
    }

    pub(super) fn open_sockets(&self, host: Host) -> usize {
        self.hosts[host.0].open
    }

    pub(super) fn unread_bytes(&self, host: Host) -> usize {
        let is_here = |end: &&End| matches!(end.owner, Owner::Program(owner, _) if owner == host);
        self.ends.iter().filter(is_here).map(|end| end.arrived.len()).sum()
    }

    pub(super) fn most_open_sockets(&self, host: Host) -> usize {
        self.hosts[host.0].most_open
    }

    pub(super) fn lost_connections(&self) -> usize {
        self.lost
    }

    pub(super) fn datagrams(&self, host: Host) -> (u64, u64) {
        self.hosts[host.0].datagrams
    }

    pub(super) fn faults_so_far(&self) -> u64 {
        self.fault_count
    }

    pub(super) fn settle(&mut self) {
        while let Some(((at, _), happening)) = self.happenings.pop_first() {
            self.now = self.now.max(at);
            self.happen(happening);
        }
    }

    pub(super) fn next_host(&mut self, takes_part: impl Fn(Host) -> bool) -> Option<Host> {
        if self.draws_fault(self.faults.early_wake) {
            let pick = Host(self.random.below(self.hosts.len() as u64) as usize);
            if takes_part(pick) && self.hosts[pick.0].may_wake(self.now) {
                return Some(pick);
            }
        }
        loop {
            // Read once: a real thread may call a waker meanwhile.
            let taking_part = (0..self.hosts.len()).map(Host).filter(|&host| takes_part(host));
            let mut turns: Vec<(Nanos, Host)> =
                taking_part.map(|host| (self.hosts[host.0].next_turn(self.now), host)).collect();
            let turn = turns.iter().map(|(at, _)| *at).min().unwrap_or(Nanos::NEVER);
            let next = self.happenings.first_key_value().map_or(Nanos::NEVER, |((at, _), _)| *at);
            if next == Nanos::NEVER && turn == Nanos::NEVER {
                return None;
            }
            if next <= turn {
                self.now = self.now.max(next);
                if let Some((_, happening)) = self.happenings.pop_first() {
                    self.happen(happening);
                }
                continue;
            }
            turns.retain(|(at, _)| *at == turn);
            self.now = self.now.max(turn);
            let pick = self.random.below(turns.len() as u64) as usize;
            return turns.get(pick).map(|(_, host)| *host);
        }
    }

    // ---- completions ----

    /// Number of completions that a wait returns.
    pub(super) fn begin_wait(&self, host: Host) -> usize {
        if self.now < self.hosts[host.0].blind_until { 0 } else { self.due(host) }
    }

    /// Number of completions that are due.
    pub(super) fn due(&self, host: Host) -> usize {
        self.hosts[host.0].inbox.range(..=(self.now, u64::MAX)).count()
    }

    pub(super) fn end_wait(&mut self, host: Host, until: Nanos) {
        self.spend();
        let state = &mut self.hosts[host.0];
        state.until = until;
        state.blind_until = (self.now + state.coalesce).min(until);
        state.most_coalesced = state.most_coalesced.max(state.blind_until.since(self.now));
    }

    pub(super) fn coalesce(&mut self, host: Host, span: Nanos) {
        self.hosts[host.0].coalesce = span;
    }

    pub(super) fn most_coalesced(&self, host: Host) -> Nanos {
        self.hosts[host.0].most_coalesced
    }

    pub(super) fn park(&mut self, host: Host) {
        self.hosts[host.0].inbox.clear();
        self.hosts[host.0].until = Nanos::NEVER;
        self.hosts[host.0].wake.store(false, Ordering::Relaxed);
    }

    // ---- operations ----

    pub(super) fn register(&mut self, host: Host, bytes: Arc<[u8]>) -> Template {
        let templates = &mut self.hosts[host.0].templates;
        templates.push(bytes);
        Template(u32::try_from(templates.len() - 1).expect("few templates"))
    }

    pub(super) fn open(&mut self, host: Host, to: SocketAddr, carries: SocketKind) -> Result<Socket, SocketError> {
        if self.draws_fault(self.faults.open_fails) {
            return Err(SocketError::NoLocalPort);
        }
        if self.hosts[host.0].open >= self.faults.sockets_max {
            return Err(SocketError::NoDescriptor);
        }
        let end = self.ends.len();
        let socket = self.insert(host, Kind::Connecting(end));
        self.ends.push(End::new(Owner::Program(host, socket), None));
        match carries {
            SocketKind::Stream => self.send_syn(end, to, 1),
            SocketKind::Datagram => {
                self.ends[end].datagrams_to = Some(to);
                let at = self.reported_at();
                self.complete_at(host, at, Completion::Connected(socket));
            }
        }
        Ok(socket)
    }

    pub(super) fn listen(&mut self, host: Host, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        let mut address = options.on;
        if address.port() == 0 {
            address.set_port(self.next_port);
            self.next_port += 1;
        }
        let kind = options.kind;
        let is_taken = |state: &Listener| state.kind == kind && !(state.share_port && options.share_port);
        if self.listeners.iter().any(|(on, state)| *on == address && is_taken(state)) {
            return Err(SocketError::AddressInUse);
        }
        let socket = self.insert(host, Kind::Listener(address));
        self.listeners.push((address, Listener { host, socket, kind, share_port: options.share_port, waiting: 0 }));
        Ok((socket, address))
    }

    pub(super) fn send(&mut self, host: Host, socket: Socket, bytes: Outgoing) {
        let Some(slot) = self.slot(host, socket) else { return };
        let kind = slot.kind;
        let (Kind::Connecting(end) | Kind::Stream(end)) = kind else { return };
        self.ends[end].queue.push_back(PendingSockets::new(bytes));
        if self.ends[end].error.is_some() {
            return self.schedule_read(end);
        }
        if matches!(kind, Kind::Stream(_)) {
            if self.draws_fault(self.faults.late_verb) {
                let delay = Nanos(self.random.between(1, 20_000));
                self.schedule_write(end, delay);
            } else {
                self.write(end);
            }
        }
    }

    pub(super) fn unsent(&mut self, host: Host, socket: Socket) -> usize {
        match self.slot(host, socket).map(|slot| slot.kind) {
            Some(Kind::Connecting(end) | Kind::Stream(end)) => self.ends[end].unsent(),
            _ => 0,
        }
    }

    pub(super) fn unacknowledged(&mut self, host: Host, socket: Socket) -> Option<usize> {
        let kind = self.slot(host, socket)?.kind;
        match kind {
            Kind::Connecting(end) | Kind::Stream(end) if self.ends[end].datagrams_to.is_some() => None,
            Kind::Connecting(end) | Kind::Stream(end) => Some(self.ends[end].unsent() + self.ends[end].unacknowledged),
            Kind::Listener(_) => None,
        }
    }

    pub(super) fn is_reset(&mut self, host: Host, socket: Socket) -> bool {
        let Some(Kind::Stream(end)) = self.slot(host, socket).map(|slot| slot.kind) else { return false };
        self.ends[end].fin_reported && self.ends[end].error.is_some()
    }

    pub(super) fn stop_sending(&mut self, host: Host, socket: Socket) -> usize {
        let Some(slot) = self.slot(host, socket) else { return 0 };
        let (Kind::Connecting(end) | Kind::Stream(end)) = slot.kind else { return 0 };
        let end = &mut self.ends[end];
        let untaken = end.unsent();
        end.shut &= end.queue.is_empty();
        end.queue.clear();
        untaken
    }

    pub(super) fn receive(&mut self, host: Host, socket: Socket, on: bool) {
        let Some(slot) = self.slot(host, socket) else { return };
        slot.receives = on;
        if let Kind::Stream(end) = slot.kind {
            self.schedule_read(end);
        }
    }

    pub(super) fn shutdown(&mut self, host: Host, socket: Socket) {
        let Some(slot) = self.slot(host, socket) else { return };
        if let Kind::Connecting(end) | Kind::Stream(end) = slot.kind
            && self.ends[end].datagrams_to.is_none()
        {
            self.ends[end].shut = true;
            self.schedule_write(end, Nanos::ZERO);
        }
    }

    pub(super) fn close(&mut self, host: Host, socket: Socket) {
        let Some(kind) = self.slot(host, socket).map(|slot| slot.kind) else { return };
        match kind {
            Kind::Connecting(end) | Kind::Stream(end) if self.ends[end].datagrams_to.is_some() => self.leave(end),
            Kind::Connecting(end) | Kind::Stream(end) => {
                // Closing with unread bytes sends a reset, as TCP does.
                if self.ends[end].arrived.is_empty() {
                    self.send_fin(end);
                } else {
                    self.send_reset(end);
                }
                self.leave(end);
            }
            Kind::Listener(_) => self.listeners.retain(|(_, state)| (state.host, state.socket) != (host, socket)),
        }
        self.remove(host, socket);
    }

    // ---- helpers ----

    fn slot(&mut self, host: Host, socket: Socket) -> Option<&mut Slot> {
        self.hosts[host.0].table.find(socket)
    }

    fn insert(&mut self, host: Host, kind: Kind) -> Socket {
        let state = &mut self.hosts[host.0];
        state.open += 1;
        state.most_open = state.most_open.max(state.open);
        state.table.insert(Slot { kind, receives: true })
    }

    fn remove(&mut self, host: Host, socket: Socket) {
        let state = &mut self.hosts[host.0];
        if state.table.remove(socket).is_some() {
            state.open -= 1;
        }
    }

    fn happen_at(&mut self, at: Nanos, happening: Happening) {
        self.sequence += 1;
        self.happenings.insert((at, self.sequence), happening);
    }

    fn complete_at(&mut self, host: Host, at: Nanos, completion: Completion) {
        self.sequence += 1;
        self.hosts[host.0].inbox.insert((at, self.sequence), completion);
    }

    fn latency(&mut self) -> Nanos {
        Nanos(self.random.between(self.faults.latency_min.0, self.faults.latency_max.0))
    }

    /// The instant at which a completion that is ready now is reported.
    fn reported_at(&mut self) -> Nanos {
        self.now + Nanos(self.random.below(self.faults.completion_delay_max.0 + 1))
    }

    /// Advances the time by the CPU time of the program.
    fn spend(&mut self) {
        self.now += Nanos(self.random.between(EVENT_CPU.0, EVENT_CPU.1));
    }

    fn draws_fault(&mut self, per_million: u32) -> bool {
        let fault_injected = self.random.chance(per_million);
        self.fault_count += u64::from(fault_injected);
        fault_injected
    }

    #[expect(clippy::print_stderr, reason = "somebody replays a seed to see this")]
    fn print(&self, host: Host, reported: &HostEvent) {
        let what = match reported {
            HostEvent::Connected(socket) => format!("connected {}", name(*socket)),
            HostEvent::Accepted(_, socket) => format!("accepted {}", name(*socket)),
            HostEvent::Received(socket, bytes) => format!("received {} {} bytes", name(*socket), bytes.len()),
            HostEvent::Sent(socket, _) => format!("sent {}", name(*socket)),
            HostEvent::PeerClosed(socket) => format!("peer closed {}", name(*socket)),
            HostEvent::Failed(socket, error, _) => format!("failed {}: {error}", name(*socket)),
            HostEvent::Refused(socket, error) => format!("refused {}: {error}", name(*socket)),
            HostEvent::Cut(socket) => format!("cut {}", name(*socket)),
            HostEvent::Nothing => return,
        };
        eprintln!("{:>14.6} ms  host {}  {what}", self.now.0 as f64 / 1e6, host.0);
    }
}

fn name(socket: Socket) -> String {
    format!("{}.{}", socket.index, socket.generation)
}
