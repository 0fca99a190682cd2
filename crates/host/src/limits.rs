//! Limits of the process and kernel settings, read only; except that our own soft limit may be raised to the hard one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft descriptor limit of this process to the hard one and returns the resulting limit.
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum
        && setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_err()
    {
        return limit.current.unwrap_or(u64::MAX);
    }
    limit.maximum.unwrap_or(u64::MAX)
}

/// Open descriptors of this process, and its limit; `None` where the system does not report them.
pub fn descriptors() -> Option<(u64, u64)> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some((open, getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)))
}

/// The longest accept queue of a server on this machine.
pub fn somaxconn() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?.trim().parse().ok()
}

/// First and last local port that the kernel uses for outgoing connections; `None` where it does not report them.
pub fn local_port_range() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
