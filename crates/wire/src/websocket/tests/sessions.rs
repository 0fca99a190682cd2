//! Whole messages, the replies that the protocol requires, and compression.

use super::*;

/// Each message by itself.
const ALONE: Option<Deflate> = Some(Deflate { window_bits: WINDOW_BITS_MAX, keeps_context: false });

type Messages = Vec<(Kind, Vec<u8>)>;

/// The output of a session at every split: messages, replies, a fault.
fn converse(deflate: Option<Deflate>, bytes: &[u8]) -> (Messages, Vec<u8>, Option<Fault>) {
    let listen = |pieces: &[&[u8]]| {
        let terms = Terms { role: Role::Server, deflate, message_bytes_max: MOST, kept_bytes_max: MOST as usize };
        let (mut session, mut scratch) = (Session::new(terms), Scratch::default());
        let (mut messages, mut out) = (Vec::new(), Vec::new());
        for piece in pieces {
            let mut input = piece.to_vec();
            let mut rest = &mut input[..];
            loop {
                let (taken, is_done) = match session.handle(rest, &mut scratch, None, &mut out) {
                    Ok((taken, received)) => {
                        if let crate::websocket::SessionEvent::Message { kind, bytes, length, is_cut: false } =
                            &received
                        {
                            assert_eq!(bytes.len() as u64, *length);
                            messages.push((*kind, bytes.to_vec()));
                        }
                        (taken, received == crate::websocket::SessionEvent::NeedMore)
                    }
                    Err(fault) => return (messages, out, Some(fault)),
                };
                rest = &mut rest[taken..];
                if is_done {
                    break;
                }
            }
        }
        (messages, out, None)
    };
    let whole = listen(&[bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(listen(&[&bytes[..at], &bytes[at..]]), whole, "{at}");
    }
    whole
}

#[test]
fn a_session_responses_by_itself() {
    let mut bytes = Vec::new();
    push_message(Kind::Text, false, MASK, "zwölf".as_bytes(), &mut bytes);
    push_frame(Opcode::Ping, true, MASK, b"are you there", &mut bytes);
    let compressed = Deflater::default().compress(b"again and again and again");
    push_message(Kind::Binary, true, MASK, &compressed, &mut bytes);
    push_close(1_000, "enough", MASK, &mut bytes);
    let (messages, out, fault) = converse(ALONE, &bytes);
    let expect = [(Kind::Text, "zwölf".as_bytes().to_vec()), (Kind::Binary, b"again and again and again".to_vec())];
    assert_eq!((messages.as_slice(), fault), (&expect[..], None));
    let mut responses = Vec::new();
    push_frame(Opcode::Pong, true, None, b"are you there", &mut responses);
    push_close(1_000, "", None, &mut responses);
    assert_eq!(out, responses);
}

#[test]
fn compressed_messages_can_be_damaged() {
    let damaged = |kind, payload: &[u8]| {
        let mut bytes = Vec::new();
        push_message(kind, true, MASK, payload, &mut bytes);
        let (messages, out, fault) = converse(ALONE, &bytes);
        assert_eq!(messages, []);
        (fault, out)
    };
    let close = |code| {
        let mut bytes = Vec::new();
        push_close(code, "", None, &mut bytes);
        bytes
    };
    assert_eq!(damaged(Kind::Binary, &[0xff; 9]), (Some(Fault::Deflate), close(1_007)));
    let latin = Deflater::default().compress(b"\xe9t\xe9");
    assert_eq!(damaged(Kind::Text, &latin), (Some(Fault::Utf8), close(1_007)));
    let bomb = Deflater::default().compress(&vec![0; MOST as usize + 1]);
    assert_eq!(damaged(Kind::Binary, &bomb), (Some(Fault::TooLarge), close(1_009)));
    let cut = Deflater::default().compress("cut: 世".as_bytes().split_last().expect("bytes").1);
    assert_eq!(damaged(Kind::Text, &cut), (Some(Fault::Utf8), close(1_007)));
}

/// A peer that keeps its context refers to its earlier messages, also to those that were not captured.
#[test]
fn a_context_lasts_from_message_to_message() {
    let words = b"the same words again and again, in every message of this conversation".as_slice();
    let (mut peer, mut bytes) = (flate2::Compress::new(flate2::Compression::default(), false), Vec::new());
    let mut sizes = Vec::new();
    for number in 0..5u8 {
        if number == 3 {
            push_message(Kind::Binary, false, MASK, b"one that is not compressed", &mut bytes);
        }
        let mut payload = Vec::with_capacity(1_024);
        let message = [words, &[number]].concat();
        peer.compress_vec(&message, &mut payload, flate2::FlushCompress::Sync).expect("memory is enough");
        let payload = payload.strip_suffix(&[0, 0, 0xff, 0xff]).expect("the end of a flush");
        sizes.push(payload.len());
        push_message(Kind::Binary, true, MASK, payload, &mut bytes);
    }
    assert!(sizes[1] * 3 < sizes[0], "{sizes:?}");
    let keeps = Some(Deflate { window_bits: WINDOW_BITS_MAX, keeps_context: true });
    let (messages, _, fault) = converse(keeps, &bytes);
    assert_eq!((messages.len(), fault), (6, None));
    for (number, (_, message)) in messages.iter().enumerate().filter(|(number, _)| *number != 3) {
        let number = if number < 3 { number } else { number - 1 };
        assert_eq!(message, &[words, &[number as u8]].concat());
    }
    // A session that discards the context cannot follow.
    assert_eq!(converse(ALONE, &bytes).2, Some(Fault::Deflate));
}

/// A message larger than the capture limit is not captured, however it comes; its length is known all the same.
#[test]
fn what_is_too_large_to_keep_is_let_go() {
    const KEPT: usize = 10_000;
    let mut deflater = Deflater::default();
    let mut messages = |length: usize, pieces: usize, is_compressed: bool| {
        let whole: Vec<u8> = (0..length).map(|at| (at * 7 / 3) as u8).collect();
        let payload = if is_compressed { deflater.compress(&whole) } else { whole };
        let mut bytes = Vec::new();
        let size = payload.len().div_ceil(pieces).max(1);
        let parts: Vec<&[u8]> = if payload.is_empty() { vec![&[]] } else { payload.chunks(size).collect() };
        for (number, part) in parts.iter().enumerate() {
            let (at, opcode) = (bytes.len(), if number == 0 { Opcode::Binary } else { Opcode::Continuation });
            push_frame(opcode, number + 1 == parts.len(), None, part, &mut bytes);
            bytes[at] |= if number == 0 && is_compressed { 0x40 } else { 0 };
        }
        bytes
    };
    for (kept_bytes_max, length) in [
        (KEPT, 0),
        (KEPT, 1),
        (KEPT, KEPT - 1),
        (KEPT, KEPT),
        (KEPT, KEPT + 1),
        (KEPT, 20 * KEPT),
        (0, 0),
        (0, 1),
        (0, 20 * KEPT),
        (1, 2),
    ] {
        for (pieces, is_compressed, cut) in
            [(1, false, 1 << 20), (7, false, 100), (1, true, 1 << 20), (7, true, 3), (1, true, 1)]
        {
            let (role, message_bytes_max) = (Role::Client, 1 << 30);
            let terms = Terms { role, deflate: ALONE, message_bytes_max, kept_bytes_max };
            let (mut session, mut scratch, mut received) = (Session::new(terms), Scratch::default(), Vec::new());
            let mut bytes = [messages(length, pieces, is_compressed), messages(3, 1, false)].concat();
            for piece in bytes.chunks_mut(cut) {
                let mut rest = piece;
                loop {
                    match session.handle(rest, &mut scratch, None, &mut Vec::new()).expect("nothing is wrong") {
                        (_, crate::websocket::SessionEvent::NeedMore) => break,
                        (taken, crate::websocket::SessionEvent::Message { bytes, is_cut, length, .. }) => {
                            received.push((bytes.len(), length, is_cut));
                            rest = &mut rest[taken..];
                        }
                        (taken, _) => rest = &mut rest[taken..],
                    }
                }
            }
            let kept = |length: usize| match length {
                _ if kept_bytes_max == 0 => (0, length as u64, false),
                length if length > kept_bytes_max => (0, length as u64, true),
                length => (length, length as u64, false),
            };
            assert_eq!(received, [kept(length), kept(3)], "{kept_bytes_max} {pieces} {is_compressed} {cut}");
        }
    }
}

#[test]
fn a_fault_is_the_same_however_a_compressed_message_is_cut() {
    // The decompressed bytes are no UTF-8, and after them the compression is broken.
    let bytes = [0x41u8, 0x04, 0x6b, 0x03, 0x41, 0x04, 0x03];
    for size in 1..=bytes.len() {
        let deflate = Some(crate::websocket::Deflate { window_bits: 15, keeps_context: true });
        let terms = Terms { role: Role::Client, deflate, message_bytes_max: 1 << 20, kept_bytes_max: 1 << 16 };
        let (mut session, mut scratch, mut out) =
            (Session::new(terms), crate::websocket::Scratch::default(), Vec::new());
        let mut fault = None;
        for piece in bytes.chunks(size) {
            let mut piece = piece.to_vec();
            let mut rest = &mut piece[..];
            while fault.is_none() && !rest.is_empty() {
                match session.handle(rest, &mut scratch, None, &mut out) {
                    Err(broken) => fault = Some(broken),
                    Ok((taken, _)) => rest = &mut rest[taken..],
                }
            }
        }
        assert_eq!(fault, Some(crate::websocket::Fault::Utf8), "pieces of {size}");
    }
}
