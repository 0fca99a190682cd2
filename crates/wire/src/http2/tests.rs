mod blocks;

use std::collections::HashMap;

use super::*;
use crate::hpack::{Encoder, FieldList, Indexing};

fn fields<'a>(list: &'a [(&'a str, &'a str)]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone {
    list.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

fn get(number: u32, path: &str) -> Request {
    let list =
        [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "here"), ("x-own", "some text")];
    Request::new(number, fields(&list), b"")
}

/// What a client was told, in words.
fn told(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::NeedMore | Event::Nothing => return None,
        Event::Settings => "settings".to_owned(),
        Event::Window => "window".to_owned(),
        Event::Interim { tag, .. } => format!("{tag} interim"),
        Event::Head { tag, status, is_last, .. } => format!("{tag} head {status} {is_last}"),
        Event::Request { stream, is_last, .. } => format!("{stream} request {is_last}"),
        Event::Body { tag, bytes, is_last, .. } => format!("{tag} body {} {is_last}", bytes.len()),
        Event::Trailers { tag, fields, .. } => format!("{tag} trailers {}", fields.iter().count()),
        Event::Reset { tag, code, .. } => format!("{tag} reset {code}"),
        Event::Broken { tag, fault, .. } => format!("{tag} broken {fault:?}"),
        Event::GoAway { last, code } => format!("goaway {last} {code}"),
    })
}

/// Feeds bytes in pieces; what was told, with the pieces of a body put together again, and the error, if one came.
fn feed(client: &mut Client, bytes: &[u8], piece: usize, out: &mut Vec<u8>) -> (Vec<String>, Option<Error>) {
    let (mut heard, mut bodies) = (Vec::new(), HashMap::<u64, usize>::new());
    for part in bytes.chunks(piece.max(1)) {
        let mut rest = part;
        loop {
            let mut list = FieldList::default();
            match client.handle(rest, &mut list, out) {
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    if let Event::Body { tag, bytes, is_last, .. } = event {
                        let sum = bodies.entry(tag).or_default();
                        *sum += bytes.len();
                        if is_last {
                            heard.push(format!("{tag} body {sum} true"));
                        }
                    } else if let Some(word) = told(&event) {
                        heard.push(word);
                    }
                    if matches!(event, Event::NeedMore) && rest.is_empty() {
                        break;
                    }
                }
                Err(error) => return (heard, Some(error)),
            }
        }
    }
    (heard, None)
}

fn frame_of(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::push_header(payload.len(), kind, flags, stream, &mut out);
    out.extend_from_slice(payload);
    out
}

fn settings(list: &[(u16, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::push_settings(list, &mut out);
    out
}

fn block(list: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    for (name, value) in fields(list) {
        encoder.field(name, value, Indexing::NotKept, &mut out);
    }
    out
}

fn head(stream: u32, flags: u8, list: &[(&str, &str)]) -> Vec<u8> {
    frame_of(frame::HEADERS, flags | frame::END_HEADERS, stream, &block(list))
}

/// A client with this many requests out.
fn client(requests: u64) -> Client {
    let mut client = Client::default();
    client.start(&mut Vec::new());
    for tag in 0..requests {
        client.send(&get(1, "/"), 10 + tag, &mut Vec::new());
    }
    client
}

#[test]
fn answers_at_every_split() {
    let mut padded = vec![3];
    padded.extend_from_slice(b"hello\0\0\0");
    let mut padded_head = vec![2];
    padded_head.extend_from_slice(&[0, 0, 0, 0, 7]);
    padded_head.extend_from_slice(&block(&[(":status", "404")]));
    padded_head.extend_from_slice(&[0, 0]);
    let long = block(&[(":status", "200"), ("x-long", &"y".repeat(100))]);
    let parts: Vec<Vec<u8>> = vec![
        settings(&[(3, 77), (99, 5)]),
        frame_of(frame::PING, 0, 0, b"12345678"),
        head(1, 0, &[(":status", "103"), ("link", "x")]),
        head(1, 0, &[(":status", "200"), ("content-length", "12")]),
        head(3, frame::END_STREAM, &[(":status", "204")]),
        frame_of(frame::DATA, 0, 1, b"1234567"),
        frame_of(42, 0xff, 9, b"whatever this is"),
        frame_of(frame::DATA, frame::PADDED, 1, &padded),
        frame_of(frame::DATA, frame::END_STREAM, 1, b""),
        frame_of(frame::HEADERS, frame::PADDED | frame::PRIORITY_FLAG | frame::END_HEADERS, 5, &padded_head),
        frame_of(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0]),
        frame_of(frame::DATA, 0, 5, b"abc"),
        head(5, frame::END_STREAM, &[("grpc-status", "0"), ("x", "y")]),
        frame_of(frame::HEADERS, frame::END_STREAM, 7, &long[..20]),
        frame_of(frame::CONTINUATION, 0, 7, &long[20..21]),
        frame_of(frame::CONTINUATION, frame::END_HEADERS, 7, &long[21..]),
        frame_of(frame::RST_STREAM, 0, 9, &[0, 0, 0, 7]),
        frame_of(frame::GOAWAY, 0, 0, &[0, 0, 0, 11, 0, 0, 0, 0, b'b', b'y', b'e']),
    ];
    let bytes = parts.concat();
    let expect = [
        "settings",
        "10 interim",
        "10 head 200 false",
        "11 head 204 true",
        "10 body 12 true",
        "12 head 404 false",
        "window",
        "12 trailers 2",
        "13 head 200 true",
        "14 reset 7",
        "goaway 11 0",
    ];
    for piece in (1..200).chain([bytes.len()]) {
        let (mut client, mut out) = (client(7), Vec::new());
        let (heard, error) = feed(&mut client, &bytes, piece, &mut out);
        assert_eq!((heard.iter().map(String::as_str).collect::<Vec<_>>(), error), (expect.to_vec(), None), "{piece}");
        assert_eq!(out.len(), 9 + 17, "the acknowledgements of settings and ping");
        assert!(client.is_between_frames());
        assert_eq!(client.take_unprocessed(11), [16]);
        assert!(!client.can_send() && client.is_used_up());
    }
    // Cut anywhere, in two.
    for cut in 0..bytes.len() {
        let mut client = client(7);
        let (mut heard, _) = feed(&mut client, &bytes[..cut], usize::MAX, &mut Vec::new());
        heard.extend(feed(&mut client, &bytes[cut..], usize::MAX, &mut Vec::new()).0);
        heard.retain(|word| !word.contains("body"));
        assert_eq!(heard.len(), expect.len() - 1, "{cut}: {heard:?}");
    }
}

#[test]
fn a_hostile_server_is_named() {
    let start = settings(&[]);
    let status = block(&[(":status", "200")]);
    let many = |kind, flags, stream, payload: &[u8], count: u32| {
        let one = frame_of(kind, flags, stream, payload);
        std::iter::repeat_n(one, count as usize).flatten().collect::<Vec<u8>>()
    };
    let bomb = {
        // One large entry of the table, and references to it.
        let mut bytes = vec![0x40, 1, b'a', 0x7f, 0x81, 0x1e];
        bytes.extend_from_slice(&[b'x'; 3_968]);
        bytes.extend_from_slice(&[0xbe; 100]);
        bytes
    };
    let endless = [frame_of(frame::HEADERS, 0, 1, &status), many(frame::CONTINUATION, 0, 1, b"", 100)].concat();
    let interims: Vec<u8> = std::iter::repeat_n(head(1, 0, &[(":status", "102")]), 33).flatten().collect();
    let cases: Vec<(&str, Vec<u8>, Fault, Code)> = vec![
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
        ("pings", many(frame::PING, 0, 0, &[0; 8], 10_001), Fault::PingFlood, Code::EnhanceYourCalm),
        ("settings", many(frame::SETTINGS, 0, 0, &[], 10_001), Fault::SettingsFlood, Code::EnhanceYourCalm),
        ("resets", many(frame::RST_STREAM, 0, 1, &[0; 4], 10_001), Fault::ResetFlood, Code::EnhanceYourCalm),
        ("empty data", many(frame::DATA, 0, 3, &[], 10_002), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("unknown frames", many(77, 0, 0, &[], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("priorities", many(2, 0, 1, &[0, 0, 0, 0, 1], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
        ("windows", many(8, 0, 1, &[0, 0, 0, 1], 10_001), Fault::EmptyFlood, Code::EnhanceYourCalm),
    ];
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
    // What breaks one stream leaves the other alone.
    let broken: Vec<(&str, Vec<u8>, &str)> = vec![
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
    ];
    for (name, bytes, fault) in broken {
        for piece in [1, usize::MAX] {
            let (mut client, mut out) = (client(2), Vec::new());
            let late = [frame_of(0, 0, 1, b"late"), head(3, 1, &[(":status", "200")])].concat();
            let bytes = [&start[..], &bytes, &late].concat();
            let (heard, error) = feed(&mut client, &bytes, piece, &mut out);
            assert_eq!(error, None, "{name}");
            assert!(heard.contains(&format!("10 broken {fault}")), "{name}: {heard:?}");
            assert_eq!(heard.last().map(String::as_str), Some("11 head 200 true"), "{name}");
        }
    }
}

/// Both machines, with bytes between them cut anywhere: each answer carries what its request said.
#[test]
fn both_sides_understand_each_other() {
    for piece in [1, 3, 100, 5_000, usize::MAX] {
        let (mut client, mut server) = (Client::default(), Server::default());
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        client.start(&mut to_server);
        server.start(&mut to_client);
        let body = vec![b'x'; 100_000];
        let list = [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "here")];
        let post = Request::new(2, fields(&list), &body);
        let count = if piece == 1 { 3 } else { 20 };
        let (mut sent, mut done, mut got) = (0, 0, HashMap::<u64, usize>::new());
        let mut asked = HashMap::<u32, usize>::new();
        let mut owed = Vec::<(u32, usize)>::new();
        while done < count {
            while sent < count && client.can_send() {
                client.send(&post, sent, &mut to_server);
                sent += 1;
            }
            let wire = std::mem::take(&mut to_server);
            for part in wire.chunks(piece) {
                let mut rest = part;
                loop {
                    let mut list = FieldList::default();
                    let (taken, event) = server.handle(rest, &mut list, &mut to_client).expect("a good client");
                    rest = &rest[taken..];
                    let (stream, bytes, is_last) = match event {
                        Event::Request { stream, fields, is_last } => {
                            assert_eq!(fields.find(b":path"), Some(&b"/echo"[..]));
                            (stream, 0, is_last)
                        }
                        Event::Body { stream, bytes, is_last, .. } => (stream, bytes.len(), is_last),
                        Event::NeedMore if rest.is_empty() => break,
                        _ => continue,
                    };
                    *asked.entry(stream).or_default() += bytes;
                    if is_last {
                        let plain = [(&b"content-type"[..], &b"text/plain"[..])];
                        server.answer(stream, 200, plain.into_iter(), false, &mut to_client);
                        owed.push((stream, asked[&stream]));
                    }
                }
            }
            owed.retain_mut(|(stream, left)| {
                let count = server.room(*stream).min(*left).min(7_000);
                *left -= count;
                server.data(*stream, &vec![b'y'; count], false, &mut to_client);
                if *left == 0 {
                    server.trailers(*stream, [(&b"x-end"[..], &b"yes"[..])].into_iter(), &mut to_client);
                }
                *left > 0
            });
            let wire = std::mem::take(&mut to_client);
            for part in wire.chunks(piece) {
                let mut rest = part;
                loop {
                    let mut list = FieldList::default();
                    let (taken, event) = client.handle(rest, &mut list, &mut to_server).expect("a good server");
                    rest = &rest[taken..];
                    match event {
                        Event::Body { tag, bytes, .. } => *got.entry(tag).or_default() += bytes.len(),
                        Event::Trailers { .. } => done += 1,
                        Event::NeedMore if rest.is_empty() => break,
                        _ => {}
                    }
                }
            }
            client.resume(&mut to_server);
        }
        assert!(got.values().all(|bytes| *bytes == body.len()) && got.len() as u64 == count);
        assert_eq!((client.streams(), server.streams()), (0, 0));
        assert!(!client.holds_back());
    }
}

#[test]
fn small_windows_are_kept() {
    let mut client = Client::default();
    let mut out = Vec::new();
    client.start(&mut out);
    out.clear();
    let (mut list, start) = (FieldList::default(), settings(&[(4, 10), (3, 2)]));
    let mut rest = &start[..];
    while !rest.is_empty() {
        let (taken, _) = client.handle(rest, &mut list, &mut out).expect("settings");
        rest = &rest[taken..];
    }
    out.clear();
    let list = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "here")];
    let post = Request::new(2, fields(&list), b"0123456789abcde");
    let first = client.send(&post, 1, &mut out);
    assert!(out.ends_with(b"0123456789") && client.holds_back());
    client.send(&post, 2, &mut out);
    assert!(!client.can_send(), "the peer allows two");
    out.clear();
    let update = frame_of(8, 0, first, &[0, 0, 0, 3]);
    let mut list = FieldList::default();
    assert!(matches!(client.handle(&update, &mut list, &mut out), Ok((13, Event::Window))));
    client.resume(&mut out);
    assert!(out.ends_with(b"abc") && out.len() == 12);
    // The setting shrinks what every stream may send, below nothing if need be.
    out.clear();
    let shrunk = settings(&[(4, 0)]);
    assert!(matches!(client.handle(&shrunk, &mut list, &mut out), Ok((15, Event::Settings))));
    let update = frame_of(8, 0, first, &[0, 0, 0, 9]);
    assert!(matches!(client.handle(&update, &mut list, &mut out), Ok((13, Event::Window))));
    out.clear();
    client.resume(&mut out);
    assert!(out.is_empty(), "10 sent and 3, of 0 + 3 + 9 allowed: {out:?}");
    let update = frame_of(8, 0, first, &[0, 0, 0, 9]);
    assert!(matches!(client.handle(&update, &mut list, &mut out), Ok((13, Event::Window))));
    client.resume(&mut out);
    assert!(out.ends_with(b"de") && out[4] == frame::END_STREAM);
}

/// The table of the peer may be small, gone, or change while requests go out: they stay readable.
#[test]
fn requests_are_readable_with_any_table() {
    for sizes in [&[4_096][..], &[0], &[50], &[200, 0, 4_096], &[100, 4_096, 30]] {
        let (mut client, mut out) = (Client::default(), Vec::new());
        client.start(&mut out);
        let mut server = Server::default();
        let mut read = |client: &mut Client, path: &str, out: &mut Vec<u8>| {
            client.send(&get(path.len() as u32, path), 1, out);
            let mut rest = &out[..];
            let mut seen = None;
            while !rest.is_empty() {
                let mut list = FieldList::default();
                let (taken, event) = server.handle(rest, &mut list, &mut Vec::new()).expect("a good client");
                rest = &rest[taken..];
                if let Event::Request { fields, .. } = event {
                    seen = fields.find(b":path").map(|path| String::from_utf8_lossy(path).into_owned());
                    assert_eq!(fields.find(b"x-own"), Some(&b"some text"[..]));
                }
            }
            out.clear();
            assert_eq!(seen.as_deref(), Some(path), "{sizes:?}");
        };
        for size in sizes {
            read(&mut client, "/before", &mut out);
            let bytes = settings(&[(1, *size)]);
            assert!(matches!(client.handle(&bytes, &mut FieldList::default(), &mut Vec::new()), Ok((15, _))));
            for path in ["/a", "/a", "/bb", "/a", "/bb", "/bb"] {
                read(&mut client, path, &mut out);
            }
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
    // One stream too many is refused, and may be asked again elsewhere.
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
