use serde_json::json;

use super::*;

/// A report of intervals with these rates and times.
fn report(rate: impl Fn(usize) -> f64, p99_ms: impl Fn(usize) -> f64) -> Value {
    let row = |index: usize| {
        let times = json!({"mean_ns": p99_ms(index) * 5e5, "p50_ns": p99_ms(index) * 5e5, "p90_ns": p99_ms(index) * 9e5, "p99_ns": p99_ms(index) * 1e6});
        json!({"from_s": index as f64, "to_s": index as f64 + 1.0, "succeeded": 100, "failed": 1, "requests_per_s": rate(index), "response_time": times})
    };
    let rows: Vec<Value> = (0..21).map(row).collect();
    let mean = |of: &dyn Fn(usize) -> f64| (0..21).map(of).sum::<f64>() / 21.0;
    let times = json!({"mean_ns": mean(&p99_ms) * 5e5, "p50_ns": mean(&p99_ms) * 5e5, "p90_ns": mean(&p99_ms) * 9e5, "p99_ns": mean(&p99_ms) * 1e6});
    json!({
        "requests_per_s": mean(&rate),
        "requests": {"succeeded": 2100, "failed": 21},
        "times": {"succeeded": {"response_time": times}},
        "verdict": {"is_spoiled": false},
        "intervals": rows,
    })
}

fn wobble(index: usize) -> f64 {
    ((index * 37) % 11) as f64 / 11.0 - 0.5
}

fn of(comparison: &Comparison, figure: Figure) -> Difference {
    *comparison.differences.iter().find(|one| one.figure == figure).expect("all are there")
}

#[test]
fn a_difference_is_clear_when_it_is_more_than_noise_and_matters() {
    let base = report(|at| 100.0 + wobble(at), |at| 20.0 + wobble(at));
    let slower = report(|at| 100.0 + wobble(at + 3), |at| 22.0 + wobble(at + 5));
    let compared = compare(&base, &slower);
    let p99 = of(&compared, Figure::P99);
    assert!(p99.is_clear && (p99.change.expect("known") - 0.1).abs() < 0.005, "{p99:?}");
    assert!(!of(&compared, Figure::Rate).is_clear && !of(&compared, Figure::Failed).is_clear, "{compared:?}");
    // A tenth of a percent is certain here, and matters to nobody.
    let steady = |add: f64| report(move |_| 100.0 + add, |_| 20.0);
    assert!(!of(&compare(&steady(0.0), &steady(0.1)), Figure::Rate).is_clear);
    assert!(of(&compare(&steady(0.0), &steady(5.0)), Figure::Rate).is_clear);
}

#[test]
fn what_is_too_short_says_nothing() {
    let mut short = report(|_| 100.0, |_| 20.0);
    short["intervals"].as_array_mut().expect("rows").truncate(3);
    let compared = compare(&short, &report(|_| 50.0, |_| 90.0));
    assert!(compared.differences.iter().all(|one| one.chance.is_none() && !one.is_clear), "{compared:?}");
    let empty = compare(&json!({}), &json!({"intervals": "no"}));
    assert!(empty.differences.iter().all(|one| one.values == [None, None]), "{empty:?}");
}

/// Answers that are waited for at the end make the last interval longer, and not all others shorter.
#[test]
fn a_long_last_interval_is_left_out_alone() {
    let base = report(|_| 100.0, |_| 20.0);
    let mut long = base.clone();
    long["intervals"][20]["to_s"] = json!(24.5);
    assert_eq!(compare(&base, &long).intervals, [20, 19]);
}

/// What a first interval or a rest adds to the whole is nothing that the intervals in between say.
#[test]
fn a_whole_that_differs_alone_is_not_clear() {
    let base = report(|at| 100.0 + wobble(at) / 100.0, |at| 20.0 + wobble(at) / 100.0);
    let mut other = report(|at| 99.9 + wobble(at + 3) / 100.0, |at| 20.1 + wobble(at + 5) / 100.0);
    other["times"]["succeeded"]["response_time"]["mean_ns"] = json!(40e6);
    other["requests_per_s"] = json!(70.0);
    let compared = compare(&base, &other);
    for figure in [Figure::Mean, Figure::Rate] {
        let one = of(&compared, figure);
        assert!(one.chance.is_some_and(|chance| chance < 1e-4) && !one.is_clear, "{one:?}");
    }
}

#[test]
fn percentiles_of_other_intervals_are_not_judged() {
    let (base, mut other) = (report(|_| 100.0, |at| 20.0 + wobble(at)), report(|_| 100.0, |at| 30.0 + wobble(at)));
    for (index, interval) in other["intervals"].as_array_mut().expect("rows").iter_mut().enumerate() {
        (interval["from_s"], interval["to_s"]) = (json!(index as f64 / 5.0), json!((index as f64 + 1.0) / 5.0));
    }
    let compared = compare(&base, &other);
    assert!(compared.is_uneven && of(&compared, Figure::P99).chance.is_none() && of(&compared, Figure::Mean).is_clear);
}
