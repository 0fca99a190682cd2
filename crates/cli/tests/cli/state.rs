//! What users keep and do again: cookies, rows, workers, files of a folder, and blocks. The target's books have what the
//! report has.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::flows::books;
use crate::{Folder, Served, output, side_by_side};

/// Both drivers, and three workers.
const WAYS: [&[&str]; 3] = [&["--driver", "uring"], &["--driver", "poll"], &["--workers", "3"]];

/// Runs a file to its end, whatever its verdict; returns its report, and the target's requests by path and by user.
fn run(folder: &Folder, text: &str, flags: &[&str]) -> (Value, BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let served = Served::start();
    let file = folder.plan(&flags.concat(), &served, text);
    let done = output(&[&["run", &file, "--seed", "7", "-o", "json", "--quiet"], flags].concat());
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 1)), "{flags:?}: {stderr}");
    let report = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let (paths, users, _) = books(&served);
    (report, paths, users)
}

fn counts(rows: &[(&str, u64)]) -> BTreeMap<String, u64> {
    rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn a_failed_transaction_begins_again_as_a_whole() {
    let folder = Folder::new("state-blocks");
    let text = "fragments: {twice: [{get: /items}, {get: /status/503}]}\nscenarios:\n  one:\n    \
        load: {users: 5, iterations: 40}\n    steps:\n      - transaction: buy\n        \
        on_failure: {retry: 2, after: 2ms, then: continue}\n        steps: [{post: /echo}, {get: /status/500}]\n      \
        - {do: twice, on_failure: {retry: 1, then: continue}}\n      - get: /account\n        expect: {status: 401}\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, _) = run(&folder, text, flags);
        let wanted =
            counts(&[("POST /echo", 120), ("GET /status/{status}", 200), ("GET /items", 80), ("GET /account", 40)]);
        assert_eq!(paths, wanted, "{flags:?}");
        let buy = &report["scenarios"][0]["transactions"][0];
        assert_eq!((&buy["finished"], &buy["failed"]), (&40.into(), &40.into()), "{flags:?}");
        assert_eq!(report["requests"]["failed"], 200, "{flags:?}");
        assert_eq!(report["requests"]["iterations"]["completed"], 40, "{flags:?}");
    });
}

#[test]
fn cookies_are_cleared_and_set() {
    let folder = Folder::new("state-cookies");
    let text = "scenarios:\n  one:\n    load: {users: 4, iterations: 40}\n    on_start:\n      \
        - {post: /api/token, json: {user: \"u${vu.id}\"}, extract: {sid: cookie sid}}\n    steps:\n      \
        - {get: /account}\n      - cookies: {clear: true}\n      - get: /account\n        expect: {status: 401}\n      \
        - cookies: {set: {sid: \"${sid}\"}}\n      - {get: /account}\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, users) = run(&folder, text, flags);
        assert_eq!(report["requests"]["failed"], 0, "{flags:?}: {}", report["failures"]);
        assert_eq!(paths, counts(&[("POST /api/token", 4), ("GET /account", 120)]), "{flags:?}");
        // Their logins, and two of three requests of each iteration.
        assert_eq!(users.len(), 4, "{flags:?}");
        assert_eq!(users.values().sum::<u64>(), 4 + 80, "{flags:?}");
    });
}

#[test]
fn workers_have_numbers() {
    let folder = Folder::new("state-workers");
    let text = "scenarios:\n  one:\n    load: {users: 6, iterations: 60}\n    steps:\n      \
        - {post: /api/token, json: {user: \"w${vu.worker}\"}}\n";
    side_by_side(&WAYS, |flags| {
        let (_, paths, users) = run(&folder, text, flags);
        assert_eq!(paths, counts(&[("POST /api/token", 60)]), "{flags:?}");
        let names: Vec<&str> = users.keys().map(String::as_str).collect();
        let wanted: &[&str] = if flags.contains(&"--workers") { &["w1", "w2", "w3"] } else { &["w1"] };
        assert_eq!(names, wanted, "{flags:?}");
        assert_eq!(users.values().sum::<u64>(), 60, "{flags:?}");
    });
}

#[test]
fn files_of_a_folder_go_to_workers() {
    let folder = Folder::new("state-folder");
    std::fs::create_dir_all(folder.path("photos")).expect("a place for them");
    for number in 0..6_u8 {
        folder.file(&format!("photos/{number}.bin"), vec![number; 1_000]);
    }
    let text = "data: {photos: {folder: photos}}\nscenarios:\n  one:\n    load: {users: 3, iterations: 60}\n    \
        steps:\n      - post: /echo\n        body: {file: \"${photos.path}\"}\n        \
        expect: {size: \"== ${photos.bytes}\"}\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, _) = run(&folder, text, flags);
        assert_eq!(report["requests"]["failed"], 0, "{flags:?}: {}", report["failures"]);
        assert_eq!(paths, counts(&[("POST /echo", 60)]), "{flags:?}");
    });
}

#[test]
fn at_a_rate_row_k_is_that_of_the_kth_connection() {
    let folder = Folder::new("state-rows");
    let rows: String = (0..5).map(|number| format!("p{number}\n")).collect();
    folder.file("people.csv", format!("name\n{rows}"));
    let text = "data: {people: {file: people.csv, order: by_user}}\nscenarios:\n  one:\n    \
        load: {rate: 200, iterations: 100}\n    connections: 5\n    steps:\n      \
        - {post: /api/token, json: {user: \"${people.name}\"}}\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, users) = run(&folder, text, flags);
        assert_eq!(report["requests"]["failed"], 0, "{flags:?}: {}", report["failures"]);
        assert_eq!(paths, counts(&[("POST /api/token", 100)]), "{flags:?}");
        assert!(users.keys().all(|name| name.starts_with('p')), "{flags:?}: {users:?}");
        assert_eq!(users.values().sum::<u64>(), 100, "{flags:?}");
    });
}
