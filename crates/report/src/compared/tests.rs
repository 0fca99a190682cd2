use super::*;

/// A report with a rate, a p99 in milliseconds with a wobble, a plan, and marks of stalls.
fn report(rate: f64, p99_ms: f64, wobble_ms: f64, plan: &str, unreliable: &[&str]) -> Value {
    let times = |at: usize| {
        let p99 = (p99_ms + wobble_ms * (((at * 37) % 11) as f64 / 11.0 - 0.5)) * 1e6;
        json!({"mean_ns": p99 / 2.0, "p50_ns": p99 / 2.0, "p90_ns": p99, "p99_ns": p99})
    };
    let row = |at: usize| json!({"from_s": at, "to_s": at + 1, "succeeded": 100, "failed": 0, "requests_per_s": rate, "response_time": times(at)});
    let mut all = times(0);
    (all["p99_ns"], all["unreliable"]) = ((p99_ms * 1e6).into(), json!(unreliable));
    json!({
        "about": {"plan": plan, "plan_zh": format!("中 {plan}")}, "target": {"url": "http://a/"},
        "requests_per_s": rate, "requests": {"succeeded": 2100, "failed": 0},
        "times": {"succeeded": {"response_time": all}}, "verdict": {"is_unreliable": false},
        "intervals": (0..21).map(row).collect::<Vec<_>>(),
    })
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn sides_stand_above_and_noise_says_what_it_hides() {
    let (one, other) =
        (report(100.0, 20.0, 12.0, "GET /, 50 users", &[]), report(100.0, 21.0, 12.0, "GET /, 60 users", &[]));
    let comparison = history::compare(&[&one, &one], &[&other]);
    let (before, after) = (names(&["a1", "a2"]), names(&["b1"]));
    let text = comparison_table(&comparison, [&before, &after], Language::En);
    let head =
        "A  a1, a2\n   http://a/\n   GET /, 50 users\nB  b1\n   http://a/\n   GET /, 60 users\n! the plans differ: ";
    assert!(text.starts_with(head), "{text}");
    let row = text.lines().find(|line| line.starts_with("p99(")).expect("a row");
    let visible = comparison.differences[5].visible.expect("it is judged");
    let least = row.split("differences below ").nth(1).and_then(|rest| rest.split('%').next()).expect("a figure");
    let least: f64 = least.parse().expect("a number");
    assert!((visible * 100.0..visible * 100.0 + 0.1).contains(&least) && least > 5.0, "{row} {visible}");
    let chinese = comparison_table(&comparison, [&before, &after], Language::Zh);
    assert!(
        chinese.contains("压测计划不同")
            && chinese.contains("中 GET /, 60 users")
            && chinese.contains("的差异看不出来"),
        "{chinese}"
    );
    let same = comparison_table(&history::compare(&[&one], &[&one]), [&before, &after], Language::En);
    assert!(!same.contains("differ:"), "{same}");
}

#[test]
fn what_may_not_be_says_when_it_struck() {
    let fail_if = FailIf::parse("p99 > +10%").expect("one");
    let line = |unreliable: [&[&str]; 2], p99: f64, language| {
        let sides = [report(100.0, 20.0, 0.1, "", unreliable[0]), report(100.0, p99, 0.1, "", unreliable[1])];
        ruling_line(&fail_if, &history::compare(&[&sides[0]], &[&sides[1]]), language)
    };
    let en = |unreliable, p99| line(unreliable, p99, Language::En);
    assert_eq!(en([&[], &[]], 20.0), None);
    assert_eq!(en([&[], &["p99"]], 20.0), None, "a stall in B makes nothing better");
    let struck = en([&[], &[]], 24.0).expect("it struck");
    assert_eq!(struck, "--fail-if 'p99 > +10%' struck: 20.0ms -> 24.0ms (+20.0%)");
    let stalled = en([&[], &["p99"]], 24.0).expect("it struck");
    assert!(stalled.ends_with("; onrush itself stalled in B, which may have caused it"), "{stalled}");
    let open = en([&["p99"], &[]], 20.0).expect("it is not known");
    assert!(open.contains("is not judged: onrush stalled in A"), "{open}");
    assert!(line([&["p99"], &[]], 20.0, Language::Zh).expect("a line").contains("请重新压测 A"));
    assert!(line([&[], &[]], 24.0, Language::Zh).expect("a line").contains("：20.0ms → 24.0ms（+20.0%）"));
}
