//! The rate of an open load that keeps its plan is the requested rate, however it is ended: by its time, by a number of
//! starts or by the time of a budget. By arithmetic: k starts at a rate of r take k / r.

use pacing::Nanos;
use plan::Flags;

use super::history::{self, History, Setup};
use crate::idle::QUIET;

const MILLI: u64 = 1_000_000;

fn run(load: &Flags, threads: usize) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let plan = load.plan().expect("a good plan");
    let setting = Setup { plan, threads, ..Setup::calm(11) };
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn flags(path: &str, rate: &str) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{path}")),
        rate: Some(rate.to_owned()),
        user_agent: "oracle".to_owned(),
        ..Flags::default()
    }
}

/// Checks the number of starts and the time, and that the rate is within a thousandth of the requested one.
fn kept(load: &Flags, threads: usize, starts: u64, span: Nanos) {
    let history = run(load, threads);
    let started = history.total.counts.started();
    // An instant is rounded down to a nanosecond.
    let is_span = history.started_for.0.abs_diff(span.0) <= 1;
    assert!(started == starts && is_span, "{started} in {:?}: {load:?} on {threads}", history.started_for);
    let requested =
        crate::run::requested_per_s(history.scenario(), &history.timeline, history.started_for, &history.total)
            .expect("a rate");
    let achieved = started as f64 / history.started_for.as_secs_f64();
    assert!((achieved / requested - 1.0).abs() < 1e-3, "{achieved} of {requested}: {load:?} on {threads}");
}

#[test]
fn a_number_of_starts_takes_their_number_divided_by_their_rate() {
    let text = |text: &str| Some(text.to_owned());
    for threads in [1, 2, 3] {
        for path in ["/", "/delay/20", "/delay/900"] {
            for (rate, requests, ms) in
                [("10", "5", 500), ("100", "5", 50), ("4", "2", 500), ("500", "1", 2), ("200", "300", 1_500)]
            {
                let load = Flags { requests: text(requests), ..flags(path, rate) };
                let starts = requests.parse().expect("a number");
                kept(&load, threads, starts, Nanos(ms * MILLI));
                // A time that is longer than the starts need does not count.
                kept(&Flags { duration: text("8s"), ..load }, threads, starts, Nanos(ms * MILLI));
            }
        }
    }
}

#[test]
fn the_time_of_a_budget_is_over_before_what_is_intended_at_its_end() {
    for threads in [1, 2, 3] {
        for (rate, ms, starts) in
            [("100", 1_000, 100), ("10", 300, 3), ("1000", 400, 400), ("7", 1_000, 7), ("3", 999, 3)]
        {
            let load = Flags {
                duration: Some("8s".to_owned()),
                budget: Some(format!("time={ms}ms")),
                ..flags("/delay/5", rate)
            };
            let history = run(&load, threads);
            assert_eq!(history.total.counts.started(), starts, "{rate}/s for {ms} ms on {threads}");
            assert_eq!(history.started_for, Nanos(ms * MILLI));
        }
    }
}
