//! Names with several addresses, and names that move, against a name server and targets of the test's own.

mod server;
mod strangers;

use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::seen::{stats, wait_for};
use crate::usage::check;
use crate::{Served, closed_port, onrush, output, report, signal, text};
use server::{NameServer, Says};

/// Targets at 127.0.0.2 and the following addresses, all on one port.
struct Nodes {
    all: Vec<Served>,
    port: u16,
}

impl Nodes {
    fn start(count: u8) -> Self {
        let port = closed_port();
        Self { all: (0..count).map(|node| Served::at(&format!("127.0.0.{}:{port}", node + 2), &[])).collect(), port }
    }

    fn url(&self, path: &str) -> String {
        format!("http://shop.test:{}{path}", self.port)
    }

    fn connections(&self) -> Vec<u64> {
        // One of them asks.
        self.all.iter().map(|node| stats(node)["connections"]["accepted"].as_u64().expect("a count") - 1).collect()
    }

    fn requests(&self, path: &str) -> Vec<u64> {
        self.all.iter().map(|node| stats(node)["requests_by_path"][path].as_u64().unwrap_or(0)).collect()
    }
}

fn node(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, number + 2)
}

fn nodes(count: u8) -> Vec<Ipv4Addr> {
    (0..count).map(node).collect()
}

fn notes(report: &Value) -> Vec<(&str, &str)> {
    let all = report["notes"].as_array().expect("notes").iter();
    all.map(|note| (note["kind"].as_str().expect("a kind"), note["text"].as_str().expect("a text"))).collect()
}

fn note<'r>(report: &'r Value, kind: &str) -> &'r str {
    let found = notes(report).into_iter().find(|(known, _)| *known == kind);
    found.unwrap_or_else(|| panic!("no note '{kind}': {:#}", report["notes"])).1
}

/// A load in the background, which ends with its report after Ctrl-C.
struct Load(Child);

impl Load {
    fn start(words: &[&str]) -> Self {
        Self(onrush(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    fn stop(self) -> Value {
        signal(&self.0, "-INT");
        report(&self.0.wait_with_output().expect("it ends"))
    }
}

#[test]
fn connections_take_turns() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    for driver in ["uring", "poll"] {
        for (connections, threads, more) in
            [("3", "1", None), ("9", "2", None), ("300", "2", None), ("9", "2", Some("--no-keepalive"))]
        {
            let served = Nodes::start(3);
            let url = served.url("/");
            let mut words = vec!["-c", connections, "-n", "1800", "--threads", threads, "--driver", driver];
            words.extend(["--dns", dns.address(), "-o", "json", &url]);
            words.extend(more);
            let seen = report(&output(&words));
            assert_eq!(seen["requests"]["succeeded"], 1_800, "{words:?}: {seen:#}");
            let (each, requests) = (served.connections(), served.requests("/"));
            assert_eq!(requests.iter().sum::<u64>(), 1_800);
            // Each address has the figures of its server.
            let rows = seen["addresses"].as_array().expect("addresses");
            let column = |key: &str| rows.iter().map(|row| row[key].as_u64().expect("a count")).collect::<Vec<_>>();
            assert_eq!((column("connections"), column("sent")), (each.clone(), requests.clone()), "{rows:#?}");
            assert_eq!(column("answered"), requests);
            match more {
                None => {
                    let third = connections.parse::<u64>().expect("a number") / 3;
                    assert_eq!(each, [third; 3], "{words:?}");
                }
                // Threads take turns by themselves.
                Some(_) => {
                    assert_eq!(each, requests);
                    assert!(each.iter().all(|each| each.abs_diff(600) <= 6), "{each:?}");
                }
            }
        }
    }
}

#[test]
fn an_open_load_goes_to_all_addresses() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    let served = Nodes::start(3);
    let url = served.url("/");
    // There is a connection for each start, so none has to wait for another, however many are due at a time.
    let words = ["-q", "600", "-c", "1800", "-n", "1800", "--preconnect", "--dns", dns.address(), "-o", "json", &url];
    let seen = report(&output(&words));
    assert_eq!(seen["requests"]["succeeded"], 1_800, "{seen:#}");
    let requests = served.requests("/");
    assert_eq!(requests.iter().sum::<u64>(), 1_800, "{requests:?}");
    // Threads take turns by themselves: few connections are used twice.
    assert!(requests.iter().all(|each| each.abs_diff(600) <= 6), "{requests:?}");
}

#[test]
fn one_connection_reaches_one_address() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    let served = Nodes::start(3);
    let url = served.url("/");
    let seen = report(&output(&["-c", "1", "-n", "30", "--dns", dns.address(), "-o", "json", &url]));
    let mut requests = served.requests("/");
    requests.sort_unstable();
    assert_eq!(requests, [0, 0, 30]);
    assert!(note(&seen, "one-of-addresses").contains("shop.test has 3 addresses"), "{seen:#}");
    // With a choice of one there is nothing to say.
    let words = ["-c", "1", "-n", "30", "--dns", dns.address(), "--addresses", "first", "-o", "json", &url];
    assert_eq!(notes(&report(&output(&words))), []);
}

/// What goes to a dead node goes on to another one, within the same request.
#[test]
fn a_dead_node_fails_nothing() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    for (driver, more) in
        [("uring", "--http1.1"), ("poll", "--http1.1"), ("uring", "--http2"), ("poll", "--no-keepalive")]
    {
        let mut served = Nodes::start(3);
        drop(served.all.remove(1));
        // The kernel may take a moment to close the sockets of a process that is gone.
        wait_for("nothing listens there", || TcpStream::connect((node(1), served.port)).is_err());
        let url = served.url("/");
        let words = ["-c", "30", "-n", "900", more, "--driver", driver, "--dns", dns.address(), "-o", "json", &url];
        let seen = report(&output(&words));
        assert_eq!(seen["requests"]["succeeded"], 900, "{words:?}: {seen:#}");
        let connections = &seen["connections"];
        assert_eq!(connections["established"], served.connections().iter().sum::<u64>(), "{connections}");
        assert_eq!(served.requests("/").iter().sum::<u64>(), 900);
    }
    // When all are dead, each is tried once for a request.
    let port = closed_port();
    let url = format!("http://shop.test:{port}/");
    let words = ["-c", "1", "-n", "4", "--dns", dns.address(), "--no-abort-on-failures", "-o", "json", &url];
    let done = output(&words);
    let seen = report(&done);
    assert_eq!((&seen["requests"]["failed"], &seen["connections"]["tried"]), (&4.into(), &12.into()), "{seen:#}");
    assert_eq!(done.status.code(), Some(3), "{done:?}");
}

/// The node dies in the middle: its connections break, and everything after that goes to the others.
#[test]
fn a_node_that_dies_is_left() {
    let dns = NameServer::start(Says::addresses(&nodes(2)));
    let mut served = Nodes::start(2);
    let url = served.url("/");
    let load = Load::start(&["-c", "10", "-z", "100s", "--dns", dns.address(), "-o", "json", &url]);
    wait_for("both get requests", || served.requests("/").iter().all(|each| *each > 100));
    drop(served.all.remove(0));
    let before = served.requests("/")[0];
    wait_for("the other gets all", || served.requests("/")[0] > before + 1_000);
    let seen = load.stop();
    let rows = seen["addresses"].as_array().expect("addresses");
    let failed: Vec<_> = rows.iter().map(|row| row["failed"].as_u64().expect("a count")).collect();
    assert_eq!(failed, [seen["requests"]["failed"].as_u64().expect("a count"), 0], "{rows:#?}");
}

#[test]
fn a_name_that_moves_is_followed() {
    for driver in ["uring", "poll"] {
        let dns = NameServer::start(Says::addresses(&[node(0)]));
        let served = Nodes::start(2);
        let url = served.url("/");
        let words =
            ["-c", "4", "-z", "100s", "--no-keepalive", "--driver", driver, "--dns", dns.address(), "-o", "json", &url];
        let load = Load::start(&words);
        wait_for("the old address is loaded", || served.requests("/")[0] > 100);
        dns.says(Says::addresses(&[node(1)]));
        wait_for("the new address is loaded", || served.requests("/")[1] > 1_000);
        let left = served.requests("/")[0];
        wait_for("the new address is loaded alone", || served.requests("/")[1] > 3_000);
        assert_eq!(served.requests("/")[0], left, "nothing more goes to the old address");
        let seen = load.stop();
        assert_eq!(seen["requests"]["failed"], 0, "{seen:#}");
        let counts = &seen["requests"];
        let sent = counts["succeeded"].as_u64().expect("a count") + counts["unfinished"].as_u64().expect("a count");
        let received: u64 = served.requests("/").iter().sum();
        assert!(received <= sent && received >= counts["succeeded"].as_u64().expect("a count"), "{received}: {seen:#}");
        let text = note(&seen, "addresses-changed");
        assert!(text.contains("127.0.0.3 came and 127.0.0.2 left after "), "{text}");
    }
}

/// The time of `--dns-ttl` counts, however long the answer is valid.
#[test]
fn an_answer_for_a_day_is_looked_up_again() {
    let dns = NameServer::start(Says::Lasting(vec![node(0)]));
    let served = Nodes::start(2);
    let url = served.url("/");
    let words = ["-c", "4", "-z", "100s", "--no-keepalive", "--dns-ttl", "1s", "--dns", dns.address()];
    let load = Load::start(&[&words[..], &["-o", "json", &url]].concat());
    wait_for("the old address is loaded", || served.requests("/")[0] > 100);
    dns.says(Says::Lasting(vec![node(1)]));
    wait_for("the new address is loaded", || served.requests("/")[1] > 1_000);
    assert_eq!(load.stop()["requests"]["failed"], 0);
}

/// A name server that says nothing any more holds nothing up: neither the load, nor its end.
#[test]
fn a_silent_name_server_holds_nothing_up() {
    let dns = NameServer::start(Says::addresses(&[node(0)]));
    let served = Nodes::start(1);
    let url = served.url("/");
    let load = Load::start(&["-c", "2", "-q", "200", "-z", "100s", "--dns", dns.address(), "-o", "json", &url]);
    wait_for("it is loaded", || served.requests("/")[0] > 10);
    dns.says(Says::Nothing);
    let (questions, before) = (dns.questions(), served.requests("/")[0]);
    wait_for("it is asked", || dns.questions() > questions);
    wait_for("the load goes on", || served.requests("/")[0] > before + 100);
    assert_eq!(load.stop()["requests"]["failed"], 0);
    // Nor does it hold up a signal before the start.
    let load = Load::start(&["-n", "1", "--dns", dns.address(), "-o", "json", &url]);
    let questions = dns.questions();
    wait_for("it is asked", || dns.questions() > questions);
    signal(&load.0, "-INT");
    let done = load.0.wait_with_output().expect("it ends");
    assert!(!done.status.success() && done.stdout.is_empty(), "{done:?}");
}

/// A threshold may be of one address, or of the worst one; it is undecided where there is one address.
#[test]
fn thresholds_are_judged_by_address() {
    let dns = NameServer::start(Says::addresses(&nodes(2)));
    let served = Nodes::start(2);
    let url = served.url("/");
    let own = format!("responses(address={}:{}) >= 100", node(0), served.port);
    let words = ["-c", "4", "--threads", "1", "-n", "2000", "--dns", dns.address(), "-o", "json", &url];
    let with = ["--threshold", "worst_address(failed / done) < 1%", "--threshold", &own];
    let done = output(&[&with[..], &words].concat());
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let seen = report(&done);
    let [worst, one] = &seen["thresholds"].as_array().expect("thresholds")[..] else { panic!("two: {seen:#}") };
    assert_eq!((&worst["value"], &worst["reason"], &one["address"]), (&0.0.into(), &Value::Null, &Value::Null));
    assert_eq!(worst["address"], seen["addresses"][0]["address"], "the first of equal ones");
    assert_eq!(one["value"].as_f64(), seen["addresses"][0]["answered"].as_f64());
    let single = output(&["-n", "10", "--quiet", "--threshold", "worst_address(p99) < 9s", &served.all[0].url("/")]);
    assert_eq!(single.status.code(), Some(1), "{single:?}");
    assert!(text(&single.stdout).contains("there is one address"), "{single:?}");
}

/// Workers look names up by themselves, and their figures by address are the books of the servers.
#[test]
fn workers_go_to_all_addresses() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    for connections in ["9", "300"] {
        let served = Nodes::start(3);
        let url = served.url("/");
        let words = ["--workers", "3", "--threads", "1", "-c", connections, "-n", "1800", "--dns", dns.address()];
        let seen = report(&output(&[&words[..], &["-o", "json", &url]].concat()));
        assert_eq!(seen["requests"]["succeeded"], 1_800, "{seen:#}");
        let rows = seen["addresses"].as_array().expect("addresses");
        let column = |key: &str| rows.iter().map(|row| row[key].as_u64().expect("a count")).collect::<Vec<_>>();
        let (each, requests) = (served.connections(), served.requests("/"));
        assert_eq!((column("connections"), column("sent")), (each.clone(), requests.clone()), "{rows:#?}");
        assert_eq!(column("answered"), requests);
        assert_eq!(each, [connections.parse::<u64>().expect("a number") / 3; 3], "{rows:#?}");
    }
}

/// Kept connections stay, and the report says which address got none.
#[test]
fn kept_connections_stay_where_they_are() {
    let dns = NameServer::start(Says::addresses(&[node(0)]));
    let served = Nodes::start(2);
    let url = served.url("/");
    let words = ["-c", "4", "--threads", "1", "-z", "100s", "--dns", dns.address(), "-o", "json", &url];
    let load = Load::start(&words);
    // All are opened before the first of them gets a response.
    wait_for("the old address is loaded", || served.requests("/")[0] > 10);
    let questions = dns.questions();
    dns.says(Says::addresses(&nodes(2)));
    wait_for("the name is looked up", || dns.questions() >= questions + 6);
    let seen = load.stop();
    assert_eq!(served.requests("/")[1], 0);
    let text = note(&seen, "addresses-changed");
    assert!(text.contains("127.0.0.3 got none of the ") && text.contains("--connection-age 30s"), "{text}");
}

/// Kept connections follow when they reach their age, and nothing is lost.
#[test]
fn kept_connections_follow_by_their_age() {
    for version in ["--http1.1", "--http2"] {
        let dns = NameServer::start(Says::addresses(&[node(0)]));
        let served = Nodes::start(2);
        let url = served.url("/");
        let words = ["-c", "4", "-z", "100s", version, "--connection-age", "500ms", "--dns", dns.address()];
        let load = Load::start(&[&words[..], &["-o", "json", &url]].concat());
        wait_for("the old address is loaded", || served.requests("/")[0] > 100);
        dns.says(Says::addresses(&[node(1)]));
        wait_for("the new address is loaded", || served.requests("/")[1] > 100);
        // No connection is older than its age, so the old address is left some time after that.
        wait_for("the old address is left", || {
            let [old, new] = served.requests("/")[..] else { panic!("two nodes") };
            wait_for("the new address goes on", || served.requests("/")[1] > new + 1_000);
            served.requests("/")[0] == old
        });
        let seen = load.stop();
        let counts = &seen["requests"];
        assert_eq!((&counts["failed"], &counts["reconnects"]), (&0.into(), &0.into()), "{seen:#}");
        let ended = ["succeeded", "unfinished"].map(|key| counts[key].as_u64().expect("a count"));
        let received: u64 = served.requests("/").iter().sum();
        assert!((ended[0]..=ended[0] + ended[1]).contains(&received), "{received}: {seen:#}");
    }
}

/// Not one byte goes to an address that is public, or link-local, when the name moves there.
#[test]
fn an_address_of_another_kind_is_not_loaded() {
    for far in [Ipv4Addr::BROADCAST, Ipv4Addr::new(169, 254, 1, 1), Ipv4Addr::new(10, 1, 2, 3)] {
        let dns = NameServer::start(Says::addresses(&[node(0)]));
        let served = Nodes::start(1);
        let url = served.url("/");
        let words = ["-c", "2", "-z", "100s", "--no-keepalive", "--dns", dns.address(), "-o", "json", &url];
        // It is neither loaded beside the others ...
        let load = Load::start(&words);
        wait_for("it is loaded", || served.requests("/")[0] > 10);
        let questions = dns.questions();
        dns.says(Says::addresses(&[node(0), far]));
        wait_for("the name is looked up", || dns.questions() >= questions + 4);
        let seen = load.stop();
        assert_eq!(seen["requests"]["failed"], 0, "{seen:#}");
        assert!(note(&seen, "addresses-refused").contains(&far.to_string()));
        // ... nor in their place: the run ends.
        dns.says(Says::addresses(&[node(0)]));
        let load = Load::start(&words);
        let before = served.requests("/")[0];
        wait_for("it is loaded", || served.requests("/")[0] > before + 10);
        dns.says(Says::addresses(&[far]));
        let done = load.0.wait_with_output().expect("it ends by itself");
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let seen = report(&done);
        assert_eq!(seen["requests"]["failed"], 0, "{seen:#}");
        assert!(note(&seen, "addresses-refused").ends_with("so the run ended"), "{seen:#}");
    }
}

/// Lookups that fail keep the addresses; each way to fail is told.
#[test]
fn a_lookup_that_fails_keeps_the_addresses() {
    let dns = NameServer::start(Says::addresses(&[node(0)]));
    let served = Nodes::start(1);
    let url = served.url("/");
    for (says, text) in
        [(Says::Code(3), "the name has no address"), (Says::Code(2), "SERVFAIL"), (Says::Lies, "no answer")]
    {
        dns.says(Says::addresses(&[node(0)]));
        let before = served.requests("/")[0];
        let words =
            ["-c", "2", "-q", "200", "-z", "100s", "--dns", dns.address(), "--dns-ttl", "1s", "-o", "json", &url];
        let load = Load::start(&words);
        wait_for("it is loaded", || served.requests("/")[0] > before + 10);
        let (questions, before) = (dns.questions(), served.requests("/")[0]);
        dns.says(says.clone());
        // Each lookup asks for both kinds of addresses, some more than once.
        wait_for("lookups fail", || dns.questions() > questions + 8);
        wait_for("the load goes on", || served.requests("/")[0] > before + 50);
        let seen = load.stop();
        assert_eq!(seen["requests"]["failed"], 0, "{seen:#}");
        let note = note(&seen, "lookups-failed");
        assert!(note.contains(text) && note.contains("stayed in use"), "{note}");
    }
}

#[test]
fn answers_of_every_form_are_read() {
    let dns = NameServer::start(Says::addresses(&[]));
    let served = Nodes::start(3);
    let url = served.url("/");
    let many: Vec<Ipv4Addr> = (0..500).map(|number| node((number % 3) as u8)).collect();
    for says in [
        Says::Truncates(nodes(3)),
        // More than fits into a message of UDP.
        Says::addresses(&many),
        Says::Aliases(nodes(3)),
        Says::AliasAlone(nodes(3)),
    ] {
        dns.says(says.clone());
        let before = served.requests("/");
        let seen = report(&output(&["-c", "3", "-n", "30", "--dns", dns.address(), "-o", "json", &url]));
        assert_eq!(seen["requests"]["succeeded"], 30, "{says:?}: {seen:#}");
        assert!(served.requests("/").iter().zip(&before).all(|(now, before)| now > before), "{says:?}");
    }
}

#[test]
fn a_name_that_cannot_be_looked_up_is_reported() {
    let dns = NameServer::start(Says::addresses(&[]));
    let cases = [
        (Says::addresses(&[]), "the host 'shop.test' is unknown", "找不到主机 'shop.test'"),
        (Says::Code(3), "the host 'shop.test' is unknown", "找不到主机 'shop.test'"),
        (Says::Code(2), "answers with SERVFAIL; check --dns, or leave it out", "请检查 --dns"),
        (Says::Circle, "check --dns, or leave it out", "请检查 --dns"),
        (Says::Lies, "no answer; check --dns, or leave it out", "请检查 --dns"),
    ];
    for (says, en, zh) in cases {
        dns.says(says);
        let words = ["-n", "1", "--dns", dns.address(), "http://shop.test:9/"];
        for (language, says) in [("en", en), ("zh", zh)] {
            let done = output(&[&["--lang", language], &words[..]].concat());
            assert!(text(&done.stderr).contains(says), "{done:?}");
            assert_eq!(done.status.code(), Some(3), "{done:?}");
        }
    }
    for (flag, value, says) in [
        ("--dns", "dns.example", "--dns wants the address of a name server"),
        ("--dns-ttl", "10ms", "--dns-ttl wants at least 1s, not '10ms'"),
        ("--addresses", "some", "--addresses wants one of one-family, all, first"),
    ] {
        check(&output(&["-n", "1", flag, value, "http://shop.test:9/"]), 2, says);
    }
}

/// Held connections go to all addresses too.
#[test]
fn held_connections_take_turns() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    let served = Nodes::start(3);
    let url = served.url("/").replace("http:", "ws:") + "ws/echo";
    let words = ["hold", "-c", "30", "--hold", "100ms", "--dns", dns.address(), "-o", "json", &url];
    let seen = report(&output(&words));
    assert_eq!(seen["connections"]["most_open"], 30, "{seen:#}");
    assert_eq!(served.connections(), [10; 3]);
    let [name] = &seen["names"].as_array().expect("names")[..] else { panic!("one name: {seen:#}") };
    assert_eq!((&name["host"], &name["failed"]), (&"shop.test".into(), &0.into()), "{name:#}");
    assert_eq!(name["addresses"].as_array().map(Vec::len), Some(3), "{name:#}");
}

#[test]
fn a_scenario_has_a_network_of_its_own() {
    let dns = NameServer::start(Says::addresses(&nodes(3)));
    let served = Nodes::start(3);
    let folder = crate::Folder::new("network");
    let file = folder.file(
        "network.yaml",
        format!(
            "target: {}\nnetwork: {{dns: '{}'}}\nscenarios:\n  all:\n    load: {{users: 6, iterations: 60}}\n    steps: [get: /]\n  \
             one:\n    network: {{addresses: first}}\n    load: {{users: 6, iterations: 60}}\n    steps: [get: /bytes/3]\n",
            served.url(""),
            dns.address()
        ),
    );
    let seen = report(&output(&["run", &file, "-o", "json"]));
    assert_eq!(seen["requests"]["succeeded"], 120, "{seen:#}");
    assert!(served.requests("/").iter().all(|each| *each > 0));
    assert_eq!(served.requests("/bytes").iter().filter(|each| **each > 0).count(), 1);
}
