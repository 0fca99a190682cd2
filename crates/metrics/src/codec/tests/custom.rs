//! Failures of custom protocols, and statuses that are words, in snapshots.

use super::*;
use crate::outcome::{CUSTOM_FIRST, custom_failures};

const FAILURES: u8 = Section::CustomFailures as u8;
const WORDS: u8 = Section::StatusWords as u8;

/// A text as it is written.
fn text(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// A failure of a host: a section of another kind, with the same encoding as samples and the slowest exchanges.
fn at_host(name: &[u8], count: u8) -> Vec<u8> {
    let mut content = Vec::new();
    put(&mut content, CUSTOM_FIRST as u64);
    joined(&[&content, name, &text("a"), &[count]])
}

#[test]
fn failures_are_written_by_their_names() {
    let [reply, login, silence] = custom_failures();
    let mut seen = Snapshot::default();
    seen.fail(SeriesId::step(2), reply);
    seen.fail(SeriesId::step(0), login);
    seen.outcome(SeriesId::step(1), Outcome::Failed(login)).record(Measure::Response, 5);
    seen.failures_by_host.add(silence, &"a:53".into(), 3);
    let bytes = bytes_of(&seen);
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    // In the order of their names: the number of the second one is lower.
    let own = joined(&[&text("redis-login"), &[1, 2, 0, 1, 0, 1], &text("redis-reply"), &[0, 1, 2, 1]]);
    assert!(has(&joined(&[&[FAILURES, own.len() as u8], &own])), "{bytes:?}");
    assert!(has(&at_host(&text("dns-silence"), 3)[..12]), "{bytes:?}");
    assert!(Snapshot::decode(&bytes).expect("what was written is read") == seen);
}

/// A failure that this process does not know is an error that names it; what can be no name is damage.
#[test]
fn unknown_failures_are_refused_by_name() {
    custom_failures();
    let refused = |name: &str| Err(SnapshotError::Protocol { failure: name.to_owned() });
    let of = |name: &str| {
        [
            section(FAILURES, &joined(&[&text(name), &[1, 0]])).map(|_| ()),
            section(Section::FailuresByHost as u8, &at_host(&text(name), 1)).map(|_| ()),
        ]
    };
    assert_eq!(of("dns-silence"), [Ok(()), Ok(())]);
    for name in ["dns-silenc", "timeout", "x"] {
        assert_eq!(of(name), [refused(name), refused(name)]);
    }
    for name in ["", "Redis-login", "redis login", "\u{1b}[2J", "状态", &"x".repeat(65)] {
        assert!(of(name).iter().all(|read| matches!(read, Err(SnapshotError::Damaged { .. }))), "{name:?}");
    }
    let text = SnapshotError::Protocol { failure: "dns-silenc".to_owned() }.to_string();
    assert!(text.contains(": dns-silenc; use"), "{text}");
    let mut held = crate::Held::default();
    held.counts.failed[custom_failures()[0].index()] = 1;
    let mut bytes = Vec::new();
    held.encode(&mut bytes);
    let at = bytes.windows(5).position(|window| window == b"reply").expect("the name is written");
    bytes[at] = b'x';
    assert_eq!(crate::Held::decode(&bytes).map(|_| ()), refused("redis-xeply"));
}

#[test]
fn what_cannot_be_is_refused() {
    custom_failures();
    let (login, reply) = (text("redis-login"), text("redis-reply"));
    let fine: [(u8, Vec<u8>); 5] = [
        (FAILURES, joined(&[&login, &[1, 0], &reply, &[2, 0]])),
        (FAILURES, joined(&[&login, &[0, 2, 0, 1, 0, 1]])),
        (WORDS, joined(&[&text("OK"), &[1]])),
        (WORDS, joined(&[&text("A"), &[1], &text("z"), &[1], &text("other"), &[1]])),
        (WORDS, joined(&[&text("other"), &[1]])),
    ];
    for (number, content) in &fine {
        assert!(section(*number, content).is_ok(), "{content:?}");
        for cut in 0..content.len() {
            // A section may end after each of its items.
            match section(*number, &content[..cut]) {
                Ok(seen) => assert!(bytes_of(&seen).ends_with(&[&content[..cut], &[END]].concat()), "cut at {cut}"),
                Err(error) => assert!(matches!(error, SnapshotError::Damaged { .. }), "cut at {cut}: {error}"),
            }
        }
    }
    let many = |count: u8| -> Vec<u8> { (0..count).flat_map(|at| [2, b'a' + at / 26, b'a' + at % 26, 1]).collect() };
    assert!(section(WORDS, &many(STATUS_WORDS_MAX as u8)).is_ok());
    let mut first = Vec::new();
    put(&mut first, CUSTOM_FIRST as u64);
    first.push(1);
    let cases: [(&str, u8, Vec<u8>); 17] = [
        ("a number of this process among those of all", 5, first.clone()),
        ("the same of a series", 22, first.clone()),
        ("a failure that did not occur", FAILURES, joined(&[&login, &[0, 0]])),
        ("a failure twice", FAILURES, joined(&[&login, &[1, 0], &login, &[1, 0]])),
        ("failures out of order", FAILURES, joined(&[&reply, &[1, 0], &login, &[1, 0]])),
        ("a failure without a count", FAILURES, login.clone()),
        ("more series than bytes", FAILURES, joined(&[&login, &[1, 3, 0, 1]])),
        ("a series that counted nothing", FAILURES, joined(&[&login, &[1, 1, 0, 0]])),
        ("a series behind the last step", FAILURES, joined(&[&login, &[1, 1, 64, 1]])),
        ("a name without an end", FAILURES, vec![100, b'a']),
        ("a word that counted nothing", WORDS, joined(&[&text("OK"), &[0]])),
        ("a word twice", WORDS, joined(&[&text("OK"), &[1], &text("OK"), &[1]])),
        ("words out of order", WORDS, joined(&[&text("OK"), &[1], &text("ERR"), &[1]])),
        ("a word behind all others", WORDS, joined(&[&text("other"), &[1], &text("z"), &[1]])),
        ("an empty word", WORDS, vec![0, 1]),
        ("a word that is too long", WORDS, joined(&[&text(&"x".repeat(33)), &[1]])),
        ("a control character", WORDS, vec![1, b'\n', 1]),
    ];
    for (name, number, content) in cases {
        assert!(matches!(section(number, &content), Err(SnapshotError::Damaged { .. })), "{name}");
    }
    let too_many = section(WORDS, &many(STATUS_WORDS_MAX as u8 + 1)).err();
    assert!(matches!(too_many, Some(SnapshotError::Damaged { .. })), "{too_many:?}");
}
