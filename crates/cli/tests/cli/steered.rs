//! The requests that a page allows, and when.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::seen::{ask, wait_for};
use super::watched::{Paged, TOKEN, counted};
use super::{ChildGuard, Folder, Served, onrush, signal};

#[test]
fn a_rate_changed_in_a_pause_begins_where_it_was() {
    let (served, paged) = (Served::start(), Paged::start(&["web"]));
    let words = json!(["-q", "200", "-z", "1h", "--interval", "200ms", served.url("/")]);
    assert_eq!(paged.post("/api/runs", &json!({"words": words})).0, 200);
    let (_, paused) = paged.post("/api/run/changes", &json!({"revision": 0, "change": "pause"}));
    let run = paged.get("/api/run");
    assert_eq!((&run["state"], &run["scenarios"][0]["now"]), (&json!("paused"), &json!(200.0)));
    // The remaining plan also holds during a pause.
    let (status, said) =
        paged.post("/api/run/changes", &json!({"revision": 1, "change": "rate", "to": 400, "over": "2h"}));
    assert!(status == 400 && said["text"].as_str().is_some_and(|text| text.contains("goes on for")), "{said}");
    let change = json!({"revision": 1, "change": "rate", "to": 400, "over": "200ms"});
    assert_eq!(paged.post("/api/run/changes", &change).0, 200);
    let (_, resumed) = paged.post("/api/run/changes", &json!({"revision": 2, "change": "resume"}));
    let before = counted(&served, "/");
    wait_for("the new rate", || counted(&served, "/") > before + 100);
    let (_, ends) = paged.post("/api/run/changes", &json!({"revision": 3, "change": "end"}));
    paged.until("over");
    let report = paged.get("/api/run/report.json");
    let started = report["requests"]["started"].as_u64().expect("a number");
    let [paused, resumed, ends] =
        [paused, resumed, ends].map(|one| one["effective_at_s"].as_f64().expect("an instant"));
    // The pause is left out, and the ramp to the new rate begins after it. A start is due whenever this area reaches a
    // whole number, the first one at once.
    let gone = ends - resumed;
    assert!(gone > 0.2, "{}", report["changes"]);
    let requested = paused * 200.0 + 0.2 * 300.0 + (gone - 0.2) * 400.0;
    assert!(
        (requested - 0.01..requested + 1.01).contains(&(started as f64)),
        "{started} of {requested}: {}",
        report["changes"]
    );
    assert_eq!(counted(&served, "/"), started);
}

/// That nothing starts then until it is resumed is tested in the simulator, where the warm-up has an exact end.
#[test]
fn what_is_changed_in_the_warm_up_holds_from_its_end_on() {
    let (served, paged) = (Served::start(), Paged::start(&["web"]));
    let words = json!(["-q", "200", "-z", "200ms", "--warmup", "1h", "--interval", "200ms", served.url("/")]);
    assert_eq!(paged.post("/api/runs", &json!({"words": words})).0, 200);
    for (revision, change, is_paused) in [(0, "pause", true), (1, "resume", false), (2, "pause", true)] {
        let (status, said) = paged.post("/api/run/changes", &json!({"revision": revision, "change": change}));
        assert_eq!((status, &said["effective_at_s"]), (200, &json!(0.0)), "{said}");
        let run = paged.get("/api/run");
        assert_eq!((&run["state"], &run["scenarios"][0]["is_paused"]), (&json!("warming_up"), &json!(is_paused)));
    }
    // An end would leave nothing to measure.
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 3, "change": "end"})).1["error"], "warming_up");
    let before = counted(&served, "/");
    wait_for("it warms up all the same", || counted(&served, "/") > before + 100);
    assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    paged.until("over");
    assert_eq!(paged.get("/api/run/report.json")["requests"]["started"], 0);
}

#[test]
fn one_run_at_a_time_from_its_first_step_to_its_last() {
    let (served, folder) = (Served::start(), Folder::new("steered-steps"));
    let load = "scenarios:\n  see:\n    load: {users: 1, iterations: 3}\n    steps: [{get: /}]\n";
    let steps = "setup: [{get: /gate/before, timeout: 1h}]\nteardown: [{get: /gate/after, timeout: 1h}]\n";
    folder.plan("slow", &served, &format!("{load}{steps}"));
    let paged = Paged::started(onrush(&["web"]).current_dir(folder.path("")));
    let next = json!({"words": ["-n", "5", "-c", "1", served.url("/echo")]});
    let waits = |gate: &str| wait_for(gate, || ask(&served, "GET", &format!("/gate/{gate}/waiting")).trim() == "1");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| paged.post("/api/runs", &json!({"words": ["slow.yaml"]})));
        waits("before");
        assert_eq!(paged.post("/api/runs", &next).1["error"], "runs_already");
        ask(&served, "POST", "/gate/before/open");
        assert_eq!(slow.join().expect("an answer"), (200, json!({"run": 1})));
    });
    let over = paged.until("over");
    // The teardown goes on: the next run waits, and its start is not reported.
    waits("after");
    assert_eq!(over["can_start"], false);
    assert_eq!(paged.post("/api/runs", &next).1["error"], "runs_already");
    ask(&served, "POST", "/gate/after/open");
    wait_for("the last step ends", || paged.get("/api/run")["can_start"] != false);
    // A later file is listed.
    folder.plan("later", &served, load);
    assert_eq!(paged.get("/api/run")["files"], json!(["later.yaml", "slow.yaml"]));
    assert_eq!(paged.post("/api/runs", &next), (200, json!({"run": 2})));
    paged.until("over");
}

#[test]
fn what_a_page_may_say() {
    let (served, folder) = (Served::start(), Folder::new("steered-words"));
    folder.plan(
        "secret",
        &served,
        "vars: {where: /}\nsecrets: {key: x}\nscenarios:\n  see:\n    load: {users: 1, iterations: 3}\n    steps: [{get: \"${where}\"}]\n",
    );
    folder.plan(
        "plain",
        &served,
        "vars: {where: /}\nscenarios:\n  see:\n    load: {users: 1, iterations: 3}\n    steps: [{get: \"${where}\"}]\n",
    );
    let paged = Paged::started(onrush(&["web"]).current_dir(folder.path("")));
    let url = served.url("/");
    let refused = [
        (json!(["secret.yaml", "--var", "where=/echo"]), "--var"),
        (json!(["secret.yaml", "--connect-to", "::127.0.0.1:1"]), "--connect-to"),
        (json!(["--lang", "zh", url]), "command line only"),
        (json!(["-b", "cookies.txt", url]), "cookies.txt"),
        (json!(["-F", "a=@/etc/passwd", url]), "/etc/passwd"),
    ];
    for (words, part) in refused {
        let (status, said) = paged.post("/api/runs", &json!({"words": words}));
        assert!(status == 422 && said["text"].as_str().is_some_and(|text| text.contains(part)), "{words}: {said}");
    }
    let runs = [json!(["plain.yaml", "--var", "where=/echo"]), json!(["-n", "3", "-c", "1", "-d", "mail=@me", url])];
    for words in runs {
        let (status, said) = paged.post("/api/runs", &json!({"words": words}));
        assert_eq!(status, 200, "{words}: {said}");
        wait_for("its end", || paged.get("/api/run")["can_start"] != false);
        assert_eq!(paged.get("/api/run/report.json")["requests"]["succeeded"], 3);
    }
    let (status, said) = paged.ask("POST", "/api/runs", &format!("{{\"words\": [\"{}\"]}}", "x".repeat(40_000)));
    assert_eq!((status, &said["error"]), (413, &json!("too_large")));
}

/// The instants of marks, and the number of rows per mark, by the rows of a load until some have come after an instant.
fn marks_of(stages: &str, until_s: f64) -> Vec<(f64, u64)> {
    let (served, paged) = (Served::start(), Paged::start(&["web"]));
    let words = json!(["--stages", stages, "--interval", "100ms", served.url("/")]);
    let mut stream = paged.connect();
    let head = format!("GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n", paged.host);
    stream.write_all(head.as_bytes()).expect("it is taken");
    assert_eq!(paged.post("/api/runs", &json!({"words": words})).0, 200);
    let (mut seen, mut kind) = (Vec::new(), String::new());
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(name) = line.strip_prefix("event: ") {
            name.clone_into(&mut kind);
        }
        let data = line.strip_prefix("data: ").filter(|_| kind == "interval");
        if let Some(reported) = data.and_then(|data| serde_json::from_str::<Value>(data).ok()) {
            let to_s = reported["now_s"].as_f64().expect("a time");
            seen.push((to_s, reported["point"]["marks"].as_u64().expect("a number")));
        }
        if seen.iter().filter(|(to_s, _)| *to_s >= until_s).count() == 3 {
            return seen;
        }
    }
    panic!("it goes on: {seen:?}");
}

#[test]
fn stages_to_come_are_no_marks_yet() {
    for (stages, passed) in [
        ("50:1h,80:1h,20:1h", vec![]),
        ("50:1ms,80:1h,20:1h", vec![0.001]),
        ("50:1ms,80:1ms,20:1h", vec![0.001, 0.002]),
        // There may be a row between them.
        ("50:400ms,80:400ms,20:1h", vec![0.4, 0.8]),
    ] {
        claims::as_one(|| {
            for (to_s, marks) in marks_of(stages, passed.last().copied().unwrap_or(0.0)) {
                let expected = passed.iter().filter(|at| **at <= to_s).count() as u64;
                assert_eq!(marks, expected, "{stages} {to_s}");
            }
        });
    }
}

#[test]
fn a_page_that_does_nothing_ends_without_a_word() {
    let mut command = onrush(&["web", "--web-listen", "127.0.0.1:0"]);
    let mut child = ChildGuard::start(command.stderr(Stdio::piped()));
    let mut said = BufReader::new(child.0.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(line.contains("#token="), "{line}");
    signal(&child.0, "-INT");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("UTF-8");
    assert_eq!((child.0.wait().expect("it ends").code(), rest.as_str()), (Some(0), ""));
}

/// Data of this kind matches its schema.
fn is_described(kind: &str, value: &Value) {
    let text = include_str!("../../../../docs/web.schema.json");
    let mut schema: Value = serde_json::from_str(text).expect("JSON");
    schema["$ref"] = format!("#/$defs/{kind}").into();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<String> =
        validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{kind}: {faults:#?}\n{value:#}");
}

#[test]
fn programs_are_reported_what_is_described_and_ctl_steers() {
    let (served, paged) = (Served::start(), Paged::start(&["web"]));
    let page = format!("http://{}/", paged.host);
    let ctl_at = |link: &str, words: &[&str]| {
        let all = [&["ctl", "--page", link][..], words].concat();
        onrush(&all).env("ONRUSH_WEB_TOKEN", TOKEN).output().expect("the binary starts")
    };
    let ctl = |words: &[&str]| -> Value {
        let done = ctl_at(&page, words);
        assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice(&done.stdout).expect("JSON")
    };
    is_described("run", &ctl(&["run"]));
    let url = served.url("/status/500");
    let words =
        ["start", "--", "-q", "100", "-z", "1h", "--interval", "100ms", "--threshold", "failed / done < 10%", &url];
    is_described("started", &ctl(&words));
    let mut events = onrush(&["ctl", "--page", &paged.link, "events"]);
    let mut events = ChildGuard::start(events.stdout(Stdio::piped()));
    wait_for("failures", || paged.get("/api/run")["live"]["failures"][0]["count"].as_u64() > Some(0));
    is_described("run", &ctl(&["run"]));
    for (words, kind) in [
        (&["rate", "200/s", "--over", "1s"][..], "changed"),
        (&["pause"], "changed"),
        (&["resume", "--scenario", "main"], "changed"),
        (&["mark", "of", "ours"], "marked"),
    ] {
        is_described(kind, &ctl(words));
    }
    let (status, refused) = paged.post("/api/run/changes", &json!({"revision": 9, "change": "pause"}));
    assert_eq!(status, 409);
    is_described("refusal", &refused);
    let coded = [
        (ctl_at(&page, &["users", "5"]), 1, "has a rate"),
        (ctl_at(&page, &["faster"]), 2, "means nothing"),
        (ctl_at(&page, &["pause", "--over", "1s"]), 2, "--over"),
        (ctl_at("http://127.0.0.1:1/", &["pause"]), 3, "no page answers"),
        (ctl_at(&served.url("/"), &["run"]), 3, "no page of onrush"),
        (ctl_at(&format!("{page}#token=wrong"), &["run"]), 1, "token"),
        (ctl_at("page", &["run"]), 2, "--page wants"),
    ];
    for (done, code, part) in coded {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(code) && said.contains(part), "{part}: {said}");
    }
    ctl(&["stop", "--at-once"]);
    let over = paged.until("over");
    is_described("run", &over);
    assert_eq!(ctl(&["report"])["changes"].as_array().map(Vec::len), Some(3));
    drop(paged);
    let mut reported = String::new();
    events.0.stdout.take().expect("a pipe").read_to_string(&mut reported).expect("UTF-8");
    events.0.wait().expect("it ends with the page");
    check_events(&reported);
    check_held(&served);
}

/// Each event is described, and there are those of a whole run.
fn check_events(reported: &str) {
    let mut kinds = Vec::new();
    claims::as_one(|| {
        for line in reported.lines() {
            let one: Value = serde_json::from_str(line).expect("JSON");
            let kind = one["event"].as_str().expect("a kind").to_owned();
            if kind != "reload" {
                is_described("told", &one["data"]);
            }
            kinds.push(kind);
        }
    });
    for kind in ["interval", "state", "over"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind}: {kinds:?}");
    }
}

/// A run of held connections is described.
fn check_held(served: &Served) {
    let held = Paged::start(&[
        "hold",
        "-c",
        "5",
        "--hold",
        "1h",
        "--interval",
        "100ms",
        "--web",
        &served.url("/ws").replace("http:", "ws:"),
    ]);
    wait_for("a row", || !held.get("/api/run")["live"].is_null());
    is_described("run", &held.get("/api/run"));
}

#[test]
fn workers_are_shown_while_they_work() {
    let served = Served::start();
    let (url, ws) = (served.url("/"), served.url("/ws").replace("http://", "ws://"));
    let load = ["-q", "200", "-z", "1h", &url];
    let hold = ["hold", "-c", "50", "--hold", "1h", &ws];
    for words in [&load[..], &hold] {
        let paged = Paged::start(&[words, &["--workers", "2", "--interval", "200ms", "--web"]].concat());
        let mut run = Value::Null;
        wait_for("both work", || {
            run = paged.get("/api/run");
            let each = run["live"]["workers"]["list"].as_array().map_or(&[][..], Vec::as_slice);
            each.len() == 2 && each.iter().all(|one| one["started"].as_u64() > Some(0))
        });
        is_described("run", &run);
        let workers = &run["live"]["workers"];
        assert_eq!((&workers["count"], &workers["lost"]), (&json!(2), &json!(0)));
        assert!(workers["list"].as_array().expect("a list").iter().all(|one| one["share"] == 0.5), "{workers:#}");
        assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    }
}
