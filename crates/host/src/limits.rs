//! Limits of the process and settings of the kernel, read only; but a soft limit of our own may rise to the hard one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft descriptor limit of this process to the hard one and gives the limit that holds then.
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum
        && setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_err()
    {
        return limit.current.unwrap_or(u64::MAX);
    }
    limit.maximum.unwrap_or(u64::MAX)
}

/// Open descriptors of this process, and how many it may have; `None` where the system does not say.
pub fn descriptors() -> Option<(u64, u64)> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some((open, getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)))
}

/// The longest accept queue that a server on this machine gets.
pub fn somaxconn() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?.trim().parse().ok()
}

/// First and last local port that the kernel gives to outgoing connections; `None` where it does not say.
pub fn local_port_range() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
