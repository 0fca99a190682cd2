use crate::samples::{self, ODD_NAMES, totals};

use super::*;

fn text(datagrams: &[Datagram]) -> String {
    datagrams.iter().map(|datagram| datagram.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn counters_are_what_is_new_since_they_left() {
    let mut sent = Sent::default();
    let first = sent.datagrams(&totals(&["one"], 5, 1), None, false);
    assert!(text(&first).contains("onrush.requests.main.one.succeeded:5|c"), "{first:?}");
    // It was not sent: the next one contains it again.
    let second = sent.datagrams(&totals(&["one"], 8, 1), None, false);
    assert!(text(&second).contains("onrush.requests.main.one.succeeded:8|c"), "{second:?}");
    second.into_iter().for_each(|datagram| sent.note(datagram));
    let third = text(&sent.datagrams(&totals(&["one"], 9, 1), None, false));
    assert!(third.contains("onrush.requests.main.one.succeeded:1|c") && !third.contains("failed"), "{third}");
    assert!(third.contains("onrush.users:7|g"), "{third}");
}

#[test]
fn any_name_is_one_metric() {
    let plan = samples::plan(&ODD_NAMES);
    let seen = samples::snapshot(ODD_NAMES.len(), 3, 1);
    let interval = samples::interval(&plan, 1, &seen, false);
    for has_tags in [false, true] {
        let datagrams = Sent::default().datagrams(&totals(&ODD_NAMES, 3, 1), Some(&interval), has_tags);
        assert!(datagrams.len() > 1 && datagrams.iter().all(|one| one.text.len() <= DATAGRAM_BYTES_MAX));
        for line in text(&datagrams).lines() {
            let (name, rest) = line.split_once(':').expect("a name");
            let mut parts = rest.split('|');
            let value: f64 = parts.next().and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{line}"));
            assert!(value.is_finite() && matches!(parts.next(), Some("c" | "g")), "{line}");
            let tags = parts.next();
            assert!(tags.is_none_or(|tags| tags.starts_with('#') && has_tags) && parts.next().is_none(), "{line}");
            assert!(!name.contains(['|', '#', '@', ' ']), "{line}");
        }
        let all = text(&datagrams);
        assert_eq!(all.contains("|#scenario:main,step:登录 页面,outcome:succeeded"), has_tags, "{all}");
    }
}
