//! A search as a page that needs no network and no script, and as a part of the live page.

use serde_json::Value;

use super::chart::drawing;
use super::words::{class, ended, explained, fault, figure, law, limit, purpose, result, shown_by, took, warnings};
use crate::Language;
use crate::format::{count, time};
use crate::html::{Cell, Markup, plain_page};

/// The page of a search.
pub fn search_html(report: &Value, language: Language) -> String {
    let titles = [("How much does it take", "最大负载"), ("About this search", "关于本次搜索")];
    plain_page(report, titles, language, |page| write(report, page, language))
}

/// The content of the page, for a page with a head of its own.
pub(crate) fn search_part(report: &Value, language: Language) -> String {
    let mut page = Markup::new(language);
    write(report, &mut page, language);
    page.finish()
}

fn write(report: &Value, page: &mut Markup, language: Language) {
    let all = warnings(report, language);
    let is_sure = report["lower"].is_number() && report["upper"].is_number() && all.is_empty();
    page.raw(&format!("<section class=\"verdict {}\">\n", if is_sure { "good" } else { "unsure" }));
    page.element("h2", &result(report, language));
    for name in ["lower", "upper"] {
        if let Some(text) = shown_by(report, name, language) {
            page.element("p", &text);
        }
    }
    let who = limit(report["limit"].as_str().unwrap_or_default(), language);
    page.element("p", &language.pick(format!("The limit: {who}."), format!("瓶颈：{who}。")));
    if !all.is_empty() {
        page.raw("<ul>\n");
        all.iter().for_each(|text| page.element("li", text));
        page.raw("</ul>\n");
    }
    page.raw("</section>\n");
    page.heading("Goals", "达标条件");
    page.raw("<ul>\n");
    let goals = report["goal"].as_array().into_iter().flatten().filter_map(Value::as_str);
    goals.for_each(|goal| page.element("li", goal));
    page.raw("</ul>\n");
    page.heading("Response time against load", "响应时间与负载");
    page.raw(&drawing(report, language));
    if let Some(text) = law(report, language) {
        page.element("p", &text);
    }
    trials(report, page, language);
    let took = took(report);
    page.element(
        "p",
        &language
            .pick(format!("{took}; {}.", ended(report, language)), format!("{took}；{}。", ended(report, language))),
    );
}

fn trials(report: &Value, page: &mut Markup, language: Language) {
    page.heading("Trials", "各次试压");
    let pick = |en: &'static str, zh: &'static str| language.pick(en, zh);
    let heads = [
        "#",
        pick("load", "负载"),
        pick("trial", "试压"),
        pick("measured", "时长"),
        pick("done/s", "完成/s"),
        "p50",
        "p99",
        pick("lost", "不达标请求"),
        pick("result", "结果"),
        pick("limit", "瓶颈"),
        pick("run", "记录"),
    ];
    let rows = report["trials"].as_array().map_or(&[][..], Vec::as_slice).iter().map(|trial| {
        let number = |name: &str| trial[name].as_f64().unwrap_or(0.0);
        let at = |name: &str| trial[name].as_f64().map_or("-".to_owned(), |seconds| time(seconds * 1e9));
        let lost = trial["lost"].as_array().into_iter().flatten();
        let lost: Vec<String> = lost
            .map(|lost| {
                let whole = |name: &str| count(lost[name].as_u64().unwrap_or(0));
                format!("{} / {} ({:.2} %)", whole("lost"), whole("of"), lost["share"].as_f64().unwrap_or(0.0) * 100.0)
            })
            .collect();
        vec![
            Cell::Figure(trial["number"].to_string()),
            Cell::Figure(figure(number("at"))),
            Cell::Words(purpose(trial, language).to_owned()),
            Cell::Figure(format!("{:.1}s", number("measured_s"))),
            Cell::Figure(figure(number("done_per_s"))),
            Cell::Figure(at("p50_s")),
            Cell::Figure(at("p99_s")),
            Cell::Figure(lost.join("; ")),
            Cell::Words(class(trial, language).to_owned()),
            Cell::Words(why(trial, language).to_owned()),
            Cell::Words(trial["run"].as_str().unwrap_or("-").to_owned()),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    page.table(pick("Trials in their order", "按先后顺序"), &heads, &rows);
    if report["vary"] != "connections" {
        page.element("p", &explained(report, language));
    }
}

/// The reason why a trial does not count, or else its bottleneck.
fn why(trial: &Value, language: Language) -> &'static str {
    let limit = || limit(trial["limit"].as_str().unwrap_or_default(), language);
    trial["fault"].as_str().map_or_else(limit, |name| fault(name, language))
}
