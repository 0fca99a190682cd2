//! `onrush bus`: what it prints is enough for workers and for who leads.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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

/// A bus, and the address that it printed.
fn begun(words: &[&str], files: &Folder) -> (Child, String) {
    let mut child = bus(words).env("TMPDIR", &files.0).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let site = line.split('\'').nth(1).unwrap_or_else(|| panic!("{line}")).to_owned();
    assert!(line.contains("onrush worker --join"), "{line}");
    (child, site)
}

fn is_used(site: &str) {
    let server = Served::start();
    let _workers = [Worker::joins(site, "one"), Worker::joins(site, "two")];
    let words = ["-n", "100", "-c", "4", "--cluster", site, "--workers", "2", &server.url("/delay/1")];
    assert_eq!((started(&run(&words)), server_count(&server)), (100, 100));
}

fn ends(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_bus_of_its_own() {
    let files = Folder::new("own-bus");
    let (child, site) = begun(&[], &files);
    is_used(&site);
    let stranger = site.replace("onrush:", "onrush:x");
    let done = onrush(&["worker", "--join", &stranger]).output().expect("it starts");
    assert!(text(&done.stderr).contains("refuses us"), "{done:?}");
    ends(child);
    let left = || std::fs::read_dir(&files.0).expect("a folder").flatten().map(|file| file.path()).collect::<Vec<_>>();
    assert_eq!(left(), Vec::<std::path::PathBuf>::new(), "nothing is left");

    // In a folder that stays, the password does too.
    let kept = files.of("kept");
    let password = |site: &str| site.split(['/', ':', '@']).nth(4).map(str::to_owned);
    let sites = [(), ()].map(|()| {
        let (child, site) = begun(&["--dir", &kept], &files);
        ends(child);
        site
    });
    assert_eq!(password(&sites[0]), password(&sites[1]), "{sites:?}");
}

#[test]
fn a_bus_of_its_own_with_tls() {
    let files = certificates("own-bus-tls");
    let [ca, cert, key] = ["ca.pem", "server.pem", "server.key"].map(|name| files.of(name));
    let (child, site) = begun(&["--cert", &cert, "--key", &key, "--cacert", &ca], &files);
    let (before, after) = site.split_once('@').expect("a host");
    let port = after.split([':', '/']).nth(1).expect("a port");
    assert!(before.starts_with("tls://") && after.ends_with("/shop?cert=FILE&key=FILE"), "{site}");
    let own = format!("ca={ca}&cert={}&key={}", files.of("client.pem"), files.of("client.key"));
    is_used(&format!("{before}@localhost:{port}/shop?{own}"));
    ends(child);
}

/// What does not go is said, in both languages, and nothing is left.
#[test]
fn what_does_not_go_is_said() {
    let files = Folder::new("own-bus-said");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let nothing = files.of("nothing");
    std::fs::write(&nothing, "nothing").expect("a file");
    let cases: [(&[&str], &str, &str); 5] = [
        (&["--listen", "nowhere"], "--listen wants", "--listen 需要"),
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
