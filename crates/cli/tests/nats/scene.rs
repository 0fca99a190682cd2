//! A cluster on machines of a network, a load on it, and its results, compared with what the target saw.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::binary::{onrush, report, text};
use super::bus::NatsServer;
use super::net::Net;
use super::seen::wait_for;
use super::target::{Target, Truth};
use super::{Worker, of_workers, started};

pub(crate) const BUS: usize = 1;
pub(crate) const TARGET: usize = 2;
pub(crate) const LEADER: usize = 3;
pub(crate) const STANDBY: usize = 4;
pub(crate) const FIRST: usize = 5;

pub(crate) const RATE: u64 = 300;
/// The lateness from which on a start counts as one of a burst.
pub(crate) const LATE: Duration = Duration::from_secs(3);
/// The largest difference between the starts of workers, on a network of this machine.
pub(crate) const TOGETHER: Duration = Duration::from_millis(5);
/// Rows by several clocks may differ by the starts of this fraction of a second.
pub(crate) const ROW_SLACK: u64 = RATE / 5;

/// The token of the leader's page.
pub(crate) const TOKEN: &str = "a-token-of-the-tests";

/// A cluster with a running load.
pub(crate) struct Scene {
    pub(crate) net: Arc<Net>,
    pub(crate) bus: NatsServer,
    pub(crate) target: Target,
    pub(crate) folder: PathBuf,
    pub(crate) seconds: u64,
    pub(crate) workers: Vec<Worker>,
    pub(crate) leader: Option<Child>,
}

impl Scene {
    /// Workers, and a load on all of them that has begun.
    pub(crate) fn begun(name: &str, workers: usize, seconds: u64, words: &[&str]) -> Self {
        let mut scene = Self::prepared(name, workers, seconds);
        scene.leads(words);
        scene.has_begun();
        scene
    }

    pub(crate) fn prepared(name: &str, workers: usize, seconds: u64) -> Self {
        Self::with(name, workers, seconds, |net, host| NatsServer::on(net, host, &[]))
    }

    /// The same on a given kind of bus, which is started on a machine.
    pub(crate) fn with(name: &str, workers: usize, seconds: u64, bus: impl Fn(&Arc<Net>, usize) -> NatsServer) -> Self {
        let net = Arc::new(Net::new(FIRST + 6));
        let folder = std::env::temp_dir().join(format!("onrush-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let rows: String = (0..seconds * RATE).map(|number| format!("{number}\n")).collect();
        fs::write(folder.join("rows.csv"), format!("n\n{rows}")).expect("a file");
        let bus = bus(&net, BUS);
        let target = Target::on(&net, TARGET);
        let load = format!(
            "target: {}\ndata:\n  rows: {{file: rows.csv, order: sequential, sharing: split, on_end: stop}}\n\
             scenarios:\n  all:\n    load: {{rate: {RATE}/s, for: {seconds}s}}\n    steps:\n      - get: /${{rows.n}}\n",
            target.url
        );
        fs::write(folder.join("load.yaml"), load).expect("a file");
        let mut scene = Self { net, bus, target, folder, seconds, workers: Vec::new(), leader: None };
        (0..workers).for_each(|_| scene.joins());
        scene
    }

    /// Adds a worker.
    pub(crate) fn joins(&mut self) {
        self.joins_with_clock(0);
    }

    /// Adds a worker whose clock is ahead of those of the others by this many seconds.
    pub(crate) fn joins_with_clock(&mut self, ahead: u64) {
        let host = FIRST + self.workers.len();
        let (site, name) = (self.bus.site("faults"), self.net.address(host));
        let journal = self.journal_of(host).display().to_string();
        let mut worker = onrush(&["worker", "--join", &site, "--name", &name, "--threads", "1", "--journal", &journal]);
        if ahead > 0 {
            let mut shifted = Command::new("unshare");
            shifted.args(["--time", "--monotonic", &ahead.to_string(), "--boottime", &ahead.to_string()]);
            shifted.arg(worker.get_program()).args(worker.get_args());
            worker = shifted;
        }
        let reported = fs::File::create(self.reported_file(self.workers.len())).expect("a file");
        let worker = self.net.on(host, &worker).stdout(Stdio::null()).stderr(reported).spawn();
        self.workers.push(Worker(worker.expect("it starts")));
    }

    /// The journal folder of a machine.
    pub(crate) fn journal_of(&self, host: usize) -> PathBuf {
        self.folder.join(format!("rings-{host}"))
    }

    fn reported_file(&self, worker: usize) -> PathBuf {
        self.folder.join(format!("told-{worker}"))
    }

    /// The output of a worker for its user.
    pub(crate) fn reported(&self, worker: usize) -> String {
        fs::read_to_string(self.reported_file(worker)).expect("a file")
    }

    pub(crate) fn leads(&mut self, words: &[&str]) {
        self.leader = Some(self.leads_on(LEADER, words));
    }

    pub(crate) fn leads_on(&self, host: usize, words: &[&str]) -> Child {
        self.leads_by(&self.bus.site("faults"), host, words)
    }

    pub(crate) fn leads_by(&self, site: &str, host: usize, words: &[&str]) -> Child {
        let load = self.folder.join("load.yaml").display().to_string();
        let count = self.workers.len().to_string();
        let journal = self.journal_of(host).display().to_string();
        let own = ["run", &load, "--output", "json", "--cluster", site, "--workers", &count, "--journal", &journal];
        let mut leads = self.net.on(host, &onrush(&[&own[..], words].concat()));
        leads.env("ONRUSH_WEB_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    pub(crate) fn has_begun(&self) {
        wait_for("the load begins", || self.target.count() as u64 > RATE);
    }

    pub(crate) fn address(&self, worker: usize) -> String {
        self.net.address(FIRST + worker)
    }

    pub(crate) fn bus_address(&self) -> String {
        self.net.address(BUS)
    }

    /// Waits for the end: compares the planned, started and missing starts of the report with each number that came.
    pub(crate) fn judged(mut self) -> (Judged, Value) {
        self.judged_of()
    }

    /// The same, and the scene stays.
    pub(crate) fn judged_of(&mut self) -> (Judged, Value) {
        let leader = self.leader.take().expect("it leads");
        self.judged_by(leader)
    }

    /// The same, with the leader at the end.
    pub(crate) fn judged_by(&self, leader: Child) -> (Judged, Value) {
        let done = leader.wait_with_output().expect("it ends");
        assert!(matches!(done.status.code(), Some(0 | 1)), "{}", text(&done.stderr));
        let report = report(&done);
        let judged = Judged::new(&report, &self.target, self.seconds * RATE);
        self.journals_agree(&report, &judged);
        (judged, report)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some(leader) = &mut self.leader {
            // It may have ended by itself.
            let _ = leader.kill();
            let _ = leader.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it is there");
}

/// The starts of each worker that has any: a worker that came back is listed once per incarnation.
pub(crate) fn started_by(report: &Value) -> BTreeMap<String, u64> {
    let mut of: BTreeMap<String, u64> = BTreeMap::new();
    for each in report["workers"]["list"].as_array().expect("workers") {
        let name = each["name"].as_str().expect("a name").to_owned();
        *of.entry(name).or_default() += each["started"].as_u64().expect("a number");
    }
    of.retain(|_, started| *started > 0);
    of
}

/// The accounting, compared with what the target saw.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) started: u64,
    pub(crate) undelivered: u64,
    pub(crate) unknown: u64,
    /// Planned starts that the target did not see.
    pub(crate) missing: Vec<u64>,
}

impl Judged {
    /// Invariants of every run: nothing came twice or late, and each start is accounted for once.
    pub(crate) fn new(report: &Value, target: &Target, planned: u64) -> Self {
        let truth = Truth::new(&target.came(), RATE);
        let (started, workers) = (started(report), &report["workers"]);
        let (undelivered, unknown) = (of_workers(report, "undelivered"), of_workers(report, "unaccounted"));
        let judged = Self { started, undelivered, unknown, missing: truth.missing(planned) };
        let came = truth.numbers.len() as u64;
        let shown = format!("{started} + {undelivered} + {unknown} of {planned}, {came} came: {workers:#}");
        assert_eq!(truth.twice, Vec::<u64>::new(), "{shown}");
        assert!(truth.latest < LATE, "{:?} late: {shown}", truth.latest);
        // Unreported starts of a killed worker may lie between two rows.
        let slack = if unknown > 0 { 2 } else { 0 };
        assert!(planned.abs_diff(started + undelivered + unknown) <= slack, "{shown}");
        assert!((started..=started + unknown + slack).contains(&came), "{shown}");
        claims::as_one(|| {
            if unknown == 0 {
                assert_eq!(truth.of, started_by(report), "{shown}");
                judged.rows_agree(report);
            }
        });
        judged
    }

    /// Second by second: the starts in the rows by then have come.
    fn rows_agree(&self, report: &Value) {
        let mut reported = 0;
        for row in report["intervals"].as_array().expect("rows") {
            reported += row["started"].as_u64().expect("a number");
            let due = (row["to_s"].as_f64().expect("a time") * RATE as f64).round() as u64;
            let came = due - self.missing.iter().filter(|number| **number < due).count() as u64;
            assert!(came.abs_diff(reported) <= ROW_SLACK, "{reported} and {came} by {}: {row}", row["to_s"]);
        }
        assert_eq!(reported, self.started);
    }
}
