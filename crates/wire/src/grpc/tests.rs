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
                Piece::NeedMore => break,
                Piece::Begun { is_compressed, length } => current = Some((is_compressed, Vec::new(), length)),
                Piece::Bytes(bytes) => current.as_mut()?.1.extend_from_slice(bytes),
                Piece::End => {
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
        let status = Status::of(number);
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

proptest! {
    #[test]
    fn texts_survive_their_encoding(text in ".*") {
        let value = percent_encode(&text);
        prop_assert!(value.iter().all(|byte| (b' '..=b'~').contains(byte)));
        prop_assert_eq!(percent_decode(&value), text);
    }
}
