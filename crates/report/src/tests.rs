//! The exact output that users see.

mod counts;
mod more;
mod noise;
mod schemas;
mod screens;
mod sentences;
mod status_words;
mod truths;

use std::sync::Arc;
use std::time::Duration;

use engine::{Basis, Limit, PaceHeld, RunResult, ThreadUsage, Unknown, UsersPart, Verdict};
use figures::{HostFacts, Interval, Run, RunInput};
use metrics::{Counter, Failure, Measure, Outcome, ProtocolFault, SeriesId, Snapshot};
use pacing::Nanos;
use plan::{Flags, Plan};
use unicode_width::UnicodeWidthStr;

use super::*;

fn plan() -> Plan {
    let flags = Flags { url: Some("http://127.0.0.1:8080/x".to_owned()), ..Flags::default() };
    flags.plan().expect("a good plan")
}

fn seen(successes: u64, failures: &[(Failure, u64)]) -> Snapshot {
    let mut seen = Snapshot::default();
    for number in 1..=successes {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Response, number * 1_000_000);
        timings.record(Measure::Service, number * 999_000);
        seen.counts.statuses[200] += 1;
    }
    for &(failure, count) in failures {
        for _ in 0..count {
            seen.outcome(SeriesId::step(0), Outcome::Failed(failure)).record(Measure::Response, 2_000_000_000);
        }
    }
    seen.counts[Counter::Started] = successes + failures.iter().map(|(_, count)| count).sum::<u64>();
    seen.counts[Counter::ConnectionsEstablished] = 5;
    seen.counts[Counter::BytesReceived] = 123_456;
    seen.gauges.users = 50;
    seen
}

fn result(total: Snapshot) -> RunResult {
    RunResult {
        names: Vec::new(),
        started_for: Nanos::from_millis(2_000),
        paused: Nanos::ZERO,
        requested_per_s: None,
        scenarios: Vec::new(),
        per_scenario: Vec::new(),
        total,
        wall: Nanos::from_millis(2_000),
        threads: 2,
        shards: vec![ThreadUsage { cpu_ns: 600_000_000, span_ns: 2_000_000_000, ..ThreadUsage::default() }; 2],
        verdict: Verdict {
            scenario: 0,
            limit: Limit::Below,
            known: Basis::Probe(UsersPart { kept: 0.5, rate: 0.51, time: Some(0.98), is_refused: false }),
            lateness_p99_ns: Some(70_000),
            wait_p99_ns: Some(0),
            lag_p99_ns: 90_000,
            busiest: None,
            stalled: None,
            unanswered_time_share: 0.0,
            service_mean_ns: Some(20_100_000.0),
            link: None,
            machine: None,
            first_round: None,
            growth: None,
            unanswered: 0,
        },
        cpu: host::CpuTime { user_ns: 1_000_000, system_ns: 2_000_000 },
        driver: driver::DriverSelection {
            kind: driver::Kind::Poll,
            was_requested: false,
            refusal: Some("no ring".to_owned()),
        },
        stop_reason: None,
        was_stopped: false,
        spent: None,
        used_up: Vec::new(),
        met: Vec::new(),
        values: Vec::new(),
        began_unix: std::time::Duration::from_millis(1_700_000_000_123),
        refused: None,
        lacked_certificate: false,
        ends: Vec::new(),
        timelines: Vec::new(),
        probes: vec![engine::Probe {
            users: 25,
            of: 50,
            half: (25, 1),
            started: 1_204,
            span: Nanos::from_millis(500),
            before: None,
            seen: None,
            time: Some(0.98),
        }],
        workers_summary: None,
    }
}

fn run(plan: &Plan, result: RunResult) -> Run {
    Run::new(RunInput {
        plan: Arc::new(plan.clone()),
        address: "127.0.0.1:8080".parse().expect("an address"),
        lookup: Some(Duration::from_millis(3)),
        result,
        thresholds: &[],
        notes: Vec::new(),
        changes: Vec::new(),
        host: HostFacts::default(),
    })
}

/// An interval that all shards have reported.
fn interval(from: Nanos, to: Nanos, seen: &Snapshot, total: &Snapshot) -> Interval {
    let part = engine::ScenarioInterval { paused: Nanos::ZERO, seen, added: seen, total };
    let reported = engine::Interval {
        number: 1,
        from,
        to,
        paused: Nanos::ZERO,
        late_shards: 0,
        is_update: false,
        seen,
        added: seen,
        total,
        scenarios: vec![part],
    };
    Interval::new(&reported, &plan())
}

/// The columns of the terminal at which the cells end.
fn borders(line: &str) -> Vec<usize> {
    let marks = line.char_indices().filter(|(_, each)| "│┬┼".contains(*each));
    marks.map(|(at, _)| line[..at].width()).collect()
}

#[test]
fn columns_stay_aligned_in_both_languages() {
    let (small, large) = (seen(3, &[]), seen(900, &[(Failure::Timeout, 123_456)]));
    for language in [Language::En, Language::Zh] {
        let table = IntervalTable::new(Screen::plain(language));
        let mut page = table.head();
        for total in [&small, &large] {
            let (from, to) = (Nanos::ZERO, Nanos::from_millis(1_000));
            page.push_str(&table.row(&interval(from, to, total, total)));
        }
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines.len(), 6, "{page}");
        assert_eq!(borders(lines[0]).len(), 10, "{page}");
        for line in &lines {
            assert_eq!(borders(line), borders(lines[0]), "{page}");
        }
    }
}

#[test]
fn a_row_shows_its_interval() {
    let (seen, total) = (seen(100, &[(Failure::Status, 2)]), seen(1_500, &[(Failure::Status, 2)]));
    let interval = interval(Nanos::from_millis(1_000), Nanos::from_millis(1_500), &seen, &total);
    let cells: Vec<String> = IntervalTable::new(Screen::plain(Language::En))
        .row(&interval)
        .trim_end()
        .split('│')
        .map(|cell| cell.trim().to_owned())
        .collect();
    assert_eq!(
        cells,
        ["1.5s", "50", "1,500", "2", "204", "50.0ms", "99.0ms", "100.0ms", "120.6KiB", "241.1KiB", "200:1,500"]
    );
}

/// Where starts come at a rate, exchanges in flight are shown instead of users.
#[test]
fn a_rate_has_what_is_in_flight() {
    let seen = seen(100, &[]);
    let mut interval = interval(Nanos::ZERO, Nanos::from_millis(1_000), &seen, &seen);
    interval.in_flight = 17;
    let flags = |rate: Option<&str>| Flags {
        url: Some("http://a/".to_owned()),
        rate: rate.map(str::to_owned),
        ..Flags::default()
    };
    for (rate, shown) in [(None, ["users", "50"]), (Some("100"), ["pending", "17"])] {
        let table = IntervalTable::new(Screen::plain(Language::En)).for_plan(&flags(rate).plan().expect("a good plan"));
        let second = |text: &str| text.split('│').nth(1).map(|cell| cell.trim().to_owned());
        let lines = [table.head(), table.row(&interval)];
        assert_eq!(lines.map(|text| second(&text).unwrap_or_default()), shown);
    }
}

#[test]
fn red_is_for_failures_only() {
    let (good, bad) = (seen(1, &[]), seen(1, &[(Failure::Reset, 1)]));
    let row = |total: &Snapshot| {
        IntervalTable::new(Screen { is_colorful: true, ..Screen::plain(Language::En) }).row(&interval(
            Nanos::ZERO,
            Nanos::from_millis(1_000),
            total,
            total,
        ))
    };
    assert!(!row(&good).contains('\u{1b}') && row(&bad).contains("\u{1b}[31m"));
}

#[test]
fn the_summary_says_it_all_in_both_languages() {
    let plan = plan();
    let failures =
        [(Failure::ConnectRefused, 3), (Failure::Protocol(ProtocolFault::ChunkSize), 2), (Failure::Os(5), 1)];
    let result = result(seen(1_000, &failures));
    let run = run(&plan, result);
    let english = summary(&run, Screen::plain(Language::En));
    for part in [
        "http://127.0.0.1:8080/x (127.0.0.1:8080, name lookup 3.00ms)",
        "GET /x, closed model, 50 users, for 10s",
        "1,006 started = 1,000 succeeded + 6 failed",
        "2.000s",
        "503",
        "99.40%",
        "3 connect-refused - nobody listens on 127.0.0.1:8080",
        "2 protocol (chunk-size)",
        "1 os (5) - the system says",
        "200: 1,000",
        "driver poll (io_uring is not available: no ring)",
    ] {
        assert!(english.contains(part), "{part} in {english}");
    }
    let chinese = summary(&run, Screen::plain(Language::Zh));
    for part in [
        "已发起 1,006 = 成功数 1,000 + 失败数 6",
        "99.40%",
        "没有服务在监听",
        "固定并发 50 个用户，持续 10s",
        "响应时间",
    ] {
        assert!(chinese.contains(part), "{part} in {chinese}");
    }
    assert_eq!(english.lines().count(), chinese.lines().count());
    assert!(summary(&run, Screen { is_colorful: true, ..Screen::plain(Language::En) }).contains("\u{1b}[31m"));
}

#[test]
fn every_failure_has_a_remedy_in_both_languages() {
    let plan = plan();
    let result = result(seen(0, &[]));
    let run = run(&plan, result);
    for failure in (0..metrics::FAILURE_COUNT).filter_map(Failure::from_index) {
        let (english, chinese) =
            (failure_remedy(failure, &run, Language::En), failure_remedy(failure, &run, Language::Zh));
        assert!(english.is_ascii() && english.len() > 10, "{failure:?}: {english}");
        assert!(chinese.chars().any(|each| ('一'..='龥').contains(&each)), "{failure:?}: {chinese}");
    }
}

#[test]
fn figures_as_people_read_them() {
    let times = [
        (850.0, "0.85us"),
        (85_000.0, "85.0us"),
        (999_960.0, "1.00ms"),
        (12_345_678.0, "12.3ms"),
        (999_960_000.0, "1.00s"),
        (6.1e10, "61.0s"),
    ];
    for (ns, expect) in times {
        assert_eq!(format::time(ns), expect);
    }
    let sizes = [(0.0, "0B"), (999.0, "999B"), (1_000.0, "0.98KiB"), (123_456.0, "120.6KiB"), (1e10, "9.31GiB")];
    for (bytes, expect) in sizes {
        assert_eq!(format::bytes(bytes), expect);
    }
    let spans = [(500, "500ms"), (5_000, "5s"), (1_500, "1.5s"), (60_000, "1m"), (90_000, "1m30s"), (0, "0s")];
    for (millis, expect) in spans {
        assert_eq!(format::span(Duration::from_millis(millis)), expect);
    }
    let shares = [
        ((0, 0), "-"),
        ((0, 5), "0.00%"),
        ((5, 5), "100.00%"),
        ((99_999, 100_000), "99.99%"),
        ((1, 1_000_000), "0.01%"),
        ((160, 601), "26.62%"),
    ];
    for ((part, whole), expect) in shares {
        assert_eq!(format::percent(part, whole), expect);
    }
    assert_eq!((format::count(0), format::count(1_234_567)), ("0".to_owned(), "1,234,567".to_owned()));
}

proptest::proptest! {
    /// After any merge: in every output each percentile is at most the next, and the maximum is above them all.
    #[test]
    fn percentiles_stay_in_order_over_merges(
        parts in proptest::collection::vec(
            (proptest::collection::vec(1u64..100_000_000_000, 0..40), 0u64..6, 0u64..6, 0u64..6), 1..5
        ),
    ) {
        let mut total = Snapshot::default();
        for (times, timeouts, drops, unfinished) in parts {
            let mut part = Snapshot::default();
            for time in times {
                let timings = part.outcome(SeriesId::step(0), Outcome::Succeeded);
                Measure::ALL.iter().for_each(|&measure| timings.record(measure, time));
            }
            for _ in 0..timeouts {
                let timings = part.outcome(SeriesId::step(0), Outcome::Failed(Failure::Timeout));
                Measure::ALL.iter().for_each(|&measure| timings.record(measure, 3_000_000_000));
            }
            (0..drops).for_each(|number| part.drop_start(number * 1_000_000_000));
            (0..unfinished).for_each(|number| part.leave_unfinished(SeriesId::step(0), number * 700_000_000, Some(number)));
            part.counts[Counter::Started] = part.counts.finished() + part.counts.dropped() + part.counts.unfinished();
            total.merge(&part);
        }
        let plan = plan();
        let result = result(total);
        let run = run(&plan, result);
        let report: serde_json::Value = serde_json::from_str(&Json::default().report(&run)).expect("JSON");
        let mut distributions = Vec::new();
        for class in report["times"].as_object().expect("classes").values().filter(|class| class.is_object()) {
            distributions.extend(class.as_object().expect("measures").values().filter(|each| each["count"].is_u64()));
        }
        proptest::prop_assert!(distributions.len() >= 5);
        for times in distributions {
            let keys = ["min_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns", "max_ns"];
            let known: Vec<u64> = keys.iter().filter_map(|key| times[*key].as_u64()).collect();
            proptest::prop_assert!(known.is_sorted(), "{}", times);
        }
        let text = hdr_text(&run);
        let rows = text.lines().skip(2).take_while(|line| !line.starts_with('#'));
        let values: Vec<f64> = rows.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
        proptest::prop_assert!(values.is_sorted(), "{}", text);
    }
}

/// Users that wait for shared connections need more connections, and not more users.
#[test]
fn shared_connections_that_were_too_few_are_reported() {
    let mut plan = plan();
    plan.scenarios[0].shared_connections = Some(5);
    let mut result = result(seen(1_000, &[]));
    let waits = Basis::Waits { connections: 5, share: 0.8 };
    (result.verdict.limit, result.verdict.known) = (Limit::Connections, waits);
    let run = run(&plan, result);
    let report: serde_json::Value = serde_json::from_str(&Json::default().report(&run)).expect("JSON");
    assert_eq!(report["plan"]["connections"], 5);
    let [english, chinese] = [Language::En, Language::Zh].map(|language| summary(&run, Screen::plain(language)));
    let said = "the shared connections were the limit: requests waited 80% of their time for one of 5 connections;";
    assert!(english.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{english}");
    assert!(chinese.contains("瓶颈在共用的连接：请求有 80% 的时间在等待 5 个连接之一"), "{chinese}");
}

/// Barrier rounds that went on without some of their users are reported, in both languages; all rounds in JSON.
#[test]
fn barriers_that_were_missed_are_reported() {
    let of = |full, by_time, short| {
        let mut result = result(seen(1_000, &[]));
        result.met = vec![engine::BarrierStats { name: "peak".to_owned(), users: 1_000, full, by_time, short }];
        let run = run(&plan(), result);
        let pages = [Language::En, Language::Zh].map(|language| summary(&run, Screen::plain(language)));
        let report: serde_json::Value = serde_json::from_str(&Json::default().report(&run)).expect("JSON");
        (pages, report["barriers"].clone())
    };
    let ([english, chinese], value) = of(7, 0, 0);
    assert!(!english.contains("peak") && !chinese.contains("peak"), "{english} {chinese}");
    assert_eq!(value, serde_json::json!([{"name": "peak", "users": 1_000, "full": 7, "by_time": 0, "short": 0}]));
    let ([english, chinese], _) = of(7, 2, 3);
    for part in ["peak: 'within' ended 2 of 12 rounds with fewer than 1,000 users", "peak: 3 of 12 rounds had fewer"] {
        assert!(english.contains(part), "{english}");
    }
    for part in ["peak：12 批中有 2 批因 within 到时", "peak：12 批中有 3 批"] {
        assert!(chinese.contains(part), "{chinese}");
    }
}

/// Each file once, in both languages, and in JSON.
#[test]
fn files_that_were_used_up_are_reported() {
    let of = |rows: &[(&str, u64, bool)]| {
        let used_up = rows.iter().map(|&(file, rows, is_update)| engine::UsedUp { file: file.into(), rows, is_update });
        let mut result = result(seen(1_000, &[]));
        result.used_up = used_up.collect();
        let run = run(&plan(), result);
        let pages = [Language::En, Language::Zh].map(|language| summary(&run, Screen::plain(language)));
        let report: serde_json::Value = serde_json::from_str(&Json::default().report(&run)).expect("JSON");
        (pages, report["rows"].clone())
    };
    let ([english, chinese], rows) = of(&[]);
    assert!(!english.contains("rows") && !chinese.contains("数据"), "{english} {chinese}");
    assert_eq!(rows, serde_json::json!([]));
    let ([english, chinese], rows) = of(&[("users.csv", 1_200, false), ("codes.csv", 7, true)]);
    for part in ["rows used up: all 1,200 of users.csv", "rows used twice: codes.csv has 7,"] {
        assert!(english.contains(part), "{english}");
    }
    for part in ["数据已用完：users.csv 共 1,200 行", "数据行被重复使用：codes.csv 只有 7 行"] {
        assert!(chinese.contains(part), "{chinese}");
    }
    let expect = serde_json::json!([
        {"file": "users.csv", "rows": 1_200, "then": "stop"},
        {"file": "codes.csv", "rows": 7, "then": "repeat"},
    ]);
    assert_eq!(rows, expect);
    // A plan that ended early has not reached its target load, and none of that is green.
    let mut result = result(seen(1_000, &[]));
    result.used_up = vec![engine::UsedUp { file: "users.csv".into(), rows: 1_200, is_update: false }];
    (result.verdict.limit, result.verdict.known) = (Limit::PlanKept, Basis::Counts);
    let run = run(&plan(), result);
    let said = verdict::verdict(&run, Language::En);
    assert!(said.starts_with("the rows of users.csv were used up before the end of the plan; until then "), "{said}");
    assert_eq!(
        (verdict::tone(&run), verdict::title(&run, Language::Zh)),
        (verdict::Tone::Unsure, "数据行已用完".to_owned())
    );
}
