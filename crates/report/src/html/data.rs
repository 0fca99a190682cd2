//! The input of the charts: the series with their names in one language.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::Language;
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
    let mut add = |id: &str, title: &str, unit: &str, is_log: bool, lines: Vec<ChartLine<'_>>, limits: Value| {
        let has_values =
            |line: &ChartLine<'_>| line.values.as_array().is_some_and(|all| all.iter().any(|one| !one.is_null()));
        let series: Vec<Value> = lines.iter().filter(|line| has_values(line)).map(drawn).collect();
        if !series.is_empty() {
            all.push(json!({"id": id, "title": title, "unit": unit, "log": is_log, "t": middle, "series": series, "limits": limits}));
        }
    };
    let words = |en: &'static str, zh: &'static str| language.pick(en, zh).to_owned();
    let line = |name: String, role, key: &str| ChartLine {
        key: key.to_owned(),
        name,
        role,
        values: &charts["series"][key],
        band: None,
    };
    let banded = |name: String, role, key: &str, [low, high]: [&str; 2]| ChartLine {
        band: Some((&charts["series"][low], &charts["series"][high])),
        ..line(name, role, key)
    };
    let none = || Value::Array(Vec::new());
    add(
        "rate",
        &words("Requests per second", "每秒请求数（QPS）"),
        "1/s",
        false,
        vec![
            line(words("requested", "计划"), "asked", "requested_per_s"),
            banded(words("completed", "已结束"), "achieved", "done_per_s", ["done_low", "done_high"]),
            line(words("failed", "失败"), "failed", "failed_per_s"),
            line(words("dropped", "丢弃"), "other", "dropped_per_s"),
        ],
        none(),
    );
    add(
        "times",
        &words("Response time of successful requests", "成功请求的响应时间"),
        "s",
        true,
        vec![
            line("p50".to_owned(), "p50", "p50_s"),
            line("p90".to_owned(), "p90", "p90_s"),
            banded("p99".to_owned(), "p99", "p99_s", ["p99_low", "p99_high"]),
            line("p99.9".to_owned(), "p999", "p99_9_s"),
        ],
        limits(report),
    );
    add(
        "users",
        &words("Users, requests in flight, connections", "用户数、在途请求、连接数"),
        "",
        false,
        vec![
            line(words("users", "用户数"), "users", "users"),
            line(words("in flight", "在途请求"), "other", "in_flight"),
            line(words("connections", "连接数"), "other", "connections"),
        ],
        none(),
    );
    let failures = charts["failures"].as_array().map_or(&[][..], Vec::as_slice);
    let listed = |key: String, name: String, values| ChartLine { key, name, role: "other", values, band: None };
    let called = |one: &Value| reason_called(&text(&one["reason"]), language);
    let by_reason = failures.iter().map(|one| listed(text(&one["reason"]), called(one), &one["per_s"])).collect();
    add("failures", &words("Failures per second", "每秒失败数"), "1/s", false, by_reason, none());
    let parts = charts["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let of_parts = |key: &'static str| {
        parts.iter().map(|part| listed(part_key(part), part_name(part, parts), &part[key])).collect()
    };
    add(
        "parts-times",
        &words("p99 of each step and transaction", "各步骤和事务的 p99"),
        "s",
        true,
        of_parts("p99_s"),
        none(),
    );
    add(
        "parts-rate",
        &words("Steps and transactions per second", "各步骤和事务每秒次数"),
        "1/s",
        false,
        of_parts("per_s"),
        none(),
    );
    let bytes = vec![
        line(words("received", "下载"), "other", "received_per_s"),
        line(words("sent", "上传"), "other", "sent_per_s"),
    ];
    add("bytes", &words("Bytes per second", "每秒字节数"), "B/s", false, bytes, none());
    let lateness = vec![line(words("lateness p99", "调度延迟 p99"), "p99", "lateness_p99_s")];
    add("lateness", &words("Lateness of the generator", "压测机的调度延迟"), "s", true, lateness, none());
    let cpu = vec![line(words("cores busy", "占用的核数"), "other", "cpu_cores")];
    add("cpu", &words("CPU of the generator, in cores", "压测机的 CPU（核数）"), "", false, cpu, none());
    json!({
        "span_s": charts["span_s"],
        "begin_unix_ms": charts["began_unix_ms"],
        "charts": all,
        "heat": heat(charts, &from, &to, language),
        "spectrum": spectrum(charts, language),
        "marks": marks(charts, language),
    })
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
