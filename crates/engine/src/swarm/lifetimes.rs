//! Limits of kept connections, in calm worlds: how many requests each carries, how long it lives, and that nothing fails.

use std::time::Duration;

use metrics::Counts;
use plan::{Flags, Plan, Program};

use super::history::{self, Setup};

fn run(plan: Plan) -> Counts {
    let setting = Setup { plan, ..Setup::calm(7) };
    let history = history::run(setting, false).unwrap_or_else(|found| panic!("{found}"));
    let counts = history.total.counts;
    assert_eq!((counts.failed(), counts.reconnects(), counts.unfinished()), (0, 0, 0));
    counts
}

fn plan(flags: Flags) -> Plan {
    Flags { user_agent: "lifetimes".to_owned(), ..flags }.plan().expect("a good plan")
}

fn load(path: &str, connections: u64) -> Flags {
    Flags {
        url: Some(format!("http://10.0.0.1{path}")),
        connections: Some(connections.to_string()),
        ..Flags::default()
    }
}

/// The first connection of each user carries 1 to 100 requests, each later one 90 to 100.
#[test]
fn a_connection_carries_no_more_than_its_requests() {
    for (http2, streams) in [(false, None), (true, Some("1")), (true, Some("10"))] {
        let flags = Flags {
            requests: Some("6000".to_owned()),
            connection_requests: Some("100".to_owned()),
            http2,
            streams: streams.map(str::to_owned),
            ..load("/delay/1", 10)
        };
        let counts = run(plan(flags));
        assert_eq!(counts.succeeded(), 6_000);
        let (established, retired) = (counts.connections_established(), counts.connections_retired());
        assert!((60..=10 + 6_000 / 90).contains(&established), "{established} connections, {streams:?} streams");
        assert!((established - 10..=established).contains(&retired), "{retired} of {established}, {streams:?} streams");
    }
}

/// A connection for each request, also where many wait for a stream of one.
#[test]
fn one_request_a_connection() {
    for (http2, streams) in [(false, None), (true, Some("1")), (true, Some("50"))] {
        let flags = Flags {
            requests: Some("2000".to_owned()),
            connection_requests: Some("1".to_owned()),
            http2,
            streams: streams.map(str::to_owned),
            ..load("/bytes/3000", 4)
        };
        let counts = run(plan(flags));
        assert_eq!(
            (counts.succeeded(), counts.connections_established(), counts.connections_retired()),
            (2_000, 2_000, 2_000),
            "{streams:?} streams"
        );
    }
}

/// In 5 s each of 40 users has a first connection that lives for up to 500 ms, and then one for each 450 to 500 ms.
#[test]
fn a_connection_gets_no_older_than_its_age() {
    for http2 in [false, true] {
        let flags = Flags {
            duration: Some("5s".to_owned()),
            connection_age: Some("500ms".to_owned()),
            http2,
            ..load("/delay/5", 40)
        };
        let counts = run(plan(flags));
        let established = counts.connections_established();
        assert!((400..=500).contains(&established), "{established} connections, HTTP/2: {http2}");
        assert!((established - 40..=established).contains(&counts.connections_retired()));
    }
}

#[test]
fn a_connection_without_requests_is_closed() {
    for http2 in [false, true] {
        let of = |idle: &str| {
            let flags =
                Flags { requests: Some("50".to_owned()), keepalive_idle: Some(idle.to_owned()), http2, ..load("/", 5) };
            let mut plan = plan(flags);
            plan.scenarios[0].program = Program::after_pause(Duration::from_millis(300));
            let counts = run(plan);
            (counts.connections_established(), counts.connections_retired())
        };
        let (established, retired) = of("100ms");
        assert_eq!((established, retired >= 45), (50, true), "{retired}, HTTP/2: {http2}");
        assert_eq!(of("400ms"), (5, 0), "HTTP/2: {http2}");
    }
}

/// An open load opens what it needs, and keeps its rate.
#[test]
fn a_rate_is_kept_while_connections_are_replaced() {
    let flags = Flags {
        rate: Some("2000".to_owned()),
        duration: Some("2s".to_owned()),
        connection_requests: Some("20".to_owned()),
        connection_age: Some("200ms".to_owned()),
        ..load("/delay/2", 20)
    };
    let counts = run(plan(flags));
    assert_eq!((counts.started(), counts.succeeded()), (4_000, 4_000));
    assert!(counts.connections_retired() >= 4_000 / 20 - 20, "{}", counts.connections_retired());
}
