//! A test of the checks: a report with one changed figure must be detected.

use serde_json::{Value, json};

use crate::cells::{Cell, End, Load};
use crate::check;
use crate::run::{Ran, run};

/// The path of a figure, and its changed value.
type Lie = (&'static str, fn(&Value) -> Value);

fn more(value: &Value) -> Value {
    json!(value.as_u64().expect("a count") + 1)
}

fn less(value: &Value) -> Value {
    json!(value.as_u64().expect("a count") - 1)
}

/// A time that is too short: no server on this machine responds within a microsecond.
fn no_time(_: &Value) -> Value {
    json!(1_000)
}

/// A time that is too long: no run of a test lasts for an hour.
fn an_hour(_: &Value) -> Value {
    json!(3_600_000_000_000_u64)
}

const LIES: [Lie; 19] = [
    ("/requests/started", more),
    ("/requests/succeeded", less),
    ("/requests/failed", more),
    ("/requests/unfinished", more),
    ("/requests/sent", more),
    ("/requests/sent", less),
    ("/requests/responses", less),
    ("/requests/attempts", less),
    ("/requests/success_ratio", |_| json!(0.99)),
    ("/intervals/1/succeeded", more),
    ("/intervals/1/started", more),
    ("/intervals/1/users", |_| json!(9)),
    ("/stopped", |_| json!(true)),
    ("/verdict/kind", |_| json!("target")),
    ("/times/succeeded/service_time/p50_ns", no_time),
    ("/times/succeeded/response_time/p90_ns", no_time),
    ("/times/succeeded/response_time/max_ns", no_time),
    ("/times/succeeded/service_time/p50_ns", an_hour),
    ("/times/succeeded/service_time/with_incomplete", |_| json!({"p99_ns": 1_000_000_000, "at_least": ["p99"]})),
];

#[test]
fn a_report_that_lies_is_complained_about() {
    let honest = run(Cell { load: Load::Closed, end: End::Time, driver: "poll" });
    let before = check(&honest);
    for (path, lie) in LIES {
        let mut report = honest.report.clone();
        let value = report.pointer_mut(path).unwrap_or_else(|| panic!("the report has no {path}"));
        let (said, reported) = (value.clone(), lie(value));
        *value = reported.clone();
        let complaints = check(&Ran { report, books: honest.books.clone(), errors: String::new(), ..honest });
        assert!(complaints != before, "nobody noticed that {path} is {reported} and not {said}");
    }
    for (code, noticed) in [(Some(1), true), (honest.code, false)] {
        let (report, books) = (honest.report.clone(), honest.books.clone());
        let complaints = check(&Ran { report, books, code, errors: honest.errors.clone(), ..honest });
        assert_eq!(complaints != before, noticed, "exit code {code:?}");
    }
}
