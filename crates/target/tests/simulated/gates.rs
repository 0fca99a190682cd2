//! Gates: all waiting requests are answered at one instant.

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::Flags;

use crate::world::{Call, LATENCY, World, flags, is_by_arithmetic};

/// Waiting requests are counted, and all are answered when the gate opens.
#[test]
fn who_waits_is_answered_in_the_instant_of_the_opening() {
    let mut calls: Vec<Call> = (1..=4).map(|at_ms| Call::get(at_ms, "/gate/a")).collect();
    calls.push(Call { leaves: Nanos::from_millis(20), ..Call::get(5, "/gate/a") });
    calls.push(Call::get(10, "/gate/a/waiting"));
    calls.push(Call::get(30, "/gate/a/waiting"));
    calls.push(Call::post(3_600_000, "/gate/a/open"));
    calls.push(Call::get(3_600_001, "/gate/a"));
    let played = World::default().play(calls, None);
    let said: Vec<(&str, &str)> =
        played.calls.iter().filter(|call| !call.response.is_empty()).map(Call::parts).collect();
    assert_eq!(said[..4], [("200", ""); 4]);
    assert_eq!(said[4..], [("200", "5"), ("200", "4"), ("200", "4"), ("200", "")]);
    let answered: Vec<u64> = played.calls.iter().map(|call| call.answered().0).collect();
    // A round trip to connect, and one for the request.
    let opened = Nanos::from_millis(3_600_000).0 + 4 * LATENCY.0;
    let all = [0, 1, 2, 3, 7].map(|call| answered[call]);
    all.into_iter().for_each(|at| is_by_arithmetic(at, opened, 20));
    is_by_arithmetic(answered[8], opened + Nanos::from_millis(1).0, 20);
    assert_eq!(answered[4], Nanos::NEVER.0);
}

/// The same with HTTP/2 streams, as the engine measures them.
#[test]
fn streams_are_answered_in_the_instant_of_the_opening() {
    let load = Flags {
        http2: true,
        connections: Some("3".to_owned()),
        streams: Some("8".to_owned()),
        requests: Some("24".to_owned()),
        timeout: Some("1h".to_owned()),
        ..flags("/gate/a")
    };
    let plan = load.plan().expect("a good plan");
    let played = World::default().play(vec![Call::post(2_000, "/gate/a/open")], Some((&plan, 2)));
    assert_eq!(played.calls[0].parts(), ("200", "24"));
    let finished = played.finished.expect("a load");
    assert_eq!((finished.total.counts.started(), finished.total.counts.succeeded()), (24, 24));
    let times = finished.total.class(Class::Succeeded);
    let response = times.by_measure(Measure::Response);
    let opened = Nanos::from_millis(2_000).0 + 4 * LATENCY.0;
    for time in [response.min(), response.max()] {
        is_by_arithmetic(time.expect("some"), opened, 40);
    }
}
