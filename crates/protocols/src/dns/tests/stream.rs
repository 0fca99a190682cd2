//! Responses over TCP.

use wire::http1::Ending;

use super::*;

const MESSAGE: &str = "Custom(0)";

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// A connection over TCP with a query, and that query.
fn begun() -> (Driven, Vec<u8>) {
    let (step, message) =
        prepared(&endpoint("/www.example.org", false), &[("edns", Value::Number(0))]).expect("a valid step");
    let mut driven = Driven::new(step.connect(1));
    let (_, sent) = driven.begin(7, &message);
    let query = sent[2..].to_vec();
    assert_eq!((sent == framed(&query), &query[2..]), (true, &message[..]));
    (driven, query)
}

fn good(query: &[u8]) -> Vec<u8> {
    message(id_of(query), 0x8180, query, [&[(OWNER, 1, 60, &[192, 0, 2, 1])], &[], &[]])
}

/// The same events however the bytes are cut.
fn check(bytes: &[u8], expected: &[&str]) {
    for at in 0..=bytes.len() {
        let (mut driven, _) = begun();
        let (front, back) = bytes.split_at(at);
        let mut events = driven.handle(front);
        let is_broken = events.last().is_some_and(|event| event.starts_with("Custom"));
        if !is_broken {
            events.extend(driven.handle(back));
        }
        assert_eq!(joined(events), expected, "cut at {at}");
    }
    let (mut driven, mut events) = (begun().0, Vec::new());
    for byte in bytes.chunks(1) {
        events.extend(driven.handle(byte));
        if events.last().is_some_and(|event| event.starts_with("Custom")) {
            break;
        }
    }
    assert_eq!(joined(events), expected, "byte for byte");
}

/// Pieces of what is unsolicited as one.
fn joined(events: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for event in events {
        match (event.strip_prefix("unsolicited "), joined.last_mut()) {
            (Some(more), Some(last)) if last.starts_with("unsolicited ") => last.push_str(more),
            _ => joined.push(event),
        }
    }
    joined
}

#[test]
fn a_response_is_found_however_it_is_cut() {
    let (_, query) = begun();
    let good = good(&query);
    let response = format!("7 NOERROR true {}", good.len());
    check(&framed(&good), &[&response]);
    let other = message(id_of(&query), 0x8183, &query, [&[], &[], &[]]);
    check(&framed(&other), &[&format!("7 NXDOMAIN false {}", other.len())]);
    check(&[framed(&good), b"\0x".to_vec()].concat(), &[&response, "unsolicited \\x00x"]);
    let large: Vec<u8> = vec![b'x'; 60_000];
    let long = message(id_of(&query), 0x8180, &query, [&[(OWNER, 99, 60, &large)], &[], &[]]);
    let mut driven = begun().0;
    let events: Vec<String> = framed(&long).chunks(1_000).flat_map(|piece| driven.handle(piece)).collect();
    assert_eq!(events, [format!("7 NOERROR true {}", long.len())]);
}

#[test]
fn what_is_no_response_to_the_query_is_a_failure() {
    let (_, query) = begun();
    let good = good(&query);
    for length in 0..12_u16 {
        check(&[&length.to_be_bytes()[..], &vec![0; usize::from(length)]].concat(), &[MESSAGE]);
    }
    for at in [0, 1, 4, 5, 6, 13, 30, 32] {
        let mut changed = good.clone();
        changed[at] ^= 1;
        check(&framed(&changed), &[MESSAGE]);
    }
    for cut in 12..good.len() {
        check(&framed(&good[..cut]), &[MESSAGE]);
    }
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n", &[]);
    // Nothing follows one that is truncated over TCP.
    check(&framed(&message(id_of(&query), 0x8380, &query, [&[], &[], &[]])), &[MESSAGE]);
    let mut query_back = good.clone();
    query_back[2] &= 0x7f;
    check(&framed(&query_back), &[MESSAGE]);
}

#[test]
fn exchanges_follow_each_other() {
    let (mut driven, mut query) = begun();
    for tag in 8..20 {
        assert!(!driven.connection.is_idle());
        assert_eq!(driven.handle(&framed(&good(&query))).len(), 1);
        assert_eq!((driven.connection.is_idle(), driven.connection.room()), (true, 1));
        assert_eq!(driven.connection.park(), Some(protocol::IdleState::default()));
        let (_, sent) = driven.begin(tag, &query[2..]);
        assert_ne!(sent[2..4], query[..2], "another ID");
        query = sent[2..].to_vec();
    }
}

#[test]
fn what_comes_without_a_query_ends_the_connection() {
    let (step, _) = plain("a", "A");
    let mut driven = Driven::new(step.connect_stream(1));
    assert_eq!((driven.connection.is_idle(), driven.connection.is_used_up()), (true, false));
    assert_eq!(driven.handle(b"\0\x0c"), ["unsolicited \\x00\\x0c"]);
    assert_eq!((driven.connection.is_idle(), driven.connection.is_used_up()), (false, true));
    assert_eq!((driven.connection.room(), driven.connection.park()), (0, None));
    assert_eq!(driven.handle(b"\xff"), ["unsolicited \\xff"]);
}

#[test]
fn the_end_of_a_connection_is_before_or_within_a_response() {
    let (mut driven, query) = begun();
    assert_eq!(driven.connection.handle_end(), Ending::BeforeAnswer);
    assert_eq!(driven.handle(&framed(&good(&query))[..20]), Vec::<String>::new());
    assert_eq!((driven.connection.handle_end(), driven.connection.begun().len()), (Ending::Early, 20));
    assert_eq!((driven.connection.is_idle(), driven.connection.park()), (false, None));
}

#[test]
fn a_query_that_cannot_be_written_fails_whatever_comes() {
    let (step, _) = plain("a", "A");
    let mut driven = Driven::new(step.connect_stream(1));
    let (number, sent) = driven.begin(3, b"");
    assert_eq!(driven.connection.overdue(number).map(|fault| format!("{fault:?}")).as_deref(), Some("Custom(1)"));
    let response = message(id_of(&sent[2..]), 0x8180, &sent[2..], [&[], &[], &[]]);
    assert_eq!(driven.handle(&framed(&response)), ["Custom(1)"]);
}
