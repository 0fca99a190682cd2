//! Header blocks in pieces: an oversized block is distinguished from one that does not end.

use super::*;

/// A block of `bytes` bytes; each field contains its name literally.
fn block_of(bytes: usize) -> Vec<u8> {
    let mut block = vec![0x88];
    while block.len() < bytes {
        let length = (bytes - block.len()).clamp(4, 120) - 3;
        block.extend_from_slice(&[0, 1, b'a']);
        block.push(length as u8 - 1);
        block.extend(std::iter::repeat_n(b'x', length - 1));
    }
    block
}

fn in_frames(block: &[u8], each: usize, has_end: bool) -> Vec<u8> {
    let (mut bytes, mut kind) = (Vec::new(), frame::HEADERS);
    let mut parts = block.chunks(each).peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_none() && has_end { frame::END_HEADERS } else { 0 };
        bytes.extend_from_slice(&frame_of(kind, flags, 1, part));
        kind = frame::CONTINUATION;
    }
    bytes
}

/// Heads that were received, and the fault.
type Received = (usize, Option<Fault>);

/// The outcome of a client for bytes after the settings, cut into pieces.
fn said(bytes: &[u8], piece: usize) -> Received {
    let mut client = client(2);
    let (received, error) = feed(&mut client, &[&settings(&[])[..], bytes].concat(), piece, &mut Vec::new());
    (received.iter().filter(|word| word.contains("head 200")).count(), error.map(|error| error.fault))
}

#[test]
fn a_large_head_is_no_flood() {
    let flood = |each: usize, count: usize| {
        let first = frame_of(frame::HEADERS, 0, 1, &[0x88]);
        let more = frame_of(frame::CONTINUATION, 0, 1, &vec![0; each]);
        [first, more.repeat(count)].concat()
    };
    let cases: Vec<(&str, Vec<u8>, Received)> = vec![
        ("one frame", in_frames(&block_of(9_000), 16_384, true), (1, None)),
        ("two frames", in_frames(&block_of(9_000), 5_000, true), (1, None)),
        ("64 frames", in_frames(&block_of(6_400), 100, true), (1, None)),
        ("65 frames", in_frames(&block_of(6_500), 100, true), (0, Some(Fault::ContinuationFlood))),
        ("70 KB in large frames", in_frames(&block_of(70_000), 16_384, true), (0, Some(Fault::HeadersTooLarge))),
        ("70 KB in small frames", in_frames(&block_of(70_000), 1_200, true), (0, Some(Fault::HeadersTooLarge))),
        (
            "one byte too many",
            in_frames(&block_of(BLOCK_BYTES_MAX + 1), 16_384, true),
            (0, Some(Fault::HeadersTooLarge)),
        ),
        ("1 MB", in_frames(&block_of(1_000_000), 16_384, true), (0, Some(Fault::HeadersTooLarge))),
        ("a list beyond the bound", in_frames(&list_of(70_000), 16_384, true), (0, Some(Fault::HeadersTooLarge))),
        ("2 MB", in_frames(&block_of(2_000_000), 16_384, true), (0, Some(Fault::ContinuationFlood))),
        ("an endless one of large frames", flood(16_384, 64), (0, Some(Fault::ContinuationFlood))),
        ("an endless one of small frames", flood(1, 64), (0, Some(Fault::ContinuationFlood))),
        ("an endless one of empty frames", flood(0, 64), (0, Some(Fault::ContinuationFlood))),
        ("nearly endless", flood(16_384, 63), (0, None)),
    ];
    for (name, bytes, expected) in cases {
        for piece in [7, 100, 4_096, 16_393, usize::MAX] {
            assert_eq!(said(&bytes, piece), expected, "{name}, {piece}");
        }
        // At every split, or in a long one at positions of every kind.
        for at in (0..=bytes.len()).step_by((bytes.len() / 500).max(1) | 1) {
            let mut client = client(2);
            feed(&mut client, &settings(&[]), usize::MAX, &mut Vec::new());
            let (mut received, mut error) = feed(&mut client, &bytes[..at], usize::MAX, &mut Vec::new());
            if error.is_none() {
                let (more, late) = feed(&mut client, &bytes[at..], usize::MAX, &mut Vec::new());
                received.extend(more);
                error = late;
            }
            let heads = received.iter().filter(|word| word.contains("head 200")).count();
            assert_eq!((heads, error.map(|error| error.fault)), expected, "{name}, split at {at}");
        }
    }
}

/// A block of few bytes that expands to a list of `bytes` bytes: one table entry, repeated.
fn list_of(bytes: usize) -> Vec<u8> {
    let mut block = vec![0x88, 0x40, 1, b'a', 0x7f, 0x81, 0x1e];
    block.extend_from_slice(&[b'x'; 3_968]);
    block.extend(std::iter::repeat_n(0xbe, bytes / 4_000));
    block
}

/// An oversized block is not stored while its end is awaited.
#[test]
fn a_head_that_is_too_large_is_not_kept() {
    let mut client = client(2);
    feed(&mut client, &settings(&[]), usize::MAX, &mut Vec::new());
    let bytes = in_frames(&block_of(900_000), 16_384, false);
    let (_, error) = feed(&mut client, &bytes, usize::MAX, &mut Vec::new());
    assert_eq!(error, None);
    assert!(format!("{client:?}").len() < 20_000, "the block is gone");
}
