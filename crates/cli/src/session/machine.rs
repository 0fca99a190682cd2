//! Facts about the machine, read for the views, which do no I/O themselves.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use figures::{HostFacts, Kernel, Ports, Wants};

/// The time of day, since the Unix epoch.
pub(crate) fn now_unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The machine facts of a report.
pub(crate) fn host_facts() -> HostFacts {
    HostFacts {
        now_unix_ns: u64::try_from(now_unix().as_nanos()).unwrap_or(u64::MAX),
        resident_bytes: host::resident_bytes(),
        local_ports: host::local_port_range(),
        cores: Some(host::allowed_cores().len()),
    }
}

/// The accept queue counters of this machine, before a load on `address`.
pub(crate) const BEFORE: Wants = Wants { ports: false, descriptors: false, queue: true };

/// The requested kernel figures for a load on `address`. Queues are those of this machine, so they matter only when the
/// target is on it.
pub(crate) fn kernel(wants: Wants, address: SocketAddr) -> Kernel {
    let is_here = || host::is_own(address.ip());
    Kernel {
        ports: if wants.ports { ports(address) } else { None },
        descriptors_max: if wants.descriptors { host::descriptors().map(|(_, limit)| limit) } else { None },
        overflows: if wants.queue { host::listen_overflows().filter(|_| is_here()) } else { None },
        backlog_max: if wants.queue { host::somaxconn().filter(|_| is_here()) } else { None },
    }
}

fn ports(address: SocketAddr) -> Option<Ports> {
    let (used, (first, last)) = (host::ports_to(address)?, host::local_port_range()?);
    let all = u64::from(last.saturating_sub(first)) + 1;
    Some(Ports { in_use: used.in_use, time_wait: used.time_wait, all })
}
