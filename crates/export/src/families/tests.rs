use crate::addresses::AddressTotals;
use crate::samples::totals;

use super::*;

/// The words of a text that begin with our prefix and are names of series.
fn names(text: &str) -> Vec<String> {
    let is_name = |each: char| each.is_ascii_alphanumeric() || each == '_';
    let mut names: Vec<String> = text
        .match_indices("onrush_")
        .map(|(at, _)| text[at..].chars().take_while(|each| is_name(*each)).collect())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Writes the pages instead of comparing them.
const WRITE: &str = "ONRUSH_WRITE_REFERENCE";

/// The lines of a page about counts and gauges are those of their rows; `cargo xtask reference` writes them.
#[test]
fn the_pages_have_the_rows() {
    let totals = Totals::default();
    let counts = totals.counts().map(|(_, metric, _)| (format!("{}_total", metric.name), metric));
    let gauges = totals.gauges().map(|(gauge, _)| (gauge.metric.name.to_owned(), gauge.metric));
    let (counts, gauges): (Vec<_>, Vec<_>) = (counts.collect(), gauges.collect());
    for (page, is_chinese) in [("exports.md", false), ("exports.zh.md", true)] {
        let line = |(name, metric): &(String, Metric)| match is_chinese {
            true => format!("| `{name}` | | {} |\n", metric.help_zh),
            false => {
                let (first, rest) = metric.help.trim_end_matches('.').split_at(1);
                format!("| `{name}` | | {}{rest} |\n", first.to_lowercase())
            }
        };
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
        let text = std::fs::read_to_string(&path).expect("a page");
        let mut made = text.clone();
        // Counts stand behind the failures, gauges behind the CPU time, which is no count.
        let cpu = "| `onrush_cpu_";
        for (rows, begin, end) in [(&counts, "| `onrush_failures_total`", cpu), (&gauges, cpu, "\n")] {
            let from = made.find(begin).expect("a row");
            let from = from + made[from..].find('\n').expect("a line") + 1;
            let until = made[from - 1..].find(&format!("\n{end}")).expect("an end") + from;
            made.replace_range(from..until, &rows.iter().map(line).collect::<String>());
        }
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, &made).expect("a page can be written");
        } else {
            assert!(text == made, "cargo xtask reference writes {page}");
        }
    }
}

/// The series that the dashboard queries exist, and so do those that the docs page names.
#[test]
fn the_dashboard_and_the_page_know_our_names() {
    let mut totals = totals(&["one"], 1, 1);
    totals.transactions = totals.steps.clone();
    totals.checks = totals.steps.clone();
    let trend =
        metrics::OwnFigure { name: "basket".to_owned(), kind: metrics::OwnKind::Trend, unit: String::new(), step: 1.0 };
    let mut seen = metrics::Snapshot::default();
    seen.record_own(0, trend.value(metrics::OwnInput::Number(7.0), 0).expect("a value"));
    let part = figures::FigurePart { figure: trend, total: seen.own(0).cloned() };
    crate::own_figures::OwnTotals::add(&mut totals.own, "one", &part);
    totals.addresses.push(AddressTotals::default());
    let families = families(&totals);
    let known: Vec<String> = families
        .iter()
        .flat_map(|family| match family.kind {
            Kind::Counter => vec![format!("{}_total", family.name)],
            Kind::Gauge => vec![family.name.to_owned()],
            Kind::Histogram => [family.name.to_owned(), format!("{}_bucket", family.name)].to_vec(),
        })
        .collect();
    let dashboard = names(include_str!("../../../../examples/grafana.json"));
    assert!(dashboard.len() > 8, "{dashboard:?}");
    dashboard.iter().for_each(|name| assert!(known.contains(name), "{name}"));
    for page in [include_str!("../../../../docs/exports.md"), include_str!("../../../../docs/exports.zh.md")] {
        let (_, section) = page.split_once("## Prometheus").expect("a section");
        let section = section.split("\n## ").next().expect("a section");
        let said = names(section);
        families.iter().for_each(|family| {
            assert!(said.iter().any(|name| name.trim_end_matches("_total") == family.name), "{}", family.name);
        });
        said.iter().for_each(|name| assert!(known.contains(name), "{name}"));
    }
}
