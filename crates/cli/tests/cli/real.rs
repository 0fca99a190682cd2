//! Against nginx: what we say we did is what it logged.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::nginx::{Log, Nginx};
use crate::{onrush, output, report, signal, text};

fn number(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {report:#}"))
}

/// Sums that hold in every report, and that the server's log agrees with.
fn agree(report: &Value, log: &Log) {
    let of = |pointer: &str| number(report, pointer);
    let ended =
        of("/requests/succeeded") + of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished");
    assert_eq!(of("/requests/started"), ended, "{report:#}");
    assert_eq!(of("/times/all/response_time/count"), of("/requests/succeeded") + of("/requests/failed"));
    assert_eq!(of("/requests/unfinished"), 0, "the grace is long enough");
    let statuses = report["statuses"].as_object().expect("an object");
    assert_eq!(statuses.values().filter_map(Value::as_u64).sum::<u64>(), of("/requests/answers"));
    let intervals = report["intervals"].as_array().expect("a list");
    let by_interval: u64 = intervals.iter().map(|each| number(each, "/succeeded")).sum();
    assert_eq!(by_interval, of("/requests/succeeded"), "intervals add up");
    // An attempt that met a closed connection was sent and never seen by the server.
    assert_eq!(of("/requests/sent"), of("/requests/answers") + of("/requests/reconnects"), "{report:#}");
    let ours = Log {
        lines: of("/requests/answers"),
        bytes: of("/bytes/received"),
        body_bytes: of("/bytes/bodies"),
        traces: Vec::new(),
    };
    assert_eq!(&ours, log, "{report:#}");
}

fn load(args: &[&str]) -> (Value, Log) {
    let nginx = Nginx::start();
    let url = format!("{}/", nginx.url);
    let args: Vec<&str> = ["--output", "json"].iter().chain(args).copied().chain([url.as_str()]).collect();
    let output = output(&args);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    (report(&output), nginx.stop())
}

#[test]
fn a_count_with_keepalive() {
    let (report, log) = load(&["-n", "100000", "-c", "100"]);
    agree(&report, &log);
    assert_eq!((log.lines, number(&report, "/requests/succeeded")), (100_000, 100_000));
}

#[test]
fn a_count_without_keepalive() {
    let (report, log) = load(&["-n", "100000", "-c", "100", "--no-keepalive"]);
    agree(&report, &log);
    assert_eq!((log.lines, number(&report, "/connections/established")), (100_000, 100_000));
}

/// The rate is the total, not one for each connection or thread; and the count is the integral.
/// The grace of a run that names none.
const GRACE_S: f64 = 5.0;

#[test]
fn a_rate_is_kept() {
    for (args, count, seconds) in [
        (&["-q", "1000", "-z", "2s"][..], 2_000, 2.0),
        (&["-q", "10000", "-z", "2s", "-c", "64"], 20_000, 2.0),
        (&["-q", "5", "-c", "10", "-z", "2s"], 10, 2.0),
        (&["--stages", "1000:2s,0:1s", "--driver", "poll"], 1_500, 3.0),
        (&["-q", "3000", "-n", "1500", "--threads", "3"], 1_500, 0.5),
    ] {
        let (report, log) = load(args);
        agree(&report, &log);
        assert_eq!((number(&report, "/requests/started"), log.lines), (count, count), "{args:?}");
        // The last answers come when they come, and a machine may be away; a run that hangs takes its grace besides.
        let wall = report["wall_s"].as_f64().expect("a number");
        assert!((seconds - 0.01..seconds + GRACE_S).contains(&wall), "{args:?} took {wall} s");
    }
}

/// A target that never answers in time: what cannot be sent is dropped, what was sent times out, and all of it is counted.
#[test]
fn what_a_hung_target_leaves_over_is_dropped() {
    let served = crate::Served::start();
    let url = served.url("/delay/60000");
    let args = ["--output", "json", "-q", "100", "-z", "2s", "-c", "5", "-t", "400ms", "--max-lateness", "300ms", &url];
    let report = report(&output(&args));
    let of = |pointer: &str| number(&report, pointer);
    assert_eq!(of("/requests/started"), 200, "{report:#}");
    assert_eq!(of("/requests/succeeded"), 0);
    assert!(of("/requests/dropped") > 100 && of("/requests/failed") > 10, "{report:#}");
    assert_eq!(of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished"), 200, "{report:#}");
}

#[test]
fn the_same_on_poll() {
    for keepalive in [&[][..], &["--no-keepalive"]] {
        let args: Vec<&str> =
            ["-n", "30000", "-c", "100", "--driver", "poll"].iter().chain(keepalive).copied().collect();
        let (report, log) = load(&args);
        agree(&report, &log);
        assert_eq!((log.lines, report["generator"]["driver"].as_str()), (30_000, Some("poll")));
    }
}

#[test]
fn a_time_with_keepalive() {
    let (report, log) = load(&["-z", "3s", "-c", "100"]);
    agree(&report, &log);
    let wall = report["wall_s"].as_f64().expect("a number");
    assert!((3.0..3.0 + GRACE_S).contains(&wall), "{wall} s");
}

#[test]
fn a_time_without_keepalive() {
    let (report, log) = load(&["-z", "3s", "-c", "100", "--no-keepalive"]);
    agree(&report, &log);
}

#[test]
fn old_http() {
    let (report, log) = load(&["-n", "5000", "-c", "10", "--http1.0"]);
    agree(&report, &log);
    assert!(number(&report, "/connections/established") < 100, "1.0 keeps its connections when it asks");
}

#[test]
fn head_requests() {
    let (report, log) = load(&["-n", "2000", "-c", "10", "-X", "HEAD"]);
    agree(&report, &log);
    assert_eq!(log.body_bytes, 0);
}

#[test]
fn too_many_requests_is_no_success() {
    let nginx = Nginx::start();
    let output = output(&[
        "-n",
        "441",
        "-c",
        "9",
        "--expect-status",
        "200",
        "--output",
        "json",
        &format!("{}/limited", nginx.url),
    ]);
    assert_eq!(output.status.code(), Some(1), "an expectation failed");
    let report = report(&output);
    agree(&report, &nginx.stop());
    assert_eq!((number(&report, "/requests/failed"), number(&report, "/failures/0/count")), (441, 441));
    assert_eq!(report["requests"]["success_ratio"], 0.0);
}

fn stopped_by(name: &str, keepalive: &[&str]) {
    let nginx = Nginx::start();
    let url = format!("{}/", nginx.url);
    let args: Vec<&str> =
        ["-z", "60s", "-c", "50", "--output", "json"].iter().chain(keepalive).copied().chain([url.as_str()]).collect();
    let child = onrush(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    std::thread::sleep(Duration::from_millis(1_500));
    signal(&child, name);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let report = report(&output);
    agree(&report, &nginx.stop());
    assert_eq!(report["stopped"], true);
    assert!(number(&report, "/requests/succeeded") > 0);
}

#[test]
fn stopped_by_ctrl_c() {
    stopped_by("-INT", &[]);
}

#[test]
fn stopped_by_ctrl_c_without_keepalive() {
    stopped_by("-INT", &["--no-keepalive"]);
}

#[test]
fn stopped_by_sigterm() {
    stopped_by("-TERM", &[]);
}

/// What begins in the instant in which a warm-up ends is counted on both sides of the sum.
#[test]
fn a_warm_up_keeps_the_sum() {
    let served = crate::Served::start();
    let url = served.url("/");
    for (turn, words) in [
        &["-n", "200", "-c", "20"][..],
        &["-z", "300ms", "-c", "30"],
        &["-z", "300ms", "-q", "3000"],
        &["-n", "200", "-c", "20", "--threads", "1"],
    ]
    .iter()
    .cycle()
    .take(12)
    .enumerate()
    {
        let report = report(&output(&[&["--output", "json", "--warmup", "120ms"], *words, &[url.as_str()]].concat()));
        let of = |pointer: &str| number(&report, pointer);
        let ended =
            of("/requests/succeeded") + of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished");
        assert_eq!(of("/requests/started"), ended, "turn {turn}: {words:?} {report:#}");
        assert!(of("/requests/sent") >= of("/requests/answers"), "{report:#}");
    }
}
