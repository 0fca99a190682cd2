//! Name servers that others wrote, on free ports; they end with the value.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::seen::wait_for;
use crate::{ChildGuard, Folder, closed_port, signal};

/// The zone of all servers, without its largest text.
const ZONE: &str = "$ORIGIN shop.test.
$TTL 60
@ IN SOA ns hostmaster 1 3600 600 86400 1
@ IN NS ns
ns IN A 127.0.0.1
www IN A 127.0.0.8
www IN AAAA 2001:db8::8
alias IN CNAME www
mail IN MX 10 www
text IN TXT \"hello \\\"world\\\"\"
*.many IN A 127.0.0.7
";
/// The lengths of the texts in the zone: they fit without EDNS, with 1,232 bytes, and in no datagram of ours.
pub(super) const TEXT_BYTES: [(&str, usize); 3] = [("small", 400), ("middle", 1_000), ("large", 3_000)];

/// The program of a name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nsd,
    Unbound,
}

pub(super) const KINDS: [Kind; 2] = [Kind::Nsd, Kind::Unbound];

/// A name server.
pub(super) struct NameServer {
    pub(super) kind: Kind,
    pub(super) port: u16,
    child: ChildGuard,
    folder: Folder,
}

impl NameServer {
    pub(super) fn start(kind: Kind) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = Folder::new(&format!("dns-server-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let port = closed_port();
        let config = match kind {
            Kind::Nsd => nsd(port),
            Kind::Unbound => unbound(port),
        };
        folder.file("zone", zone());
        folder.file("config", config.replace("DIR", &folder.0.display().to_string()));
        let child = started(kind, &folder);
        let server = Self { kind, port, child, folder };
        server.wait();
        server
    }

    /// Starts it again, at the same port.
    pub(super) fn restart(&mut self) {
        self.child = started(self.kind, &self.folder);
        self.wait();
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn end(&mut self) {
        signal(&self.child.0, "-TERM");
        self.child.0.wait().expect("it ends");
    }

    fn wait(&self) {
        wait_for("the name server answers", || self.control("stats_noreset").is_some());
    }

    pub(super) fn url(&self, rest: &str) -> String {
        format!("dns://127.0.0.1:{}/{rest}", self.port)
    }

    /// The output of its control program; `None` while it is not there.
    fn control(&self, word: &str) -> Option<String> {
        let program = match self.kind {
            Kind::Nsd => "nsd-control",
            Kind::Unbound => "unbound-control",
        };
        let done = Command::new(program).args(["-c", &self.folder.path("config"), word]).output();
        let done = done.expect("the package of the server has it");
        done.status.success().then(|| String::from_utf8(done.stdout).expect("UTF-8"))
    }

    /// A number of its statistics; 0 where it has none of that name.
    #[track_caller]
    pub(super) fn stat(&self, name: &str) -> u64 {
        let stats = self.control("stats_noreset").expect("it runs");
        let value = stats.lines().find_map(|line| line.split_once('=').filter(|(known, _)| *known == name));
        value.map_or(0, |(_, value)| value.parse().expect("a number"))
    }

    /// The questions that have come.
    #[track_caller]
    pub(super) fn queries(&self) -> u64 {
        match self.kind {
            Kind::Nsd => self.stat("num.queries"),
            Kind::Unbound => self.stat("total.num.queries"),
        }
    }

    /// Those of them over TCP.
    #[track_caller]
    pub(super) fn over_tcp(&self) -> u64 {
        match self.kind {
            Kind::Nsd => self.stat("num.tcp"),
            Kind::Unbound => self.stat("num.query.tcp"),
        }
    }

    /// The questions that came in all of its lives which have ended, as its log tells at each end.
    pub(super) fn logged(&self) -> Vec<u64> {
        let log = std::fs::read_to_string(self.folder.path("log")).expect("a log");
        let counts = log.lines().filter_map(|line| line.split_once("thread 0: ")?.1.split_once(" queries,"));
        counts.map(|(count, _)| count.parse().expect("a number")).collect()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        // nsd ends its children when it is asked to; it may have ended by itself.
        if matches!(self.child.0.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

fn started(kind: Kind, folder: &Folder) -> ChildGuard {
    let program = match kind {
        Kind::Nsd => "/usr/sbin/nsd",
        Kind::Unbound => "/usr/sbin/unbound",
    };
    let mut command = Command::new(program);
    ChildGuard::start(command.args(["-d", "-c", &folder.path("config")]).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The zone with its texts.
fn zone() -> String {
    let strings = |bytes: usize| -> String {
        let lengths = (0..bytes).step_by(200).map(|at| (bytes - at).min(200));
        lengths.map(|length| format!(" \"{}\"", "t".repeat(length))).collect()
    };
    let text = |(name, bytes): (&str, usize)| format!("{name} IN TXT{}\n", strings(bytes));
    ZONE.to_owned() + &TEXT_BYTES.map(text).concat()
}

fn nsd(port: u16) -> String {
    format!(
        "server:
 ip-address: 127.0.0.1@{port}
 server-count: 1
 username: \"\"
 zonesdir: \"\"
 database: \"\"
 pidfile: \"DIR/pid\"
 xfrdfile: \"DIR/xfrd\"
 zonelistfile: \"DIR/zones\"
 logfile: \"DIR/log\"
 ipv4-edns-size: 4096
 receive-buffer-size: 1048576
 rrl-ratelimit: 0
remote-control:
 control-enable: yes
 control-interface: DIR/control
zone:
 name: shop.test
 zonefile: \"DIR/zone\"
"
    )
}

/// With few connections left for others, Unbound soon closes those that are idle. What comes while it is stopped has
/// room, as in NSD: a query that is lost is waited for.
fn unbound(port: u16) -> String {
    format!(
        "server:
 interface: 127.0.0.1@{port}
 username: \"\"
 chroot: \"\"
 directory: \"DIR\"
 pidfile: \"DIR/pid\"
 logfile: \"DIR/log\"
 use-syslog: no
 num-threads: 1
 incoming-num-tcp: 100
 do-ip6: no
 module-config: \"iterator\"
 local-zone: \"test.\" nodefault
 extended-statistics: yes
 edns-buffer-size: 4096
 max-udp-size: 4096
 so-rcvbuf: 1m
remote-control:
 control-enable: yes
 control-interface: DIR/control
 control-use-cert: no
auth-zone:
 name: shop.test
 zonefile: \"DIR/zone\"
 for-upstream: no
 for-downstream: yes
"
    )
}
