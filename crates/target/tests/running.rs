//! Runs as values: many in one process, changed while they run. One process, one test at a time: its descriptors,
//! threads and memory belong to it alone.

#![expect(clippy::print_stdout, reason = "the figures are the point, and there is no harness to keep them")]

#[macro_use]
extern crate claims;

use std::sync::Arc;

use claims::wait_for;
use driver::{DriverSelection, Kind};
use engine::{Delivered, Delivery, KeptInterval, RunOptions, RunResult, RunUpdate, Running, StopHandle};
use metrics::Snapshot;
use pacing::change::{Change, ChangeKind, LoadProfile};
use pacing::open::{Rate, Stage};
use pacing::{LevelStage, Nanos};
use plan::Flags;
use target::{ServeOptions, Server};

/// Number of concurrent runs, and of rounds that follow each other.
const SIDE_BY_SIDE: u64 = 20;
const ROUNDS: u64 = 50;
/// Requests of each run.
const REQUESTS: u64 = 40;
/// Rounds after which the allocator has its final number of arenas.
const ROUNDS_BEFORE: u64 = 10;
/// Maximum memory that the allocator and the kernel's statistics retain after any runs.
const MEMORY_GROWTH_MAX: u64 = 8 << 20;

fn kinds() -> [Kind; 2] {
    [Kind::Uring, Kind::Poll]
}

fn start(server: &Server, flags: &Flags, kind: Kind, threads: usize) -> Running {
    let flags = Flags { url: Some(format!("http://{}/", server.address())), ..flags.clone() };
    let plan = flags.plan().expect("a good plan");
    let options = RunOptions {
        address: server.address(),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default()).expect("a run")
}

fn held(hold: u64) -> ChangeKind {
    let rate = Rate::per_hour_thousandths(hold * 3_600_000);
    ChangeKind::Rate(vec![Stage { from: rate, to: rate, span: Nanos::ZERO }])
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).expect("this process").count()
}

/// Waits until `expected` threads are left: the kernel removes one from its list a moment after the joining thread is
/// notified.
fn wait_for_threads(expected: usize) {
    wait_for(&format!("{expected} threads"), || entries("/proc/self/task") == expected);
}

fn main() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 1, Kind::Poll)).expect("a server");
    let threads = entries("/proc/self/task");
    for kind in kinds() {
        a_thousand_runs_leave_nothing_behind(&server, kind, threads);
        for shards in [1, 2, 7] {
            rates_are_changed_while_it_runs(&server, kind, shards);
        }
        users_pauses_and_the_end(&server, kind);
        who_drops_a_run_ends_it(&server, kind, threads);
        who_listens_hears_all_and_holds_up_no_load(&server, kind);
    }
    println!("5 passed, 0 failed");
}

/// With both drivers.
fn a_thousand_runs_leave_nothing_behind(server: &Server, kind: Kind, threads: usize) {
    let requests = Some(REQUESTS.to_string());
    let flags = Flags { connections: Some("4".to_owned()), requests, ..Flags::default() };
    let seen = || {
        wait_for_threads(threads);
        (entries("/proc/self/fd"), host::resident_bytes().expect("a figure"))
    };
    let mut before = None;
    for round in 1..=ROUNDS {
        let running: Vec<Running> = (0..SIDE_BY_SIDE).map(|_| start(server, &flags, kind, 2)).collect();
        for one in running {
            let result = one.finish().expect("a run");
            let counts = &result.total.counts;
            let failures: Vec<_> = counts.failures().collect();
            assert!(failures.is_empty(), "{kind:?}: {failures:?}");
            assert_eq!((counts.started(), counts.succeeded()), (REQUESTS, REQUESTS), "{kind:?}");
        }
        if round == ROUNDS_BEFORE {
            before = Some(seen());
        }
    }
    let (before, after) = (before.expect("some rounds"), seen());
    println!("{kind:?}: {} runs; descriptors, bytes {before:?} -> {after:?}", ROUNDS * SIDE_BY_SIDE);
    // The target closes its ends of connections a moment later.
    let slack = (SIDE_BY_SIDE * 4) as usize;
    assert!(after.0 <= before.0 + slack, "{} descriptors, {} before", after.0, before.0);
    assert!(after.1 <= before.1 + MEMORY_GROWTH_MAX, "{} bytes, {} before", after.1, before.1);
}

/// 1,000/s, then 3,000, none, 500, and the end: the starts match the computed ones, however late the machine is.
fn rates_are_changed_while_it_runs(server: &Server, kind: Kind, threads: usize) {
    let flags = Flags {
        rate: Some("1000".to_owned()),
        duration: Some("1h".to_owned()),
        interval: Some("100ms".to_owned()),
        max_lateness: Some("1h".to_owned()),
        ..Flags::default()
    };
    let mut running = start(server, &flags, kind, threads);
    let control = running.control();
    let mut changes = [held(3_000), held(0), held(500), ChangeKind::End].into_iter().peekable();
    let (mut reported, mut rows) = (Vec::<(Change, bool)>::new(), 0);
    while let Some(news) = running.wait() {
        match news {
            RunUpdate::Interval(interval) => {
                rows += u64::from(!interval.is_update) * interval.seen.counts.started();
                // Each rate holds for at least one row.
                let is_due = reported.last().is_none_or(|(last, _)| interval.from >= last.effective_at);
                if let Some(what) = changes.next_if(|_| is_due && !interval.is_update) {
                    reported.push((control.change(0, what).expect("an open load"), false));
                }
            }
            RunUpdate::Changed(change) => {
                let known = reported.iter_mut().find(|(one, _)| *one == change).expect("one that was asked for");
                known.1 = true;
            }
            RunUpdate::Remote(_) => panic!("all of it is here"),
        }
    }
    let timeline = control.timeline(0);
    let result = running.finish().expect("a run");
    let LoadProfile::Rate(schedule) = timeline.course() else { panic!("an open load") };
    let counts = &result.total.counts;
    println!("{kind:?}, {threads} threads: {} of {} started", counts.started(), schedule.count());
    assert_eq!((counts.started(), reported.len()), (schedule.count(), 4));
    assert!(reported.iter().all(|(_, is_reported)| *is_reported), "each change is told: {reported:?}");
    assert!(rows <= counts.started());
    // Computed by hand: each rate times its span.
    let at: Vec<f64> = reported.iter().map(|(change, _)| change.effective_at.as_secs_f64()).collect();
    let by_hand = 1_000.0 * at[0] + 3_000.0 * (at[1] - at[0]) + 500.0 * (at[3] - at[2]);
    assert!((counts.started() as f64 - by_hand).abs() <= 1.0, "{by_hand} by hand");
}

/// Each step is taken when the one before it was observed. That nothing starts in a pause depends on exact instants:
/// the engine's simulated worlds test it.
fn users_pauses_and_the_end(server: &Server, kind: Kind) {
    let flags = Flags {
        connections: Some("3".to_owned()),
        duration: Some("1h".to_owned()),
        interval: Some("100ms".to_owned()),
        ..Flags::default()
    };
    let mut running = start(server, &flags, kind, 2);
    let control = running.control();
    assert_eq!(control.change(0, held(5)), Err(engine::Refused::NoRate));
    assert_eq!(control.change(0, ChangeKind::Resume), Err(engine::Refused::NotPaused));
    let users = ChangeKind::Users(vec![LevelStage { from: 9, to: 9, span: Nanos::ZERO }]);
    let mut steps = [users, ChangeKind::Pause, ChangeKind::Resume, ChangeKind::End].into_iter();
    let (mut most, mut paused, mut last) = (0, Nanos::ZERO, Nanos::ZERO);
    while let Some(news) = running.wait() {
        let RunUpdate::Interval(interval) = news else { continue };
        most = interval.seen.gauges.users.max(most);
        if !interval.is_update {
            paused += interval.paused;
        }
        let is_paused = interval.paused >= interval.to.since(interval.from);
        let is_seen = match steps.len() {
            3 => interval.seen.gauges.users == 9,
            2 => is_paused,
            _ => !is_paused,
        };
        if interval.from >= last
            && is_seen
            && let Some(what) = steps.next()
        {
            last = control.change(0, what).expect("a closed load").effective_at;
        }
    }
    let RunResult { total, paused: in_all, started_for, was_stopped, wall, .. } = running.finish().expect("a run");
    println!("{kind:?}: at most {most} users, paused for {:?}", in_all.as_duration());
    assert_eq!((most, was_stopped, paused), (9, false, in_all));
    assert!(in_all > Nanos::ZERO && started_for + in_all <= wall, "{started_for:?} and {in_all:?} of {wall:?}");
    assert_eq!((total.counts.failed(), total.counts.connections_established()), (0, 9));
    assert_eq!(control.change(0, ChangeKind::Pause), Err(engine::Refused::Over));
}

fn who_drops_a_run_ends_it(server: &Server, kind: Kind, threads: usize) {
    let flags = Flags { duration: Some("1h".to_owned()), ..Flags::default() };
    let mut running = start(server, &flags, kind, 2);
    assert!(running.wait().is_some(), "the first interval");
    drop(running);
    wait_for_threads(threads);
}

/// One subscriber takes everything, one the newest, one nothing until the end, and one leaves in the middle.
fn who_listens_hears_all_and_holds_up_no_load(server: &Server, kind: Kind) {
    let flags = Flags {
        rate: Some("1000".to_owned()),
        requests: Some("600".to_owned()),
        max_lateness: Some("1h".to_owned()),
        interval: Some("100ms".to_owned()),
        ..Flags::default()
    };
    let mut running = start(server, &flags, kind, 2);
    let file = running.subscribe(Delivery::Lossless, 2);
    let (slow, screen) = (running.subscribe(Delivery::Lossless, 2), running.subscribe(Delivery::Latest, 1));
    let gone = running.subscribe(Delivery::Lossless, 1);
    let reader = std::thread::spawn(move || sums_of(std::iter::from_fn(|| file.wait())));
    let leaver = std::thread::spawn(move || gone.wait().map(|one| (one.skipped, one.joined)));
    let mut rows = 0;
    while let Some(news) = running.wait() {
        rows += u64::from(matches!(news, RunUpdate::Interval(_)));
    }
    let total = running.finish().expect("a run").total;
    let whole = (total.counts.started(), total.counts.succeeded());
    assert_eq!(whole.0, 600, "{kind:?}: nothing that was measured is lost");
    assert_eq!(leaver.join().expect("it goes"), Some((0, 0)), "{kind:?}");
    let quick = reader.join().expect("it reads");
    assert_eq!((quick.seen, quick.total, quick.skipped), (whole, whole, 0), "{kind:?}");
    // It has delayed the others once, and rows that it did not take came as one.
    let late = sums_of(std::iter::from_fn(|| slow.wait()));
    println!("{kind:?}: {rows} intervals; {} came to the slow one, {} joined", late.rows, late.joined);
    assert_eq!((late.seen, late.total, late.skipped), (whole, whole, 0), "{kind:?}");
    assert_eq!((late.rows, late.rows + late.joined), (rows.min(2), rows), "{kind:?}");
    let newest = sums_of(std::iter::from_fn(|| screen.try_next()));
    assert_eq!((newest.total, newest.rows, newest.rows + newest.skipped), (whole, 1, rows), "{kind:?}");
    assert!(newest.seen.0 < whole.0 || rows == 1, "{kind:?}: the newest interval alone");
}

/// What a subscriber has received: rows, number of skipped and joined ones, the deltas, and the last total.
#[derive(Debug, Default)]
struct SessionEvent {
    rows: u64,
    skipped: u64,
    joined: u64,
    seen: (u64, u64),
    total: (u64, u64),
}

fn sums_of(reported: impl Iterator<Item = Delivered<KeptInterval>>) -> SessionEvent {
    reported.fold(SessionEvent::default(), |received, one| {
        let interval = one.row.interval();
        let of = |seen: &Snapshot| (seen.counts.started(), seen.counts.succeeded());
        let (added, total) = (of(interval.added), of(interval.total));
        assert_eq!(interval.scenarios.len(), 1);
        assert_eq!(of(interval.scenarios[0].added), added);
        assert!(
            one.joined == 0 || (!interval.is_update && of(interval.seen) == added),
            "a joined one is new as a whole"
        );
        SessionEvent {
            rows: received.rows + 1,
            skipped: received.skipped + one.skipped,
            joined: received.joined + one.joined,
            seen: (received.seen.0 + added.0, received.seen.1 + added.1),
            total,
        }
    })
}
