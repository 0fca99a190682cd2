//! The workers of a run, on the page: each of them, and the undelivered and unaccounted starts.

use serde_json::Value;

use super::markup::{Cell, Markup};
use crate::format::{count, percent, time};

/// The most workers that are listed individually; of more, the first of them.
const SHOWN_MAX: usize = 256;
/// The resolution of printed shares.
const SHARE_UNITS: f64 = 1e6;

/// Writes nothing where threads of one process carried out the run.
pub(super) fn write(report: &Value, page: &mut Markup) {
    let Some(all) = report["workers"]["list"].as_array().filter(|all| !all.is_empty()) else { return };
    page.heading("Workers", "工作进程");
    let rows: Vec<Vec<Cell>> = all.iter().take(SHOWN_MAX).map(|worker| row(worker, page)).collect();
    let heads = [
        page.pick("worker", "工作进程"),
        page.pick("share of the load", "负载占比"),
        page.pick("threads", "线程"),
        page.pick("started", "发起"),
        page.pick("failed", "失败"),
        "CPU",
        page.pick("began late by", "开始时间晚"),
        page.pick("clock wrong by at most", "时钟误差最多"),
        page.pick("remarks", "说明"),
    ];
    page.table(page.pick("Who carried it out", "各工作进程"), &heads, &rows);
    let rest = all.len().saturating_sub(SHOWN_MAX);
    if rest > 0 {
        let text = match page.pick("en", "zh") {
            "en" => format!("And {rest} more, which are in the JSON report."),
            _ => format!("另有 {rest} 个，见 JSON 报告。"),
        };
        page.element("p", &text);
    }
    let rows: Vec<Vec<Cell>> = unaccounted(&report["workers"], page);
    let heads = [page.pick("what", "项目"), page.pick("count", "数量")];
    page.table(page.pick("What nobody did, or knows of", "未执行或结果未知"), &heads, &rows);
}

fn row(worker: &Value, page: &Markup) -> Vec<Cell> {
    let whole = |key: &str| count(worker[key].as_u64().unwrap_or(0));
    let seconds = |key: &str| worker[key].as_f64().map_or("–".to_owned(), |seconds| time(seconds * 1e9));
    let share = (worker["share"].as_f64().unwrap_or(0.0) * SHARE_UNITS).max(0.0) as u64;
    let mut remarks = Vec::new();
    if worker["loss_count"].as_u64() > Some(0) {
        remarks.push(page.pick("was lost", "曾失联"));
    }
    if worker["bus_was_full"] == true {
        remarks.push(page.pick("the bus had no room for what it told", "总线已满，数据曾无法写入"));
    }
    vec![
        Cell::Words(worker["name"].as_str().unwrap_or_default().to_owned()),
        Cell::Figure(percent(share, SHARE_UNITS as u64)),
        Cell::Figure(whole("threads")),
        Cell::Figure(whole("started")),
        Cell::Figure(whole("failed")),
        Cell::Figure(seconds("cpu_s")),
        Cell::Figure(seconds("start_delay_s")),
        Cell::Figure(seconds("clock_error_s")),
        Cell::Words(remarks.join(page.pick("; ", "；"))),
    ]
}

/// The non-zero rows. A hold has connections where a load has starts.
fn unaccounted(workers: &Value, page: &Markup) -> Vec<Vec<Cell>> {
    let is_held = workers.get("unaccounted_responses").is_some();
    let unknown = match is_held {
        true => page.pick("connections of which nobody knows what became", "结果未知的连接"),
        false => page.pick("starts of which nobody knows whether they were made", "未知的请求（是否发起过不清楚）"),
    };
    let mut rows = Vec::new();
    let mut add = |name: &str, figure: String| {
        rows.push(vec![Cell::Words(name.to_owned()), Cell::Figure(figure)]);
    };
    for (key, name) in [
        ("undelivered", page.pick("starts that were due while nobody had them", "未执行的请求（到期时没有进程承担）")),
        ("unaccounted", unknown),
        (
            "unaccounted_responses",
            page.pick("messages of which nobody knows whether they were answered", "是否响应未知的消息"),
        ),
    ] {
        if let Some(number) = workers[key].as_u64().filter(|number| *number > 0) {
            add(name, count(number));
        }
    }
    if let Some(seconds) = workers["stalled_s"].as_f64().filter(|seconds| *seconds > 0.0) {
        add(page.pick("the load stood still for", "负载中断"), time(seconds * 1e9));
    }
    if let Some(seconds) = workers["change_delay_s"].as_f64().filter(|seconds| *seconds > 0.0) {
        add(
            page.pick("a change of the load reached workers late by up to", "负载调整最多迟多久到达工作进程"),
            time(seconds * 1e9),
        );
    }
    if let Some(late_change_delta) =
        workers["late_change_delta"].as_i64().filter(|late_change_delta| *late_change_delta != 0)
    {
        let figure = count(late_change_delta.unsigned_abs());
        let name = match late_change_delta {
            1.. => page.pick("starts more than planned, before the change came", "调整到达前比计划多发起的请求"),
            _ => page.pick("starts fewer than planned, before the change came", "调整到达前比计划少发起的请求"),
        };
        add(name, figure);
    }
    if let Some(seconds) = workers["ingest_delay_s"].as_f64().filter(|seconds| *seconds > 0.0) {
        add(
            page.pick("what workers told was read late by up to", "工作进程的数据最多迟多久才处理"),
            time(seconds * 1e9),
        );
    }
    rows
}
