//! Connections that workers on machines of their own hold together.

use std::process::{Child, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::binary::{onrush, report, text};
use super::bus::NatsServer;
use super::net::Net;
use super::seen::wait_for;
use super::{Worker, of_workers};

const BUS: usize = 1;
const TARGET: usize = 2;
const LEADER: usize = 3;
const FIRST: usize = 4;
const WORKERS: usize = 4;
/// The number of additional addresses of each machine.
const ADDRESSES: usize = 8;
/// The number of held connections, unless set: `ONRUSH_HELD=1000000`.
const HELD: u64 = 20_000;

/// Machines, a bus and a target, which end with the value.
struct Scene {
    net: Arc<Net>,
    bus: NatsServer,
    target: Worker,
    workers: Vec<Worker>,
}

impl Scene {
    fn prepared() -> Self {
        let net = Arc::new(Net::new(FIRST + WORKERS - 1));
        let bus = NatsServer::on(&net, BUS, &[]);
        let serve = onrush(&["serve", "--listen", &format!("{}:80", net.address(TARGET)), "--threads", "1"]);
        let target = net.on(TARGET, &serve).stdout(Stdio::null()).spawn();
        let mut scene = Self { net, bus, target: Worker(target.expect("it starts")), workers: Vec::new() };
        for host in FIRST..FIRST + WORKERS {
            scene.net.has_many_addresses(host, ADDRESSES);
            let (site, name) = (scene.bus.site("held"), format!("machine-{host}"));
            let words = ["worker", "--join", &site, "--name", &name, "--threads", "1", "--quiet"];
            let worker = scene.net.on(host, &onrush(&words)).stdout(Stdio::null()).spawn();
            scene.workers.push(Worker(worker.expect("it starts")));
        }
        scene
    }

    fn holds(&self, connections: u64, words: &[&str]) -> Child {
        let (site, url) = (self.bus.site("held"), format!("ws://{}/", self.net.address(TARGET)));
        let (count, workers) = (connections.to_string(), WORKERS.to_string());
        let own = ["hold", "-c", &count, "--source-ip", "auto", "--cluster", &site, "--workers", &workers];
        let all = [&own[..], &["--output", "json"], words, &[&url]].concat();
        let mut leads = self.net.on(LEADER, &onrush(&all));
        leads.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// Long connections that the target has open.
    fn open(&self) -> u64 {
        let mut ask = std::process::Command::new("curl");
        ask.args(["-s", &format!("http://{}/conns", self.net.address(TARGET))]);
        let said = self.net.on(LEADER, &ask).output().expect("curl").stdout;
        let said: Value = serde_json::from_slice(&said).unwrap_or_default();
        said["conns"].as_u64().unwrap_or_default()
    }
}

fn number(report: &Value, path: &str) -> u64 {
    report.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {report:#}"))
}

/// All are open at one time, evenly from all machines, each message has a response, and none is lost.
#[test]
fn four_machines_hold_together() {
    let wanted = std::env::var("ONRUSH_HELD").ok().and_then(|text| text.parse().ok()).unwrap_or(HELD);
    let scene = Scene::prepared();
    let child = scene.holds(wanted, &["--ramp", "9000/s", "--hold", "10s", "--every", "60s"]);
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let report = report(&done);
    assert_eq!(number(&report, "/connections/most_open"), wanted, "{report:#}");
    assert_eq!(number(&report, "/connections/closed"), wanted);
    assert_eq!(number(&report, "/messages/answered"), number(&report, "/messages/due"));
    let each = report["workers"]["list"].as_array().expect("workers");
    let established: Vec<u64> = each.iter().filter_map(|each| each["started"].as_u64()).collect();
    assert_eq!((established.len(), established.iter().sum::<u64>()), (WORKERS, wanted));
    let (least, most) = (established.iter().min(), established.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most - least <= wanted / 4_096 + 1), "{established:?}");
    assert_eq!(scene.open(), 0, "nothing is left");
}

/// A lost machine takes its connections with it: they are reported, and the others hold theirs.
#[test]
fn a_worker_that_is_killed_is_reported() {
    let mut scene = Scene::prepared();
    let child = scene.holds(4_000, &["--hold", "12s"]);
    wait_for("all are open", || scene.open() == 4_000);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    drop(scene.workers.pop());
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    let report = report(&done);
    let unknown = of_workers(&report, "unaccounted");
    assert!((999..=1_001).contains(&unknown), "{unknown}");
    assert_eq!(number(&report, "/connections/closed"), 4_000 - unknown, "{:#}", report["workers"]);
    assert_eq!((number(&report, "/connections/lost"), &report["verdict"]["is_kept"]), (0, &false.into()));
    assert!(report["verdict"]["text"].as_str().is_some_and(|text| text.contains("1 of 4 workers was lost")));
}

/// Connections being opened when a machine is lost are unaccounted for, too: each connection is in the report once.
#[test]
fn a_worker_that_is_killed_while_it_opens_is_reported() {
    let mut scene = Scene::prepared();
    let child = scene.holds(4_000, &["--ramp", "800/s", "--hold", "3s"]);
    wait_for("some are open", || scene.open() > 1_200);
    drop(scene.workers.pop());
    let report = report(&child.wait_with_output().expect("it ends"));
    let all = ["failed", "lost", "closed", "closed_without_answer", "abandoned"];
    let all: u64 = all.iter().map(|name| number(&report, &format!("/connections/{name}"))).sum();
    assert_eq!(all + of_workers(&report, "unaccounted"), 4_000, "{report:#}");
    let verdict = report["verdict"]["text"].as_str().expect("a text");
    assert!(verdict.contains("nobody knows what became"), "{verdict}");
}

/// A worker that leaves closes its own, and reports that; the others hold theirs for the planned time.
#[test]
fn a_worker_that_leaves_closes_its_own() {
    let scene = Scene::prepared();
    let child = scene.holds(4_000, &["--hold", "10s"]);
    wait_for("all are open", || scene.open() == 4_000);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    kill_process(Pid::from_child(&scene.workers[0].0), Signal::INT).expect("it is there");
    let report = report(&child.wait_with_output().expect("it ends"));
    assert_eq!((of_workers(&report, "unaccounted"), number(&report, "/connections/closed")), (0, 4_000), "{report:#}");
    let [opened, closing] = ["opened_after_s", "closing_after_s"].map(|name| report[name].as_f64().expect("a number"));
    assert!((9.9..=11.0).contains(&(closing - opened)), "{opened} to {closing}");
}

/// A worker that was cut off closes its connections when they are no longer counted on, and reports that as soon as it
/// can.
#[test]
fn a_worker_that_was_cut_off_tells_later() {
    let scene = Scene::prepared();
    let child = scene.holds(4_000, &["--hold", "20s", "--every", "1s"]);
    wait_for("all are open", || scene.open() == 4_000);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    scene.net.cut_from(FIRST, &scene.net.address(BUS));
    std::thread::sleep(std::time::Duration::from_secs(9));
    scene.net.mend_to(FIRST, &scene.net.address(BUS));
    let report = report(&child.wait_with_output().expect("it ends"));
    assert_eq!(
        (of_workers(&report, "unaccounted"), of_workers(&report, "unaccounted_responses")),
        (0, 0),
        "{report:#}"
    );
    assert_eq!(number(&report, "/connections/closed"), 4_000, "{report:#}");
    assert_eq!(number(&report, "/messages/answered"), number(&report, "/messages/sent"));
}

/// Ctrl-C closes all of them, everywhere.
#[test]
fn a_hold_that_is_stopped_closes_all() {
    let scene = Scene::prepared();
    let child = scene.holds(2_000, &["--hold", "60s"]);
    wait_for("all are open", || scene.open() == 2_000);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert_eq!(number(&report(&done), "/connections/closed"), 2_000);
    wait_for("all are closed", || scene.open() == 0);
    assert!(scene.target.0.id() > 0);
}
