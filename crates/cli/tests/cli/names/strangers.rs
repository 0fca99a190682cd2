//! Name servers that others wrote.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{Load, Nodes, node, nodes};
use crate::seen::wait_for;
use crate::{Folder, closed_port, output, report, signal};

/// A question for the addresses of shop.test.
const QUESTION: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x04shop\x04test\0\0\x01\0\x01";

#[derive(Clone, Copy, Debug)]
enum Kind {
    Dnsmasq,
    Nsd,
}

/// A running name server, and the file with its addresses.
struct Daemon {
    kind: Kind,
    child: Child,
    file: PathBuf,
    address: String,
    _folder: Folder,
}

impl Kind {
    /// The file of these addresses.
    fn text(self, addresses: &[Ipv4Addr]) -> String {
        match self {
            Self::Dnsmasq => addresses.iter().map(|address| format!("{address} shop.test\n")).collect(),
            Self::Nsd => {
                let head = "$ORIGIN shop.test.\n$TTL 1\n@ IN SOA ns hostmaster 1 3600 600 86400 1\n@ IN NS ns\nns IN A 127.0.0.1\n";
                addresses.iter().fold(head.to_owned(), |text, address| format!("{text}@ IN A {address}\n"))
            }
        }
    }

    fn start(self, addresses: &[Ipv4Addr]) -> Daemon {
        let (folder, port) = (Folder::new("name-server"), closed_port());
        let file = PathBuf::from(folder.file("addresses", self.text(addresses)));
        let at = |name: &str| file.with_file_name(name).display().to_string();
        let words = match self {
            Self::Dnsmasq => vec![
                "--keep-in-foreground".to_owned(),
                "--conf-file=/dev/null".to_owned(),
                "--no-resolv".to_owned(),
                "--no-hosts".to_owned(),
                "--bind-interfaces".to_owned(),
                "--listen-address=127.0.0.1".to_owned(),
                "--local-ttl=1".to_owned(),
                "--user=root".to_owned(),
                format!("--port={port}"),
                format!("--pid-file={}", at("pid")),
                format!("--addn-hosts={}", file.display()),
            ],
            Self::Nsd => {
                let config = format!(
                    "server:\n ip-address: 127.0.0.1@{port}\n server-count: 1\n username: \"\"\n zonesdir: \"\"\n database: \"\"\n \
                     pidfile: \"{}\"\n xfrdfile: \"{}\"\n zonelistfile: \"{}\"\n logfile: \"{}\"\n\
                     remote-control:\n control-enable: no\nzone:\n name: shop.test\n zonefile: \"{}\"\n",
                    at("pid"),
                    at("xfrd"),
                    at("zones"),
                    at("log"),
                    file.display()
                );
                let path = at("nsd.conf");
                fs::write(&path, config).expect("a file");
                vec!["-d".to_owned(), "-c".to_owned(), path]
            }
        };
        let program = match self {
            Self::Dnsmasq => "/usr/sbin/dnsmasq",
            Self::Nsd => "/usr/sbin/nsd",
        };
        let child = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.expect("cargo xtask test installs it, or: apt-get install dnsmasq-base nsd");
        let daemon = Daemon { kind: self, child, file, address: format!("127.0.0.1:{port}"), _folder: folder };
        wait_for("the name server answers", || daemon.count() == Some(addresses.len()));
        daemon
    }
}

impl Daemon {
    /// The number of addresses in its answer.
    fn count(&self) -> Option<usize> {
        let socket = UdpSocket::bind("127.0.0.1:0").ok()?;
        socket.set_read_timeout(Some(Duration::from_millis(200))).ok()?;
        socket.connect(&self.address).ok()?;
        socket.send(QUESTION).ok()?;
        let mut answer = [0; 512];
        let length = socket.recv(&mut answer).ok()?;
        (length > 12).then(|| usize::from(u16::from_be_bytes([answer[6], answer[7]])))
    }

    fn says(&self, addresses: &[Ipv4Addr]) {
        fs::write(&self.file, self.kind.text(addresses)).expect("a file");
        signal(&self.child, "-HUP");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // nsd ends its children when it is asked to.
        signal(&self.child, "-TERM");
        let _ = self.child.wait();
    }
}

/// All addresses get their share, and a name that moves is followed.
#[test]
fn dnsmasq_and_nsd_are_followed() {
    for kind in [Kind::Dnsmasq, Kind::Nsd] {
        let dns = kind.start(&nodes(3));
        let served = Nodes::start(3);
        let url = served.url("/");
        let words = ["-c", "9", "-n", "900", "--dns", &dns.address, "-o", "json", &url];
        let seen = report(&output(&words));
        assert_eq!((&seen["requests"]["succeeded"], served.connections()), (&900.into(), vec![3; 3]), "{kind:?}");
        let load = Load::start(&["-c", "4", "-z", "100s", "--no-keepalive", "--dns", &dns.address, "-o", "json", &url]);
        let before = served.requests("/");
        wait_for("all are loaded", || served.requests("/").iter().zip(&before).all(|(now, before)| *now > before + 50));
        dns.says(&[node(1)]);
        wait_for("one is loaded alone", || {
            let now = served.requests("/");
            wait_for("the load goes on", || served.requests("/")[1] > now[1] + 500);
            let later = served.requests("/");
            (later[0], later[2]) == (now[0], now[2])
        });
        assert_eq!(load.stop()["requests"]["failed"], 0, "{kind:?}");
    }
}
