use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Difference;

fn comparison(figure: Figure, change: f64, is_clear: bool) -> Comparison {
    let difference = Difference {
        figure,
        values: [Some(1.0), Some(1.0 + change)],
        change: Some(change),
        change_of_intervals: Some(change),
        chance: Some(0.0),
        visible: Some(0.02),
        is_clear,
        is_stalled: [false; 2],
    };
    Comparison {
        sides: Default::default(),
        differences: vec![difference],
        intervals: [20, 20],
        is_unreliable: [false, false],
        is_hold: false,
        is_uneven: false,
    }
}

#[test]
fn a_difference_may_be_so_large() {
    for (text, figure, change, is_met) in [
        ("p99(response_time) > +10%", Figure::P99, 0.11, true),
        ("p99(response_time)>10%", Figure::P99, 0.09, false),
        ("p99 > +10 %", Figure::P99, 0.2, true),
        ("rate < -5%", Figure::Rate, -0.06, true),
        ("rate < -5%", Figure::Rate, 0.06, false),
        ("failed/done > 0.5%", Figure::Failed, 0.006, true),
        ("mean ( response_time ) > +0%", Figure::Mean, 0.03, true),
    ] {
        let fail_if = FailIf::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(fail_if.is_met(&comparison(figure, change, true)), is_met, "{text}");
        assert!(!fail_if.is_met(&comparison(figure, change, false)), "{text}: noise");
    }
    for bad in ["", "p99", "p99 > 10ms", "p98 > 1%", "rate < +5%", "p99 > -5%", "rate < nan%", "p99 > %", "> 5%"] {
        assert!(FailIf::parse(bad).is_err(), "{bad}");
    }
    assert!(!FailIf::parse("rate < -5%").expect("one").is_met(&crate::compare(&[&json!({})], &[&json!({})])));
}

/// A stall in the candidate makes nothing better; one in the baseline hides a regression.
#[test]
fn stalls_of_the_baseline_leave_it_open() {
    let fail_if = FailIf::parse("p99 > +10%").expect("one");
    let of = |change: f64, is_stalled: [bool; 2]| {
        let mut comparison = comparison(Figure::P99, change, change > 0.02);
        comparison.differences[0].is_stalled = is_stalled;
        fail_if.judge(&comparison)
    };
    assert_eq!([[false, false], [false, true]].map(|stalled| of(0.0, stalled)), [Ruling::Passed; 2]);
    assert_eq!([[true, false], [true, true]].map(|stalled| of(0.0, stalled)), [Ruling::BaselineStalled; 2]);
    // A candidate that is worse than an already overstated baseline is worse in any case.
    assert_eq!([[false, false], [true, false], [false, true]].map(|stalled| of(0.2, stalled)), [Ruling::Struck; 3]);
    let nothing = crate::compare(&[&json!({})], &[&json!({})]);
    assert_eq!(fail_if.judge(&nothing), Ruling::TooLittle);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,60}") {
        let _ = FailIf::parse(&text);
    }
}
