use proptest::prelude::*;

use crate::samples::{self, ODD_NAMES};

use super::*;

type Pairs = Vec<(String, String)>;

/// Measurement, tags, fields and instant of a line, parsed as the InfluxDB documentation describes it.
fn read(line: &str) -> (String, Pairs, Pairs, u64) {
    let (mut parts, mut word, mut escaped) = (Vec::new(), String::new(), false);
    let mut words = Vec::new();
    for each in line.chars() {
        match each {
            _ if escaped => {
                // A backslash escapes these characters alone.
                if !matches!(each, ',' | '=' | ' ') {
                    word.push('\\');
                }
                word.push(each);
                escaped = each == '\\' && {
                    word.pop();
                    true
                };
            }
            '\\' => escaped = true,
            ',' | ' ' => {
                words.push(std::mem::take(&mut word));
                if each == ' ' {
                    parts.push(std::mem::take(&mut words));
                }
            }
            '=' => word.push('\u{1}'),
            other => word.push(other),
        }
    }
    let pairs = |words: &[String]| -> Pairs {
        let pair = |word: &String| word.split_once('\u{1}').map(|(a, b)| (a.to_owned(), b.to_owned()));
        words.iter().map(|word| pair(word).unwrap_or_else(|| panic!("{line}"))).collect()
    };
    assert_eq!(parts.len(), 2, "{line}");
    (parts[0][0].clone(), pairs(&parts[0][1..]), pairs(&parts[1]), word.parse().expect("an instant"))
}

#[test]
fn lines_come_back() {
    let plan = samples::plan(&ODD_NAMES);
    let reported = samples::interval(&plan, 3, &samples::snapshot(ODD_NAMES.len(), 100, 2), false);
    let text = interval(&reported, 42);
    for (line, name) in text.lines().zip(ODD_NAMES) {
        let (measurement, tags, fields, at) = read(line);
        assert_eq!((measurement.as_str(), at), ("onrush_steps", 42));
        let plain = name.replace(['\n', '\t'], " ");
        let known = tags[1].1.trim_end();
        assert_eq!(known, plain, "{line}");
        let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!((field("succeeded"), field("failed")), (Some("100i"), Some("2i")));
        assert_eq!(field("response_time_max"), Some("0.1"));
        assert!(fields.iter().all(|(_, value)| value.trim_end_matches('i').parse::<f64>().is_ok_and(f64::is_finite)));
    }
    assert_eq!(text.lines().count(), ODD_NAMES.len());
}

#[test]
fn totals_have_no_holes() {
    let text = totals(&samples::totals(&["one"], 3, 1), 7);
    assert!(text.contains("onrush_steps,scenario=main,step=one total_succeeded=3i,total_failed=1i 7\n"), "{text}");
    assert!(text.contains("onrush_failures,reason=timeout total=1i 7\n"), "{text}");
    // Nothing was measured: no field may lack its value.
    let text = totals(&samples::totals(&["one"], 0, 0), 7);
    text.lines().for_each(|line| drop(read(line)));
}

proptest! {
    #[test]
    fn any_name_stays_one_line(name in "\\PC{1,20}|[\\n\"\\\\{}, =]{1,8}") {
        let plan = samples::plan(&[&name]);
        let text = interval(&samples::interval(&plan, 1, &samples::snapshot(1, 1, 0), false), 1);
        prop_assert_eq!(text.lines().count(), 1);
        let (_, tags, fields, _) = read(text.trim_end_matches('\n'));
        prop_assert_eq!(tags.len(), 2);
        prop_assert!(fields.len() >= 2);
    }
}
