//! Responses over UDP, and what is none.

use pacing::Random;

use super::super::connection::EXCHANGES_MAX;
use super::*;

const MESSAGE: &str = "Custom(0)";
const NAME: &str = "Custom(1)";

fn begun(name: &str) -> (Driven, Vec<u8>) {
    let (step, message) = plain(name, "A");
    let mut driven = Driven::new(step.connect(1));
    assert_eq!((driven.connection.room(), driven.connection.is_idle()), (1, true));
    let (number, query) = driven.begin(7, &message);
    assert_eq!((number, driven.connection.is_idle(), &query[2..]), (1, false, &message[..]));
    (driven, query)
}

/// A response with an address.
fn good(query: &[u8]) -> Vec<u8> {
    message(id_of(query), 0x8180, query, [&[(OWNER, 1, 60, &[192, 0, 2, 1])], &[], &[]])
}

/// The event of that response.
fn answered(tag: Tag, query: &[u8]) -> String {
    format!("{tag} NOERROR true {}", good(query).len())
}

#[test]
fn each_response_code_is_a_status() {
    let words = [
        "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
        "NOTZONE", "RCODE11", "RCODE12", "RCODE13", "RCODE14", "RCODE15",
    ];
    for (code, word) in (0..).zip(words) {
        let (mut driven, query) = begun("www.example.org");
        let response = message(id_of(&query), 0x8180 | code, &query, [&[], &[], &[]]);
        assert_eq!(driven.datagram(&response), format!("7 {word} {} {}", code == 0, response.len()));
        assert!(driven.connection.is_idle());
        assert_eq!(driven.datagram(&response), "Duplicate");
    }
}

#[test]
fn edns_has_further_bits_of_the_response_code() {
    for (low, ttl, word) in [
        (0, 0x0100_0000, "BADVERS false"),
        (7, 0x0100_8000, "BADCOOKIE false"),
        (0, 0x0000_8000, "NOERROR true"),
        (15, 0xff00_0000, "RCODE-OTHER false"),
    ] {
        let (mut driven, query) = begun("www.example.org");
        let sections: [&[Record<'_>]; 3] =
            [&[], &[(OWNER, 6, 9, b"")], &[(b"\x01x\0", 1, 9, b""), (b"\0", 41, ttl, b"")]];
        let response = message(id_of(&query), 0x8180 | low, &query, sections);
        assert_eq!(driven.datagram(&response), format!("7 {word} {}", response.len()));
    }
}

#[test]
fn a_server_that_refuses_may_leave_the_question_out() {
    for (code, is_taken) in (0..16).zip([false, true, true, false, true, true].into_iter().chain([false; 10])) {
        let (mut driven, query) = begun("www.example.org");
        let mut response = Vec::new();
        MessageHead { id: id_of(&query), flags: 0x8000 | code, counts: [0; 4] }.push(&mut response);
        let event = driven.datagram(&response);
        assert_eq!(event == "Unmatched", !is_taken, "{code}: {event}");
        let expected = if is_taken { "Duplicate".to_owned() } else { answered(7, &query) };
        assert_eq!(driven.datagram(&good(&query)), expected);
    }
}

#[test]
fn a_name_may_come_back_in_another_case() {
    let (mut driven, query) = begun("wWw.exAmple.org");
    let mut response = good(&query);
    let length = response.len();
    response[12..12 + 17].make_ascii_lowercase();
    assert_eq!(driven.datagram(&response), format!("7 NOERROR true {length}"));
    // But a type is not a letter: HTTPS is 65, and 97 is another.
    let (step, message) = plain("a", "HTTPS");
    let mut driven = Driven::new(step.connect(1));
    let (_, query) = driven.begin(7, &message);
    let mut response = super::message(id_of(&query), 0x8180, &query, [&[], &[], &[]]);
    response[16] = 97;
    assert_eq!(driven.datagram(&response), "Unmatched");
}

#[test]
fn what_is_no_response_to_the_query_is_unmatched() {
    let (mut driven, query) = begun("www.example.org");
    let good = good(&query);
    let other = |name: &str, kind: &str| {
        let other = [&query[..2], &plain(name, kind).1].concat();
        super::message(id_of(&query), 0x8180, &other, [&[], &[], &[]])
    };
    let changed = |at: usize, value: u8| {
        let mut changed = good.clone();
        changed[at] = value;
        changed
    };
    let class = changed(12 + 17 + 3, 3);
    let questions = [changed(5, 0), changed(5, 2), changed(4, 1)];
    let flags = [changed(2, good[2] & 0x7f), changed(2, good[2] | 0x08), changed(2, good[2] | 0x40)];
    let ids = [changed(0, !good[0]), changed(1, good[1] ^ 1)];
    let compressed = [&good[..12], b"\x03www\xc0\x0c", &good[29..]].concat();
    let garbage =
        [b"x".to_vec(), vec![0xff; 11], vec![0; 12], vec![0xff; 512], b"HTTP/1.1 400 Bad Request\r\n".to_vec()];
    let names = [other("www.example.com", "A"), other("www.example.org", "AAAA"), other(".", "A"), class, compressed];
    for datagram in [&questions[..], &flags, &ids, &garbage, &names].concat() {
        assert_eq!(driven.datagram(&datagram), "Unmatched", "{}", datagram.escape_ascii());
        assert!(!driven.connection.is_idle());
        assert_eq!(driven.connection.overdue(1), None);
    }
    assert_eq!(driven.datagram(&good), format!("7 NOERROR true {}", good.len()));
}

#[test]
fn a_cut_response_is_never_taken() {
    let (_, query) = begun("www.example.org");
    let good = good(&query);
    for cut in 1..good.len() {
        let (mut driven, _) = begun("www.example.org");
        assert_eq!(driven.datagram(&good[..cut]), "Unmatched", "{cut}");
        // Where it is one to this query, that is why there was no response.
        let question_end = 12 + 17 + 4;
        let fault = driven.connection.overdue(1).map(|fault| format!("{fault:?}"));
        assert_eq!(fault.as_deref(), (cut >= question_end).then_some(MESSAGE), "{cut}");
        assert_eq!(driven.connection.overdue(2), None);
        assert_eq!(driven.datagram(&good), format!("7 NOERROR true {}", good.len()));
        assert_eq!(driven.datagram(&good[..cut]), "Unmatched", "after it, {cut}");
    }
}

#[test]
fn a_changed_byte_is_never_taken_wrongly() {
    let (_, query) = begun("www.example.org");
    let good = good(&query);
    let (codes, question) = (good[3] & 0x0f, 12..12 + 17 + 4);
    for at in 0..good.len() {
        for value in (0..=255).filter(|value| *value != good[at]) {
            let (mut driven, _) = begun("www.example.org");
            let mut changed = good.clone();
            changed[at] = value;
            let event = driven.datagram(&changed);
            let is_response = event.starts_with("7 ") && event.ends_with(&format!(" {}", good.len()));
            let is_taken = match at {
                0 | 1 | 4 | 5 => false,
                2 if value & 0xf8 != 0x80 => false,
                2 if value & 0x02 != 0 => event == "7 over a stream",
                2 => event.starts_with("7 NOERROR true "),
                3 => is_response && event.starts_with("7 NOERROR") == (value & 0x0f == codes),
                // More records than there are; fewer are bytes after the end.
                6 | 8..=11 => false,
                7 => value == 0,
                at if question.contains(&at) => {
                    at < question.end - 4 && value.eq_ignore_ascii_case(&good[at]) && is_response
                }
                _ => is_response,
            };
            assert!(is_taken || event == "Unmatched", "{at} {value}: {event}");
            let is_length = at >= question.end && (at < question.end + 2 || (10..12).contains(&(at - question.end)));
            assert!(is_taken || at < question.end || is_length, "{at} {value}: {event}");
        }
    }
}

#[test]
fn a_response_that_does_not_fit_comes_over_a_stream() {
    let (mut driven, query) = begun("www.example.org");
    let truncated = message(id_of(&query), 0x8380, &query, [&[], &[], &[]]);
    assert_eq!(driven.datagram(&truncated), "7 over a stream");
    assert_eq!((driven.connection.is_idle(), driven.datagram(&truncated)), (true, "Duplicate".to_owned()));
    let mut out = Vec::new();
    driven.abandon(1);
    assert!(!driven.connection.resend(1, &mut out) && out.is_empty());
    assert_eq!(driven.datagram(&truncated), "Duplicate");
    // Some servers cut it in the middle of a record.
    let (mut driven, query) = begun("www.example.org");
    let mut cut = good(&query);
    cut[2] |= 0x02;
    cut.pop();
    assert_eq!(driven.datagram(&cut), "7 over a stream");
    assert_eq!(driven.datagram(&cut), "Duplicate");
}

#[test]
fn late_responses_and_duplicates_are_known() {
    let (step, message) = plain("www.example.org", "A");
    let mut driven = Driven::new(step.connect(1));
    let mut sent = Vec::new();
    for tag in 0..6 {
        let (number, query) = driven.begin(tag, &message);
        if tag % 2 == 0 {
            driven.abandon(number);
            driven.abandon(number);
        } else {
            assert_eq!(driven.datagram(&good(&query)), answered(tag, &query));
            driven.abandon(number);
        }
        sent.push(query);
    }
    let (number, query) = driven.begin(9, &message);
    for _ in 0..2 {
        for (tag, query) in sent.iter().enumerate() {
            let expected = if tag % 2 == 0 { "Late" } else { "Duplicate" };
            assert_eq!(driven.datagram(&good(query)), expected);
            let mut other = good(query);
            other[14] ^= 1;
            assert_eq!(driven.datagram(&other), "Unmatched", "another question with this ID");
            let cut = &good(query)[..40];
            assert_eq!(driven.datagram(cut), "Unmatched", "not a valid message");
        }
        for number in 1..number {
            assert_eq!(driven.connection.overdue(number), None);
            driven.abandon(number);
        }
    }
    assert_eq!(driven.datagram(&good(&query)), answered(9, &query));
}

#[test]
fn the_same_query_is_sent_again() {
    let (step, message) = plain("www.example.org", "A");
    let mut driven = Driven::new(step.connect(1));
    let mut out = b"before".to_vec();
    assert!(!driven.connection.resend(0, &mut out));
    for tag in 1..4 {
        let (number, query) = driven.begin(tag, &message);
        for _ in 0..2 {
            assert!(driven.connection.resend(number, &mut out));
            assert_eq!(out.split_off(6), query);
        }
        assert!(!driven.connection.resend(number - 1, &mut out) && !driven.connection.resend(number + 1, &mut out));
        assert_eq!(driven.datagram(&good(&query)), answered(tag, &query));
        assert!(!driven.connection.resend(number, &mut out));
        assert_eq!((driven.datagram(&good(&query)), out.as_slice()), ("Duplicate".to_owned(), &b"before"[..]));
    }
}

#[test]
fn ids_are_used_once_and_run_out() {
    let (step, message) = plain("www.example.org", "A");
    let mut driven = Driven::new(step.connect(1));
    let mut ids = std::collections::HashSet::new();
    let mut first = Vec::new();
    for tag in 0..EXCHANGES_MAX as u64 {
        assert_eq!((driven.connection.room(), driven.connection.is_used_up()), (1, false));
        let (number, query) = driven.begin(tag, &message);
        assert!(ids.insert(id_of(&query)));
        if tag % 3 == 0 {
            driven.abandon(number);
        } else {
            assert_eq!(driven.datagram(&good(&query)), answered(tag, &query));
        }
        if first.is_empty() {
            first = query;
        }
    }
    assert_eq!((driven.connection.room(), driven.connection.is_used_up()), (0, true));
    assert!(driven.connection.is_idle());
    assert_eq!(driven.datagram(&good(&first)), "Late");
    // Other masks are other IDs.
    let mut other = Driven::new(step.connect(2));
    other.masks = 99;
    assert_ne!(other.begin(0, &message).1[..2], first[..2]);
}

/// What is known of each ID, without bounds.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Pending,
    Answered,
    Abandoned,
}

#[test]
fn any_order_of_datagrams_is_matched() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let steps: Vec<_> = (0..5).map(|number| plain(&format!("host{number}.example.org"), "A")).collect();
        let mut driven = Driven::new(steps[0].0.connect(1));
        driven.masks = seed as u32;
        let mut all: Vec<(Vec<u8>, Known)> = Vec::new();
        for _ in 0..300 {
            let last = all.len() as u32;
            match (random.below(4), all.last().is_some_and(|(_, known)| *known == Known::Pending)) {
                (0, true) => {
                    driven.abandon(last);
                    all.last_mut().expect("one").1 = Known::Abandoned;
                }
                (0, false) => {
                    let message = &steps[random.below(5) as usize].1;
                    let (number, query) = driven.begin(u64::from(last), message);
                    assert_eq!(number, last + 1);
                    all.push((query, Known::Pending));
                }
                (1, _) => {
                    let mut query = plain("host0.example.org", "A").1;
                    query.splice(..0, (random.next_u64() as u16).to_be_bytes());
                    let is_known = all.iter().any(|(known, _)| known[..2] == query[..2]);
                    assert!(is_known || driven.datagram(&good(&query)) == "Unmatched");
                }
                _ if all.is_empty() => {}
                _ => {
                    let at = random.below(all.len() as u64) as usize;
                    let at = if random.below(2) == 0 { at } else { all.len() - 1 };
                    let (query, known) = &mut all[at];
                    let expected = match known {
                        Known::Pending => format!("{at} NOERROR true {}", good(query).len()),
                        Known::Answered => "Duplicate".to_owned(),
                        Known::Abandoned => "Late".to_owned(),
                    };
                    assert_eq!(driven.datagram(&good(query)), expected, "seed {seed}");
                    if *known == Known::Pending {
                        *known = Known::Answered;
                    }
                }
            }
            let is_pending = all.last().is_some_and(|(_, known)| *known == Known::Pending);
            assert_eq!(driven.connection.is_idle(), !is_pending);
        }
    }
}

#[test]
fn a_query_that_cannot_be_written_fails_whatever_comes() {
    let (step, _) = plain("www.example.org", "A");
    for flags in [0x8180, 0x8183, 0x8380] {
        let mut driven = Driven::new(step.connect(1));
        let (number, query) = driven.begin(3, b"");
        assert_eq!(&query[2..], b"\0\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01", "the root, without recursion");
        assert_eq!(driven.connection.overdue(number).map(|fault| format!("{fault:?}")).as_deref(), Some(NAME));
        let mut out = Vec::new();
        assert!(driven.connection.resend(number, &mut out) && out == query);
        assert_eq!(driven.datagram(b"what"), "Unmatched");
        assert_eq!(driven.datagram(&message(id_of(&query), flags, &query, [&[], &[], &[]])), NAME);
        // The next is as any other.
        let (number, query) = driven.begin(4, &plain("a", "A").1);
        assert_eq!(driven.connection.overdue(number), None);
        assert_eq!(driven.datagram(&good(&query)), answered(4, &query));
    }
    let mut driven = Driven::new(step.connect(1));
    let (number, query) = driven.begin(3, b"");
    assert_eq!(driven.datagram(&good(&query)[..20]), "Unmatched");
    driven.abandon(number);
    assert_eq!(driven.connection.overdue(number).map(|fault| format!("{fault:?}")).as_deref(), Some(NAME));
    assert_eq!(driven.datagram(&good(&query)), "Late");
}

#[test]
fn an_empty_datagram_has_no_event() {
    let (mut driven, query) = begun("www.example.org");
    assert_eq!(driven.handle(b""), Vec::<String>::new());
    assert_eq!(driven.datagram(&good(&query)), answered(7, &query));
}
