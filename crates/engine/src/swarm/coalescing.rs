//! A loop that batches responses: only where no figure is affected.

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::Flags;

use super::history::{self, History, Setup};
use crate::idle::QUIET;
use crate::scenario_runtime::COALESCE_MAX;

fn run(flags: Flags) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let flags = Flags { user_agent: "gathering".to_owned(), duration: Some("1s".to_owned()), ..flags };
    let setting = Setup { plan: flags.plan().expect("a good plan"), ..Setup::calm(5) };
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn streams(path: &str, connections: u64, streams: u64) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{path}")),
        connections: Some(connections.to_string()),
        http2: true,
        streams: Some(streams.to_string()),
        ..Flags::default()
    }
}

/// Data stays unread for at most a thousandth of the response time, and no longer than the bound.
#[test]
fn responses_on_streams_gather() {
    for (path, least_us, most_us) in
        [("/delay/5", 5, 6), ("/delay/12", 12, 13), ("/delay/30", 20, 20), ("/delay/55", 20, 20)]
    {
        let gathered = run(streams(path, 10, 20)).most_coalesced;
        assert!((Nanos(least_us * 1_000)..=Nanos(most_us * 1_000)).contains(&gathered), "{path}: {gathered:?}");
    }
}

/// A target that takes 30 ms, on a network that needs 40 to 120 us for both ways: the measured times stay the same.
#[test]
fn no_time_is_off_by_more_than_a_thousandth() {
    let history = run(streams("/delay/30", 10, 20));
    assert_eq!(history.most_coalesced, COALESCE_MAX);
    let seen = history.total.class(Class::Succeeded);
    for measure in [Measure::FirstByte, Measure::Service] {
        let times = seen.by_measure(measure);
        // A turn of 200 responses takes time as well.
        let (least, most) = (times.min().expect("some"), times.quantile(0.99).expect("some"));
        assert!(least >= 30_040_000, "{measure:?}: {least}");
        assert!(most <= 30_120_000 + 1_000_000, "{measure:?}: {most}");
        let mean = times.sum() as f64 / times.count() as f64;
        assert!((30_040_000.0..=30_120_000.0 + 60_000.0).contains(&mean), "{measure:?}: {mean}");
    }
    // It sleeps only while nothing is due.
    assert!(
        seen.by_measure(Measure::Lateness).quantile(0.99) <= Some(100_000),
        "{:?}",
        seen.by_measure(Measure::Lateness).max()
    );
}

/// Starts of a rate are due at their instants: no shard sleeps past one.
#[test]
fn a_start_that_is_due_is_not_slept_through() {
    let history = run(Flags { rate: Some("9000".to_owned()), ..streams("/delay/30", 10, 20) });
    assert_eq!(history.most_coalesced, COALESCE_MAX);
    assert_eq!(history.total.counts.started(), 9_000);
    let lateness = history.total.class(Class::Succeeded).by_measure(Measure::Lateness).max();
    assert!(lateness < Some(15_000), "{lateness:?}");
}

#[test]
fn what_is_not_long_does_not_gather() {
    assert!(run(streams("/", 10, 10)).most_coalesced <= Nanos(1_000), "a tenth of a millisecond, or little more");
}

#[test]
fn loads_without_streams_do_not_gather() {
    let plain = Flags { http2: false, streams: None, ..streams("/delay/30", 100, 1) };
    assert_eq!(run(plain.clone()).most_coalesced, Nanos::ZERO);
    let rate = Flags { rate: Some("2000".to_owned()), ..plain };
    assert_eq!(run(rate).most_coalesced, Nanos::ZERO);
}

/// Each connection is timed, and a load that opens connections all the time is never batched.
#[test]
fn loads_that_open_connections_do_not_gather() {
    let load = Flags { no_keepalive: true, streams: None, ..streams("/delay/30", 50, 1) };
    assert_eq!(run(load).most_coalesced, Nanos::ZERO);
}
