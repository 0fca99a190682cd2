//! Prometheus and InfluxDB from Debian: they have the counts of the run and of the target.

use std::process::Stdio;

use serde_json::Value;

use super::servers::Program;
use super::{ODD_STEP, answered, exported, run_scenario};
use crate::seen::wait_for;
use crate::{Served, onrush, output, report, signal};

/// The bounds of the classic bucket of a time.
fn bucket_of(seconds: f64) -> (f64, f64) {
    let bounds = [0.0, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let place = bounds.iter().position(|bound| *bound >= seconds).expect("a short time");
    (bounds[place - 1], bounds[place])
}

/// A load that ends when Prometheus has scraped its page five times; its report, and its number of requests.
fn run_for_scrapes(served: &Served, page: u16, prometheus: &Program) -> (Value, u64) {
    let url = served.url("/delay/uniform/2-9");
    let page = format!("prometheus=127.0.0.1:{page}");
    let words =
        ["-q", "300", "-z", "1h", "--interval", "100ms", "-o", "json", "--export", &page, "--export-wait", "1h"];
    let child = onrush(&[&words[..], &[&url]].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_for("Prometheus has read the page five times", || {
        let reads = prometheus.query("count_over_time(onrush_users[5m])");
        let reads = reads[0]["value"][1].as_str().and_then(|count| count.parse::<u64>().ok());
        reads >= Some(5)
    });
    signal(&child, "-INT");
    let ran = child.wait_with_output().expect("it ends when the last figures were read");
    assert_eq!(ran.status.code(), Some(130), "{ran:?}");
    let report = report(&ran);
    let requests = answered(served);
    assert_eq!(report["requests"]["succeeded"], requests, "{report:#}");
    assert!(requests >= 100, "{requests}");
    let export = exported(&report, "prometheus");
    assert_eq!(export["error"], Value::Null, "{export}");
    assert!(export["delivered"].as_u64() > Some(5), "{export}");
    (report, requests)
}

#[test]
fn prometheus_reads_our_counts() {
    let (served, page) = (Served::start(), crate::closed_port());
    let prometheus = Program::prometheus(Some(page), &[]);
    let (report, requests) = run_for_scrapes(&served, page, &prometheus);
    let number = |expression: &str| prometheus.number(expression);
    assert_eq!(number("last_over_time(onrush_requests_total{outcome='succeeded'}[1m])"), requests as f64);
    assert_eq!(number("last_over_time(onrush_requests_total{outcome='failed'}[1m])"), 0.0);
    assert_eq!(number("last_over_time(onrush_response_time_seconds_count[1m])"), requests as f64);
    let times = &report["times"]["succeeded"]["response_time"];
    let sum = times["mean_ns"].as_f64().expect("a number") * requests as f64 / 1e9;
    let theirs = number("last_over_time(onrush_response_time_seconds_sum[1m])");
    assert!((theirs / sum - 1.0).abs() < 1e-6, "{theirs} {sum}");
    for (quantile, key) in [("0.5", "p50_ns"), ("0.99", "p99_ns")] {
        let ours = times[key].as_f64().expect("a number") / 1e9;
        let theirs =
            number(&format!("histogram_quantile({quantile}, last_over_time(onrush_response_time_seconds_bucket[1m]))"));
        let (low, high) = bucket_of(ours);
        assert!((low..=high).contains(&theirs), "{key}: {theirs} and {ours}");
    }
    let received = report["bytes"]["received"].as_f64().expect("a number");
    assert_eq!(number("last_over_time(onrush_bytes_received_total[1m])"), received);
    assert_eq!(number("last_over_time(onrush_users[1m])"), 0.0);
    // It was scraped as it grew, without a decrease.
    assert_eq!(number("resets(onrush_requests_total{outcome='succeeded'}[1m])"), 0.0);
}

#[test]
fn prometheus_reads_native_histograms() {
    let (served, page) = (Served::start(), crate::closed_port());
    let prometheus = Program::prometheus(Some(page), &["--enable-feature=native-histograms"]);
    let (report, requests) = run_for_scrapes(&served, page, &prometheus);
    let series = prometheus.query("onrush_response_time_seconds[1m]");
    let last = series[0]["histograms"].as_array().and_then(|all| all.last()).unwrap_or_else(|| panic!("{series}"));
    assert_eq!(last[1]["count"], requests.to_string(), "{last}");
    let at = last[0].as_f64().expect("an instant");
    let url = format!("http://127.0.0.1:{}/api/v1/query?time={at}", prometheus.port);
    for (quantile, key) in [("0.5", "p50_ns"), ("0.99", "p99_ns")] {
        let query = format!("query=histogram_quantile({quantile}, onrush_response_time_seconds)");
        let response: Value =
            serde_json::from_str(&super::servers::curl(&["--get", &url, "--data-urlencode", &query])).expect("JSON");
        let theirs = response["data"]["result"][0]["value"][1].as_str().and_then(|value| value.parse::<f64>().ok());
        let theirs = theirs.unwrap_or_else(|| panic!("{response}"));
        let ours = report["times"]["succeeded"]["response_time"][key].as_f64().expect("a number") / 1e9;
        // A bucket is 4.5 % wide at most where times differ so little.
        assert!((theirs / ours - 1.0).abs() < 0.05, "{key}: {theirs} and {ours}");
    }
}

#[test]
fn prometheus_takes_what_is_written() {
    let served = Served::start();
    let prometheus = Program::prometheus(None, &["--web.enable-remote-write-receiver"]);
    let to = format!("remote-write=http://127.0.0.1:{}", prometheus.port);
    let report = run_scenario(&served, "remote", &to);
    let export = exported(&report, "remote-write");
    let intervals = report["intervals"].as_array().map(Vec::len);
    assert_eq!(
        (export["delivered"].as_u64(), export["left_out"].as_u64()),
        (intervals.map(|all| all as u64), Some(0)),
        "{export}"
    );
    let all = prometheus.query("last_over_time(onrush_requests_total{scenario='买家'}[1m])");
    let mut seen: Vec<(String, String, String)> = all
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let label = |name: &str| one["metric"][name].as_str().expect("a label").to_owned();
            (label("step"), label("outcome"), one["value"][1].as_str().expect("a value").to_owned())
        })
        .collect();
    seen.sort();
    let row = |step: &str, outcome: &str, count: &str| (step.to_owned(), outcome.to_owned(), count.to_owned());
    let mut expected = vec![
        row(ODD_STEP, "succeeded", "100"),
        row(ODD_STEP, "failed", "0"),
        row("broken", "succeeded", "0"),
        row("broken", "failed", "100"),
    ];
    expected.sort();
    assert_eq!(seen, expected);
    assert_eq!(prometheus.number("last_over_time(onrush_failures_total{reason='status'}[1m])"), 100.0);
    // It begins at zero, so increases are known too.
    let zero = prometheus.query("min_over_time(onrush_failures_total[1m])");
    assert!(zero.as_array().is_some(), "{zero}");
    assert_eq!(prometheus.number("min_over_time(onrush_requests_total{step='broken',outcome='failed'}[1m])"), 0.0);
}

#[test]
fn influx_takes_what_is_written() {
    let (served, influx) = (Served::start(), Program::influx());
    let to = format!("influx=http://me:hunter2@127.0.0.1:{}/write?db=load", influx.port);
    let report = run_scenario(&served, "influx", &to);
    let export = exported(&report, "influx");
    assert_eq!((&export["left_out"], &export["error"]), (&0.into(), &Value::Null), "{export}");
    assert!(!export["where"].as_str().expect("a place").contains("hunter2"), "{export}");
    let series = influx.select(
        "SELECT sum(succeeded), sum(failed), last(total_succeeded), last(total_failed) FROM onrush_steps GROUP BY scenario, step",
    );
    let row = |step: &str| {
        let all = series.as_array().unwrap_or_else(|| panic!("{series}"));
        let own = all.iter().find(|one| one["tags"]["step"] == step).unwrap_or_else(|| panic!("{series}"));
        assert_eq!(own["tags"]["scenario"], "买家");
        own["values"][0].as_array().expect("a row")[1..].to_vec()
    };
    assert_eq!(row(ODD_STEP), [100, 0, 100, 0].map(Value::from), "{series}");
    assert_eq!(row("broken"), [0, 100, 0, 100].map(Value::from), "{series}");
    let failures = influx.select("SELECT last(total) FROM onrush_failures WHERE reason = 'status'");
    assert_eq!(failures[0]["values"][0][1], 100, "{failures}");
    // A wrong password is reported, and does not change the exit code.
    let to = format!("influx=http://me:wrong@127.0.0.1:{}/write?db=load", influx.port);
    let ran = output(&["-n", "10", "-o", "json", "--export", &to, &served.url("/")]);
    assert!(ran.status.success(), "{ran:?}");
    let error = exported(&crate::report(&ran), "influx")["error"].clone();
    assert!(error.as_str().is_some_and(|error| error.starts_with("HTTP 401")), "{error}");
}
