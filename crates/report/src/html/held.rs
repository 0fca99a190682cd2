//! What only the page of a hold has. Its charts show the intervals of the JSON report.

use serde_json::{Value, json};

use super::markup::{Cell, Markup, list};
use super::sections::{facts_of_times, in_rate, number, whole};
use crate::Language;
use crate::format::{bytes, count, time};

/// The most points of a series.
const POINTS_MAX: usize = 600;

/// The tables of connections, messages and times.
pub(super) fn tables(report: &Value, page: &mut Markup) {
    connections(report, page);
    messages(report, page);
    facts_of_times(
        report,
        &[
            ("connect", "connect", "建立连接"),
            ("response_time", "response time", "响应时间"),
            ("service_time", "service time", "服务时间"),
            ("message_gap", "between pushed messages", "消息间隔"),
            ("loop_lag", "lag of the loops", "事件循环延迟"),
        ],
        page,
    );
}

pub(super) fn tiles(report: &Value, page: &mut Markup) {
    let of = |path: &str| count(whole(report, path));
    let requested = whole(report, "/plan/connections");
    let each = |path: &str| {
        let (now, before) = (number(report, "/memory/resident_bytes"), number(report, "/memory/resident_bytes_before"));
        let open = number(report, path).filter(|open| *open > 0.0)?;
        Some(bytes((now? - before?).max(0.0) / open))
    };
    let p99 = number(report, "/times/response_time/p99_ns").map_or("–".to_owned(), time);
    let all = [
        (
            page.pick("Open at most", "同时建立（最多）"),
            of("/connections/most_open"),
            format!("/ {}", count(requested)),
        ),
        (page.pick("Open at the end", "结束时保持"), of("/connections/open_when_closing"), String::new()),
        (page.pick("Failed", "失败"), of("/connections/failed"), String::new()),
        (page.pick("Lost", "断开"), of("/connections/lost"), String::new()),
        (page.pick("Messages answered", "已响应的消息"), of("/messages/answered"), format!("p99 {p99}")),
        (
            page.pick("Memory each", "每连接内存"),
            each("/connections/most_open").unwrap_or_else(|| "–".to_owned()),
            match report["workers"].is_null() {
                true => page.pick("of this process", "本进程").to_owned(),
                false => page.pick("of all workers", "全部工作进程").to_owned(),
            },
        ),
    ];
    page.tiles(&all);
}

fn rows(report: &Value, names: &[(&str, &'static str, &'static str)], page: &Markup) -> Vec<Vec<Cell>> {
    let row = |(path, en, zh): &(&str, &'static str, &'static str)| {
        vec![Cell::Words(page.pick(en, zh).to_owned()), Cell::Figure(count(whole(report, path)))]
    };
    names.iter().map(row).collect()
}

fn connections(report: &Value, page: &mut Markup) {
    page.heading("Connections", "连接");
    let rows = rows(
        report,
        &[
            ("/connections/tried", "tried", "尝试"),
            ("/connections/established", "established", "建立"),
            ("/connections/failed", "failed", "失败"),
            ("/connections/lost", "lost", "断开"),
            ("/connections/closed", "closed cleanly", "正常关闭"),
            ("/connections/abandoned", "abandoned", "未完成"),
        ],
        page,
    );
    page.table(page.pick("What was counted", "计数"), &[page.pick("what", "项目"), page.pick("count", "数量")], &rows);
}

fn messages(report: &Value, page: &mut Markup) {
    let rates = [number(report, "/requested_per_s"), number(report, "/achieved_per_s")].map(in_rate);
    let mut rows = rows(
        report,
        &[
            ("/messages/due", "due", "应发"),
            ("/messages/sent", "sent", "已发"),
            ("/messages/answered", "answered", "已响应"),
            ("/messages/unanswered", "unanswered", "未响应"),
            ("/messages/late", "late", "发送过晚"),
            ("/messages/missed", "missed", "因连接断开未发"),
            ("/messages/pushed", "pushed by the server", "服务端推送"),
        ],
        page,
    );
    if rates[0] != "–" {
        let name = page.pick("achieved / asked, a second", "每秒：实际 / 计划");
        rows.push(vec![Cell::Words(name.to_owned()), Cell::Figure(format!("{} / {}", rates[1], rates[0]))]);
    }
    page.heading("Messages", "消息");
    page.table(page.pick("Messages", "消息"), &[page.pick("what", "项目"), page.pick("count", "数量")], &rows);
}

/// The points of the charts: intervals, neighbours merged into one where there are too many.
struct Points<'a>(Vec<&'a [Value]>);

impl<'a> Points<'a> {
    fn new(report: &'a Value) -> Self {
        let all = list(report, "/intervals");
        Self(all.chunks(all.len().div_ceil(POINTS_MAX).max(1)).collect())
    }

    /// The middle of each, in seconds.
    fn middles(&self) -> Vec<f64> {
        self.0.iter().map(|point| begin(point) + span(point) / 2.0).collect()
    }

    /// The value at the end of each.
    fn level(&self, key: &str) -> Value {
        self.0.iter().map(|point| at_end(point, key)).collect()
    }

    /// The sum of each, per second.
    fn per_s(&self, key: &str) -> Value {
        self.0.iter().map(|point| values(point, key).sum::<f64>() / span(point)).collect()
    }

    /// The worst time of each, in seconds: those of several intervals together are not in the report.
    fn worst(&self, key: &str) -> Value {
        self.0.iter().map(|point| values(point, key).reduce(f64::max).map(|ns| ns / 1e9)).collect()
    }
}

/// The values of its intervals.
fn values(point: &[Value], key: &str) -> impl Iterator<Item = f64> {
    point.iter().filter_map(move |row| row.pointer(key)?.as_f64())
}

/// The value of its last interval.
fn at_end(point: &[Value], key: &str) -> Option<f64> {
    point.last().and_then(|row| row.pointer(key)).and_then(Value::as_f64)
}

/// Its first second.
fn begin(point: &[Value]) -> f64 {
    point.first().and_then(|row| row["from_s"].as_f64()).unwrap_or(0.0)
}

/// Its seconds.
fn span(point: &[Value]) -> f64 {
    (at_end(point, "/to_s").unwrap_or(0.0) - begin(point)).max(1e-9)
}

/// The input of the chart module.
pub(crate) fn data(report: &Value, language: Language) -> Value {
    let charts = charts(&Points::new(report), language);
    let has_values = |chart: &&Value| {
        chart["series"].as_array().is_some_and(|all| {
            all.iter().any(|line| {
                line["y"].as_array().is_some_and(|y| y.iter().any(|one| one.as_f64().is_some_and(|one| one != 0.0)))
            })
        })
    };
    json!({
        "span_s": number(report, "/wall_s").unwrap_or(0.0),
        "charts": charts.iter().filter(has_values).collect::<Vec<_>>(),
        "heat": null,
        "spectrum": null,
        "marks": [],
    })
}

/// All charts, also those without values.
fn charts(points: &Points<'_>, language: Language) -> [Value; 5] {
    let middles = points.middles();
    let pick = |en: &'static str, zh: &'static str| language.pick(en, zh);
    let line = |key: &str, name: &str, role: &str, y: Value| json!({"key": key, "name": name, "role": role, "y": y});
    let chart = |id: &str, title: &str, unit: &str, series: Vec<Value>| json!({"id": id, "title": title, "unit": unit, "log": unit == "s", "t": middles, "series": series, "limits": []});
    [
        chart(
            "open",
            pick("Connections", "连接数"),
            "",
            vec![
                line("open", pick("open", "已建立"), "achieved", points.level("/open")),
                line("connecting", pick("connecting", "建立中"), "users", points.level("/connecting")),
                line("waiting", pick("awaiting an answer", "等待响应"), "other", points.level("/waiting")),
            ],
        ),
        chart(
            "changes",
            pick("Connections per second", "每秒连接变化"),
            "1/s",
            vec![
                line("established", pick("established", "新建"), "achieved", points.per_s("/established")),
                line("failed", pick("failed", "失败"), "failed", points.per_s("/failed")),
                line("lost", pick("lost", "断开"), "other", points.per_s("/lost")),
            ],
        ),
        chart(
            "messages",
            pick("Messages per second", "每秒消息数"),
            "1/s",
            vec![
                line("due", pick("due", "应发"), "asked", points.per_s("/messages/due")),
                line("answered", pick("answered", "已响应"), "achieved", points.per_s("/messages/answered")),
                line("pushed", pick("pushed by the server", "服务端推送"), "other", points.per_s("/messages/pushed")),
            ],
        ),
        chart(
            "times",
            pick("Response time of messages", "消息的响应时间"),
            "s",
            vec![
                line("p50", "p50", "p50", points.worst("/response_time/p50_ns")),
                line("p99", "p99", "p99", points.worst("/response_time/p99_ns")),
            ],
        ),
        chart(
            "memory",
            pick("Memory", "内存"),
            "B",
            vec![
                line("resident", pick("of this process", "本进程"), "achieved", points.level("/memory/resident_bytes")),
                line("kernel", pick("of the kernel", "内核"), "other", points.level("/memory/kernel_bytes")),
            ],
        ),
    ]
}
