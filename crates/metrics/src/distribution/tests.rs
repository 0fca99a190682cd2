use hdrhistogram::Histogram;
use proptest::prelude::*;

use super::*;

fn judge(values: &[u64]) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, VALUE_NS_MAX, 3).expect("the bounds are valid");
    values.iter().for_each(|&value| histogram.saturating_record(value));
    histogram
}

fn distribution(values: &[u64]) -> Distribution {
    let mut times = Distribution::default();
    values.iter().for_each(|&value| times.record(value));
    times
}

/// Values of every size, close together and far apart.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let any = (0u32..42, any::<u64>()).prop_map(|(bits, value)| (value % (1 << bits)).clamp(1, VALUE_NS_MAX));
    let near = (1_000_000u64..1_002_000).boxed();
    prop::collection::vec(prop_oneof![any, near], 1..400)
}

proptest! {
    #[test]
    fn buckets_are_those_of_hdr_histogram(values in values(), quantile in 0.0f64..=1.0) {
        let (ours, judge) = (distribution(&values), judge(&values));
        let theirs: Vec<(u64, u64)> = judge.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        let seen: Vec<(u64, u64)> = ours.buckets().map(|bucket| (bucket.highest_ns, bucket.count)).collect();
        prop_assert_eq!(&seen, &theirs);
        for bucket in ours.buckets() {
            prop_assert_eq!(bucket.lowest_ns, judge.lowest_equivalent(bucket.highest_ns));
            prop_assert_eq!(bucket.middle_ns(), judge.median_equivalent(bucket.highest_ns));
        }
        for quantile in [0.0, quantile, 0.5, 0.999, 1.0] {
            let theirs = judge.value_at_quantile(quantile).clamp(ours.min().expect("some"), ours.max().expect("some"));
            prop_assert_eq!(ours.quantile(quantile), Some(theirs));
        }
        let stdev = ours.stdev().expect("there are values");
        prop_assert!((stdev - judge.stdev()).abs() <= 1e-9 * judge.stdev().max(1.0), "{} {}", stdev, judge.stdev());
    }

    #[test]
    fn merging_two_totals_is_recording_into_one(one in values(), two in values()) {
        let mut merged = distribution(&one);
        merged.merge(&distribution(&two));
        let whole = distribution(&[one, two].concat());
        prop_assert!(merged.buckets().eq(whole.buckets()));
        prop_assert_eq!((merged.count(), merged.sum()), (whole.count(), whole.sum()));
    }

    #[test]
    fn a_cleared_one_is_as_a_new_one(one in values(), two in values()) {
        let mut used = distribution(&one);
        used.clear();
        prop_assert!(used.buckets().next().is_none());
        two.iter().for_each(|&value| used.record(value));
        prop_assert!(used.buckets().eq(distribution(&two).buckets()));
    }
}

#[test]
fn a_full_counter_is_carried() {
    let mut times = Distribution::default();
    let most = u64::from(u16::MAX);
    times.record_many(5_000, most);
    times.record(5_000);
    times.record(5_000);
    assert_eq!(times.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [most + 2]);
    let mut other = Distribution::default();
    other.record_many(5_000, most);
    other.record_many(9_000, 3 * (most + 1) + 7);
    times.merge(&other);
    assert_eq!(times.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2 * most + 2, 3 * (most + 1) + 7]);
    assert_eq!(times.count(), times.buckets().map(|bucket| bucket.count).sum());
    assert_eq!(times.max_without(Some(&other)), Some(5_003));
    times.clear();
    times.record(5_000);
    assert_eq!(times.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [1]);
}

/// Counters that overflow one after the other, in every order, and often.
#[test]
fn what_is_counted_a_million_times_is_all_there() {
    let values = [90_000u64, 5, 700_000, 5_000, 2_047, 2_048, 64, 63, 90_100, VALUE_NS_MAX];
    let (mut single, mut merged) = (Distribution::default(), Distribution::default());
    for round in 0..200_000u64 {
        values.iter().for_each(|&value| single.record(value));
        if round % 20_000 == 0 {
            let mut part = Distribution::default();
            for (&value, times) in values.iter().zip(1..) {
                part.record_many(value, times * 20_000);
            }
            merged.merge(&part);
        }
    }
    assert!(single.buckets().all(|bucket| bucket.count == 200_000));
    let mut expect: Vec<(u64, u64)> = values.iter().copied().zip((1..).map(|times| times * 200_000)).collect();
    expect.sort_unstable();
    let holds = |(bucket, (value, count)): (Bucket, &(u64, u64))| {
        (bucket.lowest_ns..=bucket.highest_ns).contains(value) && bucket.count == *count
    };
    assert!(merged.buckets().zip(&expect).all(holds), "{:?}", merged.buckets().collect::<Vec<_>>());
    assert_eq!((merged.buckets().count(), merged.count()), (10, 11_000_000));
}

#[test]
fn it_costs_what_it_uses() {
    assert!(size_of::<Distribution>() <= 384, "{}", size_of::<Distribution>());
    assert_eq!(Distribution::default().heap_bytes(), 0);
    assert!(distribution(&[77_000_000]).heap_bytes() <= 256 + 16);
    // Two octaves, each of their buckets used.
    let all: Vec<u64> = (1_048_576u64..4_194_304).step_by(512).collect();
    assert!(distribution(&all).heap_bytes() <= 2 * (1_024 * 2 + 128), "{}", distribution(&all).heap_bytes());
}

/// A histogram that is cleared for each interval has the pages of a few intervals, however the times wander.
#[test]
fn it_keeps_what_the_last_intervals_took() {
    let mut times = Distribution::default();
    for interval in 0..2_000u64 {
        (0..4).for_each(|step| times.record(1_000 + interval * 40_000 + step * 7));
        let used = times.heap_bytes();
        assert!(used <= 257 * (128 + 2 * 128), "{used} bytes in interval {interval}");
        times.clear();
    }
    (0..512).for_each(|_| times.clear());
    assert_eq!(times.heap_bytes(), 0);
    let page = distribution(&[5_000]).heap_bytes();
    for _ in 0..600 {
        times.record(5_000);
        assert_eq!(times.heap_bytes(), page);
        times.clear();
        assert_eq!(times.heap_bytes(), page, "the next interval allocates nothing");
    }
}
