//! Users of several workers at a barrier in the middle of a scenario.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::recorder::Recorder;
use crate::seen::wait_for;
use crate::workers::{children, kill};
use crate::{Folder, onrush, output, report};

/// A scenario with a barrier between two steps.
fn scenario(folder: &Folder, target: &Recorder, load: &str, meet: &str) -> String {
    let file = folder.path("meet.yaml");
    let text = format!(
        "target: http://127.0.0.1:{}\nscenarios:\n  one:\n    load: {load}\n    steps:\n      - get: /before\n      - think: 0ms-20ms\n      - barrier: {meet}\n      - get: /behind\n",
        target.port
    );
    std::fs::write(&file, text).expect("a file");
    file
}

fn run(file: &str, words: &[&str]) -> Value {
    report(&output(&[&["run", file, "--workers", "3", "--no-save", "-o", "json"], words].concat()))
}

/// Requests before and after a barrier, in the order in which they came.
fn came(target: &Recorder) -> Vec<bool> {
    let is_behind = |start: &str| start.contains("/behind");
    target.take().iter().map(|came| is_behind(&came.start)).collect()
}

/// No user goes on before all of its round have arrived, on any worker.
#[test]
fn a_round_is_of_all_workers() {
    let (target, folder) = (Recorder::start("far-meetings"), Folder::new("far-meetings-file"));
    for (users, of, rounds) in [(30, 30, 4), (30, 10, 12)] {
        let load = format!("{{users: {users}, iterations: 120}}");
        let file = scenario(&folder, &target, &load, &format!("{{name: peak, users: {of}}}"));
        let seen = run(&file, &[]);
        let expect = json!([{"name": "peak", "users": of, "full": rounds, "by_time": 0, "short": 0}]);
        assert_eq!(
            (&seen["barriers"], &seen["requests"]["succeeded"]),
            (&expect, &240.into()),
            "{:#}",
            seen["workers"]
        );
        let (mut before, mut behind) = (0, 0);
        for is_behind in came(&target) {
            if is_behind {
                behind += 1
            } else {
                before += 1
            }
            // As many as make whole rounds may have gone on.
            assert!(behind <= before / of * of, "{behind} behind {before}");
        }
        assert_eq!((before, behind), (120, 120));
    }
    // The rest of an incomplete round does not wait for users that cannot come.
    let file = scenario(&folder, &target, "{users: 30, iterations: 40}", "{name: peak, users: 30}");
    let seen = run(&file, &[]);
    let expect = json!([{"name": "peak", "users": 30, "full": 1, "by_time": 0, "short": 1}]);
    assert_eq!((&seen["barriers"], &seen["requests"]["succeeded"]), (&expect, &80.into()), "{:#}", seen["workers"]);
}

/// Many rounds at once: all of them go on, though each worker receives their releases together.
#[test]
fn many_rounds_at_once_leave_nobody_behind() {
    let (target, folder) = (Recorder::start("far-meetings-many"), Folder::new("far-meetings-many-file"));
    for (users, of) in [(31, 2), (301, 3), (100, 7)] {
        let load = format!("{{users: {users}, iterations: {users}}}");
        let file = scenario(&folder, &target, &load, &format!("{{name: peak, users: {of}}}"));
        let seen = run(&file, &[]);
        let expect = json!([{"name": "peak", "users": of, "full": users / of, "by_time": 0, "short": 1}]);
        assert_eq!((&seen["barriers"], &seen["requests"]["succeeded"]), (&expect, &(2 * users).into()), "{users} {of}");
    }
}

/// A round of thirty never has more than fifteen users.
#[test]
fn time_lets_users_of_all_workers_go_on() {
    let (target, folder) = (Recorder::start("far-meetings-time"), Folder::new("far-meetings-time-file"));
    let load = "{users: [\"15:800ms\", \"30:1ms\"]}";
    let file = scenario(&folder, &target, load, "{name: peak, users: 30, within: 50ms}");
    let seen = run(&file, &[]);
    let barrier = &seen["barriers"][0];
    assert!(barrier["by_time"].as_u64() > Some(0) && barrier["full"] == 0, "{barrier}");
    assert_eq!(seen["requests"]["failed"], 0);
}

/// Users of a lost worker are not waited for.
#[test]
fn nobody_waits_for_a_worker_that_is_lost() {
    let (target, folder) = (Recorder::start("far-meetings-lost"), Folder::new("far-meetings-lost-file"));
    let file = scenario(&folder, &target, "{users: 30, iterations: 900}", "{name: peak, users: 30}");
    let words = ["run", &file, "--workers", "3", "--no-save", "-o", "json"];
    let child = onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut count = 0;
    wait_for("some rounds are over", || {
        count += target.take().len();
        count > 150
    });
    kill(children(&child)[1], "-KILL");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let seen = report(&done);
    let barrier = &seen["barriers"][0];
    // Twenty are left, and go on again and again.
    assert!(
        barrier["full"].as_u64() > Some(1) && barrier["short"].as_u64() > Some(5),
        "{barrier} {:#}",
        seen["workers"]
    );
}
