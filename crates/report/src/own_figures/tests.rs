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
