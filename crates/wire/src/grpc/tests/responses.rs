//! Responses to calls: head, messages cut anywhere, and trailer fields.

use super::*;
use crate::hpack::FieldList;
use crate::http2::{Client, Event, Request, Server};

type Fields = &'static [(&'static str, &'static str)];

/// Fields as received over an HTTP/2 connection.
fn list(fields: Fields) -> FieldList {
    let requested = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "a")];
    let pairs = |fields: &'static [(&'static str, &'static str)]| {
        fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
    };
    let request =
        Request::new(1, requested.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())), Vec::new());
    let (mut client, mut server) = (Client::default(), Server::default());
    let (mut asks, mut responses, mut read) = (Vec::new(), Vec::new(), FieldList::default());
    client.start(&mut asks);
    client.send(&request, 1, &mut asks);
    server.start(&mut responses);
    let mut rest = &asks[..];
    while !rest.is_empty() {
        rest = &rest[server.handle(rest, &mut read, &mut responses).expect("it is good").0..];
    }
    server.response(1, 200, pairs(fields), true, &mut responses);
    let (mut rest, mut out) = (&responses[..], Vec::new());
    while !rest.is_empty() {
        let mut read = FieldList::default();
        let (taken, event) = client.handle(rest, &mut read, &mut out).expect("it is good");
        rest = &rest[taken..];
        if matches!(event, Event::Head { .. }) {
            return read;
        }
    }
    panic!("no head came");
}

const GRPC: Fields = &[("content-type", "application/grpc")];
const GZIP: Fields = &[("content-type", "application/grpc+proto"), ("grpc-encoding", "gzip")];
const OK: Fields = &[("grpc-status", "0")];

struct Case {
    head: Fields,
    /// Whether each message is compressed, and its bytes.
    messages: &'static [(bool, &'static [u8])],
    /// Bytes of the body that never arrived.
    cut: usize,
    end: Fields,
    http_status: u16,
    responses_stream: bool,
    ending: Result<Status, StatusError>,
}

const GOOD: Case = Case {
    head: GRPC,
    messages: &[(false, b"one")],
    cut: 0,
    end: OK,
    http_status: 200,
    responses_stream: false,
    ending: Ok(Status::OK),
};

fn wrong(fault: ResponseFault) -> Result<Status, StatusError> {
    Err(StatusError::ResponseFault(fault))
}

fn ending(case: &Case, pieces: &[&[u8]], is_read: bool) -> (Result<Status, StatusError>, u64, Vec<u8>) {
    let (mut response, mut kept) = (Response::default(), Vec::new());
    response.head(&list(case.head), b"identity, gzip,br");
    for piece in pieces {
        let mut rest = *piece;
        while response.is_grpc()
            && !response.is_broken()
            && let Ok((taken, what)) = response.handle(rest, is_read)
        {
            rest = &rest[taken..];
            match what {
                MessagePiece::NeedMore => break,
                MessagePiece::Bytes(bytes) => kept.extend_from_slice(bytes),
                MessagePiece::Begun { .. } | MessagePiece::End => {}
            }
        }
    }
    response.status(&list(case.end));
    (response.ending(case.http_status, case.responses_stream), response.received(), kept)
}

fn check(case: &Case, name: &str) {
    let mut body = Vec::new();
    case.messages.iter().for_each(|(is_compressed, bytes)| push_message(bytes, *is_compressed, &mut body));
    body.truncate(body.len() - case.cut);
    let whole = ending(case, &[&body], true);
    assert_eq!(whole.0, case.ending, "{name}");
    for at in 0..=body.len() {
        let (front, back) = body.split_at(at);
        assert_eq!(ending(case, &[front, back], true), whole, "{name}, cut at {at}");
    }
    assert_eq!(ending(case, &body.chunks(1).collect::<Vec<_>>(), true), whole, "{name}, byte by byte");
}

#[test]
fn an_response_ends_with_its_status_or_with_what_is_wrong_with_it() {
    const HTML: Fields = &[("content-type", "text/html")];
    const BROTLI: Fields = &[("content-type", "application/grpc"), ("grpc-encoding", "br")];
    const ZSTD: Fields = &[("content-type", "application/grpc"), ("grpc-encoding", "zstd")];
    let cases = [
        ("one message", GOOD),
        (
            "several on a stream",
            Case { messages: &[(false, b"a"), (false, b""), (false, b"b")], responses_stream: true, ..GOOD },
        ),
        ("none on a stream", Case { messages: &[], responses_stream: true, ..GOOD }),
        ("none", Case { messages: &[], ending: wrong(ResponseFault::Count), ..GOOD }),
        ("two", Case { messages: &[(false, b"a"), (false, b"b")], ending: wrong(ResponseFault::Count), ..GOOD }),
        ("half of one", Case { cut: 1, ending: wrong(ResponseFault::Cut), ..GOOD }),
        ("half a prefix", Case { cut: 5, ending: wrong(ResponseFault::Cut), ..GOOD }),
        (
            "a status of its own",
            Case { end: &[("grpc-status", "5")], messages: &[], ending: Ok(Status::NOT_FOUND), ..GOOD },
        ),
        ("no status", Case { end: &[("a", "b")], ending: wrong(ResponseFault::NoStatus), ..GOOD }),
        ("nonsense", Case { end: &[("grpc-status", "fine")], ending: wrong(ResponseFault::BadStatus), ..GOOD }),
        ("a page", Case { head: HTML, ending: wrong(ResponseFault::ContentType), ..GOOD }),
        (
            "a page that says how it failed",
            Case { head: HTML, end: &[("grpc-status", "7")], ending: Ok(Status::PERMISSION_DENIED), ..GOOD },
        ),
        (
            "a status of HTTP",
            Case { head: HTML, end: &[("a", "b")], http_status: 503, ending: Err(StatusError::Http), ..GOOD },
        ),
        ("compressed as agreed", Case { head: GZIP, messages: &[(true, b"zipped")], ..GOOD }),
        ("compressed unasked", Case { messages: &[(true, b"zipped")], ending: wrong(ResponseFault::Encoding), ..GOOD }),
        (
            "compressed by another",
            Case { head: ZSTD, messages: &[(true, b"z")], ending: wrong(ResponseFault::NotOffered), ..GOOD },
        ),
        (
            "compressed, and unknown here",
            Case { head: BROTLI, messages: &[(true, b"z")], ending: wrong(ResponseFault::Unzip), ..GOOD },
        ),
        ("not compressed, though it might be", Case { head: ZSTD, ..GOOD }),
    ];
    for (name, case) in &cases {
        check(case, name);
    }
}

#[test]
fn a_wrong_flag_is_the_first_fault_and_stays_it() {
    let mut response = Response::default();
    response.head(&list(GRPC), b"");
    assert_eq!(response.handle(&[2, 0, 0, 0, 0], true), Err(ResponseFault::Flag));
    response.blame(ResponseFault::Type);
    response.status(&list(OK));
    assert!(response.is_broken());
    assert_eq!(response.ending(200, true), wrong(ResponseFault::Flag));
}

#[test]
fn what_nobody_reads_may_be_compressed_in_any_way_that_was_offered() {
    const BROTLI: Fields = &[("content-type", "application/grpc"), ("grpc-encoding", "br")];
    let case = Case { head: BROTLI, messages: &[(true, b"z")], ..GOOD };
    let mut body = Vec::new();
    push_message(b"z", true, &mut body);
    assert_eq!(ending(&case, &[&body], false), (Ok(Status::OK), 1, b"z".to_vec()));
}
