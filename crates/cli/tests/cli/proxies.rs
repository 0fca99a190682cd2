//! Loads through proxies and to servers behind them: what they count, and what is wrong with them.

mod answers;
mod headers;
mod strangers;

use std::net::{TcpListener, ToSocketAddrs};
use std::process::Stdio;

use serde_json::Value;

use crate::authority::{Authority, GOOD};
use crate::nginx::Nginx;
use crate::seen::{stats, wait_for};
use crate::{ChildGuard, Folder, Served, closed_port, onrush, output, report, signal, text};
use strangers::{Event, LOGIN, Stranger};

const DRIVERS: [&str; 2] = ["uring", "poll"];

fn number(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer}: {report:#}"))
}

/// nginx, plain and with TLS, and the authority that signed for it.
struct Targets {
    plain: Nginx,
    secure: Nginx,
    authority: Authority,
    ca: String,
}

impl Targets {
    fn start() -> Self {
        let authority = Authority::new();
        let lines = "ssl_certificate server.pem; ssl_certificate_key server.key;";
        let secure = Nginx::with("ssl", lines, |folder| authority.sign(folder, "server", "127.0.0.1", GOOD));
        let ca = secure.folder.join("ca.pem").display().to_string();
        Self { plain: Nginx::start(), secure, authority, ca }
    }

    fn plain(&self) -> String {
        format!("{}/", self.plain.url)
    }

    fn secure(&self) -> String {
        format!("https://127.0.0.1:{}/", self.secure.port)
    }

    /// 300 requests over 3 connections, which all succeed.
    fn load(&self, proxy: &str, url: &str, more: &[&str]) -> Value {
        let is_secure = [url, proxy].iter().any(|url| url.starts_with("https:"));
        let trust: &[&str] = if is_secure { &["--cacert", &self.ca] } else { &[] };
        let words = ["-c", "3", "--requests-each", "100", "-o", "json", "--proxy", proxy, url];
        let words = [&words[..], trust, more].concat();
        let done = output(&words);
        let seen = report(&done);
        assert_eq!(number(&seen, "/requests/succeeded"), 300, "{words:?}: {seen:#}");
        assert_eq!(number(&seen, "/requests/failed"), 0, "{words:?}: {seen:#}");
        seen
    }

    /// The same, each connection through a tunnel of its own.
    fn load_through_tunnels(&self, proxy: &str, url: &str, more: &[&str]) {
        let seen = self.load(proxy, url, more);
        let handshakes = if url.starts_with("https:") { 3 } else { 0 };
        for (pointer, wanted) in [
            ("/connections/tried", 3),
            ("/connections/established", 3),
            ("/times/connect/count", 3),
            ("/times/proxy_tunnel/count", 3),
            ("/connections/tls_handshakes", handshakes),
        ] {
            assert_eq!(number(&seen, pointer), wanted, "{proxy} {url} {more:?} {pointer}: {seen:#}");
        }
    }

    /// Checks what nginx counted of these runs: requests, and connections that carried them.
    fn check(self, plain: (u64, Option<u64>), secure: (u64, u64)) {
        let (plain_log, secure_log) = (self.plain.stop(), self.secure.stop());
        assert_eq!((plain_log.lines, secure_log.lines), (plain.0, secure.0));
        assert_eq!(secure_log.connections.len() as u64, secure.1);
        if let Some(connections) = plain.1 {
            assert_eq!(plain_log.connections.len() as u64, connections);
        }
    }
}

/// The URL with the name of this machine, unless that has an address of IPv6, at which nothing listens.
fn named(url: &str) -> String {
    let addresses = ("localhost", 1).to_socket_addrs().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let is_known = !addresses.is_empty() && addresses.iter().all(std::net::SocketAddr::is_ipv4);
    url.replace("127.0.0.1", if is_known { "localhost" } else { "127.0.0.1" })
}

/// The number of failures by their reason.
fn failures(seen: &Value) -> Vec<(&str, u64)> {
    let all = seen["failures"].as_array().expect("failures").iter();
    all.map(|one| (one["reason"].as_str().expect("a reason"), number(one, "/count"))).collect()
}

/// Six requests, of which all fail: the report.
fn failing(words: &[&str]) -> Value {
    let all = ["-c", "3", "-n", "6", "--no-abort-on-failures", "-o", "json"];
    let done = output(&[&all[..], words].concat());
    let seen = report(&done);
    assert_eq!(number(&seen, "/requests/succeeded"), 0, "{words:?}: {seen:#}");
    assert!(!done.status.success(), "{words:?}: {done:?}");
    seen
}

/// Squid counts each request with a whole URL, and each tunnel, with a login and over TLS.
#[test]
fn squid_counts_what_we_count() {
    let targets = Targets::start();
    let squid = Stranger::squid(&targets.authority, true, closed_port());
    let (plain, secure) = (targets.plain(), targets.secure());
    for driver in DRIVERS {
        let more = ["--driver", driver];
        for scheme in ["http", "https"] {
            let proxy = squid.url(scheme, LOGIN);
            let seen = targets.load(&proxy, &plain, &more);
            // Its connections are kept, and none of them has a tunnel.
            assert_eq!(number(&seen, "/connections/established"), 3, "{scheme} {driver}: {seen:#}");
            assert_eq!(number(&seen, "/times/proxy_tunnel/count"), 0, "{scheme} {driver}: {seen:#}");
        }
        let proxy = squid.url("http", LOGIN);
        targets.load_through_tunnels(&proxy, &secure, &more);
        targets.load_through_tunnels(&proxy, &plain, &[&more[..], &["--proxy-tunnel"]].concat());
    }
    // Workers get the proxy with their parts.
    let words = ["--workers", "3", "--threads", "1", "-c", "3", "-n", "300", "-o", "json", "--cacert", &targets.ca];
    let seen = report(&output(&[&words[..], &["--proxy", &squid.url("http", LOGIN), &secure]].concat()));
    assert_eq!(number(&seen, "/requests/succeeded"), 300, "{seen:#}");
    assert_eq!(number(&seen, "/times/proxy_tunnel/count"), 3, "{seen:#}");
    let [whole, tunnels, denied] = squid.stop([Event::Whole, Event::Tunnel, Event::Denied]);
    assert_eq!((whole, tunnels, denied), (4 * 300, 2 * 3 + 2 * 3 + 3, 0));
    targets.check((4 * 300 + 2 * 300, None), (3 * 300, 3 * 3));
}

/// Tinyproxy closes each connection after a response without a word before, and opens tunnels by HTTP/1.0.
#[test]
fn tinyproxy_counts_what_we_count() {
    let targets = Targets::start();
    let (plain, secure) = (targets.plain(), targets.secure());
    let tinyproxy = Stranger::tinyproxy(true, targets.secure.port);
    let proxy = tinyproxy.url("http", LOGIN);
    for driver in DRIVERS {
        targets.load(&proxy, &plain, &["--driver", driver]);
        targets.load_through_tunnels(&proxy, &secure, &["--driver", driver]);
    }
    assert_eq!(tinyproxy.stop([Event::Whole, Event::Tunnel]), [2 * 300, 2 * 3]);
    targets.check((2 * 300, None), (2 * 300, 2 * 3));
}

#[test]
fn microsocks_counts_what_we_count() {
    let targets = Targets::start();
    let (plain, secure) = (targets.plain(), targets.secure());
    for login in ["", LOGIN] {
        let microsocks = Stranger::microsocks(!login.is_empty());
        for driver in DRIVERS {
            let more = ["--driver", driver];
            targets.load_through_tunnels(&microsocks.url("socks5", login), &plain, &more);
            targets.load_through_tunnels(&microsocks.url("socks5h", login), &named(&plain), &more);
            targets.load_through_tunnels(&microsocks.url("socks5h", login), &secure, &more);
        }
        assert_eq!(microsocks.stop([Event::Tunnel]), [2 * 3 * 3], "{login}");
    }
    targets.check((8 * 300, Some(8 * 3)), (4 * 300, 4 * 3));
}

#[test]
fn dante_counts_what_we_count() {
    let targets = Targets::start();
    let (plain, secure) = (targets.plain(), targets.secure());
    let dante = Stranger::dante(closed_port());
    for driver in DRIVERS {
        let more = ["--driver", driver];
        targets.load_through_tunnels(&dante.url("socks5", ""), &plain, &more);
        targets.load_through_tunnels(&dante.url("socks5h", ""), &named(&plain), &more);
        targets.load_through_tunnels(&dante.url("socks5", ""), &secure, &more);
    }
    assert_eq!(dante.stop([Event::Tunnel, Event::Denied]), [2 * 3 * 3, 0]);
    targets.check((4 * 300, Some(4 * 3)), (2 * 300, 2 * 3));
}

/// Every protocol goes through a tunnel, to our own server, which counts connections.
#[test]
fn every_protocol_goes_through_a_tunnel() {
    let served = Served::start();
    let squid = Stranger::squid(&Authority::new(), false, closed_port());
    let proxy = squid.url("http", "");
    let url = |scheme: &str, path: &str| served.url(path).replace("http://", scheme);
    let proto = format!("{}/../target/proto/hello.proto", env!("CARGO_MANIFEST_DIR"));
    let cases = [
        (url("http://", "/bytes/100"), &["--http2", "--streams", "4"][..]),
        (url("ws://", "/ws/echo"), &["-d", "x"]),
        (url("grpc://", "/hello.Greeter/SayHello"), &["-d", "{}", "--proto", &proto]),
    ];
    for driver in DRIVERS {
        for (url, more) in &cases {
            let before = number(&stats(&served), "/connections/accepted");
            let words = ["-c", "3", "-n", "300", "--driver", driver, "--proxy", &proxy, "-o", "json", url];
            let seen = report(&output(&[&words[..], more].concat()));
            assert_eq!(number(&seen, "/requests/succeeded"), 300, "{url} {driver}: {seen:#}");
            let established = number(&seen, "/connections/established");
            assert_eq!(number(&seen, "/times/proxy_tunnel/count"), established, "{url} {driver}: {seen:#}");
            // One more is that of the question.
            let accepted = number(&stats(&served), "/connections/accepted") - before;
            assert_eq!(accepted, established + 1, "{url} {driver}");
        }
    }
    let all = number(&stats(&served), "/connections/accepted");
    // Each case has two questions, and the last one is another.
    assert_eq!(squid.stop([Event::Tunnel]), [all - 2 * 2 * 3 - 1]);
}

/// A wrong login fails each request by its name, and Squid's status is a response as any other.
#[test]
fn a_wrong_login_is_named() {
    let targets = Targets::start();
    let squid = Stranger::squid(&targets.authority, true, closed_port());
    let microsocks = Stranger::microsocks(true);
    let (plain, secure) = (targets.plain(), targets.secure());
    for login in ["", "user:secretwrong"] {
        for driver in DRIVERS {
            let proxy = squid.url("http", login);
            let tunnel = ["--driver", driver, "--proxy", &proxy, "--cacert", &targets.ca, &secure];
            assert_eq!(failures(&failing(&tunnel)), [("proxy-login", 6)], "{tunnel:?}");
            let socks = ["--driver", driver, "--proxy", &microsocks.url("socks5", login), &plain];
            assert_eq!(failures(&failing(&socks)), [("proxy-login", 6)], "{socks:?}");
            let whole = failing(&["--driver", driver, "--proxy", &proxy, &plain]);
            assert_eq!(whole["statuses"], serde_json::json!({"407": 6}), "{whole:#}");
            assert_eq!(failures(&whole), [("status", 6)], "{whole:#}");
        }
    }
    assert_eq!(squid.stop([Event::Whole, Event::Tunnel, Event::Denied]), [0, 0, 4 * 6 + 4 * 6]);
    assert_eq!(microsocks.stop([Event::Tunnel]), [0]);
    targets.check((0, Some(0)), (0, 0));
}

/// Ports that proxies forbid, or at which nothing listens, and a proxy that is the target itself.
#[test]
fn what_is_refused_is_named() {
    let targets = Targets::start();
    let (forbidden, closed) = (closed_port(), closed_port());
    let squid = Stranger::squid(&targets.authority, false, forbidden);
    let tinyproxy = Stranger::tinyproxy(false, targets.secure.port);
    let dante = Stranger::dante(forbidden);
    let microsocks = Stranger::microsocks(false);
    for (proxy, port) in [
        (squid.url("http", ""), forbidden),
        (squid.url("http", ""), closed),
        (tinyproxy.url("http", ""), forbidden),
        (dante.url("socks5", ""), forbidden),
        (dante.url("socks5h", ""), closed),
        (microsocks.url("socks5", ""), closed),
        (targets.plain.url.clone(), targets.plain.port),
    ] {
        for driver in DRIVERS {
            let url = format!("http://127.0.0.1:{port}/");
            let words = ["--driver", driver, "--proxy", &proxy, "--proxy-tunnel", &url];
            assert_eq!(failures(&failing(&words)), [("proxy-refused", 6)], "{words:?}");
        }
    }
    assert_eq!(squid.stop([Event::Tunnel, Event::Denied]), [0, 2 * 6]);
    assert_eq!(dante.stop([Event::Tunnel, Event::Denied]), [0, 2 * 6]);
    // nginx has refused each CONNECT to itself.
    targets.check((2 * 6, None), (0, 0));
}

/// The proxy is killed in the middle, and at its port each connection is closed from then on.
#[test]
fn a_proxy_that_ends_loses_no_request() {
    for driver in DRIVERS {
        let nginx = Nginx::start();
        let proxy = Stranger::microsocks(false);
        let (url, port) = (format!("{}/", nginx.url), proxy.port);
        let way = proxy.url("socks5", "");
        let words = ["-c", "3", "-z", "100s", "--driver", driver, "--no-abort-on-failures", "--proxy", &way];
        let mut command = onrush(&[&words[..], &["-o", "json", &url]].concat());
        let load = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        wait_for("requests come", || nginx.logged() > 100);
        proxy.kill();
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free again");
        listener.set_nonblocking(true).expect("a socket");
        let mut accepted = 0;
        wait_for("the load tries to connect again", || {
            accepted += std::iter::from_fn(|| listener.accept().ok()).count();
            accepted > 6
        });
        // Those that wait to be accepted are reset.
        drop(listener);
        signal(&load.0, "-INT");
        let seen = report(&load.output());
        let of = |name: &str| number(&seen, &format!("/requests/{name}"));
        let ended = ["succeeded", "failed", "dropped", "unfinished", "lost"].map(of).iter().sum::<u64>();
        assert_eq!(of("started") + of("carried"), ended, "{seen:#}");
        assert!(of("failed") > 0, "{seen:#}");
        let lines = nginx.stop().lines;
        assert!((of("succeeded")..=of("sent")).contains(&lines), "{lines}: {seen:#}");
    }
}

/// The environment names proxies when that is wanted, and hosts may be left out.
#[test]
fn the_environment_counts_when_that_is_wanted() {
    let nginx = Nginx::start();
    let proxy = Stranger::tinyproxy(false, nginx.port);
    let (way, url) = (proxy.url("http", ""), format!("{}/", nginx.url));
    let flags = ["--proxy", way.as_str()];
    let cases: [(&[&str], &[&str], bool); 8] = [
        (&["http_proxy"], &["--proxy-from-env"], true),
        (&["all_proxy"], &["--proxy-from-env"], true),
        (&["http_proxy"], &[], false),
        (&["https_proxy"], &["--proxy-from-env"], false),
        (&["http_proxy", "no_proxy"], &["--proxy-from-env"], false),
        (&["http_proxy"], &["--proxy-from-env", "--no-proxy", "127.0.0.0/8"], false),
        (&[], &flags, true),
        (&[], &[flags[0], flags[1], "--no-proxy", "127.0.0.1"], false),
    ];
    let mut through = 0;
    for (set, more, is_through) in cases {
        let mut command = onrush(&[&["-c", "3", "-n", "30", "-o", "json", &url], more].concat());
        let known = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];
        for name in known {
            command.env_remove(name);
        }
        for name in set {
            command.env(name, if *name == "no_proxy" { "127.0.0.1" } else { &way });
        }
        let seen = report(&command.output().expect("it starts"));
        assert_eq!(number(&seen, "/requests/succeeded"), 30, "{set:?} {more:?}: {seen:#}");
        through += if is_through { 30 } else { 0 };
        assert_eq!(proxy.count(Event::Whole), through, "{set:?} {more:?}");
    }
    assert_eq!(nginx.stop().lines, 8 * 30);
}

/// The password is in nothing that is shown or saved, neither when it is right nor when it is wrong.
#[test]
fn passwords_are_shown_nowhere() {
    let targets = Targets::start();
    let squid = Stranger::squid(&targets.authority, true, closed_port());
    let microsocks = Stranger::microsocks(true);
    let folder = Folder::new("proxy-secrets");
    let [page, json, log] = ["page.html", "run.json", "log.csv"].map(|name| folder.path(name));
    let (plain, secure) = (targets.plain(), targets.secure());
    let ways = |login: &str| {
        [
            (squid.url("http", login), &plain),
            (squid.url("http", login), &secure),
            (microsocks.url("socks5", login), &plain),
        ]
    };
    for (proxy, url) in [LOGIN, "user:secretwrong"].into_iter().flat_map(ways) {
        let saved = ["--html", &page, "--json", &json, "--log", &log];
        for more in [&["--debug"][..], &["--show-failures"], &["-o", "json"], &saved, &["--lang", "zh"]] {
            let trust: &[&str] = if url.starts_with("https:") { &["--cacert", &targets.ca] } else { &[] };
            let done = output(&[&["-c", "1", "-n", "4", "--proxy", &proxy, url], trust, more].concat());
            let files = [&page, &json, &log].map(|path| std::fs::read_to_string(path).unwrap_or_default());
            let shown = text(&done.stdout) + &text(&done.stderr) + &files.concat();
            assert!(!shown.is_empty(), "{proxy} {more:?}");
            for secret in ["secretpass", "secretwrong", "dXNlcjpzZWNyZXRwYXNz", "dXNlcjpzZWNyZXR3cm9uZw"] {
                assert!(!shown.contains(secret), "{proxy} {url} {more:?}: {shown}");
            }
        }
    }
    for proxy in ["ftp://me:secretsix@h", "http://me:secretsix@h:0", "me:secretsix@h:x", "http://me:secretsix@h:1/path"]
    {
        let done = output(&["-n", "1", "--proxy", proxy, &plain]);
        let shown = text(&done.stdout) + &text(&done.stderr);
        assert!(done.status.code() == Some(2) && !shown.contains("secretsix"), "{proxy}: {done:?}");
    }
}
