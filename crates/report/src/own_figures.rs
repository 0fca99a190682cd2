//! Figures of the user's own: as text and as JSON.

use figures::FigurePart;
use metrics::OwnKind;
use serde_json::{Value, json};

use crate::Language;
use crate::format::count;
use crate::screen::Screen;
use crate::steps::named_rows;

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
mod tests {
    use metrics::{OwnFigure, OwnInput, OwnTotal, Snapshot};

    use super::*;

    fn part(name: &str, kind: OwnKind, unit: &str, values: &[OwnInput]) -> FigurePart {
        let figure = OwnFigure { name: name.to_owned(), kind, unit: unit.to_owned(), step: 0.01 };
        let mut seen = Snapshot::default();
        for (at, value) in (0..).zip(values) {
            seen.record_own(0, figure.value(*value, at).expect("a value"));
        }
        let total: Option<OwnTotal> = seen.own(0).cloned();
        FigurePart { figure, total }
    }

    fn parts() -> [FigurePart; 5] {
        let numbers = |all: &[f64]| all.iter().map(|number| OwnInput::Number(*number)).collect::<Vec<_>>();
        let passed = [true, true, true, false].map(OwnInput::Switch);
        [
            part("basket", OwnKind::Trend, "EUR", &numbers(&[1.25, 19.99, 1_234.5])),
            part("orders", OwnKind::Counter, "", &numbers(&[2.5, 1_000.0])),
            part("in_stock", OwnKind::Share, "", &passed),
            part("queue", OwnKind::Gauge, "jobs", &numbers(&[5.0, -3.0, 4.0])),
            part("never", OwnKind::Gauge, "", &[]),
        ]
    }

    #[test]
    fn each_figure_has_a_line_in_both_languages() {
        let text = |language: Language| {
            let text = rows(language.pick("Figures", "自定义指标"), &parts(), &Screen::plain(language));
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        let of_trend = "basket (EUR) 3 418.58 19.99 1,234.5 1,234.5";
        assert_eq!(
            text(Language::En),
            [
                "",
                "Figures values mean p50 p95 max",
                of_trend,
                "",
                "Figures values result",
                "orders 2 1,002.5",
                "in_stock 4 75 %",
                "queue (jobs) 3 least -3 most 5 last 4",
                "never 0 - - -",
            ]
        );
        let chinese = text(Language::Zh);
        assert_eq!((&*chinese[1], &*chinese[2]), ("自定义指标 次数 平均 p50 p95 最大", of_trend));
        assert_eq!(chinese[7], "queue (jobs) 3 最小 -3 最大 5 最后 4");
        assert_eq!(rows("Figures", &[], &Screen::plain(Language::En)), "");
    }

    #[test]
    fn json_has_the_statistics_by_their_names() {
        let values = values(&parts());
        assert_eq!(
            values[2],
            json!({"name": "in_stock", "kind": "share", "unit": "", "count": 4, "statistics": {"share": 0.75}})
        );
        assert_eq!(values[3]["statistics"], json!({"least": -3.0, "greatest": 5.0, "last": 4.0}));
        assert_eq!((&values[4]["count"], &values[4]["statistics"]), (&json!(0), &json!({})));
        assert_eq!(statistics_text(&values[1]), "sum 1,002.5");
        assert_eq!(statistics_text(&values[2]), "share 75 %");
    }

    #[test]
    fn values_are_short_and_have_no_empty_digits() {
        for (value, text) in [
            (0.0, "0"),
            (19.99, "19.99"),
            (50.333_333_333, "50.333"),
            (1_234_567.5, "1,234,567.5"),
            (-2.5, "-2.5"),
            (0.000_012, "1.200e-5"),
            (3e18, "3.000e18"),
        ] {
            assert_eq!(own_value(value), text, "{value}");
        }
    }
}
