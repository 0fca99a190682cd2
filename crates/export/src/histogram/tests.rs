use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut times = Distribution::default();
    values.iter().for_each(|&value| times.record(value));
    let mut histogram = Histogram::default();
    histogram.add(&times);
    histogram
}

/// The bounds of an exponential bucket, in seconds.
fn bounds(scale: i32, number: i32) -> (f64, f64) {
    let base = 2f64.powf(2f64.powi(-scale));
    (base.powi(number), base.powi(number + 1))
}

#[test]
fn nothing_is_nothing() {
    let none = Histogram::default();
    assert_eq!((none.count(), none.sum_s(), none.min_s()), (0, 0.0, None));
    assert!(none.cumulative().all(|(_, count)| count == 0));
    assert_eq!(none.exponential(), Exponential { scale: SCALE_MAX, zeros: 0, buckets: Vec::new() });
}

proptest! {
    #[test]
    fn classic_buckets_hold_what_was_seen(values in proptest::collection::vec(0u64..100_000_000_000, 1..200)) {
        let histogram = of(&values);
        for (bound, count) in histogram.cumulative() {
            // A histogram distinguishes times to a thousandth.
            let below = |factor: f64| values.iter().filter(|ns| **ns as f64 <= bound * 1e9 * factor).count() as u64;
            prop_assert!((below(0.998)..=below(1.002)).contains(&count), "{bound} {count}");
        }
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert!((histogram.sum_s() * 1e9 - values.iter().sum::<u64>() as f64).abs() < 1e3);
    }

    #[test]
    fn exponential_buckets_hold_what_was_seen(values in proptest::collection::vec(0u64..4_000_000_000_000, 1..200)) {
        let exponential = of(&values).exponential();
        prop_assert!(exponential.scale <= SCALE_MAX && exponential.buckets.len() <= BUCKETS_MAX);
        prop_assert!(exponential.buckets.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let all = exponential.zeros + exponential.buckets.iter().map(|(_, count)| count).sum::<u64>();
        prop_assert_eq!(all, values.len() as u64);
        // One hour is the longest time that a histogram distinguishes; the clamp keeps longer ones at their maximum.
        for (number, count) in &exponential.buckets {
            let (low, high) = bounds(exponential.scale, *number);
            let most = values.iter().filter(|ns| (low * 0.998..=high * 1.002).contains(&(**ns as f64 / 1e9))).count() as u64;
            prop_assert!(*count <= most || high > 3_500.0, "{low}..{high}: {count} of {most}");
        }
    }

    #[test]
    fn parts_make_the_whole(one in proptest::collection::vec(0u64..10_000_000_000, 0..50), other in proptest::collection::vec(0u64..10_000_000_000, 0..50)) {
        let mut both = of(&one);
        let mut times = Distribution::default();
        other.iter().for_each(|&value| times.record(value));
        both.add(&times);
        prop_assert_eq!(both.count(), (one.len() + other.len()) as u64);
        prop_assert_eq!(both.max_s(), one.iter().chain(&other).max().map(|ns| *ns as f64 / 1e9));
    }
}
