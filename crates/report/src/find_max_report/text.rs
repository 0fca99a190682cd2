//! A search as text: a row for each trial, and the result.

use serde_json::Value;

use super::words::{class, ended, explained, fault, figure, law, limit, purpose, result, shown_by, took, warnings};
use crate::format::{Align, counted, pad, span, time};
use crate::page::Page;
use crate::screen::{Paint, Screen};

/// Columns of the rows: number, load, purpose, time, done, p50, p99, lost.
const WIDTHS: [usize; 8] = [4, 12, 9, 9, 11, 10, 10, 10];

/// A shorter recovery counts as immediate.
const RECOVERED_AT_ONCE_S: f64 = 0.1;

/// The header of the rows.
pub fn search_head(report: &Value, screen: &Screen) -> String {
    let pick = |en: &'static str, zh: &'static str| screen.language.pick(en, zh);
    let load = match report["vary"].as_str().unwrap_or_default() {
        "users" => pick("users", "用户数"),
        "connections" => pick("connections", "连接数"),
        _ => pick("rate", "速率"),
    };
    let done = if report["vary"] == "connections" { pick("held", "保持") } else { pick("done/s", "完成/s") };
    let heads = ["#", load, pick("trial", "试压"), pick("time", "时长"), done, "p50", "p99", pick("lost", "不达标")];
    format!("{}  {}\n", row(&heads.map(str::to_owned)), pick("result", "结果"))
}

fn row(cells: &[String; 8]) -> String {
    cells.iter().zip(WIDTHS).map(|(cell, width)| pad(cell, width, Align::Right)).collect()
}

/// The row of a trial.
pub fn search_row(trial: &Value, screen: &Screen) -> String {
    let language = screen.language;
    let ns = |name: &str| trial[name].as_f64().map_or("-".to_owned(), |seconds| time(seconds * 1e9));
    let lost = trial["lost"].as_array().into_iter().flatten().filter_map(|lost| lost["share"].as_f64());
    let lost = lost.fold(0.0, f64::max);
    let number = |name: &str| trial[name].as_f64().unwrap_or(0.0);
    let cells = [
        trial["number"].to_string(),
        figure(number("at")),
        purpose(trial, language).to_owned(),
        span(core::time::Duration::from_millis((number("measured_s") * 10.0).round() as u64 * 100)),
        figure(number("done_per_s")),
        ns("p50_s"),
        ns("p99_s"),
        format!("{:.2}%", lost * 100.0),
    ];
    let text = class(trial, language);
    let why = trial["fault"].as_str().map_or(String::new(), |name| {
        let fault = fault(name, language);
        language.pick(format!(" ({fault})"), format!("（{fault}）"))
    });
    let paint = match trial["class"].as_str().unwrap_or_default() {
        "met" => Paint::Good,
        "missed" => Paint::Bad,
        _ => Paint::Plain,
    };
    format!("{}  {}\n", row(&cells), screen.paint(&format!("{text}{why}"), paint))
}

/// The text of the result.
pub fn search_text(report: &Value, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let language = screen.language;
    if report["vary"] != "connections" && report["trials"].as_array().is_some_and(|trials| !trials.is_empty()) {
        page.text.push_str(&explained(report, language));
        page.text.push('\n');
    }
    page.text.push('\n');
    page.painted(language.pick("Maximum", "最大负载"), &result(report, language), Paint::Strong);
    let goals: Vec<String> =
        report["goal"].as_array().into_iter().flatten().filter_map(|goal| Some(goal.as_str()?.to_owned())).collect();
    page.items(language.pick("Goals", "达标条件"), &goals, language.pick("; ", "；"));
    if let Some(text) = shown_by(report, "lower", language) {
        page.line(language.pick("Held", "可承受"), &text);
    }
    if let Some(text) = shown_by(report, "upper", language) {
        page.line(language.pick("Not held", "不可承受"), &text);
    }
    let name = report["limit"].as_str().unwrap_or_default();
    page.line(language.pick("Limit", "瓶颈"), limit(name, language));
    for (number, warning) in warnings(report, language).iter().enumerate() {
        page.warn(if number == 0 { language.pick("Attention", "注意") } else { "" }, warning);
    }
    if let Some(recovered) = report["recovered_s"].as_f64() {
        let text = time(recovered * 1e9);
        let (en, zh) = match recovered < RECOVERED_AT_ONCE_S {
            true => (
                "response times were as before at once after each trial".to_owned(),
                "每次试压后响应时间立即恢复".to_owned(),
            ),
            false => (
                format!("at most {text} after a trial until response times were as before"),
                format!("试压后响应时间最多用 {text} 恢复到原来的水平"),
            ),
        };
        page.say(("Recovery", "恢复"), en, zh);
    }
    if let Some(text) = law(report, language) {
        page.line(language.pick("Scalability", "可扩展性"), &text);
    }
    let trials = report["trials"].as_array().map_or(0, Vec::len);
    let took = took(report);
    page.say(
        ("Search", "搜索"),
        format!("{} in {took}; {}", counted(trials as u64, "trial"), ended(report, language)),
        format!("{took} 内 {trials} 次试压；{}", ended(report, language)),
    );
    page.text
}
