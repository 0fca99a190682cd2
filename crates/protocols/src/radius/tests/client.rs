//! Responses, late, duplicate and forged ones; identifiers.

use std::collections::HashSet;

use protocol::Fault;

use super::super::packet::{
    ACCESS_ACCEPT, ACCESS_CHALLENGE, ACCESS_REJECT, ACCOUNTING_RESPONSE, REPLY_MESSAGE, identity,
};
use super::*;

const SECRET: Option<Fault> = Some(Fault::Custom(0));
const RESPONSE: Option<Fault> = Some(Fault::Custom(1));

const PLAIN: [(u8, &[u8]); 1] = [(REPLY_MESSAGE, b"hello")];
const SIGNED: [(u8, &[u8]); 2] = [(MESSAGE_AUTHENTICATOR, &[0; 16]), (REPLY_MESSAGE, b"hello")];

fn start() -> (Box<dyn Request>, Vec<u8>) {
    prepared(&[("secret", "testing123"), ("accounting", "start"), ("session", "s1")], &[])
}

#[test]
fn each_code_is_a_status() {
    let secret = testing123();
    let (access, accounting) = (pap("nemo"), start());
    for ((step, written), code, expected) in [
        (&access, ACCESS_ACCEPT, "Access-Accept true"),
        (&access, ACCESS_REJECT, "Access-Reject false"),
        (&access, ACCESS_CHALLENGE, "Access-Challenge false"),
        (&accounting, ACCOUNTING_RESPONSE, "Accounting-Response true"),
    ] {
        for attributes in [&[][..], &PLAIN, &SIGNED] {
            let mut driven = Driven::new(&**step);
            let (number, request) = driven.begin(5, written);
            let mut bytes = response(&secret, code, &request, attributes);
            // What stands behind the packet is padding.
            bytes.extend(b"padding");
            assert_eq!(driven.handle(&bytes), format!("5 {expected}"));
            assert!(driven.connection.is_idle() && driven.connection.overdue(number).is_none());
        }
    }
}

#[test]
fn codes_that_do_not_fit_the_request_are_not_taken() {
    let secret = testing123();
    for ((step, written), codes) in
        [(pap("nemo"), &[0, 1, 4, 5, 12, 13, 40, 255][..]), (start(), &[0, 1, 2, 3, 4, 11, 52])]
    {
        let mut driven = Driven::new(&*step);
        let (number, request) = driven.begin(1, &written);
        for code in codes {
            assert_eq!(driven.handle(&response(&secret, *code, &request, &SIGNED)), UNMATCHED, "code {code}");
        }
        assert_eq!(driven.connection.overdue(number), RESPONSE);
        driven.abandon(number);
        let (number, _) = driven.begin(1, &written);
        assert_eq!(driven.connection.overdue(number), None, "the reason was that of another exchange");
    }
}

#[test]
fn responses_that_are_cut_or_changed_are_never_taken() {
    let secret = testing123();
    for (step, written) in [pap("nemo"), start()] {
        let code = if written[0] == ACCESS_REQUEST { ACCESS_ACCEPT } else { ACCOUNTING_RESPONSE };
        for attributes in [&[][..], &PLAIN, &SIGNED] {
            let mut driven = Driven::new(&*step);
            let (_, request) = driven.begin(1, &written);
            let bytes = response(&secret, code, &request, attributes);
            for length in 1..bytes.len() {
                assert_eq!(driven.handle(&bytes[..length]), UNMATCHED, "{length} bytes");
            }
            for at in 0..bytes.len() {
                for change in 1..=255 {
                    let mut changed = bytes.clone();
                    changed[at] ^= change;
                    assert_eq!(driven.handle(&changed), UNMATCHED, "byte {at} changed by {change}");
                }
            }
            assert!(driven.handle(&bytes).starts_with("1 Acc"), "the exchange went on");
        }
    }
}

#[test]
fn lengths_of_attributes_are_checked_behind_the_authenticator() {
    let secret = testing123();
    let (step, written) = pap("nemo");
    for tail in [&[18][..], &[18, 0], &[18, 1], &[18, 3], &[18, 4, b'a'], &[18, 3, b'a', 0]] {
        let mut driven = Driven::new(&*step);
        let (number, request) = driven.begin(1, &written);
        let mut packet = response(&secret, ACCESS_ACCEPT, &request, &PLAIN);
        packet.extend(tail);
        write_length(0, &mut packet);
        let packet = signed(&secret, packet, &request, None);
        assert_eq!(driven.handle(&packet), UNMATCHED, "{tail:?}");
        assert_eq!(driven.connection.overdue(number), RESPONSE);
    }
}

#[test]
fn a_wrong_message_authenticator_behind_a_right_authenticator_is_not_taken() {
    let secret = testing123();
    let (step, written) = pap("nemo");
    for value in [&[1; 16][..], &[0; 15], &[0; 17], &[0; 1]] {
        let mut driven = Driven::new(&*step);
        let (number, request) = driven.begin(1, &written);
        let mut packet = response(&secret, ACCESS_ACCEPT, &request, &PLAIN);
        push_attribute(MESSAGE_AUTHENTICATOR, value, &mut packet);
        write_length(0, &mut packet);
        assert_eq!(driven.handle(&signed(&secret, packet, &request, None)), UNMATCHED);
        assert_eq!(driven.connection.overdue(number), SECRET);
    }
}

#[test]
fn another_secret_is_known_when_the_exchange_is_overdue() {
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    let (first, request) = driven.begin(1, &written);
    assert_eq!(driven.connection.overdue(first), None);
    let mut elsewhere = request.clone();
    elsewhere[1] = 99;
    assert_eq!(driven.handle(&response(&Secret::new(b"other"), ACCESS_ACCEPT, &elsewhere, &PLAIN)), UNMATCHED);
    assert_eq!(driven.connection.overdue(first), None, "the identifier is that of no request");
    assert_eq!(driven.handle(&response(&Secret::new(b"other"), ACCESS_ACCEPT, &request, &PLAIN)), UNMATCHED);
    assert_eq!((driven.connection.overdue(first), driven.connection.overdue(first + 1)), (SECRET, None));
    driven.abandon(first);
    assert_eq!(driven.connection.overdue(first), SECRET, "in either order");

    let (second, request) = driven.begin(2, &written);
    assert_eq!(driven.handle(&response(&Secret::new(b""), ACCESS_REJECT, &request, &SIGNED)), UNMATCHED);
    assert_eq!((driven.connection.overdue(first), driven.connection.overdue(second)), (None, SECRET));
    let right = response(&testing123(), ACCESS_REJECT, &request, &SIGNED);
    assert_eq!(driven.handle(&right), "2 Access-Reject false", "a forged response does not end an exchange");
}

#[test]
fn garbage_is_unmatched() {
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    for datagram in [&[0][..], &[2; 20], &[2, 0, 0, 20], &[0; 20], &[255; 5_000], b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
        assert_eq!(driven.handle(datagram), UNMATCHED, "before any exchange");
    }
    let (number, request) = driven.begin(1, &written);
    for length in 1..200 {
        for byte in [0, 1, 2, 3, 20, 255] {
            assert_eq!(driven.handle(&vec![byte; length]), UNMATCHED);
        }
    }
    assert_eq!(driven.handle(&request), UNMATCHED, "an echo");
    let mut long = response(&testing123(), ACCESS_ACCEPT, &request, &[]);
    long.resize(4_097, 1);
    long[2..4].copy_from_slice(&4_097_u16.to_be_bytes());
    assert_eq!(driven.handle(&signed(&testing123(), long, &request, None)), UNMATCHED, "longer than any packet");
    assert!(!driven.connection.is_idle());
    driven.abandon(number);
}

#[test]
fn one_more_response_is_a_duplicate() {
    let secret = testing123();
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    let mut before: Vec<Vec<u8>> = Vec::new();
    for round in 0..600 {
        let (_, request) = driven.begin(round, &written);
        let bytes = response(&secret, ACCESS_ACCEPT, &request, &SIGNED);
        // The last eight are remembered, in an exchange and between two.
        for (back, old) in before.iter().rev().enumerate().take(12) {
            assert_eq!(driven.handle(old), if back < 8 { DUPLICATE } else { UNMATCHED }, "{back} before");
        }
        assert_eq!(driven.handle(&bytes), format!("{round} Access-Accept true"));
        assert_eq!(driven.handle(&bytes), DUPLICATE);
        let mut changed = bytes.clone();
        changed[25] ^= 1;
        assert_eq!(driven.handle(&changed), UNMATCHED);
        before.push(bytes);
    }
}

#[test]
fn a_response_after_the_timeout_is_late() {
    let secret = testing123();
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    let (first, one) = driven.begin(1, &written);
    let late = response(&secret, ACCESS_ACCEPT, &one, &SIGNED);
    driven.abandon(first);
    assert!(driven.connection.is_idle());
    assert_eq!((driven.handle(&late), driven.handle(&late)), (LATE.to_owned(), LATE.to_owned()));
    let (second, two) = driven.begin(2, &written);
    assert_ne!(identity(&one).0, identity(&two).0);
    let mut forged = late.clone();
    forged[4] ^= 1;
    assert_eq!((driven.handle(&late), driven.handle(&forged)), (LATE.to_owned(), UNMATCHED.to_owned()));
    assert_eq!(driven.connection.overdue(second), None, "the forged one has another identifier");
    // A response with the identifier of one request and the authenticator of another is that to neither.
    let mut mixed = one.clone();
    mixed[1] = two[1];
    assert_eq!(driven.handle(&response(&secret, ACCESS_ACCEPT, &mixed, &SIGNED)), UNMATCHED);
    driven.abandon(first);
    assert!(!driven.connection.is_idle(), "the first is over already");
    assert_eq!(driven.handle(&response(&secret, ACCESS_REJECT, &two, &PLAIN)), "2 Access-Reject false");
    driven.abandon(second);
    assert_eq!(driven.handle(&response(&secret, ACCESS_REJECT, &two, &PLAIN)), DUPLICATE);
}

#[test]
fn identifiers_go_round_without_those_of_abandoned_requests() {
    let secret = testing123();
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    let (mut abandoned, mut late, mut ids) = (HashSet::new(), Vec::new(), Vec::new());
    while !driven.connection.is_used_up() {
        assert_eq!(driven.connection.room(), 1);
        let (number, request) = driven.begin(9, &written);
        let bytes = response(&secret, ACCESS_ACCEPT, &request, &SIGNED);
        assert!(!abandoned.contains(&request[1]), "{} is used again", request[1]);
        ids.push(request[1]);
        if number % 3 == 0 {
            abandoned.insert(request[1]);
            late.push(bytes);
            driven.abandon(number);
        } else {
            assert_eq!(driven.handle(&bytes), "9 Access-Accept true");
        }
    }
    assert_eq!((abandoned.len(), driven.connection.room()), (256, 0));
    assert!(ids[..256].iter().enumerate().all(|(at, id)| at == usize::from(*id)), "in order");
    assert_eq!(ids.len(), 3 * 256);
    assert!(driven.connection.is_idle());
    assert!(late.iter().all(|bytes| driven.handle(bytes) == LATE));
}

#[test]
fn the_last_identifier_may_be_used_while_the_others_are_abandoned() {
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    for _ in 0..255 {
        let (number, _) = driven.begin(1, &written);
        driven.abandon(number);
    }
    for round in 0..20 {
        let (_, request) = driven.begin(round, &written);
        assert_eq!((request[1], driven.connection.room()), (255, 1));
        let bytes = response(&testing123(), ACCESS_ACCEPT, &request, &PLAIN);
        assert_eq!(driven.handle(&bytes), format!("{round} Access-Accept true"));
        let (_, next) = driven.begin(round, &written);
        assert_eq!(driven.handle(&bytes), DUPLICATE, "of the same identifier, and no sign of another secret");
        assert_eq!(driven.connection.overdue(255 + 2 * round as u32 + 2), None);
        driven.handle(&response(&testing123(), ACCESS_ACCEPT, &next, &PLAIN));
    }
    let (number, _) = driven.begin(1, &written);
    driven.abandon(number);
    assert!(driven.connection.is_used_up());
}

#[test]
fn a_request_that_is_sent_again_is_the_same() {
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    let mut out = Vec::new();
    assert!(!driven.connection.resend(0, &mut out) && !driven.connection.resend(1, &mut out));
    let (number, request) = driven.begin(1, &written);
    for count in 1..=5 {
        assert!(driven.connection.resend(number, &mut out));
        assert_eq!(out, request.repeat(count));
    }
    assert!(!driven.connection.resend(number + 1, &mut out));
    driven.handle(&response(&testing123(), ACCESS_ACCEPT, &request, &PLAIN));
    assert!(!driven.connection.resend(number, &mut out), "it has its response");
    let (number, _) = driven.begin(1, &written);
    driven.abandon(number);
    assert!(!driven.connection.resend(number, &mut out), "it was abandoned");
}

#[test]
fn authenticators_are_never_the_same() {
    let (step, written) = pap("nemo");
    let (mut authenticators, mut passwords) = (HashSet::new(), HashSet::new());
    // The same number and the same masks, as in runs that follow each other.
    for _ in 0..50 {
        let mut driven = Driven::new(&*step);
        for _ in 0..300 {
            let (_, request) = driven.begin(1, &written);
            let (_, authenticator) = identity(&request);
            assert!(authenticators.insert(authenticator), "an authenticator came twice");
            assert!(passwords.insert(request[40..56].to_vec()), "a password was hidden twice in the same way");
            driven.handle(&response(&testing123(), ACCESS_ACCEPT, &request, &[]));
        }
    }
}

#[test]
fn a_busy_connection_is_not_stored() {
    let (step, written) = pap("nemo");
    let mut driven = Driven::new(&*step);
    driven.begin(1, &written);
    assert!(driven.connection.park().is_none() && !driven.connection.close([0; 4], &mut Vec::new()));
}
