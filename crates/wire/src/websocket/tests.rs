mod sessions;

use proptest::prelude::*;

use super::*;

const MASK: Mask = Some([0x37, 0xfa, 0x21, 0x3d]);
const MOST: u64 = 1 << 20;

/// Events, independent of the cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionEvent {
    Message(Kind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
}

fn read(from: Role, pieces: &[&[u8]]) -> (Vec<SessionEvent>, Option<Fault>) {
    let mut machine = Machine::new(from, false, MOST);
    let (mut received, mut current) = (Vec::new(), None);
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut rest = &mut bytes[..];
        loop {
            let (taken, event) = match machine.handle(rest) {
                Ok(handled) => handled,
                Err(fault) => return (received, Some(fault)),
            };
            let is_done = event == Event::NeedMore;
            match event {
                Event::NeedMore | Event::Nothing => {}
                Event::Begun { kind, .. } => current = Some((kind, Vec::new())),
                Event::Bytes(bytes) => current.as_mut().expect("a message").1.extend_from_slice(bytes),
                Event::End => {
                    let (kind, bytes) = current.take().expect("a message");
                    received.push(SessionEvent::Message(kind, bytes));
                }
                Event::Ping(bytes) => received.push(SessionEvent::Ping(bytes.to_vec())),
                Event::Pong(bytes) => received.push(SessionEvent::Pong(bytes.to_vec())),
                Event::Close { code, reason } => received.push(SessionEvent::Close(code, reason.to_owned())),
            }
            rest = &mut rest[taken..];
            if is_done {
                assert!(rest.is_empty());
                break;
            }
        }
    }
    (received, None)
}

/// The events are the same at every split, and byte by byte.
fn at_every_split(from: Role, bytes: &[u8]) -> (Vec<SessionEvent>, Option<Fault>) {
    let whole = read(from, &[bytes]);
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(read(from, &[front, back]), whole, "{at}");
    }
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(from, &each), whole);
    whole
}

fn text(words: &str) -> SessionEvent {
    SessionEvent::Message(Kind::Text, words.as_bytes().to_vec())
}

/// RFC 6455, 5.7.
#[test]
fn the_examples_of_the_rfc() {
    let server = [
        (&b"\x81\x05Hello"[..], vec![text("Hello")]),
        (b"\x01\x03Hel\x80\x02lo", vec![text("Hello")]),
        (b"\x89\x05Hello", vec![SessionEvent::Ping(b"Hello".to_vec())]),
    ];
    for (bytes, expected) in server {
        assert_eq!(at_every_split(Role::Server, bytes), (expected, None));
    }
    let client = [
        (&b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"[..], vec![text("Hello")]),
        (b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", vec![SessionEvent::Pong(b"Hello".to_vec())]),
    ];
    for (bytes, expected) in client {
        assert_eq!(at_every_split(Role::Client, bytes), (expected, None));
    }
    for length in [256usize, 65_536] {
        let mut bytes = Vec::new();
        push_frame(Opcode::Binary, true, None, &vec![7; length], &mut bytes);
        let head: &[u8] = if length == 256 { b"\x82\x7e\x01\x00" } else { b"\x82\x7f\0\0\0\0\0\x01\0\0" };
        assert!(bytes.starts_with(head) && bytes.len() == head.len() + length);
        assert_eq!(read(Role::Server, &[&bytes]), (vec![SessionEvent::Message(Kind::Binary, vec![7; length])], None));
    }
    // RFC 6455, 1.3.
    assert_eq!(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn signs_of_life_come_within_messages() {
    let mut bytes = Vec::new();
    push_frame(Opcode::Text, false, MASK, "世".as_bytes(), &mut bytes);
    push_frame(Opcode::Ping, true, MASK, b"now", &mut bytes);
    push_frame(Opcode::Continuation, false, MASK, b"", &mut bytes);
    push_frame(Opcode::Pong, true, MASK, b"", &mut bytes);
    push_frame(Opcode::Continuation, true, MASK, "界".as_bytes(), &mut bytes);
    push_frame(Opcode::Text, true, MASK, b"", &mut bytes);
    push_close(1_000, "done", MASK, &mut bytes);
    bytes.extend_from_slice(b"what comes afterwards");
    let expected = vec![
        SessionEvent::Ping(b"now".to_vec()),
        SessionEvent::Pong(Vec::new()),
        text("世界"),
        text(""),
        SessionEvent::Close(Some(1_000), "done".to_owned()),
    ];
    assert_eq!(at_every_split(Role::Client, &bytes), (expected, None));
}

#[test]
fn what_is_wrong_is_named() {
    let cases: Vec<(&[u8], Fault)> = vec![
        (b"\xc1\x00", Fault::ReservedBits),
        (b"\xa1\x00", Fault::ReservedBits),
        (b"\x91\x00", Fault::ReservedBits),
        (b"\x83\x00", Fault::Opcode),
        (b"\x8b\x00", Fault::Opcode),
        (b"\x81\x80", Fault::Masking),
        (b"\x09\x00", Fault::ControlFrame),
        (b"\x89\x7e\x00\x7e", Fault::ControlFrame),
        (b"\x82\x7e\x00\x7d", Fault::Length),
        (b"\x82\x7f\0\0\0\0\0\0\xff\xff", Fault::Length),
        (b"\x82\x7f\x80\0\0\0\0\0\0\0", Fault::Length),
        (b"\x82\x7f\0\0\0\0\0\x10\0\x01", Fault::TooLarge),
        (b"\x80\x00", Fault::Fragments),
        (b"\x01\x00\x81\x00", Fault::Fragments),
        (b"\x81\x02\xc3\x28", Fault::Utf8),
        (b"\x81\x01\xc3", Fault::Utf8),
        (b"\x01\x01\xf4\x00\x01\x90", Fault::Utf8),
        (b"\x88\x01\x03", Fault::CloseCode),
        (b"\x88\x02\x03\xed", Fault::CloseCode),
        (b"\x88\x02\x13\x88", Fault::CloseCode),
        (b"\x88\x03\x03\xe8\xff", Fault::Utf8),
    ];
    for (bytes, fault) in cases {
        assert_eq!(at_every_split(Role::Server, bytes).1, Some(fault), "{bytes:x?}");
        assert!(matches!(fault.close_code(), 1_002 | 1_007 | 1_008 | 1_009));
    }
    assert_eq!(read(Role::Client, &[b"\x81\x00"]).1, Some(Fault::Masking));
    let pings = b"\x89\x00".repeat(IDLE_FRAMES_MAX as usize + 1);
    assert_eq!(read(Role::Server, &[&pings]).1, None, "signs of life may come for ever");
    let flood = [&b"\x01\x00"[..], &pings].concat();
    assert_eq!(read(Role::Server, &[&flood]).1, Some(Fault::Flood), "a message must go on");
    let empty = [&b"\x01\x00"[..], &b"\x00\x00".repeat(IDLE_FRAMES_MAX as usize)].concat();
    assert_eq!(read(Role::Server, &[&empty]).1, Some(Fault::Flood));
}

#[test]
fn a_reason_that_is_too_long_is_cut_between_characters() {
    let mut bytes = Vec::new();
    push_close(3_000, &"界".repeat(60), None, &mut bytes);
    assert_eq!(bytes.len(), 2 + 2 + 123);
    let (received, fault) = read(Role::Server, &[&bytes]);
    assert_eq!((received, fault), (vec![SessionEvent::Close(Some(3_000), "界".repeat(41))], None));
}

#[test]
fn handshakes() {
    let key = key_of([7; 16]);
    let (protocols, headers) = (vec!["a".to_owned(), "b".to_owned()], vec![("X-A".to_owned(), b"1".to_vec())]);
    let opening =
        Opening { host: "h:1", target: "/x?y", protocols: &protocols, headers: &headers, offers_deflate: false };
    let mut request = Vec::new();
    render_request(&opening, &key, &mut request);
    let expect = Offered {
        length: request.len(),
        target: "/x?y".to_owned(),
        key: key.clone(),
        protocols: protocols.clone(),
        deflate: None,
    };
    assert_eq!(read_request(&request), Ok(Some(expect)));
    for at in 0..request.len() {
        assert_eq!(read_request(&request[..at]), Ok(None), "{at}");
    }
    let accept = accept_of(&key);
    let response = |status: &str, fields: &str| format!("HTTP/1.1 {status}\r\n{fields}\r\n").into_bytes();
    let good = format!("upgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\nsec-websocket-accept: {accept}\r\n");
    let whole = [response("101 Switching Protocols", &good), b"\x81\x00".to_vec()].concat();
    assert_eq!(
        read_response(&whole, &key, &protocols, false),
        Ok(Some((whole.len() - 2, Accepted { protocol: None, deflate: None })))
    );
    let chosen = response("101 x", &format!("{good}Sec-WebSocket-Protocol: b\r\n"));
    assert_eq!(
        read_response(&chosen, &key, &protocols, false).map(|read| read.map(|(_, response)| response.protocol)),
        Ok(Some(Some("b".to_owned())))
    );
    let cases = [
        (response("200 OK", &good), HandshakeFault::Status(200)),
        (response("101 x", "upgrade: websocket\r\nconnection: close\r\n"), HandshakeFault::Upgrade),
        (response("101 x", &good.replace(&accept, "nonsense")), HandshakeFault::Key),
        (response("101 x", &format!("{good}sec-websocket-accept: {accept}\r\n")), HandshakeFault::Key),
        (response("101 x", &format!("{good}Sec-WebSocket-Protocol: c\r\n")), HandshakeFault::Protocol),
        (
            response("101 x", &format!("{good}Sec-WebSocket-Extensions: permessage-deflate\r\n")),
            HandshakeFault::Extension,
        ),
        (b"\x16\x03\x01".to_vec(), HandshakeFault::Tls),
        (response("101 x", &format!("a: {}\r\n", "x".repeat(HEAD_BYTES_MAX))), HandshakeFault::TooLarge),
    ];
    for (bytes, fault) in cases {
        assert_eq!(read_response(&bytes, &key, &protocols, false), Err(fault), "{}", String::from_utf8_lossy(&bytes));
    }
    let requested = String::from_utf8(request).expect("a text");
    for (from, to, fault) in [
        ("13\r\n", "8\r\n", HandshakeFault::Version),
        (&*key, "short", HandshakeFault::Key),
        ("GET", "POST", HandshakeFault::Malformed),
        ("Upgrade: websocket", "Upgrade: h2c", HandshakeFault::Upgrade),
    ] {
        assert_eq!(read_request(requested.replacen(from, to, 1).as_bytes()), Err(fault), "{from}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..300), 1usize..4), 0..6),
        mask in any::<[u8; 4]>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (message, pieces) in &messages {
            let size = message.len().div_ceil(*pieces).max(1);
            let parts: Vec<&[u8]> = if message.is_empty() { vec![&[]] } else { message.chunks(size).collect() };
            for (number, part) in parts.iter().enumerate() {
                let opcode = if number == 0 { Opcode::Binary } else { Opcode::Continuation };
                push_frame(opcode, number + 1 == parts.len(), Some(mask), part, &mut bytes);
            }
            expected.push(SessionEvent::Message(Kind::Binary, message.clone()));
        }
        let (front, back) = bytes.split_at(cut.index(bytes.len() + 1));
        prop_assert_eq!(read(Role::Client, &[front, back]), (expected, None));
    }

    #[test]
    fn text_is_utf8_however_it_is_cut(bytes in prop::collection::vec(any::<u8>(), 0..12), chars in ".{0,6}", at in any::<prop::sample::Index>()) {
        for payload in [bytes.clone(), chars.clone().into_bytes(), [chars.as_bytes(), &bytes].concat()] {
            let mut frame = Vec::new();
            push_frame(Opcode::Text, true, None, &payload, &mut frame);
            let (front, back) = frame.split_at(at.index(frame.len() + 1));
            let (received, fault) = read(Role::Server, &[front, back]);
            match String::from_utf8(payload) {
                Ok(words) => prop_assert_eq!((received, fault), (vec![text(&words)], None)),
                Err(_) => prop_assert_eq!(fault, Some(Fault::Utf8)),
            }
        }
    }
}

#[test]
fn compression_is_agreed_on() {
    let key = key_of([9; 16]);
    let opening = Opening { host: "h", target: "/", protocols: &[], headers: &[], offers_deflate: true };
    let mut request = Vec::new();
    render_request(&opening, &key, &mut request);
    assert_eq!(read_request(&request).expect("a request").expect("whole").deflate, Some(WINDOW_BITS_MAX));
    let offers = |extensions: &str| {
        let text = String::from_utf8(request.clone()).expect("a text");
        let (front, rest) = text.split_once("Sec-WebSocket-Extensions: ").expect("the field");
        let (_, back) = rest.split_once("\r\n").expect("a line");
        let requested = format!("{front}Sec-WebSocket-Extensions: {extensions}\r\n{back}");
        read_request(requested.as_bytes()).expect("a request").expect("whole").deflate
    };
    for (extensions, window) in [
        ("permessage-deflate", Some(15)),
        ("x, permessage-deflate; client_max_window_bits", Some(15)),
        ("permessage-deflate; client_max_window_bits=10; server_max_window_bits=\"10\"", Some(10)),
        ("permessage-deflate; server_max_window_bits=8", Some(8)),
        ("permessage-deflate; server_max_window_bits=7, permessage-deflate; server_max_window_bits=9", Some(9)),
        ("permessage-deflate; server_max_window_bits", None),
        ("permessage-deflate; unknown", None),
        ("permessage-deflate; client_max_window_bits; client_max_window_bits", None),
        ("permessage-foo", None),
    ] {
        assert_eq!(offers(extensions), window, "{extensions}");
    }
    let answered = |extensions: &str| {
        let mut response = Vec::new();
        render_response(&key, None, None, &mut response);
        let text = String::from_utf8(response).expect("a text");
        let text = text.replacen("\r\n\r\n", &format!("\r\nSec-WebSocket-Extensions: {extensions}\r\n\r\n"), 1);
        read_response(text.as_bytes(), &key, &[], true).map(|read| read.expect("whole").1.deflate)
    };
    let mut ours = Vec::new();
    render_response(&key, Some("b"), Some(WINDOW_BITS_MAX), &mut ours);
    let offered = ["a".to_owned(), "b".to_owned()];
    let agreed = |window_bits, keeps_context| Some(Deflate { window_bits, keeps_context });
    let response = Accepted { protocol: Some("b".to_owned()), deflate: agreed(15, false) };
    assert_eq!(read_response(&ours, &key, &offered, true), Ok(Some((ours.len(), response))));
    for (extensions, deflate) in [
        ("permessage-deflate; server_no_context_takeover", agreed(15, false)),
        ("permessage-deflate; server_max_window_bits=12; server_no_context_takeover", agreed(15, false)),
        ("permessage-deflate", agreed(15, true)),
        ("Permessage-Deflate ; client_no_context_takeover", agreed(15, true)),
        ("permessage-deflate; client_max_window_bits=8", agreed(8, true)),
        ("permessage-deflate; client_max_window_bits=\"10\"; server_no_context_takeover", agreed(10, false)),
        ("permessage-deflate; Client_Max_Window_Bits = 15; server_max_window_bits=8", agreed(15, true)),
    ] {
        assert_eq!(answered(extensions), Ok(deflate), "{extensions}");
    }
    for extensions in [
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_no_context_takeover=1",
        "permessage-deflate; unknown",
        "permessage-foo",
        "permessage-deflate; server_no_context_takeover, x",
    ] {
        assert_eq!(answered(extensions), Err(HandshakeFault::Extension), "{extensions}");
    }
}
