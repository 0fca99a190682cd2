//! Awaited messages.

use std::time::Duration;

use metrics::{Class, Failure, Measure, SeriesId};
use pacing::Nanos;
use plan::{Flags, Node, OnFailure, Program};
use target::Behavior;

use crate::world::{Call, World, flags, is_by_arithmetic};

/// The target echoes a message that is not the awaited one: it is counted, and the timeout of the exchange ends the
/// waiting.
#[test]
fn what_never_comes_is_a_timeout() {
    const TIMEOUT: u64 = 200_000_000;
    let load = Flags {
        data: Some("ask".to_owned()),
        expect_body: vec!["answer".to_owned()],
        timeout: Some("200ms".to_owned()),
        connections: Some("2".to_owned()),
        requests: Some("6".to_owned()),
        ..flags("/")
    };
    let url = load.url.as_ref().map(|url| url.replace("http:", "ws:"));
    let mut plan = Flags { url, ..load }.plan().expect("a good plan");
    let nodes = vec![Node::Ask { step: 0, on_failure: OnFailure::GoOn }];
    plan.scenarios[0].program = Program { seed: 3, nodes, ..Program::default() };
    plan.scenarios[0].steps[0].messaging.as_mut().expect("messaging").awaits = true;
    let finished = World::default().play(Vec::new(), Some((&plan, 2))).finished.expect("a load");
    let failures: Vec<_> = finished.total.failures_of(SeriesId::step(0)).collect();
    assert_eq!(failures, [(Failure::Timeout, 6)]);
    assert_eq!(finished.total.counts.messages_received(), 6);
    let class = finished.total.class(Class::TimedOut);
    let times = class.by_measure(Measure::Service);
    assert_eq!(times.count(), 6);
    for time in [times.min(), times.max()] {
        is_by_arithmetic(time.expect("some"), TIMEOUT, 20);
    }
}

/// Pushes come at their interval. Those that were due while the server was frozen are not made up for in a burst.
#[test]
fn pushes_keep_their_interval_after_a_freeze() {
    const EVERY: Nanos = Nanos::from_millis(100);
    let mut world = World::new(Behavior { push: Some(Duration::from_millis(100)), ..Behavior::default() });
    let (frozen, until) = (Nanos::from_millis(550), Nanos::from_millis(1_550));
    world.freeze(frozen, until);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{upgrade}");
    let call = Call { request, leaves: Nanos::from_millis(3_000), ..Call::get(1, "/") };
    let call = world.play(vec![call], None).calls.remove(0);
    let (before, after): (Vec<Nanos>, Vec<Nanos>) = call.instants.iter().skip(1).partition(|at| **at < frozen);
    assert_eq!((before.len(), after.len()), (5, 15), "{before:?} {after:?}");
    for pair in before.windows(2).chain(after.windows(2)) {
        assert!(pair[1].since(pair[0]).0.abs_diff(EVERY.0) < 10_000, "{before:?} {after:?}");
    }
    assert!(after[0] >= until && after[0] < until + EVERY, "{after:?}");
}
