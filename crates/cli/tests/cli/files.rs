//! Scenario files as users write them, for past errors.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::examples::by_path;
use crate::seen::{stats, wait_for};
use crate::{Folder, Served, closed_port, line_with, next_of, onrush, output, report, signal, text};

fn steps(seen: &Value, scenario: usize) -> Vec<(String, u64, u64)> {
    let of = |step: &Value| {
        let count = |key: &str| step[key].as_u64().expect("a count");
        (step["name"].as_str().expect("a name").to_owned(), count("finished"), count("failed"))
    };
    seen["scenarios"][scenario]["steps"].as_array().expect("steps").iter().map(of).collect()
}

#[test]
fn rows_in_gbk_are_read_by_the_names_of_their_columns() {
    let (served, folder) = (Served::start(), Folder::new("files-gbk"));
    folder.file("towns.csv", b"city,\xbc\xdb\xb8\xf1\n\xb1\xb1\xbe\xa9,12\n");
    let rest = "data: {t: {file: towns.csv, encoding: gbk}}\nscenarios:\n  one:\n    load: {users: 1, iterations: 1}\n    steps:\n      - post: /echo\n        body: \"${t.city} ${t.价格}\"\n        expect: {body: 北京 12}\n";
    let plan = folder.plan("gbk", &served, rest);
    for words in [vec!["check", &plan], vec!["run", &plan]] {
        let done = output(&words);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
    }
}

#[test]
fn a_message_is_looked_at_whichever_step_opened_its_connection() {
    let (served, folder) = (Served::start(), Folder::new("files-kept"));
    let rest = "scenarios:\n  one:\n    load: {users: 3, iterations: 9}\n    steps:\n      - websocket: /ws\n        steps:\n          - send: a\n          - receive: {within: 5s}\n          - send: b\n          - receive: {within: 5s, expect: {body: b}}\n          - send: tok\n          - receive: {within: 5s, extract: {x: body}}\n      - post: /echo\n        body: ${x}\n        expect: {body: tok}\n";
    let plan = folder.plan("kept", &served, rest);
    for driver in ["uring", "poll"] {
        let done = output(&["run", &plan, "--driver", driver]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
    }
}

/// A generated message awaits a response that does not come, while others do.
#[test]
fn what_is_passed_over_may_be_made_for_its_exchange() {
    let (served, folder) = (Served::start(), Folder::new("files-passed"));
    let rest = "scenarios:\n  one:\n    load: {users: 2, iterations: 4}\n    steps:\n      - websocket: /ws\n        steps:\n          - send: \"x ${counter()}\"\n          - receive: {within: 200ms, expect: {body: zzz}}\n";
    let plan = folder.plan("passed", &served, rest);
    for (language, says) in
        [("en", "no message met 'expect' within 200ms"), ("zh", "200ms 内没有收到符合 expect 的消息")]
    {
        let done = output(&["run", &plan, "--lang", language]);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(text(&done.stdout).contains(says), "{}", text(&done.stdout));
    }
}

#[test]
fn a_host_that_refuses_ends_no_run_that_has_others() {
    let (served, folder, dead) = (Served::start(), Folder::new("files-dead"), closed_port());
    let rest = format!(
        "scenarios:\n  one:\n    load: {{users: 1, iterations: 3}}\n    steps:\n      - {{get: \"http://127.0.0.1:{dead}/\", on_failure: continue}}\n      - get: /bytes/1\n"
    );
    let plan = folder.plan("dead", &served, &rest);
    for driver in ["uring", "poll"] {
        let done = output(&["run", &plan, "--driver", driver, "-o", "json"]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let counts: Vec<(u64, u64)> =
            steps(&report(&done), 0).into_iter().map(|(_, all, failed)| (all, failed)).collect();
        assert_eq!(counts, [(3, 3), (3, 0)]);
    }
    let done = output(&["run", &plan]);
    assert!(!text(&done.stdout).contains("stopped taking connections"), "{done:?}");
}

#[test]
fn users_that_never_get_ready_do_nothing_that_counts() {
    let (served, folder) = (Served::start(), Folder::new("files-ready"));
    let rest = "scenarios:\n  one:\n    load: {users: 2, for: 1s}\n    on_start: [{get: /status/500}]\n    steps: [{get: /bytes/1}]\n    on_stop: [{get: /bytes/2}]\n";
    let plan = folder.plan("ready", &served, rest);
    let done = output(&["run", &plan, "-o", "json"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert_eq!(report(&done)["requests"]["iterations"], json!({ "completed": 0, "failed": 0, "aborted": 0 }));
}

#[test]
fn rows_that_are_used_up_end_users_before_they_begin() {
    let (served, folder) = (Served::start(), Folder::new("files-start"));
    folder.file("keys.csv", "k\n1\n2\n3\n");
    let rest = "data: {k: {file: keys.csv, sharing: unique}}\nscenarios:\n  one:\n    load: {users: 5, iterations_per_user: 2}\n    on_start: [{get: \"/search?q=${k.k}\"}]\n    steps: [{get: /bytes/1}]\n";
    let plan = folder.plan("start", &served, rest);
    let done = output(&["run", &plan, "--no-abort-on-failures", "-o", "json"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let seen = report(&done);
    let counts: Vec<(u64, u64)> = steps(&seen, 0).into_iter().map(|(_, all, failed)| (all, failed)).collect();
    assert_eq!(counts, [(3, 0), (6, 0)], "{seen}");
}

#[test]
fn a_load_by_seeds_is_another_for_each_scenario() {
    let (served, folder) = (Served::start(), Folder::new("files-seeds"));
    let load = "load: {rate: 400/s, for: 300ms, arrivals: poisson}\n    steps: [{get: /bytes/1}]\n";
    let rest = format!("scenarios:\n  one:\n    {load}  two:\n    {load}");
    let plan = folder.plan("seeds", &served, &rest);
    let instants = |seed: &str| {
        let log = folder.path("log.json");
        let done = output(&["run", &plan, "--seed", seed, "--log", &log]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let lines = std::fs::read_to_string(log).expect("a log");
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let mut of = ["one", "two"].map(|name| {
            let own = lines.iter().filter(|line| line["scenario"] == *name);
            own.map(|line| (line["at_s"].as_f64().expect("an instant") * 1e9) as u64).collect::<Vec<u64>>()
        });
        of.iter_mut().for_each(|all| all.sort_unstable());
        of
    };
    let ([one, two], again) = (instants("9"), instants("9"));
    assert!(one.len() > 50 && two.len() > 50 && one != two, "{one:?} {two:?}");
    assert_eq!([one.clone(), two], again);
    assert_ne!(instants("10")[0], one);
}

#[test]
fn users_that_pause_are_reported_from_a_slow_target() {
    let (served, folder) = (Served::start(), Folder::new("files-pause"));
    let rest = "scenarios:\n  m:\n    load: {rate: 50/s, iterations: 20}\n    connections: 4\n    steps: [{get: /bytes/1}, {think: 150ms}]\n";
    let plan = folder.plan("pause", &served, rest);
    let seen = report(&output(&["run", &plan, "-o", "json"]));
    assert_eq!((&seen["requested_per_s"], &seen["requests"]["succeeded"]), (&50.0.into(), &20.into()), "{seen}");
    // Five rounds of four users, and a pause in each: the verdict on such figures is tested with given figures.
    assert!(seen["wall_s"].as_f64() >= Some(0.6), "{seen}");
    // The last was due before 0.4 s.
    let slowest = &seen["times"]["succeeded"]["response_time"]["max_ns"];
    assert!(slowest.as_u64() >= Some(200_000_000), "{seen:#}");
}

#[test]
fn retries_are_no_rate_that_was_achieved() {
    let (served, folder) = (Served::start(), Folder::new("files-retries"));
    let rest = "scenarios:\n  r:\n    load: {rate: 10/s, iterations: 10}\n    steps: [{get: /status/500, on_failure: retry 7}]\n";
    let plan = folder.plan("retries", &served, rest);
    let seen = report(&output(&["run", &plan, "-o", "json"]));
    assert_eq!((&seen["requests"]["started"], &seen["requested_per_s"]), (&80.into(), &10.0.into()), "{seen}");
    let achieved = seen["achieved_per_s"].as_f64().expect("a rate");
    assert!(achieved > 0.0 && achieved < 20.0, "{achieved}");
}

#[test]
fn thresholds_of_a_part_stand_on_the_command_line_too() {
    let (served, folder) = (Served::start(), Folder::new("files-parts"));
    let rest = "scenarios:\n  a:\n    load: {users: 1, iterations: 3}\n    steps: [{get: /bytes/1, name: see}]\n  b:\n    load: {users: 1, iterations: 3}\n    steps: [{get: /delay/2, name: wait}]\nthresholds: [\"p99(response_time, wait) < 60s\"]\n";
    let plan = folder.plan("parts", &served, rest);
    for (words, code) in [
        (&["--threshold", "p99(response_time, see) < 60s"][..], 0),
        (&["--threshold", "p99(response_time, wait) < 1us"], 1),
        // The threshold of the file is on a scenario that does not run.
        (&["--only", "a"], 0),
        (&["--threshold", "p99(response_time, sea) < 1s"], 2),
        (&["--threshold", "p99(response_time, see) < 1us, abort"], 2),
    ] {
        let done = output(&[&["run", plan.as_str()], words].concat());
        assert_eq!(done.status.code(), Some(code), "{words:?} {done:?}");
    }
    let wrong = output(&["run", &plan, "--threshold", "p99(response_time, sea) < 1s"]);
    assert!(text(&wrong.stderr).contains("nothing is called 'sea'; there are: a, see, b, wait"), "{wrong:?}");
}

/// A step that is counted with others has no figures of its own, so a threshold on it is refused, also by `check`.
#[test]
fn thresholds_name_what_has_figures_of_its_own() {
    let (served, folder) = (Served::start(), Folder::new("files-series"));
    let steps: String = (0..70).map(|number| format!("{{get: /bytes/1, name: s{number}}}, ")).collect();
    let with = |threshold: &str| {
        let load = "load: {users: 1, iterations: 2}";
        let twin =
            format!("  twin:\n    {load}\n    steps: [{{transaction: t, steps: [{{get: /bytes/1, name: s1}}]}}]\n");
        let many = format!("  many:\n    {load}\n    steps: [{steps}]\n");
        folder.plan("series", &served, &format!("scenarios:\n{twin}{many}thresholds: [\"{threshold}\"]\n"))
    };
    for (threshold, code, says) in [
        ("done(s1) >= 4", 0, ""),
        ("done(s1) >= 5", 1, ""),
        ("failed(s1) / done(s1) <= 0", 0, ""),
        ("done(t) >= 2", 0, ""),
        ("done(s69) >= 1", 2, "counted together with others"),
        ("dropped(s1) <= 0", 2, "known of a whole run or scenario only"),
        ("failed(s1) / done <= 0", 2, "names it on both sides"),
    ] {
        let plan = with(threshold);
        let done = output(&["run", &plan]);
        assert_eq!(done.status.code(), Some(code), "{threshold} {done:?}");
        let checked = output(&["check", &plan]);
        assert_eq!(checked.status.code(), Some(if code == 2 { 1 } else { 0 }), "{threshold} {checked:?}");
        let (said, seen) = (text(&done.stderr).to_owned(), [&checked.stdout[..], &checked.stderr].concat());
        assert!(said.contains(says) && text(&seen).contains(says), "{threshold} {said} {}", text(&seen));
    }
    let chinese = output(&["run", &with("done(s69) >= 1"), "--lang", "zh"]);
    assert!(text(&chinese.stderr).contains("与其他的合并统计"), "{chinese:?}");
    let of_flag = output(&["run", &with("done >= 1"), "--threshold", "p99(connect, s1) < 1s"]);
    assert_eq!(of_flag.status.code(), Some(2));
    assert!(
        text(&of_flag.stderr).contains("--threshold 'p99(connect, s1) < 1s': this is known of a whole run"),
        "{of_flag:?}"
    );
}

/// The setup and the teardown of a file end on request.
#[test]
fn ctrl_c_ends_what_is_done_once() {
    let (served, folder) = (Served::start(), Folder::new("files-once"));
    let load = "scenarios:\n  a:\n    load: {users: 1, iterations: 1}\n    steps: [{get: /bytes/1}]\n";
    for (requested, name, rest) in [
        (1, "before", format!("setup: [{{get: /delay/3600000, timeout: 1h}}]\n{load}")),
        (2, "after", format!("{load}teardown: [{{get: /delay/3600000, timeout: 1h}}]\n")),
    ] {
        let plan = folder.plan(name, &served, &rest);
        let mut child =
            onrush(&["run", &plan]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        wait_for("it waits for the answer", || by_path(&stats(&served)).get("/delay") == Some(&requested));
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        signal(&child, "-INT");
        line_with(&mut said, "stopping");
        // Without a second one it waits for the response, which is an hour away.
        signal(&child, "-INT");
        let lines: Vec<String> = said.map_while(Result::ok).collect();
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{name}: {lines:?}");
    }
}

/// Stopping the program during the setup means no load; the teardown still runs.
#[test]
fn ctrl_c_before_the_load_means_no_load() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let (notify, requested) = std::sync::mpsc::channel();
    let (go_on, may_response) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.expect("a connection"));
            let mut lines = Vec::new();
            while !lines.ends_with(b"\r\n\r\n") && reader.read_until(b'\n', &mut lines).is_ok_and(|count| count > 0) {}
            let path = String::from_utf8_lossy(&lines).split(' ').nth(1).unwrap_or_default().to_owned();
            let is_first = path == "/before";
            let is_received = notify.send(path).is_ok() && (!is_first || may_response.recv().is_ok());
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
            if !is_received || reader.get_mut().write_all(response).is_err() {
                return;
            }
        }
    });
    let folder = Folder::new("files-stopped");
    let text = format!(
        "target: http://{address}\nsetup: [{{get: /before}}]\nteardown: [{{get: /after}}]\n\
         scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /load}}]}}}}\n"
    );
    let plan = folder.file("plan.yaml", &text);
    let mut child = onrush(&["run", &plan]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let next = || next_of(&requested, "a request");
    assert_eq!(next(), "/before");
    signal(&child, "-INT");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("stopping")));
    go_on.send(()).expect("it waits");
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest:?}");
    assert_eq!(next(), "/after", "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("stopped before the load began")), "{rest:?}");
}

#[test]
fn what_has_no_effect_is_refused() {
    let (served, folder) = (Served::start(), Folder::new("files-refused"));
    folder.file("keys.csv", "k\n1\n");
    let steps = "steps: [{get: /bytes/1}]";
    for (rest, says) in [
        (format!("scenarios: {{a: {{load: {{rate: 10/s, for: 1s}}, pacing: 1s, {steps}}}}}"), "'pacing' and 'rate'"),
        (
            "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{if: 'counter(n) > 0', then: [{get: /}]}]}}".to_owned(),
            "counter() counts in the whole run, so it stands alone",
        ),
        (
            "data: {k: {file: keys.csv, sharing: unique}}\nscenarios:\n  a: {load: {users: 1, iterations: 1}, steps: [{get: '/?${k.k}'}]}\n  b: {load: {users: 1, iterations: 1}, steps: [{get: '/?${k.k}'}]}".to_owned(),
            "another scenario uses it too",
        ),
        (format!("defaults: {{max_redirs: 5}}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, {steps}}}}}"), "location"),
    ] {
        let plan = folder.plan("refused", &served, &rest);
        let done = output(&["check", &plan]);
        assert_eq!(done.status.code(), Some(1), "{rest} {done:?}");
        assert!(text(&done.stdout).contains(says), "{says}: {}", text(&done.stdout));
    }
    for rest in [
        "defaults: {max_redirs: 5}\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /bytes/1, location: true}]}}",
        "defaults: {max_redirs: 5, location: true}\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /bytes/1, location: false}]}}",
    ] {
        let plan = folder.plan("redirs", &served, rest);
        assert_eq!(output(&["run", &plan]).status.code(), Some(0), "{rest}");
    }
}
