use metrics::{Judgement, Unit};

use super::*;

fn judged(text: &str, holds: bool, value: Option<f64>, unit: Unit) -> ThresholdResult {
    let judgement = Judgement { holds, fails: !holds, value, at_least: false, range: None, unit };
    ThresholdResult { threshold: text.to_owned(), judgement }
}

#[test]
fn a_case_for_each_threshold() {
    let all = [
        judged("p99(response_time) < 200ms", true, Some(1.5e6), Unit::Time),
        judged("failed / done < 0.1%, \"登录\" & \u{1}", false, Some(0.25), Unit::Ratio),
        judged("rate > 10/s", false, None, Unit::PerSecond),
        judged("max(wait) < 1s", false, Some(f64::NAN), Unit::Time),
    ];
    let text = suite(&all, 1.25, "http://me:hunter2@127.0.0.1/?a=1&b=2");
    assert!(text.contains("<testsuite name=\"thresholds\" tests=\"4\" failures=\"3\" errors=\"0\""), "{text}");
    assert!(
        text.contains("name=\"p99(response_time) &lt; 200ms\" time=\"1.250\">\n      <system-out>1.500ms<"),
        "{text}"
    );
    assert!(text.contains("&quot;登录&quot; &amp; \u{fffd}\""), "{text}");
    assert!(text.contains("<failure message=\"25.0000%\""), "{text}");
    assert!(!text.contains("NaN") && !text.contains("hunter2"), "{text}");
    let opened = text.matches("<testcase").count();
    assert_eq!((opened, text.matches("</testcase>").count()), (4, 4));
}

#[test]
fn a_run_without_thresholds_has_no_case() {
    assert!(suite(&[], 1.0, "http://127.0.0.1/").contains("tests=\"0\" failures=\"0\""));
}
