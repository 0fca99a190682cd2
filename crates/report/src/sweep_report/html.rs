//! A sweep as a page that needs no network and no script, and as a part of the live page.

use serde_json::Value;

use crate::Language;
use crate::find_max_report::{figure, limit};
use crate::format::time;
use crate::html::{Cell, Markup, escaped, plain_page};

/// The width of a cell of a heat map.
const CELL_WIDTH: usize = 110;
const CELL_HEIGHT: usize = 34;
const LEFT: usize = 150;
const TOP: usize = 46;
/// The number of shades of the style, from low to high.
const SHADES: usize = 5;

/// The page of a sweep.
pub fn sweep_html(report: &Value, language: Language) -> String {
    let titles = [("Sweep", "参数扫描"), ("About this sweep", "关于本次扫描")];
    plain_page(report, titles, language, |page| write(report, page, language))
}

/// The content of the page, for a page with a head of its own.
pub(crate) fn sweep_part(report: &Value, language: Language) -> String {
    let mut page = Markup::new(language);
    write(report, &mut page, language);
    page.finish()
}

fn write(report: &Value, page: &mut Markup, language: Language) {
    let all = |name: &str| report[name].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(best) = report["best"].as_object() {
        let best: Vec<String> =
            best.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
        let by = super::text::best_by(report, language);
        page.raw("<section class=\"verdict good\">\n");
        page.element("h2", &best.join(", "));
        page.element("p", &language.pick(format!("The best by {by}."), format!("按{by}最佳。")));
        page.raw("</section>\n");
    }
    let is_hold = report["is_hold"] == true;
    let rate = if is_hold {
        page.pick("Connections held", "长连接数")
    } else {
        page.pick("Requests per second", "每秒请求数（QPS）")
    };
    page.heading("Heat map", "热力图");
    page.raw(&maps(report, "rate", rate, language));
    page.raw(&maps(report, "p99_s", page.pick("p99 of response times", "响应时间 p99"), language));
    let names: Vec<&str> = all("vary").iter().filter_map(|vary| vary["name"].as_str()).collect();
    cells(report, &names, page, language);
    runs(all("runs"), page, language);
}

fn shown(name: &str, value: f64) -> String {
    if name == "rate" { figure(value) } else { time(value * 1e9) }
}

fn cells(report: &Value, names: &[&str], page: &mut Markup, language: Language) {
    let cells = report["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let pick = |en: &'static str, zh: &'static str| language.pick(en, zh);
    let figures = [
        pick("rate", "速率"),
        pick("least to most", "最小到最大"),
        "p50",
        "p99",
        pick("failed", "失败"),
        pick("limit", "瓶颈"),
    ];
    let heads: Vec<&str> = names.iter().copied().chain(figures).collect();
    let rows: Vec<Vec<Cell>> = cells
        .iter()
        .map(|cell| {
            let of = |name: &str, end: &str| cell[name][end].as_f64();
            let median = |name: &str| of(name, "median").map_or("-".to_owned(), |value| shown(name, value));
            let both = of("rate", "least").zip(of("rate", "most"));
            let both = both.map_or("-".to_owned(), |(least, most)| format!("{} - {}", figure(least), figure(most)));
            let failed = of("failed_share", "median").map_or("-".to_owned(), |share| format!("{:.2} %", share * 100.0));
            let unreliable = cell["unreliable_runs"].as_u64().unwrap_or(0);
            let mark = if unreliable > 0 { format!(" !{unreliable}") } else { String::new() };
            let [p50, p99] = super::text::percentiles(cell, |name| cell[name]["median"].clone());
            let best = if cell["is_best"] == true { pick(" (best)", "（最佳）") } else { "" };
            let limit = cell["limit"].as_str().map_or("-", |name| limit(name, language));
            let values =
                names.iter().map(|name| Cell::Words(cell["values"][*name].as_str().unwrap_or_default().to_owned()));
            let figures = [median("rate"), both, p50, p99, failed].map(Cell::Figure);
            values.chain(figures).chain([Cell::Words(format!("{limit}{mark}{best}"))]).collect()
        })
        .collect();
    page.heading("Combinations", "各种组合");
    page.table(pick("Medians over all runs of each", "各组合全部压测的中位数"), &heads, &rows);
    super::text::remarks(report, cells, language).iter().for_each(|line| page.element("p", line));
}

fn runs(runs: &[Value], page: &mut Markup, language: Language) {
    let pick = |en: &'static str, zh: &'static str| language.pick(en, zh);
    let heads = [
        "#",
        pick("values", "取值"),
        pick("rate", "速率"),
        "p50",
        "p99",
        pick("failed", "失败"),
        pick("limit", "瓶颈"),
        pick("run", "记录"),
    ];
    let rows: Vec<Vec<Cell>> = runs
        .iter()
        .map(|run| {
            let values = run["values"].as_object().into_iter().flatten();
            let values: Vec<String> =
                values.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
            let at = |name: &str| run[name].as_f64().map_or("-".to_owned(), |value| shown(name, value));
            let unreliable = if run["is_unreliable"] == true { " !" } else { "" };
            let [p50, p99] = super::text::percentiles(run, |name| run[name].clone());
            let limit = limit(run["limit"].as_str().unwrap_or_default(), language);
            vec![
                Cell::Figure(run["number"].to_string()),
                Cell::Words(values.join(", ")),
                Cell::Figure(at("rate")),
                Cell::Figure(p50),
                Cell::Figure(p99),
                Cell::Figure(format!("{:.2} %", run["failed_share"].as_f64().unwrap_or(0.0) * 100.0)),
                Cell::Words(format!("{limit}{unreliable}")),
                Cell::Words(run["run"].as_str().unwrap_or("-").to_owned()),
            ]
        })
        .collect();
    page.heading("Runs", "各次压测");
    page.table(pick("Runs in their order, which is random", "按先后顺序（顺序随机）"), &heads, &rows);
}

/// A heat map of the first two varied options, for each combination of the others.
fn maps(report: &Value, name: &str, title: &str, language: Language) -> String {
    let vary = report["vary"].as_array().map_or(&[][..], Vec::as_slice);
    let all = report["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let values = |at: usize| -> Vec<String> {
        let values = vary.get(at).and_then(|vary| vary["values"].as_array());
        values.map_or(vec![String::new()], |all| {
            all.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
        })
    };
    let named = |at: usize| vary.get(at).and_then(|vary| vary["name"].as_str()).unwrap_or_default();
    let (down, across) = (values(0), values(1));
    let others = all.len() / (down.len() * across.len()).max(1);
    let median = |cell: &Value| cell[name]["median"].as_f64();
    let known = || all.iter().filter_map(median);
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    if !least.is_finite() {
        return String::new();
    }
    let mut text = String::new();
    for other in 0..others {
        // The last option varies fastest, so all others of one pair are adjacent.
        let cell = |row: usize, column: usize| &all[(row * across.len() + column) * others + other];
        let rest: Vec<String> = (2..vary.len())
            .map(|at| format!("{}={}", named(at), cell(0, 0)["values"][named(at)].as_str().unwrap_or_default()))
            .collect();
        let caption = if rest.is_empty() { title.to_owned() } else { format!("{title} ({})", rest.join(", ")) };
        let caption = escaped(&caption);
        let (width, height) = (LEFT + across.len() * CELL_WIDTH + 4, TOP + down.len() * CELL_HEIGHT + 4);
        text.push_str(&format!(
            "<figure><svg class=\"drawing heat\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"{caption}\"><title>{caption}</title>\n<text x=\"4\" y=\"16\">{} ↓ {} →</text>",
            escaped(named(0)), escaped(named(1))
        ));
        for (column, value) in across.iter().enumerate() {
            let x = LEFT + column * CELL_WIDTH + CELL_WIDTH / 2;
            text.push_str(&format!(
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                TOP - 10,
                escaped(value)
            ));
        }
        for (row, value) in down.iter().enumerate() {
            let y = TOP + row * CELL_HEIGHT;
            text.push_str(&format!("<text x=\"4\" y=\"{}\">{}</text>", y + 22, escaped(value)));
            for column in 0..across.len() {
                let cell = cell(row, column);
                text.push_str(&square((LEFT + column * CELL_WIDTH, y), cell, median(cell), (name, least, most)));
            }
        }
        text.push_str(&format!("</svg><figcaption>{caption}</figcaption></figure>\n"));
    }
    let legend = language.pick(
        "Darker is more; a dashed frame: the generator was the limit.",
        "颜色越深数值越大；虚线框表示瓶颈在压测机。",
    );
    text.push_str(&format!("<p>{legend}</p>\n"));
    text
}

fn square((x, y): (usize, usize), cell: &Value, value: Option<f64>, (name, least, most): (&str, f64, f64)) -> String {
    let Some(value) = value else { return String::new() };
    let share = if most > least { (value - least) / (most - least) } else { 0.0 };
    let shade = ((share * SHADES as f64) as usize).min(SHADES - 1);
    let unreliable = if cell["unreliable_runs"].as_u64() > Some(0) { " unreliable" } else { "" };
    let best = if cell["is_best"] == true { "★ " } else { "" };
    format!(
        "<rect class=\"heat-{shade}{unreliable}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><text class=\"on-{shade}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{best}{}</text>",
        x + 1,
        y + 1,
        CELL_WIDTH - 2,
        CELL_HEIGHT - 2,
        x + CELL_WIDTH / 2,
        y + 22,
        shown(name, value)
    )
}
