//! Headers of the PROXY protocol, to servers that others wrote: the addresses that these log.

use std::collections::{BTreeMap, BTreeSet};

use super::strangers::Stranger;
use super::{DRIVERS, number};
use crate::authority::{Authority, GOOD};
use crate::nginx::Nginx;
use crate::{output, report};

/// The clients of `10.9.8.0/28`: its own address and that of broadcasts are none.
const CLIENTS: usize = 14;
const VERSIONS: [&str; 2] = ["v1", "v2"];

/// A server that takes these headers: its URL, and the file of an authority that signed for it.
struct Receiver {
    url: String,
    ca: Option<String>,
}

impl Receiver {
    /// Loads it; the number of its requests and of its connections.
    fn load(&self, words: &[&str]) -> [u64; 2] {
        let trust: Vec<&str> = self.ca.iter().flat_map(|path| ["--cacert", path.as_str()]).collect();
        let seen = report(&output(&[&["-o", "json", "--threads", "1", &self.url], &trust[..], words].concat()));
        assert_eq!(number(&seen, "/requests/failed"), 0, "{words:?}: {seen:#}");
        let handshakes = number(&seen, "/connections/tls_handshakes");
        let established = number(&seen, "/connections/established");
        assert_eq!(handshakes, if self.ca.is_some() { established } else { 0 }, "{words:?}: {seen:#}");
        [number(&seen, "/requests/succeeded"), established]
    }

    /// The runs of a test, with both versions and drivers: 140 connections of 14 clients, 3 of 3, and 3 of our own
    /// address. The number of connections and of requests.
    fn load_all(&self) -> [u64; 2] {
        let mut sums = [0, 0];
        for (version, driver) in VERSIONS.into_iter().flat_map(|version| DRIVERS.map(|driver| (version, driver))) {
            let header = ["--driver", driver, "--proxy-protocol", version];
            let clients = [&header[..], &["--proxy-protocol-from", "10.9.8.0/28"]].concat();
            for (words, more, wanted) in [
                (&clients[..], &["-c", "1", "-n", "140", "--no-keepalive"][..], [140, 140]),
                (&clients, &["-c", "3", "--requests-each", "100"], [300, 3]),
                (&header, &["-c", "3", "--requests-each", "10"], [30, 3]),
            ] {
                assert_eq!(self.load(&[words, more].concat()), wanted, "{} {words:?}", self.url);
                sums = [sums[0] + wanted[1], sums[1] + wanted[0]];
            }
        }
        sums
    }
}

/// Checks the addresses that nginx has logged. `runs`: the number of versions, drivers and receivers; `own`: requests of
/// connections that spoke for themselves and whose address is logged.
fn check_clients(clients: &[String], runs: u64, own: Option<u64>) {
    let mut counts = BTreeMap::<&str, u64>::new();
    clients.iter().for_each(|client| *counts.entry(client).or_default() += 1);
    assert_eq!(counts.remove("127.0.0.1"), own, "{counts:?}");
    let wanted: BTreeSet<String> = (1..=CLIENTS).map(|number| format!("10.9.8.{number}")).collect();
    assert_eq!(counts.keys().map(|client| (*client).to_owned()).collect::<BTreeSet<_>>(), wanted);
    // In each run each has ten connections with one request, and three connections have 300 requests more.
    assert!(counts.values().all(|count| *count >= runs * 10), "{counts:?}");
    assert_eq!(counts.values().sum::<u64>(), runs * (140 + 300), "{counts:?}");
}

#[test]
fn nginx_logs_the_clients_of_the_header() {
    let authority = Authority::new();
    let lines = "ssl_certificate server.pem; ssl_certificate_key server.key;";
    let plain = Nginx::with("proxy_protocol", "", |_| {});
    let secure = Nginx::with("ssl proxy_protocol", lines, |folder| {
        authority.sign(folder, "server", "127.0.0.1", GOOD);
    });
    let ca = secure.folder.join("ca.pem").display().to_string();
    let receivers = [
        Receiver { url: format!("{}/", plain.url), ca: None },
        Receiver { url: format!("https://127.0.0.1:{}/", secure.port), ca: Some(ca) },
    ];
    for (receiver, nginx) in receivers.iter().zip([plain, secure]) {
        let [connections, requests] = receiver.load_all();
        let log = nginx.stop();
        assert_eq!([log.connections.len() as u64, log.lines], [connections, requests], "{}", receiver.url);
        // nginx has no address for them.
        check_clients(&log.clients, 4, None);
    }
}

/// haproxy takes the header, counts, and hands the addresses on to nginx.
#[test]
fn haproxy_takes_the_header() {
    let authority = Authority::new();
    let nginx = Nginx::with("proxy_protocol", "", |folder| authority.sign(folder, "unused", "unused", GOOD));
    let (haproxy, figures) = Stranger::haproxy(&authority, nginx.port);
    let ca = nginx.folder.join("ca.pem").display().to_string();
    for (frontend, scheme, ca) in [("plain", "http", None), ("secure", "https", Some(ca))] {
        let receiver = Receiver { url: haproxy.url(scheme, "") + "/", ca };
        let [connections, requests] = receiver.load_all();
        assert_eq!(figures.of(frontend), (connections, requests), "{frontend}");
    }
    drop(haproxy);
    check_clients(&nginx.stop().clients, 8, Some(8 * 30));
}
