//! HTTP/1 and HTTP/2 connections.

use super::*;
use crate::http1::ProtocolError;
use crate::http2::{self, Code, Event, Request, Server};

fn requested(kind: RequestKind) -> AnyConnection {
    let (mut line, mut out) = (AnyConnection::Http1(Http1::default()), Vec::new());
    line.start(&mut out);
    assert_eq!((line.room(), line.is_idle(), line.park()), (1, true, Some(IdleState::default())));
    line.begin(9, ExchangeStart { what: Payload::Template, response: ResponseKind::Response(kind) }, MASK, &mut out);
    assert!(out.is_empty(), "the caller has the request");
    assert_eq!((line.room(), line.is_idle(), line.park()), (0, false, None));
    line
}

fn other() -> AnyConnection {
    requested(RequestKind::Other)
}

#[test]
fn an_response_of_http1_is_head_and_body_and_end() {
    for (bytes, words) in [
        (
            &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..],
            &["0 head 200 plain true", "0 body hello", "0 end"][..],
        ),
        (
            b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            &["0 interim ", "0 head 404 plain false", "0 end"],
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n",
            &["0 head 200 chunked true", "0 body abcde", "0 end"],
        ),
        (b"HTTP/1.1 204 Nothing\r\n\r\n", &["0 head 204 plain true", "0 end"]),
    ] {
        let received = at_every_split(other, bytes);
        assert_eq!((received.words, received.fault), (words.iter().map(ToString::to_string).collect(), None));
        assert_eq!((received.is_idle, received.parked), (true, Some(IdleState::default())));
        assert_eq!((received.ending, received.out.len()), (Some(Ending::Idle), 0));
    }
    let head = || requested(RequestKind::Head);
    let received = at_every_split(head, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(received.words, ["0 head 200 plain true", "0 end"]);
}

#[test]
fn what_the_end_means_for_an_response_of_http1() {
    for (bytes, ending) in [
        (&b""[..], Ending::BeforeAnswer),
        (b"HTTP/1.1 2", Ending::Early),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Ending::Early),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Ending::Early),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", Ending::Complete),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", Ending::Idle),
    ] {
        assert_eq!(at_every_split(other, bytes).ending, Some(ending), "{:?}", text(bytes));
    }
}

#[test]
fn a_peer_that_breaks_the_rules_of_http1_is_left() {
    for (bytes, error) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy"[..], ProtocolError::Unsolicited),
        (b"SSH-2.0-x\r\n\r\n", ProtocolError::StartLine),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: x\r\n\r\n", ProtocolError::UnexpectedUpgrade),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ProtocolError::ChunkSize),
    ] {
        let received = at_every_split(other, bytes);
        assert_eq!(received.fault, Some(Fault::Http1(error)), "{:?}", text(bytes));
        assert!(!Fault::Http1(error).was_reported());
    }
    let nobody_requested = || AnyConnection::Http1(Http1::default());
    assert_eq!(at_every_split(nobody_requested, b"x").fault, Some(Fault::Http1(ProtocolError::Unsolicited)));
}

fn request(number: u32, body: &[u8]) -> Request {
    let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "here")];
    Request::new(number, fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())), body.to_vec())
}

/// A connection with a request for each tag, and its outgoing bytes.
fn shared(tags: &[Tag], request: &Request) -> (AnyConnection, Vec<u8>) {
    let (mut line, mut out) = (AnyConnection::Http2(Box::default()), Vec::new());
    line.start(&mut out);
    assert!(line.room() > tags.len() && line.is_idle());
    for (place, tag) in tags.iter().enumerate() {
        let ask =
            ExchangeStart { what: Payload::Fields(request), response: ResponseKind::Response(RequestKind::Other) };
        assert_eq!(line.begin(*tag, ask, MASK, &mut out), 2 * place as u32 + 1);
    }
    (line, out)
}

/// The bytes of our server after it read `requested` and called `response` on the streams.
fn served(requested: &[u8], response: impl FnOnce(&mut Server, &mut Vec<u8>)) -> Vec<u8> {
    let (mut server, mut out, mut rest) = (Server::default(), Vec::new(), requested);
    server.start(&mut out);
    loop {
        let mut fields = FieldList::default();
        let (taken, event) = server.handle(rest, &mut fields, &mut out).expect("a good client");
        rest = &rest[taken..];
        if matches!(event, Event::NeedMore) && rest.is_empty() {
            break;
        }
    }
    response(&mut server, &mut out);
    out
}

fn field<'a>(name: &'a str, value: &'a str) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    std::iter::once((name.as_bytes(), value.as_bytes()))
}

#[test]
fn responses_of_http2_are_reported_by_their_names() {
    let plain = request(1, b"");
    let (_, requested) = shared(&[70, 71, 72, 73], &plain);
    let bytes = served(&requested, |server, out| {
        server.response(1, 103, field("link", "x"), false, out);
        server.response(3, 200, field("a", "b"), false, out);
        server.data(3, b"hel", false, out);
        server.response(1, 204, field("c", "d"), true, out);
        server.data(3, b"lo", false, out);
        server.trailers(3, field("grpc-status", "0"), out);
        server.response(5, 200, field("a", "b"), false, out);
        server.data(5, b"whole", true, out);
        server.reset(7, Code::RefusedStream, out);
        server.leave(out);
    });
    let received = at_every_split(|| shared(&[70, 71, 72, 73], &plain).0, &bytes);
    let words = received.words.iter().map(String::as_str).filter(|word| *word != "room");
    let expect = [
        "70 interim :status=103,link=x",
        "71 head 200 :status=200,a=b false",
        "71 body hello",
        "70 head 204 :status=204,c=d true",
        "71 trailers grpc-status=0",
        "72 head 200 :status=200,a=b false",
        "72 body whole.",
        "73 reset 7",
        "goaway 7",
    ];
    assert_eq!(words.collect::<Vec<_>>(), expect);
    assert_eq!((received.fault, received.is_idle, received.parked), (None, true, None));
    assert!(!received.out.is_empty(), "settings are acknowledged");
}

#[test]
fn a_goodbye_of_http2_gives_back_what_was_not_looked_at() {
    let (mut line, requested) = shared(&[70, 71, 72], &request(1, b""));
    let mut bytes = served(&requested, |_, _| {});
    http2_frame(7, 0, &[0, 0, 0, 1, 0, 0, 0, 0], &mut bytes);
    let (mut scratch, mut from, mut last) = (Scratch::default(), 0, None);
    while last.is_none() {
        let (taken, said) = line.handle(&mut bytes[from..], &mut scratch, MASK, &mut Vec::new()).expect("it is good");
        from += taken;
        if let ConnectionEvent::GoAway { last: number } = said {
            last = Some(number);
        }
    }
    assert!(line.is_used_up() && line.room() == 0 && !line.is_idle());
    assert_eq!(line.take_unprocessed(last.expect("a number")), [71, 72]);
    assert_eq!(line.take_unprocessed(0), [70]);
    assert!(line.is_idle());
}

fn http2_frame(kind: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, 0]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

#[test]
fn a_peer_that_breaks_the_rules_of_http2_is_reported() {
    let plain = request(1, b"");
    let (_, requested) = shared(&[70], &plain);
    let mut bytes = served(&requested, |server, out| server.response(1, 200, field("a", "b"), false, out));
    // Content on a stream that never began.
    http2_frame(0, 99, b"x", &mut bytes);
    let received = at_every_split(|| shared(&[70], &plain).0, &bytes);
    assert_eq!(received.fault, Some(Fault::Http2(http2::Fault::FrameStream)));
    assert!(Fault::Http2(http2::Fault::FrameStream).was_reported());
    let goaway = received.out[received.out.len() - 17..].to_vec();
    assert_eq!((goaway[3], goaway[16]), (7, Code::Protocol as u8));
}

#[test]
fn an_exchange_that_breaks_the_rules_leaves_the_others() {
    let plain = request(1, b"");
    let (_, requested) = shared(&[70, 71], &plain);
    let bytes = served(&requested, |server, out| {
        server.response(1, 200, field("content-length", "5"), false, out);
        server.data(1, b"hel", true, out);
        server.response(3, 200, field("Upper", "x"), true, out);
    });
    let received = at_every_split(|| shared(&[70, 71], &plain).0, &bytes);
    let words: Vec<&str> = received.words.iter().map(String::as_str).filter(|word| word.contains("broken")).collect();
    assert_eq!(words, ["70 broken ContentLength", "71 broken Headers"]);
    assert_eq!((received.fault, received.is_idle), (None, true));
}

/// Content held back by windows is reported, and sent when they open; content of abandoned exchanges is not.
#[test]
fn content_is_held_back_until_there_is_room() {
    let large = request(1, &[b'x'; 100_000]).kept_open();
    let (mut line, out) = shared(&[70, 71], &large);
    assert!(out.len() < 70_000, "the window of the connection is 65,535");
    assert_eq!([1, 3, 5].map(|number| line.progress(number)), [Progress::HeldBack, Progress::HeldBack, Progress::Gone]);
    let mut more = Vec::new();
    assert!(line.send(3, Arc::new(vec![1, 2, 3]), true, &mut more) && more.is_empty(), "it stands behind the rest");
    assert_eq!(line.abandon(1, &mut more), Abandoned::Kept);
    assert_eq!((more.len(), line.progress(1)), (13, Progress::Gone));
    let mut bytes = served(&[out, more].concat(), |_, _| {});
    for stream in [0, 3] {
        http2_frame(8, stream, &200_000_u32.to_be_bytes(), &mut bytes);
    }
    let (mut scratch, mut from, mut rooms, mut out) = (Scratch::default(), 0, 0, Vec::new());
    loop {
        let (taken, said) = line.handle(&mut bytes[from..], &mut scratch, MASK, &mut out).expect("it is good");
        from += taken;
        rooms += usize::from(matches!(said, ConnectionEvent::Room));
        if matches!(said, ConnectionEvent::NeedMore) && from == bytes.len() {
            break;
        }
    }
    assert!(rooms >= 3, "settings and two windows");
    out.clear();
    assert!(line.holds_back());
    line.resume(&mut out);
    assert!(out.ends_with(&[1, 2, 3]), "what came last leaves last");
    assert_eq!(line.progress(3), Progress::Framed);
    assert!(!line.holds_back());
    out.clear();
    assert!(line.close(MASK, &mut out));
    assert_eq!((out.len(), out[3]), (17, 7), "a GOAWAY");
}
