//! The journals of workers and leaders: merged, they are what the target saw, whichever are left.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::binary::{onrush, output, report, text};
use super::scene::{FIRST, Judged, LEADER, RATE, Scene, signal};
use super::seen::wait_for;
use super::target::Truth;
use super::{of_workers, started};

/// The journals of some machines of a scene.
fn journals(scene: &Scene, hosts: impl Iterator<Item = usize>) -> Vec<String> {
    let of = |host: usize| -> Vec<PathBuf> {
        // A machine that never took part has none.
        let entries = fs::read_dir(scene.journal_of(host)).into_iter().flatten();
        entries.map(|entry| entry.expect("a folder").path()).collect()
    };
    hosts.flat_map(of).map(|path| path.display().to_string()).collect()
}

/// The report recovered from journals, with the messages.
fn imported(journals: &[String]) -> (Value, String) {
    let words: Vec<&str> = journals.iter().map(String::as_str).collect();
    let done = output(&[&["recover", "--output", "json"], &words[..]].concat());
    assert!(matches!(done.status.code(), Some(0 | 1)), "{words:?}: {done:?}");
    (report(&done), text(&done.stderr))
}

/// The same, when they are no longer being written.
pub(crate) fn imported_at_end(journals: &[String]) -> Value {
    let mut made = Value::Null;
    wait_for("the rings are whole", || {
        let (report, said) = imported(journals);
        made = report;
        !said.contains("still being written")
    });
    made
}

/// A report without what depends on the process that made it.
fn bare(report: &Value) -> Value {
    let mut report = report.clone();
    report["about"] = Value::Null;
    for of_process in ["resident_bytes", "process_cpu_user_s", "process_cpu_system_s"] {
        report["generator"][of_process] = Value::Null;
    }
    report["workers"]["ingest_delay_s"] = Value::Null;
    // The network link of the machine that it was made on.
    report["verdict"]["link"] = Value::Null;
    // Threads are in the order of their ends; so the busiest one is not compared.
    report["verdict"]["busiest_shard"] = Value::Null;
    for (text, thread) in [("text", "thread "), ("text_zh", "线程 ")] {
        let said = report["verdict"][text].as_str().unwrap_or_default();
        let numberless = |rest: &str| rest.trim_start_matches(|sign: char| sign.is_ascii_digit()).to_owned();
        let parts: Vec<String> = said.split(thread).map(numberless).collect();
        report["verdict"][text] = parts.join(thread).into();
    }
    if let Some(shards) = report["generator"]["shards"].as_array_mut() {
        shards.sort_by_key(Value::to_string);
    }
    report
}

/// The differences between two reports.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let below = |(name, one): (String, &Value), other: &Value| {
        let all = differences(one, other).into_iter();
        all.map(|found| format!("{name}.{found}")).collect::<Vec<_>>()
    };
    match (one, other) {
        (Value::Object(one), Value::Object(others)) if one.keys().eq(others.keys()) => {
            one.iter().flat_map(|(name, value)| below((name.clone(), value), &others[name])).collect()
        }
        (Value::Array(one), Value::Array(others)) if one.len() == others.len() => {
            let all = one.iter().zip(others).enumerate();
            all.flat_map(|(place, (value, other))| below((place.to_string(), value), other)).collect()
        }
        _ if one == other => Vec::new(),
        _ => vec![format!(": {one} and {other}")],
    }
}

/// The journals of all workers of a scene.
pub(crate) fn journals_of_workers(scene: &Scene) -> Vec<String> {
    journals(scene, scene.workers_hosts())
}

impl Scene {
    fn workers_hosts(&self) -> impl Iterator<Item = usize> + use<> {
        FIRST..FIRST + self.workers.len()
    }

    /// Compares the journals with the leader's report, and with what the target saw.
    pub(crate) fn journals_agree(&self, reported: &Value, judged: &Judged) {
        let planned = self.seconds * RATE;
        let of_workers_alone = journals_of_workers(self);
        let all = imported_at_end(&of_workers_alone);
        let own = Judged::new(&all, &self.target, planned);
        if judged.unknown == 0 {
            let same = |judged: &Judged| (judged.started, judged.undelivered, judged.unknown);
            assert_eq!(same(&own), same(judged), "{:#} and {:#}", all["workers"], reported["workers"]);
            for figures in ["requests", "times", "statuses", "failures", "bytes"] {
                assert_eq!(all[figures], reported[figures], "{figures}");
            }
        }
        // The leader knows which workers were declared lost, and when.
        let led = journals(self, LEADER..FIRST);
        if let [journal] = &led[..] {
            let both = imported_at_end(&[&of_workers_alone[..], std::slice::from_ref(journal)].concat());
            let both = Judged::new(&both, &self.target, planned);
            assert!(both.unknown <= judged.unknown && both.started >= judged.started, "{both:?} and {judged:?}");
        }
    }
}

/// Without faults a report that is recovered from journals is that of the leader, figure by figure and row by row, from
/// any set of journals; and so are its histograms, bucket by bucket.
#[test]
fn journals_make_the_same_report() {
    let mut scene = Scene::prepared("rings", 3, 6);
    let hdr = |name: &str| scene.folder.join(name).display().to_string();
    let (reported_by_leader, reported_by_journals) = (hdr("leader.hgrm"), hdr("rings.hgrm"));
    let judged = ["--threshold", "p99(response_time) < 1us", "--threshold", "failed / done < 1%"];
    scene.leads(&[&["--hdr", &reported_by_leader][..], &judged].concat());
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    let led = report(&done);
    assert_eq!(started(&led), 6 * RATE, "{:#}", led["workers"]);
    let (of_workers, of_leader) = (journals(&scene, scene.workers_hosts()), journals(&scene, LEADER..FIRST));
    assert_eq!((of_workers.len(), of_leader.len()), (3, 1));
    for journals in [&of_workers[..], &of_leader[..], &[&of_workers[..2], &of_leader[..]].concat()] {
        let made = imported_at_end(journals);
        assert_eq!(differences(&bare(&made), &bare(&led)), Vec::<String>::new());
    }
    let words: Vec<&str> = of_workers.iter().map(String::as_str).collect();
    let done = output(&[&["recover", "--quiet", "--hdr", &reported_by_journals], &words[..]].concat());
    // The thresholds are evaluated again.
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert_eq!(led["thresholds"].as_array().map(Vec::len), Some(2));
    let read = |path: &str| fs::read_to_string(path).expect("a file");
    assert_eq!(read(&reported_by_journals), read(&reported_by_leader));
    // A line of each interval with its histogram, after the times.
    let buckets = |path: &str| -> Vec<String> {
        let log = read(&path.replace(".hgrm", ".hlog"));
        let lines = log.lines().filter(|line| line.contains("HIST"));
        let all: Vec<String> = lines.map(|line| line.rsplit_once(',').expect("columns").1.to_owned()).collect();
        assert!(all.len() >= 6, "{log}");
        all
    };
    assert_eq!(buckets(&reported_by_journals), buckets(&reported_by_leader));
    let began = |report: &Value| report["about"]["began"].as_str().expect("a time").to_owned();
    let made = imported_at_end(&of_leader);
    assert_eq!(began(&made)[..19], began(&led)[..19]);
}

/// The leader is killed without a standby: what was done until the workers stopped is there.
#[test]
fn nobody_is_left_who_leads() {
    let mut scene = Scene::begun("unled", 3, 30, &[]);
    let mut leader = scene.leader.take().expect("it leads");
    leader.kill().expect("it is there");
    leader.wait().expect("it ends");
    let mut before = 0;
    wait_for("the workers stop", || {
        sleep(Duration::from_secs(2));
        std::mem::replace(&mut before, scene.target.count()) == scene.target.count()
    });
    let (made, said) = imported(&journals(&scene, scene.workers_hosts()));
    let judged = Judged::new(&made, &scene.target, 30 * RATE);
    assert_eq!((judged.unknown, judged.started), (0, scene.target.count() as u64), "{judged:?}: {said}");
    assert!(judged.undelivered > 10 * RATE, "{judged:?}");
}

/// One worker is out of reach until all is over: the report counts its starts as unaccounted for, and its journal has
/// them.
#[test]
fn a_worker_that_nobody_hears_of_again() {
    let mut scene = Scene::begun("unacknowledged", 3, 12, &[]);
    scene.net.cut_from(FIRST + 1, &scene.bus_address());
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    let reported = report(&done);
    assert!(of_workers(&reported, "unaccounted") > 0, "{:#}", reported["workers"]);
    let (made, _) = imported(&journals(&scene, [LEADER, FIRST + 1].into_iter()));
    let judged = Judged::new(&made, &scene.target, 12 * RATE);
    assert_eq!((judged.unknown, judged.started), (0, scene.target.count() as u64), "{judged:?}");
    assert!(judged.started > started(&reported), "{judged:?}");
    // Reports of the workers that were received are unchanged.
    let each = |report: &Value, worker: usize| {
        let all = report["workers"]["list"].as_array().expect("workers").clone();
        let own = all.into_iter().filter(|each| each["name"] == scene.address(worker).as_str());
        own.map(|each| each["started"].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!([each(&made, 0), each(&made, 2)], [each(&reported, 0), each(&reported, 2)]);
}

/// The bus is gone for good, and the leader is ended: everything is on the disks of the workers.
#[test]
fn a_bus_that_never_comes_back() {
    let mut scene = Scene::begun("bus-gone", 3, 25, &[]);
    scene.bus.kill();
    sleep(Duration::from_secs(8));
    let leader = scene.leader.take().expect("it leads");
    signal(&leader, Signal::INT);
    let done = leader.wait_with_output().expect("it ends");
    let reported = report(&done);
    assert!(started(&reported) < scene.target.count() as u64, "{:#}", reported["workers"]);
    scene.workers.iter().for_each(|worker| signal(&worker.0, Signal::INT));
    let made = imported_at_end(&journals(&scene, scene.workers_hosts()));
    let truth = Truth::new(&scene.target.came(), RATE);
    assert_eq!(
        (of_workers(&made, "unaccounted"), started(&made)),
        (0, truth.numbers.len() as u64),
        "{:#}",
        made["workers"]
    );
    assert_eq!(truth.twice, Vec::<u64>::new());
}

/// Journals that cannot be merged are reported, and missing data counts as unaccounted for.
#[test]
fn journals_that_do_not_fit_are_reported() {
    let mut scene = Scene::prepared("ring-faults", 2, 3);
    let mut all = Vec::new();
    for _ in 0..2 {
        scene.leads(&[]);
        let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
        assert!(done.status.success(), "{done:?}");
        let mut now = journals(&scene, scene.workers_hosts());
        imported_at_end(&now[..1]);
        now.retain(|journal| !all.contains(journal));
        all.extend(now);
    }
    let refused = |journals: &[&str]| {
        let done = onrush(&["recover"]).args(journals).output().expect("it starts");
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        text(&done.stderr)
    };
    let other = refused(&[&all[0], &all[2]]);
    assert!(other.contains("are of different runs"), "{other}");
    let (made, said) = imported(&all[..1]);
    assert!(
        said.contains("journals are missing") && of_workers(&made, "unaccounted") == 3 * RATE / 2,
        "{said} {made:#}"
    );
    assert_eq!(started(&made), 3 * RATE / 2);
    let head = PathBuf::from(&all[0]).join("head");
    let mut bytes = fs::read(&head).expect("a head");
    *bytes.last_mut().expect("a byte") ^= 1;
    fs::write(&head, bytes).expect("it can be written");
    let damaged = refused(&[&all[0]]);
    assert!(damaged.contains("is damaged"), "{damaged}");
}

/// Users of all workers wait for each other, and go on in one instant; the journals show that, too.
#[test]
fn users_of_all_machines_go_on_together() {
    let mut scene = Scene::prepared("meet", 3, 1);
    let (users, rounds) = (9, 5);
    let load = format!(
        "target: {}\nscenarios:\n  all:\n    load: {{users: {users}, iterations: {}}}\n    steps:\n      - think: 1ms-60ms\n      - barrier: {{name: door, users: {users}}}\n      - get: /${{counter()}}\n",
        scene.target.url,
        users * rounds
    );
    fs::write(scene.folder.join("load.yaml"), load).expect("a file");
    scene.leads(&[]);
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    let led = report(&done);
    let expect = serde_json::json!([{"name": "door", "users": users, "full": rounds, "by_time": 0, "short": 0}]);
    assert_eq!((&led["barriers"], started(&led)), (&expect, (users * rounds) as u64), "{:#}", led["workers"]);
    let mut came = scene.target.came();
    came.sort_by_key(|came| came.at);
    let numbers: std::collections::BTreeSet<u64> = came.iter().map(|came| came.number).collect();
    assert_eq!(numbers.len(), users * rounds, "each has a number of its own");
    let spreads: Vec<Duration> = came.chunks(users).map(|round| round[users - 1].at - round[0].at).collect();
    let between: Vec<Duration> =
        came.chunks(users).zip(came[users..].chunks(users)).map(|(one, next)| next[0].at - one[0].at).collect();
    // By their clocks they start within a few milliseconds; a round takes half a second until all have received it.
    let mut sorted = spreads.clone();
    sorted.sort_unstable();
    assert!(sorted[rounds / 2] < *between.iter().min().expect("rounds") / 5, "{spreads:?} and {between:?}");
    let of_workers = journals(&scene, scene.workers_hosts());
    for journals in [&of_workers, &journals(&scene, LEADER..FIRST)] {
        assert_eq!(differences(&bare(&imported_at_end(journals)), &bare(&led)), Vec::<String>::new());
    }
}
