use proptest::prelude::*;

use super::*;
use crate::{Snapshot, VALUE_NS_MAX};

fn figure(kind: OwnKind, step: f64) -> OwnFigure {
    OwnFigure { name: "one".to_owned(), kind, unit: String::new(), step }
}

fn number(kind: OwnKind, step: f64, number: f64) -> Option<OwnValue> {
    figure(kind, step).value(OwnInput::Number(number), 7)
}

/// Each kind takes its own type of value, within its range.
#[test]
fn figures_take_what_is_a_value_of_them() {
    for kind in [OwnKind::Counter, OwnKind::Trend, OwnKind::Gauge] {
        assert_eq!(figure(kind, 1.0).value(OwnInput::Switch(true), 0), None, "{kind:?}");
        assert_eq!(number(kind, 1.0, f64::NAN), None, "{kind:?}");
        assert_eq!(number(kind, 1.0, f64::INFINITY), None, "{kind:?}");
        assert!(number(kind, 1.0, 0.0).is_some() && number(kind, 1.0, OWN_VALUE_MAX).is_some(), "{kind:?}");
    }
    assert_eq!(number(OwnKind::Share, 1.0, 1.0), None);
    assert_eq!(figure(OwnKind::Share, 1.0).value(OwnInput::Switch(false), 0), Some(OwnValue::Was(false)));
    for kind in [OwnKind::Counter, OwnKind::Trend] {
        assert_eq!((number(kind, 1.0, -0.5), number(kind, 1.0, 1e19)), (None, None), "{kind:?}");
        assert!(number(kind, 1.0, -0.0).is_some(), "{kind:?}");
    }
    // The range of a trend is in its own units.
    assert_eq!((number(OwnKind::Trend, 0.01, 9.3e16), number(OwnKind::Trend, 100.0, 9.3e20)), (None, None));
    assert!(number(OwnKind::Trend, 0.01, 9.2e16).is_some() && number(OwnKind::Trend, 100.0, 9.2e20).is_some());
    assert_eq!(number(OwnKind::Gauge, 1.0, -2.5), Some(OwnValue::Reached { value: -2.5, at_ns: 7 }));
}

/// Decimal steps do not show in the values.
#[test]
fn values_of_decimal_steps_are_decimal() {
    assert_eq!(number(OwnKind::Trend, 0.01, 19.99), Some(OwnValue::Measured(1_999)));
    assert_eq!(number(OwnKind::Trend, 0.01, 0.07), Some(OwnValue::Measured(7)));
    assert_eq!(number(OwnKind::Trend, 2.5, 10.0), Some(OwnValue::Measured(4)));
    assert_eq!((in_step(1_999.0, 0.01), in_step(7.0, 0.01), in_step(4.0, 2.5)), (19.99, 0.07, 10.0));
}

/// The sum of a counter is that of its decimals, whatever a floating-point sum would be.
#[test]
fn sums_of_counters_are_exact() {
    let mut seen = Snapshot::default();
    let counter = figure(OwnKind::Counter, 1.0);
    for value in [0.1, 0.2, 9_007_199_254_740_991.0, 0.7, 3.0] {
        seen.record_own(0, counter.value(OwnInput::Number(value), 0).expect("a value"));
    }
    let total = seen.own(0).expect("a total");
    assert_eq!(*total, OwnTotal::Counter { count: 5, sum: 9_007_199_254_740_995_000_000_000 });
    assert_eq!(total.sum(1.0), Some(9_007_199_254_740_995.0));
}

/// Of gauges of one instant the greater one is the last.
#[test]
fn the_last_value_of_a_gauge_is_that_of_the_latest_instant() {
    let gauge = figure(OwnKind::Gauge, 1.0);
    let at = |value: f64, at_ns: u64| {
        let mut seen = Snapshot::default();
        seen.record_own(3, gauge.value(OwnInput::Number(value), at_ns).expect("a value"));
        seen
    };
    let parts = [at(5.0, 20), at(-1.0, 10), at(2.0, 30), at(3.0, 30), at(9.0, 15)];
    let known = OwnGauge { count: 5, least: -1.0, greatest: 9.0, last: 3.0, last_at_ns: 30 };
    for first in 0..parts.len() {
        let mut seen = Snapshot::default();
        (0..parts.len()).for_each(|more| seen.merge(&parts[(first + more) % parts.len()]));
        assert_eq!(seen.own(3), Some(&OwnTotal::Gauge(known)), "{first}");
    }
}

/// Values of all sizes keep three digits, and their exact ends and sum.
#[test]
fn trends_have_three_digits_in_their_whole_range() {
    let mut at = 1_u64;
    while at < 1 << 62 {
        let mut trend = Trend::default();
        [at, at, at + at / 2].into_iter().for_each(|units| trend.record(units));
        let median = trend.quantile(0.5).expect("a value");
        assert!(median >= at && (median - at) as f64 <= at as f64 / 1_000.0, "{at}: {median}");
        assert_eq!((trend.min(), trend.max(), trend.count()), (Some(at), Some(at + at / 2), 3), "{at}");
        assert_eq!(trend.sum(), 3 * u128::from(at) + u128::from(at / 2), "{at}");
        at *= 3;
    }
    let mut trend = Trend::default();
    [1 << 63, 5, VALUE_NS_MAX].into_iter().for_each(|units| trend.record(units));
    assert_eq!((trend.min(), trend.max(), trend.quantile(1.0)), (Some(5), Some(1 << 63), Some(1 << 63)));
    assert_eq!(trend.quantile(0.3), Some(5));
}

#[test]
fn cleared_figures_are_as_none() {
    let mut seen = Snapshot::default();
    for kind in OwnKind::ALL {
        let given = if kind == OwnKind::Share { OwnInput::Switch(true) } else { OwnInput::Number(4e18) };
        seen.record_own(kind as usize, figure(kind, 1.0).value(given, 1).expect("a value"));
    }
    let recorded = seen.clone();
    seen.clear();
    assert_eq!((seen.own(OwnKind::Trend as usize), &seen), (None, &Snapshot::default()));
    seen.merge(&recorded);
    assert_eq!(seen, recorded);
    // A number beyond the most is left out.
    seen.record_own(OWN_FIGURES_MAX, OwnValue::Was(true));
    assert_eq!(seen, recorded);
}

fn any_value() -> impl Strategy<Value = (usize, OwnValue)> {
    let units = prop_oneof![0..5_000_u64, 0..=VALUE_NS_MAX, 0..=1_u64 << 63];
    prop_oneof![
        (0..4_usize, 0..1_u128 << 90).prop_map(|(number, sum)| (number, OwnValue::Added(sum))),
        (4..8_usize, units).prop_map(|(number, units)| (number, OwnValue::Measured(units))),
        (8..12_usize, any::<bool>()).prop_map(|(number, is_so)| (number, OwnValue::Was(is_so))),
        (60..64_usize, -9_i32..9, 0..4_u64)
            .prop_map(|(number, value, at_ns)| (number, OwnValue::Reached { value: f64::from(value), at_ns })),
    ]
}

proptest! {
    /// However values are split over threads and workers, their merged snapshots are equal, and stay so as bytes.
    #[test]
    fn random_splits_merge_exactly(values in prop::collection::vec((any_value(), 0..5_usize), 0..200)) {
        let (mut whole, mut parts) = (Snapshot::default(), vec![Snapshot::default(); 5]);
        for ((number, value), part) in &values {
            whole.record_own(*number, *value);
            parts[*part].record_own(*number, *value);
        }
        let (mut forth, mut back) = (Snapshot::default(), Snapshot::default());
        for part in &parts {
            let mut bytes = Vec::new();
            part.encode(&mut bytes);
            let read = Snapshot::decode(&bytes);
            prop_assert_eq!(read.as_ref(), Ok(part));
            forth.merge(&read.unwrap_or_default());
        }
        parts.iter().rev().for_each(|part| back.merge(part));
        prop_assert_eq!(&forth, &whole);
        prop_assert_eq!(&back, &whole);
    }
}
