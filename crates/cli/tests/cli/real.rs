//! Against nginx: our counts are those of its log.

use std::process::Stdio;

use serde_json::Value;

use crate::nginx::{Log, Nginx};
use crate::seen::wait_for;
use crate::{onrush, output, report, signal, text};

fn number(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {report:#}"))
}

/// Sums that hold in every report, and that match the server's log.
fn agree(report: &Value, log: &Log) {
    let of = |pointer: &str| number(report, pointer);
    let ended =
        of("/requests/succeeded") + of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished");
    assert_eq!(of("/requests/started"), ended, "{report:#}");
    assert_eq!(of("/times/all/response_time/count"), of("/requests/succeeded") + of("/requests/failed"));
    assert_eq!(of("/requests/unfinished"), 0, "the grace is long enough");
    let statuses = report["statuses"].as_object().expect("an object");
    assert_eq!(statuses.values().filter_map(Value::as_u64).sum::<u64>(), of("/requests/responses"));
    let intervals = report["intervals"].as_array().expect("a list");
    let by_interval: u64 = intervals.iter().map(|each| number(each, "/succeeded")).sum();
    assert_eq!(by_interval, of("/requests/succeeded"), "intervals add up");
    // An attempt on a closed connection was sent and never seen by the server.
    assert_eq!(of("/requests/sent"), of("/requests/responses") + of("/requests/reconnects"), "{report:#}");
    let ours = ["/requests/responses", "/bytes/received", "/bytes/bodies"].map(of);
    assert_eq!(ours, [log.lines, log.bytes, log.body_bytes], "{report:#}");
    assert!(log.traces.is_empty(), "{:?}", log.traces);
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
    let (report, log) = load(&["-n", "20000", "-c", "100"]);
    agree(&report, &log);
    assert_eq!((log.lines, number(&report, "/requests/succeeded")), (20_000, 20_000));
}

#[test]
fn a_count_without_keepalive() {
    let (report, log) = load(&["-n", "10000", "-c", "100", "--no-keepalive"]);
    agree(&report, &log);
    assert_eq!((log.lines, number(&report, "/connections/established")), (10_000, 10_000));
}

/// The rate is the total, not one for each connection or thread; and the count is the integral.
#[test]
fn a_rate_is_kept() {
    for (args, count, seconds) in [
        (&["-q", "1000", "-z", "200ms"][..], 200, 0.2),
        (&["-q", "10000", "-z", "200ms", "-c", "64"], 2_000, 0.2),
        (&["-q", "50", "-c", "10", "-z", "200ms"], 10, 0.2),
        (&["--stages", "1000:200ms,0:100ms", "--driver", "poll"], 150, 0.3),
        (&["-q", "3000", "-n", "600", "--threads", "3"], 600, 0.2),
    ] {
        let (report, log) = load(args);
        agree(&report, &log);
        assert_eq!((number(&report, "/requests/started"), log.lines), (count, count), "{args:?}");
        // By its own clock the last start is due an interval before the end, and none is made earlier.
        let wall = report["wall_s"].as_f64().expect("a number");
        assert!(wall >= seconds - 0.01, "{args:?} took {wall} s");
    }
}

/// A target that never responds in time: starts that cannot be sent are dropped, sent ones time out, and all of them
/// are counted.
#[test]
fn what_a_hung_target_leaves_over_is_dropped() {
    let served = crate::Served::start();
    let url = served.url("/delay/60000");
    let args =
        ["--output", "json", "-q", "1000", "-z", "200ms", "-c", "5", "-t", "300ms", "--max-lateness", "1s", &url];
    let report = report(&output(&args));
    let of = |pointer: &str| number(&report, pointer);
    assert_eq!(of("/requests/started"), 200, "{report:#}");
    assert_eq!(of("/requests/succeeded"), 0);
    // Starts are sent for 1.2 s, and each of the five connections is busy for 300 ms each time: it has five of them at
    // the most.
    assert!((5..=25).contains(&of("/requests/failed")) && of("/requests/dropped") >= 175, "{report:#}");
    assert_eq!(of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished"), 200, "{report:#}");
}

#[test]
fn the_same_on_poll() {
    for keepalive in [&[][..], &["--no-keepalive"]] {
        let args: Vec<&str> =
            ["-n", "10000", "-c", "100", "--driver", "poll"].iter().chain(keepalive).copied().collect();
        let (report, log) = load(&args);
        agree(&report, &log);
        assert_eq!((log.lines, report["generator"]["driver"].as_str()), (10_000, Some("poll")));
    }
}

#[test]
fn a_time_with_keepalive() {
    let (report, log) = load(&["-z", "1s", "-c", "100"]);
    agree(&report, &log);
    // It never ends before its time.
    let wall = report["wall_s"].as_f64().expect("a number");
    assert!(wall >= 1.0, "{wall} s");
}

#[test]
fn a_time_without_keepalive() {
    let (report, log) = load(&["-z", "1s", "-c", "100", "--no-keepalive"]);
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
        ["-z", "1h", "-c", "50", "--output", "json"].iter().chain(keepalive).copied().chain([url.as_str()]).collect();
    let child = onrush(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    wait_for("responses", || nginx.logged() > 1_000);
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

/// An exchange that begins in the instant in which a warm-up ends is counted on both sides of the sum.
#[test]
fn a_warm_up_keeps_the_sum() {
    let served = crate::Served::start();
    let url = served.url("/");
    for (turn, words) in [
        &["-n", "200", "-c", "20"][..],
        &["-z", "50ms", "-c", "30"],
        &["-z", "50ms", "-q", "3000"],
        &["-n", "200", "-c", "20", "--threads", "1"],
    ]
    .iter()
    .cycle()
    .take(12)
    .enumerate()
    {
        let report = report(&output(&[&["--output", "json", "--warmup", "40ms"], *words, &[url.as_str()]].concat()));
        let of = |pointer: &str| number(&report, pointer);
        let ended =
            of("/requests/succeeded") + of("/requests/failed") + of("/requests/dropped") + of("/requests/unfinished");
        assert_eq!(of("/requests/started") + of("/requests/carried"), ended, "turn {turn}: {words:?} {report:#}");
        assert!(of("/requests/sent") >= of("/requests/responses"), "{report:#}");
    }
}
