//! What is worth a word while a load runs: the limits of either side, with the figure and the command that helps. Each kind is
//! told once.

use std::net::SocketAddr;

use engine::Interval;
use metrics::{Failure, Snapshot};

use crate::Language;
use crate::format::count;

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

/// Looks at each interval.
#[derive(Debug)]
pub struct Watch {
    address: SocketAddr,
    notes: Vec<Note>,
    established_at_look: u64,
    overflows: Option<u64>,
    /// Open connections at the first interval in which new ones were cut off.
    open_at_cut: Option<u64>,
}

impl Watch {
    /// For a load on an address.
    pub fn new(address: SocketAddr) -> Self {
        let overflows = host::listen_overflows().filter(|_| host::is_own(address.ip()));
        Self { address, notes: Vec::new(), established_at_look: 0, overflows, open_at_cut: None }
    }

    /// What there is to say about an interval, and was not said before.
    pub fn interval(&mut self, interval: &Interval<'_>) -> &[Note] {
        let told = self.notes.len();
        self.look(interval.seen, interval.total);
        &self.notes[told..]
    }

    /// All that was said.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn look(&mut self, seen: &Snapshot, total: &Snapshot) {
        let count_of =
            |failure| seen.counts.failures().find(|(each, _)| *each == failure).map_or(0, |(_, count)| count);
        let has = |failure: Failure| count_of(failure) > 0;
        let established = total.counts.connections_established;
        if has(Failure::NoLocalPort) {
            self.ports(1.0);
        } else if established.saturating_sub(self.established_at_look) >= CONNECTIONS_BETWEEN_LOOKS {
            self.established_at_look = established;
            self.ports(PORTS_SHARE);
        }
        if has(Failure::NoDescriptor) {
            self.descriptors();
        }
        if has(Failure::ConnectRefused) && established > 0 {
            self.refused();
        }
        let slow = seen.connect.count_between(SYN_AGAIN_NS, CONNECT_NS_MAX);
        let timed_out = count_of(Failure::ConnectTimeout);
        if slow + timed_out > 0 && established > 0 {
            self.accept_queue(slow, timed_out);
        }
        if seen.counts.cut_off >= CUT_OFF_MIN {
            self.cut_off(seen.counts.cut_off, seen.connections_open);
        }
    }

    fn note(&mut self, kind: &'static str, en: String, zh: String) {
        if self.notes.iter().all(|note| note.kind != kind) {
            self.notes.push(Note { kind, en, zh });
        }
    }

    fn is_noted(&self, kind: &str) -> bool {
        self.notes.iter().any(|note| note.kind == kind)
    }

    /// Ports are used up, or soon will be.
    fn ports(&mut self, share: f64) {
        if self.is_noted("local-ports") {
            return;
        }
        let (Some(used), Some((first, last))) = (host::ports_to(self.address), host::local_port_range()) else {
            return;
        };
        let there_are = u64::from(last.saturating_sub(first)) + 1;
        if share < 1.0 && (used.in_use as f64) < share * there_are as f64 {
            return;
        }
        let (in_use, all, waiting, address) =
            (count(used.in_use), count(there_are), count(used.time_wait), self.address);
        self.note(
            "local-ports",
            format!("{in_use} of {all} ports to {address} are in use, {waiting} of them in TIME_WAIT; widen them with sysctl -w net.ipv4.ip_local_port_range='1024 65535', or keep connections alive"),
            format!("到 {address} 的 {all} 个本地端口已用 {in_use} 个，其中 {waiting} 个处于 TIME_WAIT；可用 sysctl -w net.ipv4.ip_local_port_range='1024 65535' 扩大范围，或使用长连接"),
        );
    }

    fn descriptors(&mut self) {
        let Some((_, limit)) = host::descriptors() else { return };
        let limit = count(limit);
        self.note(
            "descriptors",
            format!("all {limit} descriptors that this process may have were in use; raise the limit with ulimit -n, use --driver uring where io_uring works, or lower -c"),
            format!("本进程允许的 {limit} 个文件描述符已全部用完；请用 ulimit -n 调大上限，在支持 io_uring 的系统上使用 --driver uring，或调小 -c"),
        );
    }

    fn refused(&mut self) {
        let address = self.address;
        self.note(
            "refused",
            format!("{address} refuses new connections since some time in this run: it stopped listening, or its accept queue is full and it says so (net.ipv4.tcp_abort_on_overflow)"),
            format!("{address} 在压测过程中开始拒绝新连接：服务已停止监听，或其 accept 队列已满并直接拒绝（net.ipv4.tcp_abort_on_overflow）"),
        );
    }

    /// Connections took longer than the kernel waits before it asks again.
    fn accept_queue(&mut self, slow: u64, failed: u64) {
        let (slow, failed, address) = (count(slow), count(failed), self.address);
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
        self.note(
            "accept-queue",
            format!("of the new connections {slow} took more than 1 s and {failed} were not there in time: {address} does not accept fast enough, so that its accept queue is full{seen_en}; raise the backlog of the server and sysctl -w net.core.somaxconn=65535 there{now}, or open fewer at a time with --ramp"),
            format!("新连接中有 {slow} 个用了 1 秒以上，{failed} 个未能按时建立：{address} 接受连接不够快，accept 队列已满{seen_zh}；请在服务端调大 backlog 并执行 sysctl -w net.core.somaxconn=65535{now}，或用 --ramp 放慢建立连接的速度"),
        );
    }

    /// The server ends new connections while others stay: the number that stays is its limit.
    fn cut_off(&mut self, cut: u64, open: u64) {
        let Some(before) = self.open_at_cut.replace(open) else { return };
        let is_same = before.abs_diff(open) as f64 <= SAME_SHARE * before.max(open) as f64;
        if open == 0 || !is_same {
            return;
        }
        let (cut, open) = (count(cut), count(open));
        self.note(
            "server-limit",
            format!("the server cut {cut} new connections off without a byte while {open} others stayed open: it looks like its own limit of about {open} (ulimit -n of the server, worker_connections of nginx)"),
            format!("服务端未返回任何数据就断开了 {cut} 个新连接，而另外 {open} 个一直保持：很可能是服务端约 {open} 个连接的上限（服务端的 ulimit -n，或 nginx 的 worker_connections）"),
        );
    }
}
