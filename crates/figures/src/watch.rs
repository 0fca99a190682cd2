//! Notes about a load while it runs: the limits of either side, with their figures. Each kind is noted once while the
//! load runs, when it first occurs, and again at the end with the figures of the whole run.
//!
//! For each interval: call [`Watch::wants`], read that from the kernel, pass both to [`Watch::interval`].

use std::net::{IpAddr, SocketAddr};

use engine::NameReport;
use metrics::{Failure, Snapshot};

use crate::Interval;

#[cfg(test)]
mod tests;

/// The share of the local ports to a target from which on a note is made.
const PORTS_SHARE: f64 = 0.7;
/// The number of new connections cut off in one interval from which on a limit of the server is likely.
const CUT_OFF_MIN: u64 = 3;
/// At a limit, the open connections of two intervals differ by less than this share.
const SAME_SHARE: f64 = 0.02;
/// New connections between two counts of the ports: counting them reads the kernel's whole table. As long as few ports
/// are in use, the distance doubles with each count, up to the most.
const CONNECTIONS_BETWEEN_CHECKS: u64 = 2_000;
const CONNECTIONS_BETWEEN_CHECKS_MAX: u64 = 500_000;
/// The share of the ports that counts as few.
const FEW_PORTS_SHARE: f64 = PORTS_SHARE / 2.0;
/// The most refusing hosts that are named.
const PLACES_MAX: usize = 3;

/// Use of the local ports to a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Ports in use.
    pub in_use: u64,
    /// Those of them in TIME_WAIT.
    pub time_wait: u64,
    /// All local ports.
    pub all: u64,
}

/// What should be read from the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// The ports to the target. Reading them takes time.
    pub ports: bool,
    /// The descriptor limit of this process.
    pub descriptors: bool,
    /// The accept queues of this machine, when the target is on it.
    pub queue: bool,
}

/// The values read from the kernel, where they were wanted and available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The ports to the target.
    pub ports: Option<Ports>,
    /// The descriptor limit of this process.
    pub descriptors_max: Option<u64>,
    /// Overflows of accept queues since the start of this machine, when the target is on it.
    pub overflows: Option<u64>,
    /// `net.core.somaxconn`, when the target is on this machine.
    pub backlog_max: Option<u64>,
}

/// A note about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Local ports are used up, or soon will be.
    LocalPorts {
        /// The target address.
        address: SocketAddr,
        /// Use of the ports.
        ports: Ports,
    },
    /// Connections failed for lack of descriptors.
    Descriptors {
        /// The descriptor limit of this process.
        limit: u64,
        /// Connections that got none.
        without: u64,
    },
    /// New connections were refused after others had been accepted.
    Refused {
        /// The target.
        address: SocketAddr,
        /// The count.
        count: u64,
        /// The hosts, when connections go to several.
        places: Vec<String>,
    },
    /// New connections took longer than the time after which the kernel resends a SYN.
    AcceptQueue {
        /// The target; `None` when connections go to several hosts.
        address: Option<SocketAddr>,
        /// Connections that took longer.
        slow: u64,
        /// Connections that timed out.
        timed_out: u64,
        /// Overflows of accept queues on this machine since the start of the run.
        overflows: u64,
        /// `net.core.somaxconn`, when the target is on this machine.
        backlog_max: Option<u64>,
    },
    /// The server closes new connections while others stay.
    ServerLimit {
        /// Those that it closed.
        cut: u64,
        /// Those that stayed.
        open: u64,
    },
    /// Responses waited for a delayed acknowledgement.
    DelayedAcks {
        /// The count.
        waited: u64,
        /// The number of successes.
        of: u64,
    },
    /// Nothing succeeded on plain connections, and the port speaks TLS.
    SpeaksTls,
    /// Users left because their program says so at a failure.
    UsersLeft {
        /// The number of times.
        left: u64,
        /// The users of closed loads, of which each leaves once; `None` where others replace those that leave.
        of: Option<u64>,
    },
    /// Users skipped their `on_stop` steps: the budget had no request left for them, or there was no time for them.
    UsersWithoutStop {
        /// The number of users.
        users: u64,
        /// The users of closed loads; `None` where others replace those that leave.
        of: Option<u64>,
    },
    /// The addresses of a name changed.
    AddressesChanged {
        /// The name.
        name: Box<NameReport>,
        /// Of the addresses at the end, those that came and got none of the connections.
        unused: Vec<IpAddr>,
        /// The number of connections that were established, to all addresses.
        established: u64,
    },
    /// Addresses of a name were not loaded.
    AddressesRefused(Box<NameReport>),
    /// Lookups of a name failed.
    LookupsFailed(Box<NameReport>),
    /// A name has several addresses, and there was one connection.
    OneOfAddresses(Box<NameReport>),
}

impl Note {
    /// The notes about a name.
    pub(crate) fn of_name(name: &NameReport, total: &Snapshot) -> Vec<Self> {
        let (connections, established) = (total.counts.connections_tried(), total.counts.connections_established());
        let used: Vec<IpAddr> = total
            .by_address
            .all()
            .into_iter()
            .filter(|(_, tally)| tally.established > 0)
            .filter_map(|(address, _)| address.map(|address| address.ip()))
            .collect();
        let has_come = |address: &IpAddr| name.changes.iter().any(|change| change.came.contains(address));
        let unused = name.addresses.iter().filter(|address| has_come(address) && !used.contains(address));
        let changed = || Self::AddressesChanged {
            name: Box::new(name.clone()),
            // Connections that end follow by themselves, and an address may have come just now.
            unused: unused.filter(|_| total.counts.connections_retired() == 0).copied().collect(),
            established,
        };
        let note = |is_so: bool, note: fn(Box<NameReport>) -> Self| is_so.then(|| note(Box::new(name.clone())));
        let all = [
            (!name.changes.is_empty()).then(changed),
            note(!name.refused.is_empty(), Self::AddressesRefused),
            note(name.failed > 0, Self::LookupsFailed),
            note(name.addresses.len() > 1 && connections == 1, Self::OneOfAddresses),
        ];
        all.into_iter().flatten().collect()
    }

    /// A stable name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LocalPorts { .. } => "local-ports",
            Self::Descriptors { .. } => "descriptors",
            Self::Refused { .. } => "refused",
            Self::AcceptQueue { .. } => "accept-queue",
            Self::ServerLimit { .. } => "server-limit",
            Self::DelayedAcks { .. } => "delayed-acks",
            Self::SpeaksTls => "speaks-tls",
            Self::UsersLeft { .. } => "users-left",
            Self::UsersWithoutStop { .. } => "users-without-stop",
            Self::AddressesChanged { .. } => "addresses-changed",
            Self::AddressesRefused(_) => "addresses-refused",
            Self::LookupsFailed(_) => "lookups-failed",
            Self::OneOfAddresses(_) => "one-of-addresses",
        }
    }
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    LocalPorts,
    Descriptors,
    Refused,
    AcceptQueue,
    ServerLimit,
}

/// Sums of each kind over all intervals so far.
#[derive(Debug, Default)]
struct Sums {
    no_descriptor: u64,
    descriptors_max: u64,
    refused: u64,
    refused_at: Vec<String>,
    slow: u64,
    timed_out: u64,
    cut_off: u64,
    open_at_limit: u64,
    ports: Option<Ports>,
}

/// Checks each interval for notes.
#[derive(Debug)]
pub struct Watch {
    address: SocketAddr,
    /// Whether connections go to several hosts: a slow one may be to any.
    is_several: bool,
    noted: Vec<Kind>,
    sums: Sums,
    established_at_check: u64,
    /// New connections until the next count of the ports.
    between_checks: u64,
    /// Overflows of accept queues before the run.
    overflows: Option<u64>,
    /// Open connections at the first interval in which new ones were cut off.
    open_at_cut: Option<u64>,
}

impl Watch {
    /// A watch for a load on an address, which may be the first of several. `kernel`: its values before the load.
    pub fn new(address: SocketAddr, is_several: bool, kernel: &Kernel) -> Self {
        Self {
            address,
            is_several,
            noted: Vec::new(),
            sums: Sums::default(),
            established_at_check: 0,
            between_checks: CONNECTIONS_BETWEEN_CHECKS,
            overflows: kernel.overflows,
            open_at_cut: None,
        }
    }

    /// What should be read for an interval: nothing as long as nothing fails and few connections are established.
    pub fn wants(&self, interval: &Interval) -> Wants {
        let established = interval.total.connections_established();
        let (added, is_new) = (&interval.added, |kind| !self.noted.contains(&kind));
        // Without a port left, the first count is worth its cost at once.
        let lacks_ports = added.failures_of(Failure::NoLocalPort) > 0 && is_new(Kind::LocalPorts);
        let has_slow = added.slow_connects + added.failures_of(Failure::ConnectTimeout) > 0 && established > 0;
        Wants {
            ports: self.is_check_due(established) || lacks_ports,
            descriptors: added.failures_of(Failure::NoDescriptor) > 0,
            queue: has_slow && is_new(Kind::AcceptQueue),
        }
    }

    /// What should be read for [`Watch::take_notes`].
    pub fn wants_at_end(&self) -> Wants {
        Wants { queue: self.noted.contains(&Kind::AcceptQueue), ..Wants::default() }
    }

    /// The new notes about an interval.
    pub fn interval(&mut self, interval: &Interval, kernel: &Kernel) -> Vec<Note> {
        let reported = self.noted.len();
        self.check_interval(interval, kernel);
        self.noted[reported..].iter().map(|kind| self.note(*kind, kernel)).collect()
    }

    /// All notes, with the figures of the whole run.
    pub fn take_notes(&mut self, kernel: &Kernel) -> Vec<Note> {
        std::mem::take(&mut self.noted).into_iter().map(|kind| self.note(kind, kernel)).collect()
    }

    fn is_check_due(&self, established: u64) -> bool {
        established.saturating_sub(self.established_at_check) >= self.between_checks
    }

    fn check_interval(&mut self, interval: &Interval, kernel: &Kernel) {
        let (added, established) = (&interval.added, interval.total.connections_established());
        let lacks_ports = added.failures_of(Failure::NoLocalPort) > 0;
        if self.is_check_due(established) {
            let since = established - std::mem::replace(&mut self.established_at_check, established);
            let is_few = |ports: Ports| (ports.in_use as f64) < FEW_PORTS_SHARE * ports.all as f64;
            self.between_checks = match kernel.ports {
                Some(ports) if is_few(ports) => (2 * since).min(CONNECTIONS_BETWEEN_CHECKS_MAX),
                _ => CONNECTIONS_BETWEEN_CHECKS,
            };
        }
        if let Some(ports) = kernel.ports {
            self.check_ports(ports, lacks_ports);
        }
        let no_descriptor = added.failures_of(Failure::NoDescriptor);
        self.sums.no_descriptor += no_descriptor;
        if let Some(limit) = kernel.descriptors_max.filter(|_| no_descriptor > 0) {
            self.sums.descriptors_max = limit;
            self.notice(Kind::Descriptors);
        }
        self.check_refusals(interval);
        let timed_out = added.failures_of(Failure::ConnectTimeout);
        self.sums.slow += added.slow_connects;
        self.sums.timed_out += timed_out;
        if added.slow_connects + timed_out > 0 && established > 0 {
            self.notice(Kind::AcceptQueue);
        }
        self.sums.cut_off += added.cut_off;
        if added.cut_off >= CUT_OFF_MIN {
            self.check_connection_limit(added.connections_open);
        }
    }

    fn check_refusals(&mut self, interval: &Interval) {
        let refused = interval.added.failures_of(Failure::ConnectRefused);
        self.sums.refused += refused;
        self.is_several |= interval.total.redirects() > 0;
        let refusals = interval.added.failures.iter().filter(|each| each.failure == Failure::ConnectRefused);
        for place in refusals.flat_map(|each| &each.places) {
            self.is_several = true;
            if self.sums.refused_at.len() < PLACES_MAX && !self.sums.refused_at.contains(place) {
                self.sums.refused_at.push(place.clone());
            }
        }
        // Datagrams have no accept queue.
        let has_connections = interval.total.connections_established() > 0 && interval.total.refused_datagrams() == 0;
        if refused > 0 && has_connections {
            self.notice(Kind::Refused);
        }
    }

    fn notice(&mut self, kind: Kind) {
        if !self.noted.contains(&kind) {
            self.noted.push(kind);
        }
    }

    /// Checks whether ports are used up, or soon will be.
    fn check_ports(&mut self, ports: Ports, lacks_ports: bool) {
        if !lacks_ports && (ports.in_use as f64) < PORTS_SHARE * ports.all as f64 {
            return;
        }
        if self.sums.ports.is_none_or(|most| ports.in_use > most.in_use) {
            self.sums.ports = Some(ports);
        }
        self.notice(Kind::LocalPorts);
    }

    /// Checks whether the server closes new connections while others stay: the number that stays is its limit.
    fn check_connection_limit(&mut self, open: u64) {
        let Some(before) = self.open_at_cut.replace(open) else { return };
        let is_same = before.abs_diff(open) as f64 <= SAME_SHARE * before.max(open) as f64;
        if open > 0 && is_same {
            self.sums.open_at_limit = open;
            self.notice(Kind::ServerLimit);
        }
    }

    /// A note of one kind with the sums of all intervals so far.
    fn note(&self, kind: Kind, kernel: &Kernel) -> Note {
        let (address, sums) = (self.address, &self.sums);
        match kind {
            Kind::LocalPorts => Note::LocalPorts { address, ports: sums.ports.unwrap_or_default() },
            Kind::Descriptors => Note::Descriptors { limit: sums.descriptors_max, without: sums.no_descriptor },
            Kind::Refused => Note::Refused { address, count: sums.refused, places: sums.refused_at.clone() },
            Kind::AcceptQueue => Note::AcceptQueue {
                address: (!self.is_several).then_some(address),
                slow: sums.slow,
                timed_out: sums.timed_out,
                overflows: self.overflows.zip(kernel.overflows).map_or(0, |(before, now)| now.saturating_sub(before)),
                backlog_max: kernel.backlog_max,
            },
            Kind::ServerLimit => Note::ServerLimit { cut: sums.cut_off, open: sums.open_at_limit },
        }
    }
}
