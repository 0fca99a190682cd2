use crate::samples::{interval, plan, snapshot};

use super::*;

#[test]
fn series_are_there_before_anything_happens() {
    let totals = Totals::empty(&ScenarioPart::none(&plan(&["one", "two"])));
    let names: Vec<_> = totals.steps.iter().map(|step| (step.name.as_str(), step.succeeded)).collect();
    assert_eq!(names, [("one", 0), ("two", 0)]);
}

#[test]
fn what_comes_late_is_added_once() {
    let plan = plan(&["one"]);
    let mut totals = Totals::default();
    totals.add(&interval(&plan, 1, &snapshot(1, 10, 2), false));
    totals.add(&interval(&plan, 2, &snapshot(1, 5, 0), false));
    totals.add(&interval(&plan, 1, &snapshot(1, 3, 1), true));
    let step = &totals.steps[0];
    assert_eq!((step.succeeded, step.failed, step.response.count(), step.service.count()), (18, 3, 18, 18));
    let users = totals.gauges().find(|(gauge, _)| gauge.name == "users").map(|(_, now)| now);
    assert_eq!((totals.cpu_ns, users), (4_500_000_000, Some(7)));
}

#[test]
fn steps_of_one_name_are_one_series() {
    let plan = plan(&["same", "same", "other"]);
    let mut totals = Totals::empty(&ScenarioPart::none(&plan));
    totals.add(&interval(&plan, 1, &snapshot(3, 4, 0), false));
    let counts: Vec<_> = totals.steps.iter().map(|step| (step.name.as_str(), step.succeeded)).collect();
    assert_eq!(counts, [("same", 8), ("other", 4)]);
}

/// What was in flight when measuring began is told wherever counters are, once.
#[test]
fn what_was_carried_is_reported() {
    let plan = plan(&["one"]);
    let mut seen = snapshot(1, 10, 0);
    seen.counts[metrics::Counter::Carried] += 3;
    let reported = interval(&plan, 1, &seen, false);
    let mut totals = Totals::default();
    totals.add(&reported);
    totals.add(&interval(&plan, 2, &seen, false));
    let carried = totals.counts().find(|(row, ..)| row.name == "carried").map(|(.., count)| count);
    assert_eq!(carried, Some(3));
    let text = crate::prometheus::text(&totals, crate::prometheus::Style::Plain);
    assert!(text.contains("\nonrush_carried_total 3\n"), "{text}");
    assert!(crate::influx::totals(&totals, 7).contains("total_carried=3i,total_missed_deadline=0i,total_retried=0i,"));
    let datagrams = crate::statsd::Sent::default().datagrams(&totals, None, true);
    assert!(datagrams.iter().any(|datagram| datagram.text.lines().any(|line| line == "onrush.carried:3|c")));
    let lines = crate::csv::lines(&reported, &Totals::default(), &totals);
    let columns = crate::csv::columns();
    let at = columns.split(',').position(|column| column == "carried").expect("a column");
    let cells = lines.lines().map(|line| line.split(',').nth(at).expect("a cell")).collect::<Vec<_>>();
    assert_eq!(cells, ["3", ""], "{lines}");
    let families = crate::families::families(&totals);
    assert!(families.iter().any(|family| family.name == "onrush_carried"));
}
