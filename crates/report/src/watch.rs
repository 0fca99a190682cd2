//! What is worth a word while a load runs: the limits of either side, with the figure and the command that helps. Each kind is
//! told once while the load runs, when it is first seen, and again at the end with the figures of the whole run.

use std::net::SocketAddr;

use engine::Interval;
use host::PortUse;
use metrics::{Failure, Snapshot};

use crate::Language;
use crate::format::count;

#[cfg(test)]
mod tests;

/// The share of the local ports to a target from which on it is worth a word.
const PORTS_SHARE: f64 = 0.7;
/// The kernel sends a SYN that was not answered again after this long.
const SYN_AGAIN_NS: u64 = 1_000_000_000;
const CONNECT_NS_MAX: u64 = 600_000_000_000;
/// New connections that are cut off in one interval, from which on a limit of the server is likely.
const CUT_OFF_MIN: u64 = 3;
/// The open connections of two intervals differ by less than this share at a limit.
const SAME_SHARE: f64 = 0.02;
/// New connections between two looks at the ports: counting them reads the kernel's whole table.
const CONNECTIONS_BETWEEN_LOOKS: u64 = 2_000;
/// Places that refused connections, and are named.
const PLACES_MAX: usize = 3;

/// Something that was noted during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name.
    pub kind: &'static str,
    /// In English.
    pub en: String,
    /// In Chinese.
    pub zh: String,
}

impl Note {
    /// In a language.
    pub fn text(&self, language: Language) -> &str {
        language.pick(&self.en, &self.zh)
    }
}

/// What can be noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    LocalPorts,
    Descriptors,
    Refused,
    AcceptQueue,
    ServerLimit,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::LocalPorts => "local-ports",
            Self::Descriptors => "descriptors",
            Self::Refused => "refused",
            Self::AcceptQueue => "accept-queue",
            Self::ServerLimit => "server-limit",
        }
    }
}

/// What all intervals so far had of each kind.
#[derive(Debug, Default)]
struct Sums {
    /// Connections that found no descriptor, and how many descriptors there are.
    no_descriptor: u64,
    descriptors_max: u64,
    refused: u64,
    /// Where, when connections go to several places.
    refused_at: Vec<String>,
    /// Connections go to several places: a slow one may be to any.
    is_several: bool,
    /// New connections that took longer than the kernel waits before it asks again, and that were not there in time.
    slow: u64,
    timed_out: u64,
    /// New connections that the server cut off, and those that were open then.
    cut_off: u64,
    open_at_limit: u64,
    /// The most ports that were in use at a look, and how many there are.
    ports: Option<(PortUse, u64)>,
}

/// Looks at each interval.
#[derive(Debug)]
pub struct Watch {
    address: SocketAddr,
    noted: Vec<Kind>,
    sums: Sums,
    established_at_look: u64,
    overflows: Option<u64>,
    /// Open connections at the first interval in which new ones were cut off.
    open_at_cut: Option<u64>,
}

impl Watch {
    /// For a load on an address, which may be the first of several.
    pub fn new(address: SocketAddr, is_several: bool) -> Self {
        let overflows = host::listen_overflows().filter(|_| host::is_own(address.ip()));
        Self {
            address,
            noted: Vec::new(),
            sums: Sums { is_several, ..Sums::default() },
            established_at_look: 0,
            overflows,
            open_at_cut: None,
        }
    }

    /// What there is to say about an interval, and was not said before.
    pub fn interval(&mut self, interval: &Interval<'_>) -> Vec<Note> {
        let told = self.noted.len();
        self.look(interval.added, interval.total);
        self.noted[told..].iter().map(|kind| self.note(*kind)).collect()
    }

    /// All that was said, with the figures of the whole run.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.noted).into_iter().map(|kind| self.note(kind)).collect()
    }

    fn look(&mut self, seen: &Snapshot, total: &Snapshot) {
        let count_of =
            |failure| seen.counts.failures().find(|(each, _)| *each == failure).map_or(0, |(_, count)| count);
        let established = total.counts.connections_established;
        let is_due = established.saturating_sub(self.established_at_look) >= CONNECTIONS_BETWEEN_LOOKS;
        if is_due {
            self.established_at_look = established;
        }
        // Without a port left, the first look is worth its price at once.
        if count_of(Failure::NoLocalPort) > 0 && (is_due || !self.noted.contains(&Kind::LocalPorts)) {
            self.look_at_ports(1.0);
        } else if is_due {
            self.look_at_ports(PORTS_SHARE);
        }
        let (no_descriptor, refused) = (count_of(Failure::NoDescriptor), count_of(Failure::ConnectRefused));
        self.sums.no_descriptor += no_descriptor;
        if no_descriptor > 0
            && let Some((_, limit)) = host::descriptors()
        {
            self.sums.descriptors_max = limit;
            self.notice(Kind::Descriptors);
        }
        self.sums.refused += refused;
        self.sums.is_several |= total.counts.redirects > 0;
        for (place, _) in seen.blamed.places(Failure::ConnectRefused) {
            self.sums.is_several = true;
            if self.sums.refused_at.len() < PLACES_MAX && !self.sums.refused_at.iter().any(|known| known == place) {
                self.sums.refused_at.push(place.to_owned());
            }
        }
        if refused > 0 && established > 0 {
            self.notice(Kind::Refused);
        }
        let slow = seen.connect.count_between(SYN_AGAIN_NS, CONNECT_NS_MAX);
        let timed_out = count_of(Failure::ConnectTimeout);
        self.sums.slow += slow;
        self.sums.timed_out += timed_out;
        if slow + timed_out > 0 && established > 0 {
            self.notice(Kind::AcceptQueue);
        }
        self.sums.cut_off += seen.counts.cut_off;
        if seen.counts.cut_off >= CUT_OFF_MIN {
            self.look_at_limit(seen.connections_open);
        }
    }

    fn notice(&mut self, kind: Kind) {
        if !self.noted.contains(&kind) {
            self.noted.push(kind);
        }
    }

    /// Ports are used up, or soon will be.
    fn look_at_ports(&mut self, share: f64) {
        let (Some(used), Some((first, last))) = (host::ports_to(self.address), host::local_port_range()) else {
            return;
        };
        let there_are = u64::from(last.saturating_sub(first)) + 1;
        if share < 1.0 && (used.in_use as f64) < share * there_are as f64 {
            return;
        }
        if self.sums.ports.is_none_or(|(most, _)| used.in_use > most.in_use) {
            self.sums.ports = Some((used, there_are));
        }
        self.notice(Kind::LocalPorts);
    }

    /// The server ends new connections while others stay: the number that stays is its limit.
    fn look_at_limit(&mut self, open: u64) {
        let Some(before) = self.open_at_cut.replace(open) else { return };
        let is_same = before.abs_diff(open) as f64 <= SAME_SHARE * before.max(open) as f64;
        if open > 0 && is_same {
            self.sums.open_at_limit = open;
            self.notice(Kind::ServerLimit);
        }
    }

    /// A kind in words, with what all intervals so far had of it.
    fn note(&self, kind: Kind) -> Note {
        let (en, zh) = match kind {
            Kind::LocalPorts => self.ports(),
            Kind::Descriptors => self.descriptors(),
            Kind::Refused => self.refused(),
            Kind::AcceptQueue => self.accept_queue(),
            Kind::ServerLimit => self.server_limit(),
        };
        Note { kind: kind.name(), en, zh }
    }

    fn ports(&self) -> (String, String) {
        let (used, there_are) = self.sums.ports.unwrap_or_default();
        let (in_use, all, waiting, address) =
            (count(used.in_use), count(there_are), count(used.time_wait), self.address);
        (
            format!(
                "{in_use} of {all} ports to {address} are in use, {waiting} of them in TIME_WAIT; widen them with sysctl -w net.ipv4.ip_local_port_range='1024 65535', or keep connections alive"
            ),
            format!(
                "到 {address} 的 {all} 个本地端口已用 {in_use} 个，其中 {waiting} 个处于 TIME_WAIT；可用 sysctl -w net.ipv4.ip_local_port_range='1024 65535' 扩大范围，或使用长连接"
            ),
        )
    }

    fn descriptors(&self) -> (String, String) {
        let (limit, without) = (count(self.sums.descriptors_max), count(self.sums.no_descriptor));
        (
            format!(
                "all {limit} descriptors that this process may have were in use, and {without} connections found none; raise the limit with ulimit -n, use --driver uring where io_uring works, or lower -c"
            ),
            format!(
                "本进程允许的 {limit} 个文件描述符已全部用完，{without} 个连接因此失败；请用 ulimit -n 调大上限，在支持 io_uring 的系统上使用 --driver uring，或调小 -c"
            ),
        )
    }

    fn refused(&self) -> (String, String) {
        let (address, refused) = (self.address, count(self.sums.refused));
        if !self.sums.refused_at.is_empty() {
            let places = self.sums.refused_at.join(", ");
            return (
                format!(
                    "{refused} new connections were refused by {places}: nobody listens there, or the accept queue is full"
                ),
                format!("{refused} 个新连接被 {places} 拒绝：该处没有服务在监听，或其 accept 队列已满"),
            );
        }
        (
            format!(
                "{address} refused {refused} new connections after it had taken others: it stopped listening, or its accept queue is full and it says so (net.ipv4.tcp_abort_on_overflow)"
            ),
            format!(
                "{address} 在接受过连接之后又拒绝了 {refused} 个新连接：服务已停止监听，或其 accept 队列已满并直接拒绝（net.ipv4.tcp_abort_on_overflow）"
            ),
        )
    }

    /// Connections took longer than the kernel waits before it asks again.
    fn accept_queue(&self) -> (String, String) {
        let (slow, failed, address) = (count(self.sums.slow), count(self.sums.timed_out), self.address);
        let (where_en, where_zh) = match self.sums.is_several {
            true => ("one of the targets".to_owned(), "其中一个目标".to_owned()),
            false => (address.to_string(), address.to_string()),
        };
        let overflows =
            self.overflows.zip(host::listen_overflows()).map_or(0, |(before, now)| now.saturating_sub(before));
        let limit = host::somaxconn().filter(|_| host::is_own(address.ip()));
        let (seen_en, seen_zh) = if overflows > 0 {
            let overflows = count(overflows);
            (
                format!(" ({overflows} overflows of accept queues on this machine)"),
                format!("（本机 accept 队列溢出 {overflows} 次）"),
            )
        } else {
            (String::new(), String::new())
        };
        let now = limit.map_or(String::new(), |limit| format!(" (net.core.somaxconn {limit})"));
        (
            format!(
                "of the new connections {slow} took more than 1 s and {failed} were not there in time: {where_en} does not accept fast enough, so that its accept queue is full{seen_en}; raise the backlog of the server and sysctl -w net.core.somaxconn=65535 there{now}, or open fewer at a time with --ramp"
            ),
            format!(
                "新连接中有 {slow} 个用了 1 秒以上，{failed} 个未能按时建立：{where_zh} 接受连接不够快，accept 队列已满{seen_zh}；请在服务端调大 backlog 并执行 sysctl -w net.core.somaxconn=65535{now}，或用 --ramp 放慢建立连接的速度"
            ),
        )
    }

    fn server_limit(&self) -> (String, String) {
        let (cut, open) = (count(self.sums.cut_off), count(self.sums.open_at_limit));
        (
            format!(
                "the server cut {cut} new connections off without a byte while {open} others stayed open: it looks like its own limit of about {open} (ulimit -n of the server, worker_connections of nginx)"
            ),
            format!(
                "服务端未返回任何数据就断开了 {cut} 个新连接，而另外 {open} 个一直保持：很可能是服务端约 {open} 个连接的上限（服务端的 ulimit -n，或 nginx 的 worker_connections）"
            ),
        )
    }
}
