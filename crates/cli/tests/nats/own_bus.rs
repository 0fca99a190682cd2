//! `onrush bus`: its output is enough for workers and for the leader.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::binary::{Served, onrush, text};
use super::bus::path_with_server;
use super::folder::Folder;
use super::tls::certificates;
use super::{Worker, run, server_count, started};

fn bus(words: &[&str]) -> Command {
    let listen: &[&str] = if words.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
    let mut bus = onrush(&[&["bus", "--name", "shop"], listen, words].concat());
    bus.env("PATH", path_with_server()).stderr(Stdio::piped());
    bus
}

/// The addresses that a bus prints: for workers, and for the leader.
struct Sites {
    join: String,
    lead: String,
}

/// A bus, and the addresses that it printed.
fn begun(words: &[&str], files: &Folder) -> (Child, Sites) {
    let mut child = bus(words).env("TMPDIR", &files.0).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut site = |command: &str| {
        let line = lines.next().expect("a line").expect("a line");
        assert!(line.contains(command), "{line}");
        line.split('\'').nth(1).unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let sites = Sites { join: site("onrush worker --join"), lead: site("onrush --cluster") };
    (child, sites)
}

fn is_used(sites: &Sites) {
    is_used_with(sites, &[]);
}

fn is_used_with(sites: &Sites, more: &[&str]) {
    let server = Served::start();
    let _workers = [Worker::joins(&sites.join, "one"), Worker::joins(&sites.join, "two")];
    let words = ["-n", "100", "-c", "4", "--cluster", &sites.lead, "--workers", "2", &server.url("/delay/1")];
    assert_eq!((started(&run(&[&words[..], more].concat())), server_count(&server)), (100, 100));
}

/// User, password and address of a URL.
fn parts(site: &str) -> [&str; 3] {
    let (_, rest) = site.split_once("://").expect("a scheme");
    let (user, rest) = rest.split_once(':').expect("a user");
    let (password, rest) = rest.split_once('@').expect("a password");
    [user, password, rest.split('/').next().expect("an address")]
}

/// The reply to a request.
fn response(site: &str, subject: &str, payload: &str) -> String {
    let length = payload.len();
    let said = format!("SUB _INBOX.own 1\r\nPUB {subject} _INBOX.own {length}\r\n{payload}");
    let mut lines = reported(site, &said);
    lines.find(|line| line.starts_with("MSG")).expect("an answer");
    lines.next().expect("an answer")
}

/// The server's reply to this input, in the NATS protocol.
fn says(site: &str, said: &str) -> String {
    let all: Vec<String> = reported(site, said).take_while(|line| line != "PONG").collect();
    all[1..].join("\n")
}

/// The received lines.
fn reported(site: &str, said: &str) -> impl Iterator<Item = String> {
    let [user, password, address] = parts(site);
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
    let hello = format!("CONNECT {{\"verbose\":false,\"user\":\"{user}\",\"pass\":\"{password}\"}}\r\n");
    write!(stream, "{hello}{said}\r\nPING\r\n").expect("it takes it");
    BufReader::new(stream).lines().map(|line| line.expect("a line"))
}

fn ends(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_bus_of_its_own() {
    let files = Folder::new("own-bus");
    let (child, sites) = begun(&[], &files);
    is_used(&sites);
    let unconsented_host = sites.join.replace("worker:", "worker:x");
    let done = onrush(&["worker", "--join", &unconsented_host]).output().expect("it starts");
    assert!(text(&done.stderr).contains("refuses us"), "{done:?}");
    ends(child);
    let left = || std::fs::read_dir(&files.0).expect("a folder").flatten().map(|file| file.path()).collect::<Vec<_>>();
    assert_eq!(left(), Vec::<std::path::PathBuf>::new(), "nothing is left");

    // In a permanent folder, the password is kept too.
    let kept = files.path("kept");
    let passwords = [(), ()].map(|()| {
        let (child, sites) = begun(&["--dir", &kept], &files);
        ends(child);
        [&sites.join, &sites.lead].map(|site| parts(site)[..2].join(":"))
    });
    assert_eq!(passwords[0], passwords[1]);
    assert_ne!(passwords[0][0], passwords[0][1]);
}

/// With the address of a worker one can report, and nothing else: not lead, not assign work, and not read the reports
/// of others.
#[test]
fn a_worker_commands_nobody() {
    let files = Folder::new("own-bus-worker");
    let (child, sites) = begun(&[], &files);
    // A worker that waits for a leader ends on request.
    let mut waits = onrush(&["worker", "--join", &sites.join]).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = String::new();
    BufReader::new(waits.stderr.take().expect("a pipe")).read_line(&mut said).expect("a line");
    assert!(said.contains("waits for the leader"), "{said}");
    kill_process(Pid::from_child(&waits), Signal::TERM).expect("it is there");
    assert_eq!(waits.wait().expect("it ends").code(), Some(130));
    is_used(&sites);
    let server = Served::start();
    for (language, said) in [("en", "does not allow this"), ("zh", "不允许此操作")] {
        let words = ["--lang", language, "-n", "9", "--cluster", &sites.join, &server.url("/delay/1")];
        let done = onrush(&words).output().expect("it starts");
        assert!(done.status.code() == Some(4) && text(&done.stderr).contains(said), "{done:?}");
        // It is valid for workers of one cluster only.
        let other = sites.join.replace("/shop", "/bank");
        let done = onrush(&["worker", "--lang", language, "--join", &other]).output().expect("it starts");
        assert!(!done.status.success() && text(&done.stderr).contains(said), "{done:?}");
    }
    assert_eq!(server_count(&server), 0);
    let denied = [
        "PUB $KV.onrush_shop.state 1\r\nx",
        "PUB $KV.onrush_shop.leader 1\r\nx",
        "PUB onrush.shop.leads 1\r\nx",
        "PUB onrush.there.0000000000000001 1\r\nx",
        "PUB $O.onrush_shop_packets.C.x 1\r\nx",
        "PUB $JS.API.STREAM.PURGE.onrush_shop_news 0\r\n",
        "PUB $JS.API.STREAM.DELETE.KV_onrush_shop 0\r\n",
        "PUB $JS.API.STREAM.UPDATE.onrush_shop_news 0\r\n",
        "PUB $JS.API.STREAM.CREATE.onrush_shop_news 0\r\n",
        "PUB $JS.API.DIRECT.GET.onrush_shop_news 0\r\n",
        "PUB $JS.API.CONSUMER.CREATE.onrush_shop_news.x 0\r\n",
        "SUB onrush.shop.news.* 1",
        "SUB onrush.lead.* 1",
        "SUB > 1",
    ];
    for said in denied {
        assert!(says(&sites.join, said).contains("Permissions Violation"), "{said}");
        // A leader may; harmful commands are skipped.
        if said.starts_with("SUB") || said.starts_with("PUB onrush") {
            assert_eq!(says(&sites.lead, said), "", "{said}");
        }
    }
    for said in ["PUB onrush.shop.news.0000000000000001 1\r\nx", "SUB onrush.shop.leads 1"] {
        assert_eq!(says(&sites.join, said), "", "{said}");
    }
    // Nor by the reply subject that it names.
    for api in ["$JS.API.INFO", "$JS.API.STREAM.INFO.KV_onrush_shop"] {
        for place in ["$KV.onrush_shop.state", "$KV.onrush_shop.leader", "$KV.onrush_shop.new", "onrush.shop.leads"] {
            says(&sites.join, &format!("PUB {api} {place} 0\r\n"));
        }
    }
    let seen = response(&sites.lead, "$JS.API.STREAM.INFO.KV_onrush_shop", "{\"subjects_filter\":\">\"}");
    assert!(seen.contains("$KV.onrush_shop.state"), "{seen}");
    assert!(!seen.contains("$KV.onrush_shop.new"), "{seen}");
    // None of that did any harm. A plan that is too large for one message comes in pieces.
    let body = files.path("body");
    std::fs::write(&body, vec![b'x'; 1 << 20]).expect("a file");
    is_used_with(&sites, &["-d", &format!("@{body}")]);
    ends(child);
}

#[test]
fn a_bus_of_its_own_with_tls() {
    let files = certificates("own-bus-tls");
    let [ca, cert, key] = ["ca.pem", "server.pem", "server.key"].map(|name| files.path(name));
    let (child, sites) = begun(&["--cert", &cert, "--key", &key, "--cacert", &ca], &files);
    let own = format!("ca={ca}&cert={}&key={}", files.path("client.pem"), files.path("client.key"));
    let here = |site: &str| {
        let (before, after) = site.split_once('@').expect("a host");
        let port = after.split([':', '/']).nth(1).expect("a port");
        assert!(before.starts_with("tls://") && after.ends_with("/shop?cert=FILE&key=FILE"), "{site}");
        format!("{before}@localhost:{port}/shop?{own}")
    };
    is_used(&Sites { join: here(&sites.join), lead: here(&sites.lead) });
    ends(child);
}

/// Impossible combinations are reported, in both languages, and nothing is left behind.
#[test]
fn what_does_not_go_is_said() {
    let files = Folder::new("own-bus-said");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let nothing = files.path("nothing");
    std::fs::write(&nothing, "nothing").expect("a file");
    let cases: [(&[&str], &str, &str); 5] = [
        (&["--listen", "nowhere"], "--listen wants", "--listen 的值"),
        (&["--listen", &taken], "address already in use", "nats-server 已退出"),
        (&["--key", "k.pem"], "need --cert", "需要同时给出 --cert"),
        (&["--cert", &nothing], "nats-server has ended", "nats-server 已退出"),
        (&["--dir", &nothing], "the bus cannot be set up", "无法准备总线"),
    ];
    for (words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let mut bus = bus(&[&["--lang", language], words].concat());
            let done = bus.env("TMPDIR", &files.0).output().expect("it starts");
            let said = text(&done.stderr);
            assert!(!done.status.success() && said.contains(says), "{words:?}: {said}");
        }
    }
    for (language, says) in [("en", "no nats-server"), ("zh", "找不到 nats-server")] {
        let done = bus(&["--lang", language]).env("PATH", &files.0).output().expect("it starts");
        assert!(text(&done.stderr).contains(says), "{done:?}");
    }
    let left = std::fs::read_dir(&files.0).expect("a folder").count();
    assert_eq!(left, 1, "nothing is left but the file of this test");
}
