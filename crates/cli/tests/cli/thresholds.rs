//! Thresholds decide the exit code, and may stop a run.

use super::{Served, onrush, output, report, text};

#[test]
fn thresholds_decide_the_exit_code() {
    let served = Served::start();
    let url = served.url("/delay/2");
    let with = |thresholds: &[&str]| {
        let mut args = vec!["-c", "2", "-n", "100", "--quiet", &url];
        args.extend(thresholds.iter().flat_map(|threshold| ["--threshold", threshold]));
        output(&args)
    };
    let met = with(&["p50(response_time) < 5s", "failed / done <= 0%", "succeeded >= 100"]);
    assert_eq!(met.status.code(), Some(0), "{met:?}");
    assert!(text(&met.stdout).contains("succeeded >= 100: 100, met"), "{met:?}");
    let unmet = with(&["p50(response_time) < 5s", "min(service_time) < 1ms"]);
    assert_eq!(unmet.status.code(), Some(1), "{unmet:?}");
    let shown = text(&unmet.stdout);
    assert!(shown.contains("p50(response_time) < 5s:") && shown.contains("NOT MET"), "{shown}");
    let chinese = output(&["-n", "10", "--quiet", "--lang", "zh", "--threshold", "rate > 99999999/s", &url]);
    assert!(text(&chinese.stdout).contains("/s，未达标"), "{chinese:?}");
    assert_eq!(chinese.status.code(), Some(1));
}

#[test]
fn a_mistake_points_at_its_place() {
    let wrong = output(&["--threshold", "p99(response_time) < 5", "http://127.0.0.1:1/"]);
    assert_eq!(wrong.status.code(), Some(2));
    let expect =
        "onrush: --threshold: a time needs a unit: us, ms or s\n  p99(response_time) < 5\n                        ^\n";
    assert_eq!(text(&wrong.stderr), expect);
    let wide = output(&["--lang", "zh", "--threshold", "失败 < 5", "http://127.0.0.1:1/"]);
    assert!(text(&wide.stderr).contains("没有这个指标"), "{wide:?}");
}

#[test]
fn a_threshold_stops_the_run() {
    let served = Served::start();
    let url = served.url("/fail/50");
    let args = ["-q", "100", "-z", "1h", "--interval", "100ms", "--output", "json"];
    // That it ends is the proof: the plan is an hour.
    let stopped =
        onrush(&args).args(["--threshold", "failed / done < 10%, abort 400ms", &url]).output().expect("it starts");
    assert_eq!(stopped.status.code(), Some(1));
    assert!(text(&stopped.stderr).contains("stopping: failed / done < 10%"), "{stopped:?}");
    let report = report(&stopped);
    assert_eq!(report["stopped"], true);
    assert_eq!(report["thresholds"][0]["holds"], false);
    // Not before its time, on the engine's own clock: 40 starts are due by then.
    assert!(report["wall_s"].as_f64() >= Some(0.4), "{report:#}");
    assert!(report["requests"]["started"].as_u64() >= Some(40), "{report:#}");
}

/// A 429 is no success, in text and in JSON.
#[test]
fn a_refusal_by_status_is_a_failure() {
    let served = Served::start();
    let url = served.url("/fail/73.378/429");
    let shown = output(&["-c", "10", "-n", "601", "--quiet", &url]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("200: 160   429: 441"), "{shown}");
    assert!(shown.contains("26.62%"), "{shown}");
    let report = report(&output(&["-c", "10", "-n", "601", "--output", "json", &url]));
    let ratio = report["requests"]["success_ratio"].as_f64().expect("a number");
    assert!((ratio - 0.266).abs() < 0.0005, "{ratio}");
    assert_eq!(report["requests"]["failed"], 441);
}
