//! The behavior of the target for single connections, with exact instants.

use std::time::Duration;

use pacing::Nanos;
use target::Behavior;

use crate::world::{Call, LATENCY, World, is_by_arithmetic};

/// Responses arrive at these milliseconds plus some one-way trips: two for request and response, two more for a new
/// connection.
#[track_caller]
fn come_at(instants: &[Nanos], expected_ms: &[u64], ways: u64) {
    assert_eq!(instants.len(), expected_ms.len());
    for (at, expected_ms) in instants.iter().zip(expected_ms) {
        is_by_arithmetic(at.0, Nanos::from_millis(*expected_ms).0 + ways * LATENCY.0, 20);
    }
}

/// Five simultaneous requests are answered one after the other; one that arrives at an idle server is served at once.
#[test]
fn one_is_served_at_a_time() {
    let mut calls: Vec<Call> = (0..5).map(|_| Call::get(1, "/serial/30")).collect();
    calls.push(Call::get(1_000, "/serial/30"));
    let played = World::default().play(calls, None);
    let mut answered: Vec<Nanos> = played.calls.iter().map(Call::answered).collect();
    answered.sort_unstable();
    come_at(&answered, &[31, 61, 91, 121, 151, 1_030], 4);
}

/// A new connection is not read for a while. Later bytes on it are read at once.
#[test]
fn a_connection_has_its_behavior() {
    let behavior = Behavior { accept_delay: Duration::from_millis(200), close_after: Some(3), ..Behavior::default() };
    let again = Call { again_ms: vec![300, 400], ..Call::get(1, "/") };
    let played = World::new(behavior).play(vec![again, Call::get(150, "/")], None);
    let [first, second] = &played.calls[..] else { panic!("two calls") };
    // The delay begins when the connection is accepted, while the request is not yet in transit.
    come_at(&first.instants, &[201, 300, 400], 2);
    come_at(&second.instants, &[350], 2);
    // The third response is the last one, and announces the close.
    let text = String::from_utf8_lossy(&first.response).to_lowercase();
    assert_eq!((text.matches(" 200 ok").count(), text.matches("connection: close").count()), (3, 1));
    assert!(first.closed >= first.answered() && first.closed != Nanos::NEVER);
    assert_eq!(second.closed, Nanos::NEVER);
}

/// The client ends its side and reads nothing for longer than the server waits for the end of a finished connection.
#[test]
fn who_half_closes_gets_everything() {
    const BODY_BYTES: usize = 8_000_000;
    for connection in ["", "Connection: close\r\n"] {
        let mut request = format!("POST /echo HTTP/1.1\r\nHost: a\r\n{connection}Content-Length: {BODY_BYTES}\r\n\r\n");
        request.push_str(&"x".repeat(BODY_BYTES));
        let slow =
            Call { request, half_closes: true, reads_from: Nanos::from_millis(60_000), ..Call::post(1, "/echo") };
        let played = World::default().play(vec![slow], None);
        let call = &played.calls[0];
        assert_eq!((call.parts().0, call.parts().1.len()), ("200", BODY_BYTES));
        assert!(call.closed >= call.answered() && call.closed != Nanos::NEVER);
    }
}
