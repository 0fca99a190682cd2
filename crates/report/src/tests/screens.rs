//! Whole screens, stored as files: `screens/LANGUAGE-COLUMNS.txt`. `ONRUSH_SCREENS=write cargo test -p report screens`
//! writes them.

use driver::{DriverSelection, Kind};
use figures::{Held, HeldInput, HeldInterval};
use host::{Change, Limit, LimitKind, Settings, Situation};
use metrics::{SeriesId, Threshold};

use super::*;
use crate::Checkup;
use crate::held::tests as held;

const WIDTHS: [usize; 4] = [80, 100, 120, 200];

fn screen(language: Language, columns: usize) -> Screen {
    Screen { room: Some(Room { columns, rows: 24 }), ..Screen::plain(language) }
}

fn second(number: u64) -> Nanos {
    Nanos::from_millis(1_000 * number)
}

/// A load without problems: fixed times, no delays of the generator.
fn good_seen(successes: u64) -> Snapshot {
    let mut seen = seen(0, &[]);
    for number in 1..=successes {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Response, number * 100_000);
        for measure in [Measure::Service, Measure::FirstByte] {
            timings.record(measure, number * 99_000);
        }
        timings.record(Measure::Wait, 2_000 + number);
        timings.record(Measure::Lateness, 500);
    }
    (seen.counts[Counter::Started], seen.counts.statuses[200]) = (successes, successes);
    (0..50).for_each(|number| seen.connect.record(60_000 + number * 1_000));
    seen
}

/// A load with many problems: thirty statuses, timeouts, dropped starts, late responses.
fn bad_seen() -> Snapshot {
    let failed = [(Failure::Status, 870), (Failure::Timeout, 40), (Failure::ConnectRefused, 7)];
    let mut seen = seen(0, &failed);
    for number in 1..=11_700 {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        for (measure, each) in [(Measure::Response, 100_000), (Measure::Service, 60_000), (Measure::FirstByte, 50_000)]
        {
            timings.record(measure, number * each);
        }
        timings.record(Measure::Wait, 5_000_000 + number * 30_000);
        timings.record(Measure::Lateness, number * 10_000);
    }
    (400..430).for_each(|status| seen.counts.statuses[status] = 29);
    seen.counts.statuses[200] = 11_700;
    (0..12).for_each(|number| seen.drop_start(900_000_000 + number));
    seen.counts[Counter::Started] = 11_700 + 870 + 40 + 7 + 12;
    seen
}

fn table(screen: Screen, totals: &[Snapshot]) -> String {
    let mut table = IntervalTable::new(screen);
    let rows = totals.iter().zip(1..).map(|(total, number)| {
        let mut interval = interval(second(number - 1), second(number), total, total);
        interval.late_shards = usize::from(number == 3);
        table.next(&interval)
    });
    rows.collect()
}

fn good_load(screen: Screen) -> String {
    let rows: Vec<Snapshot> = (1..=3).map(|number| good_seen(number * 400)).collect();
    let plan = plan();
    let mut result = result(good_seen(1_200));
    result.total.counts[Counter::BytesQueued] = 99_000;
    format!("{}{}", table(screen, &rows), summary(&run(&plan, result), screen))
}

fn bad_load(screen: Screen) -> String {
    let flags = Flags {
        url: Some("http://shop.example:8080/api/v2/orders".to_owned()),
        rate: Some("6500".to_owned()),
        duration: Some("2s".to_owned()),
        ..Flags::default()
    };
    let plan = flags.plan().expect("a good plan");
    let mut result = result(bad_seen());
    result.requested_per_s = Some(6_500.0);
    (result.verdict.limit, result.verdict.known) = (engine::Limit::Generator, engine::Basis::Counts);
    result.probes.clear();
    result.verdict.busiest = Some((
        1,
        ThreadUsage {
            cpu_ns: 1_000_000_000,
            run_delay_ns: 920_000_000,
            span_ns: 2_000_000_000,
            ..ThreadUsage::default()
        },
    ));
    let thresholds = ["p99(response_time) < 200ms", "failed / done < 20%", "rate(started) >= 6100"];
    let thresholds: Vec<Threshold> =
        thresholds.iter().map(|text| Threshold::parse(text).expect("a good threshold")).collect();
    let run = Run::new(RunInput {
        plan: Arc::new(plan),
        address: "192.0.2.7:8080".parse().expect("an address"),
        lookup: Some(Duration::from_millis(3)),
        result,
        thresholds: &thresholds,
        notes: Vec::new(),
        changes: Vec::new(),
        host: HostFacts { resident_bytes: Some(20 << 20), ..HostFacts::default() },
    });
    let screen = Screen { is_full: true, ..screen };
    format!("{}{}", table(screen, &[good_seen(400), good_seen(900), bad_seen()]), summary(&run, screen))
}

fn held_connections(screen: Screen) -> String {
    let (plan, mut result) = (held::plan(), held::good());
    let mut seen = metrics::Held::default();
    seen.now.open = 100;
    (1..=100).for_each(|number| seen.response.record(number * 10_000));
    (1..=100).for_each(|number| result.total.connect.record(number * 20_000));
    result.total.response.merge(&seen.response);
    (result.most_open, result.total.counts[metrics::HeldCounter::Unanswered]) = (98, 2);
    let memory =
        engine::MemoryUse { resident: 30 << 20, resident_before: 20 << 20, kernel: Some(1 << 20), available: None };
    let (plan, address) = (Arc::new(plan), "127.0.0.1:8080".parse().expect("an address"));
    let mut table = IntervalTable::of_hold(screen);
    let rows = (1..=2).map(|number| {
        let (from, to) = (second(number - 1), second(number));
        let reported = engine::HoldInterval {
            number,
            from,
            to,
            late_shards: 0,
            is_update: false,
            seen: &seen,
            added: &seen,
            total: &result.total,
            memory,
        };
        table.next(&HeldInterval::of(&reported))
    });
    let rows: String = rows.collect();
    let begins = hold_begins(&plan, address, &screen);
    let held = Held::of(HeldInput { plan, address, lookup: None, result: result.clone(), host: HostFacts::default() });
    format!("{begins}\n{rows}{}", hold_summary(&held, screen))
}

fn doctor(screen: Screen) -> String {
    let settings = Settings {
        nofile_soft: Some(1_024),
        nofile_hard: Some(4_096),
        nr_open: Some(1_048_576),
        file_max: Some(u64::MAX),
        ports: Some((32_768, 60_999)),
        somaxconn: Some(4_096),
        tcp_mem: Some([383_427, 511_239, 766_854]),
        tcp_rmem: Some([4_096, 131_072, 6_291_456]),
        tcp_wmem: Some([4_096, 16_384, 4_194_304]),
        memory_total: Some(16 << 30),
        memory_available: Some(12 << 30),
        ..Settings::default()
    };
    let limits = [
        Limit { kind: LimitKind::Descriptors, connections: 4_080 },
        Limit { kind: LimitKind::Ports, connections: 28_232 },
        Limit { kind: LimitKind::Memory, connections: 9_000_000 },
    ];
    let change =
        Change { key: "net.ipv4.ip_local_port_range", value: "1024 65535".to_owned(), was: "32768 60999".to_owned() };
    let situation = Situation { is_server: false, takes_descriptors: true, has_both_ends: false, pairs: 1 };
    let driver = DriverSelection { kind: Kind::Poll, was_requested: true, refusal: None };
    let checkup = Checkup {
        settings: &settings,
        situation,
        wanted: Some(50_000),
        limits: &limits,
        changes: &[change],
        driver: &driver,
    };
    checkup.text(&screen)
}

fn lines_of_progress(screen: Screen) -> String {
    let flags = |requests: Option<&str>, duration: Option<&str>| Flags {
        url: Some("http://127.0.0.1:8080/x".to_owned()),
        requests: requests.map(str::to_owned),
        duration: duration.map(str::to_owned),
        warmup: Some("3s".to_owned()),
        ..Flags::default()
    };
    let columns = screen.room.map_or(usize::MAX, |room| room.columns);
    let mut page = String::new();
    for (flags, done) in [(flags(None, Some("1m30s")), 0), (flags(Some("20000"), None), 4_321)] {
        let plan = flags.plan().expect("a good plan");
        page.push_str(&format!("{}\n", begins(&plan, "127.0.0.1:8080".parse().expect("an address"), &screen)));
        for millis in [400, 15_250, 92_900, 95_000, 99_000] {
            let line = Aim::for_load(&plan).progress(Duration::from_millis(millis), done, columns, screen.language);
            page.push_str(&format!("{line}\n"));
        }
    }
    page
}

type FailureContext = (&'static str, fn(Screen) -> String);

const SCENES: [FailureContext; 5] = [
    ("a load that went well, 24 lines", good_load),
    ("a load that went wrong, --full", bad_load),
    ("connections that are held", held_connections),
    ("doctor", doctor),
    ("before and while", lines_of_progress),
];

fn page(screen: Screen) -> String {
    SCENES.map(|(title, scene)| format!("== {title}\n{}", scene(screen))).join("\n")
}

/// Every screen, with its name.
fn screens() -> impl Iterator<Item = (String, Screen)> {
    let languages = [("en", Language::En), ("zh", Language::Zh)];
    languages.into_iter().flat_map(|(name, language)| {
        WIDTHS.into_iter().map(move |columns| (format!("{name}-{columns}"), screen(language, columns)))
    })
}

#[test]
fn screens_are_as_they_are_kept() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("screens");
    for (name, screen) in screens() {
        let (path, page) = (folder.join(format!("{name}.txt")), page(screen));
        if std::env::var_os("ONRUSH_SCREENS").is_some_and(|value| value == "write") {
            std::fs::write(&path, &page).expect("the folder is there");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (number, (line, kept)) in page.lines().zip(kept.lines()).enumerate() {
            assert_eq!(line, kept, "{name}, line {}; write it anew with ONRUSH_SCREENS=write", number + 1);
        }
        assert_eq!(page.len(), kept.len(), "{name}: one is longer");
    }
}

/// Lines that are copied unchanged may be longer.
fn may_be_long(line: &str) -> bool {
    line.starts_with("    ") || line.contains("sysctl -w")
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, screen) in screens() {
        let columns = screen.room.expect("a terminal").columns;
        for line in page(screen).lines().filter(|line| !may_be_long(line)) {
            assert!(line.width() <= columns, "{name}: {} columns in {line}", line.width());
        }
    }
}

#[test]
fn the_response_of_a_clean_load_stays_on_a_small_screen() {
    for language in [Language::En, Language::Zh] {
        let page = summary(&run(&plan(), result(good_seen(1_200))), screen(language, 80));
        let verdict = page.lines().position(|line| line.starts_with(language.pick("Verdict", "结论")));
        // The prompt takes the last line.
        let above = page.lines().count() - verdict.expect("a verdict");
        assert!(above < 24, "{above} lines from the verdict to the end:\n{page}");
    }
}

#[test]
fn colors_repeat_what_words_say() {
    for (name, screen) in screens() {
        let colorful = page(Screen { is_colorful: true, ..screen });
        assert!(["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[1m"].iter().all(|color| colorful.contains(color)), "{name}");
        let mut bare = colorful;
        for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, page(screen), "{name}");
    }
}

#[test]
fn a_head_comes_again_after_a_screen() {
    let total = good_seen(10);
    let heads = |screen: Screen| {
        let totals: Vec<Snapshot> = std::iter::repeat_n(total.clone(), 60).collect();
        table(screen, &totals).matches('┼').count() / table(screen, &totals[..1]).matches('┼').count()
    };
    assert_eq!(heads(screen(Language::En, 80)), 4, "above the rows 1, 20, 39 and 58 of 24 lines");
    assert_eq!(heads(Screen::plain(Language::En)), 1, "a file has one");
}

#[test]
fn codes_that_find_no_room_are_counted() {
    let codes = |columns: Option<usize>, seen: &Snapshot| {
        let room = columns.map(|columns| Room { columns, rows: 24 });
        let table = IntervalTable::new(Screen { room, ..Screen::plain(Language::En) });
        let row = table.row(&interval(Nanos::ZERO, second(1), seen, seen));
        row.trim_end().rsplit('│').next().unwrap_or_default().to_owned()
    };
    let mut few = seen(3, &[]);
    (few.counts.statuses[404], few.counts.statuses[500]) = (2, 1);
    assert_eq!(codes(Some(80), &few), "200:3 404:2 500:1");
    (few.counts.statuses[200], few.counts.statuses[404]) = (1_234_567, 76_543);
    assert_eq!(codes(Some(80), &few), "200:1,234,567 +2");
    few.counts.statuses[200] = 12_345_678_901;
    assert_eq!(codes(Some(80), &few), "200:12.3G +2");
    let mut thirty = seen(1_234_567, &[]);
    (400..429).for_each(|status| thirty.counts.statuses[status] = 7);
    thirty.counts.statuses[404] = 12_345;
    assert_eq!(codes(Some(80), &thirty), "200:1,234,567 +29");
    assert_eq!(codes(Some(100), &thirty), "200:1,234,567 +29");
    assert_eq!(codes(Some(120), &thirty), "200:1,234,567 404:12,345 +28");
    assert!(codes(Some(200), &thirty).starts_with("200:1.23M 400:7 401:7 402:7 403:7 404:12.3k 405:7"));
    assert!(codes(None, &thirty).ends_with("427:7 428:7"), "a file gets all");
    let mut dropped = seen(5, &[]);
    dropped.counts[Counter::Dropped] = 12;
    assert_eq!(codes(Some(80), &dropped), "200:5 drop:12");
}

#[test]
fn statuses_that_failed_are_counted_one_by_one() {
    let said = |seen: Snapshot, flags: Flags| {
        let run = run(&flags.plan().expect("a good plan"), result(seen));
        [Language::En, Language::Zh].map(|language| {
            let page = summary(&run, Screen::plain(language));
            let line = page.lines().find(|line| line.starts_with(language.words().failures)).map(str::to_owned);
            line.and_then(|line| {
                line.split(language.pick(" - ", "："))
                    .next()
                    .map(|said| said.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
            })
        })
    };
    let url = || Flags { url: Some("http://127.0.0.1:8080/x".to_owned()), ..Flags::default() };
    let with = |statuses: &[(usize, u64)], failed: u64| {
        let mut seen = seen(10, &[(Failure::Status, failed)]);
        statuses.iter().for_each(|&(status, count)| seen.counts.statuses[status] = count);
        seen
    };
    let both = |en: &str, zh: &str| [Some(en.to_owned()), Some(zh.to_owned())];
    assert_eq!(said(with(&[(500, 404)], 404), url()), both("404 x HTTP 500", "404 个 HTTP 500"));
    assert_eq!(
        said(with(&[(500, 3), (404, 5)], 8), url()),
        both("5 x HTTP 404, 3 x HTTP 500", "5 个 HTTP 404，3 个 HTTP 500")
    );
    let many = [(400, 9), (401, 8), (402, 7), (403, 6), (404, 5), (405, 4)];
    assert_eq!(
        said(with(&many, 39), url()),
        both(
            "9 x HTTP 400, 8 x HTTP 401, 7 x HTTP 402, 6 x HTTP 403, 9 x others",
            "9 个 HTTP 400，8 个 HTTP 401，7 个 HTTP 402，6 个 HTTP 403，其他 9 个"
        )
    );
    // An expected 404 is no failure, an unexpected 200 is one.
    let wants_404 = Flags { expect_status: Some("404".to_owned()), ..url() };
    assert_eq!(said(with(&[(404, 5)], 10), wants_404), both("10 x HTTP 200", "10 个 HTTP 200"));
    // Where the sum does not match, nothing is guessed.
    assert_eq!(said(with(&[(500, 3)], 8), url()), both("8 status", "8 次状态码不符（status）"));
    assert_eq!(said(with(&[], 0), url()), [None, None]);
}
