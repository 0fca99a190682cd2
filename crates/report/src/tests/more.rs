use std::path::Path;

use super::*;
use crate::messages::{FailureContext, section};

/// The ids of a page, as links name them.
fn ids(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).expect("the page is there");
    let tags = text.lines().filter_map(|line| line.strip_prefix("<a id=\"")?.strip_suffix("\"></a>"));
    tags.map(str::to_owned).collect()
}

/// Sections of what is no failure of a request.
const OF_RUNS: [&str; 4] = ["time-wait", "unreliable", "plan-not-kept", "radius-secret"];

#[test]
fn failures_lead_to_sections_that_are_there() {
    let (plan, result) = (plan(), result(seen(0, &[])));
    let run = run(&plan, result);
    let mut sections: Vec<&str> = Vec::new();
    for status in [301, 404, 429, 500, 502, 503, 504] {
        for failure in (0..metrics::FAILURE_COUNT).filter_map(Failure::from_index) {
            let context = FailureContext {
                failed_statuses: vec![(status, 3), (400, 1)],
                ..FailureContext::for_failure(&run, failure)
            };
            sections.extend(section(failure, &context));
            let failures = [figures::FailureCount { failure, count: 3, places: Vec::new() }];
            let of_datagrams = FailureContext { is_datagram: true, ..context };
            sections.extend(section(failure, &of_datagrams));
            let over_tcp = FailureContext { went_over_tcp: 3, failures: &failures, ..of_datagrams };
            sections.extend(section(failure, &over_tcp));
        }
    }
    for page in ["why.md", "why.zh.md"] {
        let ids = ids(page);
        for section in &sections {
            assert!(ids.iter().any(|id| id == section), "{page} has no #{section}");
        }
        for id in ids.iter().filter(|id| !OF_RUNS.contains(&id.as_str())) {
            assert!(sections.contains(&id.as_str()), "no failure leads to {page}#{id}");
        }
    }
}

#[test]
fn the_summary_names_the_sections_of_its_failures_once() {
    let plan = plan();
    let run = run(&plan, result(seen(9, &[(Failure::Reset, 3), (Failure::ClosedEarly, 2), (Failure::Timeout, 1)])));
    let (english, chinese) = (summary(&run, Screen::plain(Language::En)), summary(&run, Screen::plain(Language::Zh)));
    let expected = "more: docs/why.md#connection-reset-by-peer, #timeouts\n";
    assert_eq!(english.matches(expected).count(), 1, "{english}");
    assert!(chinese.contains("详见 docs/why.zh.md#connection-reset-by-peer、#timeouts\n"), "{chinese}");
    let good = summary(&self::run(&plan, result(seen(9, &[]))), Screen::plain(Language::En));
    assert!(!good.contains("docs/why"), "{good}");
}

/// The heat map of times has them all, from the shortest to the longest.
#[test]
fn a_heat_map_has_all_times() {
    let (seen, mut charts) = (seen(900, &[]), figures::Charts::new(&plan()));
    charts.interval(&interval(Nanos::ZERO, Nanos::from_millis(1_000), &seen, &seen));
    let heat = &charts_value(&charts, &run(&plan(), result(seen)))["heat"];
    let edges: Vec<f64> = heat["edges_s"].as_array().expect("a list").iter().filter_map(|edge| edge.as_f64()).collect();
    assert!(edges[0] <= 0.001 && edges[edges.len() - 1] >= 0.9, "{edges:?}");
    let counts: Vec<u64> =
        heat["counts"][0].as_array().expect("a list").iter().filter_map(|one| one.as_u64()).collect();
    assert_eq!((counts.len() + 1, counts.iter().sum::<u64>()), (edges.len(), 900));
}

/// Nothing succeeded, whether there was a connection or not.
#[test]
fn the_title_of_a_run_in_which_nothing_succeeded() {
    for connections in [0, 5] {
        let mut seen = seen(0, &[(Failure::Timeout, 7)]);
        seen.counts[Counter::ConnectionsEstablished] = connections;
        let run = run(&plan(), result(seen));
        let title = [Language::En, Language::Zh].map(|language| verdict::title(&run, language));
        assert_eq!(title, ["Nothing succeeded", "没有一个请求成功"], "{connections}");
    }
}
