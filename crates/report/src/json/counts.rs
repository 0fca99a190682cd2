//! Counts and gauges in reports and live values: a loop over their rows.

use figures::{GAUGES, Interval};
use metrics::{Counters, View};
use serde_json::Value;

/// The counts of a section of a report.
pub(crate) fn section(section: &str, counts: &Counters) -> Value {
    let of_section = Counters::published().filter_map(|row| match row.json.split_once('.') {
        Some((first, name)) if first == section => Some((name.to_owned(), (row.of)(counts).into())),
        _ => None,
    });
    Value::Object(of_section.collect())
}

/// The counts that stand in a place beside the totals.
pub(crate) fn view(view: View, counts: &Counters) -> Value {
    let rows = Counters::published().filter(|row| row.views.contains(&view));
    Value::Object(rows.map(|row| (row.name.to_owned(), (row.of)(counts).into())).collect())
}

/// The gauges at the end of an interval.
pub(crate) fn gauges(interval: &Interval) -> Value {
    Value::Object(GAUGES.iter().map(|gauge| (gauge.name.to_owned(), (gauge.of)(interval).into())).collect())
}

/// An object with more entries: behind the one of a name, or behind all.
pub(crate) fn with(object: Value, behind: &str, more: Value) -> Value {
    let (Value::Object(mut object), Value::Object(more)) = (object, more) else { return Value::Null };
    let place = object.keys().position(|name| name == behind).map_or(object.len(), |place| place + 1);
    for (number, (name, value)) in more.into_iter().enumerate() {
        object.shift_insert(place + number, name, value);
    }
    Value::Object(object)
}
