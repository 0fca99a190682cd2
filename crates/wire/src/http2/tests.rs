mod blocks;
mod hostile;

use std::collections::HashMap;

use super::*;
use crate::hpack::{Encoder, FieldList, Indexing};

fn fields<'a>(list: &'a [(&'a str, &'a str)]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone {
    list.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

fn get(number: u32, path: &str) -> Request {
    let list =
        [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "here"), ("x-own", "some text")];
    Request::new(number, fields(&list), Vec::new())
}

/// A client event, as text.
fn reported(event: &Event<'_>) -> Option<String> {
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

/// Feeds bytes in pieces; returns the events, with the pieces of a body joined, and the error, if there was one.
fn feed(client: &mut Client, bytes: &[u8], piece: usize, out: &mut Vec<u8>) -> (Vec<String>, Option<Error>) {
    let (mut received, mut bodies) = (Vec::new(), HashMap::<u64, usize>::new());
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
                            received.push(format!("{tag} body {sum} true"));
                        }
                    } else if let Some(word) = reported(&event) {
                        received.push(word);
                    }
                    if matches!(event, Event::NeedMore) && rest.is_empty() {
                        break;
                    }
                }
                Err(error) => return (received, Some(error)),
            }
        }
    }
    (received, None)
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

/// A client with this many requests sent.
fn client(requests: u64) -> Client {
    let mut client = Client::default();
    client.start(&mut Vec::new());
    for tag in 0..requests {
        client.send(&get(1, "/"), 10 + tag, &mut Vec::new());
    }
    client
}

#[test]
fn responses_at_every_split() {
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
        let (received, error) = feed(&mut client, &bytes, piece, &mut out);
        assert_eq!(
            (received.iter().map(String::as_str).collect::<Vec<_>>(), error),
            (expect.to_vec(), None),
            "{piece}"
        );
        assert_eq!(out.len(), 9 + 17, "the acknowledgements of settings and ping");
        assert!(client.is_between_frames());
        assert_eq!(client.take_unprocessed(11), [16]);
        assert!(!client.can_send() && client.is_used_up());
    }
    // Cut anywhere, in two.
    for cut in 0..bytes.len() {
        let mut client = client(7);
        let (mut received, _) = feed(&mut client, &bytes[..cut], usize::MAX, &mut Vec::new());
        received.extend(feed(&mut client, &bytes[cut..], usize::MAX, &mut Vec::new()).0);
        received.retain(|word| !word.contains("body"));
        assert_eq!(received.len(), expect.len() - 1, "{cut}: {received:?}");
    }
}

/// Both machines, with bytes between them cut anywhere: each response carries the content of its request.
#[test]
fn both_sides_understand_each_other() {
    for piece in [1, 3, 100, 5_000, usize::MAX] {
        let (mut client, mut server) = (Client::default(), Server::default());
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        client.start(&mut to_server);
        server.start(&mut to_client);
        let body = vec![b'x'; 100_000];
        let list = [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "here")];
        let post = Request::new(2, fields(&list), body.clone());
        let count = if piece == 1 { 3 } else { 20 };
        let (mut sent, mut done, mut got) = (0, 0, HashMap::<u64, usize>::new());
        let (mut requested, mut owed) = (HashMap::<u32, usize>::new(), Vec::<(u32, usize)>::new());
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
                    *requested.entry(stream).or_default() += bytes;
                    if is_last {
                        let plain = [(&b"content-type"[..], &b"text/plain"[..])];
                        server.response(stream, 200, plain.into_iter(), false, &mut to_client);
                        owed.push((stream, requested[&stream]));
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
    let post = Request::new(2, fields(&list), b"0123456789abcde".to_vec());
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
    // The setting shrinks the send window of every stream, below zero if need be.
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

/// The peer's table may be small, absent, or change while requests are sent: they stay readable.
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
