//! Users of scenario files on real threads: barriers, the setup of users before a rate, and shared connections.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use crate::seen::{ask, wait_for};
use crate::{Served, onrush, output, report, text};

fn write(name: &str, served: &Served, load: &str, meet: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("onrush-meet-{name}-{}.yaml", std::process::id()));
    let file = format!(
        "target: {}\nscenarios:\n  one:\n    load: {load}\n    steps:\n      - get: /\n      - think: 1ms-50ms\n      - barrier: {meet}\n      - {{get: /bytes/1, name: behind}}\n",
        served.url("").trim_end_matches('/')
    );
    std::fs::write(&path, file).expect("a place for it");
    path
}

/// Requests of the step after the barrier, by their planned instants.
fn instants(log: &std::path::Path) -> BTreeMap<String, usize> {
    let mut instants = BTreeMap::new();
    for line in std::fs::read_to_string(log).expect("a log").lines() {
        let columns: Vec<&str> = line.split(',').collect();
        if columns[2] == "behind" {
            *instants.entry(columns[0].to_owned()).or_default() += 1;
        }
    }
    instants
}

#[test]
fn users_of_all_threads_go_on_in_one_instant() {
    let served = Served::start();
    let path = write("all", &served, "{users: 30, iterations: 120}", "{name: peak, users: 30}");
    let (file, log) = (path.to_str().expect("UTF-8"), path.with_extension("csv"));
    for threads in ["1", "2", "4"] {
        let place = log.to_str().expect("UTF-8");
        let seen = report(&output(&["run", file, "--threads", threads, "--log", place, "-o", "json"]));
        let expect = serde_json::json!([{"name": "peak", "users": 30, "full": 4, "by_time": 0, "short": 0}]);
        assert_eq!((&seen["barriers"], &seen["requests"]["succeeded"]), (&expect, &240.into()), "{threads}");
        assert_eq!(instants(&log).into_values().collect::<Vec<_>>(), [30; 4], "{threads}");
    }
    // A single user does not wait, and neither does the rest of an incomplete round.
    let shown = output(&["run", file, "--debug"]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    assert!(text(&shown.stdout).contains("GET /bytes/1"), "{shown:?}");
    for (flags, said) in [
        (vec![], "peak: 1 of 2 rounds had fewer than 30 users; no more of them could come"),
        (vec!["--lang", "zh"], "peak：2 批中有 1 批不足 30 个用户"),
    ] {
        let reported = text(&output(&[&["run", file, "-n", "40"], &flags[..]].concat()).stdout);
        assert!(reported.contains(said), "{reported}");
    }
    for flags in [&["-c", "10"][..], &["--rendezvous"]] {
        let words = [&["run", file], flags].concat();
        let (english, chinese) = if flags.len() == 2 {
            ("'peak' waits for 30 users, and at most 10 can come", "集合点 'peak' 等待 30 个用户，但最多只有 10 个")
        } else {
            ("'barrier' and 'rendezvous' do not go together", "'barrier' 和 'rendezvous' 不能同时使用")
        };
        for (done, said) in [
            (output(&words), english),
            (onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), chinese),
        ] {
            assert_eq!(done.status.code(), Some(2), "{done:?}");
            assert!(text(&done.stderr).contains(said), "{done:?}");
        }
    }
    std::fs::remove_file(log).expect("it is there");
    std::fs::remove_file(path).expect("it is there");
}

/// A round of thirty never has more than fifteen users.
#[test]
fn time_lets_users_go_on() {
    let served = Served::start();
    let load = "{users: [\"15:600ms\", \"30:1ms\"]}";
    let path = write("time", &served, load, "{name: peak, users: 30, within: 50ms}");
    let seen = report(&output(&["run", path.to_str().expect("UTF-8"), "--threads", "2", "-o", "json"]));
    let barrier = &seen["barriers"][0];
    assert!(barrier["by_time"].as_u64() > Some(0) && barrier["full"] == 0, "{barrier}");
    assert_eq!(seen["requests"]["failed"], 0);
    std::fs::remove_file(path).expect("it is there");
}

/// Users of a rate log in once, and log out when all is over: each start that waits has a user in setup. The minimum
/// number of users is tested in the simulator.
#[test]
fn users_of_a_rate_start_and_stop_once() {
    let served = Served::start();
    let path = std::env::temp_dir().join(format!("onrush-carriers-{}.yaml", std::process::id()));
    let scenario = |connections: &str, gate: &str| {
        format!(
            "target: {}\nscenarios:\n  one:\n    load: {{rate: 1000/s, iterations: 40}}\n{connections}    on_start: [{{get: /gate/{gate}, name: login, timeout: 1h}}]\n    steps: [{{get: /bytes/1, name: page}}]\n    on_stop: [{{get: /bytes/2, name: logout}}]\n",
            served.url("").trim_end_matches('/')
        )
    };
    let file = path.to_str().expect("UTF-8");
    for (connections, users) in [("", 40), ("    connections: 8\n", 8)] {
        for threads in ["1", "2"] {
            let gate = format!("login-{users}-{threads}");
            std::fs::write(&path, scenario(connections, &gate)).expect("a place for it");
            assert_eq!(output(&["check", file]).status.code(), Some(0));
            let run = onrush(&["run", file, "--threads", threads, "-o", "json"]).stdout(Stdio::piped()).spawn();
            let run = run.expect("it starts");
            let waiting =
                || ask(&served, "GET", &format!("/gate/{gate}/waiting")).trim().parse::<u64>().expect("a number");
            wait_for("all of them log in", || waiting() == users);
            ask(&served, "POST", &format!("/gate/{gate}/open"));
            let seen = report(&run.wait_with_output().expect("it ends"));
            let of = |name: &str| {
                let steps = seen["steps"].as_array().expect("steps");
                let step = steps.iter().find(|step| step["name"] == name).expect(name);
                step["finished"].as_u64().expect("a number")
            };
            let (logins, pages, logouts) = (of("login"), of("page"), of("logout"));
            assert_eq!((pages, logins, logouts), (40, users, users), "{threads} {connections}");
            assert_eq!((&seen["requests"]["dropped"], &seen["requests"]["failed"]), (&0.into(), &0.into()));
        }
    }
    let shown = output(&["run", file, "--debug"]);
    let page = text(&shown.stdout);
    let places: Vec<_> =
        ["GET /gate/login-8-2", "GET /bytes/1", "GET /bytes/2"].iter().map(|line| page.find(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{page}");
    std::fs::remove_file(path).expect("it is there");
}

/// Users share connections: there are never more, and requests wait for them.
#[test]
fn users_share_connections() {
    let served = Served::start();
    let path = std::env::temp_dir().join(format!("onrush-sharing-{}.yaml", std::process::id()));
    let scenario = |defaults: &str| {
        format!(
            "target: {}\ndefaults: {{{defaults}}}\nscenarios:\n  one:\n    load: {{users: 20, iterations: 200}}\n    connections: 4\n    steps: [{{get: /delay/5}}]\n",
            served.url("").trim_end_matches('/')
        )
    };
    let file = path.to_str().expect("UTF-8");
    for (defaults, least_ms) in [("http: 1.1", 20.0), ("http: 2", 5.0)] {
        std::fs::write(&path, scenario(defaults)).expect("a place for it");
        assert_eq!(output(&["check", file]).status.code(), Some(0), "{defaults}");
        for threads in ["1", "2", "3"] {
            let seen = report(&output(&["run", file, "--threads", threads, "-o", "json"]));
            let requests = &seen["requests"];
            assert_eq!((&requests["succeeded"], &requests["failed"]), (&200.into(), &0.into()), "{defaults} {threads}");
            assert_eq!(seen["connections"]["established"], 4, "{defaults} {threads}");
            assert_eq!(seen["plan"]["connections"], 4);
            let mean = seen["times"]["succeeded"]["response_time"]["mean_ns"].as_f64().expect("a mean") / 1e6;
            assert!(mean >= least_ms, "{defaults} {threads}: {mean} ms");
        }
    }
    std::fs::write(&path, scenario("http: 1.1")).expect("a place for it");
    for (flags, said) in [(vec![], "20 users, sharing 4 connections"), (vec!["--lang", "zh"], "共用 4 个连接")] {
        let reported = text(&output(&[&["run", file, "--full"], &flags[..]].concat()).stdout);
        assert!(reported.contains(said), "{reported}");
    }
    let shown = output(&["run", file, "--debug"]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    std::fs::remove_file(path).expect("it is there");
}
