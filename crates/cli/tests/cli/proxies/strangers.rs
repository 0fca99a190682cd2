//! Proxies that others wrote, each on free ports, with a folder and a log of its own.

use std::fs::{File, Permissions, read_dir, read_to_string, set_permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::authority::{Authority, GOOD};
use crate::seen::wait_for;
use crate::{Folder, closed_port, listens, signal};

/// The user and the password of proxies that want a login.
pub(super) const LOGIN: &str = "user:secretpass";
/// The same as `openssl passwd -apr1 -salt onrush` makes it.
const HASHED_LOGIN: &str = "user:$apr1$onrush$mKayG8U097LrB7VruGDfG/\n";

#[derive(Clone, Copy, Debug)]
enum Kind {
    Squid,
    Tinyproxy,
    Microsocks,
    Dante,
    Haproxy,
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Self::Squid => "/usr/sbin/squid",
            Self::Tinyproxy => "/usr/bin/tinyproxy",
            Self::Microsocks => "/usr/bin/microsocks",
            Self::Dante => "/usr/sbin/danted",
            Self::Haproxy => "/usr/sbin/haproxy",
        }
    }
}

/// What a line of a log reports.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A request with a whole URL.
    Whole,
    /// A tunnel that was opened.
    Tunnel,
    /// A request that was denied.
    Denied,
}

/// A running proxy. It ends with the value, and its children with it.
pub(super) struct Stranger {
    kind: Kind,
    child: Child,
    pub(super) port: u16,
    /// The port with TLS, where the proxy has one.
    pub(super) tls_port: u16,
    folder: Folder,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Stranger {
    fn start(kind: Kind, prepare: impl FnOnce(&Folder, [u16; 2]) -> Vec<String>) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Folder::new(&format!("{kind:?}-{number}"));
        // As root some of them become another user before they open their logs.
        set_permissions(&folder.0, Permissions::from_mode(0o777)).expect("a folder of ours");
        let ports = [closed_port(), closed_port()];
        let words = prepare(&folder, ports);
        let out = File::create(folder.path("out")).expect("a file");
        let errors = out.try_clone().expect("a second handle");
        // In a group of its own: its children are found after its end.
        let child = Command::new(kind.program())
            .args(words)
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{kind:?} does not start: {error}; cargo xtask test installs it"));
        let mut started = Self { kind, child, port: ports[0], tls_port: ports[1], folder };
        listens(&mut started.child, ports[0]);
        started
    }

    /// Squid, by HTTP and by TLS with a certificate of the authority. It forbids this port.
    pub(super) fn squid(authority: &Authority, has_login: bool, forbidden: u16) -> Self {
        Self::start(Kind::Squid, |folder, [port, tls_port]| {
            authority.sign(&folder.0, "proxy", "127.0.0.1", GOOD);
            let users = folder.file("users", HASHED_LOGIN);
            let login = format!(
                "auth_param basic program /usr/lib/squid/basic_ncsa_auth {users}\n\
                 auth_param basic children 1 startup=1\nacl known proxy_auth REQUIRED\n"
            );
            let (login, known) = if has_login { (login.as_str(), "known") } else { ("", "localhost") };
            let path = |name: &str| folder.path(name);
            let config = format!(
                "http_port 127.0.0.1:{port}\n\
                 https_port 127.0.0.1:{tls_port} tls-cert={} tls-key={}\n\
                 pid_filename none\naccess_log stdio:{}\nbuffered_logs off\nlogfile_rotate 0\ncache_log {}\n\
                 visible_hostname localhost\ncoredump_dir {}\ndns_nameservers 127.0.0.1\nmax_filedescriptors 1024\n\
                 cache deny all\nmemory_pools off\npinger_enable off\nnetdb_filename none\n\
                 shutdown_lifetime 0 seconds\n{login}\
                 acl forbidden port {forbidden}\nhttp_access deny forbidden\nhttp_access allow {known}\n\
                 http_access deny all\n",
                path("proxy.pem"),
                path("proxy.key"),
                path("log"),
                path("cache.log"),
                folder.0.display()
            );
            // Its name is that of its shared memory, which all squids of a machine would share.
            let name = format!("onrush{}x{port}", std::process::id());
            ["-N", "-n", &name, "-f", &folder.file("squid.conf", config)].map(str::to_owned).to_vec()
        })
    }

    /// Tinyproxy. It opens tunnels to this port alone.
    pub(super) fn tinyproxy(has_login: bool, allowed: u16) -> Self {
        Self::start(Kind::Tinyproxy, |folder, [port, _]| {
            let login = LOGIN.replace(':', " ");
            let login = if has_login { format!("BasicAuth {login}\n") } else { String::new() };
            let config = format!(
                "Port {port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 100\nLogFile \"{}\"\nLogLevel Connect\n\
                 {login}ConnectPort {allowed}\n",
                folder.path("log")
            );
            ["-d", "-c", &folder.file("tinyproxy.conf", config)].map(str::to_owned).to_vec()
        })
    }

    pub(super) fn microsocks(has_login: bool) -> Self {
        Self::start(Kind::Microsocks, |_, [port, _]| {
            let (user, password) = LOGIN.split_once(':').expect("both");
            let login: &[&str] = if has_login { &["-u", user, "-P", password] } else { &[] };
            let port = port.to_string();
            let words = ["-i", "127.0.0.1", "-p", &port];
            words.iter().chain(login).map(|word| (*word).to_owned()).collect()
        })
    }

    /// Dante, without a login: it would want users of this machine. It forbids this port.
    pub(super) fn dante(forbidden: u16) -> Self {
        Self::start(Kind::Dante, |folder, [port, _]| {
            let config = format!(
                "logoutput: {}\ninternal: 127.0.0.1 port = {port}\nexternal: 127.0.0.1\n\
                 clientmethod: none\nsocksmethod: none\n\
                 client pass {{\n from: 127.0.0.0/8 to: 127.0.0.0/8\n}}\n\
                 socks block {{\n from: 127.0.0.0/8 to: 0.0.0.0/0 port = {forbidden}\n log: connect\n}}\n\
                 socks pass {{\n from: 127.0.0.0/8 to: 0.0.0.0/0\n command: connect\n log: connect\n}}\n",
                folder.path("log")
            );
            ["-f", &folder.file("danted.conf", config), "-p", &folder.path("pid")].map(str::to_owned).to_vec()
        })
    }

    /// Haproxy, which takes the PROXY protocol, with and without TLS, and hands it on to this port. Its figures are at
    /// the third of its ports.
    pub(super) fn haproxy(authority: &Authority, target: u16) -> (Self, Figures) {
        let figures = closed_port();
        let started = Self::start(Kind::Haproxy, |folder, [port, tls_port]| {
            authority.sign(&folder.0, "front", "127.0.0.1", GOOD);
            let [certificate, key] = ["front.pem", "front.key"].map(|name| read_to_string(folder.path(name)));
            let pair = folder.file("pair", certificate.expect("a file") + &key.expect("a file"));
            let config = format!(
                "global\n stats socket ipv4@127.0.0.1:{figures} level user\n nbthread 1\n maxconn 1000\n\
                 defaults\n mode http\n timeout connect 60s\n timeout client 600s\n timeout server 600s\n\
                 frontend plain\n bind 127.0.0.1:{port} accept-proxy\n default_backend target\n\
                 frontend secure\n bind 127.0.0.1:{tls_port} accept-proxy ssl crt {pair}\n default_backend target\n\
                 backend target\n server one 127.0.0.1:{target} send-proxy\n"
            );
            ["-db", "-q", "-f", &folder.file("haproxy.cfg", config)].map(str::to_owned).to_vec()
        });
        (started, Figures(figures))
    }

    /// Its URL with this scheme and the login.
    pub(super) fn url(&self, scheme: &str, login: &str) -> String {
        let at = if login.is_empty() { "" } else { "@" };
        let port = if scheme == "https" { self.tls_port } else { self.port };
        format!("{scheme}://{login}{at}127.0.0.1:{port}")
    }

    /// The number of events in its log so far.
    pub(super) fn count(&self, event: Event) -> u64 {
        // Two words of the line.
        let (one, other) = match (self.kind, event) {
            (Kind::Squid, Event::Whole) => ("/200 ", " GET http://"),
            (Kind::Squid, Event::Tunnel) => ("/200 ", " CONNECT "),
            (Kind::Squid, Event::Denied) => ("TCP_DENIED/", "NONE"),
            (Kind::Tinyproxy, Event::Whole) => ("Request (file descriptor ", ": GET http://"),
            (Kind::Tinyproxy, Event::Tunnel) => ("Request (file descriptor ", ": CONNECT "),
            (Kind::Microsocks, Event::Tunnel) => ("client[", ": connected to "),
            (Kind::Dante, Event::Tunnel) => ("pass(", "tcp/connect [: "),
            (Kind::Dante, Event::Denied) => ("block(", "tcp/connect ]: "),
            other => panic!("no line for {other:?}"),
        };
        let name = if matches!(self.kind, Kind::Microsocks) { "out" } else { "log" };
        let text = read_to_string(self.folder.path(name)).unwrap_or_default();
        text.lines().filter(|line| line.contains(one) && line.contains(other)).count() as u64
    }

    /// Ends it, and returns the numbers of these events: some lines are written when a connection has ended.
    pub(super) fn stop<const N: usize>(mut self, events: [Event; N]) -> [u64; N] {
        self.end("-TERM");
        events.map(|event| self.count(event))
    }

    /// Ends it at once.
    pub(super) fn kill(mut self) {
        self.end("-KILL");
    }

    fn end(&mut self, by: &str) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(&self.child, by);
            let _ = self.child.wait();
        }
        // Children end when they notice it.
        let group = self.child.id().to_string();
        wait_for("its children have ended", || !is_running(&group));
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.end("-TERM");
    }
}

/// Whether a process of this group is running.
fn is_running(group: &str) -> bool {
    read_dir("/proc").expect("processes").flatten().any(|entry| {
        let text = read_to_string(entry.path().join("stat")).unwrap_or_default();
        // Behind the name: the state, the parent, and the group.
        let mut fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, of) = (fields.next(), fields.nth(1));
        of == Some(group) && !matches!(state, Some("Z" | "X"))
    })
}

/// The figures of haproxy, at their port.
pub(super) struct Figures(u16);

impl Figures {
    /// The connections and the requests that a frontend counts.
    pub(super) fn of(&self, frontend: &str) -> (u64, u64) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.0)).expect("figures");
        stream.write_all(b"show stat\n").expect("a command");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("figures");
        let mut rows = text.trim_start_matches("# ").lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().expect("names of columns");
        let row = rows.find(|row| row[..2] == [frontend, "FRONTEND"]).expect("a frontend");
        let of = |name: &str| row[names.iter().position(|known| *known == name).expect("a column")];
        // Sessions begin behind the header of the PROXY protocol: our probe of the port is none.
        (of("stot").parse().expect("a count"), of("req_tot").parse().expect("a count"))
    }
}
