use proptest::prelude::*;

use crate::samples::{ODD_NAMES, totals};

use super::*;

type Row = (String, Vec<(String, String)>, f64);

/// A line parsed by the text format: name, labels, value. `None` for other lines.
fn read(line: &str) -> Option<Row> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Vec::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, behind) = rest.split_once("=\"")?;
            let (mut value, mut at) = (String::new(), behind.chars());
            loop {
                match at.next()? {
                    '\\' => value.push(match at.next()? {
                        'n' => '\n',
                        other @ ('\\' | '"') => other,
                        _ => return None,
                    }),
                    '"' => break,
                    '\n' => return None,
                    other => value.push(other),
                }
            }
            labels.push((label.to_owned(), value));
            rest = at.as_str();
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => break,
            }
        }
        rest = rest.strip_prefix('}')?;
    }
    Some((name.to_owned(), labels, rest.strip_prefix(' ')?.parse().ok()?))
}

#[test]
fn names_come_back_as_they_were() {
    let totals = totals(&ODD_NAMES, 3, 1);
    for style in [Style::Plain, Style::OpenMetrics] {
        let page = text(&totals, style);
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<_> = lines.map(|line| read(line).unwrap_or_else(|| panic!("{line}"))).collect();
        let of_requests = rows.iter().filter(|(name, _, _)| name == "onrush_requests_total");
        let steps: Vec<&str> = of_requests
            .filter(|(_, labels, _)| labels[2].1 == "succeeded")
            .map(|(_, labels, value)| {
                assert_eq!(*value, 3.0);
                labels[1].1.as_str()
            })
            .collect();
        assert_eq!(steps, ODD_NAMES);
        assert!(rows.iter().all(|(_, _, value)| value.is_finite()));
        assert_eq!(page.ends_with("# EOF\n"), style == Style::OpenMetrics);
    }
}

#[test]
fn each_style_names_its_families() {
    let totals = totals(&["one"], 1, 0);
    let (plain, open) = (text(&totals, Style::Plain), text(&totals, Style::OpenMetrics));
    assert!(plain.contains("# TYPE onrush_requests_total counter\n"), "{plain}");
    assert!(open.contains("# TYPE onrush_requests counter\n"), "{open}");
    assert!(open.contains("# UNIT onrush_response_time_seconds seconds\n") && !plain.contains("# UNIT"));
    assert!(
        plain.contains("onrush_response_time_seconds_bucket{scenario=\"main\",step=\"one\",le=\"0.001\"} 1\n"),
        "{plain}"
    );
    assert!(plain.contains("onrush_cpu_seconds_total 1.5\n") && plain.contains("onrush_users 7\n"), "{plain}");
    // No series appears twice.
    let mut series: Vec<&str> = plain.lines().filter_map(|line| line.rsplit_once(' ')).map(|(name, _)| name).collect();
    series.retain(|name| !name.starts_with('#'));
    let count = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), count);
}

proptest! {
    #[test]
    fn any_name_comes_back(name in "\\PC{1,20}|[\\n\"\\\\{}, =]{1,8}") {
        let page = text(&totals(&[&name], 1, 0), Style::Plain);
        let line = page.lines().find(|line| line.starts_with("onrush_requests_total")).expect("a line");
        let (_, labels, _) = read(line).expect("a series");
        prop_assert_eq!(&labels[1].1, &name);
    }
}
