use history::{Card, FailIf};
use report::Language;
use serde_json::Value;

/// Any files of a stored run, and any invalid comparison: a folder may come from an untrusted source. Three lines: the
/// report, the data of its charts, the comparison.
pub fn kept(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut lines = input.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (report, charts, fail_if) = (line(), line(), line());
    let fail_if = FailIf::parse(fail_if);
    let Ok(report) = serde_json::from_str::<Value>(report) else { return };
    let card = Card::from_report("id", &report);
    assert_eq!(Card::from_value(&card.value()).map(|card| card.id), Some("id".to_owned()));
    // A file of cards is parsed too.
    let _ = Card::from_value(&report);
    let comparison = history::compare(&[&report, &report], &[&report]);
    assert!(comparison.differences.iter().all(|one| !one.is_clear), "a run is like itself");
    assert!(!fail_if.is_ok_and(|fail_if| fail_if.is_met(&comparison)));
    let charts = serde_json::from_str(charts).unwrap_or(Value::Null);
    for language in [Language::En, Language::Zh] {
        let page = report::html_report(&report, &charts, language);
        // The content of the files is text, and never markup.
        let empty = report::html_report(&Value::Null, &Value::Null, language);
        assert_eq!(page.matches("<script").count(), empty.matches("<script").count());
    }
}
