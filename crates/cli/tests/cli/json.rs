//! The JSON report and its published schema.

use serde_json::Value;

use crate::{Served, output, report};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema is there")).expect("JSON")
}

#[test]
fn reports_follow_the_schema() {
    let served = Served::start();
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let closed = format!("http://127.0.0.1:{}/", crate::closed_port());
    let cases: [(Vec<&str>, String); 13] = [
        (vec!["-c", "1", "-z", "200ms", "--grace", "50ms"], served.url("/delay/5000")),
        (vec!["-q", "300", "-n", "60"], served.url("/serial/10")),
        (vec!["--ramp", "50/s", "-c", "10", "-z", "200ms", "--warmup", "100ms"], served.url("/")),
        (vec!["--user-stages", "5:0s,5:100ms,1:100ms"], served.url("/")),
        (vec!["--rendezvous", "-c", "4", "-n", "10"], served.url("/")),
        (
            vec![
                "-n",
                "50",
                "--threshold",
                "p99(wait) < 1s",
                "--threshold",
                "p9(connect) < 1s",
                "--threshold",
                "rate > 1",
            ],
            served.url("/"),
        ),
        (vec!["-q", "500", "-z", "200ms", "--arrivals", "poisson"], served.url("/")),
        (vec!["--stages", "500:100ms,0:0s,0:100ms", "-c", "3", "--max-lateness", "2s"], served.url("/")),
        (vec!["-n", "500"], served.url("/")),
        (vec!["-q", "100", "-n", "30", "--interval", "100ms"], served.url("/delay/5")),
        (vec!["-n", "50"], served.url("/status/500")),
        (vec!["-n", "6", "-t", "100ms", "-c", "3"], served.url("/delay/1000")),
        (vec!["-n", "5"], closed),
    ];
    for (args, url) in cases {
        let args: Vec<&str> = ["--output", "json"].iter().chain(&args).copied().chain([url.as_str()]).collect();
        let report = report(&output(&args));
        let errors: Vec<String> =
            validator.iter_errors(&report).map(|error| format!("{} at {}", error, error.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
    }
}

/// With timeouts among them, high percentiles are only known to be at least the timeout.
#[test]
fn percentiles_know_what_they_do_not_know() {
    let served = Served::start();
    let report =
        report(&output(&["--output", "json", "-n", "4", "-c", "2", "-t", "100ms", &served.url("/delay/1000")]));
    let times = &report["times"]["succeeded"]["response_time"];
    assert_eq!(times["count"], 0);
    let bounds = &times["with_incomplete"];
    assert!(bounds["p50_ns"].as_u64().expect("a bound") >= 100_000_000);
    assert_eq!(bounds["at_least"].as_array().map(Vec::len), Some(6), "{times:#}");
}

/// Figures of successes contain only successes: one population, here and in the text for HdrHistogram.
#[test]
fn times_of_what_succeeded_hold_no_timeouts() {
    let served = Served::start();
    let text = std::env::temp_dir().join(format!("onrush-times-{}.hgrm", std::process::id()));
    let text_name = text.to_str().expect("a name");
    let args = ["--output", "json", "--hdr", text_name, "-n", "200", "-c", "40", "-t", "60ms"];
    let report = report(&output(&[&args[..], &[&served.url("/delay/uniform/10-110")]].concat()));
    let timed_out = report["failures"][0]["count"].as_u64().expect("timeouts");
    let all_steps = [&report["times"]["succeeded"]["response_time"], &report["steps"][0]["response_time"]];
    for times in all_steps {
        assert_eq!(times["count"], report["requests"]["succeeded"], "{times:#}");
        assert!(times["mean_ns"].as_f64() <= times["max_ns"].as_f64(), "{times:#}");
        let both = &times["with_incomplete"];
        assert_eq!(both["incomplete"], timed_out, "{times:#}");
        assert_eq!(both["count"], 200, "{times:#}");
        // Each incomplete time is at least the timeout: with it, no figure is lower, but those above the timeout.
        let at_least = |name: &str| times[name].as_f64().expect("a time").min(60e6);
        assert!(both["p99_ns"].as_f64() >= Some(60e6) && both["p50_ns"].as_f64() >= Some(at_least("p50_ns")));
        assert!(both["mean_lower_bound_ns"].as_f64() >= Some(at_least("mean_ns")), "{times:#}");
        assert!(times.get("at_least").is_none() && both["at_least"].as_array().is_some_and(|names| !names.is_empty()));
    }
    let written = std::fs::read_to_string(&text).expect("a text");
    std::fs::remove_file(&text).expect("it was written");
    let max = all_steps[0]["max_ns"].as_u64().expect("a maximum") as f64 / 1e6;
    assert!(written.contains(&format!("#[Max     = {max:12.3}")), "{written}");
    let sums = report["intervals"].as_array().expect("intervals").iter().map(|one| &one["response_time"]);
    let (known, incomplete) = sums.fold((0, 0), |(known, incomplete), times| {
        let count = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
        (known + count(&times["count"]), incomplete + count(&times["with_incomplete"]["incomplete"]))
    });
    assert_eq!((known, incomplete), (200 - timed_out, timed_out));
}
