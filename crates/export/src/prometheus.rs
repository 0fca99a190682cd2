//! The Prometheus text formats: version 0.0.4, and OpenMetrics 1.0.0.

use std::fmt::Write;

use crate::families::families;
use crate::family::{Family, Kind, Labels, Value};
use crate::histogram::Histogram;
use crate::totals::Totals;

/// The text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    OpenMetrics,
}

/// The whole page.
pub(crate) fn text(totals: &Totals, style: Style) -> String {
    let mut out = String::new();
    families(totals).iter().for_each(|family| write_family(&mut out, family, style));
    if style == Style::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn write_family(out: &mut String, family: &Family<'_>, style: Style) {
    let name = family.name;
    let total = if family.kind == Kind::Counter { "_total" } else { "" };
    // OpenMetrics names the family, the older format the series.
    let head = if style == Style::OpenMetrics { name.to_owned() } else { format!("{name}{total}") };
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    put(out, format_args!("# HELP {head} {}\n# TYPE {head} {kind}\n", escaped(family.help, false)));
    if style == Style::OpenMetrics && name.ends_with("_seconds") {
        put(out, format_args!("# UNIT {head} seconds\n"));
    }
    for (labels, value) in &family.series {
        match value {
            Value::Count(count) => put(out, format_args!("{name}{total}{} {count}\n", braces(labels, None))),
            Value::Number(number) => put(out, format_args!("{name}{total}{} {number}\n", braces(labels, None))),
            Value::Times(times) => write_histogram(out, name, labels, times),
        }
    }
}

fn write_histogram(out: &mut String, name: &str, labels: &Labels<'_>, times: &Histogram) {
    for (bound, count) in times.cumulative() {
        put(out, format_args!("{name}_bucket{} {count}\n", braces(labels, Some(&bound_text(bound)))));
    }
    put(out, format_args!("{name}_sum{} {}\n", braces(labels, None), times.sum_s()));
    put(out, format_args!("{name}_count{} {}\n", braces(labels, None), times.count()));
}

/// A bound as the value of the label `le`. OpenMetrics requires a floating-point number, and the older format accepts
/// it.
pub(crate) fn bound_text(bound: f64) -> String {
    match bound {
        bound if bound.is_infinite() => "+Inf".to_owned(),
        bound if bound.fract() == 0.0 => format!("{bound:.1}"),
        bound => bound.to_string(),
    }
}

fn braces(labels: &Labels<'_>, bound: Option<&str>) -> String {
    let all = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
    let pairs: Vec<String> = all.map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

/// A label value or a help text, escaped to one line.
fn escaped(text: &str, is_label: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if is_label { text.replace('"', "\\\"") } else { text }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

#[cfg(test)]
mod tests;
