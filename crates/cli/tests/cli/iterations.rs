//! Iterations of several requests, by how they ended; and the messages about loads whose iterations did not end.

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::{Folder, Served, line_with, onrush, output, report, signal, text};

/// A scenario file of one test, removed with the value.
struct File(String);

impl File {
    fn new(name: &str, served: &Served, scenarios: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-iterations-{name}-{}.yaml", std::process::id()));
        let target = served.url("");
        let text = format!("target: {}\nscenarios:\n{scenarios}", target.trim_end_matches('/'));
        std::fs::write(&path, text).expect("a place for it");
        Self(path.to_str().expect("UTF-8").to_owned())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const FAILS: &str = "  fails:
    load: {users: 2, iterations: 5}
    steps: [{get: /bytes/1}, {get: /status/404}, {get: /bytes/2}]
";
const WORKS: &str = "  works:
    load: {rate: 100/s, iterations: 7, for: 1s}
    steps: [{get: /bytes/3}]
";

/// Each user has its own number, however they come, on any worker; -n counts all of them together.
#[test]
fn each_user_has_its_own_requests() {
    let served = Served::start();
    let url = served.url("/bytes/1");
    for words in
        [&[][..], &["--threads", "2"], &["--workers", "2"], &["--driver", "poll"], &["--http2"], &["--rendezvous"]]
    {
        let ramp: &[&str] = if words == ["--rendezvous"] { &[] } else { &["--ramp", "50ms"] };
        let all = [&["-c", "50", "--requests-each", "20", "-o", "json", &url], ramp, words].concat();
        let done = output(&all);
        let seen = report(&done);
        assert_eq!(seen["plan"]["requests_each"], 20, "{words:?}");
        assert_eq!((&seen["plan"]["requests"], &seen["plan"]["duration_s"]), (&Value::Null, &Value::Null));
        assert_eq!(
            (&seen["requests"]["started"], &seen["requests"]["succeeded"]),
            (&1_000.into(), &1_000.into()),
            "{words:?}"
        );
        assert_eq!(seen["connections"]["established"], 50, "{words:?}: a user is a connection");
        assert!(
            seen["about"]["plan"].as_str().expect("words").contains("20 requests each"),
            "{}",
            seen["about"]["plan"]
        );
        assert!(!text(&done.stderr).contains("of all users together"), "{done:?}");
    }
    let file = File::new(
        "each",
        &served,
        "  each:\n    load: {users: 3, ramp: 10ms, iterations: 90}\n    steps: [{get: /bytes/1}]\n",
    );
    let seen = report(&output(&["run", &file.0, "--requests-each", "7", "-o", "json"]));
    assert_eq!((&seen["requests"]["succeeded"], &seen["connections"]["established"]), (&21.into(), &3.into()));
    let shared = output(&["run", &file.0]);
    assert!(text(&shared.stderr).contains("iterations_per_user: 30 gives each of the 3 its own"), "{shared:?}");
    let hinted = output(&["-c", "50", "--ramp", "10ms", "-n", "1000", &url]);
    assert!(text(&hinted.stderr).contains("--requests-each 20 gives each of the 50 its own"), "{hinted:?}");
    let chinese = output(&["-c", "3", "--ramp", "10ms", "-n", "10", "--lang", "zh", &url]);
    assert!(text(&chinese.stderr).contains("要让每个用户各完成一定数量，请用 --requests-each N"), "{chinese:?}");
}

#[test]
fn requests_of_each_user_go_with_users_alone() {
    for (words, english, chinese) in [
        (&["-q", "5"][..], "--requests-each and -q cannot", "速率发起的请求不区分用户"),
        (&["-n", "5"], "leave one of them out", "所有用户合计的数量"),
        (&["--stages", "5:1s"], "--requests-each and --stages cannot", "速率发起的请求不区分用户"),
        (&["--warmup", "1s"], "use up their requests in the warm-up", "在预热中用完"),
    ] {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let all = [&["--requests-each", "2", "--lang", language, "http://127.0.0.1:1/"], words].concat();
            let said = output(&all);
            assert_eq!(said.status.code(), Some(2), "{words:?}");
            assert!(text(&said.stderr).contains(says), "{words:?} {said:?}");
        }
    }
    let said = output(&["--requests-each", "0", "http://127.0.0.1:1/"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

#[test]
fn a_load_of_which_no_iteration_came_to_its_end_did_not_succeed() {
    let served = Served::start();
    let file = File::new("fails", &served, FAILS);
    for driver in ["uring", "poll"] {
        let words = ["run", &file.0, "--driver", driver];
        for (language, says) in [("en", "0 iterations, 5 failed\n"), ("zh", "完成 0 次迭代，失败 5 次\n")] {
            let done = output(&[&words[..], &["--lang", language]].concat());
            assert_eq!(done.status.code(), Some(1), "{done:?}");
            assert!(text(&done.stdout).contains(says), "{}", text(&done.stdout));
        }
        let seen = report(&output(&[&words[..], &["-o", "json"]].concat()));
        assert_eq!(seen["requests"]["iterations"], serde_json::json!({ "completed": 0, "failed": 5, "aborted": 0 }));
        assert_eq!((&seen["requests"]["succeeded"], &seen["requests"]["failed"]), (&5.into(), &5.into()));
    }
    // Another scenario came to its end.
    let both = File::new("both", &served, &format!("{FAILS}{WORKS}"));
    let done = output(&["run", &both.0, "-o", "json"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let seen = report(&done);
    assert_eq!(seen["requests"]["iterations"], serde_json::json!({ "completed": 7, "failed": 5, "aborted": 0 }));
}

#[test]
fn each_scenario_says_where_it_goes_and_what_it_does() {
    let (served, other) = (Served::start(), Served::start());
    let there = WORKS.replace("/bytes/3", &other.url("/bytes/3"));
    let file = File::new("plans", &served, &format!("{FAILS}{there}"));
    for (language, says) in [
        (
            "en",
            ["fails: 3 steps in order, closed model, 2 users, 5 iterations", "works: GET /bytes/3, open model, 100/s"],
        ),
        ("zh", ["fails：3 个步骤依次执行，固定并发 2 个用户，共 5 次迭代", "works：GET /bytes/3，固定速率 100/s"]),
    ] {
        let done = output(&["run", &file.0, "--lang", language]);
        let page = text(&done.stdout);
        says.iter().for_each(|says| assert!(page.contains(says), "{says}: {page}"));
        for served in [&served, &other] {
            assert!(page.contains(served.url("").trim_end_matches('/')), "{page}");
        }
    }
    let seen = report(&output(&["run", &file.0, "-o", "json"]));
    let [fails, works] = [0, 1].map(|scenario| &seen["scenarios"][scenario]);
    assert_eq!((&fails["plan"]["model"], &works["plan"]["model"]), (&"closed".into(), &"open".into()));
    assert!(works["url"].as_str().is_some_and(|url| other.url("").starts_with(url.trim_end_matches("/bytes/3"))));
}

/// Ends a load by Ctrl-C when it has shown a row; once more when it has reported that.
fn interrupted(words: &[&str], is_twice: bool) -> (String, Output) {
    let mut child = onrush(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
    assert!(lines.any(|line| line.contains("0.")), "{words:?}");
    signal(&child, "-INT");
    if is_twice {
        // Two simultaneous signals are merged into one.
        line_with(&mut BufReader::new(child.stderr.as_mut().expect("a pipe")).lines(), "Ctrl-C again");
        signal(&child, "-INT");
    }
    let page: Vec<String> = lines.collect();
    (page.join("\n"), child.wait_with_output().expect("it ends"))
}

#[test]
fn a_load_stopped_early_kept_no_plan() {
    let served = Served::start();
    let json = std::env::temp_dir().join(format!("onrush-iterations-{}.json", std::process::id()));
    let json = json.to_str().expect("UTF-8");
    let report = || -> Value { serde_json::from_str(&std::fs::read_to_string(json).expect("written")).expect("JSON") };
    let plan = "  slow:
    load: {rate: 50/s, for: 1h}
    steps: [{get: /bytes/1}, {think: 1h}, {get: /bytes/1}]
";
    let rounds = File::new("rounds", &served, plan);
    let silent = served.url("/delay/600000");
    let rate = ["-q", "50", "-z", "1h", "--interval", "100ms", "--json", json];
    let run = ["run", rounds.0.as_str(), "--interval", "100ms", "--json", json];
    for (words, is_twice) in [([&rate[..], &["--grace", "1h", &silent]].concat(), true), (run.to_vec(), false)] {
        let (page, ended) = interrupted(&words, is_twice);
        assert_eq!(ended.status.code(), Some(130), "{ended:?} {page}");
        assert!(page.contains("stopped before the end") && !page.contains("was kept"), "{page}");
        assert_ne!(report()["verdict"]["kind"], "plan_kept");
    }
    // The last start before the stop counts for the time until the next would have come.
    let url = served.url("/");
    for driver in ["uring", "poll"] {
        let (page, _) = interrupted(&[&rate[..], &["--driver", driver, &url]].concat(), false);
        let seen = report();
        let [requested, achieved, done] =
            ["requested_per_s", "achieved_per_s", "requests_per_s"].map(|name| seen[name].as_f64().expect("a number"));
        assert!((requested - 50.0).abs() < 1e-6, "{requested} {page}");
        assert!([achieved, done].iter().all(|per_s| (0.0..=requested).contains(per_s)), "{achieved} {done} {page}");
    }
    let _ = std::fs::remove_file(json);
}

#[test]
fn words_that_cannot_be_meant_are_reported() {
    let served = Served::start();
    let file = File::new("words", &served, WORKS);
    let throws = "  throws:
    load: {users: 4, iterations: 8}
    steps: [{get: \"/items/${JSON.parse('null').x}\"}]
";
    let throws = File::new("throws", &served, throws);
    let url = served.url("/");
    for (words, code, says) in [
        (vec!["run", &file.0, "--var", "n"], 2, ["--var wants NAME=VALUE, like --var n=7", "--var 的值"]),
        (vec!["-z", "-1s", &url], 2, ["'-1s' is a negative time; a time is at least 0, like 1s", "'-1s' 是负数"]),
        (vec!["-z", "1s", "--grace", "-2.5m", &url], 2, ["like 2.5m", "例如 2.5m"]),
        (vec!["run", &throws.0], 3, ["none of 8 requests could be made", "8 个请求都无法生成"]),
    ] {
        for (language, says) in ["en", "zh"].into_iter().zip(says) {
            let done = output(&[&words[..], &["--lang", language]].concat());
            let complaint = text(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{words:?}: {complaint}");
            assert!(complaint.contains(says) && !complaint.contains("connections"), "{words:?}: {complaint}");
        }
    }
}

/// A rate starts iterations, and requests complete: two units, neither called by the other's name.
#[test]
fn a_rate_of_iterations_is_reported_beside_requests() {
    let (served, folder) = (Served::start(), Folder::new("iterations-units"));
    let rest = "scenarios:\n  m:\n    load: {rate: 100/s, iterations: 20}\n    steps: [{get: /bytes/1}, {get: /bytes/2}, {get: /bytes/3}]\n";
    let plan = folder.plan("units", &served, rest);
    let done = output(&["run", &plan]);
    let shown = text(&done.stdout);
    let line = |label: &str| shown.lines().find(|line| line.starts_with(label)).unwrap_or_default();
    assert!(line("Requests/s").contains(" completed; 100 iterations/s requested"), "{shown}");
    assert!(line("Requests  ").contains("60 started"), "{shown}");
    let done = output(&["run", &plan, "--lang", "zh"]);
    assert!(text(&done.stdout).contains("计划每秒 100 次迭代"), "{done:?}");
}
