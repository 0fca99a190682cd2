//! `find-max`, `sweep` and `capacity`: their reports, their folders, their errors, and how they end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use super::examples::by_path;
use super::seen::{stats, wait_for};
use super::watched::Paged;
use super::{Folder, Served, closed_port, onrush, output, report, signal, text};

/// Checks a report against its schema.
#[track_caller]
pub(crate) fn follows(name: &str, report: &Value) {
    let path = format!("{}/../../docs/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::from_str(&std::fs::read_to_string(path).expect("the schema is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(report).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Invariants of every search.
#[track_caller]
fn is_sound(report: &Value) {
    follows("find-max", report);
    let (lower, upper) = (report["lower"].as_f64(), report["upper"].as_f64());
    assert!(lower.zip(upper).is_none_or(|(lower, upper)| lower < upper), "{lower:?} {upper:?}");
    // A limit of our own machine is no upper bound.
    assert!(report["own_limit"].is_null() || upper.is_none(), "{report:#}");
    claims::as_one(|| {
        for trial in report["trials"].as_array().expect("a list") {
            assert_eq!(trial["class"] == "discarded", !trial["fault"].is_null(), "{trial}");
        }
    });
}

/// Whether conclusive trials are drawn, if there are any.
fn is_drawn(report: &Value) -> bool {
    report["trials"].as_array().expect("a list").iter().any(|trial| trial["class"] != "discarded")
}

fn with_home(home: &Path, words: &[&str]) -> Output {
    onrush(words).env("XDG_DATA_HOME", home).output().expect("it starts")
}

/// The only folder of a kind.
fn only(home: &Path, kind: &str) -> PathBuf {
    let all = std::fs::read_dir(home.join("onrush").join(kind)).expect("it is there").flatten();
    let all: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[test]
fn a_search_is_kept_with_every_trial() {
    let (served, folder) = (Served::start(), Folder::new("searched"));
    let (home, page, json) = (folder.0.join("data"), folder.path("max.html"), folder.path("max.json"));
    let url = served.url("/queue/2/1?x=<b>");
    let words =
        ["find-max", "--budget", "6s", "--trials", "3", "--start", "500", &url, "--html", &page, "--json", &json];
    let done = with_home(&home, &words);
    assert!(matches!(done.status.code(), Some(0 | 1)), "{done:?}");
    let value: Value = serde_json::from_str(&std::fs::read_to_string(&json).expect("a report")).expect("JSON");
    is_sound(&value);
    let kept = only(&home, "searches");
    let own: Value =
        serde_json::from_str(&std::fs::read_to_string(kept.join("find-max.json")).expect("it is kept")).expect("JSON");
    assert_eq!(own, value);
    assert_eq!(value["ended"], "trials");
    let trials = value["trials"].as_array().expect("a list");
    assert_eq!(trials.len(), 3);
    let made = std::fs::read_dir(kept.join("trials")).expect("a folder").count();
    assert_eq!(made, trials.len());
    for trial in trials {
        let run = Path::new(trial["run"].as_str().expect("a folder"));
        let of_run: Value =
            serde_json::from_str(&std::fs::read_to_string(run.join("report.json")).expect("a report")).expect("JSON");
        // The search evaluated the data of the run.
        let lost = &trial["lost"][1];
        let requests = &of_run["requests"];
        let number = |name: &str| requests[name].as_u64().unwrap_or(0);
        assert_eq!(lost["of"], number("started") + number("carried") - number("aborted"), "{trial} {requests}");
        assert_eq!(of_run["thresholds"].as_array().map(Vec::len), Some(2));
    }
    let html = std::fs::read_to_string(&page).expect("a page");
    assert_eq!(html, std::fs::read_to_string(kept.join("report.html")).expect("a page"));
    assert!(html.contains("&lt;b&gt;") && !html.contains("<b>"), "what came is escaped");
    assert_eq!(html.contains("<svg"), is_drawn(&value));
    assert!(!html.contains("src=") && !html.contains("<link") && !html.contains("<script"));
    // The folder of a trial is a run like any other.
    let first = trials[0]["run"].as_str().expect("a folder");
    let again = with_home(&home, &["report", first, "--html", &folder.path("one.html")]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let listed = with_home(&home, &["history", "--json"]);
    assert_eq!(report(&listed)["runs"], serde_json::json!([]));
    // The sustained load is the capacity of a machine. It depends on the machine, so a figure is given.
    let known = Value::Object(
        own.as_object()
            .expect("an object")
            .clone()
            .into_iter()
            .chain([("lower_per_s".to_owned(), 730.0.into())])
            .collect(),
    );
    std::fs::write(kept.join("find-max.json"), known.to_string()).expect("it is kept");
    let kept = kept.to_str().expect("UTF-8");
    let computed = report(&output(&["capacity", "--rate", "100000/s", "--from", kept, "--json"]));
    assert_eq!(computed["machines"], (100_000_f64 / 730.0).ceil());
}

/// Both languages, users, and connections.
#[test]
fn everything_that_can_be_searched() {
    let served = Served::start();
    let talk = served.url.replace("http", "ws");
    let cases: [(&[&str], &str); 4] = [
        (&["--vary", "users", "--max", "8", &served.url], "users"),
        (&["--max", "300", "hold", &talk], "connections"),
        (&["--start", "100", "--max", "400", "--goal", "p50 < 2s", "--http2", &served.url], "rate"),
        (&["--start", "100", "--max", "400", "curl", &served.url, "-H", "A: b"], "rate"),
    ];
    for (more, on) in cases {
        // The search for connections runs to its end; for the others two trials show that they are varied.
        let words = ["find-max", "--budget", "5s", "--no-save", "--output", "json"];
        let few: &[&str] = if on == "connections" { &[] } else { &["--trials", "2"] };
        let done = output(&[&words, few, more].concat());
        assert!(matches!(done.status.code(), Some(0 | 1)), "{more:?} {done:?}");
        let value = report(&done);
        is_sound(&value);
        assert_eq!(value["vary"], on);
        if on == "connections" {
            // All are open or not; nothing is left to noise.
            assert_eq!((&value["lower"], &value["ended"]), (&300.0.into(), &"most".into()), "{value:#}");
        }
    }
    for (language, says) in [("en", ["Maximum", "Goals", "Search"]), ("zh", ["最大负载", "达标条件", "搜索"])]
    {
        let words = ["find-max", "--trials", "1", "--budget", "5s", "--no-save", "--max", "20", &served.url];
        let words = [&words[..], &["--lang", language]].concat();
        let shown = text(&output(&words).stdout);
        assert!(says.iter().all(|word| shown.contains(word)), "{shown}");
    }
}

/// A file is varied as a whole, and its goals may be on a step.
#[test]
fn a_file_is_searched() {
    let (served, folder) = (Served::start(), Folder::new("searched-file"));
    let rest = "scenarios:\n  buy:\n    load: {rate: 3/s, for: 1s}\n    steps: [{get: /, name: look}, {get: /echo, name: pay}]\n  see:\n    load: {rate: 1/s, for: 1s}\n    steps: [{get: /bytes/10}]\n";
    let plan = folder.plan("two", &served, rest);
    let words = ["find-max", "--budget", "5s", "--trials", "2", "--start", "100", "--max", "200", "--output", "json"];
    let goal = ["--goal", "p99(response_time, pay) < 2s", &plan];
    let value = report(&with_home(&folder.0.join("data"), &[&words[..], &goal].concat()));
    is_sound(&value);
    assert_eq!((&value["vary"], &value["unit"]), (&"rate".into(), &"iterations_per_s".into()));
    claims::as_one(|| {
        for trial in value["trials"].as_array().expect("a list") {
            let run = Path::new(trial["run"].as_str().expect("a folder")).join("report.json");
            let of_run: Value = serde_json::from_str(&std::fs::read_to_string(run).expect("a report")).expect("JSON");
            // Three of four iterations are of the first.
            let at = trial["at"].as_f64().expect("a rate");
            for (place, share) in [(0, 0.75), (1, 0.25)] {
                let scenario = &of_run["scenarios"][place];
                assert_eq!(scenario["plan"]["stages"][0]["from_per_s"], at * share, "{trial} {scenario}");
                assert!(scenario["finished"].as_u64() > Some(0), "{scenario}");
            }
        }
    });
    let wrong = output(&[&words[..], &["--goal", "p99(response_time, sell) < 2s", &plan]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("nothing is called 'sell'"), "{wrong:?}");
}

/// Ctrl-C in the middle: the result so far, and no more.
#[test]
fn ctrl_c_gives_what_was_found() {
    let folder = Folder::new("searched-stopped");
    let json = folder.path("report.json");
    let sweep = ["sweep", "--vary", "connections=1,2,3", "--repeat", "100", "-n", "20"];
    for words in [&["find-max", "--budget", "20s"][..], &sweep] {
        let served = Served::start();
        let url = served.url("/delay/1");
        let words = [words, &["--no-save", "--json", &json, &url]].concat();
        let mut child = onrush(&words).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // There was a result by then, but not all.
        let found = lines.find(|line| line.as_ref().is_ok_and(|line| line.trim_start().starts_with('1')));
        assert!(found.is_some(), "{words:?} finds something");
        signal(&child, "-INT");
        claims::as_one(|| lines.for_each(|line| assert!(line.is_ok(), "{line:?}")));
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{words:?}");
        let value: Value = serde_json::from_str(&std::fs::read_to_string(&json).expect("a report")).expect("JSON");
        if words[0] == "find-max" {
            is_sound(&value);
            assert_eq!(value["ended"], "stopped");
            assert!(value["trials"].as_array().is_some_and(|all| !all.is_empty()));
        } else {
            follows("sweep", &value);
            assert_eq!(value["was_stopped"], true);
            assert!(value["runs"].as_array().is_some_and(|runs| runs.len() < 300), "{value:#}");
        }
    }
}

#[test]
fn a_sweep_runs_every_combination() {
    let (served, folder) = (Served::start(), Folder::new("swept"));
    let (home, page, json) = (folder.0.join("data"), folder.path("sweep.html"), folder.path("sweep.json"));
    let words = [
        "sweep",
        "--vary",
        "connections=1,3",
        "--vary",
        "keepalive=on,off",
        "--repeat",
        "2",
        "-n",
        "30",
        "--html",
        &page,
        "--json",
        &json,
        &served.url,
    ];
    let done = with_home(&home, &words);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let value: Value = serde_json::from_str(&std::fs::read_to_string(&json).expect("a report")).expect("JSON");
    follows("sweep", &value);
    let runs = value["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 8);
    assert_eq!(by_path(&stats(&served))["/"], 8 * 30);
    // Two runs with 1 connection and two with 3 that are kept; 30 each where they are not. One more for the counts, and
    // another here.
    let accepted = stats(&served)["connections"]["accepted"].as_u64().expect("a count");
    assert_eq!(accepted, 2 * (1 + 3) + 4 * 30 + 2);
    let cells = value["cells"].as_array().expect("a list");
    let values: Vec<String> = cells.iter().map(|cell| cell["values"].to_string()).collect();
    assert_eq!(
        values,
        [
            r#"{"connections":"1","keepalive":"on"}"#,
            r#"{"connections":"1","keepalive":"off"}"#,
            r#"{"connections":"3","keepalive":"on"}"#,
            r#"{"connections":"3","keepalive":"off"}"#,
        ]
    );
    for cell in cells {
        let rates = &cell["rate"];
        let number = |name: &str| rates[name].as_f64().expect("a rate");
        assert!(cell["runs"] == 2 && number("least") <= number("median") && number("median") <= number("most"));
    }
    // The best is a reliable one, or there is none.
    let best = cells.iter().find(|cell| cell["is_best"] == true);
    assert!(best.is_none_or(|best| best["unreliable_runs"] == 0));
    assert_eq!(best.map_or(&Value::Null, |best| &best["values"]), &value["best"]);
    let kept = only(&home, "sweeps");
    assert_eq!(std::fs::read_dir(kept.join("runs")).expect("a folder").count(), 8);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("<svg") && html.contains("keepalive") && !html.contains("<script"));
    let shown = text(&done.stdout);
    assert!(shown.contains("connections \\ keepalive") && shown.contains("8 of 8 runs"), "{shown}");
}

#[test]
fn a_sweep_varies_paths_variables_and_held_connections() {
    let (served, folder) = (Served::start(), Folder::new("swept-more"));
    let brief = ["sweep", "--repeat", "1", "--no-save", "--output", "json"];
    let paths = ["--vary", "url=/bytes/7,/echo", "-n", "20", &served.url("/?x=1")];
    let value = report(&output(&[&brief[..], &paths].concat()));
    follows("sweep", &value);
    let plan = folder.plan("sizes", &served, "vars: {size: 1}\nscenarios:\n  see:\n    load: {users: 1, iterations: 5}\n    steps: [{get: \"/bytes/${size}\"}, {get: /close}]\n");
    let value = report(&output(&[&brief[..], &["--vary", "size=10,20", &plan]].concat()));
    follows("sweep", &value);
    let counts = by_path(&stats(&served));
    assert_eq!((counts["/bytes"], counts["/echo"], counts["/close"]), (20 + 10, 20, 10));
    let talk = served.url.replace("http", "ws");
    let held =
        ["hold", "--vary", "connections=5,9", "--vary", "every=100ms,200ms", "--hold", "300ms", "-d", "a", &talk];
    let value = report(&output(&[&brief[..], &held].concat()));
    follows("sweep", &value);
    let rates: Vec<f64> =
        value["cells"].as_array().expect("a list").iter().filter_map(|cell| cell["rate"]["median"].as_f64()).collect();
    assert_eq!(rates, [5.0, 5.0, 9.0, 9.0]);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let served = Served::start();
    let url = served.url.as_str();
    let talk = url.replace("http", "ws");
    let cases: [(&[&str], &str, &str); 22] = [
        (&["find-max"], "is missing", "缺少"),
        (&["find-max", "--goal", "mean(wait) < 1s", url], "is no goal", "不能作为达标条件"),
        (&["find-max", "--goal", "p99(wait < 1s", url], "parenthesis", "括号"),
        (&["find-max", "--goal", "p99 < 1s, abort", url], "leave 'abort' out", "去掉 abort"),
        (&["find-max", "--budget", "1s", url], "--budget", "--budget"),
        (&["find-max", "--trials", "0", url], "--trials wants a whole number", "--trials 的值"),
        (&["find-max", "-z", "5s", url], "--duration is for a single run", "--duration 仅用于单次压测"),
        (&["find-max", "-q", "5", url], "--rate is for a single run", "--rate 仅用于单次压测"),
        (&["find-max", "--vary", "users", "-c", "5", url], "--max sets", "--max"),
        (&["find-max", "--start", "9", "--max", "8", url], "--start 9 is above", "--start 9 大于"),
        (&["find-max", "--vary", "users", "hold", &talk], "--vary is for loads", "--vary 仅用于请求压测"),
        (&["find-max", "hold", "-c", "5", &talk], "--connections is for", "--connections 仅用于"),
        (&["find-max", "hold", "--goal", "p99(wait) < 1s", &talk], "percentile of response_time", "百分位"),
        (&["find-max", "--bugdet", "60s", url], "unknown flag '--bugdet'", "未知参数 '--bugdet'"),
        (&["sweep", url], "nothing is varied", "没有指定要改变的内容"),
        (&["sweep", "--vary", "conections=1,2", url], "did you mean connections?", "是否想写 connections？"),
        (&["sweep", "--vary", "connections=1,1", url], "twice", "重复"),
        (&["sweep", "--vary", "connections=0,1", url], "wants a whole number", "整数"),
        (&["sweep", "--vary", "insecure=maybe", url], "on or off", "on 或 off"),
        (&["sweep", "--vary", "connections=1,2", "-c", "3", url], "was given twice", "重复"),
        (&["sweep", "--vary", "connections=1,2", "--repeat", "0", url], "--repeat", "--repeat"),
        (
            &["sweep", "--vary", "connections=1,2", "--debug", url],
            "--debug is for a single run",
            "--debug 仅用于单次压测",
        ),
    ];
    for (words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let done = output(&[words, &["--lang", language]].concat());
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.contains(says) && said.trim().lines().count() <= 3, "{words:?} {language}: {said}");
        }
    }
    assert_eq!(by_path(&stats(&served)).len(), 0, "nobody but this test asked for anything");
}

#[test]
fn a_target_that_is_not_there_ends_it() {
    let closed = format!("http://127.0.0.1:{}/", closed_port());
    for words in [vec!["find-max", &closed], vec!["sweep", "--vary", "connections=1,2", "-n", "5", &closed]] {
        let done = output(&words);
        assert_eq!(done.status.code(), Some(3), "{done:?}");
        assert!(text(&done.stderr).contains("refused"), "{done:?}");
    }
    let done = output(&["find-max", "--budget", "5s", "--max", "200", "--output", "json", "hold", "ws://127.0.0.1:1/"]);
    assert_eq!((done.status.code(), &report(&done)["ended"]), (Some(3), &"gone".into()), "{done:?}");
    let served = Served::start();
    let done = output(&["find-max", "--no-save", "--output", "json", &served.url("/status/500")]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(text(&done.stderr).contains("all failed"), "{done:?}");
    // Programs that wait for a report have one.
    is_sound(&report(&done));
}

/// A target that goes away ends the search, with the result so far.
#[test]
fn a_target_that_goes_away_ends_the_search() {
    // No other server gets its port when it is gone.
    let mut served = Served::at(&format!("127.0.0.1:{}", closed_port()), &[]);
    let url = served.url("/delay/1");
    // A goal that no stall of this machine misses.
    let goal = ["find-max", "--goal", "p50(response_time) < 9s"];
    let words = [&goal[..], &["--budget", "12s", "--start", "100", "--no-save", "--output", "json", &url]].concat();
    let child = onrush(&words).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    // The first trial has at most 32 of them.
    wait_for("the second trial", || by_path(&stats(&served)).get("/delay").copied().unwrap_or(0) > 60);
    served.child.kill().expect("it can be ended");
    served.child.wait().expect("it ends");
    let done = child.wait_with_output().expect("it ends");
    let value = report(&done);
    is_sound(&value);
    assert_eq!((done.status.code(), &value["ended"]), (Some(3), &"gone".into()), "{value:#}");
    assert!(value["noise"].is_null() && value["trials"].as_array().is_some_and(|all| all.len() > 1), "{value:#}");
}

/// Variables apply to the wrapping command where it has the flag, and flags from other layers cause no error.
#[test]
fn variables_are_for_whom_they_fit() {
    let served = Served::start();
    let folder = Folder::new("searched-variables");
    let mut command = onrush(&["find-max", "--trials", "1", "--no-save", "--max", "20", &served.url]);
    let file = folder.path("report.json");
    command
        .env("ONRUSH_BUDGET", "5s")
        .env("ONRUSH_JSON", &file)
        .env("ONRUSH_DURATION", "3s")
        .env("ONRUSH_HEADER", "A: b");
    let done = command.output().expect("it starts");
    assert!(matches!(done.status.code(), Some(0 | 1)), "{done:?}");
    is_sound(&serde_json::from_str(&std::fs::read_to_string(&file).expect("a report")).expect("JSON"));
}

/// Secrets are redacted in every output.
#[test]
fn secrets_stay_secret() {
    let (served, folder) = (Served::start(), Folder::new("searched-secrets"));
    let home = folder.0.join("data");
    let url = served.url("/?token=hush-1&x=1");
    let words =
        ["find-max", "--budget", "5s", "--max", "20", "-H", "Authorization: Bearer hush-2", "-u", "me:hush-3", &url];
    let done = with_home(&home, &[&words[..], &["--trials", "1"]].concat());
    let said = text(&done.stdout) + &text(&done.stderr);
    assert!(!said.contains("hush"), "{said}");
    let vary = "header=Authorization: Bearer hush-4,Authorization: Bearer hush-5";
    let words =
        ["sweep", "--vary", vary, "--vary", "user=a:hush-6,b:hush-7", "--vary", "url=/?token=hush-8,/", "-n", "5"];
    let done = with_home(&home, &[&words[..], &["--repeat", "1", &served.url]].concat());
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let said = text(&done.stdout) + &text(&done.stderr);
    assert!(!said.contains("hush") && said.contains("#1") && said.contains("#2"), "{said}");
    let mut places = vec![home];
    let mut files = 0;
    claims::as_one(|| {
        while let Some(place) = places.pop() {
            if place.is_dir() {
                places.extend(std::fs::read_dir(&place).expect("a folder").flatten().map(|entry| entry.path()));
            } else {
                let text = std::fs::read_to_string(&place).expect("UTF-8");
                assert!(!text.contains("hush"), "{}", place.display());
                files += 1;
            }
        }
    });
    assert!(files > 10, "only {files} files");
}

/// The load may grow as far as the target sustains it: no host is tried without consent.
#[test]
fn a_search_wants_consent() {
    for words in [
        vec!["find-max", "http://203.0.113.7/"],
        vec!["find-max", "--max", "50", "http://203.0.113.7/"],
        vec!["sweep", "--vary", "connections=1,100", "http://203.0.113.7/"],
    ] {
        let done = output(&words);
        assert_eq!(done.status.code(), Some(2), "{words:?} {done:?}");
        assert!(text(&done.stderr).contains("--allow-host"), "{words:?} {done:?}");
    }
}

#[test]
fn a_page_shows_the_search() {
    let served = Served::start();
    let url = served.url("/queue/1/1?<i>");
    let paged = Paged::start(&["find-max", "--web", "--no-save", "--budget", "20s", "--start", "200", &url]);
    let mut value = Value::Null;
    wait_for("two trials", || {
        value = paged.get("/api/search");
        value["trials"].as_array().is_some_and(|trials| trials.len() >= 2)
    });
    follows("find-max", &value);
    let run = paged.get("/api/run");
    assert_eq!(run["whole"], "find-max", "{run}");
    for (language, says) in [("en", "Trials"), ("zh", "各次试压")] {
        let (status, part) = paged.text(&format!("/api/search.html?lang={language}"));
        assert!(status == 200 && part.contains(says) && !part.contains("<i>"), "{part}");
        // One more trial may have been made since it was requested.
        assert!(part.contains("<svg") || !is_drawn(&value), "{part}");
    }
}

#[test]
fn capacity_shows_its_formulas() {
    let words = ["capacity", "--page-views", "30M", "--peak", "80%:20%", "--period", "24h", "--per-machine", "69/s"];
    for (language, says) in [
        (
            "en",
            ["1,389/s = 24,000,000 / 17,280 s", "21 = 1,388.9/s / 69/s = 20.13", "so 20 are not enough", "22 = 21 + 1"],
        ),
        ("zh", ["1,389/s = 24,000,000 / 17,280 s", "21 = 1,388.9/s / 69/s = 20.13", "因此 20 台不够", "22 = 21 + 1"]),
    ] {
        let shown = text(&output(&[&words[..], &["--lang", language]].concat()).stdout);
        assert!(says.iter().all(|part| shown.contains(part)), "{shown}");
    }
    let more = ["--response", "200ms", "--think", "5s", "--response-bytes", "20KiB", "--connections", "1M", "--json"];
    let value = report(&output(&[&words[..], &more].concat()));
    follows("capacity", &value);
    assert_eq!((&value["machines"], &value["machines_at_load"]), (&21.0.into(), &27.0.into()));
    for (wrong, says) in [
        (&["capacity"][..], "nothing follows"),
        (&["capacity", "--users", "10", "--response", "0ms", "--think", "0s"], "too much or too little"),
        (&["capacity", "--page-views", "1M", "--rate", "5/s"], "both give the peak"),
        (&["capacity", "--from", "/dev/zero"], "no JSON report of a find-max"),
        (&["capacity", "--page-views", "many"], "--page-views wants a number"),
        (&["capacity", "--peak", "80%", "--page-views", "1M"], "two shares"),
        (&["capacity", "--from", "/nowhere"], "cannot read"),
        (&["capacity", "--from", env!("CARGO_MANIFEST_PATH"), "--rate", "5/s"], "no JSON report of a find-max"),
        (&["capacity", "--users", "1", "--rate", "100/s", "--response", "1s"], "that number of users cannot"),
        (&["capacity", "--period", "0s", "--page-views", "1M"], "no time at all"),
    ] {
        let done = output(wrong);
        assert!(done.status.code() == Some(2) && text(&done.stderr).contains(says), "{wrong:?}: {done:?}");
    }
}
