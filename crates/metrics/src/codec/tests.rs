//! Round trips of snapshots, truncated at every byte and with every byte changed.

mod any;
mod custom;
mod golden;

use any::{any_deeds, done, times_of};
use proptest::prelude::*;

use super::*;
use crate::*;

fn bytes_of(seen: &Snapshot) -> Vec<u8> {
    let mut out = Vec::new();
    seen.encode(&mut out);
    out
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written(deeds in any_deeds()) {
        let seen = done(&deeds);
        let bytes = bytes_of(&seen);
        let again = Snapshot::decode(&bytes).expect("what was written is read");
        prop_assert!(again == seen);
        prop_assert_eq!(bytes_of(&again), bytes);
    }

    /// Memory that was used before has no influence.
    #[test]
    fn equal_snapshots_are_equal_bytes(before in any_deeds(), deeds in any_deeds()) {
        let mut used = done(&before);
        used.clear();
        prop_assert!(used == Snapshot::default());
        prop_assert_eq!(bytes_of(&used), bytes_of(&Snapshot::default()));
        deeds.iter().for_each(|deed| deed.on(&mut used));
        prop_assert!(used == done(&deeds));
        prop_assert_eq!(bytes_of(&used), bytes_of(&done(&deeds)));
    }

    #[test]
    fn what_is_merged_is_what_was_read_merged(one in any_deeds(), two in any_deeds()) {
        let (mut here, second) = (done(&one), done(&two));
        let read = |seen: &Snapshot| Snapshot::decode(&bytes_of(seen)).expect("what was written is read");
        let mut there = read(&here);
        there.merge(&read(&second));
        here.merge(&second);
        prop_assert!(here == there);
        prop_assert_eq!(bytes_of(&here), bytes_of(&there));
    }

    /// A truncated snapshot is always refused; a changed one is refused, or decodes to another snapshot that encodes to
    /// the same bytes.
    #[test]
    fn what_is_cut_or_changed_does_no_harm(deeds in any_deeds(), change in 1u8..=255) {
        let bytes = bytes_of(&done(&deeds));
        for cut in 0..bytes.len() {
            let refused = Snapshot::decode(&bytes[..cut]);
            prop_assert_eq!(refused.err(), Some(SnapshotError::Cut), "{} of {}", cut, bytes.len());
        }
        for place in (0..bytes.len()).step_by(1 + bytes.len() / 400) {
            let mut changed = bytes.clone();
            changed[place] ^= change;
            if let Ok(other) = Snapshot::decode(&changed) {
                prop_assert_eq!(bytes_of(&other), at_this_version(changed), "byte {}", place);
            }
        }
    }

    #[test]
    fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..200), with_mark in any::<bool>()) {
        let bytes = if with_mark { [&MARK[..], &[1], &bytes, &[END]].concat() } else { bytes };
        if let Ok(seen) = Snapshot::decode(&bytes) {
            prop_assert_eq!(bytes_of(&seen), at_this_version(bytes));
        }
    }
}

/// The bytes of an earlier version, encoded as those of the current one.
fn at_this_version(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[MARK.len()] = SNAPSHOT_VERSION as u8;
    bytes
}

#[test]
fn other_versions_are_refused_by_name() {
    let with = |version: u64| {
        let mut bytes = MARK.to_vec();
        put(&mut bytes, version);
        bytes.push(END);
        Snapshot::decode(&bytes)
    };
    assert!(with(SNAPSHOT_VERSION).is_ok());
    for version in [SNAPSHOT_VERSION + 1, SNAPSHOT_VERSION + 2, 1_000, u64::MAX] {
        let refused = with(version).expect_err("of a later version");
        assert_eq!(refused, SnapshotError::Version { found: version });
        let text = format!("this snapshot is of version {version}, this onrush reads up to {SNAPSHOT_VERSION}");
        assert!(refused.to_string().starts_with(&text), "{refused}");
    }
    assert_eq!(with(0).expect_err("no version"), SnapshotError::Damaged { left: 1 });
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"onrush", b"o", b"onrush/x\x01", b"", b"x"] {
        let expect = if MARK.starts_with(bytes) { SnapshotError::Cut } else { SnapshotError::Mark };
        assert_eq!(Snapshot::decode(bytes).expect_err("no snapshot"), expect, "{bytes:?}");
    }
}

/// A snapshot of one section.
fn section(number: u8, content: &[u8]) -> Result<Snapshot, SnapshotError> {
    let mut bytes = [&MARK[..], &[1, number]].concat();
    put(&mut bytes, content.len() as u64);
    bytes.extend_from_slice(content);
    bytes.push(END);
    Snapshot::decode(&bytes)
}

/// A section with invalid content is refused.
#[test]
fn what_cannot_be_is_refused() {
    let slow = |response: u8| [0, response, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let fine: [(u8, &[u8]); 6] = [
        (1, &[0, 5]),
        (6, &[1, 5, 1, 5, 0, 5]),
        (21, &[0, 1, 1, 5, 1, 5, 0, 5]),
        (22, &[0, 1]),
        (23, &[&[2][..], &slow(5), &slow(4)].concat()),
        (23, &[&[2][..], &slow(5), &slow(5)].concat()),
    ];
    assert!(fine.iter().all(|(number, content)| section(*number, content).is_ok()));
    let cases: [(&str, u8, &[u8]); 35] = [
        ("an empty section", 1, &[]),
        ("a section that there is not", 0, &[0, 5]),
        ("one that there is not yet", 24, &[0, 5]),
        ("a counter behind the last", 1, &[200, 1, 5]),
        ("a counter that counted nothing", 1, &[0, 0]),
        ("a counter without a count", 1, &[0]),
        ("a number with zeros behind it", 1, &[0, 0x85, 0]),
        ("more than can be counted", 1, &[0, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
        (
            "a number without an end",
            1,
            &[0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
        ),
        ("a status of four digits", 2, &[0xe8, 7, 1]),
        ("a failure that there is not", 5, &[80, 1]),
        ("no times", 6, &[0]),
        ("a bucket with nothing", 6, &[1, 5, 0, 5, 0, 0]),
        ("a minimum of another bucket", 6, &[1, 5, 1, 4, 1, 5]),
        ("a maximum of another bucket", 6, &[1, 5, 1, 5, 1, 6]),
        ("a sum that is too small", 6, &[1, 5, 2, 5, 0, 9]),
        ("a sum that is too large", 6, &[1, 5, 2, 5, 0, 11]),
        ("a bucket behind the last", 6, &[1, 0x81, 0x88, 2, 1, 5, 0, 5]),
        ("more buckets than bytes", 6, &[100, 5, 1, 5, 0, 5]),
        ("bytes behind the times", 6, &[1, 5, 1, 5, 0, 5, 0]),
        ("gauges of nothing", 16, &[0, 0, 0, 0]),
        ("a text that is none", 17, &[5, 1, 255]),
        ("a text that is longer than what is there", 17, &[5, 100, b'a']),
        ("the same place failures_by_host twice", 18, &[0, 1, b'a', 1, 0, 1, b'a', 1]),
        ("a series of no measure", 21, &[0, 0]),
        ("a class that there is not", 21, &[4, 1, 1, 5, 1, 5, 0, 5]),
        ("a step behind the last", 21, &[0x80, 8, 1, 1, 5, 1, 5, 0, 5]),
        ("a kind that there is not", 21, &[0x80, 0x80, 0xc0, 1, 1, 1, 5, 1, 5, 0, 5]),
        ("a series behind all numbers", 21, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1, 1, 5, 1, 5, 0, 5]),
        ("a failure of a series that there is not", 22, &[80, 1]),
        ("slowest exchanges of which none is kept", 23, &[1]),
        ("more slowest exchanges than are kept", 23, &[&[1][..], &slow(5), &slow(4)].concat()),
        ("slowest exchanges out of order", 23, &[&[2][..], &slow(4), &slow(5)].concat()),
        ("more slowest exchanges than can be kept", 23, &[&[0xe9, 7][..], &slow(5)].concat()),
        ("a measure that there is not", 21, &[0, 32, 1, 5, 1, 5, 0, 5]),
    ];
    for (name, number, content) in cases {
        assert!(matches!(section(number, content), Err(SnapshotError::Damaged { .. } | SnapshotError::Cut)), "{name}");
    }
    let twice = [&MARK[..], &[1, 1, 2, 0, 5, 1, 2, 0, 5, END]].concat();
    let turned = [&MARK[..], &[1, 5, 2, 0, 5, 1, 2, 0, 5, END]].concat();
    let behind = [&MARK[..], &[1, 1, 2, 0, 5, END, 1]].concat();
    assert!([twice, turned, behind].iter().all(|bytes| Snapshot::decode(bytes).is_err()));
}

/// A bucket whose counter overflowed exactly: its page holds only zeros.
#[test]
fn a_page_of_zeros_holds_what_was_carried() {
    for count in [1u64 << 16, 2 << 16, 5 << 32] {
        let mut seen = Snapshot::default();
        seen.lag.record_many(5_000, count);
        let again = Snapshot::decode(&bytes_of(&seen)).expect("what was written is read");
        assert_eq!((again.lag.count(), again.lag.quantile(0.5)), (count, Some(5_000)));
        assert!(again == seen);
        let mut both = again.clone();
        both.merge(&seen);
        assert_eq!(both.lag.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2 * count]);
        let mut empty = Snapshot::default();
        empty.merge(&seen);
        assert!(empty == seen);
    }
}

/// Absent parts cost nothing, and times cost their buckets.
#[test]
fn it_is_compact() {
    assert_eq!(bytes_of(&Snapshot::default()).len(), MARK.len() + 2);
    let mut seen = Snapshot::default();
    for number in 0..1_000_000u64 {
        seen.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Response, 1_000_000 + number);
    }
    // Less than an octave: some 1,000 buckets, each with its distance and its count.
    assert!(bytes_of(&seen).len() < 4_000, "{}", bytes_of(&seen).len());
}
