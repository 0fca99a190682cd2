//! One load from several processes: together they do what one does; and the loss of one of them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::examples::by_path;
use super::recorder::Recorder;
use super::relay::Relay;
use super::seen::{stats, wait_for};
use super::watched::Paged;
use super::{ChildGuard, Folder, Served, line_with, onrush, output, report, signal, text};

/// Invariants of every run of workers.
#[track_caller]
fn is_sound(report: &Value, workers: u64) {
    let each = report["workers"]["list"].as_array().expect("a list");
    assert_eq!(each.len() as u64, workers, "{report:#}");
    let sum = |name: &str| each.iter().map(|one| one[name].as_u64().expect("a number")).sum::<u64>();
    let requests = &report["requests"];
    assert_eq!(Some(sum("started")), requests["started"].as_u64(), "{report:#}");
    let number = |name: &str| requests[name].as_u64().expect("a number");
    let ended = ["succeeded", "failed", "dropped", "unfinished", "lost"].map(number);
    assert_eq!(number("started") + number("carried"), ended.iter().sum::<u64>(), "{requests}");
    // The end of exchanges that a lost worker had in flight at its last report was never reported.
    let of_lost: u64 = each.iter().filter(|one| one["loss_count"] != 0).filter_map(|one| one["started"].as_u64()).sum();
    assert!(number("lost") <= of_lost, "{requests} {of_lost}");
    let intervals = report["intervals"].as_array().expect("a list");
    assert_eq!(intervals.iter().map(|one| one["started"].as_u64().expect("a number")).sum::<u64>(), number("started"));
}

fn run(words: &[&str]) -> Value {
    let done = output(&[&["--output", "json"], words].concat());
    assert!(matches!(done.status.code(), Some(0 | 1)), "{words:?}: {done:?}");
    report(&done)
}

/// The children of a process.
pub(crate) fn children(of: &Child) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", of.id());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().expect("a number")).collect()
}

fn is_there(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is no process any more.
    !state.is_empty() && !state.contains(") Z ")
}

pub(crate) fn kill(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().expect("kill starts").success());
}

/// The notice about the loss of the second worker.
const LOST: &str = "onrush: worker worker-2 was lost";

/// Requests that the server had on a path.
fn served(server: &Served, path: &str) -> u64 {
    by_path(&stats(server)).get(path).copied().unwrap_or(0)
}

/// The same plan has the same starts on one process as on three, for every kind of load.
#[test]
fn three_do_what_one_does() {
    let cases: [(&[&str], &str); 5] = [
        (&["--rate", "2000", "--arrivals", "poisson", "-z", "300ms"], "/delay/2"),
        (&["--stages", "50:0s,900:300ms", "--warmup", "200ms"], "/delay/3"),
        (&["-n", "1000", "-c", "7"], "/delay/1"),
        (&["--rate", "2000", "-n", "600", "-c", "9", "--http2"], "/delay/4"),
        (&["-n", "60", "-c", "6", "--rendezvous"], "/delay/5"),
    ];
    for (words, path) in cases {
        let mut seen = Vec::new();
        for workers in [None, Some("3")] {
            let server = Served::start();
            let url = server.url(path);
            let mut all = words.to_vec();
            all.extend(workers.iter().flat_map(|workers| ["--workers", workers]));
            let report = run(&[&all[..], &[&url]].concat());
            if workers.is_some() {
                is_sound(&report, 3);
                let books = &report["workers"];
                assert_eq!((&books["undelivered"], &books["unaccounted"]), (&0.into(), &0.into()), "{books}");
            } else {
                assert!(report["workers"].is_null());
            }
            let started = report["requests"]["started"].as_u64().expect("a number");
            let at_server = served(&server, "/delay");
            assert!(at_server >= started, "{words:?}: {at_server} of {started}");
            seen.push((started, at_server));
        }
        assert_eq!(seen[0], seen[1], "{words:?}");
    }
}

/// The times of three are those of one: each exchange is in them once, and none is shorter than the target's delay.
#[test]
fn histograms_are_put_together_exactly() {
    let server = Served::start();
    let folder = Folder::new("workers-hdr");
    let path = folder.path("times.hlog");
    let words = ["--workers", "3", "-n", "90", "-c", "9", "--hdr", &path, &server.url("/delay/20")];
    let report = run(&words);
    is_sound(&report, 3);
    let response = &report["times"]["succeeded"]["response_time"];
    assert_eq!(response["count"], 90, "{response}");
    assert!(response["min_ns"].as_u64() >= Some(20_000_000), "{response}");
    let text = std::fs::read_to_string(&path).expect("a log");
    assert!(text.lines().any(|line| line.contains("Tag=")), "{text}");
}

/// Divided rows go to one iteration each, on any worker; variables and steps are those of the file.
#[test]
fn a_scenario_file_is_divided() {
    let (server, folder) = (Served::start(), Folder::new("workers-file"));
    let rows: String = (0..600).map(|number| format!("{number}\n")).collect();
    std::fs::write(folder.0.join("rows.csv"), format!("id\n{rows}")).expect("a file");
    let file = folder.path("rows.yaml");
    let text = format!(
        "target: {}\ndata:\n  rows: {{file: rows.csv, order: sequential, sharing: split, on_end: stop}}\nscenarios:\n  all:\n    load: {{users: 6, for: 1h}}\n    steps:\n      - get: /delay/1?id=${{rows.id}}\n",
        server.url
    );
    std::fs::write(&file, text).expect("a file");
    let report = run(&["--workers", "3", "--no-save", &file]);
    is_sound(&report, 3);
    assert_eq!(report["requests"]["succeeded"], 600, "{:#}", report["requests"]);
    assert_eq!(served(&server, "/delay"), 600);
    // It is the file of the scenario that is named, once, and not the copy of each worker.
    let used_up = report["rows"].as_array().expect("a list");
    assert_eq!((used_up.len(), &used_up[0]["file"]), (1, &folder.path("rows.csv").into()), "{used_up:?}");
}

/// A number is given once, by any worker; and none is far from where it would be.
#[test]
fn counters_give_each_number_once() {
    let (target, folder) = (Recorder::start("workers-counter"), Folder::new("workers-counter-file"));
    let file = folder.path("counter.yaml");
    let text = format!(
        "target: http://127.0.0.1:{}\nscenarios:\n  all:\n    load: {{rate: 3000/s, iterations: 1200}}\n    steps:\n      - get: /u${{counter()}}\n",
        target.port
    );
    std::fs::write(&file, text).expect("a file");
    let report = run(&["--workers", "3", "--no-save", &file]);
    is_sound(&report, 3);
    let came = target.take();
    let number = |start: &str| start.split("/u").nth(1)?.split(' ').next()?.parse::<u64>().ok();
    let numbers: BTreeSet<u64> = came.iter().filter_map(|came| number(&came.start)).collect();
    assert_eq!((came.len(), numbers.len()), (1_200, 1_200));
    // Starts are assigned as numbers are, so that each worker needs a third of them.
    assert!(numbers.first() == Some(&1) && numbers.last() < Some(&1_300), "{:?}", numbers.last());
}

/// A load on three workers, of which one is stopped or killed in the middle.
struct Bereft {
    paged: Paged,
    workers: Vec<u32>,
    /// Its output lines, including those up to the notice of the loss.
    lines: Box<dyn Iterator<Item = std::io::Result<String>>>,
}

impl Bereft {
    /// Waits until the target has had some of the load, and sends the signal to the second worker.
    fn start(signal: &str, words: &[&str], came: impl Fn() -> u64) -> Self {
        Self::with_interval("100ms", signal, words, came)
    }

    fn with_interval(interval: &str, signal: &str, words: &[&str], came: impl Fn() -> u64) -> Self {
        let words = [&["--output", "json", "--workers", "3", "--interval", interval, "--web"], words].concat();
        let (paged, lines) = Paged::with_lines(&mut onrush(&words));
        wait_for("the load begins", || came() > 100);
        let workers = children(&paged.child);
        assert_eq!(workers.len(), 3);
        kill(workers[1], signal);
        Self { paged, workers, lines: Box::new(lines) }
    }

    /// The user is notified at once.
    fn is_reported(&mut self) {
        line_with(&mut self.lines, LOST);
    }

    /// Ends the load at an instant that holds for all workers.
    fn end(&self) {
        let (status, said) = self.paged.post("/api/run/changes", &json!({"revision": 0, "change": "end"}));
        assert_eq!(status, 200, "{said}");
    }

    /// The report, and how often the loss was reported in the unread output.
    fn over(mut self) -> (Value, usize) {
        let mut out = Vec::new();
        self.paged.child.stdout.take().expect("a pipe").read_to_end(&mut out).expect("a report");
        let reported = self.lines.map_while(Result::ok).filter(|line| line.contains(LOST)).count();
        let status = self.paged.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(1), "it is not what was planned: {}", String::from_utf8_lossy(&out));
        let report: Value = serde_json::from_slice(&out).expect("JSON");
        is_sound(&report, 3);
        assert_eq!(report["verdict"]["kind"], "workers");
        let each = report["workers"]["list"].as_array().expect("a list");
        assert_eq!(each.iter().filter_map(|one| one["loss_count"].as_u64()).sum::<u64>(), 1, "{each:#?}");
        assert!(self.workers.iter().all(|pid| !is_there(*pid)), "nobody is left");
        (report, reported)
    }
}

/// A load of 1,200 requests a second that loses a worker, and goes on for a while. The report, and the server's count.
fn without_one(signal: &str, words: &[&str]) -> (Value, u64) {
    let server = Served::start();
    let url = server.url("/delay/1");
    let came = || served(&server, "/delay");
    // Threads that are told to leave end one after the other; of a killed worker, one that was late may be in no row.
    let threads = if signal == "-TERM" { "9" } else { "3" };
    let load = ["--threads", threads, "--rate", "1200", "-z", "1h", &url];
    let mut bereft = Bereft::start(signal, &[words, &load[..]].concat(), came);
    bereft.is_reported();
    let before = came();
    wait_for("the others go on", || came() > before + 600);
    bereft.end();
    let (report, reported) = bereft.over();
    assert_eq!(reported, 0, "it is told once");
    (report, came())
}

/// The starts of workers that were not lost.
fn started_by_others(report: &Value) -> u64 {
    let each = report["workers"]["list"].as_array().expect("a list");
    each.iter().filter(|one| one["loss_count"] == 0).filter_map(|one| one["started"].as_u64()).sum()
}

/// The starts of such a rate that were due until the load was ended, or until `late_s` after that: the first one comes
/// at once.
fn due_at(report: &Value, rate: u64, late_s: f64) -> u64 {
    let changes = report["changes"].as_array().expect("a list");
    assert_eq!((changes.len(), &changes[0]["change"]), (1, &json!("end")), "{changes:?}");
    ((changes[0]["at_s"].as_f64().expect("an instant") + late_s) * rate as f64).ceil() as u64
}

/// The difference in starts of workers that learned of the end too late.
fn otherwise(report: &Value) -> i64 {
    report["workers"]["late_change_delta"].as_i64().expect("a number")
}

/// Checks the accounting of a load of which a third was due at the lost worker: planned + late_change_delta = started +
/// undelivered + unaccounted. Returns the undelivered and the unaccounted starts.
#[track_caller]
fn balances(report: &Value, really: u64, planned: u64) -> (u64, u64) {
    let started = report["requests"]["started"].as_u64().expect("a number");
    let number = |name: &str| report["workers"][name].as_u64().expect("a number");
    let (undelivered, unknown) = (number("undelivered"), number("unaccounted"));
    let made = planned.checked_add_signed(otherwise(report)).expect("a number");
    assert_eq!(
        started + undelivered + unknown,
        made,
        "{started} + {undelivered} + {unknown} of {planned}: {:#}",
        report["workers"]
    );
    assert!(undelivered + unknown <= planned / 3 + 2, "{undelivered} + {unknown} of {planned}");
    // A request that was started at the lost worker, or shortly before the end, may not have been sent.
    let not_sent = ["lost", "unfinished"].map(|name| report["requests"][name].as_u64().expect("a number"));
    let least = started - not_sent.iter().sum::<u64>();
    assert!((least..=started + unknown).contains(&really), "{really}: {started} - {not_sent:?} + {unknown}");
    (undelivered, unknown)
}

/// The accounting has the starts that no worker made. How soon others get its share, and how many starts are
/// undelivered until then, is tested in the simulator.
#[test]
fn a_worker_that_is_killed() {
    for signal in ["-KILL", "-TERM"] {
        let (report, really) = without_one(signal, &[]);
        let (undelivered, unknown) = balances(&report, really, due_at(&report, 1_200, 0.0));
        assert!(undelivered > 0, "{signal}: {undelivered}");
        // A worker with time to report leaves no unaccounted starts.
        assert!(unknown == 0 || signal == "-KILL", "{signal}: {unknown}");
    }
}

/// Exchanges that a killed worker had in flight are a class of their own, and the sum is correct, in JSON and in the
/// summary.
#[test]
fn what_a_killed_worker_had_in_flight_is_lost() {
    for words in [&["--rate", "300", "-z", "1h"][..], &["-c", "90", "-z", "1h"]] {
        let server = Served::start();
        // Longer than an interval, and than the detection of the loss: a killed worker has some reported exchanges in
        // flight.
        let url = server.url("/delay/3000");
        let came = || served(&server, "/delay");
        let mut bereft = Bereft::start("-KILL", &[words, &["--grace", "10s", &url]].concat(), came);
        bereft.is_reported();
        bereft.end();
        let (report, _) = bereft.over();
        let of = |name: &str| report["requests"][name].as_u64().expect("a number");
        let ended = ["succeeded", "failed", "dropped", "unfinished", "lost"].map(of);
        assert_eq!(of("started") + of("carried"), ended.iter().sum::<u64>(), "{words:?}: {:#}", report["requests"]);
        assert!(of("lost") > 0, "{words:?}: {:#}", report["requests"]);
        assert!(
            report["times"]["succeeded"]["response_time"]["incomplete"]
                .as_u64()
                .is_none_or(|count| count >= of("lost"))
        );
    }
}

/// Rows of a file go on where they were, on any worker: each start that is made has its own, to the last.
#[test]
fn rows_go_on_when_slots_move() {
    // More than any run of this test uses.
    const ROWS: u64 = 250_000;
    let (target, folder) = (Recorder::start("workers-rows-target"), Folder::new("workers-rows"));
    let rows: String = (0..ROWS).map(|number| format!("{number}\n")).collect();
    std::fs::write(folder.path("rows.csv"), format!("n\n{rows}")).expect("a file");
    let file = folder.path("rows.yaml");
    let text = format!(
        "target: http://127.0.0.1:{}\ndata:\n  rows: {{file: rows.csv, order: sequential, sharing: split, on_end: stop}}\n\
         scenarios:\n  all:\n    load: {{rate: 600/s, for: 1h}}\n    steps:\n      - get: /r${{rows.n}}\n",
        target.port
    );
    std::fs::write(&file, text).expect("a file");
    let mut bereft = Bereft::start("-KILL", &["--no-save", &file], || target.count());
    bereft.is_reported();
    let mut live = Value::Null;
    let mut look = |what: &str, holds: &dyn Fn(&Value) -> bool| {
        wait_for(what, || {
            live = bereft.paged.get("/api/run")["live"].take();
            holds(&live)
        });
        live["total"]["started"].as_u64().expect("a number")
    };
    let before = look("the others have its share", &|live| {
        let each = live["workers"]["list"].as_array().map_or(&[][..], Vec::as_slice);
        each.iter().filter(|one| one["loss_count"] == 0 && one["share"] == 0.5).count() == 2
    });
    // Two seconds of the plan: the others have its share long before that.
    look("they go on", &|live| live["total"]["started"].as_u64() > Some(before + 1_200));
    bereft.end();
    let (report, _) = bereft.over();
    let planned = due_at(&report, 600, 0.0);
    let came = target.take();
    balances(&report, came.len() as u64, planned);
    // More than the two thirds that were their own.
    assert!(started_by_others(&report) > planned * 2 / 3 + 2, "{:#}", report["workers"]);
    let number = |start: &str| start.split("/r").nth(1)?.split(' ').next()?.parse::<u64>().ok();
    let taken: BTreeSet<u64> = came.iter().filter_map(|came| number(&came.start)).collect();
    assert_eq!(taken.len(), came.len(), "each has its own");
    // No worker skips rows: there is one for each start that was due, made or not.
    let late_s = report["workers"]["change_delay_s"].as_f64().expect("a time");
    assert!(taken.last() < Some(&due_at(&report, 600, late_s)), "{:?} of {planned}", taken.last());
}

/// Connections are held by three as by one.
#[test]
fn connections_are_held_by_workers() {
    let server = Served::start();
    let url = server.url("/").replace("http://", "ws://");
    let words =
        ["hold", "--output", "json", "--workers", "3", "-c", "100", "--hold", "300ms", "--every", "100ms", &url];
    let held = report(&output(&words));
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/hold.schema.json")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = schema.iter_errors(&held).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let connections = &held["connections"];
    assert_eq!(
        [&connections["established"], &connections["most_open"], &connections["closed"], &connections["lost"]],
        [100, 100, 100, 0],
        "{held:#}"
    );
    let messages = &held["messages"];
    crate::hold::is_kept(&held);
    assert!(messages["due"].as_u64() >= Some(300), "{messages:#}");
    connections_of_one_that_is_killed(&server);
}

/// Connections of a killed worker are reported. They are held until then: one of all is only established after that.
fn connections_of_one_that_is_killed(server: &Served) {
    let folder = Folder::new("workers-held");
    let (file, relay) = (folder.path("held.json"), Relay::start(server.url.trim_start_matches("http://"), 29));
    let url = format!("ws://{}/", relay.address);
    let words = ["hold", "--workers", "3", "-c", "30", "--hold", "300ms", "--connect-timeout", "2m", "--json", &file];
    let words = [&words[..], &["--interval", "100ms", &url]].concat();
    let mut child = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut rows = BufReader::new(child.0.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    // A row has the time and then the open connections.
    let has_all = |row: &String| row.split('│').nth(1).is_some_and(|open| open.trim() == "29");
    assert!(rows.any(|row| has_all(&row)), "its workers tell what they have");
    let workers = children(&child.0);
    kill(workers[2], "-KILL");
    // The user is notified at once.
    let mut said = BufReader::new(child.0.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("onrush: worker worker-3 was lost")), "it is said");
    relay.release();
    rows.for_each(drop);
    assert_eq!(said.filter(|line| line.contains("was lost")).count(), 0, "it is said once");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(1));
    let held: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("a report")).expect("JSON");
    let unknown = held["workers"]["unaccounted"].as_u64().expect("a number");
    let connections = &held["connections"];
    assert_eq!((unknown, &connections["closed"]), (10, &20.into()), "{:#} {connections:#}", held["workers"]);
    // The one that comes only later may belong to the killed worker.
    assert!((29..=30).contains(&connections["established"].as_u64().expect("a number")), "{connections:#}");
    // Other verdicts depend on the machine.
    let verdict = held["verdict"]["text"].as_str().expect("a text");
    assert!(verdict.contains("1 of 3 workers was lost"), "{verdict}");
    let open = || stats(server)["long_connections"]["open"].as_u64().unwrap_or_default();
    wait_for("none is left", || open() == 0 && workers.iter().all(|pid| !is_there(*pid)));
}

/// A loss after the last interval is reported too, of a load and of held connections, once.
#[test]
fn a_loss_near_the_end_is_reported() {
    // No interval is over before its end.
    let server = Served::start();
    let words = ["--rate", "1200", "-z", "1h", &server.url("/delay/1")];
    let bereft = Bereft::with_interval("1h", "-KILL", &words, || served(&server, "/delay"));
    bereft.end();
    assert_eq!(bereft.over().1, 1, "it is told once");

    let folder = Folder::new("workers-late-loss");
    let (file, relay) = (folder.path("held.json"), Relay::start(server.url.trim_start_matches("http://"), 29));
    let url = format!("ws://{}/", relay.address);
    let words = ["hold", "--workers", "3", "-c", "30", "--hold", "300ms", "--connect-timeout", "2m", "--json", &file];
    let words = [&words[..], &["--interval", "1h", &url]].concat();
    let child = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()));
    wait_for("all but one are open", || stats(&server)["long_connections"]["open"] == 29);
    kill(children(&child.0)[2], "-KILL");
    relay.release();
    let done = child.output();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said.matches("onrush: worker worker-3 was lost").count(), 1, "{said}");
    assert_eq!(done.status.code(), Some(1), "{said}");
}

/// The user decides what happens to the share of a lost worker.
#[test]
fn a_loss_that_nobody_makes_up_for() {
    let (report, really) = without_one("-KILL", &["--on-worker-loss", "continue"]);
    let planned = due_at(&report, 1_200, 0.0);
    let (undelivered, _) = balances(&report, really, planned);
    // The others make their own starts, and nothing else: each third of 4,096 slots, in turn, was the lost worker's.
    let own = (0..planned).filter(|number| number % 4_096 % 3 != 1).count() as u64;
    let own = own.checked_add_signed(otherwise(&report)).expect("a number");
    let others = started_by_others(&report);
    assert!(undelivered > 0 && (own - 2..=own + 2).contains(&others), "{undelivered} {others} of {own}");
    // That it ends is what was requested.
    let server = Served::start();
    let words = ["--on-worker-loss", "fail", "--rate", "1200", "-z", "1h", &server.url("/delay/1")];
    let (_, reported) = Bereft::start("-KILL", &words, || served(&server, "/delay")).over();
    assert!(reported <= 1, "it is told once, if it goes on for long enough");
}

/// A stalled worker starts nothing after its lease is over, and is not waited for any longer.
#[test]
fn a_worker_that_stands_still() {
    let (report, really) = without_one("-STOP", &[]);
    balances(&report, really, due_at(&report, 1_200, 0.0));
}

#[test]
fn ctrl_c_ends_all_of_them() {
    let server = Served::start();
    let words = ["--output", "json", "--workers", "2", "-c", "6", "-z", "1h", &server.url("/delay/1")];
    let child = ChildGuard::start(onrush(&words).stdout(Stdio::piped()));
    wait_for("the load begins", || served(&server, "/delay") > 500);
    let workers = children(&child.0);
    signal(&child.0, "-INT");
    let done = child.output();
    assert_eq!(done.status.code(), Some(130), "{done:?}");
    let report = report(&done);
    is_sound(&report, 2);
    assert_eq!(report["requests"]["started"].as_u64(), Some(served(&server, "/delay")));
    assert!(workers.iter().all(|pid| !is_there(*pid)), "nobody is left");
}

/// The server reads what the load sent and what half of its users sent after it; nothing else, and nothing less.
#[test]
fn half_of_the_users_of_all_workers_go_on() {
    for (words, users) in [(&["-c", "12"][..], Some(6)), (&["-c", "12", "--no-probe"], None), (&["-c", "4"], None)] {
        let server = Served::start();
        let url = server.url("/serial/5");
        let report = run(&[words, &["--workers", "3", "-z", "1s", &url]].concat());
        is_sound(&report, 3);
        let probe = &report["verdict"]["probe"];
        // It is skipped where something is known without it: the generator, or one processor for both, was the limit, or
        // the target left users without a response for half of the time.
        let (kind, evidence) = (&report["verdict"]["kind"], &report["verdict"]["evidence"]);
        let is_skipped = probe.is_null() && (kind == "generator" || kind == "machine" || evidence == "starved");
        assert!(is_skipped || probe["users"].as_u64() == users, "{words:?}: {:#}", report["verdict"]);
        let started = report["requests"]["started"].as_u64().expect("a number");
        assert_eq!(started + probe["requests"].as_u64().unwrap_or(0), served(&server, "/serial"), "{words:?}");
    }
}

/// The leader is gone for good: the workers that it started end too, and leave nothing behind.
#[test]
fn workers_go_with_who_leads() {
    let server = Served::start();
    let words = ["--workers", "2", "-c", "6", "-z", "1h", &server.url("/delay/1")];
    let child = ChildGuard::start(onrush(&words).stdout(Stdio::null()));
    wait_for("the load begins", || served(&server, "/delay") > 500);
    let workers = children(&child.0);
    assert_eq!(workers.len(), 2);
    drop(child);
    wait_for("they end", || workers.iter().all(|pid| !is_there(*pid)));
}

#[test]
fn searches_and_changes_need_nothing_more() {
    let server = Served::start();
    let words = ["find-max", "--budget", "5s", "--trials", "1", "--no-save", "--start", "100", "--max", "400"];
    let done = output(&[&words, &["--workers", "2", "--output", "json", &server.url][..]].concat());
    assert!(matches!(done.status.code(), Some(0 | 1)), "{done:?}");
    assert!(report(&done)["trials"].as_array().is_some_and(|trials| !trials.is_empty()));
}

/// Impossible combinations are reported before anything starts, in both languages.
#[test]
fn what_workers_cannot_do() {
    let (server, folder) = (Served::start(), Folder::new("workers-refused"));
    let log = folder.path("log.csv");
    let cases: [(&[&str], &str, &str); 8] = [
        (&["--standby", "--workers", "2", &server.url], "--standby needs --cluster", "--standby 需要 --cluster"),
        (&["find-max", "--standby", &server.url], "for a single run", "仅用于单次压测"),
        (&["--workers", "2", "-n", "5", "--log", &log, &server.url], "--log cannot be divided", "--log 无法分配"),
        (&["--workers", "0", &server.url], "--workers", "--workers"),
        (&["--min-workers", "1", &server.url], "--min-workers needs --workers", "--min-workers 需要"),
        (&["--ssh", "ssh -p 22", "--workers", "2", &server.url], "--ssh needs --hosts", "--ssh 需要"),
        (&["--workers", "2", "--min-workers", "3", &server.url], "--min-workers", "--min-workers"),
        (&["worker", "--join", "unix:/nowhere/bus"], "no bus at /nowhere/bus", "/nowhere/bus 处没有总线"),
    ];
    std::fs::write(&log, "what was there").expect("a file");
    for (words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let done = onrush(words).args(["--lang", language]).output().expect("it starts");
            let said = text_of(&done.stderr);
            assert!(!done.status.success() && said.contains(says), "{words:?}: {said}");
        }
    }
    assert_eq!(std::fs::read_to_string(&log).expect("a file"), "what was there");
    assert_eq!(by_path(&stats(&server)).keys().collect::<BTreeSet<_>>().len(), 0, "nothing was sent");
}

/// A path that is no journal is reported as such; a journal location needs a run with a journal.
#[test]
fn journals_that_are_none() {
    let folder = std::env::temp_dir().join(format!("onrush-no-ring-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("head"), b"something else").expect("a file");
    let path = folder.display().to_string();
    let cases: [(&[&str], &str, &str); 5] = [
        (&["recover", &path], "is not a journal: a folder with the files head", "不是本地留存"),
        (&["recover", "/nowhere/at/all"], "No such file or directory", "没有该文件或目录"),
        (&["recover"], "JOURNAL", "JOURNAL"),
        (&["--journal", "x", "-n", "1", "http://127.0.0.1:9/"], "--journal needs --cluster", "--journal 需要同时给出"),
        (
            &["worker", "--join", "unix:/nowhere/bus", "--journal", "x"],
            "--journal needs a bus",
            "--journal 需要多台机器",
        ),
    ];
    for (words, english, chinese) in cases {
        for (language, said) in [("en", english), ("zh", chinese)] {
            let done = onrush(words).args(["--lang", language]).output().expect("it starts");
            assert!(done.status.code() == Some(2) && text_of(&done.stderr).contains(said), "{words:?}: {done:?}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("it was there");
}

fn text_of(bytes: &[u8]) -> String {
    text(bytes)
}
