//! Protocol violations of the other side: each gives its fault, however it is cut.

use super::*;

/// Bytes that end a connection: their name, and the fault and the code that are reported.
type Case = (&'static str, Vec<u8>, Fault, Code);

fn many(kind: u8, flags: u8, stream: u32, payload: &[u8], count: usize) -> Vec<u8> {
    let one = frame_of(kind, flags, stream, payload);
    std::iter::repeat_n(one, count).flatten().collect()
}

fn wrong_frames() -> Vec<Case> {
    vec![
        ("no settings first", frame_of(frame::PING, 0, 0, &[0; 8]), Fault::Preface, Code::Protocol),
        ("HTTP/1.1", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Fault::Preface, Code::Protocol),
        ("a large frame", frame_of(frame::DATA, 0, 1, &[0; 16_385]), Fault::FrameSize, Code::FrameSize),
        ("settings of 5 bytes", frame_of(frame::SETTINGS, 0, 0, &[0; 5]), Fault::FrameSize, Code::FrameSize),
        ("settings on a stream", frame_of(frame::SETTINGS, 0, 1, &[]), Fault::FrameStream, Code::Protocol),
        ("an ack with content", frame_of(frame::SETTINGS, 1, 0, &[0; 6]), Fault::FrameSize, Code::FrameSize),
        ("push", settings(&[(2, 1)]), Fault::Settings, Code::Protocol),
        ("a window of 2^31", settings(&[(4, 1 << 31)]), Fault::Settings, Code::FlowControl),
        ("a small frame size", settings(&[(5, 16_383)]), Fault::Settings, Code::Protocol),
        ("a promise", frame_of(frame::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]), Fault::Push, Code::Protocol),
        ("a ping of 7 bytes", frame_of(frame::PING, 0, 0, &[0; 7]), Fault::FrameSize, Code::FrameSize),
        ("a ping on a stream", frame_of(frame::PING, 0, 1, &[0; 8]), Fault::FrameStream, Code::Protocol),
        ("data on 0", frame_of(frame::DATA, 0, 0, b"x"), Fault::FrameStream, Code::Protocol),
        ("data on an idle stream", frame_of(frame::DATA, 0, 99, b"x"), Fault::FrameStream, Code::Protocol),
        ("data on an even stream", frame_of(frame::DATA, 0, 2, b"x"), Fault::FrameStream, Code::Protocol),
        ("padding beyond the frame", frame_of(frame::DATA, 8, 1, &[5, 0]), Fault::Padding, Code::Protocol),
        ("padding in no frame", frame_of(frame::DATA, 8, 1, &[]), Fault::FrameSize, Code::FrameSize),
        ("padding beyond the head", frame_of(frame::HEADERS, 12, 1, &[9, 0x88]), Fault::Padding, Code::Protocol),
        ("a head on 0", head(0, 0, &[(":status", "200")]), Fault::FrameStream, Code::Protocol),
        ("a head on an idle stream", head(99, 0, &[(":status", "200")]), Fault::FrameStream, Code::Protocol),
    ]
}

fn wrong_heads() -> Vec<Case> {
    let status = block(&[(":status", "200")]);
    let bomb = {
        // One large table entry, and references to it.
        let mut bytes = vec![0x40, 1, b'a', 0x7f, 0x81, 0x1e];
        bytes.extend_from_slice(&[b'x'; 3_968]);
        bytes.extend_from_slice(&[0xbe; 100]);
        bytes
    };
    let endless = [frame_of(frame::HEADERS, 0, 1, &status), many(frame::CONTINUATION, 0, 1, b"", 100)].concat();
    vec![
        ("a continuation of nothing", frame_of(frame::CONTINUATION, 4, 1, &[]), Fault::Continuation, Code::Protocol),
        (
            "an interrupted head",
            [frame_of(frame::HEADERS, 0, 1, &status), frame_of(frame::PING, 0, 0, &[0; 8])].concat(),
            Fault::Continuation,
            Code::Protocol,
        ),
        (
            "a head continued on another stream",
            [frame_of(frame::HEADERS, 0, 1, &status), frame_of(frame::CONTINUATION, 4, 3, &[])].concat(),
            Fault::Continuation,
            Code::Protocol,
        ),
        ("a head without end", endless, Fault::ContinuationFlood, Code::EnhanceYourCalm),
        ("a head that cannot be read", frame_of(frame::HEADERS, 4, 1, &[0xff]), Fault::Compression, Code::Compression),
        ("a bomb", frame_of(frame::HEADERS, 4, 1, &bomb), Fault::HeadersTooLarge, Code::EnhanceYourCalm),
    ]
}

fn wrong_windows_and_ends() -> Vec<Case> {
    vec![
        ("a window of 0", frame_of(frame::WINDOW_UPDATE, 0, 0, &[0; 4]), Fault::Window, Code::Protocol),
        (
            "a window beyond 2^31",
            frame_of(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
            Fault::Window,
            Code::FlowControl,
        ),
        ("a window of 3 bytes", frame_of(frame::WINDOW_UPDATE, 0, 0, &[0; 3]), Fault::FrameSize, Code::FrameSize),
        ("a window of an idle stream", frame_of(8, 0, 99, &[0, 0, 0, 1]), Fault::FrameStream, Code::Protocol),
        ("a reset of an idle stream", frame_of(3, 0, 99, &[0; 4]), Fault::FrameStream, Code::Protocol),
        ("a reset of 5 bytes", frame_of(3, 0, 1, &[0; 5]), Fault::FrameSize, Code::FrameSize),
        ("a goaway of 7 bytes", frame_of(7, 0, 0, &[0; 7]), Fault::FrameSize, Code::FrameSize),
        ("a goaway on a stream", frame_of(7, 0, 1, &[0; 8]), Fault::FrameStream, Code::Protocol),
        ("a priority on 0", frame_of(2, 0, 0, &[0; 5]), Fault::FrameStream, Code::Protocol),
        (
            "data after the end",
            [head(1, 1, &[(":status", "200")]), frame_of(frame::DATA, 0, 1, b"x")].concat(),
            Fault::FrameStream,
            Code::StreamClosed,
        ),
    ]
}

fn floods() -> Vec<Case> {
    vec![
        ("pings", many(frame::PING, 0, 0, &[0; 8], 10_001), Fault::PingFlood, Code::EnhanceYourCalm),
        ("settings", many(frame::SETTINGS, 0, 0, &[], 10_001), Fault::SettingsFlood, Code::EnhanceYourCalm),
        ("resets", many(frame::RST_STREAM, 0, 1, &[0; 4], 10_001), Fault::ResetFlood, Code::EnhanceYourCalm),
        ("empty data", many(frame::DATA, 0, 3, &[], 10_002), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("unknown frames", many(77, 0, 0, &[], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("priorities", many(2, 0, 1, &[0, 0, 0, 0, 1], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("windows", many(8, 0, 1, &[0, 0, 0, 1], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
    ]
}

#[test]
fn a_hostile_server_is_named() {
    let start = settings(&[]);
    let cases = [wrong_frames(), wrong_heads(), wrong_windows_and_ends(), floods()].concat();
    for (name, bytes, fault, code) in cases {
        for piece in [1, 1_000, usize::MAX] {
            let (mut client, mut out) = (client(2), Vec::new());
            let preamble = if name == "no settings first" || name == "HTTP/1.1" { &[][..] } else { &start[..] };
            // The head that data needs.
            let with_head = if name == "empty data" { head(3, 0, &[(":status", "200")]) } else { Vec::new() };
            let bytes = [preamble, &with_head, &bytes].concat();
            if piece == 1 && bytes.len() > 20_000 {
                continue;
            }
            let (_, error) = feed(&mut client, &bytes, piece, &mut out);
            assert_eq!(error, Some(Error { fault, code }), "{name}, {piece}");
            assert_eq!(out[out.len() - 4..], (code as u32).to_be_bytes(), "{name}: the peer is told");
        }
    }
}

/// Errors of a single stream: the bytes, and the fault.
fn broken_streams() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let interims: Vec<u8> = std::iter::repeat_n(head(1, 0, &[(":status", "102")]), 33).flatten().collect();
    vec![
        ("no status", head(1, 0, &[("a", "b")]), "Headers"),
        ("two", head(1, 0, &[(":status", "200"), (":status", "200")]), "Headers"),
        ("a late one", head(1, 0, &[("a", "b"), (":status", "200")]), "Headers"),
        ("four digits", head(1, 0, &[(":status", "2000")]), "Headers"),
        ("101", head(1, 0, &[(":status", "101")]), "Headers"),
        ("an interim end", head(1, 1, &[(":status", "100")]), "Headers"),
        ("another pseudo", head(1, 0, &[(":status", "200"), (":path", "/")]), "Headers"),
        ("upper case", head(1, 0, &[(":status", "200"), ("A", "b")]), "Headers"),
        ("of a connection", head(1, 0, &[(":status", "200"), ("connection", "close")]), "Headers"),
        ("of transfer", head(1, 0, &[(":status", "200"), ("transfer-encoding", "chunked")]), "Headers"),
        ("a line end", head(1, 0, &[(":status", "200"), ("a", "b\r\nc: d")]), "Headers"),
        (
            "lengths",
            head(1, 0, &[(":status", "200"), ("content-length", "1"), ("content-length", "2")]),
            "ContentLength",
        ),
        ("a length", head(1, 1, &[(":status", "200"), ("content-length", "1")]), "ContentLength"),
        (
            "more than said",
            [head(1, 0, &[(":status", "200"), ("content-length", "1")]), frame_of(0, 0, 1, b"xy")].concat(),
            "ContentLength",
        ),
        (
            "less than said",
            [head(1, 0, &[(":status", "200"), ("content-length", "3")]), frame_of(0, 1, 1, b"xy")].concat(),
            "ContentLength",
        ),
        ("content of nothing", [head(1, 0, &[(":status", "204")]), frame_of(0, 1, 1, b"xy")].concat(), "ContentLength"),
        ("data before the head", frame_of(0, 0, 1, b"xy"), "Headers"),
        ("trailers without end", [head(1, 0, &[(":status", "200")]), head(1, 0, &[("a", "b")])].concat(), "Headers"),
        (
            "a status in trailers",
            [head(1, 0, &[(":status", "200")]), head(1, 1, &[(":status", "200")])].concat(),
            "Headers",
        ),
        ("interims", interims, "TooManyInterim"),
        ("a window of 0", frame_of(8, 0, 1, &[0; 4]), "Window"),
        ("a window too large", frame_of(8, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), "Window"),
        ("a priority of 4 bytes", frame_of(2, 0, 1, &[0; 4]), "FrameSize"),
    ]
}

#[test]
fn what_breaks_one_stream_leaves_the_other_alone() {
    let start = settings(&[]);
    for (name, bytes, fault) in broken_streams() {
        for piece in [1, usize::MAX] {
            let (mut client, mut out) = (client(2), Vec::new());
            let late = [frame_of(0, 0, 1, b"late"), head(3, 1, &[(":status", "200")])].concat();
            let bytes = [&start[..], &bytes, &late].concat();
            let (received, error) = feed(&mut client, &bytes, piece, &mut out);
            assert_eq!(error, None, "{name}");
            assert!(received.contains(&format!("10 broken {fault}")), "{name}: {received:?}");
            assert_eq!(received.last().map(String::as_str), Some("11 head 200 true"), "{name}");
        }
    }
}

#[test]
fn a_hostile_client_is_named() {
    let hello = [&PREFACE[..], &settings(&[])].concat();
    let ask = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
    let rapid: Vec<u8> = (0..1_001u32)
        .flat_map(|index| [head(2 * index + 1, 1, &ask), frame_of(3, 0, 2 * index + 1, &[0, 0, 0, 8])].concat())
        .collect();
    let cases: Vec<(&str, Vec<u8>, Fault, Code)> = vec![
        ("no preface", b"GET / HTTP/1.1\r\n".to_vec(), Fault::Preface, Code::Protocol),
        ("an even stream", [&hello[..], &head(2, 1, &ask)].concat(), Fault::FrameStream, Code::Protocol),
        (
            "a stream again",
            [&hello[..], &head(5, 1, &ask), &head(3, 1, &ask)].concat(),
            Fault::FrameStream,
            Code::StreamClosed,
        ),
        ("rapid resets", [&hello[..], &rapid].concat(), Fault::ResetFlood, Code::EnhanceYourCalm),
    ];
    for (name, bytes, fault, code) in cases {
        let (mut server, mut out, mut rest) = (Server::default(), Vec::new(), &bytes[..]);
        let error = loop {
            match server.handle(rest, &mut FieldList::default(), &mut out) {
                Ok((taken, _)) if taken < rest.len() => rest = &rest[taken..],
                Ok(_) => break None,
                Err(error) => break Some(error),
            }
        };
        assert_eq!(error, Some(Error { fault, code }), "{name}");
    }
    // A stream beyond the limit is refused, and may be retried elsewhere.
    let (mut server, mut out) = (Server::default(), Vec::new());
    let many: Vec<u8> = (0..=SERVER_STREAMS_MAX).flat_map(|index| head(2 * index + 1, 1, &ask)).collect();
    let bytes = [&hello[..], &many].concat();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (taken, _) = server.handle(rest, &mut FieldList::default(), &mut out).expect("a good client");
        rest = &rest[taken..];
    }
    assert_eq!(server.streams(), SERVER_STREAMS_MAX as usize);
    assert_eq!(out[out.len() - 4..], (Code::RefusedStream as u32).to_be_bytes());
}
