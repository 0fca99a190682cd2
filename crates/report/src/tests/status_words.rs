//! Responses of custom protocols, whose statuses are words.

use serde_json::json;

use super::*;
use crate::failed::{nothing_succeeded, some_failed};

/// Responses with these statuses; `failed` of them failed for their status.
fn with(words: &[(&str, u64)], failed: u64) -> Snapshot {
    let all: u64 = words.iter().map(|(_, count)| count).sum();
    let mut seen = seen(all.saturating_sub(failed), &[(Failure::Status, failed)]);
    seen.counts.statuses[200] = 0;
    words.iter().for_each(|(word, count)| seen.counts.count_status_word(word, *count));
    seen
}

fn texts(make: impl Fn(Language) -> Option<String>) -> [String; 2] {
    [Language::En, Language::Zh].map(|language| make(language).unwrap_or_default())
}

#[test]
fn words_are_statuses_in_every_view() {
    let mut seen = with(&[("OK", 6), ("WRONGTYPE", 3), ("200", 2)], 3);
    seen.counts.statuses[200] = 5;
    let (plan, result) = (plan(), result(seen.clone()));
    let run = run(&plan, result);
    let value = Json::default().value(&run);
    assert_eq!(value["statuses"], json!({"200": 7, "OK": 6, "WRONGTYPE": 3}), "a word may be a number, too");
    let interval = interval(Nanos::ZERO, Nanos::from_millis(1_000), &seen, &seen);
    let row = IntervalTable::new(Screen::plain(Language::En)).row(&interval);
    assert!(row.trim_end().ends_with("200:5 200:2 OK:6 WRONGTYPE:3"), "{row}");
    for (language, label) in [(Language::En, "Status codes"), (Language::Zh, "状态码")] {
        let text = summary(&run, Screen::plain(language));
        let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
        assert!(line.ends_with("200: 5   200: 2   OK: 6   WRONGTYPE: 3"), "{text}");
    }
}

#[test]
fn words_that_failed_are_named() {
    let plan = plan();
    let of = |words: &[(&str, u64)], failed: u64| run(&plan, result(with(words, failed)));
    // The failed ones are those whose counts make the sum.
    let mixed = of(&[("OK", 90), ("ERR", 4), ("WRONGTYPE", 6)], 10);
    let named = texts(|language| some_failed(&mixed, language));
    assert_eq!(named[0], "10.00% of the requests failed (6 of them: WRONGTYPE)");
    assert!(named[1].contains("WRONGTYPE"), "{named:?}");
    let text = texts(|language| Some(summary(&mixed, Screen::plain(language))));
    assert!(text[0].contains("6 x WRONGTYPE, 4 x ERR"), "{}", text[0]);
    assert!(text[1].contains("6 个 WRONGTYPE，4 个 ERR"), "{}", text[1]);
    // Here it may be any of two.
    let unclear = of(&[("OK", 50), ("ERR", 50)], 50);
    let named = texts(|language| some_failed(&unclear, language));
    assert_eq!(named[0], "50.00% of the requests failed (50 of them: status)");
    assert!(texts(|language| Some(summary(&unclear, Screen::plain(language))))[0].contains("50 status"));
    // Nothing but one word.
    let one = of(&[("NOAUTH", 7)], 7);
    let named = texts(|language| nothing_succeeded(&one, language));
    assert_eq!(named[0], "nothing succeeded: every answer was NOAUTH; see it with --show-failures");
    assert!(named[1].contains("NOAUTH"), "{named:?}");
    // Statuses of HTTP beside them.
    let mut both = with(&[("OK", 90), ("ERR", 4)], 9);
    both.counts.statuses[503] = 5;
    let both = run(&plan, result(both));
    let named = texts(|language| some_failed(&both, language));
    assert!(named[0].ends_with("(5 of them: 503)"), "{named:?}");
    assert!(summary(&both, Screen::plain(Language::En)).contains("5 x HTTP 503, 4 x ERR"));
}
