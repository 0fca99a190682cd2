//! The scenario files under `examples/`, each against the target, on both drivers. The report has the counts of the
//! target.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::seen::stats;
use crate::{Folder, Served, output, side_by_side};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Runs an example with a tenth of its time.
fn run(name: &str, served: &Served, driver: &str) -> Value {
    let folder = Folder::new(&format!("examples-{name}-{driver}"));
    for entry in std::fs::read_dir(FOLDER).expect("a folder").flatten() {
        let (path, place) = (entry.path(), entry.file_name());
        // Beside the files of scenarios is a program.
        if path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        let is_yaml = path.extension().is_some_and(|end| end == "yaml");
        let text = is_yaml.then(|| tenth(std::str::from_utf8(&bytes).expect("UTF-8")));
        folder.file(place.to_str().expect("UTF-8"), text.map_or(bytes.clone(), String::into_bytes));
    }
    let (file, target) = (folder.path(&format!("{name}.yaml")), format!("target={}", served.url("")));
    let done = output(&["run", &file, "--var", &target, "--driver", driver, "-o", "json", "--quiet"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.code() < Some(2), "{name} {driver}: {said}");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    // Durations also depend on this machine.
    let crossed = report["thresholds"].as_array().expect("an array").iter().filter(|one| one["holds"] == false);
    let others: Vec<&Value> = crossed.clone().filter(|one| one["unit"] != "ns").collect();
    assert!(others.is_empty(), "{name} {driver}: {others:?}");
    assert_eq!(done.status.code(), Some(i32::from(crossed.count() > 0)), "{name} {driver}: {said}");
    report
}

/// A file with a tenth of its time: each duration is written in whole seconds. Users work for a second: if the process
/// stands still until the end of their load, they begin nothing.
fn tenth(text: &str) -> String {
    let mut brief = text.to_owned();
    for seconds in 1..10 {
        brief = brief.replace(&format!("users: 10, for: {seconds}s"), "users: 10, for: 1000ms");
        brief = brief.replace(&format!("for: {seconds}s"), &format!("for: {seconds}00ms"));
        brief = brief.replace(&format!(":{seconds}s\""), &format!(":{seconds}00ms\""));
    }
    brief
}

/// Requests of the target by path: those of series whose names begin with it.
pub(crate) fn by_path(stats: &Value) -> BTreeMap<String, u64> {
    let all = stats["requests_by_path"].as_object().expect("an object");
    all.iter()
        .filter(|(path, _)| *path != "/stats")
        .map(|(path, count)| (path.clone(), count.as_u64().expect("a number")))
        .collect()
}

/// The requested counts, by the paths of the target: each step has a path of `paths`, in the order of the plan.
fn requested(report: &Value, paths: &[&str]) -> BTreeMap<String, u64> {
    let scenarios = report["scenarios"].as_array().expect("an array");
    let steps: Vec<&Value> = scenarios.iter().flat_map(|one| one["steps"].as_array().expect("an array")).collect();
    assert_eq!(steps.len(), paths.len(), "{steps:#?}");
    let mut counts = BTreeMap::new();
    for (step, path) in steps.into_iter().zip(paths) {
        *counts.entry((*path).to_owned()).or_insert(0) += step["finished"].as_u64().expect("a number");
    }
    // The target does not list what was never requested.
    counts.retain(|_, count| *count > 0);
    counts
}

fn agrees(name: &str, paths: &[&str], has_sessions: bool) {
    side_by_side(&["uring", "poll"], |&driver| {
        let served = Served::start();
        let report = run(name, &served, driver);
        let (counts, stats) = (&report["requests"], stats(&served));
        assert_eq!(counts["failed"], 0, "{name} {driver}: {}", report["failures"]);
        assert_eq!(counts["unfinished"], counts["aborted"], "{name} {driver}");
        assert_eq!(requested(&report, paths), by_path(&stats), "{name} {driver}");
        let mut statuses = stats["answers_by_status"].as_object().expect("an object").clone();
        // The request for these counts is handled while they are made.
        let own = report["statuses"].as_object().expect("an object");
        statuses.retain(|status, _| own.contains_key(status));
        assert_eq!(own, &statuses, "{name} {driver}");
        if has_sessions {
            let sessions = &stats["sessions"];
            assert_eq!(
                (&sessions["mixed"], &sessions["unknown"]),
                (&Value::from(0), &Value::from(0)),
                "{name} {driver}"
            );
        }
    });
}

#[test]
fn a_shop() {
    let paths = ["/login", "/login", "/items", "/items", "/cart", "/pay", "/order", "/cart"];
    agrees("shop", &paths, true);
}

#[test]
fn an_api() {
    agrees("api", &["/api/token", "/api/sessions", "/search", "/items", "/items"], true);
}

#[test]
fn a_day() {
    agrees("day", &["/items", "/items", "/search", "/"], false);
}

#[test]
fn a_chat() {
    for driver in ["uring", "poll"] {
        let served = Served::start();
        let report = run("chat", &served, driver);
        let stats = stats(&served);
        let steps = &report["scenarios"][0]["steps"];
        assert_eq!(report["requests"]["failed"], 0, "{driver}: {}", report["failures"]);
        // A connection for each iteration, which its steps close; each message has a response.
        let talks = &stats["long_connections"];
        assert_eq!((&talks["opened"], &talks["open"]), (&Value::from(100), &Value::from(0)), "{driver}");
        let messages =
            steps.as_array().expect("an array").iter().map(|step| step["finished"].as_u64().expect("a number"));
        assert_eq!(talks["messages"], messages.sum::<u64>(), "{driver}");
        assert_eq!(report["scenarios"][0]["transactions"][0]["finished"], 100, "{driver}");
    }
}

#[test]
fn calls_beside_requests() {
    for driver in ["uring", "poll"] {
        let served = Served::start();
        let report = run("mixed", &served, driver);
        let stats = stats(&served);
        assert_eq!(report["requests"]["failed"], 0, "{driver}: {}", report["failures"]);
        let requested = requested(&report, &["grpc", "/items"]);
        // One call more: the reflection request for the services.
        assert_eq!(stats["requests_by_path"]["grpc"], requested["grpc"] + 1, "{driver}");
        assert_eq!(stats["requests_by_path"]["/items"], requested["/items"], "{driver}");
        assert_eq!(report["requests"]["started"], requested.values().sum::<u64>(), "{driver}");
    }
}

/// Each example is in the tests above, and valid.
#[test]
fn all_of_them_are_here_and_right() {
    let files = std::fs::read_dir(FOLDER).expect("a folder").flatten().map(|entry| entry.path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["api", "chat", "day", "mixed", "shop"]);
    for name in names {
        let done = output(&["check", &format!("{FOLDER}/{name}.yaml")]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    }
}
