mod responses;

use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// Whether it is compressed, and its bytes.
type Message = (bool, Vec<u8>);

/// All messages of a body that comes in these pieces, and whether the last one is complete.
fn read(pieces: &[&[u8]]) -> Option<(Vec<Message>, bool)> {
    let (mut machine, mut all, mut current) = (Messages::default(), Vec::new(), None);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let (taken, what) = machine.handle(rest).ok()?;
            rest = &rest[taken..];
            match what {
                MessagePiece::NeedMore => break,
                MessagePiece::Begun { is_compressed, length } => current = Some((is_compressed, Vec::new(), length)),
                MessagePiece::Bytes(bytes) => current.as_mut()?.1.extend_from_slice(bytes),
                MessagePiece::End => {
                    let (is_compressed, bytes, length) = current.take()?;
                    assert_eq!(bytes.len(), length as usize);
                    all.push((is_compressed, bytes));
                }
            }
        }
        assert!(rest.is_empty());
    }
    Some((all, machine.is_between()))
}

#[test]
fn messages_at_every_split() {
    let (mut body, long) = (Vec::new(), vec![7; 300]);
    let messages: [(bool, &[u8]); 4] = [(false, b"one"), (true, b""), (false, b""), (true, &long)];
    messages.iter().for_each(|(is_compressed, bytes)| push_message(bytes, *is_compressed, &mut body));
    let expected: Vec<_> = messages.iter().map(|(is, bytes)| (*is, bytes.to_vec())).collect();
    for at in 0..=body.len() {
        let (front, back) = body.split_at(at);
        assert_eq!(read(&[front, back]), Some((expected.clone(), true)), "{at}");
        let (_, is_whole) = read(&[front]).expect("a front of messages");
        let ends = [0, 8, 13, 18, body.len()];
        assert_eq!(is_whole, ends.contains(&at), "{at}");
    }
    let each: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(read(&each), Some((expected, true)));
}

#[test]
fn a_bad_flag_is_found_with_its_first_byte() {
    assert_eq!(Messages::default().handle(b"\x02"), Err(super::message::BadFlag));
    assert!(read(&[b"\0\0\0\0\0", b"H"]).is_none());
}

#[test]
fn statuses() {
    for number in 0..17 {
        let status = Status::from_number(number);
        assert_eq!(Status::read(number.to_string().as_bytes()), Some(status));
        assert_eq!(status.index(), number as usize);
    }
    assert_eq!(Status::read(b"17").map(Status::index), Some(STATUS_COUNT - 1));
    assert_eq!(Status::read(b"999999999").map(Status::index), Some(STATUS_COUNT - 1));
    for bad in ["", "x", "-1", "01", "9999999999", "1 "] {
        assert_eq!(Status::read(bad.as_bytes()), None, "{bad}");
    }
}

#[test]
fn timeouts() {
    assert_eq!(parse_timeout(b"15S"), Some(Duration::from_secs(15)));
    assert_eq!(parse_timeout(b"99999999H"), Some(Duration::from_secs(99_999_999 * 3_600)));
    for bad in ["", "S", "1", "1s", "999999999S", "-1S", "1.5S"] {
        assert_eq!(parse_timeout(bad.as_bytes()), None, "{bad}");
    }
}

#[test]
fn content_types() {
    for good in ["application/grpc", "application/grpc+proto", "Application/gRPC;x=1"] {
        assert!(is_content_type(good.as_bytes()), "{good}");
    }
    for bad in ["", "application/json", "application/grpc-web", "text/html"] {
        assert!(!is_content_type(bad.as_bytes()), "{bad}");
    }
}

#[test]
fn compressed_messages_are_bounded() {
    let zeros = vec![0; 1 << 20];
    let small = gzip(&zeros);
    assert!(small.len() < 5_000);
    assert_eq!(gunzip(&small, 1 << 20), Unzipped::Whole(zeros));
    assert_eq!(gunzip(&small, 10), Unzipped::TooLarge(vec![0; 10]));
    assert_eq!(gunzip(b"no gzip", 10), Unzipped::Malformed);
    assert_eq!(gunzip(&small[..small.len() - 9], 1 << 21), Unzipped::Malformed);
}

/// The decompressed content of a message in these pieces; `None` when it is damaged or incomplete.
fn unzip(machine: &mut Unzip, pieces: &[&[u8]], room: usize) -> Option<Vec<u8>> {
    let (mut out, mut all) = (vec![0; room], Vec::new());
    machine.begin();
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let (taken, given) = machine.handle(rest, &mut out).ok()?;
            rest = &rest[taken..];
            all.extend_from_slice(&out[..given]);
            if rest.is_empty() && given == 0 {
                break;
            }
        }
    }
    machine.is_whole().then_some(all)
}

/// A gzip member with every optional header field.
fn with_all_parts(content: &[u8]) -> Vec<u8> {
    let plain = gzip(content);
    let mut bytes = plain[..3].to_vec();
    bytes.extend_from_slice(&[2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, 7, 7]);
    bytes.extend_from_slice(b"name\0comment\0\x12\x34");
    bytes.extend_from_slice(&plain[10..]);
    bytes
}

#[test]
fn zipped_messages_at_every_split() {
    let text: Vec<u8> = (0..900u32).flat_map(|number| (number * number).to_le_bytes()).collect();
    let mut machine = Unzip::default();
    let extra_of_none = {
        let mut bytes = gzip(b"x");
        bytes[3] = 4;
        bytes.splice(10..10, [0, 0]);
        bytes
    };
    let good: [(&str, Vec<u8>, Vec<u8>); 6] = [
        ("text", gzip(&text), text.clone()),
        ("nothing", gzip(b""), Vec::new()),
        ("zeros", gzip(&vec![0; 100_000]), vec![0; 100_000]),
        ("all parts", with_all_parts(b"hello"), b"hello".to_vec()),
        ("an empty extra part", extra_of_none, b"x".to_vec()),
        ("two members", [gzip(b"one"), gzip(&text)].concat(), [b"one", &text[..]].concat()),
    ];
    for (name, zipped, expected) in good {
        for at in 0..=zipped.len() {
            let (front, back) = zipped.split_at(at);
            for room in [1_000, 70_000] {
                assert_eq!(unzip(&mut machine, &[front, back], room).as_ref(), Some(&expected), "{name}, {at}, {room}");
            }
            let is_member = name == "two members" && at == gzip(b"one").len();
            assert_eq!(unzip(&mut machine, &[front], 1_000).is_some(), at == zipped.len() || is_member, "{name}, {at}");
        }
        let each: Vec<&[u8]> = zipped.chunks(1).collect();
        assert_eq!(unzip(&mut machine, &each, 7), Some(expected), "{name}, byte by byte");
    }
    let changed = |at: usize, by: u8| {
        let mut bytes = gzip(&text);
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= by;
        bytes
    };
    let length = gzip(&text).len();
    let bad = [
        Vec::new(),
        b"no gzip".to_vec(),
        changed(0, 1),
        changed(1, 1),
        changed(2, 1),
        changed(3, 0x80),
        changed(length / 2, 0xff),
        changed(length - 8, 1),
        changed(length - 1, 1),
        [gzip(&text), b"x".to_vec()].concat(),
        [gzip(&text), b"\x1f".to_vec()].concat(),
        [&gzip(b"x")[..10], &[0xff; 20]].concat(),
    ];
    for (number, bytes) in bad.iter().enumerate() {
        for at in 0..=bytes.len() {
            let (front, back) = bytes.split_at(at);
            assert_eq!(unzip(&mut machine, &[front, back], 1_000), None, "{number}, {at}");
        }
    }
}

#[test]
fn statuses_that_were_not_said() {
    let of_http = [
        (200, 2),
        (204, 2),
        (302, 2),
        (400, 13),
        (401, 16),
        (403, 7),
        (404, 12),
        (405, 2),
        (415, 2),
        (429, 14),
        (431, 13),
        (500, 2),
        (501, 2),
        (502, 14),
        (503, 14),
        (504, 14),
        (505, 2),
        (599, 2),
    ];
    for (status, expected) in of_http {
        assert_eq!(Status::from_http_status(status).index(), expected, "{status}");
    }
    let of_reset = [13, 13, 13, 13, 13, 2, 13, 14, 1, 13, 13, 8, 7, 2, 2];
    for (code, expected) in of_reset.into_iter().enumerate() {
        assert_eq!(Status::from_reset_code(code as u32).index(), expected, "{code}");
    }
    assert_eq!(Status::from_reset_code(u32::MAX), Status::UNKNOWN);
}

proptest! {
    #[test]
    fn any_bytes_unzip_to_the_same_however_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..200usize, by in 0..200usize) {
        // A valid beginning with one changed byte.
        let mut zipped = gzip(&bytes);
        let place = by % zipped.len();
        zipped[place] ^= bytes.first().copied().unwrap_or(0) & 3;
        let (front, back) = zipped.split_at(at.min(zipped.len()));
        let mut machine = Unzip::default();
        let whole = unzip(&mut machine, &[&zipped], 1_000);
        prop_assert_eq!(unzip(&mut machine, &[front, back], 1_000), whole.clone());
        let expected = match gunzip(&zipped, 1_000) { Unzipped::Whole(bytes) => Some(bytes), _ => None };
        prop_assert_eq!(whole, expected);
    }


    #[test]
    fn texts_survive_their_encoding(text in ".*") {
        let value = percent_encode(&text);
        prop_assert!(value.iter().all(|byte| (b' '..=b'~').contains(byte)));
        prop_assert_eq!(percent_decode(&value), text);
    }
}
