//! One load from workers of many machines: on a NATS bus, with a real server and with faults of it and of them, and
//! over ssh.

#[macro_use]
extern crate claims;

#[path = "../authority/mod.rs"]
mod authority;
#[path = "../binary/mod.rs"]
mod binary;
mod bus;
mod changes;
mod faults;
mod folder;
mod held;
mod journals;
mod net;
mod own_bus;
mod scene;
#[path = "../seen/mod.rs"]
mod seen;
mod ssh;
mod target;
mod tls;
mod way;

use std::process::{Child, Stdio};
use std::time::Duration;

use binary::{Served, onrush, output, report, text};
use bus::NatsServer;
use seen::{stats, wait_for};
use serde_json::Value;

/// A worker of a cluster; it ends with the value.
struct Worker(Child);

impl Worker {
    fn joins(site: &str, name: &str) -> Self {
        let words = ["worker", "--join", site, "--name", name, "--threads", "1", "--quiet"];
        Self(onrush(&words).stdout(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn workers(site: &str, count: usize) -> Vec<Worker> {
    (1..=count).map(|number| Worker::joins(site, &format!("worker-{number}"))).collect()
}

fn run(words: &[&str]) -> Value {
    let done = output(&[&["--output", "json"], words].concat());
    assert!(matches!(done.status.code(), Some(0 | 1)), "{words:?}: {done:?}");
    report(&done)
}

fn started(report: &Value) -> u64 {
    report["requests"]["started"].as_u64().expect("a number")
}

fn of_workers(report: &Value, name: &str) -> u64 {
    report["workers"][name].as_u64().unwrap_or_else(|| panic!("{name}: {report:#}"))
}

/// Requests that the server had on a path.
fn server_count(server: &Served) -> u64 {
    let stats = stats(server);
    let all = stats["requests_by_path"].as_object().expect("an object");
    all.iter().filter(|(path, _)| path.starts_with("/delay")).filter_map(|(_, count)| count.as_u64()).sum()
}

/// Three start what one starts, and stay for the next run.
#[test]
fn three_do_what_one_does_and_stay() {
    let (bus, alone) = (NatsServer::start(&[]), Served::start());
    let words = ["--rate", "600", "--arrivals", "poisson", "-z", "3s"];
    let one = run(&[&words[..], &[&alone.url("/delay/2")]].concat());
    let site = bus.site("three");
    let _workers = workers(&site, 3);
    for _ in 0..2 {
        let server = Served::start();
        let three = run(&[&words[..], &["--cluster", &site, "--workers", "3", &server.url("/delay/2")]].concat());
        assert_eq!(three["workers"]["list"].as_array().map(Vec::len), Some(3), "{three:#}");
        assert_eq!((started(&three), server_count(&server)), (started(&one), started(&one)));
        assert_eq!((of_workers(&three, "undelivered"), of_workers(&three, "unaccounted")), (0, 0));
    }
}

/// Causes an event after a load has begun: returns the report, and what the target saw.
fn with(bus: &mut NatsServer, words: &[&str], happens: impl FnOnce(&mut NatsServer, &mut Vec<Worker>)) -> (Value, u64) {
    let (site, server) = (bus.site("faults"), Served::start());
    let mut processes = workers(&site, 3);
    let url = server.url("/delay/2");
    let all = [&["--output", "json", "--cluster", &site, "--workers", "3"], words, &[&url]].concat();
    let leads = onrush(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for("the load begins", || server_count(&server) > 300);
    happens(bus, &mut processes);
    let done = leads.wait_with_output().expect("it ends");
    assert!(matches!(done.status.code(), Some(0 | 1)), "{done:?}");
    (report(&done), server_count(&server))
}

#[test]
fn a_worker_that_is_killed() {
    let mut bus = NatsServer::start(&[]);
    let (report, really) = with(&mut bus, &["--rate", "300", "-z", "16s"], |_, processes| drop(processes.pop()));
    let started = started(&report);
    let (undelivered, unknown) = (of_workers(&report, "undelivered"), of_workers(&report, "unaccounted"));
    let all = started + undelivered + unknown;
    assert!((4_798..=4_800).contains(&all), "{started} + {undelivered} + {unknown}");
    // Detected within its lease and moved soon after: a third of 300/s for ten seconds at the most.
    assert!((100..=1_000).contains(&undelivered), "{undelivered}");
    assert!(unknown <= 300, "{unknown}");
    assert!((started..=started + unknown + 2).contains(&really), "{really}: {started} + {unknown}");
}

/// The server is gone for two seconds: only an observer of the server notices.
#[test]
fn a_bus_that_is_killed_and_comes_back() {
    let mut bus = NatsServer::start(&[]);
    let (report, really) = with(&mut bus, &["--rate", "300", "-z", "12s"], |bus, _| {
        bus.kill();
        std::thread::sleep(Duration::from_secs(2));
        bus.begin();
    });
    assert_eq!((started(&report), really), (3_600, 3_600), "{:#}", report["workers"]);
    assert_eq!((of_workers(&report, "undelivered"), of_workers(&report, "unaccounted")), (0, 0));
}

/// Impossible combinations are reported, in both languages.
#[test]
fn what_does_not_fit_is_said() {
    let (bus, server) = (NatsServer::start(&["--user", "ann", "--pass", "secret"]), Served::start());
    let site = bus.site("said");
    let nowhere = "nats://127.0.0.1:1/x";
    let cases: [(&[&str], &str, &str); 5] = [
        (&["--cluster", nowhere, &server.url], "cannot be reached", "无法连接总线"),
        (&["--cluster", &site, &server.url], "refuses us", "拒绝连接"),
        (&["--cluster", "nats://a/b/c", &server.url], "no address of a bus", "不是总线地址"),
        (&["worker", "--join", nowhere], "cannot be reached", "无法连接总线"),
        (&["worker", "--join", &site], "refuses us", "拒绝连接"),
    ];
    for (words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let done = onrush(words).args(["--lang", language]).output().expect("it starts");
            let said = text(&done.stderr);
            assert!(!done.status.success() && said.contains(says) && !said.contains("secret"), "{words:?}: {said}");
        }
    }
    // A password may contain special characters of a URL, percent-encoded.
    let odd = NatsServer::start(&["--user", "ann", "--pass", "a@b=="]);
    let spelled = odd.site("odd").replace("nats://", "nats://ann:a%40b==@");
    let _odd = Worker::joins(&spelled, "odd");
    assert_eq!(started(&run(&["-n", "5", "--cluster", &spelled, &server.url("/delay/1")])), 5);
    // The allowed hosts are the only ones, near or not.
    let only = odd.site("only").replace("nats://", "nats://ann:a%40b==@");
    let words = ["worker", "--join", &only, "--allow-host", "10.9.8.7", "--quiet"];
    let _only = Worker(onrush(&words).spawn().expect("it starts"));
    let done = output(&["--cluster", &only, "-n", "5", &server.url("/delay/1")]);
    assert!(!done.status.success() && text(&done.stderr).contains("only 10.9.8.7"), "{done:?}");
    let site = site.replace("nats://", "nats://ann:secret@");
    let words = ["worker", "--join", &site, "--allow-host", "10.9.8.7", "--quiet"];
    let _worker = Worker(onrush(&words).spawn().expect("it starts"));
    let done = output(&["--cluster", &site, "--allow-host", "192.0.2.1", "-n", "5", "http://192.0.2.1:9/"]);
    let said = text(&done.stderr);
    assert!(!done.status.success() && said.contains("10.9.8.7"), "{said}");
    assert_eq!(server_count(&server), 5, "nothing else was sent");
}
