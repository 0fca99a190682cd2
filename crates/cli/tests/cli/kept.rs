//! Runs that are kept: their page, their folder, lists of them, and two beside each other.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

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
    let rest = "secrets: [key]\nvars: {key: hush-hush-7}\nscenarios:\n  buy:\n    load: {users: 3, for: 2s}\n    steps:\n      - {get: /delay/2, name: \"<see> & it\", headers: {X-Key: \"${key}\"}}\n      - transaction: order\n        steps: [{get: /status/404, name: pay, on_failure: go on}]\nthresholds: [\"p99(response_time) < 10s\"]\n";
    let plan = folder.plan("plan", &served, rest);
    let home = folder.0.join("data");
    let (page, json) = (folder.path("page one.html"), folder.path("one.json"));
    let done = kept(
        &home,
        &["run", &plan, "--interval", "200ms", "--html", &page, "--json", &json, "--var", "key=hush-hush-8"],
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
        // What the plan says stays text, and nothing is fetched.
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
    // Without a word they are not kept.
    assert_eq!(kept(&home, &["run", &plan, "-z", "200ms", "--no-save"]).status.code(), Some(0));
    assert_eq!(kept(&home, &["-n", "2", &served.url("/")]).status.code(), Some(0));
    assert_eq!(runs(&home).len(), 1);
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// Ten percent more delay of the target is clear, the same again is not; waits of the target are long enough that noise of this
/// machine is little beside them.
#[test]
fn what_is_slower_is_told_from_what_is_the_same() {
    let (served, folder) = (Served::start(), Folder::new("kept-compare"));
    let home = folder.0.join("data");
    let load = |delay: &str, more: &[&str]| {
        let url = served.url(delay);
        let words = ["--save", "-q", "100", "-z", "4s", "--interval", "100ms", url.as_str()];
        kept(&home, &[&words[..], more].concat())
    };
    for delay in ["/delay/100", "/delay/150"] {
        assert_eq!(load(delay, &[]).status.code(), Some(0));
    }
    let compared = kept(&home, &["compare", "last~1", "last", "--json", "--fail-if", "p50 > +20%"]);
    assert_eq!(compared.status.code(), Some(1), "{compared:?}");
    let compared: Value = serde_json::from_str(&text(&compared.stdout)).expect("JSON");
    let of = |name: &str| {
        compared["differences"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|one| one["figure"] == name)
            .cloned()
            .expect("a figure")
    };
    assert_eq!(of("p50(response_time)")["is_clear"], true, "{compared}");
    assert_eq!(of("rate")["is_clear"], false, "{compared}");
    let worse = load("/delay/150", &["--baseline", "last~1", "--fail-if", "p50(response_time) > +20%"]);
    assert_eq!(worse.status.code(), Some(1), "{worse:?}");
    assert!(
        text(&worse.stdout).contains("clearly worse") && text(&worse.stderr).contains("--fail-if: p50"),
        "{worse:?}"
    );
    let same = kept(&home, &["compare", "last~1", "last", "--lang", "zh", "--fail-if", "p50 > +20%"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    assert!(text(&same.stdout).contains("在波动范围内"), "{same:?}");
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
        (&["report", "damaged"], "check who may read"),
        (&["compare", "last"], "compare takes two runs"),
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
    // Where nothing can be kept, whoever asked for it hears so before the load, and others have their load.
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

/// The disk is full when the run is over: what was measured is shown all the same.
#[test]
fn a_full_disk_loses_the_page_alone() {
    let served = Served::start();
    let done = onrush(&["-n", "50", "--html", "/dev/full", &served.url("/")]).output().expect("it starts");
    assert_eq!(done.status.code(), Some(4), "{done:?}");
    assert!(text(&done.stdout).contains("50 started = 50 succeeded"), "{done:?}");
    assert!(text(&done.stderr).contains("/dev/full"), "{done:?}");
}

/// In a browser: nothing in its console, nothing fetched, readable for all, on any screen and on paper.
#[test]
fn a_browser_shows_the_page() {
    let (served, folder) = (Served::start(), Folder::new("kept-browser"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/browser");
    assert!(tools.join("node_modules/axe-core").exists(), "`cargo xtask test` installs the browser and what drives it");
    // Modules are looked for beside the script.
    let script = tools.join("try.mjs");
    std::fs::write(&script, include_str!("../browser/try.mjs")).expect("a script");
    let rest = "scenarios:\n  see:\n    load: {rate: [\"50:2s\", \"100:2s\"]}\n    steps: [{get: /delay/uniform/2-20, name: look}, {get: /status/404, name: miss, on_failure: go on}]\n  pay:\n    load: {users: 4, for: 4s}\n    steps: [{transaction: order, steps: [{get: /delay/5}]}]\nthresholds: [\"p99(response_time) < 50ms\"]\n";
    let plan = folder.plan("plan", &served, rest);
    for language in ["en", "zh"] {
        let page = folder.path(&format!("{language}.html"));
        let done = onrush(&["run", &plan, "--interval", "200ms", "--html", &page, "--lang", language])
            .output()
            .expect("it starts");
        assert!(done.status.code().is_some_and(|code| code < 2), "{done:?}");
        let shown = Command::new("node").arg(&script).args([&page, &folder.path("out")]).output().expect("node starts");
        assert!(shown.status.success(), "{language}:\n{}\n{}", text(&shown.stdout), text(&shown.stderr));
    }
}
