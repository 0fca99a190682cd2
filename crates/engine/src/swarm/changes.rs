//! Loads that are changed while they run: the starts match the computed schedule, on any number of shards.

use metrics::Snapshot;
use pacing::change::ChangeKind;
use pacing::open::{Rate, Stage};
use pacing::{LevelStage, Nanos};
use plan::Flags;

use super::checks;
use super::history::{self, History, Setup};
use crate::idle::QUIET;

fn millis(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// From then on until the planned end.
fn rate(per_second: u64) -> ChangeKind {
    let rate = Rate::per_hour_thousandths(per_second * 3_600_000);
    ChangeKind::Rate(vec![Stage { from: rate, to: rate, span: Nanos::ZERO }])
}

fn users(count: u64) -> ChangeKind {
    ChangeKind::Users(vec![LevelStage { from: count, to: count, span: Nanos::ZERO }])
}

fn flags() -> Flags {
    let text = |text: &str| Some(text.to_owned());
    Flags {
        url: text("http://10.0.0.1/"),
        interval: text("100ms"),
        user_agent: "changes".to_owned(),
        ..Flags::default()
    }
}

fn run(flags: &Flags, threads: usize, changes: Vec<(Nanos, ChangeKind)>) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let changes = changes.into_iter().map(|(at, what)| (at, 0, what)).collect();
    let setting = Setup { plan: flags.plan().expect("a good plan"), threads, changes, ..Setup::calm(5) };
    let history = history::run(setting, false).unwrap_or_else(|found| panic!("{found}"));
    checks::all(&history).unwrap_or_else(|found| panic!("{found}"));
    history
}

/// Starts from one instant to another, by the rows of the table.
fn started(history: &History, from: u64, to: u64) -> u64 {
    let rows = history.reported.rows.iter().filter(|row| row.from >= millis(from) && row.to <= millis(to));
    rows.map(|row| row.started).sum()
}

#[test]
fn rates_that_are_changed_start_what_the_schedule_says() {
    let open = Flags { rate: Some("1000".to_owned()), duration: Some("8s".to_owned()), ..flags() };
    for threads in [1, 2, 7] {
        // Requested 100 ms before they take effect.
        let changes = vec![(millis(1_900), rate(3_000)), (millis(3_900), rate(0)), (millis(5_900), rate(500))];
        let history = run(&open, threads, changes);
        let counts = &history.total.counts;
        assert_eq!((history.shards, history.timeline.revision()), (threads, 3));
        let planned = history.starts_planned().expect("a number");
        assert_eq!((counts.started(), counts.succeeded(), counts.dropped()), (planned, planned, 0), "{threads} shards");
        assert_eq!(history.requests_served, planned);
        // The changes take effect from the first event after the requested instants: some milliseconds more or less.
        assert!(planned.abs_diff(2_000 + 6_000 + 1_000) < 300, "{planned}");
        let spans = [started(&history, 0, 1_900), started(&history, 2_300, 3_900), started(&history, 4_300, 5_900)];
        assert_eq!(spans, [1_900, 4_800, 0], "{threads} shards");
        assert_eq!(started(&history, 6_300, 7_900), 800, "{threads} shards");
    }
}

#[test]
fn a_pause_stands_still_and_nothing_is_lost() {
    let open = Flags { rate: Some("400".to_owned()), duration: Some("4s".to_owned()), ..flags() };
    let closed = Flags {
        connections: Some("6".to_owned()),
        duration: Some("4s".to_owned()),
        url: Some("http://10.0.0.1/delay/20".to_owned()),
        ..flags()
    };
    for (flags, planned) in [(&open, Some(1_600)), (&closed, None)] {
        for threads in [1, 3] {
            let history =
                run(flags, threads, vec![(millis(900), ChangeKind::Pause), (millis(2_900), ChangeKind::Resume)]);
            let counts = &history.total.counts;
            assert!(planned.is_none_or(|planned| counts.started() == planned), "{}", counts.started());
            assert_eq!(counts.started(), counts.succeeded());
            assert_eq!(started(&history, 1_300, 2_800), 0, "nothing starts in a pause");
            assert!(started(&history, 3_300, 5_900) > 500, "it goes on");
            let end = history.timeline.end().expect("an end").0 / 1_000_000;
            assert!((5_990..6_100).contains(&end), "the end moves back: {end} ms");
            // Its connections stay.
            let kept = if planned.is_some() { counts.connections_established() } else { 6 };
            assert_eq!((counts.connections_established(), history.most_sockets as u64), (kept, kept));
        }
    }
    // A load paused in the warm-up stays paused from its end on.
    let warm = Flags { warmup: Some("2s".to_owned()), duration: Some("1s".to_owned()), ..open };
    for threads in [1, 3] {
        let history = run(&warm, threads, vec![(millis(900), ChangeKind::Pause), (millis(4_900), ChangeKind::Resume)]);
        let counts = &history.total.counts;
        assert_eq!((counts.started(), counts.succeeded()), (400, 400), "{threads} shards");
        assert_eq!(history.requests_served, 800 + 400, "it warms up all the same");
        assert_eq!((started(&history, 0, 2_800), started(&history, 3_300, 10_000) > 0), (0, true), "{threads} shards");
    }
}

#[test]
fn users_that_are_changed_come_and_go() {
    let closed = Flags {
        connections: Some("4".to_owned()),
        duration: Some("6s".to_owned()),
        url: Some("http://10.0.0.1/delay/10".to_owned()),
        ..flags()
    };
    for threads in [1, 2, 3] {
        for url in ["http://10.0.0.1/delay/10", "h2c"] {
            let http2 = url == "h2c";
            let streams = http2.then(|| "2".to_owned());
            let flags = Flags { http2, streams, ..closed.clone() };
            let history = run(&flags, threads, vec![(millis(900), users(30)), (millis(2_900), users(2))]);
            let each = if http2 { 2 } else { 1 };
            let at = |instant: u64| {
                let row = history.reported.rows.iter().find(|row| row.to >= millis(instant)).expect("a row");
                row.users
            };
            assert_eq!([at(800), at(2_000), at(4_000)], [4 * each, 30 * each, 2 * each], "{threads} shards");
        }
    }
}

#[test]
fn an_end_that_is_requested_for_is_the_end() {
    let open = Flags { rate: Some("1000".to_owned()), duration: Some("100s".to_owned()), ..flags() };
    let history = run(&open, 2, vec![(millis(1_400), ChangeKind::End)]);
    let counts = &history.total.counts;
    assert_eq!(Some(counts.started()), history.starts_planned());
    assert!((1_500..1_600).contains(&counts.started()) && !history.was_stopped, "{}", counts.started());
    let whole: &Snapshot = &history.total;
    assert_eq!(whole.counts.succeeded(), counts.started());
}
