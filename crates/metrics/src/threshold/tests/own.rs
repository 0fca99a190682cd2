//! Thresholds of figures of the user's own.

use super::*;
use crate::{OwnFigure, OwnInput, OwnKind};

fn own() -> Vec<OwnFigure> {
    let one = |name: &str, kind, step| OwnFigure { name: name.to_owned(), kind, unit: "EUR".to_owned(), step };
    vec![
        one("basket", OwnKind::Trend, 0.01),
        one("orders", OwnKind::Counter, 1.0),
        one("in_stock", OwnKind::Share, 1.0),
        one("queue", OwnKind::Gauge, 1.0),
        one("never", OwnKind::Trend, 1.0),
    ]
}

/// 1 to 100 EUR, as many orders of half a piece, 97 of them in stock, and a queue from -50 to 49.
fn recorded() -> Snapshot {
    let (mut seen, own) = (Snapshot::default(), own());
    seen.counts[Counter::Started] = 100;
    for number in 0..100_u32 {
        let value = f64::from(number);
        let given = [
            OwnInput::Number(value + 1.0),
            OwnInput::Number(0.5),
            OwnInput::Switch(number < 97),
            OwnInput::Number(value - 50.0),
        ];
        for (index, given) in given.into_iter().enumerate() {
            seen.record_own(index, own[index].value(given, number.into()).expect("a value"));
        }
    }
    seen
}

/// Each kind has its statistics, in the unit of the figure.
#[test]
fn figures_of_the_user_are_judged_by_their_values() {
    let (seen, second) = (recorded(), Duration::from_secs(1));
    for (text, value) in [
        ("min(basket) >= 1", 1.0),
        ("mean(basket) < 50.51", 50.5),
        ("stdev(basket) < 29", 28.87),
        ("p95(basket) < 95.2", 95.0),
        ("max(basket) <= 100", 100.0),
        ("sum(basket) <= 5050", 5_050.0),
        ("sum(orders) == 50", 50.0),
        ("sum(orders) != 49.5", 50.0),
        ("share(in_stock) > 96%", 0.97),
        ("share(in_stock) < 0.98", 0.97),
        ("last(queue) < 50", 49.0),
        ("least(queue) >= -50", -50.0),
        ("greatest(queue) <= 49, abort 5s", 49.0),
    ] {
        let threshold = Threshold::parse_with(text, &own()).unwrap_or_else(|error| panic!("{error}"));
        let judged = threshold.judge(&seen, second);
        assert!(judged.holds && !judged.fails, "{text}: {judged:?}");
        assert!((judged.value.expect(text) - value).abs() <= value.abs() / 1_000.0, "{text}: {judged:?}");
        assert_eq!(judged.range, None, "{text}");
        assert_eq!(Threshold::parse_with(&threshold.text, &own()), Ok(Threshold { abort_after: None, ..threshold }));
    }
    let holds = |text: &str| Threshold::parse_with(text, &own()).expect(text).judge(&seen, second).holds;
    assert!(!holds("p95(basket) < 94") && !holds("share(in_stock) >= 98%") && !holds("least(queue) > -50"));
    // What was never recorded does not hold, but for a sum of nothing.
    assert!(!holds("p95(never) < 1000"));
    let mut started = Snapshot::default();
    started.counts[Counter::Started] = 1;
    let sum = Threshold::parse_with("sum(orders) == 0", &own()).expect("a threshold");
    assert!(sum.judge(&started, second).holds && !sum.judge(&Snapshot::default(), second).holds);
}

/// Misuse is refused at its place.
#[test]
fn each_figure_has_the_statistics_of_its_kind_alone() {
    for (text, column, fault) in [
        ("p95(orders) < 5", 4, ThresholdFault::NotOfFigure(OwnKind::Counter)),
        ("mean(in_stock) < 5", 5, ThresholdFault::NotOfFigure(OwnKind::Share)),
        ("max(queue) < 5", 4, ThresholdFault::NotOfFigure(OwnKind::Gauge)),
        ("share(basket) < 5%", 6, ThresholdFault::NotOfFigure(OwnKind::Trend)),
        ("last(orders) < 5", 5, ThresholdFault::NotOfFigure(OwnKind::Counter)),
        ("sum(queue) < 5", 4, ThresholdFault::NotOfFigure(OwnKind::Gauge)),
        ("sum(order) < 5", 4, ThresholdFault::NoOwnFigure),
        ("p95(baskets) < 5", 4, ThresholdFault::Measure),
        ("sum < 5", 4, ThresholdFault::Parenthesis),
        ("sum(orders < 5", 11, ThresholdFault::Parenthesis),
        ("p95(basket) < 5s", 15, ThresholdFault::OwnUnit),
        ("p95(basket) < -5", 14, ThresholdFault::Number),
        ("p95(basket) < 0", 14, ThresholdFault::NeverMet),
        ("share(in_stock) <= 1", 19, ThresholdFault::OnePercent),
        ("share(in_stock) <= 100%", 19, ThresholdFault::AlwaysMet),
        ("share(in_stock) < 120%", 18, ThresholdFault::AboveAll),
        ("last(queue) == 5", 12, ThresholdFault::NotACount),
        ("p95(basket, address=127.0.0.1:80) < 5", 10, ThresholdFault::NotOfAddress),
        ("worst_address(p95(basket)) < 5", 0, ThresholdFault::NotOfAddress),
    ] {
        let error = Threshold::parse_with(text, &own()).expect_err(text);
        assert_eq!((error.fault, error.column), (fault, column), "{text}");
    }
    // Without figures there are none.
    let error = Threshold::parse_of_part("p95(basket) < 5").expect_err("no figure");
    assert_eq!(error.fault, ThresholdFault::Measure);
}

/// A figure is known of the run and of its scenarios.
#[test]
fn figures_of_steps_are_refused() {
    let catalog =
        crate::Catalog::from_scenarios([("shop", ["buy"].into_iter(), [].into_iter(), [].into_iter())].into_iter());
    let fault = |text: &str| Threshold::parse_with(text, &own()).expect(text).wrong_part(&catalog);
    assert_eq!(fault("p95(basket, shop) < 100"), None);
    assert_eq!(fault("p95(basket, buy) < 100"), Some(ThresholdFault::FigureOfPart));
}
