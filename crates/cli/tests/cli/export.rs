//! `--export`: other programs receive what the run and the target counted, and no receiver can disturb it.

mod far;
mod files;
mod held;
mod otlp;
mod servers;
mod stores;
mod udp;

use std::process::Output;

use serde_json::Value;

use crate::budget::answered;
use crate::{Served, onrush, output, report, text};

/// A scenario with names that every format has to escape.
const ODD_STEP: &str = "登录, \"a\" b=c\\d";

/// The report of one export.
fn exported<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let all = report["exports"].as_array().expect("a list");
    all.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {all:?}"))
}

/// Two steps of users, one of which fails every time.
fn scenario(served: &Served, name: &str) -> std::path::PathBuf {
    let file =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{name}-{}.yaml", std::process::id()));
    let step = serde_json::to_string(ODD_STEP).expect("a string");
    let steps =
        format!("      - get: /delay/2\n        name: {step}\n      - get: /status/503\n        name: broken\n");
    let text = format!(
        "target: {}\nscenarios:\n  买家:\n    load: {{ users: 4, iterations: 100 }}\n    steps:\n{steps}",
        served.url("")
    );
    std::fs::write(&file, text).expect("a file");
    file
}

/// The run of that file with an export; returns its report.
fn run_scenario(served: &Served, name: &str, export: &str) -> Value {
    let file = scenario(served, name);
    let ran = output(&["run", &file.display().to_string(), "--interval", "200ms", "-o", "json", "--export", export]);
    std::fs::remove_file(&file).expect("the file goes");
    let report = report(&ran);
    assert_eq!(
        (&report["requests"]["succeeded"], &report["requests"]["failed"]),
        (&100.into(), &100.into()),
        "{ran:?}"
    );
    assert_eq!(answered(served), 200);
    report
}

fn said(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn mistakes_end_before_anything_is_sent() {
    let served = Served::start();
    let url = served.url("/");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = format!("prometheus={}", taken.local_addr().expect("an address"));
    for (words, english, chinese) in [
        (&["--export", "graphite=x"][..], "there is no export 'graphite'", "没有名为 'graphite' 的导出"),
        (&["--export", "csv"], "csv needs a place", "csv 需要目的地"),
        (&["--export", "github=x"], "github takes no place", "github 不需要目的地"),
        (&["--export", "otlp=ftp://me:hunter2@h"], "otlp needs a URL", "otlp 的值"),
        (&["--export", "statsd=h"], "statsd needs an address with a port", "statsd 的值"),
        (&["--export", "influx=http://me:hunter2@h"], "influx needs a database", "influx 需要数据库"),
        (&["--export", "github"], "GITHUB_STEP_SUMMARY is not set", "未设置环境变量 GITHUB_STEP_SUMMARY"),
        (
            &["--export", "csv=/no/such/folder/x"],
            "csv cannot begin at /no/such/folder/x",
            "csv 无法使用 /no/such/folder/x",
        ),
        (&["--export", &taken], "cannot begin at 127.0.0.1:", "无法使用 127.0.0.1:"),
        (
            &["--export", "csv=/tmp/onrush-one", "--export", "junit=/tmp/onrush-one"],
            "/tmp/onrush-one",
            "/tmp/onrush-one",
        ),
        (&["--export", "csv=/tmp/onrush-one", "--json", "/tmp/onrush-one"], "/tmp/onrush-one", "/tmp/onrush-one"),
        (&["--export", "otlp=http://127.0.0.1:1", "--debug"], "--export", "--export"),
    ] {
        for (language, expected) in [("en", english), ("zh", chinese)] {
            let words = [words, &["--lang", language, "-n", "1", &url]].concat();
            let refused = onrush(&words).env_remove("GITHUB_STEP_SUMMARY").output().expect("it starts");
            assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
            let said = said(&refused);
            assert!(said.contains(expected) && !said.contains("hunter2"), "{words:?}: {said}");
        }
    }
    assert_eq!(answered(&served), 0);
}
