//! Figures of the user's own: as text and as JSON.

use figures::FigurePart;
use metrics::OwnKind;
use serde_json::{Value, json};

use crate::Language;
use crate::format::count;
use crate::named_rows::named_rows;
use crate::screen::Screen;

/// Digits after the point.
const DECIMALS: usize = 3;
/// Smaller values, and larger ones, are shown with an exponent.
const SHOWN_MIN: f64 = 0.001;
const SHOWN_MAX: f64 = 1e15;

/// A value in the unit of its figure.
pub(crate) fn own_value(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(SHOWN_MIN..SHOWN_MAX).contains(&size) {
        return format!("{value:.DECIMALS$e}");
    }
    let text = format!("{size:.DECIMALS$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let (rest, sign) = (rest.trim_end_matches('0'), if value < 0.0 { "-" } else { "" });
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{rest}", count(whole.parse().unwrap_or_default()))
}

/// A share as a percentage.
fn percentage(share: f64) -> String {
    format!("{} %", own_value(share * 100.0))
}

/// A line for each figure: the number of its values, and up to five statistics with their names.
pub(crate) fn rows(title: &str, figures: &[FigurePart], screen: &Screen) -> String {
    let language = screen.language;
    let of_kind = |wanted: &[OwnKind]| {
        let all = figures.iter().filter(|part| wanted.contains(&part.figure.kind));
        all.collect::<Vec<_>>()
    };
    let mut text = String::new();
    let (trends, others) = (of_kind(&[OwnKind::Trend]), of_kind(&[OwnKind::Counter, OwnKind::Share, OwnKind::Gauge]));
    if !trends.is_empty() {
        let heads = [
            language.pick("values", "次数"),
            language.pick("mean", "平均"),
            "p50",
            "p95",
            language.pick("max", "最大"),
        ];
        let row = |part: &&FigurePart| {
            let known = part.statistics();
            let at = |name| known.iter().find(|(one, _)| *one == name).map_or("-".to_owned(), |(_, at)| own_value(*at));
            (named(part), [count(part.count()), at("mean"), at("p50"), at("p95"), at("max")])
        };
        text.push_str(&named_rows(title, &heads, trends.iter().map(row), screen));
    }
    if !others.is_empty() {
        let heads = [language.pick("values", "次数"), language.pick("result", "结果"), "", ""];
        let row = |part: &&FigurePart| (named(part), cells(part, language));
        let rows = named_rows(title, &heads, others.iter().map(row), screen);
        // Below the trends the heading is there already.
        text.push_str(&rows);
    }
    text
}

/// The number of values, and what they come to.
fn cells(part: &FigurePart, language: Language) -> [String; 4] {
    let known = part.statistics();
    let at = |name: &str| known.iter().find(|(one, _)| *one == name).map(|(_, at)| *at);
    let results = match part.figure.kind {
        OwnKind::Share => vec![at("share").map(percentage)],
        OwnKind::Gauge => {
            let words = [
                ("least", language.pick("least", "最小")),
                ("greatest", language.pick("most", "最大")),
                ("last", language.pick("last", "最后")),
            ];
            words.into_iter().map(|(name, word)| at(name).map(|at| format!("{word} {}", own_value(at)))).collect()
        }
        OwnKind::Counter | OwnKind::Trend => vec![Some(own_value(at("sum").unwrap_or(0.0)))],
    };
    let mut results = results.into_iter().map(|result| result.unwrap_or_else(|| "-".to_owned()));
    let mut next = || results.next().unwrap_or_default();
    [count(part.count()), next(), next(), next()]
}

/// The name with the unit.
pub(crate) fn named(part: &FigurePart) -> String {
    let (name, unit) = (&part.figure.name, &part.figure.unit);
    if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") }
}

/// Figures as JSON; statistics by their names.
pub(crate) fn values(all: &[FigurePart]) -> Value {
    let one = |part: &FigurePart| {
        let statistics = part.statistics().into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
        json!({
            "name": part.figure.name,
            "kind": part.figure.kind.name(),
            "unit": part.figure.unit,
            "count": part.count(),
            "statistics": statistics.collect::<serde_json::Map<_, _>>(),
        })
    };
    all.iter().map(one).collect()
}

/// The statistics of one figure in JSON as one text: `mean 3.5, p50 3`.
pub(crate) fn statistics_text(figure: &Value) -> String {
    let none = serde_json::Map::new();
    let known = figure["statistics"].as_object().unwrap_or(&none);
    let order = ["sum", "share", "least", "greatest", "last", "min", "mean", "p50", "p90", "p95", "p99", "max"];
    let known = order.into_iter().filter_map(|name| Some((name, known.get(name)?.as_f64()?)));
    let text = |(name, value)| match name {
        "share" => format!("{name} {}", percentage(value)),
        name => format!("{name} {}", own_value(value)),
    };
    known.map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
