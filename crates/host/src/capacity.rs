//! Limits of this machine, and the number of connections that they allow. Nothing is changed here.

use rustix::process::{Resource, geteuid, getrlimit};

use crate::memory::memory;

/// Kernel memory per connection: the socket, its inode, its file and name, and an armed receive. Measured by the
/// kernel's own slabs.
const KERNEL_BYTES: u64 = 2_368 + 832 + 192 + 192 + 768;
/// Memory of this program per connection: that of a WebSocket, with its share of the tables and buffers.
const OWN_BYTES: u64 = 512;
/// Descriptors that a program has open besides its connections.
const OTHER_DESCRIPTORS: u64 = 16;
/// Reserve for other programs: one part of the memory in this many.
const RESERVE_SHARE: u64 = 20;

/// Current settings and limits; `None` where the system does not report them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the setting of its name")]
pub struct Settings {
    pub nofile_soft: Option<u64>,
    pub nofile_hard: Option<u64>,
    pub nr_open: Option<u64>,
    pub file_max: Option<u64>,
    /// Number of open files on the whole machine.
    pub files_open: Option<u64>,
    /// Whether the process runs as root, which may open files beyond `file_max`.
    pub is_root: bool,
    pub nproc: Option<u64>,
    pub ports: Option<(u16, u16)>,
    /// Ports of that range that are reserved.
    pub ports_reserved: u64,
    pub somaxconn: Option<u64>,
    pub syn_backlog: Option<u64>,
    pub syncookies: Option<u64>,
    pub netdev_backlog: Option<u64>,
    /// Low, pressure and high, in pages.
    pub tcp_mem: Option<[u64; 3]>,
    /// Minimum, default and maximum, in bytes.
    pub tcp_rmem: Option<[u64; 3]>,
    pub tcp_wmem: Option<[u64; 3]>,
    pub rmem_max: Option<u64>,
    pub wmem_max: Option<u64>,
    pub optmem_max: Option<u64>,
    pub conntrack_max: Option<u64>,
    pub conntrack_count: Option<u64>,
    pub orphans_max: Option<u64>,
    pub tw_buckets_max: Option<u64>,
    pub tw_reuse: Option<u64>,
    /// Whether the setting exists, as before Linux 4.12.
    pub has_tw_recycle: bool,
    pub fin_timeout: Option<u64>,
    /// Time, probes, interval.
    pub keepalive: Option<[u64; 3]>,
    pub io_uring_disabled: Option<u64>,
    pub memory_total: Option<u64>,
    pub memory_available: Option<u64>,
}

fn number(path: &str) -> Option<u64> {
    numbers(path)?.first().copied()
}

fn numbers(path: &str) -> Option<Vec<u64>> {
    let text = std::fs::read_to_string(format!("/proc/sys/{path}")).ok()?;
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn three(path: &str) -> Option<[u64; 3]> {
    numbers(path)?.try_into().ok()
}

/// Number of ports of `text` like `8080,9000-9010` that lie in a range.
fn reserved_in(text: &str, (first, last): (u16, u16)) -> u64 {
    let span = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u16, u16) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        let (from, to) = (from.max(first), to.min(last));
        (from <= to).then(|| u64::from(to - from) + 1)
    };
    text.trim().split(',').filter_map(span).sum()
}

impl Settings {
    /// Reads the current values.
    pub fn read() -> Self {
        let nofile = getrlimit(Resource::Nofile);
        let ports = crate::local_port_range();
        let reserved = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_reserved_ports").unwrap_or_default();
        let keepalive = || {
            Some([
                number("net/ipv4/tcp_keepalive_time")?,
                number("net/ipv4/tcp_keepalive_probes")?,
                number("net/ipv4/tcp_keepalive_intvl")?,
            ])
        };
        let memory = memory();
        Self {
            nofile_soft: Some(nofile.current.unwrap_or(u64::MAX)),
            nofile_hard: Some(nofile.maximum.unwrap_or(u64::MAX)),
            nr_open: number("fs/nr_open"),
            file_max: number("fs/file-max"),
            files_open: number("fs/file-nr"),
            is_root: geteuid().is_root(),
            nproc: Some(getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX)),
            ports,
            ports_reserved: ports.map_or(0, |ports| reserved_in(&reserved, ports)),
            somaxconn: number("net/core/somaxconn"),
            syn_backlog: number("net/ipv4/tcp_max_syn_backlog"),
            syncookies: number("net/ipv4/tcp_syncookies"),
            netdev_backlog: number("net/core/netdev_max_backlog"),
            tcp_mem: three("net/ipv4/tcp_mem"),
            tcp_rmem: three("net/ipv4/tcp_rmem"),
            tcp_wmem: three("net/ipv4/tcp_wmem"),
            rmem_max: number("net/core/rmem_max"),
            wmem_max: number("net/core/wmem_max"),
            optmem_max: number("net/core/optmem_max"),
            conntrack_max: number("net/netfilter/nf_conntrack_max"),
            conntrack_count: number("net/netfilter/nf_conntrack_count"),
            orphans_max: number("net/ipv4/tcp_max_orphans"),
            tw_buckets_max: number("net/ipv4/tcp_max_tw_buckets"),
            tw_reuse: number("net/ipv4/tcp_tw_reuse"),
            has_tw_recycle: number("net/ipv4/tcp_tw_recycle").is_some(),
            fin_timeout: number("net/ipv4/tcp_fin_timeout"),
            keepalive: keepalive(),
            io_uring_disabled: number("kernel/io_uring_disabled"),
            memory_total: memory.map(|memory| memory.total),
            memory_available: memory.map(|memory| memory.available),
        }
    }

    /// Local ports of one local address for one target endpoint.
    pub fn ports_each(&self) -> Option<u64> {
        self.ports.map(|(first, last)| (u64::from(last.saturating_sub(first)) + 1).saturating_sub(self.ports_reserved))
    }
}

/// The situation of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Whether they are accepted here, not opened.
    pub is_server: bool,
    /// Whether each takes a descriptor of its process: true except on io_uring with direct descriptors.
    pub takes_descriptors: bool,
    /// Whether both ends are on this machine.
    pub has_both_ends: bool,
    /// Number of pairs of a local address and a target endpoint.
    pub pairs: u64,
}

/// The resource that limits connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// File descriptors of a process: RLIMIT_NOFILE.
    Descriptors,
    /// Open files of the machine: fs.file-max.
    SystemFiles,
    /// Local ports: ip_local_port_range.
    Ports,
    /// Connection tracking: nf_conntrack_max.
    Conntrack,
    /// Available memory of the machine, or of its control group.
    Memory,
}

/// A limit in connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The resource.
    pub kind: LimitKind,
    /// The number of connections that it allows.
    pub connections: u64,
}

/// The limits of connections here, the tightest first.
pub fn limits(settings: &Settings, situation: Situation) -> Vec<Limit> {
    let ends = if situation.has_both_ends { 2 } else { 1 };
    let descriptors = settings.nofile_hard.filter(|_| situation.takes_descriptors);
    let files = settings.file_max.filter(|_| !settings.is_root).zip(settings.files_open);
    let ports = settings.ports_each().filter(|_| !situation.is_server);
    let each = ends * (KERNEL_BYTES + OWN_BYTES);
    let memory = settings.memory_available.zip(settings.memory_total);
    let found = [
        (LimitKind::Descriptors, descriptors.map(|limit| limit.saturating_sub(OTHER_DESCRIPTORS))),
        (LimitKind::SystemFiles, files.map(|(most, open)| most.saturating_sub(open) / ends)),
        (LimitKind::Ports, ports.map(|ports| ports.saturating_mul(situation.pairs))),
        (
            LimitKind::Conntrack,
            // Where there is no count, there is no connection tracking.
            settings
                .conntrack_max
                .zip(settings.conntrack_count.filter(|used| *used > 0))
                .map(|(most, used)| most.saturating_sub(used)),
        ),
        (LimitKind::Memory, memory.map(|(available, total)| available.saturating_sub(total / RESERVE_SHARE) / each)),
    ];
    let mut limits: Vec<Limit> =
        found.into_iter().filter_map(|(kind, connections)| Some(Limit { kind, connections: connections? })).collect();
    limits.sort_by_key(|limit| limit.connections);
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            nofile_hard: Some(1_024),
            file_max: Some(100_000),
            files_open: Some(1_000),
            ports: Some((10_000, 10_999)),
            ports_reserved: 100,
            conntrack_max: Some(70_000),
            conntrack_count: Some(10),
            memory_total: Some(20 << 30),
            memory_available: Some(10 << 30),
            ..Settings::default()
        }
    }

    #[test]
    fn the_narrowest_comes_first() {
        let client = Situation { is_server: false, takes_descriptors: true, has_both_ends: false, pairs: 3 };
        let kinds: Vec<(LimitKind, u64)> =
            limits(&settings(), client).iter().map(|limit| (limit.kind, limit.connections)).collect();
        assert_eq!(kinds[0], (LimitKind::Descriptors, 1_008));
        assert_eq!(kinds[1], (LimitKind::Ports, 2_700));
        assert_eq!(kinds[2], (LimitKind::Conntrack, 69_990));
        assert_eq!(kinds[3], (LimitKind::SystemFiles, 99_000));
        assert_eq!(kinds[4].0, LimitKind::Memory);
        let server = Situation { is_server: true, takes_descriptors: false, has_both_ends: true, ..client };
        let kinds: Vec<LimitKind> = limits(&settings(), server).iter().map(|limit| limit.kind).collect();
        assert_eq!(kinds, [LimitKind::SystemFiles, LimitKind::Conntrack, LimitKind::Memory]);
    }

    #[test]
    fn reserved_ports_are_not_ours() {
        assert_eq!(reserved_in("8080,9000-9010,10000-20000\n", (9_005, 10_004)), 6 + 5);
        assert_eq!(reserved_in("\n", (1, 65_535)), 0);
    }

    #[test]
    fn this_machine_has_settings() {
        let here = Settings::read();
        assert!(here.ports_each().is_some_and(|count| count > 0));
        assert!(here.nofile_hard.is_some() && here.somaxconn.is_some() && here.memory_available.is_some());
    }
}
