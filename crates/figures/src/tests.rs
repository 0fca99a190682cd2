//! The values that views read, against what was recorded.

use metrics::{Censored, Class, Distribution, Failure, Measure, Outcome, Snapshot};

use crate::times::Spoiled;
use crate::{At, Times, histogram};

fn seen(successes: u64, failures: &[(Failure, u64)]) -> Snapshot {
    let mut seen = Snapshot::default();
    for number in 1..=successes {
        seen.outcome(0, Outcome::Succeeded).record(Measure::Response, number * 1_000_000);
    }
    for &(failure, count) in failures {
        for _ in 0..count {
            seen.outcome(0, Outcome::Failed(failure)).record(Measure::Response, 2_000_000_000);
        }
    }
    seen
}

/// The percentiles that views show of response times.
fn percentiles_of(times: &Distribution, seen: &Snapshot) -> Vec<(&'static str, At)> {
    let times = Times::of(times, &Censored::of(seen, Measure::Response), Spoiled::default());
    times.named().filter_map(|(quantile, at)| Some((quantile.name(), at?))).collect()
}

#[test]
fn timeouts_hide_the_percentiles_above_them() {
    let total = seen(95, &[(Failure::Timeout, 5)]);
    let times = total.class(Class::Succeeded);
    let known = percentiles_of(times.of(Measure::Response), &total);
    let bounds: Vec<(&str, bool)> = known.iter().map(|(name, percentile)| (*name, percentile.at_least)).collect();
    assert_eq!(bounds, [("p50", false), ("p90", false), ("p95", false), ("p99", true), ("p99.9", true), ("max", true)]);
    assert!(known.iter().filter(|(_, known)| known.at_least).all(|(_, known)| known.ns == 2_000_000_000));
}

proptest::proptest! {
    #[test]
    fn bars_hold_every_value(values in proptest::collection::vec(1u64..1_000_000_000_000, 1..200)) {
        let mut times = Distribution::default();
        values.iter().for_each(|&value| times.record(value));
        let bars = histogram(&times);
        proptest::prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
        proptest::prop_assert!(bars.len() <= 11 && bars.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
    }

    #[test]
    fn no_percentile_is_above_the_maximum(values in proptest::collection::vec(0u64..10_000_000_000_000, 1..100), timeouts in 0u64..5) {
        let mut total = Snapshot::default();
        for value in values {
            total.outcome(0, Outcome::Succeeded).record(Measure::Response, value);
        }
        for _ in 0..timeouts {
            total.outcome(0, Outcome::Failed(Failure::Timeout)).record(Measure::Response, 1_000_000);
        }
        let times = total.class(Class::Succeeded);
        let known = percentiles_of(times.of(Measure::Response), &total);
        let max = known.last().expect("a maximum").1.ns;
        proptest::prop_assert!(known.iter().all(|(_, percentile)| percentile.ns <= max));
    }
}
