//! Flags next to a scenario file win over it, or are refused; and the file's `run` section is applied.

use crate::examples::by_path;
use crate::seen::stats;
use crate::usage::check;
use crate::{Served, onrush, output, report, text};

const FILE: &str = "defaults: {timeout: 9s, headers: {X-From: file}}
scenarios:
  one:
    load: {users: 3, iterations: 30}
    steps:
      - get: /echo/headers
        name: echo
";

fn write(name: &str, served: &Served, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("onrush-given-{name}-{}.yaml", std::process::id()));
    std::fs::write(&path, format!("target: {}\n{text}", served.url("").trim_end_matches('/'))).expect("a place for it");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn flags_win_over_the_file() {
    let served = Served::start();
    let file = FILE.replace("/echo/headers", "/bytes/7");
    let path = write("win", &served, &file);
    let run = |flags: &[&str]| report(&output(&[&["run", &path, "-o", "json"], flags].concat()));
    let count = |seen: &serde_json::Value| seen["requests"]["started"].as_u64().expect("a number");
    let mut sum = 0;
    for (flags, expect) in [
        (&[][..], 30),
        (&["-n", "12"], 12),
        (&["-c", "1", "-n", "5"], 5),
        (&["-q", "200", "-n", "40"], 40),
        (&["-q", "250", "-z", "200ms", "-c", "4"], 50),
        (&["--stages", "500:100ms,500:100ms"], 75),
        (&["--budget", "requests=9"], 9),
        (&["-n", "6", "--only", "one", "--seed", "4", "--grace", "1s", "--interval", "100ms", "--http1.1"], 6),
        (&["-n", "7", "-H", "X-From: flag", "-t", "5s", "--no-keepalive", "--threads", "1", "-L"], 7),
    ] {
        let seen = run(flags);
        assert_eq!((count(&seen), &seen["requests"]["failed"]), (expect, &0.into()), "{flags:?}");
        sum += expect;
        assert_eq!(by_path(&stats(&served))["/bytes"], sum, "{flags:?}");
    }
    // An expectation of the command line holds for each step.
    let failed = output(&["run", &path, "-n", "2", "--expect-status", "404", "--quiet"]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let shown = output(&["run", &path, "--debug", "-A", "me/1", "-H", "X-From: flag", "-u", "bob:pw"]);
    let page = text(&shown.stdout);
    assert!(
        page.contains("User-Agent: me/1") && page.contains("X-From: flag") && !page.contains("X-From: file"),
        "{page}"
    );
    assert!(page.contains("Authorization: ") && !page.contains(": file"), "{page}");
    for (words, en, zh) in [
        (vec!["run", &path, "-X", "PUT"], "-X describes one request", "-X 描述的是单个请求"),
        (vec!["run", &path, "-d", "x"], "-d describes one request", "-d 描述的是单个请求"),
        (vec!["run", &path, "-q", "x"], "-q", "-q"),
    ] {
        check(&output(&words), 2, en);
        check(&onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), 2, zh);
    }
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn a_load_is_of_one_scenario() {
    let served = Served::start();
    let text = "scenarios:\n  a: {load: {users: 1, iterations: 2}, steps: [get: /bytes/1]}\n  b: {load: {users: 1, iterations: 2}, steps: [get: /bytes/2]}\n";
    let path = write("two", &served, text);
    check(
        &output(&["run", &path, "-n", "5"]),
        2,
        "-n is the load of one scenario, and 2 of them run; choose one with --only NAME: a, b",
    );
    let seen = report(&output(&["run", &path, "-n", "5", "--only", "b", "-o", "json"]));
    assert_eq!(seen["requests"]["started"], 5);
    std::fs::remove_file(path).expect("it is there");
}

/// The file's `run` section is applied, and flags win over that too.
#[test]
fn the_run_of_a_file_is_as_it_says() {
    let served = Served::start();
    let folder = std::env::temp_dir().join(format!("onrush-run-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place for it");
    let at = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let run = format!(
        "run: {{json: {}, hdr: {}, log: {}, threads: 1, interval: 100ms}}\n",
        at("a.json"),
        at("a.hdr"),
        at("a.log")
    );
    let path = write("run", &served, &format!("{run}{}", FILE.replace("/echo/headers", "/bytes/7")));
    let done = output(&["run", &path, "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(at("a.json")).expect("a report")).expect("JSON");
    assert_eq!((&json["requests"]["started"], &json["generator"]["threads"]), (&30.into(), &1.into()), "{json:#}");
    assert_eq!(std::fs::read_to_string(at("a.log")).expect("a log").lines().count(), 30);
    assert!(std::fs::metadata(at("a.hdr")).expect("percentiles").len() > 0);
    let shown = output(&["run", &path, "--debug"]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    let done = output(&["run", &path, "--quiet", "--json", &at("b.json"), "--threads", "2"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(at("b.json")).expect("a report")).expect("JSON");
    assert_eq!(json["generator"]["threads"], 2);
    std::fs::remove_dir_all(folder).expect("it is there");
    std::fs::remove_file(path).expect("it is there");
}

/// Values of the setup are available in the run, and generated values are shown as written.
#[test]
fn what_is_taken_before_is_there_and_shown_as_written() {
    let served = Served::start();
    let text = "setup:\n  - {get: /items/7, extract: {sku: json $.sku, next: json $.next}}\n\
                teardown:\n  - {get: \"/items/${sku}\", expect: {status: 200}}\n\
                scenarios:\n  one:\n    load: {users: 2, iterations: 10}\n    steps:\n      \
                - {get: \"/items/${sku}?q=${random(1,5)}\"}\n      - {get: \"${next}\", expect: {status: 200}}\n";
    let path = write("before", &served, text);
    assert_eq!(output(&["check", &path]).status.code(), Some(0));
    let done = output(&["run", &path, "-o", "json"]);
    let seen = report(&done);
    assert_eq!((done.status.code(), &seen["requests"]["failed"]), (Some(0), &0.into()), "{seen:#}");
    assert_eq!(by_path(&stats(&served))["/items"], 22);
    assert!(!seen.to_string().contains("q7z"), "{seen:#}");
    let page = output(&["run", &path]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("?q=${random(1,5)}") && !page.contains("q7z"), "{page}");
    std::fs::remove_file(path).expect("it is there");
}

/// The requested rate counts requests of an iteration, not written steps.
#[test]
fn rates_ask_for_what_iterations_do() {
    let served = Served::start();
    for (steps, each) in [
        ("- {repeat: 5, steps: [get: /bytes/1]}", Some(5.0)),
        ("- {choose: [{weight: 1, steps: [get: /bytes/1]}, {weight: 3, steps: [get: /bytes/2]}]}", Some(1.0)),
        ("- {parallel: 2, steps: [get: /bytes/1, get: /bytes/2, get: /bytes/3]}", Some(3.0)),
        ("- {choose: [{weight: 1, steps: [get: /bytes/1]}, {weight: 3, steps: []}]}\n      - get: /bytes/3", None),
        ("- get: /bytes/1\n      - {repeat: 1-3, steps: [get: /bytes/2]}", None),
    ] {
        let text = format!("scenarios:\n  one:\n    load: {{rate: 500/s, for: 200ms}}\n    steps:\n      {steps}\n");
        let path = write("rates", &served, &text);
        let seen = report(&output(&["run", &path, "-o", "json"]));
        let (requested, started) =
            (seen["requested_per_s"].as_f64(), seen["requests"]["started"].as_f64().expect("a number"));
        let expect = each.map_or(started / 0.2, |each| 500.0 * each);
        assert!(
            requested.is_some_and(|requested| (requested / expect - 1.0).abs() < 0.001),
            "{steps}: {requested:?} of {expect}"
        );
        std::fs::remove_file(path).expect("it is there");
    }
}

/// A receiving step waits up to its timeout, each time anew.
#[test]
fn a_message_that_never_comes_is_incomplete() {
    let served = Served::with(&["--tcp", "0"]);
    let ws = served.url("/").replace("http://", "ws://");
    for driver in ["uring", "poll"] {
        let steps = "[{send: hello}, {receive: {within: 1h}}, {receive: {within: 50ms}}]";
        let text = format!(
            "scenarios: {{one: {{load: {{users: 3, iterations: 6}}, steps: [{{websocket: '{ws}', steps: {steps}}}]}}}}\n"
        );
        let path = write("listens", &served, &text);
        let seen = report(&output(&["run", &path, "-o", "json", "--driver", driver]));
        let requests = &seen["requests"];
        assert_eq!(
            (&requests["started"], &requests["succeeded"], &requests["failed"]),
            (&12.into(), &6.into(), &6.into()),
            "{seen:#}"
        );
        assert_eq!(seen["failures"][0]["reason"], "timeout", "{seen:#}");
        std::fs::remove_file(path).expect("it is there");
    }
}

#[test]
fn messages_that_are_pushed_are_received_one_after_the_other() {
    let served = Served::with(&["--push", "20ms"]);
    let ws = served.url("/").replace("http://", "ws://");
    for driver in ["uring", "poll"] {
        let steps = "[{receive: {within: 1h}}, {receive: {within: 1h}}, {send: hi}, {receive: {within: 1h}}]";
        let text = format!(
            "scenarios: {{one: {{load: {{users: 2, iterations: 6}}, steps: [{{websocket: '{ws}', steps: {steps}}}]}}}}\n"
        );
        let path = write("pushed", &served, &text);
        let seen = report(&output(&["run", &path, "-o", "json", "--driver", driver]));
        let requests = &seen["requests"];
        assert_eq!((&requests["started"], &requests["succeeded"]), (&18.into(), &18.into()), "{seen:#}");
        assert_eq!(requests["iterations"]["completed"], 6, "{seen:#}");
        std::fs::remove_file(path).expect("it is there");
    }
}

#[test]
fn two_reports_have_two_files() {
    let served = Served::start();
    let folder = std::env::temp_dir().join(format!("onrush-two-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).expect("a place for it");
    let at = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    std::os::unix::fs::symlink(at("x"), at("link")).expect("a link");
    let url = served.url("/");
    for (one, other) in [("x", "x"), ("x", "inner/../x"), ("x", "link")] {
        std::fs::write(at("x"), "").expect("a place for it");
        for flags in [["--json", "--log"], ["--log", "--json"]] {
            let words = ["-n", "1", flags[0], &at(one), flags[1], &at(other), &url];
            check(&output(&words), 2, "two reports would go into it");
        }
    }
    assert_eq!(output(&["-n", "1", "--json", "/dev/null", "--log", "/dev/null", &url]).status.code(), Some(0));
    std::fs::remove_dir_all(folder).expect("it is there");
}

/// An explicit header wins over a flag that makes one, as with curl.
#[test]
fn a_header_that_is_written_out_is_sent_once() {
    let served = crate::Served::start();
    let words =
        ["--debug", "-u", "a:b", "-H", "Authorization: Bearer t", "-b", "x=1", "-H", "Cookie: y=2", "--show-secrets"];
    let shown = crate::output(&[&words[..], &[&served.url("/")]].concat());
    let page = crate::text(&shown.stdout);
    for (header, sent) in [("> Authorization: ", "Bearer t"), ("> Cookie: ", "y=2")] {
        let lines: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(header)).collect();
        assert_eq!(lines, [sent], "{page}");
    }
}
