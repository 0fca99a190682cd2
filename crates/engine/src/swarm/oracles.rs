//! Predictions of theory for a load, against what the engine measures in a world without noise.

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::Flags;

use super::history::{self, History, Setup};
use crate::idle::QUIET;

fn run(flags: Flags, freezes: Vec<(usize, Nanos, Nanos)>) -> History {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let flags = Flags { user_agent: "oracle".to_owned(), ..flags };
    let setting = Setup { plan: flags.plan().expect("a good plan"), freezes, ..Setup::calm(11) };
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn flags(url: &str, rate: &str, duration: &str) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{url}")),
        rate: Some(rate.to_owned()),
        duration: Some(duration.to_owned()),
        ..Flags::default()
    }
}

const SECOND: u64 = 1_000_000_000;

/// 1,000 starts a second for 10 s, and a frozen target from 4 s to 5 s: a start at 4 s + x waits 1 s - x. So a tenth of
/// all starts waits evenly between 0 and 1 s, and the quantile q above 0.9 is (q - 0.9) * 10 s.
#[test]
fn a_freeze_is_in_the_response_time() {
    let freeze = vec![(0, Nanos(4 * SECOND), Nanos(5 * SECOND))];
    let load = Flags { connections: Some("10".to_owned()), ..flags("/", "1000", "10s") };
    let history = run(load, freeze);
    let counts = &history.total.counts;
    assert_eq!((counts.started(), counts.succeeded()), (10_000, 10_000));
    let seen = history.total.class(Class::Succeeded);
    let response = seen.by_measure(Measure::Response);
    for (quantile, expect) in [(0.95, 0.5), (0.99, 0.9), (0.999, 0.99), (1.0, 1.0)] {
        let measured = response.quantile(quantile).expect("there are some") as f64 / 1e9;
        assert!((measured - expect).abs() <= expect * 0.02 + 0.002, "{quantile}: {measured} s, {expect} s expected");
    }
    // The service time shows one slow exchange for each connection, and nothing of the other 990 that waited.
    let service = seen.by_measure(Measure::Service);
    let slow = service.count_between(SECOND / 20, 2 * SECOND);
    assert!((1..=10).contains(&slow), "{slow} slow exchanges");
    // They waited for the target, not for the generator.
    assert!(
        seen.by_measure(Measure::Lateness).max() < Some(1_000_000),
        "{:?}",
        seen.by_measure(Measure::Lateness).max()
    );
    assert!(seen.by_measure(Measure::Wait).quantile(0.99) > Some(SECOND / 2));
}

#[test]
fn a_closed_load_hides_the_freeze() {
    let freeze = vec![(0, Nanos(4 * SECOND), Nanos(5 * SECOND))];
    let load = Flags { connections: Some("10".to_owned()), rate: None, ..flags("/delay/10", "1", "10s") };
    let history = run(load, freeze);
    let response = history.total.class(Class::Succeeded);
    let response = response.by_measure(Measure::Response);
    assert!(response.quantile(0.99) < Some(SECOND / 10), "{:?}", response.quantile(0.99));
    assert!(response.max() > Some(SECOND * 9 / 10));
}

#[test]
fn a_ramp_sends_its_triangle() {
    let load = Flags { stages: Some("1000:10s".to_owned()), rate: None, duration: None, ..flags("/", "1", "1s") };
    let history = run(load, Vec::new());
    assert_eq!((history.total.counts.started(), history.total.counts.succeeded()), (5_000, 5_000));
    assert_eq!(history.total.counts.dropped(), 0);
}

/// A target that takes 20 ms, with two connections, serves 100 exchanges a second; 300 are requested. What waited
/// longer than the bound is dropped, and nothing that was sent is older than it.
#[test]
fn what_is_too_late_is_dropped() {
    let load = Flags {
        connections: Some("2".to_owned()),
        max_lateness: Some("500ms".to_owned()),
        ..flags("/delay/20", "300", "10s")
    };
    let history = run(load, Vec::new());
    let counts = &history.total.counts;
    assert_eq!(counts.started(), 3_000);
    assert_eq!(counts.failed(), 0);
    assert!((950..=1_060).contains(&counts.succeeded()), "{} succeeded", counts.succeeded());
    assert_eq!(counts.dropped() + counts.succeeded() + counts.unfinished(), 3_000);
    let seen = history.total.class(Class::Succeeded);
    let waited =
        seen.by_measure(Measure::Wait).max().expect("some") + seen.by_measure(Measure::Lateness).max().expect("some");
    assert!(waited <= 501_000_000, "{waited}");
}

/// A rate that no loop can keep, and no grace: what was due and never started is incomplete, not forgotten.
#[test]
fn what_was_due_and_never_taken_up_is_counted() {
    let load = Flags { grace: Some("0s".to_owned()), ..flags("/", "5000000", "100ms") };
    let history = run(load, Vec::new());
    let counts = &history.total.counts;
    assert_eq!(counts.started(), 500_000);
    assert!(counts.unfinished() > 0, "{counts:?}");
    assert_eq!(counts.succeeded() + counts.failed() + counts.dropped() + counts.unfinished(), 500_000);
}

/// The engine's own program is frozen for a second: what it takes up too late is dropped, and counted separately.
#[test]
fn the_generator_owns_its_drops() {
    let freeze = vec![(1, Nanos(SECOND), Nanos(2 * SECOND))];
    let load = Flags { max_lateness: Some("100ms".to_owned()), ..flags("/", "1000", "3s") };
    let history = run(load, freeze);
    let counts = &history.total.counts;
    assert_eq!((counts.started(), counts.failed()), (3_000, 0));
    assert!((890..=910).contains(&counts.dropped()), "{} were dropped", counts.dropped());
    assert_eq!(counts.dropped_by_generator(), counts.dropped());
    assert_eq!(history.total.dropped_after.count(), counts.dropped());
}

/// Users come one after the other: after the ramp all are there, and the user time is the area of the ramp.
#[test]
fn users_come_by_a_ramp() {
    let load = Flags {
        connections: Some("100".to_owned()),
        ramp: Some("20/s".to_owned()),
        rate: None,
        ..flags("/delay/10", "1", "10s")
    };
    let counts = run(load, Vec::new()).total.counts;
    assert_eq!(counts.connections_established(), 100);
    // User k works from k / 20 s on: 752.5 seconds of users, of 10 ms and a little more each.
    assert!((71_000..=75_300).contains(&counts.succeeded()), "{} succeeded", counts.succeeded());
}

/// Ten users, then thirty, then down to none: the user time is the area of the profile, and users that come back
/// reconnect.
#[test]
fn users_come_and_go_by_stages() {
    let load = Flags {
        user_stages: Some("10:0s,10:2s,30:0s,30:2s,0:4s,0:100ms,5:0s,5:1s".to_owned()),
        rate: None,
        duration: None,
        ..flags("/delay/10", "1", "1s")
    };
    let counts = run(load, Vec::new()).total.counts;
    // 20 + 60 + 60 + 5 seconds of users, and half a user more while they leave, for the count is rounded up.
    assert!((14_000..=14_750).contains(&counts.succeeded()), "{} succeeded", counts.succeeded());
    assert_eq!(counts.connections_established(), 35);
    assert_eq!(counts.started(), counts.succeeded() + counts.unfinished());
}

/// All users of all shards start in one instant, and the next round waits for the slowest.
#[test]
fn a_rendezvous_starts_all_at_once() {
    let load = Flags {
        connections: Some("40".to_owned()),
        requests: Some("410".to_owned()),
        rendezvous: true,
        rate: None,
        duration: None,
        ..flags("/serial/1", "1", "1s")
    };
    let history = run(Flags { ..load }, Vec::new());
    assert_eq!(history.total.counts.succeeded(), 410);
    // The target serves one at a time: of forty that come at once, the last waits 40 ms, and each position in the queue
    // is taken once a round. Users that start when they are free would keep the queue at 39 for all.
    let seen = history.total.class(Class::Succeeded);
    let service = seen.by_measure(Measure::Service);
    let mean = service.mean().expect("some") / 1e6;
    assert!((19.5..=22.5).contains(&mean), "{mean} ms");
    assert!(service.max() < Some(45_000_000), "{:?}", service.max());
}

/// The warm-up is not measured, and its connections stay.
#[test]
fn a_warmup_is_left_out() {
    let load = Flags { connections: Some("5".to_owned()), warmup: Some("3s".to_owned()), ..flags("/", "100", "4s") };
    let history = run(load, vec![(0, Nanos(SECOND), Nanos(2 * SECOND))]);
    let counts = &history.total.counts;
    assert_eq!((counts.started(), counts.succeeded(), counts.responses()), (400, 400, 400));
    assert_eq!(counts.connections_established(), 5);
    let slowest = history.total.class(Class::Succeeded).by_measure(Measure::Response).max();
    assert!(slowest < Some(SECOND / 10), "the freeze of the warm-up shows: {slowest:?}");
    assert!((3_900..=4_100).contains(&(history.wall.0 / 1_000_000)), "{:?}", history.wall);

    let closed = Flags {
        connections: Some("5".to_owned()),
        requests: Some("70".to_owned()),
        rate: None,
        ..flags("/delay/10", "1", "4s")
    };
    let history = run(Flags { warmup: Some("2s".to_owned()), duration: None, ..closed }, Vec::new());
    let counts = &history.total.counts;
    assert!((4..=5).contains(&counts.carried()), "each user was on its way: {counts:?}");
    assert_eq!((counts.started(), counts.succeeded()), (70, 70 + counts.carried()));
    assert_eq!(counts.warmed_up() + counts.succeeded(), history.requests_served);
}

/// Users that wait since the warm-up are measured, and wait since then: of one at a time, 100 ms each, every one waits
/// for a second.
#[test]
fn who_waits_since_the_warmup_is_seen() {
    let load = Flags {
        connections: Some("10".to_owned()),
        warmup: Some("500ms".to_owned()),
        rate: None,
        ..flags("/serial/100", "1", "300ms")
    };
    let history = run(Flags { grace: Some("5s".to_owned()), ..load }, Vec::new());
    let counts = &history.total.counts;
    assert_eq!((counts.carried(), counts.unfinished(), counts.failed()), (10, 0, 0), "{counts:?}");
    let response = history.total.class(Class::Succeeded).by_measure(Measure::Response).clone();
    let (shortest, longest) = (response.min().unwrap_or(0), response.max().unwrap_or(0));
    assert!((500_000_000..1_010_000_000).contains(&shortest) && longest < 1_010_000_000, "{shortest} {longest}");
    assert_eq!(counts.warmed_up() + counts.succeeded(), history.requests_served);
}

/// Starts at a rate that wait for a user since the warm-up are measured as well: with a target that gives half of the
/// requested rate, on four connections, a second of them waits when measuring begins.
#[test]
fn what_waits_for_a_user_since_the_warmup_is_seen() {
    let load = Flags {
        connections: Some("4".to_owned()),
        warmup: Some("2s".to_owned()),
        grace: Some("60s".to_owned()),
        max_lateness: Some("60s".to_owned()),
        ..flags("/serial/5", "400", "2s")
    };
    let history = run(load, Vec::new());
    let counts = &history.total.counts;
    assert_eq!((counts.started(), counts.failed(), counts.unfinished()), (800, 0, 0), "{counts:?}");
    assert!((395..=410).contains(&counts.carried()), "{counts:?}");
    assert_eq!(counts.succeeded(), 800 + counts.carried());
    assert_eq!(counts.warmed_up() + counts.succeeded(), history.requests_served);
    // 1,600 take 8 s, and the last of them is due after 4.
    let longest = history.total.class(Class::Succeeded).by_measure(Measure::Response).max().unwrap_or(0);
    assert!((3_900_000_000..4_200_000_000).contains(&longest), "{longest}");
}

/// Three messages 100 ms apart, each with a response 30 ms after it came.
#[test]
fn each_message_is_timed_against_its_own() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let message = r#"{"name":"a","delayMs":30}"#;
    let flags = Flags {
        url: Some("grpc://10.0.0.1/hello.Greeter/Chat".to_owned()),
        data: Some(format!("[{message},{message},{message}]")),
        message_interval: Some("100ms".to_owned()),
        connections: Some("4".to_owned()),
        requests: Some("40".to_owned()),
        user_agent: "oracle".to_owned(),
        ..Flags::default()
    };
    let described = plan::Schema::from_files(&target::descriptors()).expect("the target describes itself");
    let setting = Setup { plan: flags.plan_with(Some(&described)).expect("a good plan"), ..Setup::calm(11) };
    let history = history::run(setting, false).unwrap_or_else(|found| panic!("{found}"));
    let (counts, message) = (&history.total.counts, &history.total.message);
    assert_eq!((counts.succeeded(), counts.messages_sent(), counts.messages_received()), (40, 120, 120));
    let (least, most) = (message.min().expect("some"), message.max().expect("some"));
    assert!(least >= 30_000_000 && most < 32_000_000, "{least} to {most}");
    assert_eq!((message.count(), history.total.message_gap.count()), (120, 0));
    let whole = history.total.class(Class::Succeeded);
    let whole = whole.by_measure(Measure::Service);
    assert!(whole.min() >= Some(230_000_000) && whole.max() < Some(233_000_000), "{:?}", whole.max());
}

/// A shard that stands still from 1.5 s to 3.25 s: its rows until 3 s are written before it makes up for what was due
/// meanwhile. What is counted by then and what is behind are the starts that are counted without the stall.
#[test]
fn what_is_due_in_a_stall_is_behind() {
    for arrivals in ["even", "poisson"] {
        let rows = |freeze: Vec<(usize, Nanos, Nanos)>| -> Vec<[u64; 2]> {
            let history = run(Flags { arrivals: Some(arrivals.to_owned()), ..flags("/", "10", "6s") }, freeze);
            history.reported.rows.iter().map(|row| [row.started, row.behind]).collect()
        };
        let calm = rows(Vec::new());
        let stalled = rows(vec![(history::FIRST_SHARD, Nanos(SECOND * 3 / 2), Nanos(SECOND * 13 / 4))]);
        let started = |rows: &[[u64; 2]]| rows.iter().map(|[started, _]| started).sum::<u64>();
        assert!(calm.iter().all(|[_, behind]| *behind == 0), "{calm:?}");
        let [in_third, behind] = stalled[2];
        assert!(in_third == 0 && behind >= 10, "{arrivals}: {stalled:?}");
        assert_eq!(started(&stalled[..3]) + behind, started(&calm[..3]), "{arrivals}: {stalled:?} {calm:?}");
        assert_eq!((stalled[3][1], started(&stalled)), (0, started(&calm)), "{arrivals}: {stalled:?}");
    }
}
