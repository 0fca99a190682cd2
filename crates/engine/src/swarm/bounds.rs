//! Checks on times and sizes, in a world whose times are known to the nanosecond.

use std::sync::PoisonError;

use metrics::{Failure, SeriesId};
use plan::{Bound, Flags, Relation, Schema};

use super::history::{self, History, Setup};
use crate::idle::QUIET;

const MILLI: u64 = 1_000_000;

fn bounded_flags(flags: &Flags) -> Flags {
    let connections = Some("3".to_owned());
    Flags { user_agent: "oracle".to_owned(), connections, requests: Some("30".to_owned()), ..flags.clone() }
}

fn played(flags: &Flags, time: &[(Relation, u64)], size: &[(Relation, u64)]) -> History {
    let bounds = |all: &[(Relation, u64)]| all.iter().map(|&(relation, limit)| Bound { relation, limit }).collect();
    let described = Schema::from_files(&target::descriptors()).expect("the target describes itself");
    let mut plan = bounded_flags(flags).plan_with(Some(&described)).expect("a good plan");
    plan.capture_options.failures = true;
    let checks = &mut plan.scenarios[0].steps[0].checks;
    (checks.time, checks.size) = (bounds(time), bounds(size));
    let _works = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    history::run(Setup { plan, threads: 2, ..Setup::calm(5) }, false).unwrap_or_else(|found| panic!("{found}"))
}

fn failures(history: &History) -> Vec<(Failure, u64)> {
    history.total.failures_of(SeriesId::step(0)).collect()
}

fn http(path: &str, http2: bool) -> Flags {
    Flags { url: Some(format!("http://10.0.0.1{path}")), http2, ..Flags::default() }
}

fn call(method: &str, data: &str, is_gzipped: bool) -> Flags {
    Flags {
        url: Some(format!("grpc://10.0.0.1/hello.Greeter/{method}")),
        data: Some(data.to_owned()),
        grpc_encoding: is_gzipped.then(|| "gzip".to_owned()),
        ..Flags::default()
    }
}

fn messaging(bytes: u64, ws_deflate: bool) -> Flags {
    let data_bytes = Some(bytes.to_string());
    Flags { url: Some("ws://10.0.0.1/".to_owned()), data_bytes, ws_deflate, ..Flags::default() }
}

/// The sizes of responses of all protocols, each with a bound that just holds and one that just does not.
#[test]
fn sizes_are_those_of_what_is_carried() {
    // A reply is a text after its key and its length, and a small number after its key.
    let hello = 2 + "Hello a".len() as u64 + 2;
    let cases = [
        (http("/bytes/5000", false), 5_000),
        (http("/bytes/5000", true), 5_000),
        (http("/bytes/0", false), 0),
        (http("/bytes/0", true), 0),
        (http("/chunked/700", false), 700),
        (http("/chunked/700", true), 700),
        (call("SayHello", r#"{"name":"a"}"#, false), hello),
        (call("SayHello", r#"{"name":"a"}"#, true), hello),
        (call("SayHellos", r#"{"name":"a","replies":7}"#, false), 7 * hello),
        (messaging(1, false), 1),
        (messaging(6_000, false), 6_000),
        (messaging(6_000, true), 6_000),
    ];
    for (flags, size) in cases {
        for (bounds, holds) in [
            (vec![(Relation::AtMost, size), (Relation::AtLeast, size)], true),
            (vec![(Relation::Below, size + 1)], true),
            (vec![(Relation::AtLeast, 0), (Relation::Above, size)], false),
            (vec![(Relation::Below, size)], false),
            (vec![(Relation::AtLeast, size + 1)], false),
        ] {
            let history = played(&flags, &[], &bounds);
            let expect = if holds { vec![] } else { vec![(Failure::SizeCheck, 30)] };
            assert_eq!(failures(&history), expect, "{:?} {bounds:?} {:?}", flags.url, reason(&history));
            let said = format!("{size} bytes, which is not ");
            assert!(holds || reason(&history).starts_with(&said), "{}", reason(&history));
        }
    }
}

fn reason(history: &History) -> String {
    history.total.samples().first().map(|sample| sample.reason.clone()).unwrap_or_default()
}

/// Service time runs from sent to done: waiting for a connection or a turn is not part of it.
#[test]
fn times_are_from_sent_to_done() {
    let cases = [
        http("/delay/20", false),
        http("/delay/20", true),
        call("SayHello", r#"{"name":"a","delayMs":20}"#, false),
        Flags { timeout: Some("1s".to_owned()), ..http("/delay/20", false) },
    ];
    for flags in cases {
        for (relation, limit, holds) in [
            (Relation::AtLeast, 20 * MILLI, true),
            (Relation::Below, 25 * MILLI, true),
            (Relation::Below, 20 * MILLI, false),
            (Relation::Above, 25 * MILLI, false),
        ] {
            let history = played(&flags, &[(relation, limit)], &[]);
            let expect = if holds { vec![] } else { vec![(Failure::TimeCheck, 30)] };
            assert_eq!(failures(&history), expect, "{:?} {relation:?} {limit}", flags.url);
            assert!(holds || reason(&history).starts_with("it took 20."), "{}", reason(&history));
        }
    }
    // A message that is echoed at once.
    let history = played(&messaging(10, false), &[(Relation::Below, 1)], &[]);
    assert_eq!(failures(&history), [(Failure::TimeCheck, 30)]);
    let history = played(&messaging(10, false), &[(Relation::Below, 20 * MILLI)], &[]);
    assert_eq!(failures(&history), []);
}

/// An earlier failure is reported as itself, and a response that never came has no time that could be too long.
#[test]
fn other_failures_come_first() {
    let history = played(&http("/status/500", false), &[(Relation::Below, 1)], &[(Relation::Below, 0)]);
    assert_eq!(failures(&history), [(Failure::Status, 30)]);
    let late = Flags { timeout: Some("5ms".to_owned()), ..http("/delay/20", false) };
    assert_eq!(failures(&played(&late, &[(Relation::Below, 1)], &[])), [(Failure::Timeout, 30)]);
    let both = played(&http("/bytes/5", false), &[(Relation::Below, 1)], &[(Relation::Below, 1)]);
    assert_eq!(failures(&both), [(Failure::TimeCheck, 30)]);
}
