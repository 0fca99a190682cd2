//! A custom protocol of the target, with exact instants.

use std::time::Duration;

use pacing::Nanos;
use target::Behavior;

use crate::lines::GREETING;
use crate::world::{Call, LATENCY, World, is_by_arithmetic};

fn world() -> World {
    World::of_lines(Behavior::default())
}

/// A call that sends these lines.
fn call(at_ms: u64, lines: &str) -> Call {
    Call { request: lines.to_owned(), ..Call::get(at_ms, "/") }
}

fn text(call: &Call) -> &str {
    std::str::from_utf8(&call.response).expect("text")
}

/// A client is greeted before it has sent anything, is answered, and hears what others send while it is open.
#[test]
fn replies_come_to_each_connection_in_time() {
    let listens = Call { leaves: Nanos::from_millis(35), ..call(1, "") };
    let sends = Call { again_ms: vec![20, 40], ..call(10, "all a\nb\n") };
    let mut world = world();
    let played = world.play(vec![listens, sends, call(30, "x\nbye\n")], None);
    let [listens, sends, ends] = &played.calls[..] else { panic!("three calls") };
    assert_eq!(text(listens), "hi\na\na\n");
    assert_eq!(text(sends), "hi\na\nB\na\nB\na\nB\n");
    assert_eq!(text(ends), "hi\nX\n");
    // The greeting goes out when a connection is accepted, while the first lines are in transit.
    let expected = [(1, 2), (10, 4), (20, 2)].map(|(at_ms, ways)| Nanos::from_millis(at_ms).0 + ways * LATENCY.0);
    assert_eq!(listens.instants.len(), expected.len());
    for (at, expected) in listens.instants.iter().zip(expected) {
        is_by_arithmetic(at.0, expected, 20);
    }
    assert!(ends.closed >= ends.answered() && ends.closed != Nanos::NEVER);
    assert_eq!(sends.closed, Nanos::NEVER);
    assert_eq!(world.target().open_connections(), 1);
}

/// The server does not end a connection whose last bytes are not read yet.
#[test]
fn who_is_closed_gets_everything() {
    const BYTES: usize = 8_000_000;
    for (end, half_closes) in [("bye\n", false), ("", true), ("bye\n", true)] {
        let request = format!("{}\nlast\n{end}", "x".repeat(BYTES));
        let slow = Call { half_closes, reads_from: Nanos::from_millis(60_000), ..call(1, &request) };
        let mut world = world();
        let played = world.play(vec![slow], None);
        let call = &played.calls[0];
        assert_eq!(call.response.len(), GREETING.len() + BYTES + "\nLAST\n".len(), "{end} {half_closes}");
        assert!(call.closed >= call.answered() && call.closed != Nanos::NEVER);
        assert_eq!(world.target().open_connections(), 0);
    }
}

/// What it sends after its `bye` is ignored, also while it does not read.
#[test]
fn nothing_follows_the_end() {
    const BYTES: usize = 2_000_000;
    let request = format!("{}\nbye\n", "x".repeat(BYTES));
    let again = Call { again_ms: vec![500], reads_from: Nanos::from_millis(1_000), ..call(1, &request) };
    let played = world().play(vec![again, call(600, "all a\ncount\n")], None);
    let [again, other] = &played.calls[..] else { panic!("two calls") };
    assert_eq!(again.response.len(), GREETING.len() + BYTES + "\n".len());
    // The first connection still has bytes to read.
    assert_eq!(text(other), "hi\na\n2\n");
}

/// One that does not read what others send is closed, and they go on.
#[test]
fn who_does_not_read_others_is_closed() {
    const BYTES: usize = 1_000_000;
    const TIMES: u64 = 20;
    let line = format!("all {}\n", "x".repeat(BYTES));
    let slow = Call { reads_from: Nanos::from_millis(60_000), ..call(1, "") };
    let sends = Call { again_ms: (1..TIMES).map(|each| 100 + 100 * each).collect(), ..call(100, &line) };
    let mut world = world();
    let played = world.play(vec![slow, sends, call(50_000, "count\n")], None);
    let [slow, sends, counts] = &played.calls[..] else { panic!("three calls") };
    assert_eq!(sends.response.len(), GREETING.len() + TIMES as usize * (BYTES + 1));
    assert_eq!(text(counts), "hi\n2\n");
    assert!(slow.response.len() < sends.response.len() / 2, "{} bytes", slow.response.len());
    let stats = world.target().stats_json();
    assert!(stats.contains("\"slow_readers_closed\":1") && stats.contains("\"reads_paused\":1,"), "{stats}");
}

/// It is opened when the delay of a new connection is over.
#[test]
fn a_delayed_connection_is_greeted_later() {
    let behavior = Behavior { accept_delay: Duration::from_millis(200), ..Behavior::default() };
    let played = World::of_lines(behavior).play(vec![call(1, "a\n"), call(150, "count\n")], None);
    let [first, second] = &played.calls[..] else { panic!("two calls") };
    assert_eq!((text(first), text(second)), ("hi\nA\n", "hi\n2\n"));
    for (call, at_ms) in [(first, 201), (second, 350)] {
        is_by_arithmetic(call.instants[0].0, Nanos::from_millis(at_ms).0 + 2 * LATENCY.0, 20);
    }
}
