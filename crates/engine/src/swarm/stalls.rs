//! Stalls of the generator, targets that freeze for good or drop requests that they took, and runs that are stopped in
//! the middle: what theory says of rows, times, counts and verdict. Each injected bug is found by the check that it is
//! meant for.

use metrics::{Censored, Class, Distribution, Failure, Measure};
use pacing::Nanos;
use plan::Flags;

use super::checks;
use super::history::{self, ALL_SHARDS, FIRST_SHARD, History, Setup, TARGET};
use super::mutants::{self, Bug};
use crate::idle::QUIET;
use crate::slices::Slices;
use crate::usage::ThreadUsage;
use crate::verdict::{Evidence, Limit, Verdict};

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLI;
/// Longer than any run.
const FOR_GOOD: Nanos = Nanos(300 * SECOND);

fn flags(url: &str, duration: &str) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{url}")),
        duration: Some(duration.to_owned()),
        user_agent: "oracle".to_owned(),
        ..Flags::default()
    }
}

fn setting(flags: &Flags, freezes: Vec<(usize, Nanos, Nanos)>) -> Setup {
    Setup { plan: flags.plan().expect("a good plan"), freezes, ..Setup::calm(11) }
}

fn run(setting: Setup) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn verdict(history: &History) -> Verdict {
    let scenario = history.scenario();
    Verdict::new(Evidence {
        scenario,
        total: &history.total,
        wall: history.wall,
        shards: &history.uses,
        requested_per_s: crate::run::requested_per_s(scenario, &history.timeline, history.started_for, &history.total),
        link: None,
        growth: None,
        slices: &Slices::default(),
        first: &Distribution::default(),
        users_s: None,
        machine: None,
    })
}

/// Checks that `check` fails with a bug that strikes the `nth` time that its place is passed.
fn finds(bug: Bug, nth: u32, check: impl Fn() -> bool) {
    assert!(check(), "without the bug the check holds");
    mutants::inject(Some(bug), nth);
    let holds = check();
    mutants::inject(None, 0);
    assert!(!holds, "{bug:?} is not found");
}

/// 250 starts a second for ten seconds, and a target that is frozen from the sixth on: 1,000 had waited from 5 to 9
/// seconds when the grace was over.
fn frozen_target() -> History {
    let load = Flags { rate: Some("250".to_owned()), grace: Some("5s".to_owned()), ..flags("/", "10s") };
    run(setting(&load, vec![(TARGET, Nanos(6 * SECOND), FOR_GOOD)]))
}

fn bounds_contain_the_freeze(history: &History) -> bool {
    let (total, counts) = (&history.total, &history.total.counts);
    let succeeded = total.class(Class::Succeeded);
    let times = succeeded.by_measure(Measure::Response);
    let censored = Censored::new(total, Measure::Response);
    let at = |quantile| censored.percentile(times, quantile).expect("there are times");
    let waited = |quantile: f64| (5.0 + 4.0 * (quantile - 0.6) / 0.4) * SECOND as f64;
    let is_near = |quantile: f64| (at(quantile).ns as f64 / waited(quantile) - 1.0).abs() < 0.02;
    (counts.started(), counts.succeeded(), counts.unfinished()) == (2_500, 1_500, 1_000)
        && counts.success_ratio() == Some(0.6)
        && !at(0.5).at_least
        && at(0.5).ns < 20 * MILLI
        && [0.7, 0.9, 0.99].into_iter().all(|quantile| at(quantile).at_least && is_near(quantile))
}

#[test]
fn what_a_frozen_target_keeps_bounds_the_percentiles() {
    let history = frozen_target();
    assert!(bounds_contain_the_freeze(&history), "{:?}", history.total.counts);
    assert_eq!(verdict(&history).limit, Limit::Target);
    // What was in flight was visible while it was: up to 250 more each second.
    let ages: Vec<u64> = history.reported.rows.iter().map(|row| row.in_flight).collect();
    assert!(ages[4] < 5 && (225..=275).contains(&ages[6]) && (725..=775).contains(&ages[8]), "{ages:?}");
    finds(Bug::UnfinishedHasNoTime, 1, || checks::all(&frozen_target()).is_ok());
}

/// Twenty users on two shards, 10 ms each, and one shard that stalls for six seconds of ten.
fn late_shard() -> History {
    let load =
        Flags { connections: Some("20".to_owned()), interval: Some("1s".to_owned()), ..flags("/delay/10", "10s") };
    let freeze = vec![(FIRST_SHARD, Nanos(SECOND + SECOND / 2), Nanos(7 * SECOND + SECOND / 2))];
    run(Setup { threads: 2, ..setting(&load, freeze) })
}

/// Each user makes some 99 requests a second; ten of them do nothing while their shard is stalled.
fn rows_are_right(history: &History) -> bool {
    let rows = &history.reported.rows;
    let expected = |row: usize| match row {
        1 => 1_470..=1_505,
        2..=6 => 985..=1_000,
        7 => 1_470..=1_505,
        _ => 1_970..=2_020,
    };
    let is_right = |(number, row): (usize, &history::Row)| {
        let is_late = (1..=4).contains(&number);
        row.users == 20 && expected(number).contains(&row.finished) && row.late_shards == usize::from(is_late)
    };
    rows.len() >= 9 && rows[..9].iter().enumerate().all(is_right) && rows[1].is_corrected
}

#[test]
fn a_late_thread_is_waited_for_and_its_rows_are_mended() {
    let history = late_shard();
    let shown: Vec<_> = history
        .reported
        .rows
        .iter()
        .map(|row| (row.to.0 / MILLI, row.users, row.finished, row.late_shards, row.is_corrected))
        .collect();
    assert!(rows_are_right(&history), "{shown:?}");
    finds(Bug::LateSnapshotLast, 5, || rows_are_right(&late_shard()));
    finds(Bug::GaugeAdded, 3, || rows_are_right(&late_shard()));
}

/// All shards stall across the planned end: the last row is as long as the data in it.
#[test]
fn a_stall_across_the_end_leaves_no_sliver() {
    let load = Flags { connections: Some("10".to_owned()), ..flags("/delay/10", "3s") };
    for stalled_ms in [1_100, 1_200, 1_210, 1_500, 2_205] {
        let freeze = vec![(ALL_SHARDS, Nanos(2_800 * MILLI), Nanos((2_800 + stalled_ms) * MILLI))];
        let history = run(Setup { threads: 2, ..setting(&load, freeze) });
        for row in &history.reported.rows {
            let span = (row.to - row.from).as_secs_f64();
            assert!(
                span >= 0.1 && row.finished as f64 / span < 1_100.0,
                "{stalled_ms} ms: {:#?}",
                history.reported.rows
            );
        }
    }
}

/// The target responds after 10 ms; the loop reads a second later, and the timeout is 200 ms.
#[test]
fn what_came_in_time_is_no_timeout_because_we_look_late() {
    for (protocol, streams) in [(false, "1"), (true, "4")] {
        let load = Flags {
            connections: Some("10".to_owned()),
            timeout: Some("200ms".to_owned()),
            http2: protocol,
            streams: protocol.then(|| streams.to_owned()),
            ..flags("/delay/10", "3s")
        };
        let freeze = vec![(ALL_SHARDS, Nanos(SECOND), Nanos(2 * SECOND))];
        let history = run(Setup { threads: 2, ..setting(&load, freeze) });
        let reasons: Vec<_> = history.total.counts.failures().collect();
        assert_eq!(history.total.counts.failed(), 0, "{reasons:?}");
        // A target that does not respond in time is reported all the same.
        let hung = run(setting(&load, vec![(TARGET, Nanos(SECOND), FOR_GOOD)]));
        let timeouts = hung.total.class(Class::TimedOut).by_measure(Measure::Response).clone();
        assert!(timeouts.count() >= 10 && timeouts.max() < Some(220 * MILLI), "{:?}", timeouts.max());
    }
}

/// Loads with every way of waiting for a response, or for what comes before it.
fn loads_that_wait(timeout: &str) -> Vec<Flags> {
    let base = Flags {
        connections: Some("10".to_owned()),
        timeout: Some(timeout.to_owned()),
        connect_timeout: Some(timeout.to_owned()),
        ..flags("/delay/5", "3s")
    };
    let rate = |flags: &Flags| Flags { rate: Some("400".to_owned()), ..flags.clone() };
    let messaging = Flags { url: Some("ws://10.0.0.1/".to_owned()), data: Some("hello".to_owned()), ..rate(&base) };
    let streams = Flags { http2: true, streams: Some("4".to_owned()), ..base.clone() };
    vec![
        base.clone(),
        Flags { no_keepalive: true, ..base.clone() },
        rate(&base),
        Flags {
            curl: Some(vec![b"http://10.0.0.1/delay/5".to_vec(), b"http://10.0.0.1/delay/3".to_vec()]),
            url: None,
            ..base.clone()
        },
        streams.clone(),
        rate(&streams),
        Flags {
            url: Some("grpc://10.0.0.1/hello.Greeter/SayHello".to_owned()),
            // Its target knows the deadline of each call, so it may hold none when it is frozen.
            data: Some(r#"{"name":"a"}"#.to_owned()),
            ..rate(&streams)
        },
        messaging.clone(),
        // A WebSocket handshake is waited for as well, before a start needs it: a start that waits for one is dropped.
        Flags { no_keepalive: true, preconnect: true, ..messaging },
    ]
}

fn setting_described(flags: &Flags, freezes: Vec<(usize, Nanos, Nanos)>) -> Setup {
    let described = plan::Schema::from_files(&target::descriptors()).expect("the target describes itself");
    let plan = flags.plan_with(Some(&described)).expect("a good plan");
    Setup { plan, freezes, threads: 2, ..Setup::calm(11) }
}

/// As if the generator had been stopped between the stamp of a request and its sending: the target receives it only
/// after the stall.
#[test]
fn what_left_only_after_a_stall_is_waited_for() {
    let freezes = |target_ms, ours_ms| {
        let span = |(from, to)| (Nanos(from * MILLI), Nanos(to * MILLI));
        let ((from, to), (our_from, our_to)) = (span(target_ms), span(ours_ms));
        vec![(TARGET, from, to), (ALL_SHARDS, our_from, our_to)]
    };
    // Long stalls, and one of 15 ms: a peer has as long after it as it had left.
    let cases = [
        ("200ms", (980, 2_020), (1_000, 2_000)),
        ("50ms", (980, 2_020), (1_000, 2_000)),
        ("100ms", (995, 1_140), (1_000, 1_130)),
        ("20ms", (999, 1_017), (1_000, 1_015)),
    ];
    for (number, (timeout, theirs, ours)) in cases.into_iter().enumerate() {
        for load in loads_that_wait(timeout) {
            let history = run(setting_described(&load, freezes(theirs, ours)));
            let (counts, reasons) = (&history.total.counts, history.total.counts.failures().collect::<Vec<_>>());
            assert_eq!(counts.failed(), 0, "{number}: {reasons:?} {load:?}");
            assert!(
                counts.succeeded() > 500 && counts.succeeded() + counts.dropped() == counts.started(),
                "{counts:?}"
            );
        }
    }
    // A target that is silent for longer is reported, when that time is over and not much later.
    for load in loads_that_wait("200ms") {
        let history = run(setting_described(&load, freezes((980, 2_500), (1_000, 2_000))));
        let counts = &history.total.counts;
        let of = |class| history.total.class(class).by_measure(Measure::Service).max().unwrap_or(0);
        let waited = of(Class::TimedOut).max(of(Class::FailedUnanswered));
        assert!(counts.failed() > 0, "{:?} {load:?}", counts.failures().collect::<Vec<_>>());
        assert!((1_090 * MILLI..1_130 * MILLI).contains(&waited), "{waited} {counts:?} {load:?}");
    }
}

/// Ten users, 13 ms each, and one second of six in which the loops are stalled.
fn stalled_loops() -> History {
    let load = Flags { connections: Some("10".to_owned()), ..flags("/delay/13", "6s") };
    let freeze = vec![(ALL_SHARDS, Nanos(3 * SECOND), Nanos(4 * SECOND))];
    run(Setup { threads: 2, ..setting(&load, freeze) })
}

fn the_stall_is_ours(history: &History) -> bool {
    let is_counted = |spent: &ThreadUsage| {
        let late = spent.lag.count_between(25 * MILLI, 2 * SECOND);
        (19..=20).contains(&late) && (118..=122).contains(&spent.lag.count())
    };
    history.uses.iter().all(is_counted) && verdict(history).limit == Limit::Generator
}

#[test]
fn a_stall_of_ours_is_as_many_ticks_as_it_covers() {
    let history = stalled_loops();
    let counts = &history.total.counts;
    assert!(the_stall_is_ours(&history), "{:?}", history.uses[0].lag);
    // Each user had one request in flight, and only that one is stall affected.
    assert_eq!((counts.stall_affected_responses(), history.total.stall_affected_count()), (10, 10));
    let service = history.total.class(Class::Succeeded).by_measure(Measure::Service).clone();
    assert!(
        service.max() > Some(900 * MILLI) && service.max_without(history.total.stall_affected()) < Some(20 * MILLI)
    );
    assert!((950 * MILLI..=1_001 * MILLI).contains(&history.uses[0].stalled_ns), "{}", history.uses[0].stalled_ns);
    finds(Bug::StallOneTick, 1, || the_stall_is_ours(&stalled_loops()));
    // A stall of the target is not one of the generator.
    let load = Flags { connections: Some("10".to_owned()), ..flags("/delay/13", "6s") };
    let theirs = run(setting(&load, vec![(TARGET, Nanos(3 * SECOND), Nanos(4 * SECOND))]));
    assert_eq!((theirs.total.counts.stall_affected_responses(), theirs.uses[0].stalled_ns), (0, 0));
    assert_ne!(verdict(&theirs).limit, Limit::Generator);
}

/// The responses come before the grace is over, and the loops read after it: they are read all the same.
#[test]
fn what_came_within_the_grace_is_read_when_we_look_late() {
    for rate in [None, Some("25")] {
        let load = Flags {
            connections: Some("10".to_owned()),
            rate: rate.map(str::to_owned),
            grace: Some("700ms".to_owned()),
            ..flags("/delay/300", "1s")
        };
        let freeze = vec![(ALL_SHARDS, Nanos(1_050 * MILLI), Nanos(2_050 * MILLI))];
        let history = run(Setup { threads: 2, ..setting(&load, freeze) });
        let counts = &history.total.counts;
        assert_eq!((counts.unfinished(), counts.started()), (0, counts.succeeded()), "{counts:?}");
        // A target that does not respond leaves them incomplete, when the grace is over and not much later.
        let hung = run(setting(&load, vec![(TARGET, Nanos(SECOND / 2), FOR_GOOD)]));
        assert!(hung.total.counts.unfinished() >= 10 && hung.wall < Nanos(1_710 * MILLI), "{:?}", hung.wall);
    }
}

/// What the user cuts off is no fault of the target.
#[test]
fn a_second_stop_accuses_nobody() {
    for rate in [None, Some("200")] {
        let load =
            Flags { connections: Some("10".to_owned()), rate: rate.map(str::to_owned), ..flags("/delay/20", "10s") };
        let history = run(Setup { stop_at: Some((Nanos(505 * MILLI), true)), ..setting(&load, Vec::new()) });
        let counts = &history.total.counts;
        assert!(counts.cut() > 0 && counts.cut() == counts.unfinished(), "{counts:?}");
        assert_ne!(verdict(&history).limit, Limit::Target, "{counts:?}");
        assert_eq!(counts.success_ratio(), Some(1.0));
    }
}

/// Ten users of a target that responds for two seconds, and hangs for thirteen.
#[test]
fn users_that_hang_are_the_targets_doing() {
    let load =
        Flags { connections: Some("10".to_owned()), timeout: Some("60s".to_owned()), ..flags("/delay/5", "15s") };
    let history = run(setting(&load, vec![(TARGET, Nanos(2 * SECOND), FOR_GOOD)]));
    let verdict = verdict(&history);
    assert_eq!((verdict.limit, history.total.counts.unfinished()), (Limit::Target, 10));
    assert!(verdict.unanswered_time_share > 0.85, "{}", verdict.unanswered_time_share);
}

/// Curl commands of three steps in turn.
fn three_steps() -> Vec<Vec<u8>> {
    ["/", "/delay/20", "/bytes/100"].map(|path| format!("http://10.0.0.1{path}").into_bytes()).to_vec()
}

/// The end of the time and a stop end iterations where they are; with a number of iterations each comes to its end.
#[test]
fn no_step_starts_after_the_stop() {
    let base = Flags { url: None, curl: Some(three_steps()), ..flags("/", "2s") };
    let loads = [
        Flags { connections: Some("7".to_owned()), ..base.clone() },
        Flags { rate: Some("200".to_owned()), ..base.clone() },
        Flags { connections: Some("6".to_owned()), rendezvous: true, ..base.clone() },
    ];
    for (load, stop_at) in loads.iter().flat_map(|load| [(load, None), (load, Some((Nanos(1_010 * MILLI), false)))]) {
        let history = run(Setup { threads: 2, stop_at, ..setting(load, Vec::new()) });
        let counts = &history.total.counts;
        // In flight then, for each user one step at most: it takes 20 ms and a little.
        let after = history.wall - history.started_for;
        assert!(after < Nanos(30 * MILLI), "{after:?} after the stop: {counts:?}");
        assert_eq!((counts.unfinished(), counts.started()), (0, counts.succeeded()), "{counts:?}");
        let (begun, steps) = (counts.iterations() + counts.iterations_cut(), counts.started());
        assert!(counts.iterations() * 3 <= steps && steps < begun * 3, "{counts:?}");
        assert!(counts.iterations_cut() > 0, "{counts:?}");
    }
    for load in &loads {
        let by_count = Flags { requests: Some("50".to_owned()), duration: None, ..load.clone() };
        let history = run(Setup { threads: 2, ..setting(&by_count, Vec::new()) });
        let counts = &history.total.counts;
        assert_eq!((counts.started(), counts.succeeded()), (150, 150), "{counts:?}");
        assert_eq!((counts.iterations(), counts.iterations_cut()), (50, 0), "{counts:?}");
    }
}

/// A rate counts what ended by the last start, and not what ends later, in any load.
#[test]
fn a_rate_is_over_the_time_of_its_starts() {
    let load = Flags { connections: Some("10".to_owned()), ..flags("/delay/300", "2s") };
    let history = run(setting(&load, Vec::new()));
    let counts = &history.total.counts;
    assert_eq!((counts.finished(), counts.drained(), counts.drained_succeeded()), (70, 10, 10), "{counts:?}");
    assert_eq!(history.started_for, Nanos(2 * SECOND));
    let open = Flags { rate: Some("500".to_owned()), ..flags("/delay/1500", "2s") };
    let history = run(setting(&open, Vec::new()));
    let counts = &history.total.counts;
    assert!((749..=752).contains(&counts.drained()) && counts.finished() == 1_000, "{counts:?}");
    assert_eq!(history.started_for, Nanos(2 * SECOND));
}

/// A kept connection responds twice, and the third request on it is taken and gets no response.
fn dropping_target(is_http2: bool, method: &str) -> History {
    let words = ["-X", method, "http://10.0.0.1/", "http://10.0.0.1/bytes/10", "http://10.0.0.1/drop"];
    let steps = words.map(|word| word.as_bytes().to_vec()).to_vec();
    let load = Flags {
        url: None,
        curl: Some(steps),
        connections: Some("4".to_owned()),
        requests: Some("20".to_owned()),
        duration: None,
        http2: is_http2,
        ..flags("/", "1s")
    };
    run(setting(&load, Vec::new()))
}

/// Checks the failures of dropped requests. `again`: how many were sent once more. The target drops them once more, on
/// a new connection, and then they have failed.
fn dropped_ones_fail(history: &History, again: u64) -> bool {
    let counts = &history.total.counts;
    let cut: u64 = counts
        .failures()
        .filter(|(failure, _)| matches!(failure, Failure::ClosedEarly | Failure::Reset))
        .map(|(_, count)| count)
        .sum();
    (counts.started(), counts.succeeded(), cut) == (60, 40, 20)
        && (counts.reconnects(), counts.begun_before()) == (again, again)
        && history.requests_served == 60 + again
}

#[test]
fn what_a_target_took_and_dropped_is_a_failure() {
    for (method, again) in [("POST", 0), ("GET", 20)] {
        for is_http2 in [false, true] {
            let history = dropping_target(is_http2, method);
            let failures: Vec<_> = history.total.counts.failures().collect();
            assert!(
                dropped_ones_fail(&history, again),
                "{method} {failures:?} {:?} read {}",
                history.total.counts,
                history.requests_served
            );
        }
    }
    finds(Bug::RetriesWhatWasTaken, 1, || dropped_ones_fail(&dropping_target(false, "POST"), 0));
}

/// One user of each round gets no response: the next round comes when its timeout does.
#[test]
fn a_round_starts_when_its_last_user_times_out() {
    let load = Flags {
        connections: Some("10".to_owned()),
        rendezvous: true,
        timeout: Some("110ms".to_owned()),
        ..flags("/delay/uniform/20-120", "10s")
    };
    let history = run(Setup { threads: 2, ..setting(&load, Vec::new()) });
    let counts = &history.total.counts;
    assert!(counts.failed() > 20, "{counts:?}");
    // A round takes at most the timeout and what the shards need to agree.
    let rounds = counts.started() as f64 / 10.0;
    assert!(rounds >= 10.0 / 0.114, "{rounds} rounds");
}
