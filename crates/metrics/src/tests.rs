use proptest::prelude::*;

use super::*;

#[test]
fn every_failure_has_a_counter_of_its_own() {
    let custom = crate::outcome::custom_failures();
    let mut named = std::collections::HashSet::new();
    for index in 0..FAILURE_COUNT {
        if let Some(failure) = Failure::from_index(index) {
            assert_eq!(failure.index(), index, "{failure:?}");
            assert!(named.insert(failure), "{failure:?} twice");
        }
    }
    assert_eq!(named.len(), 23 + 6 + 49 + 19 + 15 + 10 + 256 + 18 + 16 + 2_000 + custom.len());
}

/// Each close code has its counter; one that must not be sent counts as none.
#[test]
fn closes_are_counted_by_their_codes() {
    for (code, counted) in [
        (1_000, 1_000),
        (1_005, 1_005),
        (1_013, 1_013),
        (1_015, 1_015),
        (3_000, 3_000),
        (3_999, 3_999),
        (4_000, 4_000),
        (4_999, 4_999),
        (0, CLOSE_WITHOUT_CODE),
        (999, CLOSE_WITHOUT_CODE),
        (1_016, CLOSE_WITHOUT_CODE),
        (2_999, CLOSE_WITHOUT_CODE),
        (5_000, CLOSE_WITHOUT_CODE),
        (u16::MAX, CLOSE_WITHOUT_CODE),
    ] {
        let failure = Failure::WebSocketClose(code);
        assert_eq!(Failure::from_index(failure.index()), Some(Failure::WebSocketClose(counted)), "{code}");
        assert_eq!(failure.detail(), Some(counted.to_string()), "{code}");
    }
}

#[test]
fn sum_and_maximum_are_exact_beyond_the_range_of_the_histogram() {
    let mut times = Distribution::default();
    times.record(VALUE_NS_MAX * 3);
    times.record(1);
    assert_eq!(
        (times.count(), times.sum(), times.min(), times.max()),
        (2, u128::from(VALUE_NS_MAX) * 3 + 1, Some(1), Some(VALUE_NS_MAX * 3))
    );
}

#[test]
fn an_empty_distribution_has_no_figures() {
    let times = Distribution::default();
    assert_eq!(
        (times.min(), times.max(), times.mean(), times.quantile(0.5), times.stdev()),
        (None, None, None, None, None)
    );
}

fn distribution(values: &[u64]) -> Distribution {
    let mut times = Distribution::default();
    values.iter().for_each(|&value| times.record(value));
    times
}

proptest! {
    #[test]
    fn a_quantile_is_within_a_thousandth_and_never_above_the_maximum(mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), quantile in 0.0f64..=1.0) {
        let times = distribution(&values);
        values.sort_unstable();
        let seen = times.quantile(quantile).expect("there are values");
        let rank = ((quantile * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let exact = values[rank - 1];
        prop_assert!(seen <= times.max().expect("there are values"));
        prop_assert!(seen as f64 >= exact as f64 * 0.999 && seen as f64 <= exact as f64 * 1.001 + 1.0, "{} for {}", seen, exact);
    }

    #[test]
    fn merging_is_the_same_as_recording_all(one in prop::collection::vec(1u64..10_000_000_000, 0..100), two in prop::collection::vec(1u64..10_000_000_000, 0..100)) {
        let mut merged = distribution(&one);
        merged.merge(&distribution(&two));
        let whole = distribution(&[one, two].concat());
        prop_assert_eq!((merged.count(), merged.sum(), merged.min(), merged.max()), (whole.count(), whole.sum(), whole.min(), whole.max()));
        for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            prop_assert_eq!(merged.quantile(quantile), whole.quantile(quantile));
            prop_assert!(merged.quantile(quantile) <= merged.max());
        }
    }

    #[test]
    fn snapshots_keep_counts_and_series_equal(outcomes in prop::collection::vec((0usize..FAILURE_COUNT + 20, 0u32..3), 0..200)) {
        let mut halves = [Snapshot::default(), Snapshot::default()];
        for (number, (index, step)) in outcomes.iter().enumerate() {
            let outcome = Failure::from_index(*index).map_or(Outcome::Succeeded, Outcome::Failed);
            halves[number % 2].outcome(SeriesId::step(*step), outcome).record(Measure::Response, 1 + number as u64);
        }
        let [mut sum, more] = halves;
        sum.merge(&more);
        prop_assert_eq!(sum.counts.finished(), outcomes.len() as u64);
        prop_assert_eq!(sum.all().by_measure(Measure::Response).count(), outcomes.len() as u64);
        let by_class: u64 = Class::ALL.iter().map(|&class| sum.class(class).by_measure(Measure::Response).count()).sum();
        prop_assert_eq!(by_class, outcomes.len() as u64);
        prop_assert_eq!(sum.class(Class::Succeeded).by_measure(Measure::Response).count(), sum.counts.succeeded());
    }
}

#[test]
fn many_steps_cost_what_their_times_spread_over() {
    const STEPS: u32 = 64;
    const SHARDS: usize = 16;
    /// One is filled while the one before it is merged.
    const SNAPSHOTS: usize = 2;
    let mut seen = Snapshot::default();
    for round in 0..2 {
        for step in 0..STEPS {
            // Two octaves from some value on, each bucket of them used; waits and lateness are spread as far, only
            // shorter.
            let least = 1u64 << (20 + step % 8);
            for value in (least..4 * least).step_by(usize::try_from(least / 2_048).expect("small")) {
                let timings = seen.outcome(SeriesId::step(step), Outcome::Succeeded);
                for measure in [Measure::Response, Measure::Service, Measure::FirstByte] {
                    timings.record(measure, value);
                }
                for measure in [Measure::Wait, Measure::Lateness] {
                    timings.record(measure, value / 1_000);
                }
            }
        }
        if round == 0 {
            seen.clear();
        }
    }
    let bytes = seen.series_bytes() * SHARDS * SNAPSHOTS;
    assert!(bytes <= 100_000_000, "{bytes}");
}

/// A counter that some loop forgot would be lost between shards, or show in the next interval.
#[test]
fn whatever_is_counted_is_seen_added_and_forgotten() {
    let mut cases: Vec<(String, Counts)> = Vec::new();
    let mut case = |name: String, count: &dyn Fn(&mut Counts)| {
        let mut counts = Counts::default();
        count(&mut counts);
        cases.push((name, counts));
    };
    for &counter in Counter::ALL {
        case(counter.name().to_owned(), &move |counts| counts[counter] = 3);
    }
    case("a status".to_owned(), &|counts| counts.statuses[999] = 3);
    case("a status of gRPC".to_owned(), &|counts| *counts.grpc_statuses.last_mut().expect("some") = 3);
    case("a status that is a word".to_owned(), &|counts| counts.count_status_word("OK", 3));
    case("a close".to_owned(), &|counts| *counts.closes.entry(1_000).or_default() = 3);
    case("a failure".to_owned(), &|counts| counts.failures[FAILURE_COUNT - 1] = 3);
    let mut all = Counts::default();
    for (name, counts) in &mut cases {
        assert!(!counts.is_empty(), "{name}");
        all.merge(counts);
        counts.merge(&counts.clone());
        let tables = counts.statuses[999] + counts.failures[FAILURE_COUNT - 1] + counts.closes.values().sum::<u64>();
        let tables = tables + counts.grpc_statuses.iter().sum::<u64>() + counts.status_word("OK");
        let sum = counts.values().iter().sum::<u64>() + tables;
        assert_eq!(sum, 6, "{name}");
        counts.clear();
        assert!(counts.is_empty(), "{name}");
    }
    assert!(Counter::ALL.iter().all(|&counter| all[counter] == 3), "{all:?}");
    assert!(Counts::default().is_empty());
}

/// Each row of the tables is read, counted and named consistently.
#[test]
fn counters_are_read_by_the_name_that_they_are_counted_by() {
    let mut counters = Counters::default();
    for (value, &counter) in (1..).zip(Counter::ALL) {
        counters[counter] = value;
    }
    assert_eq!((counters.started(), counters.succeeded(), counters.dropped()), (1, 2, 3));
    assert_eq!((counters.bytes_queued(), counters.carried(), counters.lost()), (21, 32, 37));
    assert_eq!(counters.values(), (1..=Counter::ALL.len() as u64).collect::<Vec<_>>());
    let names: std::collections::BTreeSet<_> = Counter::ALL.iter().map(|counter| counter.name()).collect();
    assert_eq!(names.len(), Counter::ALL.len());
    let mut held = HeldCounters::default();
    held[HeldCounter::BytesQueued] = 10;
    held[HeldCounter::BytesUnsent] = 3;
    assert_eq!((held.bytes_sent(), HeldCounter::BytesQueued.name()), (7, "bytes_queued"));
    assert_eq!(format!("{held:?}"), r#"{"bytes_queued": 10, "bytes_unsent": 3}"#);
}

/// An interval ends for each shard every second; its memory is reused.
#[test]
fn counts_that_are_cleared_keep_their_memory() {
    let mut counts = Counts::default();
    counts.statuses[200] = 1;
    let places = (counts.statuses.as_ptr(), counts.failures.as_ptr());
    counts.clear();
    assert_eq!(places, (counts.statuses.as_ptr(), counts.failures.as_ptr()));
}

/// Gauges of shards add; those of a later instant replace earlier ones.
#[test]
fn gauges_add_over_shards_and_not_over_time() {
    let at = |users: u64, age: u64| {
        let mut gauges = Gauges { users, connections_open: 2 * users, ..Gauges::default() };
        gauges.in_flight.response.record(age);
        gauges.in_flight.service.record(age / 2);
        gauges
    };
    let mut now = at(5, 100);
    now.merge(&at(7, 300));
    assert_eq!((now.users, now.connections_open, now.in_flight.response.max()), (12, 24, Some(300)));
    now.replace(&at(1, 50));
    assert_eq!((now.users, now.connections_open, now.in_flight.response.max()), (1, 2, Some(50)));
    assert_eq!((now.in_flight.service.count(), now.in_flight.service.max()), (1, Some(25)));
}

/// Checks are counted, and take no memory for times.
#[test]
fn checks_have_counts_alone() {
    let (paid, sold) = (SeriesId::check(1), SeriesId::check(3));
    let evaluated = |check, passed: u64, failed: u64| {
        let mut seen = Snapshot::default();
        (0..passed).for_each(|_| seen.record(check, Class::Succeeded, 0));
        for _ in 0..failed {
            seen.record(check, Class::from_outcome(Outcome::Failed(Failure::CheckFailed)), 0);
            seen.fail(check, Failure::CheckFailed);
        }
        seen
    };
    let mut all = evaluated(paid, 5, 2);
    assert!(all.series_bytes() < size_of::<Timings>() / 2, "{}", all.series_bytes());
    all.merge(&evaluated(sold, 0, 4));
    all.merge(&evaluated(paid, 1, 0));
    assert_eq!(all.check_counts(paid), CheckCounts { passed: 6, failed: 2 });
    assert_eq!(all.check_counts(sold), CheckCounts { passed: 0, failed: 4 });
    assert_eq!(all.check_counts(SeriesId::step(1)), CheckCounts::default());
    assert_eq!(Class::ALL.map(|class| all.count_of(paid, class)), [6, 2, 0, 0]);
    assert_eq!(all.counts, Counts::default(), "a check is no request");
    let only = all.only(paid).counts;
    assert_eq!((only.all_started(), only.finished(), only.succeeded(), only.failed()), (8, 8, 6, 2));
    let mut bytes = Vec::new();
    all.encode(&mut bytes);
    assert_eq!(Snapshot::decode(&bytes).as_ref(), Ok(&all));
    all.clear();
    assert_eq!(all, Snapshot::default());
}
