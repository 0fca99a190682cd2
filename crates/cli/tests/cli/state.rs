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
    let report = run_against(&served, folder, text, flags);
    let (paths, users, _) = books(&served);
    (report, paths, users)
}

/// The same against a target that is there; returns the report.
fn run_against(served: &Served, folder: &Folder, text: &str, flags: &[&str]) -> Value {
    let file = folder.plan(&flags.concat(), served, text);
    let done = output(&[&["run", &file, "--seed", "7", "-o", "json", "--quiet"], flags].concat());
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 1)), "{flags:?}: {stderr}");
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
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
        - {do: twice, on_failure: {retry: 1, then: continue}}\n      - get: /account\n        expect: {status: 401}\n\
        thresholds: [\"retried == 120\", \"failed_for_good(GET /status/500) == 40\", \
        \"retried(GET /status/503) / failed(GET /status/503) <= 50%\"]\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, _) = run(&folder, text, flags);
        let wanted =
            counts(&[("POST /echo", 120), ("GET /status/{status}", 200), ("GET /items", 80), ("GET /account", 40)]);
        assert_eq!(paths, wanted, "{flags:?}");
        let buy = &report["scenarios"][0]["transactions"][0];
        assert_eq!((&buy["finished"], &buy["failed"]), (&40.into(), &40.into()), "{flags:?}");
        // Two of three tries, and one of two, were followed by another.
        assert_eq!((&report["requests"]["failed"], &report["requests"]["retried"]), (&200.into(), &120.into()));
        let steps = report["scenarios"][0]["steps"].as_array().expect("a list");
        let of = |name: &str| steps.iter().find(|step| step["name"] == name).expect("a step");
        assert_eq!((&of("GET /status/500")["failed"], &of("GET /status/500")["retried"]), (&120.into(), &80.into()));
        assert_eq!((&of("GET /status/503")["failed"], &of("GET /status/503")["retried"]), (&80.into(), &40.into()));
        assert!(report["thresholds"].as_array().is_some_and(|all| all.iter().all(|one| one["holds"] == true)));
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

/// Requests of a list are made side by side: each item has its own, and what one of them gives stands when all have ended.
#[test]
fn items_are_requested_side_by_side() {
    let folder = Folder::new("state-items");
    let text = "scenarios:\n  one:\n    load: {users: 4, iterations: 40}\n    steps:\n      - get: /search?q=lamp\n        \
        extract: {items: json $.items, total: json $.total}\n      - set: {last: 0}\n      - for_each: items\n        as: item\n        \
        at_once: 3\n        steps:\n          - {get: \"${item}\", name: item, extract: {price: json $.price}}\n          \
        - {get: /status/500, on_failure: continue}\n      - {check: price > 0 && loop.index == null, name: price}\n      \
        - {get: \"${item}\", name: last, extract: {again: json $.price}}\n      - {check: again == price, name: again}\n";
    side_by_side(&WAYS, |flags| {
        let (report, paths, _) = run(&folder, text, flags);
        let items = report["scenarios"][0]["steps"][1]["finished"].as_u64().expect("a number");
        assert_eq!(items, 200, "{flags:?}: a search finds five");
        let wanted = counts(&[("GET /items/{id}", 240), ("GET /search", 40), ("GET /status/{status}", 200)]);
        assert_eq!(paths, wanted, "{flags:?}");
        let checks = report["scenarios"][0]["checks"].as_array().expect("a list");
        assert!(checks.iter().all(|check| check["passed"] == 40 && check["failed"] == 0), "{flags:?}: {checks:?}");
        assert_eq!(report["requests"]["failed"], 200, "{flags:?}");
        assert_eq!(report["requests"]["iterations"]["completed"], 40, "{flags:?}");
    });
}

/// A URL that is drawn leads where it was drawn to, and an origin is no target of the scenario.
#[test]
fn drawn_urls_lead_where_they_say() {
    let folder = Folder::new("state-drawn");
    side_by_side(&WAYS, |flags| {
        let (near, other) = (Served::start(), Served::start());
        let origin = other.url("").replace("http://", "HTTP://");
        let text = format!(
            "vars: {{p: \"{}\"}}\norigins: [\"${{p}}\"]\nscenarios:\n  one:\n    load: {{users: 4, iterations: 200}}\n    steps:\n      \
             - set: {{all: [/items/1, \"{}\", \"{}\"]}}\n      - {{get: \"${{all[random(0,2)]}}\", headers: {{host: shop.test}}}}\n",
            origin.trim_end_matches('/'),
            other.url("/search?q=lamp"),
            near.url("/items/3"),
        );
        let report = run_against(&near, &folder, &text, flags);
        assert_eq!(report["requests"]["succeeded"], 200, "{flags:?}: {}", report["failures"]);
        let (here, there) = (books(&near).0, books(&other).0);
        assert_eq!(
            here.keys().chain(there.keys()).collect::<Vec<_>>(),
            ["GET /items/{id}", "GET /search"],
            "{flags:?}"
        );
        assert_eq!(here["GET /items/{id}"] + there["GET /search"], 200, "{flags:?}");
        let url = report["scenarios"][0]["url"].as_str().expect("a URL");
        assert!(url.starts_with(&near.url("/")), "{url}");
    });
}

/// A URL of a response leads to the target, to an origin of the file, and nowhere else.
#[test]
fn urls_of_responses_lead_to_origins() {
    let folder = Folder::new("state-origins");
    side_by_side(&WAYS, |flags| {
        let (near, other) = (Served::start(), Served::start());
        let (third, at) = (Served::start(), |served: &Served, path: &str| served.url(path));
        let origin = at(&other, "").trim_end_matches('/').to_owned();
        let text = format!(
            "origins: [{origin}, http://127.0.0.1:1]\nscenarios:\n  one:\n    load: {{users: 4, iterations: 40}}\n    \
             steps:\n      - {{post: /echo, body: {}, extract: {{link: body}}}}\n      - {{get: \"${{link}}?n=1\", name: there}}\n      \
             - {{post: /echo, body: {}, extract: {{link: body}}}}\n      - {{get: \"${{link}}\", name: here}}\n      \
             - {{post: /echo, body: {}, extract: {{link: body}}}}\n      - {{get: \"${{link}}\", name: nowhere, on_failure: continue}}\n",
            at(&other, "/items"),
            at(&near, "/items"),
            at(&third, "/items"),
        );
        let report = run_against(&near, &folder, &text, flags);
        assert_eq!(books(&near).0, counts(&[("GET /items", 40), ("POST /echo", 120)]), "{flags:?}");
        assert_eq!(books(&other).0, counts(&[("GET /items", 40)]), "{flags:?}");
        assert_eq!(books(&third).0, counts(&[]), "{flags:?}");
        let steps = report["scenarios"][0]["steps"].as_array().expect("a list");
        let of = |name: &str| steps.iter().find(|step| step["name"] == name).expect("a step");
        assert_eq!((&of("there")["finished"], &of("there")["failed"]), (&40.into(), &0.into()), "{flags:?}");
        assert_eq!((&of("nowhere")["failed"], &report["requests"]["failed"]), (&40.into(), &40.into()), "{flags:?}");
    });
}
