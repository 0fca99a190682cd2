//! Held connections: against a server on gorilla/websocket (`tests/peers/websocket`), against ours, and against servers
//! that die or accept no more.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::binary::{Served, onrush, output, report, text};
use crate::relay::Relay;
use crate::seen::{ask, stats, wait_for};
use crate::watched::Paged;
use crate::{ChildGuard, Folder, closed_port, signal};

/// Timeouts that are never reached: whatever takes long, it is not the time that ends it.
const PATIENT: [&str; 6] = ["-t", "1h", "--connect-timeout", "1h", "--grace", "1h"];

fn tool(name: &str) -> PathBuf {
    let tool = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").join(name);
    assert!(tool.exists(), "{name} is missing; `cargo xtask test` installs it");
    tool
}

/// A server with an independent implementation.
struct Gorilla {
    _child: ChildGuard,
    address: String,
}

impl Gorilla {
    fn start(flags: &[&str]) -> Self {
        let mut child = ChildGuard::start(Command::new(tool("wspeer")).args(flags).stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(child.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening ").expect("the address").to_owned();
        Self { _child: child, address }
    }

    fn url(&self) -> String {
        format!("ws://{}/echo", self.address)
    }

    fn counts(&self) -> Value {
        json_at(&self.address, "/counts")
    }
}

fn json_at(address: &str, path: &str) -> Value {
    requested_json(address, path).expect("an answer")
}

/// One request; `None` when the kernel cut it short, as it may with very many connections. The response must be
/// complete.
fn requested_json(address: &str, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: x\r\n\r\n").ok()?;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let response = String::from_utf8(bytes).expect("text");
    if response.is_empty() {
        return None;
    }
    let body = response.split_once("\r\n\r\n").expect("a head").1;
    Some(serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}")))
}

/// The server's counts of WebSocket and TCP: `open`, `messages`, `pushed`.
fn counted(address: &str, name: &str) -> u64 {
    let mut seen = None;
    wait_for("a whole answer", || {
        seen = requested_json(address, "/stats");
        seen.is_some()
    });
    seen.and_then(|seen| seen["long_connections"][name].as_u64()).unwrap_or(0)
}

fn hold(words: &[&str]) -> Output {
    output(&[&["hold", "--output", "json"], words].concat())
}

/// The server's address, without its scheme.
fn address(served: &Served) -> String {
    served.url.split_once("://").expect("a scheme").1.to_owned()
}

/// The violations of the schema in a report.
fn wrong_in(held: &Value) -> Vec<String> {
    let schema = include_str!("../../../../docs/hold.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    schema.iter_errors(held).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Whether everything was kept, except messages that a busy machine has not sent: those are reported, and are the only
/// error.
#[track_caller]
pub(crate) fn is_kept(held: &Value) {
    let count = |part: &str, name: &str| held[part][name].as_u64().unwrap_or_else(|| panic!("{part} {name}: {held:#}"));
    let lost = count("connections", "lost") + count("connections", "failed");
    let wrong = count("messages", "unanswered") + count("messages", "refused");
    assert_eq!((lost, wrong), (0, 0), "{held:#}");
    let unsent = count("messages", "due") - count("messages", "sent");
    assert_eq!(held["verdict"]["is_kept"], unsent == 0, "{held:#}");
}

#[test]
fn what_gorilla_counts_is_what_we_count() {
    const COUNT: u64 = 2_000;
    let peer = Gorilla::start(&[]);
    let url = peer.url();
    for (number, driver) in ["uring", "poll"].into_iter().enumerate() {
        // While all are open each has its turn.
        let words = ["--driver", driver, "-c", "2000", "--hold", "300ms", "--every", "300ms", &url];
        let held = report(&hold(&[&PATIENT[..], &words].concat()));
        assert_eq!(wrong_in(&held), Vec::<String>::new());
        let connections = &held["connections"];
        is_kept(&held);
        assert_eq!(
            [&connections["established"], &connections["most_open"], &connections["closed"]],
            [COUNT, COUNT, COUNT],
            "{driver}: {held:#}"
        );
        let sent = held["messages"]["sent"].as_u64().expect("a number");
        assert!(sent >= COUNT && held["messages"]["answered"] == sent, "{held:#}");
        let counts = peer.counts();
        let all = (number as u64 + 1) * COUNT;
        assert_eq!((&counts["opened"], &counts["orderly"]), (&all.into(), &all.into()));
        assert!(counts["pings"].as_u64() >= Some(sent), "{counts} {sent}");
    }
}

#[test]
fn loads_of_websocket_and_tcp_are_exact() {
    let peer = Gorilla::start(&["-deflate", "-protocol", "chat"]);
    let served = Served::with(&["--tcp", "0"]);
    let tls = Served::with(&["--tls"]);
    let tcp = tcp_of(&served);
    let echo = address(&served);
    let ours = format!("ws://{echo}/any/path");
    let secure = format!("wss://{}/", address(&tls));
    let theirs = peer.url();
    let before = |peer: &Gorilla| peer.counts()["messages"].as_u64().expect("a number");
    let cases: Vec<(&str, Vec<&str>)> = vec![
        (&ours, vec!["-d", "hello"]),
        (&ours, vec![]),
        (&ours, vec!["--ws-deflate", "-d", "again and again and again", "--expect-body", "and again"]),
        (&ours, vec!["--no-keepalive", "-d", "once"]),
        (&ours, vec!["-q", "2000", "-d", "paced"]),
        (&ours, vec!["--rendezvous", "-d", "together"]),
        (&secure, vec!["--insecure", "--data-bytes", "3000"]),
        (&tcp, vec!["-d", "a line\n", "--until", "\\n"]),
        (&tcp, vec!["-d", "hex:000568656c6c6f", "--length-prefix", "2"]),
        (&tcp, vec!["--data-bytes", "70000", "--read-bytes", "70000"]),
        (&tcp, vec!["-d", "nobody answers", "--no-response", "--no-keepalive"]),
        (&theirs, vec!["-d", "@/proc/sys/kernel/ostype", "--expect-body", "Linux"]),
        (&theirs, vec!["--ws-deflate", "--subprotocol", "chat", "--data-bytes", "100000"]),
    ];
    for driver in ["uring", "poll"] {
        for (url, words) in &cases {
            let common = ["--driver", driver, "-c", "7", "-n", "210", "--output", "json"];
            let received = before(&peer);
            let run = output(&[&common, words.as_slice(), &[*url]].concat());
            let seen = report(&run);
            let requests = &seen["requests"];
            assert_eq!(run.status.code(), Some(0), "{driver} {url} {words:?}: {}", text(&run.stderr));
            assert_eq!([&requests["succeeded"], &requests["failed"]], [210, 0], "{driver} {url} {words:?}: {seen:#}");
            if *url == theirs {
                assert_eq!(before(&peer) - received, 210, "{words:?}");
            }
        }
    }
}

/// The plain TCP address of a server: its second line.
fn tcp_of(served: &Served) -> String {
    let pid = served.child.id();
    // The line was written with the first one; the server's own sockets show the same.
    let known = address(served);
    let find = || {
        let sockets = Command::new("ss").args(["-Hltnp"]).output().expect("ss starts");
        let table = text(&sockets.stdout);
        table
            .lines()
            .filter(|line| line.contains(&format!("pid={pid},")))
            .filter_map(|line| line.split_whitespace().nth(3).map(str::to_owned))
            .find(|address| *address != known)
    };
    format!("tcp://{}", find().expect("a second listener"))
}

/// Only the end of its connections shows that the server is gone: each sends one message, and responses have an hour.
/// That the connections come back one after the other is tested in the simulator.
#[test]
fn a_server_that_dies_is_seen_at_once_and_its_connections_come_back() {
    const COUNT: u64 = 2_000;
    let port = closed_port();
    let listen = format!("127.0.0.1:{port}");
    let serve = || {
        let mut server = ChildGuard::start(onrush(&["serve", "--listen", &listen]).stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(server.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        server
    };
    let server = serve();
    let url = format!("ws://{listen}/");
    let words = ["hold", "-c", "2000", "--hold", "1h", "--once", "-d", "hi", "--reconnect", "--output", "json", &url];
    let mut command = onrush(&[&words[..], &PATIENT].concat());
    let run = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
    // A connection that has sent a message is known to be open.
    wait_for("all are there", || counted(&listen, "messages") == COUNT);
    // The next server may listen there when the kernel has closed the sockets of this one.
    drop(server);
    wait_for("nothing listens there", || std::net::TcpStream::connect(&listen).is_err());
    let server = serve();
    wait_for("all are back", || counted(&listen, "messages") == COUNT);
    signal(&run.0, "-INT");
    let held = report(&run.output());
    drop(server);
    let connections = &held["connections"];
    assert_eq!((&connections["lost"], &connections["most_open"]), (&COUNT.into(), &COUNT.into()), "{held:#}");
    let names: Vec<&str> =
        held["losses"].as_array().expect("reasons").iter().filter_map(|by| by["reason"].as_str()).collect();
    assert!(names.iter().all(|name| ["reset", "closed-early"].contains(name)), "{names:?}");
    assert_eq!(connections["open_when_closing"], COUNT, "all came back: {held:#}");
}

#[test]
fn a_server_that_takes_no_more_is_named() {
    let binary = env!("CARGO_BIN_EXE_onrush");
    let script = format!("ulimit -n 256 && exec '{binary}' serve --driver poll --threads 1 --listen 127.0.0.1:0");
    let mut server = ChildGuard::start(Command::new("bash").args(["-c", &script]).stdout(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let url = line.trim().replace("listening on http", "ws");
    // Connections for which the server has no descriptor wait in vain: only the timeout ends that.
    let run = output(&["hold", "-c", "300", "--hold", "100ms", "--connect-timeout", "2s", "--quiet", &url]);
    drop(server);
    let page = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{page}");
    assert!(page.contains("that is about 256, a common limit of open files"), "{page}");
    assert!(page.contains("LimitNOFILE="), "{page}");
}

/// Runs a script in a network namespace of its own, whose settings it changes.
pub(crate) fn in_a_network(script: &str) -> Output {
    let binary = env!("CARGO_BIN_EXE_onrush");
    let script = format!("O='{binary}'; ip link set lo up; {script}");
    let run = Command::new("unshare").args(["--net", "bash", "-c", &script]).env("LANG", "C.UTF-8").output();
    run.expect("unshare starts; it needs root")
}

#[test]
fn scarce_ports_are_named_and_the_doctor_foresees_them() {
    let run = in_a_network(
        "sysctl -qw net.ipv4.ip_local_port_range='40000 40999' net.core.somaxconn=777
         exec 3< <(exec $O serve --listen 127.0.0.1:8080 2> /dev/null); S=$!; read -r -u 3 LISTENS
         $O doctor -c 3000 --source-ip 127.0.0.1 ws://127.0.0.1:8080/ --json > /tmp/onrush-doctor-$$.json
         cat /tmp/onrush-doctor-$$.json; rm /tmp/onrush-doctor-$$.json; echo ---
         $O hold -c 3000 --hold 100ms --source-ip 127.0.0.1 ws://127.0.0.1:8080/ --output json; echo ---
         $O hold -c 3000 --hold 100ms --source-ip 127.0.0.1 ws://127.0.0.1:8080/ --quiet; echo ---
         $O hold -c 3000 --hold 100ms ws://127.0.0.1:8080/ --output json; echo ---
         $O doctor -c 3000 --source-ip 127.0.0.1 ws://127.0.0.1:8080/ --apply > /dev/null
         cat /proc/sys/net/ipv4/ip_local_port_range
         kill $S",
    );
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    let parts: Vec<&str> = out.split("---\n").collect();
    let json = |part: &str| serde_json::from_str::<Value>(part).unwrap_or_else(|error| panic!("{error}: {part} {err}"));
    let doctor = json(parts[0]);
    assert_eq!((&doctor["narrowest"], &doctor["is_enough"]), (&"ports".into(), &false.into()), "{doctor:#}");
    assert_eq!(doctor["settings"]["somaxconn"], 777);
    assert_eq!(doctor["settings"]["ip_local_port_range"], serde_json::json!([40_000, 40_999]));
    let held = json(parts[1]);
    let (foreseen, open) = (doctor["carries"].as_f64().expect("a number"), held["connections"]["most_open"].as_f64());
    assert!((foreseen - open.expect("a number")).abs() <= foreseen / 100.0, "{foreseen} {open:?}");
    let by: Vec<&str> =
        held["failures"].as_array().expect("reasons").iter().filter_map(|by| by["reason"].as_str()).collect();
    assert_eq!(by, ["no-local-port"], "{held:#}");
    assert!(parts[2].contains("(there are 1000)") && parts[2].contains("ip_local_port_range='1024 65535'"), "{out}");
    assert!(err.contains("carries about 1,000 of the 3,000") && err.contains("onrush doctor -c 3000"), "{err}");
    assert_eq!(json(parts[3])["connections"]["most_open"], 3_000, "loopback has addresses enough");
    assert!(err.contains("undo: sysctl -w net.ipv4.ip_local_port_range='40000 40999'"), "{err}");
    assert_eq!(parts[4].split_whitespace().collect::<Vec<_>>(), ["1024", "65535"]);
}

#[test]
fn pushes_checks_and_other_protocols_are_held() {
    let served = Served::with(&["--tcp", "0", "--push", "50ms"]);
    let (tcp, ws, at) = (tcp_of(&served), format!("ws://{}/", address(&served)), address(&served));
    // A WebSocket reads its peer to the end: not one push is missing.
    let words = ["hold", "-c", "200", "--hold", "1h", "--receive-only", "--output", "json", &ws];
    let run = ChildGuard::start(onrush(&[&words[..], &PATIENT].concat()).stdout(Stdio::piped()));
    wait_for("five pushes to each", || counted(&at, "pushed") >= 1_000);
    signal(&run.0, "-INT");
    let held = report(&run.output());
    let pushed = counted(&at, "pushed");
    assert_eq!(held["messages"]["pushed"], pushed, "{held:#}");
    assert!(held["times"]["message_gap"]["count"].as_u64() > Some(0), "{held:#}");
    wait_for("all are closed", || json_at(&at, "/conns")["closed"] == 200);
    // On plain TCP data after our close is lost, so here the server closes first: everything sent by then is received.
    let folder = Folder::new("hold-pushes");
    let file = folder.path("held.json");
    let words =
        ["hold", "-c", "200", "--hold", "1h", "--receive-only", "--interval", "100ms", "--json", &file, "--web"];
    let paged = Paged::start(&[&words[..], &[&tcp]].concat());
    wait_for("five pushes to each", || counted(&at, "pushed") >= pushed + 1_000);
    let by_then = counted(&at, "pushed") - pushed;
    drop(served);
    wait_for("all are gone", || {
        let row = &paged.get("/api/run")["live"]["hold"];
        row["open"] == 0 && row["connecting"] == 0
    });
    let held = ended(paged, &file);
    // Two bytes each, of which several pushes may come as one.
    assert!(held["bytes"]["received"].as_u64() >= Some(2 * by_then), "{by_then} {held:#}");
    assert_eq!(held["connections"]["lost"], 200, "{held:#}");
    let served = Served::with(&["--tcp", "0"]);
    let (tcp, http) = (tcp_of(&served), served.url("/"));
    let ws = format!("ws://{}/", address(&served));
    for (url, span, words) in [
        (&http, "300ms", vec!["--every", "300ms"]),
        (&tcp, "600ms", vec!["--every", "50ms-100ms", "-d", "x", "--read-bytes", "1"]),
        (&ws, "100ms", vec!["--once", "-d", "{\"seq\":\"1\",\"cmd\":\"ping\"}", "--expect-body", "ping"]),
        (&ws, "300ms", vec!["--every", "300ms", "--ws-deflate", "-d", "again and again", "--driver", "poll"]),
    ] {
        let held = report(&hold(&[&PATIENT[..], &["-c", "100", "--hold", span], &words, &[url]].concat()));
        is_kept(&held);
        assert_eq!(held["connections"]["closed"], 100, "{url}: {held:#}");
        assert!(held["messages"]["answered"].as_u64() >= Some(100), "{url} {words:?}: {held:#}");
    }
    let wrong = report(&hold(&["-c", "10", "--hold", "100ms", "--once", "-d", "x", "--expect-body", "y", &ws]));
    assert_eq!((&wrong["messages"]["refused"], &wrong["verdict"]["is_kept"]), (&10.into(), &false.into()), "{wrong:#}");
}

/// Ends a hold, and reads its report.
fn ended(mut paged: Paged, file: &str) -> Value {
    signal(&paged.child, "-INT");
    paged.child.wait().expect("it ends");
    serde_json::from_str(&std::fs::read_to_string(file).expect("a report")).expect("JSON")
}

#[test]
fn what_was_stopped_and_what_stood_still_is_not_kept() {
    for (language, says, kept) in [
        ("en", "stopped before the end of the plan; until then ", "kept: "),
        ("zh", "压测提前停止；在此之前，", "达标："),
    ] {
        let served = Served::start();
        let ws = format!("ws://{}/", address(&served));
        let words =
            ["hold", "-c", "50", "--hold", "1h", "--every", "200ms", "-d", "hi", "--lang", language, "--quiet", &ws];
        let run = ChildGuard::start(onrush(&words).stdout(Stdio::piped()));
        wait_for("all have said something", || stats(&served)["long_connections"]["messages"].as_u64() >= Some(50));
        signal(&run.0, "-INT");
        let page = text(&run.output().stdout);
        assert!(page.contains(says) && !page.contains(kept), "{page}");
    }
    for driver in ["uring", "poll"] {
        stands_still(driver);
    }
}

/// The generator is stalled, and the target is not. The plan cannot end before that: one of the connections is only
/// established then. Deadlines in such a stall, and late messages, are tested in the simulator.
fn stands_still(driver: &str) {
    let served = Served::start();
    let relay = Relay::start(&address(&served), 19);
    let ws = format!("ws://{}/", relay.address);
    let words =
        ["hold", "-c", "20", "--hold", "200ms", "--every", "20ms", "-d", "hi", "--output", "json", "--driver", driver];
    let mut command = onrush(&[&words[..], &PATIENT, &[&ws]].concat());
    // In a group of its own: a signal that stops and continues the whole group of this test does not end the stop that
    // is meant here.
    let run = ChildGuard::start(command.process_group(0).stdout(Stdio::piped()));
    let talks = |name: &str| stats(&served)["long_connections"][name].as_u64().unwrap_or(0);
    wait_for("nineteen are there and speak", || talks("open") == 19 && talks("messages") >= 190);
    signal(&run.0, "-STOP");
    wait_for("it stands still", || is_stopped(&run.0));
    relay.release();
    // By the clock of the target it is stalled for 300 ms: by then each of the nineteen has missed fourteen turns or
    // more by over 10 ms.
    ask(&served, "GET", "/delay/300");
    signal(&run.0, "-CONT");
    let held = report(&run.output());
    let (messages, connections) = (&held["messages"], &held["connections"]);
    assert_eq!((&messages["unanswered"], &connections["lost"]), (&0.into(), &0.into()), "{held:#}");
    assert_eq!((&held["verdict"]["is_unreliable"], &connections["closed"]), (&true.into(), &20.into()), "{held:#}");
    assert!(messages["late"].as_u64() >= Some(19 * 14), "{held:#}");
    let verdicts = held["verdict"]["text"].to_string();
    assert!(
        verdicts.contains("the generator was late: the loop of thread") && !verdicts.contains("kept: "),
        "{held:#}"
    );
    assert_eq!(wrong_in(&held), Vec::<String>::new());
}

/// Whether all threads of a process are stopped.
fn is_stopped(child: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it is there").flatten();
    let states = threads.map(|thread| std::fs::read_to_string(thread.path().join("stat")).expect("it is there"));
    states.into_iter().all(|state| state.contains(") T "))
}

/// The number in the name when the tests run at full length, else a tenth of it: the memory of each connection is the
/// same.
#[test]
fn a_hundred_thousand_are_held() {
    let parts = if claims::seeds::is_long() { 10 } else { 1 };
    let (few, many) = (2_000 * parts, 10_000 * parts);
    for (is_ws, words, bytes) in [(false, &["-d", "ping", "--read-bytes", "4"][..], 256), (true, &[], 512)] {
        let served = Served::with(&["--tcp", "0"]);
        let url = if is_ws { format!("ws://{}/", address(&served)) } else { tcp_of(&served) };
        // One-time costs come with the first connections.
        let first = held_all(&served, &url, few, words);
        let before = json_at(&address(&served), "/stats")["memory"]["resident_bytes"].as_u64().expect("a number");
        let all = held_all(&served, &url, many, words);
        assert!(all.theirs > before, "{} bytes of the target with all, {before} with few", all.theirs);
        let ours = all.ours.saturating_sub(first.ours) / (many - few);
        let theirs = all.theirs.saturating_sub(before) / (many - few);
        // The io_uring rings that were added for the last of them are half empty; a million have no more than `bytes`
        // each (`cargo xtask million`).
        let bytes = 2 * bytes;
        assert!(ours <= bytes, "{url}: {ours} bytes of the client for each connection");
        assert!(theirs <= bytes, "{url}: {theirs} bytes of the target for each connection");
    }
}

/// The memory of this many connections.
struct Takes {
    ours: u64,
    theirs: u64,
}

/// Holds `count` connections until all are open, reads the memory of both ends, and closes them.
fn held_all(served: &Served, url: &str, count: u64, words: &[&str]) -> Takes {
    let folder = Folder::new(&format!("hold-{count}-{}", served.child.id()));
    let (file, connections) = (folder.path("held.json"), count.to_string());
    let common = ["hold", "-c", &connections, "--hold", "1h", "--every", "10s", "--interval", "100ms", "--json", &file];
    let paged = Paged::start(&[&common[..], &PATIENT, words, &["--web", url]].concat());
    wait_for("all are there", || paged.get("/api/run")["live"]["hold"]["open"] == count);
    let at = address(served);
    let mut theirs = 0;
    wait_for("a whole answer", || {
        let seen = requested_json(&at, "/stats");
        theirs = seen.and_then(|seen| seen["memory"]["resident_bytes"].as_u64()).unwrap_or(0);
        theirs > 0
    });
    let conns = requested_json(&at, "/conns");
    assert!(conns.is_none_or(|seen| seen["conns"] == count), "the target has all of them");
    let held = ended(paged, &file);
    let [established, closed, lost] =
        ["established", "closed", "lost"].map(|name| held["connections"][name].as_u64().expect("a number"));
    assert_eq!((established, closed, lost), (count, count, 0), "{held:#}");
    Takes { ours: held["memory"]["resident_bytes"].as_u64().expect("a number"), theirs }
}

#[test]
fn mistakes_of_hold_and_doctor_are_named() {
    let dead = closed_port();
    let nobody = format!("ws://127.0.0.1:{dead}/");
    let cases: [(&[&str], i32, &str, &str); 7] = [
        (&["hold"], 2, "no URL given", "没有给出 URL"),
        (&["hold", "grpc://127.0.0.1:1"], 2, "shares connections", "由 HTTP/2 共用"),
        (&["hold", "--every", "1s", "--once", "ws://127.0.0.1:1"], 2, "leave one of them out", "请去掉其中一个"),
        (&["hold", "-c", "0", "ws://127.0.0.1:1"], 2, "-c wants a whole number", "-c 的值"),
        (&["hold", "-c", "5", &nobody], 3, "none of 5 connections", "5 次连接"),
        (
            &["hold", "--source-ip", "192.0.2.1", "ws://127.0.0.1:1"],
            4,
            "not an address of this machine",
            "不是本机地址",
        ),
        (&["doctor", "-c", "many"], 2, "-c wants a whole number", "-c 的值"),
    ];
    for (words, code, en, zh) in cases {
        for (language, says) in [("en", en), ("zh", zh)] {
            let run = output(&[words, &["--lang", language]].concat());
            let said = text(&run.stderr);
            assert_eq!(run.status.code(), Some(code), "{words:?}: {said}");
            assert!(said.contains(says), "{words:?} {language}: {said}");
        }
    }
    let page = text(&output(&["doctor", "--server", "-c", "50000", "--lang", "zh"]).stdout);
    assert!(page.contains("tcp_tw_recycle") && page.contains("作为服务端接受的连接"), "{page}");
}
