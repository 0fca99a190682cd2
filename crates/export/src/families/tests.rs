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

/// The series that the dashboard queries exist, and so do those that the docs page names.
#[test]
fn the_dashboard_and_the_page_know_our_names() {
    let mut totals = totals(&["one"], 1, 1);
    totals.transactions = totals.steps.clone();
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
