use metrics::{AddressLack, Judgement, Unit};

use super::*;

fn judged(text: &str, holds: bool, value: Option<f64>, unit: Unit) -> ThresholdResult {
    let (fails, at_least) = (!holds, false);
    let judgement = Judgement { holds, fails, value, at_least, range: None, unit, address: None, lack: None };
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

/// The worst address is named, and so is what is missing to know it.
#[test]
fn a_case_by_address_says_which_one() {
    let mut all = [
        judged("worst_address(p99(response_time)) < 1s", true, Some(1.5e6), Unit::Time),
        judged("worst_address(failed) < 1", false, None, Unit::Count),
    ];
    all[0].judgement.address = Some(([10, 0, 0, 4], 8080).into());
    all[1].judgement.lack = Some(AddressLack::TooMany);
    let text = suite(&all, 1.0, "http://127.0.0.1/");
    assert!(text.contains("1.500ms at 10.0.0.4:8080"), "{text}");
    assert!(text.contains(&AddressLack::TooMany.to_string()), "{text}");
}

#[test]
fn a_run_without_thresholds_has_no_case() {
    assert!(suite(&[], 1.0, "http://127.0.0.1/").contains("tests=\"0\" failures=\"0\""));
}
