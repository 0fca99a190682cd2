//! What theory says about a load, against what the engine measures in a world without noise.

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::Flags;

use super::history::{self, History, Setting};
use crate::idle::QUIET;

fn run(flags: Flags, freezes: Vec<(usize, Nanos, Nanos)>) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let flags = Flags { user_agent: "oracle".to_owned(), ..flags };
    let setting = Setting { plan: flags.plan().expect("a good plan"), freezes, ..Setting::calm(11) };
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn flags(url: &str, rate: &str, duration: &str) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{url}")),
        rate: Some(rate.to_owned()),
        duration: Some(duration.to_owned()),
        ..Flags::default()
    }
}

const SECOND: u64 = 1_000_000_000;

/// 1,000 starts a second for 10 s, and nobody home from 4 s to 5 s: a start at 4 s + x waits 1 s - x. So a tenth of all starts
/// waits evenly between 0 and 1 s, and the quantile q above 0.9 is (q - 0.9) * 10 s.
#[test]
fn a_freeze_is_in_the_response_time() {
    let freeze = vec![(0, Nanos(4 * SECOND), Nanos(5 * SECOND))];
    let load = Flags { connections: Some("10".to_owned()), ..flags("/", "1000", "10s") };
    let history = run(load, freeze);
    let counts = &history.total.counts;
    assert_eq!((counts.started, counts.succeeded), (10_000, 10_000));
    let seen = history.total.class(Class::Succeeded);
    let response = seen.of(Measure::Response);
    for (quantile, expect) in [(0.95, 0.5), (0.99, 0.9), (0.999, 0.99), (1.0, 1.0)] {
        let measured = response.quantile(quantile).expect("there are some") as f64 / 1e9;
        assert!((measured - expect).abs() <= expect * 0.02 + 0.002, "{quantile}: {measured} s, {expect} s expected");
    }
    // The service time sees one slow exchange for each connection, and nothing of the other 990 that waited.
    let service = seen.of(Measure::Service);
    let slow = service.count_between(SECOND / 20, 2 * SECOND);
    assert!((1..=10).contains(&slow), "{slow} slow exchanges");
    // They waited for the target, not for us.
    assert!(seen.of(Measure::Lateness).max() < Some(1_000_000), "{:?}", seen.of(Measure::Lateness).max());
    assert!(seen.of(Measure::Wait).quantile(0.99) > Some(SECOND / 2));
}

#[test]
fn a_closed_load_hides_the_freeze() {
    let freeze = vec![(0, Nanos(4 * SECOND), Nanos(5 * SECOND))];
    let load = Flags { connections: Some("10".to_owned()), rate: None, ..flags("/delay/10", "1", "10s") };
    let history = run(load, freeze);
    let response = history.total.class(Class::Succeeded);
    let response = response.of(Measure::Response);
    assert!(response.quantile(0.99) < Some(SECOND / 10), "{:?}", response.quantile(0.99));
    assert!(response.max() > Some(SECOND * 9 / 10));
}

#[test]
fn a_ramp_sends_its_triangle() {
    let load = Flags { stages: Some("1000:10s".to_owned()), rate: None, duration: None, ..flags("/", "1", "1s") };
    let history = run(load, Vec::new());
    assert_eq!((history.total.counts.started, history.total.counts.succeeded), (5_000, 5_000));
    assert_eq!(history.total.counts.dropped, 0);
}

/// A target that takes 20 ms and two connections carry 100 exchanges a second; 300 are asked. What waited longer than the
/// bound is dropped, and nothing that was sent is older than it.
#[test]
fn what_is_too_late_is_dropped() {
    let load = Flags {
        connections: Some("2".to_owned()),
        max_lateness: Some("500ms".to_owned()),
        ..flags("/delay/20", "300", "10s")
    };
    let history = run(load, Vec::new());
    let counts = &history.total.counts;
    assert_eq!(counts.started, 3_000);
    assert_eq!(counts.failed(), 0);
    assert!((950..=1_060).contains(&counts.succeeded), "{} succeeded", counts.succeeded);
    assert_eq!(counts.dropped + counts.succeeded + counts.unfinished, 3_000);
    let seen = history.total.class(Class::Succeeded);
    let waited = seen.of(Measure::Wait).max().expect("some") + seen.of(Measure::Lateness).max().expect("some");
    assert!(waited <= 501_000_000, "{waited}");
}

/// A rate that no loop can keep, and no grace: what was due and never taken up is unfinished, not forgotten.
#[test]
fn what_was_due_and_never_taken_up_is_counted() {
    let load = Flags { grace: Some("0s".to_owned()), ..flags("/", "5000000", "100ms") };
    let history = run(load, Vec::new());
    let counts = &history.total.counts;
    assert_eq!(counts.started, 500_000);
    assert!(counts.unfinished > 0, "{counts:?}");
    assert_eq!(counts.succeeded + counts.failed() + counts.dropped + counts.unfinished, 500_000);
}

/// The engine's own program stands still for a second: what it takes up too late is dropped, and told apart.
#[test]
fn the_generator_owns_its_drops() {
    let freeze = vec![(1, Nanos(SECOND), Nanos(2 * SECOND))];
    let load = Flags { max_lateness: Some("100ms".to_owned()), ..flags("/", "1000", "3s") };
    let history = run(load, freeze);
    let counts = &history.total.counts;
    assert_eq!((counts.started, counts.failed()), (3_000, 0));
    assert!((890..=910).contains(&counts.dropped), "{} were dropped", counts.dropped);
    assert_eq!(counts.dropped_by_generator, counts.dropped);
    assert_eq!(history.total.dropped_after.count(), counts.dropped);
}
