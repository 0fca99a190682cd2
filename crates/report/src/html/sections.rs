//! The sections of the page, in order: the plan, the results, the charts, the tables, the environment of the run.

use core::time::Duration;

use metrics::Measure;
use serde_json::Value;

use super::counted;
use super::markup::{Cell, Markup, TO_MILLIS, TO_SECONDS, escaped, figure, list, words};
use crate::format::{bytes, count, percent, rate, span, time};

/// The most failures that are shown with their remedies.
const FAILURES_MAX: usize = 50;

/// Writes tiles, or tables.
pub(super) type PageSection = fn(&Value, &mut Markup);

/// Everything but the scripts.
pub(super) fn write(report: &Value, (tiles, tables): (PageSection, PageSection), page: &mut Markup) {
    page.raw("<header>\n");
    page.element("h1", text(report, "/target/url"));
    let planned = planned(report, page);
    page.raw(&planned);
    page.raw("</header>\n<main>\n");
    verdict(report, page);
    thresholds(report, page);
    tiles(report, page);
    page.heading("Over time", "随时间变化");
    let no_script = page.pick("The charts need a browser with JavaScript.", "图表需要启用 JavaScript 的浏览器。");
    page.raw(&format!("<div id=\"charts\"><p>{no_script}</p></div>\n"));
    tables(report, page);
    failures(report, page);
    statuses(report, page);
    slowest(report, page);
    notes(report, page);
    super::workers::write(report, page);
    card(report, page);
    page.raw("</main>\n");
    let made_by = format!("onrush {}", text(report, "/about/version"));
    page.raw(&format!("<footer><p>{}</p></footer>\n", escaped(&made_by)));
}

fn text<'a>(report: &'a Value, path: &str) -> &'a str {
    report.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn number(report: &Value, path: &str) -> Option<f64> {
    report.pointer(path).and_then(Value::as_f64)
}

pub(super) fn whole(report: &Value, path: &str) -> u64 {
    report.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// A text in the language of the page, where the report has it; otherwise in English.
fn said<'a>(value: &'a Value, key: &str, page: &Markup) -> &'a str {
    let own = value[format!("{key}{}", page.pick("", "_zh"))].as_str();
    own.or_else(|| value[key].as_str()).unwrap_or_default()
}

fn in_time(ns: Option<f64>) -> String {
    ns.map_or("–".to_owned(), time)
}

pub(super) fn in_rate(per_s: Option<f64>) -> String {
    per_s.map_or("–".to_owned(), rate)
}

/// The start of a run.
fn began(report: &Value) -> Cell {
    Cell::Instant(text(report, "/about/began").to_owned(), TO_SECONDS)
}

/// The plan, the start and the duration of the run, as markup.
fn planned(report: &Value, page: &Markup) -> String {
    let wall = span(Duration::from_secs_f64(number(report, "/wall_s").unwrap_or(0.0).clamp(0.0, 1e9)));
    let began = began(report).markup();
    let line = escaped(text(report, page.pick("/about/plan", "/about/plan_zh")));
    match page.pick("en", "zh") {
        "en" => format!("<p>{line}. {began}, for {wall}.</p>\n"),
        _ => format!("<p>{line}。{began}，用时 {wall}。</p>\n"),
    }
}

fn verdict(report: &Value, page: &mut Markup) {
    let verdict = &report["verdict"];
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    // A report of an earlier version has neither.
    let class = or(text(verdict, "/tone"), "unsure");
    let word = or(said(verdict, "title", page), page.pick("No verdict", "无法判断"));
    page.raw(&format!("<section class=\"verdict {class}\">\n"));
    page.element("h2", &word);
    // Of held connections there are several.
    for line in said(verdict, "text", page).split('\n') {
        page.element("p", line);
    }
    page.raw("</section>\n");
}

fn thresholds(report: &Value, page: &mut Markup) {
    let row = |one: &Value| {
        let value = match (one["value"].as_f64(), one["unit"].as_str()) {
            (None, _) if one["reason"].is_string() => said(one, "reason", page).to_owned(),
            (None, _) => page.pick("nothing measured", "没有数据").to_owned(),
            (Some(ns), Some("ns")) => time(ns),
            (Some(share), Some("ratio")) => format!("{:.3}%", share * 100.0),
            (Some(per_s), Some("per_s")) => rate(per_s),
            (Some(number), _) => count(number.max(0.0) as u64),
        };
        let least = if one["at_least"] == true { page.pick("at least ", "至少 ") } else { "" };
        let holds = if one["holds"] == true {
            page.pick("✓ met", "✓ 达标")
        } else {
            page.pick("✗ not met", "✗ 未达标")
        };
        let at = |address: &str| format!("{}{address}{}", page.pick(" at ", "（"), page.pick("", "）"));
        let address = one["address"].as_str().map(at).unwrap_or_default();
        let value = figure(format!("{least}{value}{address}"));
        vec![words(one["threshold"].as_str().unwrap_or_default()), value, words(holds)]
    };
    let rows: Vec<Vec<Cell>> = list(report, "/thresholds").iter().map(row).collect();
    let heads = [page.pick("threshold", "条件"), page.pick("value", "实际值"), page.pick("result", "结果")];
    page.table(page.pick("Thresholds", "阈值"), &heads, &rows);
}

/// The tables of requests and their times.
pub(super) fn tables(report: &Value, page: &mut Markup) {
    requests(report, page);
    times(report, page);
    scenarios(report, page);
    addresses(report, page);
}

pub(super) fn tiles(report: &Value, page: &mut Markup) {
    let requested = number(report, "/requested_per_s").map(|requested| match page.pick("en", "zh") {
        "en" => format!("of {} requested", rate(requested)),
        _ => format!("计划 {}", rate(requested)),
    });
    let done = number(report, "/requests_per_s");
    let at = |name: &str| shown(&report["times"]["succeeded"]["response_time"], name);
    let succeeded = whole(report, "/requests/succeeded");
    let started = whole(report, "/requests/started") + whole(report, "/requests/carried");
    let cut = whole(report, "/requests/aborted");
    let all = [
        (page.pick("Requests/s", "QPS"), in_rate(done), requested.unwrap_or_default()),
        (
            page.pick("Succeeded", "成功率"),
            percent(succeeded, started - cut.min(started)),
            format!("{} / {}", count(succeeded), count(started)),
        ),
        ("p50", at("p50_ns"), page.pick("response time", "响应时间").to_owned()),
        ("p99", at("p99_ns"), page.pick("response time", "响应时间").to_owned()),
        (page.pick("Slowest", "最大"), at("max_ns"), page.pick("response time", "响应时间").to_owned()),
        (
            page.pick("Failed", "失败"),
            count(whole(report, "/requests/failed")),
            percent(whole(report, "/requests/failed"), started),
        ),
    ];
    page.tiles(&all);
}

fn requests(report: &Value, page: &mut Markup) {
    page.heading("Requests", "请求");
    let names = [
        ("started", "started", "已发起"),
        ("carried", "in flight since the warm-up", "预热时发起、当时在途"),
        ("warm_up", "ended in the warm-up (in no figure)", "预热期间结束（不计入结果）"),
        ("succeeded", "succeeded", "成功"),
        ("missed_deadline", "succeeded after their deadline", "其中超过截止时间"),
        ("failed", "failed", "失败"),
        ("retried", "of them, tried again", "其中又重试的"),
        ("dropped", "dropped", "丢弃"),
        ("dropped_by_deadline", "of them, could not be sent before their deadline", "其中未能在截止时间前发出"),
        ("unfinished", "unfinished", "未完成"),
        ("lost", "lost with a worker", "随工作进程丢失"),
        ("redirects", "redirects followed", "跟随的重定向"),
        ("reconnects", "sent again on another connection", "重连重发"),
        ("begun_before", "of them, may have reached the server before", "其中服务端此前可能已收到"),
    ];
    let row = |(key, en, zh): &(&str, &'static str, &'static str)| {
        let number = whole(report, &format!("/requests/{key}"));
        (number > 0 || matches!(*key, "started" | "succeeded" | "failed"))
            .then(|| vec![words(page.pick(en, zh)), figure(count(number))])
    };
    let mut rows: Vec<Vec<Cell>> = names.iter().filter_map(row).collect();
    let iterations =
        ["completed", "failed", "aborted"].map(|key| count(whole(report, &format!("/requests/iterations/{key}"))));
    let cells = page.pick("iterations completed / failed / cut", "迭代：完成 / 失败 / 中断");
    rows.push(vec![words(cells), figure(iterations.join(" / "))]);
    let sizes = [("/bytes/received", "bytes received", "下载字节"), ("/bytes/sent", "bytes sent", "上传字节")];
    rows.extend(
        sizes.iter().map(|(path, en, zh)| vec![words(page.pick(en, zh)), figure(bytes(whole(report, path) as f64))]),
    );
    rows.push(vec![
        words(page.pick("connections established / tried", "连接：建立 / 尝试")),
        figure(format!(
            "{} / {}",
            count(whole(report, "/connections/established")),
            count(whole(report, "/connections/tried"))
        )),
    ]);
    page.table(page.pick("What was counted", "计数"), &[page.pick("what", "项目"), page.pick("count", "数量")], &rows);
}

/// A time of a distribution, with the incomplete ones: `≥` where it is only a lower bound, `!` where stalls of the
/// generator made it longer.
fn shown(times: &Value, key: &str) -> String {
    let incomplete = &times["with_incomplete"];
    let whole = if incomplete[key].is_number() { incomplete } else { times };
    let name = key.trim_end_matches("_ns");
    let has = |list: &str| whole[list].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let (least, mark) = (if has("at_least") { "≥ " } else { "" }, if has("unreliable") { "!" } else { "" });
    format!("{least}{}{mark}", in_time(whole[key].as_f64()))
}

/// The figures of a distribution as cells.
fn cells_of(times: &Value) -> Vec<Cell> {
    let at = |key: &str| figure(shown(times, key));
    let mut cells = vec![figure(count(times["count"].as_u64().unwrap_or(0)))];
    cells.extend(["min_ns", "mean_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns", "max_ns"].map(at));
    cells
}

fn times(report: &Value, page: &mut Markup) {
    page.heading("Times", "时间");
    let named = |measure: Measure| match measure {
        Measure::Response => page.pick("response time", "响应时间"),
        Measure::Service => page.pick("service time", "服务时间"),
        Measure::Wait => page.pick("wait for a connection", "等待"),
        Measure::Lateness => page.pick("lateness of the generator", "调度延迟"),
        Measure::FirstByte => page.pick("first byte", "首字节"),
    };
    let succeeded = &report["times"]["succeeded"];
    let rows: Vec<Vec<Cell>> =
        Measure::ALL.into_iter().filter_map(|measure| row_of(named(measure), &succeeded[measure.name()])).collect();
    let heads = time_heads(page, page.pick("time", "时间"));
    page.table(page.pick("Times of what succeeded", "成功请求的时间"), &heads, &rows);
    let of_marks = page.pick(
        "≥: at least that, what did not end would have taken longer. !: includes stalls of this machine.",
        "≥ 表示下限：未结束的请求实际用时更长。!：包含本机的卡顿。",
    );
    let has_mark = |cell: &Cell| matches!(cell, Cell::Figure(text) if text.contains(['≥', '!']));
    if rows.iter().flatten().any(has_mark) {
        page.element("p", of_marks);
    }
    let others = [
        ("connect", "connect", "建立连接"),
        ("proxy_tunnel", "tunnel of the proxy", "代理隧道"),
        ("tls_handshake", "TLS handshake", "TLS 握手"),
        ("message", "messages", "消息往返"),
        ("message_gap", "between pushed messages", "消息间隔"),
    ];
    facts_of_times(report, &others, page);
}

/// The times of the report by their keys, without empty ones.
pub(super) fn facts_of_times(report: &Value, names: &[(&str, &'static str, &'static str)], page: &mut Markup) {
    let row = |(key, en, zh): &(&str, &'static str, &'static str)| row_of(page.pick(en, zh), &report["times"][key]);
    let rows: Vec<Vec<Cell>> = names.iter().filter_map(row).collect();
    let heads = time_heads(page, page.pick("time", "时间"));
    page.table(page.pick("Times of connections and messages", "连接和消息的时间"), &heads, &rows);
}

fn row_of(name: &str, times: &Value) -> Option<Vec<Cell>> {
    (times["count"].as_u64() > Some(0)).then(|| {
        let mut row = vec![words(name)];
        row.extend(cells_of(times));
        row
    })
}

fn time_heads<'a>(page: &Markup, first: &'a str) -> Vec<&'a str> {
    let counted = page.pick("count", "数量");
    let (mean, most) = (page.pick("mean", "平均"), page.pick("max", "最大"));
    vec![first, counted, page.pick("min", "最小"), mean, "p50", "p90", "p95", "p99", "p99.9", most]
}

fn addresses(report: &Value, page: &mut Markup) {
    let all = list(report, "/addresses");
    if all.is_empty() {
        return;
    }
    page.heading("Addresses", "地址");
    let row = |one: &Value| {
        let counted = |key: &str| figure(count(one[key].as_u64().unwrap_or(0)));
        let mut row = vec![words(said(one, "text", page))];
        row.extend(["connections", "sent", "failed"].map(counted));
        row.extend(cells_of(&one["response_time"]).into_iter().skip(1));
        row
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    let mut heads = time_heads(page, page.pick("address", "地址"));
    let counts = [page.pick("connections", "连接"), page.pick("requests", "请求"), page.pick("failed", "失败")];
    heads.splice(1..2, counts);
    page.table(page.pick("Results by address", "各地址的结果"), &heads, &rows);
}

fn scenarios(report: &Value, page: &mut Markup) {
    let all = list(report, "/scenarios");
    let parts = all
        .iter()
        .map(|scenario| list(scenario, "/steps").len() + list(scenario, "/transactions").len())
        .sum::<usize>();
    if parts < 2 {
        counted::checks(page, all);
        counted::own_figures(page, all);
        return;
    }
    page.heading("Steps and transactions", "步骤和事务");
    for scenario in all {
        let name = scenario["name"].as_str().unwrap_or_default();
        for (key, en, zh) in [("/steps", "steps", "步骤"), ("/transactions", "transactions", "事务")] {
            let row = |part: &Value| {
                let mut row = vec![words(part["name"].as_str().unwrap_or_default())];
                row.push(figure(count(part["finished"].as_u64().unwrap_or(0))));
                row.push(figure(count(part["failed"].as_u64().unwrap_or(0))));
                row.extend(cells_of(&part["response_time"]).into_iter().skip(1));
                row
            };
            let rows: Vec<Vec<Cell>> = list(scenario, key).iter().map(row).collect();
            let mut heads = time_heads(page, page.pick("name", "名称"));
            heads.splice(1..2, [page.pick("ended", "次数"), page.pick("failed", "失败")]);
            page.table(&format!("{name}{}{}", page.pick(": ", "："), page.pick(en, zh)), &heads, &rows);
        }
    }
    counted::checks(page, all);
    counted::own_figures(page, all);
}

fn failures(report: &Value, page: &mut Markup) {
    let all = [list(report, "/failures"), list(report, "/losses")];
    if all.iter().all(|of| of.is_empty()) {
        return;
    }
    page.heading("Failures", "失败");
    let row = |one: &&Value| {
        let detail = one["detail"].as_str().map_or(String::new(), |detail| format!(" ({detail})"));
        vec![
            words(page.reason(&format!("{}{detail}", text(one, "/reason")))),
            figure(count(one["count"].as_u64().unwrap_or(0))),
            words(said(one, "remedy", page)),
        ]
    };
    let rows_of = |of: &[Value]| -> Vec<Vec<Cell>> {
        let mut sorted: Vec<&Value> = of.iter().collect();
        sorted.sort_by_key(|one| core::cmp::Reverse(one["count"].as_u64()));
        sorted.iter().take(FAILURES_MAX).map(row).collect()
    };
    let [failures, losses] = all.map(rows_of);
    let heads = [page.pick("reason", "原因"), page.pick("count", "数量"), page.pick("what to do", "处理建议")];
    page.table(page.pick("Failures by reason", "各原因的次数"), &heads, &failures);
    page.table(page.pick("Lost connections by reason", "断开的连接：各原因的次数"), &heads, &losses);
}

fn statuses(report: &Value, page: &mut Markup) {
    let of = |path: &str| report.pointer(path).and_then(Value::as_object).cloned().unwrap_or_default();
    let all = of("/statuses").into_iter().chain(of("/grpc_statuses"));
    let rows: Vec<Vec<Cell>> =
        all.map(|(status, number)| vec![words(status), figure(count(number.as_u64().unwrap_or(0)))]).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Statuses", "状态码");
    page.table(
        page.pick("Responses by status", "各状态码的响应"),
        &[page.pick("status", "状态码"), page.pick("count", "数量")],
        &rows,
    );
}

fn slowest(report: &Value, page: &mut Markup) {
    let all = list(report, "/slowest");
    if all.is_empty() {
        return;
    }
    page.heading("Slowest requests", "最慢的请求");
    let row = |one: &Value| {
        let at = |key: &str| figure(in_time(one[key].as_f64()));
        let status = one["status"].as_u64().map_or("–".to_owned(), |status| status.to_string());
        vec![
            Cell::Instant(one["time"].as_str().unwrap_or_default().to_owned(), TO_MILLIS),
            words(one["step"].as_str().unwrap_or_default()),
            at("response_ns"),
            at("wait_ns"),
            at("first_byte_ns"),
            figure(status),
            words(one["reason"].as_str().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    let heads = [
        page.pick("instant", "时刻"),
        page.pick("step", "步骤"),
        page.pick("response time", "响应时间"),
        page.pick("wait", "等待"),
        page.pick("first byte", "首字节"),
        page.pick("status", "状态码"),
        page.pick("failure", "失败原因"),
    ];
    page.table(page.pick("Slowest requests", "最慢的请求"), &heads, &rows);
}

fn notes(report: &Value, page: &mut Markup) {
    let all = list(report, "/notes");
    if all.is_empty() {
        return;
    }
    page.heading("Notes", "提示");
    page.raw("<ul>\n");
    for note in all {
        let line = said(note, "text", page).to_owned();
        page.element("li", &line);
    }
    page.raw("</ul>\n");
}

/// The environment of the run, so that it can be repeated.
fn card(report: &Value, page: &mut Markup) {
    page.raw("<section class=\"card\">\n");
    page.heading("This run", "本次压测");
    let share = number(report, "/generator/cpu_share").map_or(String::new(), |share| format!("{:.0}%", share * 100.0));
    let [open, close, comma, colon] =
        [(" (", "（"), (")", "）"), (", ", "，"), (": ", "：")].map(|(en, zh)| page.pick(en, zh));
    let target = format!("{}{open}{}{close}", text(report, "/target/url"), text(report, "/target/address"));
    let facts = [
        (page.pick("target", "压测目标"), words(target)),
        (page.pick("plan", "计划"), words(text(report, page.pick("/about/plan", "/about/plan_zh")))),
        (page.pick("began", "开始"), began(report)),
        (page.pick("version", "版本"), words(format!("onrush {}", text(report, "/about/version")))),
        (page.pick("machine", "压测机"), words(machine(report, page))),
        (
            page.pick("generator", "压测线程"),
            words(format!(
                "{}{colon}{} {}{comma}CPU {share}",
                text(report, "/generator/driver"),
                whole(report, "/generator/threads"),
                page.pick("threads", "个线程")
            )),
        ),
        (page.pick("kernel settings", "内核参数"), words(kernel(report, page))),
    ];
    page.facts(&facts);
    let command = text(report, "/about/command").to_owned();
    if !command.is_empty() {
        page.element("h3", page.pick("Run again", "再次压测"));
        page.raw(&format!("<pre class=\"command\"><code>{}</code></pre>\n", escaped(&command)));
    }
    page.raw("</section>\n");
}

fn machine(report: &Value, page: &Markup) -> String {
    let about = |name: &str| text(report, &format!("/about/host/{name}")).to_owned();
    let memory = number(report, "/about/host/memory_bytes").map_or(String::new(), bytes);
    let cores = whole(report, "/about/host/cores");
    let parts = [about("kernel"), about("cpu"), format!("{cores} {}", page.pick("cores", "核")), memory];
    parts.join(page.pick(", ", "，"))
}

fn kernel(report: &Value, page: &Markup) -> String {
    let settings = report.pointer("/about/host/settings").and_then(Value::as_object);
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    };
    settings.map_or(String::new(), |all| all.iter().map(one).collect::<Vec<_>>().join(page.pick(", ", "，")))
}
