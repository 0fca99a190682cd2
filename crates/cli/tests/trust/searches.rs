//! Searches with real sockets: what theory names lies between their bounds, and a limit of ours is never the target's.

use std::process::Command;

use serde_json::Value;

use crate::{Busy, Served, alone, output, report};

/// Four workers, 8 ms each on average: at this rate 1 % of all stay longer than 80 ms. By the formula of the M/M/c queue; the tests of
/// `search` have it.
const RATE: f64 = 437.6;

/// The rate that theory names lies between the bounds. The times are long beside what a busy machine adds to them.
fn holds_theory(driver: &str, budget: &str) {
    let served = Served::start();
    let url = served.url("/queue/4/8");
    let words = ["find-max", "--goal", "p99(response_time) < 80ms", "--arrivals", "poisson", "--no-save"];
    let more = ["--budget", budget, "--driver", driver, "--output", "json", &url];
    let value = report(&output(&[&words[..], &more].concat()));
    let (lower, upper) = (value["lower_per_s"].as_f64(), value["upper_per_s"].as_f64());
    // A machine that is busy makes the target slower, and onrush late; it makes nothing faster.
    assert!(lower.is_none_or(|lower| lower <= RATE), "{driver}: {value:#}");
    let is_disturbed = value["trials"].as_array().expect("a list").iter().any(|trial| trial["class"] == "discarded");
    assert!(is_disturbed || upper.is_none_or(|upper| RATE < upper), "{driver}: {value:#}");
}

#[test]
fn what_theory_names_lies_between_the_bounds() {
    let _alone = alone();
    let (times, budget) = if std::env::var_os("ONRUSH_LONG").is_some() { (3, "60s") } else { (1, "15s") };
    for driver in ["uring", "poll"] {
        (0..times).for_each(|_| holds_theory(driver, budget));
    }
}

/// All of onrush on a core that three others use too, and a target that answers at once: it gets a quarter of what it needs, and says
/// so, whatever it asks for.
#[test]
fn a_limit_of_ours_is_never_the_targets() {
    let _alone = alone();
    let served = Served::start();
    let pinned = Command::new("taskset").args(["-pc", "1", &served.child.id().to_string()]).output();
    assert!(pinned.is_ok_and(|done| done.status.success()), "the target gets a core of its own");
    let _busy = [Busy::on_core("0"), Busy::on_core("0"), Busy::on_core("0")];
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_onrush"), "find-max", "--budget", "20s", "--from", "20000/s"]);
    command.args(["--no-save", "--output", "json", &served.url("/")]).env("LANG", "C.UTF-8");
    let value: Value = report(&command.output().expect("it starts"));
    assert_eq!((&value["limit"], &value["upper_per_s"]), (&"generator".into(), &Value::Null), "{value:#}");
    assert_eq!(value["own_limit"]["limit"], "generator", "{value:#}");
}
