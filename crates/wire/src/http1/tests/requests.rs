//! The same for the server's side: requests at every split.

use super::super::*;

fn transcript(pieces: &[&[u8]]) -> String {
    let mut machine = Server::default();
    let mut words: Vec<String> = Vec::new();
    let mut body = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match machine.handle(rest) {
                Err(error) => {
                    words.push(format!("! {error:?}"));
                    return words.join(" | ");
                }
                Ok((taken, event)) => {
                    let need_more = event == ServerEvent::NeedMore;
                    match event {
                        ServerEvent::NeedMore => {}
                        ServerEvent::Head(head) => words.push(describe(&head)),
                        ServerEvent::Body(bytes) => body.extend_from_slice(bytes),
                        ServerEvent::End => {
                            words.push(format!("({}) end", String::from_utf8_lossy(&std::mem::take(&mut body))));
                        }
                    }
                    rest = &rest[taken..];
                    if need_more {
                        assert!(rest.is_empty());
                        break;
                    }
                }
            }
        }
    }
    words.push(if machine.is_idle() { "idle".into() } else { "waits".into() });
    words.join(" | ")
}

fn describe(head: &RequestHead<'_>) -> String {
    let keep = if head.keep_alive { "keep" } else { "close" };
    let expect = if head.expect_continue { " expect" } else { "" };
    // A field of the head is found at any split.
    let said = fields(head.bytes).filter(|(name, _)| name.eq_ignore_ascii_case(b"x-said"));
    let said: String = said.map(|(_, value)| format!(" said {}", String::from_utf8_lossy(value))).collect();
    format!("{} {} {:?} {keep}{expect}{said}", head.method, head.target, head.body)
}

fn check(bytes: &[u8], expect: &str) {
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(transcript(&[front, back]), expect, "split at {at}");
    }
    let singles: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(transcript(&singles), expect, "byte by byte");
}

#[test]
fn good_requests() {
    check(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / None keep | () end | idle");
    check(b"GET /a?b=c HTTP/1.0\r\n\r\n", "GET /a?b=c None close | () end | idle");
    check(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / None keep | () end | idle");
    check(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "POST / Known(5) keep | (hello) end | idle");
    check(
        b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "PUT / Chunked keep expect | (hi) end | idle",
    );
    check(b"BREW /pot HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "BREW /pot None close | () end | idle");
    check(
        b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3",
        "GET /1 None keep | () end | GET /2 None keep | () end | waits",
    );
}

#[test]
fn heads_come_with_their_fields() {
    check(b"GET / HTTP/1.1\r\nHost: a\r\nX-Said: one\r\n\r\n", "GET / None keep said one | () end | idle");
    check(
        b"\r\nGET / HTTP/1.1\r\nx-said:  a: b \r\nHost: a\r\nX-SAID:\r\n\r\n",
        "GET / None keep said a: b said  | () end | idle",
    );
    check(
        b"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n\r\nX-Said: one\r\nGET /2 HTTP/1.1\r\nHost: a\r\nX-Said: two\r\n\r\n",
        "POST /1 Known(13) keep | (X-Said: one\r\n) end | GET /2 None keep said two | () end | idle",
    );
}

#[test]
fn hostile_requests() {
    check(b"GET / HTTP/1.1\r\n\r\n", "! Host");
    check(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "! Host");
    check(b"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "! StartLine");
    check(b"\x16\x03\x01\x02", "! StartLine");
    check(
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "! AmbiguousLength",
    );
    check(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "! TransferEncoding");
    check(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "! TransferEncoding");
    check(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "! ContentLength");
}

#[test]
fn what_we_render_we_read() {
    let fields = [("Host".to_owned(), b"a".to_vec()), ("X".to_owned(), "压".as_bytes().to_vec())];
    let mut bytes = Vec::new();
    render_request("GET", "/x", Version::Http11, &fields, b"", &mut bytes);
    assert_eq!(bytes, "GET /x HTTP/1.1\r\nHost: a\r\nX: 压\r\n\r\n".as_bytes());
    check(&bytes, "GET /x None keep | () end | idle");
}

#[test]
fn what_we_response_a_client_reads() {
    for (status, body_bytes, expect) in
        [(200, Some(0), BodyLength::Known(0)), (204, Some(0), BodyLength::None), (200, None, BodyLength::Chunked)]
    {
        let mut bytes = Vec::new();
        let start = ResponseStart {
            status,
            body_bytes,
            content_type: "text/plain",
            location: None,
            close: false,
            keep_alive: false,
        };
        let more = [None, Some(("ETag", "\"7\""))][usize::from(status == 200)];
        write_response_head(&start, more, &mut bytes);
        let has_more = fields(&bytes).any(|field| field == (b"ETag", b"\"7\""));
        assert_eq!(has_more, more.is_some(), "{status}");
        let mut client = Client::default();
        client.start(RequestKind::Other);
        let (taken, response) = client.handle(&bytes, &mut HeadMemory::default()).expect("our own head");
        assert_eq!(taken, bytes.len());
        assert_eq!(
            response,
            Response::Head(ResponseHead { status, version: Version::Http11, keep_alive: true, body: expect })
        );
    }
}

/// Some forms that are allowed in responses are refused in requests: they enable request smuggling.
#[test]
fn requests_are_read_strictly() {
    check(b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", "! Header");
    check(b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "! StartLine");
    check(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", "! Header");
    let fields = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n";
    check(fields, "! TransferEncoding");
    let trailer = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: 1\r\n 2\r\n\r\n";
    check(trailer, "POST / Chunked keep | ! Trailer");
}
