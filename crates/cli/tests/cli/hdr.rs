//! The files for the HdrHistogram tools, read by an independent tool.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Served, output, report, text};

/// Prints count, p50, p99 and maximum of each tag in a log, in nanoseconds.
const READER: &str = "
import sys
from hdrh.log import HistogramLogReader
from hdrh.histogram import HdrHistogram
whole = {}
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, 3600000000000, 3))
while True:
    interval = reader.get_next_interval_histogram()
    if interval is None:
        break
    whole.setdefault(interval.get_tag(), HdrHistogram(1, 3600000000000, 3)).add(interval)
for tag, sum in sorted(whole.items()):
    print(tag, sum.get_total_count(), sum.get_value_at_percentile(50), sum.get_value_at_percentile(99), sum.get_max_value())
";

/// A Python with the library of the HdrHistogram authors. It is installed once, by the first test that needs it, and
/// the others wait, also those of other processes.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hdr-python");
        let python = home.join("bin/python");
        // The lock is released with the file, at the latest when this process ends.
        let lock = std::fs::File::create(home.with_extension("lock")).expect("a file");
        lock.lock().expect("the others end");
        if !home.join("installed").exists() {
            let run = |command: &mut Command| {
                let done = command.output().expect("it starts");
                // Not counted: it runs once.
                ::core::assert!(done.status.success(), "{command:?}: {done:?}; Debian needs the package python3-venv");
            };
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
            run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "hdrhistogram==0.10.8"]));
            std::fs::write(home.join("installed"), "").expect("a file");
        }
        python
    })
}

#[test]
fn public_tools_read_the_files() {
    let served = Served::start();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hdr-{}.hgrm", std::process::id()));
    let log = file.with_extension("hlog");
    // Content of an earlier run is overwritten.
    std::fs::write(&log, "x".repeat(1_000_000)).expect("a file");
    let path = file.display().to_string();
    let url = served.url("/delay/uniform/2-9");
    let ran = output(&["-q", "1000", "-n", "400", "--interval", "100ms", "--output", "json", "--hdr", &path, &url]);
    assert!(ran.status.success(), "{ran:?}");
    let times = &report(&ran)["times"]["succeeded"];

    let read = Command::new(python()).args(["-c", READER]).arg(&log).output().expect("python starts");
    let read_text = text(&read.stdout);
    let tags: Vec<Vec<&str>> = read_text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(tags.len(), 2, "{read:?}");
    for (tag, name) in tags.iter().zip(["response_time", "service_time"]) {
        assert_eq!((tag[0], tag[1]), (name, "400"), "{read_text}");
        for (cell, key) in tag[2..].iter().zip(["p50_ns", "p99_ns", "max_ns"]) {
            let (theirs, ours) = (cell.parse::<f64>().expect("a number"), times[name][key].as_f64().expect("a number"));
            assert!((theirs / ours - 1.0).abs() < 0.002, "{name} {key}: {theirs} and {ours}");
        }
    }

    let shown = std::fs::read_to_string(&file).expect("the text");
    assert!(shown.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"), "{shown}");
    let last = shown.lines().rfind(|line| !line.starts_with('#')).expect("rows");
    let cells: Vec<f64> = last.split_whitespace().map(|cell| cell.parse().expect("a number")).collect();
    let max = times["response_time"]["max_ns"].as_f64().expect("a number") / 1e6;
    assert!((cells[0] - max).abs() < 0.001 && cells[1] == 1.0 && cells[2] == 400.0, "{last} for {max}");
    for each in [file, log] {
        std::fs::remove_file(each).expect("the file goes");
    }
}

#[test]
fn steps_and_transactions_have_lines_of_their_own() {
    let served = Served::start();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("hdr-parts-{}.yaml", std::process::id()));
    let log = file.with_extension("hlog");
    let url = served.url("");
    let scenario = format!(
        "target: {url}\nscenarios:\n  buy, now:\n    load: {{ users: 4, iterations: 40 }}\n    steps:\n      - get: /delay/2\n        name: see it\n      - transaction: order\n        steps:\n          - get: /delay/3\n            name: pay\n"
    );
    std::fs::write(&file, scenario).expect("a file");
    let (path, hdr) = (file.display().to_string(), file.with_extension("hgrm").display().to_string());
    let ran = output(&["run", &path, "--interval", "100ms", "--output", "json", "--hdr", &hdr]);
    assert!(ran.status.success(), "{ran:?}");
    let scenarios = &report(&ran)["scenarios"][0];

    let read = Command::new(python()).args(["-c", READER]).arg(&log).output().expect("python starts");
    let read_text = text(&read.stdout);
    let tags: Vec<Vec<&str>> = read_text.lines().map(|line| line.split(' ').collect()).collect();
    let of = |tag: &str| tags.iter().find(|cells| cells[0] == tag).unwrap_or_else(|| panic!("{tag}: {read:?}"));
    assert_eq!(tags.len(), 5, "{read_text}");
    assert_eq!(of("response_time")[1], "80");
    let parts = [
        ("step:buy__now/see_it", &scenarios["steps"][0]),
        ("step:buy__now/pay", &scenarios["steps"][1]),
        ("transaction:buy__now/order", &scenarios["transactions"][0]),
    ];
    for (tag, part) in parts {
        let cells = of(tag);
        assert_eq!(cells[1], "40", "{read_text}");
        for (cell, key) in cells[2..].iter().zip(["p50_ns", "p99_ns", "max_ns"]) {
            let ours = part["response_time"][key].as_f64().expect("a number");
            let theirs = cell.parse::<f64>().expect("a number");
            assert!((theirs / ours - 1.0).abs() < 0.002, "{tag} {key}: {theirs} and {ours}");
        }
    }
    for each in [&file, &log, &file.with_extension("hgrm")] {
        std::fs::remove_file(each).expect("the file goes");
    }
}

#[test]
fn a_log_that_has_no_place_is_reported_before_the_load() {
    let refused = output(&["--hdr", "/no/such/folder/x.hgrm", "http://127.0.0.1:1/"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("/no/such/folder/x.hgrm"), "{refused:?}");
    for args in [["--hdr", "/tmp/same.hgrm", "--json", "/tmp/same.hlog"], ["--hdr", "/dev/null", "--json", "/tmp/x"]] {
        let refused = output(&[&args[..], &["http://127.0.0.1:1/"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
}
