use crate::samples::{ODD_NAMES, interval, plan, snapshot};

use super::*;

/// The cells of CSV, row by row.
fn read(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut all = text.chars().peekable();
    while let Some(each) = all.next() {
        match each {
            '"' if is_quoted && all.peek() == Some(&'"') => cell.extend(all.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    rows
}

#[test]
fn sums_of_lines_are_the_run() {
    let plan = plan(&ODD_NAMES);
    let mut text = columns();
    let (mut before, mut expected) = (Totals::default(), 0);
    for (number, count, is_update) in [(1, 10, false), (2, 7, false), (1, 3, true)] {
        let reported = interval(&plan, number, &snapshot(ODD_NAMES.len(), count, 1), is_update);
        let mut now = before.clone();
        now.add(&reported);
        text.push_str(&lines(&reported, &before, &now));
        (before, expected) = (now, expected + count);
    }
    let rows = read(&text);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let at = |name: &str| rows[0].iter().position(|column| column == name).expect("a column");
    let sum = |series: &str, name: &str| -> u64 {
        let rows = rows.iter().filter(|row| row[at("series")] == series && row[at("name")] == name);
        rows.map(|row| row[at("succeeded")].parse::<u64>().expect("a number")).sum()
    };
    ODD_NAMES.iter().for_each(|name| assert_eq!(sum("step", name), expected, "{name}"));
    assert_eq!(sum("all", ""), expected * ODD_NAMES.len() as u64);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert_eq!(rows.last().expect("rows")[at("late")], "1");
    // Nothing completed: empty cells.
    let none = interval(&plan, 4, &snapshot(0, 0, 0), false);
    let last = read(&lines(&none, &before, &before));
    assert_eq!(last[0][at("response_max_ms")], "");
}
