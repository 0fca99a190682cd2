//! Tables of what has no times: checks, and figures of the user's own.

use serde_json::Value;

use super::markup::{Cell, Markup, figure, list, words};
use crate::format::count;

/// A table of the checks of each scenario that has some.
pub(super) fn checks(page: &mut Markup, scenarios: &[Value]) {
    let named = |scenario: &Value, check: &Value| {
        let counts = ["passed", "failed"].map(|key| figure(count(check[key].as_u64().unwrap_or(0))));
        let names = [scenario, check].map(|one| words(one["name"].as_str().unwrap_or_default()));
        let [scenario, name] = names;
        [vec![name, scenario], counts.into()].concat()
    };
    let all = |scenario| list(scenario, "/checks").iter().map(move |check| named(scenario, check));
    let rows: Vec<Vec<Cell>> = scenarios.iter().flat_map(all).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Checks", "检查");
    let heads = [page.pick("name", "名称"), page.pick("scenario", "场景"), page.pick("passed", "通过")];
    let heads = [&heads[..], &[page.pick("failed", "失败")]].concat();
    page.table(page.pick("Checks", "检查"), &heads, &rows);
}

/// A table of the figures of the user's own of each scenario that has some.
pub(super) fn own_figures(page: &mut Markup, scenarios: &[Value]) {
    let text = |value: &Value| words(value.as_str().unwrap_or_default());
    let named = |scenario: &Value, one: &Value| {
        let count = figure(count(one["count"].as_u64().unwrap_or(0)));
        let statistics = words(crate::own_figures::statistics_text(one));
        vec![text(&one["name"]), text(&scenario["name"]), text(&one["kind"]), text(&one["unit"]), count, statistics]
    };
    let all = |scenario| list(scenario, "/figures").iter().map(move |one| named(scenario, one));
    let rows: Vec<Vec<Cell>> = scenarios.iter().flat_map(all).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Figures of the file", "自定义指标");
    let heads = [page.pick("name", "名称"), page.pick("scenario", "场景"), page.pick("kind", "类型")];
    let more = [page.pick("unit", "单位"), page.pick("values", "次数"), page.pick("statistics", "统计值")];
    page.table(page.pick("Figures of the file", "自定义指标"), &[heads, more].concat(), &rows);
}
