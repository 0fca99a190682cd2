//! Connections of messages: WebSocket and TCP.

use super::*;
use crate::tcp::{Delimiter, RESPONSE_BYTES_MAX};
use crate::websocket::{
    self, Deflater, Kind, Opcode, Role, Session, Terms, accept_of, key_of, push_close, push_frame, push_message,
};

const RANDOM: [u8; 16] = [3; 16];

fn offer(offers_deflate: bool, kept_bytes_max: usize) -> Arc<Offer> {
    Arc::new(Offer {
        host: "there:80".to_owned(),
        target: "/chat".to_owned(),
        protocols: vec!["one".to_owned(), "two".to_owned()],
        headers: vec![("X-Own".to_owned(), b"some".to_vec())],
        offers_deflate,
        message_bytes_max: 1_000,
        kept_bytes_max,
    })
}

fn opening(offers_deflate: bool) -> AnyConnection {
    AnyConnection::WebSocket(Box::new(WebSocket::new(offer(offers_deflate, 100), RANDOM)))
}

fn talking(parked: IdleState) -> AnyConnection {
    AnyConnection::WebSocket(Box::new(WebSocket::unparked(offer(true, 100), parked)))
}

/// A response to the handshake, with these fields after the required ones.
fn agreement(fields: &str) -> Vec<u8> {
    let accept = accept_of(&key_of(RANDOM));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{fields}\r\n"
    )
    .into_bytes()
}

/// Messages of every kind, one of them in pieces around a ping.
fn conversation() -> Vec<u8> {
    let mut bytes = Vec::new();
    push_message(Kind::Text, false, None, "zwölf".as_bytes(), &mut bytes);
    push_frame(Opcode::Ping, true, None, b"are you there", &mut bytes);
    push_frame(Opcode::Text, false, None, b"in ", &mut bytes);
    push_frame(Opcode::Ping, true, None, b"", &mut bytes);
    push_frame(Opcode::Continuation, true, None, b"pieces", &mut bytes);
    push_frame(Opcode::Pong, true, None, b"yes", &mut bytes);
    push_message(Kind::Binary, false, None, &[b'x'; 101], &mut bytes);
    push_message(Kind::Binary, false, None, b"", &mut bytes);
    bytes
}

const SAID: [&str; 5] =
    ["message zwölf false 6", "message in pieces false 9", "pong", "message  true 101", "message  false 0"];

fn pongs(payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    payloads.iter().for_each(|payload| push_frame(Opcode::Pong, true, Some(MASK), payload, &mut bytes));
    bytes
}

#[test]
fn a_line_of_websocket_agrees_and_then_talks() {
    let (mut line, mut out) = (opening(false), Vec::new());
    line.start(&mut out);
    let requested = text(&out);
    assert!(
        requested.starts_with("GET /chat HTTP/1.1\r\nHost: there:80\r\n") && requested.ends_with("X-Own: some\r\n\r\n")
    );
    assert!(
        requested.contains(&key_of(RANDOM)) && requested.contains("one, two") && !requested.contains("deflate"),
        "{requested}"
    );
    assert_eq!((line.room(), line.park(), line.is_idle()), (0, None, false));
    let bytes = [agreement("Sec-WebSocket-Protocol: two\r\n"), conversation()].concat();
    let received = at_every_split(|| opening(false), &bytes);
    assert_eq!((received.words[0].as_str(), received.fault), ("ready", None));
    assert_eq!(received.words[1..], SAID);
    assert_eq!(received.out, pongs(&[b"are you there", b""]));
    assert_eq!((received.is_idle, received.parked), (true, Some(IdleState::default())));
    assert_eq!(received.ending, Some(Ending::BeforeAnswer));
}

#[test]
fn messages_come_as_they_were_before_they_were_compressed() {
    for (terms, keeps_context) in [
        ("permessage-deflate; server_no_context_takeover; client_max_window_bits=12", false),
        ("permessage-deflate", true),
    ] {
        let mut bytes = agreement(&format!("Sec-WebSocket-Extensions: {terms}\r\n"));
        let mut deflater = Deflater::default();
        for said in ["again and again and again", "once"] {
            push_message(Kind::Text, true, None, &deflater.compress(said.as_bytes()), &mut bytes);
        }
        let received = at_every_split(|| opening(true), &bytes);
        assert_eq!(received.words, ["ready", "message again and again and again false 25", "message once false 4"]);
        let window_bits = if keeps_context { 15 } else { 12 };
        let deflate = websocket::Deflate { window_bits, keeps_context };
        let parked = (!keeps_context).then_some(IdleState { deflate: Some(deflate) });
        assert_eq!(received.parked, parked, "a window that is kept cannot be parked");
    }
}

#[test]
fn a_line_of_websocket_is_parked_between_messages() {
    parked_or_not(|| talking(IdleState::default()), talking, &conversation());
    let parked = IdleState { deflate: Some(websocket::Deflate { window_bits: 15, keeps_context: false }) };
    let mut bytes = Vec::new();
    for said in ["one", "two", "three"] {
        push_message(Kind::Text, true, None, &Deflater::default().compress(said.as_bytes()), &mut bytes);
    }
    parked_or_not(|| talking(parked), talking, &bytes);
    assert!(size_of::<IdleState>() <= 8, "there may be a million");
}

#[test]
fn what_is_no_agreement_is_a_fault() {
    let good = text(&agreement(""));
    for (response, fault) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n".to_owned(), HandshakeFault::Status(403)),
        (good.replace("Upgrade: websocket", "Upgrade: h2c"), HandshakeFault::Upgrade),
        (good.replace("Accept: ", "Accept: x"), HandshakeFault::Key),
        (text(&agreement("Sec-WebSocket-Protocol: three\r\n")), HandshakeFault::Protocol),
        (text(&agreement("Sec-WebSocket-Extensions: permessage-deflate\r\n")), HandshakeFault::Extension),
        ("HTTP/1.1 101\r\n\0: x\r\n\r\n".to_owned(), HandshakeFault::Malformed),
    ] {
        let received = at_every_split(|| opening(false), response.as_bytes());
        assert_eq!((received.words.len(), received.fault), (0, Some(Fault::Handshake(fault))), "{response}");
        assert!(received.out.is_empty() && !Fault::Handshake(fault).was_reported());
    }
}

#[test]
fn a_peer_that_breaks_the_rules_of_websocket_is_reported() {
    let mut masked = Vec::new();
    push_message(Kind::Text, false, Some(MASK), b"x", &mut masked);
    let mut latin = Vec::new();
    push_message(Kind::Text, false, None, b"\xe9t\xe9", &mut latin);
    let mut large = Vec::new();
    push_message(Kind::Binary, false, None, &[0; 1_001], &mut large);
    for (bytes, fault, code) in [
        (masked, websocket::Fault::Masking, 1_002),
        (latin, websocket::Fault::Utf8, 1_007),
        (large, websocket::Fault::TooLarge, 1_009),
        (vec![0x83, 0], websocket::Fault::Opcode, 1_002),
    ] {
        let bytes = [conversation(), bytes].concat();
        let received = at_every_split(|| talking(IdleState::default()), &bytes);
        assert_eq!(received.fault, Some(Fault::WebSocket(fault)));
        assert_eq!(received.words, SAID);
        let mut out = pongs(&[b"are you there", b""]);
        push_close(code, "", Some(MASK), &mut out);
        assert_eq!(received.out, out);
        assert!(Fault::WebSocket(fault).was_reported());
    }
}

#[test]
fn an_end_is_agreed_on_once_from_either_side() {
    let mut theirs = Vec::new();
    push_close(1_001, "enough", None, &mut theirs);
    let received = at_every_split(|| talking(IdleState::default()), &theirs);
    assert_eq!(received.words, ["close Some(1001) enough"]);
    let mut response = Vec::new();
    push_close(1_001, "", Some(MASK), &mut response);
    assert_eq!((received.out, received.parked), (response, None));
    // We close first: the peer's close is the reply, and gets no reply.
    let closed = || {
        let (mut line, mut out) = (talking(IdleState::default()), Vec::new());
        assert!(line.close(MASK, &mut out) && line.close(MASK, &mut out));
        let mut once = Vec::new();
        push_close(1_000, "", Some(MASK), &mut once);
        assert_eq!(out, once);
        line
    };
    let received = at_every_split(closed, &theirs);
    assert_eq!((received.words.len(), received.out.len()), (1, 0));
    assert!(!opening(false).close(MASK, &mut Vec::new()), "there is nothing to end yet");
}

#[test]
fn a_message_that_is_made_for_its_exchange_is_framed() {
    let (mut line, mut out) = (talking(IdleState::default()), Vec::new());
    let ask = |what| ExchangeStart { what, response: ResponseKind::Message };
    line.begin(ALONE, ask(Payload::Template), MASK, &mut out);
    assert!(out.is_empty(), "the caller has it");
    line.begin(ALONE, ask(Payload::Rendered("zwölf".as_bytes())), MASK, &mut out);
    let terms = Terms { role: Role::Server, deflate: None, message_bytes_max: 100, kept_bytes_max: 100 };
    let (mut server, mut scratch, mut received) = (Session::new(terms), websocket::Scratch::default(), Vec::new());
    let mut from = 0;
    while from < out.len() || received.is_empty() {
        let said = server.handle(&mut out[from..], &mut scratch, None, &mut Vec::new()).expect("it is good");
        if let websocket::SessionEvent::Message { bytes, .. } = said.1 {
            received = bytes.to_vec();
        }
        from += said.0;
    }
    assert_eq!(text(&received), "zwölf");
}

#[test]
fn what_has_begun_is_reported() {
    let mut line = talking(IdleState::default());
    let mut bytes = Vec::new();
    push_message(Kind::Text, false, None, b"half of it", &mut bytes);
    let cut = bytes.len() - 5;
    let (mut scratch, mut from) = (Scratch::default(), 0);
    loop {
        let said = line.handle(&mut bytes[from..cut], &mut scratch, MASK, &mut Vec::new()).expect("it is good");
        from += said.0;
        if matches!(said.1, ConnectionEvent::NeedMore) {
            break;
        }
    }
    assert_eq!((line.begun(), line.is_idle()), (&b"half "[..], false));
    assert_eq!(line.handle_end(), Ending::Early);
    assert_eq!(opening(false).begun(), b"");
}

fn until(bytes: &[u8]) -> Arc<Framing> {
    Arc::new(Framing::Until(Delimiter::new(bytes).expect("a delimiter")))
}

fn tcp(framing: &Arc<Framing>) -> AnyConnection {
    AnyConnection::Tcp(Tcp::new(Some(framing.clone())))
}

#[test]
fn responses_on_a_plain_stream_end_where_they_should() {
    let prefix = Arc::new(Framing::LengthPrefix { width: 2, is_little_endian: false });
    for (framing, bytes, words, is_idle) in [
        (
            until(b"\n"),
            &b"one\n\ntwo\nthr"[..],
            vec!["0 body one\n.", "0 body \n.", "0 body two\n.", "0 body thr"],
            false,
        ),
        (until(b"aab"), b"aaabx", vec!["0 body aaab.", "0 body x"], false),
        (Arc::new(Framing::Bytes(3)), b"abcdef", vec!["0 body abc.", "0 body def."], true),
        (prefix, b"\0\x02ab\0\0\0", vec!["0 body \0\x02ab.", "0 body \0\0.", "0 body \0"], false),
    ] {
        let received = at_every_split(|| tcp(&framing), bytes);
        assert_eq!((received.words, received.is_idle), (words.iter().map(ToString::to_string).collect(), is_idle));
        assert_eq!(received.parked.is_some(), is_idle);
        assert_eq!(received.ending, Some(if is_idle { Ending::BeforeAnswer } else { Ending::Early }));
        assert!(received.out.is_empty());
    }
    parked_or_not(|| tcp(&until(b"\n")), |_| tcp(&until(b"\n")), b"one\n\ntwo\n");
}

#[test]
fn a_plain_stream_takes_the_framing_of_the_message_that_left_last() {
    let (line, semi) = (until(b"\n"), until(b";"));
    let made = || {
        let (mut made, mut out) = (tcp(&line), Vec::new());
        let ask = |response| ExchangeStart { what: Payload::Template, response };
        made.begin(ALONE, ask(ResponseKind::Framed(&line)), MASK, &mut out);
        made.begin(ALONE, ask(ResponseKind::Framed(&semi)), MASK, &mut out);
        assert!(out.is_empty() && made.room() == 1);
        made
    };
    assert_eq!(at_every_split(made, b"a\n;").words, ["0 body a\n;."]);
    let deaf = || {
        let mut made = made();
        made.begin(
            ALONE,
            ExchangeStart { what: Payload::Template, response: ResponseKind::Nothing },
            MASK,
            &mut Vec::new(),
        );
        made
    };
    for made in [deaf(), AnyConnection::Tcp(Tcp::new(None))] {
        let received = listen(made, &[b"any", b"thing"], |line| line);
        assert_eq!(received.words, [format!("{} body anything", Tag::MAX)]);
    }
}

#[test]
fn a_prefix_that_cannot_be_is_a_fault() {
    let framing = Arc::new(Framing::LengthPrefix { width: 8, is_little_endian: false });
    let bytes = [&b"\0\0\0\0\0\0\0\x01x"[..], &(RESPONSE_BYTES_MAX + 1).to_be_bytes()].concat();
    let received = at_every_split(|| tcp(&framing), &bytes);
    assert_eq!(received.fault, Some(Fault::AnswerLength(TooLarge)));
    assert!(!Fault::AnswerLength(TooLarge).was_reported());
}
