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
        "verdict": {"is_unreliable": false},
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
    let compared = compare(&[&base], &[&slower]);
    let p99 = of(&compared, Figure::P99);
    assert!(p99.is_clear && (p99.change.expect("known") - 0.1).abs() < 0.005, "{p99:?}");
    assert!(!of(&compared, Figure::Rate).is_clear && !of(&compared, Figure::Failed).is_clear, "{compared:?}");
    // A tenth of a percent is certain here, but too small to matter.
    let steady = |add: f64| report(move |_| 100.0 + add, |_| 20.0);
    assert!(!of(&compare(&[&steady(0.0)], &[&steady(0.1)]), Figure::Rate).is_clear);
    assert!(of(&compare(&[&steady(0.0)], &[&steady(5.0)]), Figure::Rate).is_clear);
}

#[test]
fn what_is_too_short_says_nothing() {
    let mut short = report(|_| 100.0, |_| 20.0);
    short["intervals"].as_array_mut().expect("rows").truncate(3);
    let compared = compare(&[&short], &[&report(|_| 50.0, |_| 90.0)]);
    assert!(compared.differences.iter().all(|one| one.chance.is_none() && !one.is_clear), "{compared:?}");
    let empty = compare(&[&json!({})], &[&json!({"intervals": "no"})]);
    assert!(empty.differences.iter().all(|one| one.values == [None, None]), "{empty:?}");
}

/// Responses that are awaited at the end make the last interval longer; the other intervals are not shorter for it.
#[test]
fn a_long_last_interval_is_left_out_alone() {
    let base = report(|_| 100.0, |_| 20.0);
    let mut long = base.clone();
    long["intervals"][20]["to_s"] = json!(24.5);
    assert_eq!(compare(&[&base], &[&long]).intervals, [20, 19]);
}

/// What a first interval or a remainder adds to the totals does not appear in the intervals between.
#[test]
fn a_whole_that_differs_alone_is_not_clear() {
    let base = report(|at| 100.0 + wobble(at) / 100.0, |at| 20.0 + wobble(at) / 100.0);
    let mut other = report(|at| 99.9 + wobble(at + 3) / 100.0, |at| 20.1 + wobble(at + 5) / 100.0);
    other["times"]["succeeded"]["response_time"]["mean_ns"] = json!(40e6);
    other["requests_per_s"] = json!(70.0);
    let compared = compare(&[&base], &[&other]);
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
    let compared = compare(&[&base], &[&other]);
    assert!(compared.is_uneven && of(&compared, Figure::P99).chance.is_none() && of(&compared, Figure::Mean).is_clear);
}

/// A change of a tenth cannot be seen in this noise, and the comparison says which change could.
#[test]
fn what_the_noise_hides_is_said() {
    let noisy = |add: f64, shift: usize| report(move |at| 100.0 + add + 60.0 * wobble(at + shift), |_| 20.0);
    let compared = compare(&[&noisy(0.0, 0)], &[&noisy(10.0, 3)]);
    let rate = of(&compared, Figure::Rate);
    let visible = rate.visible.expect("it is judged");
    assert!(!rate.is_clear && visible > 0.12 && visible < 0.5, "{rate:?}");
    // A change just above the limit is clear, one just below is not.
    for (share, is_clear) in [(0.9, false), (1.1, true)] {
        let mean = 100.0 + 60.0 * (0..21).map(wobble).sum::<f64>() / 21.0;
        let other = of(&compare(&[&noisy(0.0, 0)], &[&noisy(mean * visible * share, 0)]), Figure::Rate);
        assert_eq!(other.is_clear, is_clear, "{share}: {other:?}");
    }
    // Nothing below 2 % is ever called clear.
    let steady = compare(&[&report(|_| 100.0, |_| 20.0)], &[&report(|_| 101.0, |_| 20.0)]);
    assert_eq!(of(&steady, Figure::Rate).visible, Some(CHANGE_MIN));
    assert_eq!(of(&steady, Figure::Failed).visible, Some(SHARE_MIN));
    assert_eq!(of(&compare(&[&json!({})], &[&json!({})]), Figure::Rate).visible, None);
}

#[test]
fn several_runs_of_each_side_are_one() {
    let run = |rate: f64, shift: usize| report(move |at| rate + wobble(at + shift), |_| 20.0);
    let (before, after) = ([run(100.0, 0), run(102.0, 3), run(98.0, 5)], [run(110.0, 1), run(112.0, 4), run(108.0, 2)]);
    let compared = compare(&before.each_ref(), &after.each_ref());
    let rate = of(&compared, Figure::Rate);
    let near = |value: Option<f64>, expect: f64| value.is_some_and(|value| (value - expect).abs() < 0.1);
    assert!(near(rate.values[0], 100.0) && near(rate.values[1], 110.0), "{rate:?}");
    assert_eq!(compared.intervals, [60, 60]);
    // A difference that one pair would call clear is not clear where the runs of one side differ by as much.
    let wide = [run(90.0, 0), run(110.0, 3)];
    let compared = compare(&[&wide[0], &wide[1]], &[&after[0], &after[1]]);
    assert!(!of(&compared, Figure::Rate).is_clear && of(&compare(&[&wide[0]], &[&after[0]]), Figure::Rate).is_clear);
}

#[test]
fn plans_targets_and_stalls_are_those_of_all_runs() {
    let made = |plan: &str, target: &str, unreliable: &[&str]| {
        let mut report = report(|_| 100.0, |_| 20.0);
        report["about"] = json!({"plan": plan, "plan_zh": plan});
        report["target"] = json!({"url": target});
        report["times"]["succeeded"]["response_time"]["unreliable"] = json!(unreliable);
        report
    };
    let (one, other, third) = (
        made("50 users", "http://a/", &[]),
        made("60 users", "http://a/", &["p99"]),
        made("50 users", "http://b/", &[]),
    );
    let same = compare(&[&one, &one], &[&one]);
    assert!(same.is_same_plan() && same.is_same_target() && same.sides[0].plans.len() == 1);
    let plans = compare(&[&one, &other], &[&one]);
    assert!(!plans.is_same_plan() && plans.is_same_target() && plans.sides[0].plans.len() == 2);
    assert!(!compare(&[&one], &[&third]).is_same_target());
    assert_eq!(of(&plans, Figure::P99).is_stalled, [true, false]);
    assert_eq!(of(&plans, Figure::P50).is_stalled, [false, false]);
    // A run that is unreliable for a stall in its p99 still has a valid median; a run whose bottleneck was onrush has
    // no valid figure.
    let (mut stalled, mut limited) = (other.clone(), one.clone());
    stalled["verdict"]["is_unreliable"] = json!(true);
    limited["verdict"] = json!({"is_unreliable": true, "kind": "generator"});
    for (baseline, open) in [(&stalled, [true, false, true]), (&limited, [true; 3])] {
        let compared = compare(&[baseline], &[&one]);
        let seen = [Figure::Rate, Figure::P50, Figure::P99].map(|figure| of(&compared, figure).is_stalled[0]);
        assert_eq!(seen, open);
    }
}
