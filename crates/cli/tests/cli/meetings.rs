//! Users of a scenario file that wait for each other, on real threads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Served, onrush, output, report, text};

fn write(name: &str, served: &Served, load: &str, meet: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("onrush-meet-{name}-{}.yaml", std::process::id()));
    let file = format!(
        "target: {}\nscenarios:\n  one:\n    load: {load}\n    steps:\n      - get: /\n      - think: 1ms-50ms\n      - meet: {meet}\n      - {{get: /bytes/1, name: behind}}\n",
        served.url("").trim_end_matches('/')
    );
    std::fs::write(&path, file).expect("a place for it");
    path
}

/// Requests of the step behind the meeting, by the instants at which they were planned.
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
        assert_eq!((&seen["meetings"], &seen["requests"]["succeeded"]), (&expect, &240.into()), "{threads}");
        assert_eq!(instants(&log).into_values().collect::<Vec<_>>(), [30; 4], "{threads}");
    }
    // One user waits for nobody, and what is left of an unfinished round does not either.
    let shown = output(&["run", file, "--debug"]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    assert!(text(&shown.stdout).contains("GET /bytes/1"), "{shown:?}");
    for (flags, said) in [
        (vec![], "peak: 1 of 2 rounds had fewer than 30 users; no more of them could come"),
        (vec!["--lang", "zh"], "peak：2 轮中有 1 轮不足 30 个用户"),
    ] {
        let told = text(&output(&[&["run", file, "-n", "40"], &flags[..]].concat()).stdout);
        assert!(told.contains(said), "{told}");
    }
    for flags in [&["-c", "10"][..], &["--rendezvous"]] {
        let words = [&["run", file], flags].concat();
        let (english, chinese) = if flags.len() == 2 {
            ("'peak' waits for 30 users, and at most 10 can come", "集合点 'peak' 等待 30 个用户，但最多只有 10 个")
        } else {
            ("'meet' and 'rendezvous' do not go together", "'meet' 和 'rendezvous' 不能同时使用")
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

/// Of a round of thirty there are never more than fifteen.
#[test]
fn time_lets_users_go_on() {
    let served = Served::start();
    let load = "{users: [\"15:2s\", \"30:1ms\"]}";
    let path = write("time", &served, load, "{name: peak, users: 30, within: 100ms}");
    let seen = report(&output(&["run", path.to_str().expect("UTF-8"), "--threads", "2", "-o", "json"]));
    let meeting = &seen["meetings"][0];
    assert!(meeting["by_time"].as_u64() > Some(0) && meeting["full"] == 0, "{meeting}");
    assert_eq!(seen["requests"]["failed"], 0);
    std::fs::remove_file(path).expect("it is there");
}
