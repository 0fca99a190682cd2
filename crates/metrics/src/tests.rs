use proptest::prelude::*;

use super::*;

#[test]
fn every_failure_has_a_counter_of_its_own() {
    let mut named = std::collections::HashSet::new();
    for index in 0..FAILURE_COUNT {
        if let Some(failure) = Failure::of_index(index) {
            assert_eq!(failure.index(), index, "{failure:?}");
            assert!(named.insert(failure), "{failure:?} twice");
        }
    }
    assert_eq!(named.len(), 15 + 48 + 12 + 15 + 10 + 256 + 18);
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
            let outcome = Failure::of_index(*index).map_or(Outcome::Succeeded, Outcome::Failed);
            halves[number % 2].outcome(*step, outcome).record(Measure::Response, 1 + number as u64);
        }
        let [mut sum, more] = halves;
        sum.merge(&more);
        prop_assert_eq!(sum.counts.finished(), outcomes.len() as u64);
        prop_assert_eq!(sum.all().of(Measure::Response).count(), outcomes.len() as u64);
        let by_class: u64 = Class::ALL.iter().map(|&class| sum.class(class).of(Measure::Response).count()).sum();
        prop_assert_eq!(by_class, outcomes.len() as u64);
        prop_assert_eq!(sum.class(Class::Succeeded).of(Measure::Response).count(), sum.counts.succeeded);
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
            // Two octaves from some place on, each bucket of them used; waits and lateness are spread as far, only shorter.
            let least = 1u64 << (20 + step % 8);
            for value in (least..4 * least).step_by(usize::try_from(least / 2_048).expect("small")) {
                let timings = seen.outcome(step, Outcome::Succeeded);
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
