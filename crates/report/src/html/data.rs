//! The input of the charts: the series with their names in one language.

use std::io::Write;

use figures::GAUGES;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::Language;
use crate::labels::{chart_title, series_label};
use crate::messages::reason_called;

/// The data of the page's charts, packed.
pub(super) fn packed(data: &Value) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(data.to_string().as_bytes()).and_then(|()| packer.finish()).unwrap_or_default()
}

/// One line of a chart: its name, its style, and the position of its values.
struct ChartLine<'a> {
    /// The name that is the same in every language.
    key: String,
    name: String,
    role: &'static str,
    values: &'a Value,
    band: Option<(&'a Value, &'a Value)>,
}

/// The argument of the module's `mount`.
pub(crate) fn page_data(report: &Value, charts: &Value, language: Language) -> Value {
    let (from, to) = (numbers(&charts["from_s"]), numbers(&charts["to_s"]));
    let middle: Vec<f64> = from.iter().zip(&to).map(|(from, to)| (from + to) / 2.0).collect();
    let mut all: Vec<Value> = Vec::new();
    let words = |(en, zh): (&'static str, &'static str)| language.pick(en, zh).to_owned();
    let mut add = |id: &'static str, lines: Vec<ChartLine<'_>>| {
        let has_values =
            |line: &ChartLine<'_>| line.values.as_array().is_some_and(|all| all.iter().any(|one| !one.is_null()));
        let series: Vec<Value> = lines.iter().filter(|line| has_values(line)).map(drawn).collect();
        if !series.is_empty() {
            let (title, (unit, is_log)) = (words(chart_title(id)), unit_of(id));
            let limits = if id == "times" { limits(report) } else { json!([]) };
            all.push(json!({"id": id, "title": title, "unit": unit, "log": is_log, "t": middle, "series": series, "limits": limits}));
        }
    };
    let line = |role, key: &'static str| ChartLine {
        key: key.to_owned(),
        name: words(series_label(key)),
        role,
        values: &charts["series"][key],
        band: None,
    };
    let banded = |role, key, [low, high]: [&str; 2]| ChartLine {
        band: Some((&charts["series"][low], &charts["series"][high])),
        ..line(role, key)
    };
    let done = banded("achieved", "done_per_s", ["done_low", "done_high"]);
    let others = [line("failed", "failed_per_s"), line("other", "dropped_per_s")];
    add("rate", [line("asked", "requested_per_s"), done].into_iter().chain(others).collect());
    let p99 = banded("p99", "p99_s", ["p99_low", "p99_high"]);
    add("times", vec![line("p50", "p50_s"), line("p90", "p90_s"), p99, line("p999", "p99_9_s")]);
    // Users have their color in each chart.
    let role = |name: &str| if name == "users" { "users" } else { "other" };
    add("users", GAUGES.iter().map(|gauge| line(role(gauge.name), gauge.name)).collect());
    let failures = charts["failures"].as_array().map_or(&[][..], Vec::as_slice);
    let listed = |key: String, name: String, values| ChartLine { key, name, role: "other", values, band: None };
    let called = |one: &Value| reason_called(&text(&one["reason"]), language);
    let by_reason = failures.iter().map(|one| listed(text(&one["reason"]), called(one), &one["per_s"]));
    add("failures", by_reason.collect());
    let parts = charts["parts"].as_array().map_or(&[][..], Vec::as_slice);
    for (id, key) in [("parts-times", "p99_s"), ("parts-rate", "per_s")] {
        add(id, parts.iter().map(|part| listed(part_key(part), part_name(part, parts), &part[key])).collect());
    }
    add("bytes", vec![line("other", "received_per_s"), line("other", "sent_per_s")]);
    add("lateness", vec![line("p99", "lateness_p99_s")]);
    add("cpu", vec![line("other", "cpu_cores")]);
    json!({
        "span_s": charts["span_s"],
        "begin_unix_ms": charts["began_unix_ms"],
        "charts": all,
        "heat": heat(charts, &from, &to, language),
        "spectrum": spectrum(charts, language),
        "marks": marks(charts, language),
    })
}

/// The unit of a chart, and whether its axis is logarithmic.
fn unit_of(chart: &str) -> (&'static str, bool) {
    match chart {
        "rate" | "failures" | "parts-rate" => ("1/s", false),
        "times" | "parts-times" | "lateness" => ("s", true),
        "bytes" => ("B/s", false),
        _ => ("", false),
    }
}

fn drawn(line: &ChartLine<'_>) -> Value {
    let mut drawn = json!({"key": line.key, "name": line.name, "role": line.role, "y": line.values});
    // A band that equals the line is left out.
    if let Some((low, high)) = line.band.filter(|(low, high)| low != high) {
        drawn["low"] = low.clone();
        drawn["high"] = high.clone();
    }
    drawn
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().map_or(Vec::new(), |all| all.iter().map(|one| one.as_f64().unwrap_or(0.0)).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The key of a part: a step and a transaction may have one name, and several scenarios may have steps of one name.
fn part_key(part: &Value) -> String {
    [&part["kind"], &part["scenario"], &part["name"]].map(text).join("/")
}

/// The name of a part; with several scenarios prefixed by that of its scenario.
fn part_name(part: &Value, all: &[Value]) -> String {
    let is_one = all.iter().all(|other| other["scenario"] == part["scenario"]);
    if is_one { text(&part["name"]) } else { format!("{}: {}", text(&part["scenario"]), text(&part["name"])) }
}

/// Thresholds on percentiles of all response times, as lines of their chart.
fn limits(report: &Value) -> Value {
    let all = report["thresholds"].as_array().map_or(&[][..], Vec::as_slice);
    let one = |judged: &Value| {
        let written = judged["threshold"].as_str()?;
        let threshold = metrics::Threshold::parse(written).ok()?;
        let seconds = threshold.limit_of_time(metrics::Measure::Response)?.as_secs_f64();
        Some(json!({"y": seconds, "label": written}))
    };
    all.iter().filter_map(one).collect()
}

fn heat(charts: &Value, from: &[f64], to: &[f64], language: Language) -> Value {
    let heat = &charts["heat"];
    if heat.is_null() {
        return Value::Null;
    }
    // Merged points are of equal width; the last may be shorter.
    let width = from.iter().zip(to).map(|(from, to)| to - from).fold(0.0, f64::max);
    json!({
        "title": language.pick("Response times over time", "响应时间热力图"),
        "unit": "s",
        "edges": heat["edges_s"],
        "t": from,
        "width_s": width,
        "counts": heat["counts"],
    })
}

fn spectrum(charts: &Value, language: Language) -> Value {
    let all = charts["spectrum"].as_array().map_or(&[][..], Vec::as_slice);
    let name = |measure: &str| match measure {
        "response_time" => language.pick("response time", "响应时间"),
        _ => language.pick("service time", "服务时间"),
    };
    let has_points = |curve: &&Value| curve["points"].as_array().is_some_and(|points| !points.is_empty());
    let curve =
        |curve: &Value| json!({"name": name(curve["measure"].as_str().unwrap_or_default()), "points": curve["points"]});
    let curves: Vec<Value> = all.iter().filter(has_points).map(curve).collect();
    if curves.is_empty() {
        return Value::Null;
    }
    json!({"title": language.pick("Percentiles of the whole run", "整次压测的百分位"), "unit": "s", "curves": curves})
}

fn marks(charts: &Value, language: Language) -> Value {
    let all = charts["marks"].as_array().map_or(&[][..], Vec::as_slice);
    let one =
        |mark: &Value| json!({"at_s": mark["at_s"], "kind": mark["kind"], "text": mark[language.pick("en", "zh")]});
    all.iter().map(one).collect()
}
