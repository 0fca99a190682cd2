//! A sweep as text: a line for each run, then a table of all cells, and a grid where two options are varied.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::Language;
use crate::find_max_report::{figure, limit, took};
use crate::format::{Align, pad, time};
use crate::screen::{Paint, Screen};

/// The width of the columns of figures.
const WIDTH: usize = 11;
const SPREAD_WIDTH: usize = 19;

/// `connections=10, threads=2`.
fn named(values: &Value) -> String {
    let all = values.as_object().into_iter().flatten();
    all.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(", ")
}

fn seconds(value: &Value) -> String {
    value.as_f64().map_or("-".to_owned(), |seconds| time(seconds * 1e9))
}

/// The percentiles of a run or a cell; a `!` marks those that stalls of the generator may have caused.
pub(super) fn percentiles(of: &Value, at: impl Fn(&str) -> Value) -> [String; 2] {
    ["p50", "p99"].map(|name| {
        let is_affected = of["affected"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        format!("{}{}", seconds(&at(&format!("{name}_s"))), if is_affected { "!" } else { "" })
    })
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or("-".to_owned(), |share| format!("{:.2}%", share * 100.0))
}

fn rate_head(report: &Value, language: Language) -> &'static str {
    if report["is_hold"] == true { language.pick("held", "保持") } else { language.pick("requests/s", "QPS") }
}

/// The header of the lines of runs.
pub fn sweep_head(report: &Value, screen: &Screen) -> String {
    let language = screen.language;
    let heads = [rate_head(report, language), "p50", "p99", language.pick("failed", "失败")];
    let figures: String = heads.iter().map(|head| pad(head, WIDTH, Align::Right)).collect();
    format!("{}{figures}  {}\n", pad("#", 8, Align::Left), language.pick("run", "取值"))
}

/// The line of a run.
pub fn sweep_row(report: &Value, run: &Value, screen: &Screen) -> String {
    let number = format!("{}/{}", run["number"], report["runs_planned"]);
    let [p50, p99] = percentiles(run, |name| run[name].clone());
    let cells = [figure(run["rate"].as_f64().unwrap_or(0.0)), p50, p99, percent(&run["failed_share"])];
    let figures: String = cells.iter().map(|cell| pad(cell, WIDTH, Align::Right)).collect();
    let unreliable = if run["is_unreliable"] == true { " !" } else { "" };
    let text = format!("{}{unreliable}", named(&run["values"]));
    let paint = if unreliable.is_empty() { Paint::Plain } else { Paint::Bad };
    format!("{}{figures}  {}\n", pad(&number, 8, Align::Left), screen.paint(&text, paint))
}

/// All cells, and the best one.
pub fn sweep_text(report: &Value, screen: Screen) -> String {
    let language = screen.language;
    let cells = report["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> =
        report["vary"].as_array().into_iter().flatten().filter_map(|vary| vary["name"].as_str()).collect();
    let value = |cell: &Value, name: &str| cell["values"][name].as_str().unwrap_or_default().to_owned();
    let widths: Vec<usize> = names
        .iter()
        .map(|name| cells.iter().map(|cell| value(cell, name).width()).chain([name.width()]).max().unwrap_or(0) + 2)
        .collect();
    let row = |values: Vec<String>, figures: [String; 4], spread: &str, limit: &str| {
        let values: String = values.iter().zip(&widths).map(|(value, width)| pad(value, *width, Align::Left)).collect();
        let [first, others @ ..] = figures;
        let others: String = others.iter().map(|cell| pad(cell, WIDTH, Align::Right)).collect();
        let line = format!(
            "{values}{}{}{others}  {limit}",
            pad(&first, WIDTH, Align::Right),
            pad(spread, SPREAD_WIDTH, Align::Right)
        );
        format!("{}\n", line.trim_end())
    };
    let heads = [rate_head(report, language), "p50", "p99", language.pick("failed", "失败")].map(str::to_owned);
    let mut text = String::from("\n");
    let (spread, who) = (language.pick("least to most", "最小到最大"), language.pick("limit", "瓶颈"));
    text.push_str(&row(names.iter().map(ToString::to_string).collect(), heads, spread, who));
    for cell in cells {
        let median = |name: &str| cell[name]["median"].clone();
        let number = |end: &str| cell["rate"][end].as_f64();
        let spread = number("least").zip(number("most"));
        let spread = spread.map_or("-".to_owned(), |(least, most)| format!("{} - {}", figure(least), figure(most)));
        let rate = median("rate").as_f64().map_or("-".to_owned(), figure);
        let [p50, p99] = percentiles(cell, median);
        let figures = [rate, p50, p99, percent(&median("failed_share"))];
        let best = if cell["is_best"] == true { language.pick("  <- best", "  <- 最佳") } else { "" };
        let unreliable = cell["unreliable_runs"].as_u64().unwrap_or(0);
        let mark = if unreliable > 0 { format!(" !{unreliable}") } else { String::new() };
        let limit = cell["limit"].as_str().map_or("-", |name| limit(name, language));
        let values = names.iter().map(|name| value(cell, name)).collect();
        let line = row(values, figures, &spread, &format!("{limit}{mark}{best}"));
        let paint = match (unreliable > 0, cell["is_best"] == true) {
            (true, _) => Paint::Bad,
            (false, true) => Paint::Good,
            _ => Paint::Plain,
        };
        text.push_str(&format!("{}\n", screen.paint(line.trim_end(), paint)));
    }
    text.push_str(&grid(report, cells, language));
    text.push_str(&ending(report, cells, language));
    text
}

/// Two varied options, as rows and columns.
fn grid(report: &Value, cells: &[Value], language: Language) -> String {
    let vary = report["vary"].as_array().map_or(&[][..], Vec::as_slice);
    let [rows, columns] = vary else { return String::new() };
    let values = |vary: &Value| -> Vec<String> {
        vary["values"].as_array().into_iter().flatten().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
    };
    let (down, across) = (values(rows), values(columns));
    if down.len() < 2 || across.len() < 2 {
        return String::new();
    }
    let (down_name, across_name) =
        (rows["name"].as_str().unwrap_or_default(), columns["name"].as_str().unwrap_or_default());
    let corner = format!("{down_name} \\ {across_name}");
    let first = down.iter().map(|value| value.width()).chain([corner.width()]).max().unwrap_or(0) + 1;
    let width = across.iter().map(|value| value.width() + 2).max().unwrap_or(0).max(WIDTH);
    let mut text = format!(
        "\n{}\n",
        language.pick(
            format!("{}, median:", rate_head(report, language)),
            format!("{}（中位数）：", rate_head(report, language)),
        )
    );
    let line = |head: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| pad(cell, width, Align::Right)).collect();
        format!("{}{cells}\n", pad(head, first, Align::Left))
    };
    text.push_str(&line(&corner, across.clone()));
    for (at, value) in down.iter().enumerate() {
        let own = (0..across.len()).map(|column| {
            let Some(cell) = cells.get(at * across.len() + column) else { return "-".to_owned() };
            // A rate of quick failures is not comparable.
            let failed = if cell["failed_share"]["median"].as_f64() > Some(0.5) { " x" } else { "" };
            cell["rate"]["median"].as_f64().map_or("-".to_owned(), |rate| format!("{}{failed}", figure(rate)))
        });
        text.push_str(&line(value, own.collect()));
    }
    text
}

/// The criterion of the best cell, in words.
pub(super) fn best_by(report: &Value, language: Language) -> &'static str {
    match report["best_by"].as_str().unwrap_or_default() {
        "p50" => "p50",
        "p99" => "p99",
        _ if report["is_hold"] == true => language.pick("connections held", "连接数"),
        _ => language.pick("rate", "速率"),
    }
}

/// Remarks on the figures: what was left out, where more gives the same, and the meaning of the marks.
pub(super) fn remarks(report: &Value, cells: &[Value], language: Language) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(seed) = report["seed"].as_u64() {
        all.push(language.pick(
            format!("All runs drew the same: --seed {seed} draws it again"),
            format!("各次压测抽取的随机值相同：--seed {seed} 可重现"),
        ));
    }
    let out = report["left_out"].as_array().map_or(&[][..], Vec::as_slice);
    if !out.is_empty() {
        let out = out.iter().map(|one| named(&one["values"])).collect::<Vec<_>>().join("; ");
        let by = best_by(report, language);
        all.push(language.pick(
            format!("Left out of it, though they look better by {by}: {out}; onrush was the limit there, or stalled"),
            format!("以下组合按{by}看似更好，但未参与评选：{out}；其瓶颈是 onrush，或 onrush 自身有卡顿"),
        ));
    }
    if report["plateau"].is_object() {
        let (from, plateau) = (named(&report["plateau"]["from"]), &report["plateau"]);
        let name = report["vary"][0]["name"].as_str().unwrap_or_default();
        let [least, most] = ["least", "most"].map(|end| figure(plateau[end].as_f64().unwrap_or(0.0)));
        let range = if least == most { least } else { format!("{least} - {most}") };
        all.push(language.pick(
            format!("From {from} on more {name} give the same rate: {range}/s"),
            format!("从 {from} 起，继续增加 {name} 速率不变：{range}/s"),
        ));
    }
    if cells.iter().any(|cell| cell["unreliable_runs"].as_u64() > Some(0)) {
        all.push(
            language
                .pick(
                    "!N: in N runs onrush or this machine was the bottleneck; these say nothing of the target",
                    "!N：有 N 次的瓶颈是 onrush 或本机，不能说明被测服务",
                )
                .to_owned(),
        );
    }
    if cells.iter().any(|cell| cell["affected"].as_array().is_some_and(|names| !names.is_empty())) {
        all.push(
            language
                .pick(
                    "! behind a time: stalls of onrush itself may have made it",
                    "时间后的 !：可能由 onrush 自身的卡顿造成",
                )
                .to_owned(),
        );
    }
    all
}

fn ending(report: &Value, cells: &[Value], language: Language) -> String {
    let mut text = String::from("\n");
    let by = best_by(report, language);
    if let Some(best) = report["best"].as_object() {
        let best = named(&Value::Object(best.clone()));
        let unsure = match report["is_best_clear"] == true {
            true => "",
            false => language.pick(" (not clearly: others come near it)", "（差别不明显：其他组合与之接近）"),
        };
        text.push_str(
            &language.pick(format!("Best by {by}: {best}{unsure}\n"), format!("按{by}最佳：{best}{unsure}\n")),
        );
    } else {
        text.push_str(language.pick(
            "None is called the best: each was unreliable because of onrush's own limits, or failed, or not all were run\n",
            "没有最佳组合：要么瓶颈在 onrush，要么全部失败，要么没有全部完成\n",
        ));
    }
    for line in remarks(report, cells, language) {
        text.push_str(&format!("{line}\n"));
    }
    let (made, planned) = (report["runs"].as_array().map_or(0, Vec::len), &report["runs_planned"]);
    let took = took(report);
    text.push_str(
        &language
            .pick(format!("{made} of {planned} runs in {took}\n"), format!("{took} 内完成 {made}/{planned} 次压测\n")),
    );
    text
}
