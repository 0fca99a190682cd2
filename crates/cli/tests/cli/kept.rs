//! Saved runs: their page, their folder, lists of them, and comparisons.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::recorder::Recorder;
use crate::{Folder, Served, onrush, text};

/// With runs of its own.
fn kept(home: &Path, words: &[&str]) -> Output {
    onrush(words).env("XDG_DATA_HOME", home).output().expect("it starts")
}

fn runs(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.join("onrush/runs")).map(|all| all.flatten().collect::<Vec<_>>());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default().into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// A shop with steps and a transaction, on a page of either language, in a folder whose name has Chinese and spaces.
#[test]
fn a_scenario_is_kept_and_its_page_has_its_figures() {
    let (served, folder) = (Served::start(), Folder::new("kept page 报告"));
    let rest = "secrets: [key]\nvars: {key: hush-hush-7}\nscenarios:\n  buy:\n    load: {users: 3, iterations: 60}\n    steps:\n      - {get: /delay/2, name: \"<see> & it\", headers: {X-Key: \"${key}\"}}\n      - transaction: order\n        steps: [{get: /status/404, name: pay, on_failure: continue}]\nthresholds: [\"p99(response_time) < 10s\"]\n";
    let plan = folder.plan("plan", &served, rest);
    let home = folder.0.join("data");
    let (page, json) = (folder.path("page one.html"), folder.path("one.json"));
    let done = kept(
        &home,
        &["run", &plan, "--interval", "100ms", "--html", &page, "--json", &json, "--var", "key=hush-hush-8"],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let all = runs(&home);
    assert_eq!(all.len(), 1, "{done:?}");
    let report = read(&all[0].join("report.json"));
    assert_eq!(report, read(Path::new(&json)));
    for (language, says) in [("en", "Steps and transactions"), ("zh", "步骤和事务")] {
        let made = kept(&home, &["report", "last", "--html", &page, "--lang", language]);
        assert_eq!(text(&made.stdout).trim(), page, "{made:?}");
        let html = std::fs::read_to_string(&page).expect("a page");
        assert!(html.contains(says) && !html.contains("hush-hush"), "{language}");
        // Texts of the plan are escaped, and nothing is fetched.
        assert!(html.contains("&lt;see&gt; &amp; it") && !html.contains("<see>"));
        assert!(!html.contains("src=") && !html.contains("<link"), "{language}");
        for number in ["succeeded", "failed"] {
            let count = report["requests"][number].as_u64().expect("a count");
            assert!(html.contains(&format!("<td>{}</td>", with_commas(count))), "{number} {count}");
        }
    }
    let listed = kept(&home, &["history", "--json"]);
    let listed: Value = serde_json::from_str(&text(&listed.stdout)).expect("JSON");
    let id = all[0].file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(listed["runs"][0]["id"], id.as_str(), "{listed}");
    assert_eq!(listed["runs"][0]["succeeded"], report["requests"]["succeeded"]);
    assert!(
        listed["runs"][0]["command"].as_str().is_some_and(|line| line.contains("run") && !line.contains("hush")),
        "{listed}"
    );
    // By default they are not kept.
    assert_eq!(kept(&home, &["run", &plan, "-n", "3", "--no-save"]).status.code(), Some(0));
    assert_eq!(kept(&home, &["-n", "2", &served.url("/")]).status.code(), Some(0));
    assert_eq!(runs(&home).len(), 1);
}

/// Held connections have a folder, a line in the list, a page and a comparison, like loads.
#[test]
fn what_was_held_is_kept_and_compared() {
    let (served, folder) = (Served::start(), Folder::new("kept held"));
    let (home, url) = (folder.0.join("data"), served.url("/").replace("http://", "ws://"));
    let hold = ["hold", &url, "-c", "20", "--hold", "500ms", "--once", "--interval", "100ms"];
    let first = kept(&home, &[&hold[..], &["--save"]].concat());
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let second = kept(&home, &[&hold[..], &["--save", "--baseline", "last"]].concat());
    assert!(text(&second.stdout).contains("messages/s") && second.status.success(), "{second:?}");
    let all = runs(&home);
    let page = std::fs::read_to_string(all[0].join("report.html")).expect("a page");
    let report = read(&all[0].join("report.json"));
    // A disturbed machine is reported.
    let verdict = if report["verdict"]["is_unreliable"] == true { "Unreliable" } else { "Kept" };
    assert!(page.contains(verdict) && !all[0].join("charts.json").exists(), "{}", report["verdict"]["text"]);
    assert_eq!(read(&all[0].join("run.json"))["held"], report["connections"]["most_open"]);
    let list = text(&kept(&home, &["history"]).stdout);
    assert_eq!(list.matches("20 held").count(), 2, "{list}");
    std::fs::remove_file(all[0].join("report.html")).expect("a page");
    assert!(kept(&home, &["report", "last~1"]).status.success());
    assert_eq!(std::fs::read_to_string(all[0].join("report.html")).expect("a page"), page);
    let compared = kept(&home, &["compare", "last~1", "last", "--json"]);
    let compared: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    // 400 per second are due, by the clock of each run.
    let of = |figure: &str| {
        let all = compared["differences"].as_array().expect("a list");
        all.iter().find(|one| one["figure"] == figure).unwrap_or_else(|| panic!("{figure}"))["a"].as_f64()
    };
    let answered = report["messages"]["answered"].as_f64().expect("a number");
    assert_eq!(of("rate"), Some(answered / report["wall_s"].as_f64().expect("a number")));
    assert_eq!(of("failed / done"), Some(0.0));
    assert_eq!(of("p99(response_time)"), report["times"]["response_time"]["p99_ns"].as_f64());
    // A load is of another kind.
    let load = kept(&home, &["-n", "20", "--save", &served.url("/")]);
    assert!(load.status.success(), "{load:?}");
    for (lang, says) in [("C.UTF-8", "is of another kind"), ("zh_CN.UTF-8", "属于另一类压测")] {
        let said = onrush(&["compare", "last~1", "last"]).env("XDG_DATA_HOME", &home).env("LANG", lang).output();
        let said = said.expect("it starts");
        assert!(said.status.code() == Some(2) && text(&said.stderr).contains(says), "{said:?}");
    }
    let refused = kept(&home, &[&hold[..], &["--baseline", "last"]].concat());
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// A folder has the settings of the run and its events, and no secrets.
#[test]
fn a_folder_has_times_events_and_the_file() {
    let (served, folder) = (Served::start(), Folder::new("kept files"));
    let rest = "secrets: [key]\nvars: {key: hush-hush-7}\nscenarios:\n  buy:\n    load: {rate: [\"100:100ms\", \"50:1h\"]}\n    steps:\n      - {get: /delay/2, headers: {X-Key: \"${key}\", Authorization: \"Bearer hush-hush-9\"}}\nthresholds: [\"p50(response_time) < 1us abort 300ms\"]\n";
    let (plan, home) = (folder.plan("plan", &served, rest), folder.0.join("data"));
    let done = kept(&home, &["run", &plan, "--interval", "100ms", "--var", "key=hush-hush-8"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let run = runs(&home).remove(0);
    let of = |name: &str| std::fs::read_to_string(run.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let file = of("plan.yaml");
    assert!(file.contains("X-Key: \"${key}\"") && file.contains("vars: {key: \"***\"}"), "{file}");
    for entry in std::fs::read_dir(&run).expect("a folder").flatten() {
        assert!(!std::fs::read_to_string(entry.path()).expect("a text").contains("hush-hush"), "{entry:?}");
    }
    let events: Vec<Value> = of("events.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["kind"].as_str()).collect();
    assert!(kinds.contains(&"stage") && kinds.contains(&"threshold"), "{events:?}");
    let report = read(&run.join("report.json"));
    let succeeded = report["times"]["succeeded"]["response_time"]["count"].as_u64().expect("a number");
    assert!(of("times.hgrm").contains(&format!("Total count    = {succeeded:>12}")), "{}", of("times.hgrm"));
    assert!(of("times.hlog").contains("HIST") || of("times.hlog").lines().count() > 3);
    // Nothing was reachable: nothing is kept, and no file is left.
    let nobody = format!("http://127.0.0.1:{}/", crate::closed_port());
    assert_eq!(kept(&home, &["-n", "3", "--save", &nobody]).status.code(), Some(3));
    assert_eq!(runs(&home).len(), 1);
}

/// The saved command has no credentials.
#[test]
fn credentials_of_a_command_are_not_kept() {
    let (served, folder) = (Served::start(), Folder::new("kept hidden"));
    let (url, ws) = (served.url("/"), served.url("/").replace("http://", "ws://"));
    let far = Recorder::start("kept-far");
    let influx = format!("influx=http://127.0.0.1:{}/write?db=x&u=me&p=hush4", far.port);
    for (name, words) in [
        (
            "both",
            vec![
                "-n",
                "1",
                "-H",
                "Cookie: a=hush1",
                "-b",
                "c=hush2",
                "-H",
                "Authorization: Bearer hush3",
                "-u",
                "me:hush5",
                &url,
            ],
        ),
        ("short", vec!["-n", "1", "-ume:hush", &url]),
        ("export", vec!["-n", "1", "--export", &influx, &url]),
        ("hold", vec!["hold", "-c", "2", "--hold", "100ms", "-u", "me:hush6", "-b", "x=hush7", &ws]),
    ] {
        let home = folder.0.join(name);
        let done = kept(&home, &[&words[..], &["--save", "-o", "json"]].concat());
        assert!(done.status.success(), "{done:?}");
        assert!(!text(&done.stdout).contains("hush") && !text(&done.stderr).contains("hush"), "{done:?}");
        claims::as_one(|| {
            for entry in std::fs::read_dir(&runs(&home)[0]).expect("a folder").flatten() {
                assert!(!std::fs::read_to_string(entry.path()).expect("a text").contains("hush"), "{name}: {entry:?}");
            }
        });
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// A saved report whose intervals have about this median.
fn keep_synthetic(home: &Path, id: &str, p50_ms: f64) {
    let of = |wobble: f64| {
        let ns = (p50_ms + wobble) * 1e6;
        json!({"mean_ns": ns, "p50_ns": ns, "p90_ns": ns * 1.2, "p99_ns": ns * 1.5})
    };
    let row = |index: usize| json!({"from_s": index, "to_s": index + 1, "succeeded": 100, "failed": 0, "requests_per_s": 100.0 + (index % 3) as f64, "response_time": of((index % 5) as f64 / 10.0)});
    let report = json!({
        "schema": 1, "about": {"began": id}, "target": {"url": "http://a/"}, "requests_per_s": 101.0,
        "requests": {"succeeded": 2000, "failed": 0}, "times": {"succeeded": {"response_time": of(0.2)}},
        "verdict": {"is_unreliable": false}, "intervals": (0..20).map(row).collect::<Vec<_>>(),
    });
    let folder = home.join("onrush/runs").join(id);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("report.json"), report.to_string()).expect("room");
    let card = json!({"version": 1, "id": id, "began": id, "target": "http://a/", "plan": "", "plan_zh": "", "command": "", "wall_s": 20.0, "limit": "users",
        "is_unreliable": false, "thresholds_met": null, "requests_per_s": 101.0, "succeeded": 2000, "failed": 0, "p50_ns": p50_ms * 1e6, "p99_ns": p50_ms * 1.5e6});
    std::fs::write(folder.join("run.json"), card.to_string()).expect("room");
}

/// Ten percent more is clear, the same again is not. A real run is only checked for its output: a stalled machine makes
/// noise.
#[test]
fn what_is_slower_is_reported_from_what_is_the_same() {
    let (served, folder) = (Served::start(), Folder::new("kept-compare"));
    let home = folder.0.join("data");
    for (id, p50_ms) in [("20260101-000001", 20.0), ("20260101-000002", 20.02), ("20260101-000003", 22.0)] {
        keep_synthetic(&home, id, p50_ms);
    }
    for (names, code, says) in [
        (["last~2", "last"], 1, "clearly worse"),
        (["last~2", "last~1"], 0, "within the noise"),
        (["last", "20260101-000001"], 0, "clearly better"),
    ] {
        let words = ["compare", names[0], names[1], "--fail-if", "p50 > +5%", "--fail-if", "rate < -5%"];
        let compared = kept(&home, &words);
        assert_eq!(compared.status.code(), Some(code), "{names:?} {compared:?}");
        let row = text(&compared.stdout).lines().find(|line| line.starts_with("p50")).expect("a row").to_owned();
        assert!(row.contains(says), "{row}");
        assert_eq!(
            text(&compared.stderr).contains("--fail-if 'p50 > +5%' struck: 20.2ms -> 22.2ms"),
            code == 1,
            "{compared:?}"
        );
    }
    let compared = kept(&home, &["compare", "last~2", "last", "--json"]);
    let compared: Value = serde_json::from_str(&text(&compared.stdout)).expect("JSON");
    crate::search::follows("compare", &compared);
    assert_eq!(
        (&compared["differences"][3]["figure"], &compared["differences"][3]["is_clear"]),
        (&"p50(response_time)".into(), &true.into())
    );
    let pooled =
        kept(&home, &["compare", "--json", "--fail-if", "p50 > +5%", "last~2", "last~1", "--", "last", "last"]);
    assert_eq!(pooled.status.code(), Some(1), "{pooled:?}");
    let pooled: Value = serde_json::from_str(&text(&pooled.stdout)).expect("JSON");
    crate::search::follows("compare", &pooled);
    assert_eq!(pooled["a"]["runs"], serde_json::json!(["20260101-000001", "20260101-000002"]));
    assert_eq!(pooled["b"]["targets"], serde_json::json!(["http://a/"]), "each once");
    assert_eq!(pooled["fail_if"][0], serde_json::json!({"text": "p50 > +5%", "ruling": "struck"}));
    assert_eq!((&pooled["intervals"][0], &pooled["is_same_plan"]), (&38.into(), &true.into()));
    let url = served.url("/delay/50");
    let words = ["-q", "100", "-n", "80", "--interval", "100ms", "--save", "--lang", "zh"];
    let done = kept(&home, &[&words[..], &["--baseline", "last", "--fail-if", "p50 > +20%", &url]].concat());
    let row = text(&done.stdout).lines().find(|line| line.starts_with("p50(")).expect("a row").to_owned();
    assert_eq!(done.status.code(), Some(if row.ends_with("明显变差") { 1 } else { 0 }), "{done:?}");
    let trend = kept(&home, &["history", "--trend"]);
    assert!(text(&trend.stdout).contains("no change of level among 3 runs"), "{trend:?}");
}

#[test]
fn what_is_wrong_with_runs_is_said() {
    let (served, folder) = (Served::start(), Folder::new("kept-wrong"));
    let (home, url) = (folder.0.join("data"), served.url("/"));
    assert_eq!(kept(&home, &["-n", "5", "--save", &url]).status.code(), Some(0));
    let place = home.join("onrush/runs");
    for (name, card) in [("damaged", "{"), ("later", "{\"version\": 99}")] {
        std::fs::create_dir_all(place.join(name)).expect("a folder");
        std::fs::write(place.join(name).join("run.json"), card).expect("a file");
    }
    std::fs::create_dir_all(place.join("empty")).expect("a folder");
    let listed = kept(&home, &["history"]);
    let shown = text(&listed.stdout);
    assert!(shown.contains("of another version") && shown.matches("damaged or unfinished").count() == 2, "{shown}");
    for (words, says) in [
        (&["report", "nobody"][..], "there is no run 'nobody'"),
        (&["report", "damaged"], "check the path"),
        (&["compare", "last"], "compare takes two runs"),
        (&["compare", "last", "last", "last"], "onrush compare A1 A2 -- B1 B2"),
        (&["compare", "last", "last", "--fail-if", "p98 > +1%"], "is no figure that is compared"),
        (&["compare", "last", "last", "--fail-if", "p99 > 1ms"], "is not valid for --fail-if"),
        (&["-n", "1", "--fail-if", "p99 > +1%", &url], "--baseline"),
        (&["-n", "1", "--save", "--no-save", &url], "cannot be given together"),
        (&["-n", "1", "--baseline", "nobody", &url], "there is no run 'nobody'"),
        (&["-n", "1", "--html", "/no/such/place/x.html", &url], "/no/such/place/x.html"),
    ] {
        let done = kept(&home, words);
        assert_eq!(done.status.code(), Some(2), "{words:?} {done:?}");
        assert!(text(&done.stderr).contains(says), "{words:?}: {}", text(&done.stderr));
    }
    // Where nothing can be kept, an explicit request fails before the load, and other loads run.
    std::fs::write(folder.0.join("file"), "").expect("a file");
    let (no_place, plan) = (
        folder.0.join("file"),
        folder.plan("plan", &served, "scenarios: {a: {load: {users: 1, iterations: 3}, steps: [{get: /}]}}"),
    );
    let refused = kept(&no_place, &["-n", "1", "--save", &url]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let done = kept(&no_place, &["run", &plan]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(text(&done.stderr).contains("this run is not kept"), "{done:?}");
}

/// The disk is full when the run is over: the results are shown all the same.
#[test]
fn a_full_disk_loses_the_page_alone() {
    let served = Served::start();
    let done = onrush(&["-n", "50", "--html", "/dev/full", &served.url("/")]).output().expect("it starts");
    assert_eq!(done.status.code(), Some(4), "{done:?}");
    assert!(text(&done.stdout).contains("50 started = 50 succeeded"), "{done:?}");
    assert!(text(&done.stderr).contains("/dev/full"), "{done:?}");
}
