//! Loads of custom protocols, and their reports.

use serde_json::Value;

use crate::{output, report};

pub(crate) const DRIVERS: [&str; 2] = ["uring", "poll"];

#[track_caller]
pub(crate) fn number(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer}: {report:#}"))
}

/// The report of a load, and its exit code.
pub(crate) fn load(words: &[&str]) -> (Value, Option<i32>) {
    let done = output(&[words, &["-o", "json"]].concat());
    (report(&done), done.status.code())
}

/// The number of failures by their reason.
pub(crate) fn failures(seen: &Value) -> Vec<(&str, u64)> {
    let all = seen["failures"].as_array().expect("failures").iter();
    all.map(|one| (one["reason"].as_str().expect("a reason"), number(one, "/count"))).collect()
}

/// A scenario file of one scenario; `steps` are lines of YAML, each step indented by six spaces.
pub(crate) fn scenario(url: &str, load: &str, steps: &str) -> String {
    format!("target: {url}\nscenarios:\n  users:\n    load: {load}\n    steps:\n{steps}")
}
