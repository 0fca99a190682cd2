use std::collections::BTreeMap;

use plan::{CustomRequest, FieldValue};
use protocol::{
    ConnectionEvent, Endpoint, ExchangeStart, Key, KeyKind, Payload, Protocol, ProtocolConnection, Replies, Request,
    Scratch, StepFields, Tag, Texts,
};
use wire::connection::ResponseKind;

/// Exchanges that begin on a connection, one after the other.
const EXCHANGES: Tag = 3;

/// Any bytes on both sides of any custom protocol, cut anywhere: no panic, the same events and the same replies as in
/// one piece, and a response whose view is JSON.
pub fn room(input: &[u8]) {
    let [room, kind, cut, bytes @ ..] = input else { return };
    let protocol = protocols::ROOMS[usize::from(*room) % protocols::ROOMS.len()];
    let (front, back) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    if protocol.about().schemes.iter().any(|scheme| scheme.is_datagram) {
        datagrams(protocol, *kind, &[front, back, front]);
    }
    if !protocol.about().schemes.iter().any(|scheme| !scheme.is_datagram) {
        return;
    }
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    if let Some((request, message)) = request_of(protocol, *kind, false) {
        let whole = events(&*request, &message, &[bytes]);
        assert_eq!(events(&*request, &message, &[front, back]), whole);
        assert_eq!(events(&*request, &message, &each), whole);
        for response in [bytes, front] {
            let mut json = Vec::new();
            request.view(response, &mut json);
            serde_json::from_slice::<serde_json::Value>(&json).expect("a view is JSON");
        }
    }
    let whole = replies(protocol, &[bytes]);
    assert_eq!(replies(protocol, &[front, back]), whole);
    assert_eq!(replies(protocol, &each), whole);
}

/// A request with fields by their kinds; the bits of `kind` say whether there are optional ones, a user and a path.
fn request_of(protocol: &dyn Protocol, kind: u8, is_datagram: bool) -> Option<(Box<dyn Request>, Vec<u8>)> {
    let about = protocol.about();
    let mut request = CustomRequest { protocol: about.name.to_owned(), ..CustomRequest::default() };
    // Only datagrams are sent again.
    let has = |key: &&Key| (key.is_needed || kind & 1 != 0) && (is_datagram || key.name != "resend");
    for key in about.keys.iter().filter(has) {
        let value = match key.kind {
            // Times, and names of ways, have values of their own.
            KeyKind::Text => request.text(value_of(key.name)),
            KeyKind::Number { max, .. } => FieldValue::Number(max),
            KeyKind::Switch => FieldValue::Switch(true),
            KeyKind::Words => FieldValue::List(vec![request.text(b"a"), request.text(b"b")]),
            KeyKind::WordLists => FieldValue::List(vec![
                FieldValue::List(vec![request.text(b"a")]),
                FieldValue::List(vec![request.text(b"b")]),
            ]),
        };
        request.fields.push((key.name.to_owned(), value));
    }
    let (user, password) = if kind & 2 == 0 { ("", None) } else { ("me", Some("pw".to_owned())) };
    let path = if kind & 4 == 0 { "/" } else { "/1" };
    let path = path.to_owned();
    let schemes = about.schemes.iter().filter(|scheme| scheme.is_datagram == is_datagram);
    let scheme = schemes.map(|scheme| scheme.name.to_owned()).next().unwrap_or_default();
    let endpoint =
        Endpoint { protocol: about.name.to_owned(), user: user.to_owned(), password, path, is_datagram, scheme };
    let prepared = protocol.prepare(&endpoint, &StepFields::new(&request)).ok()?;
    let texts: Vec<Vec<u8>> = request.texts.iter().map(|text| text.bytes.clone()).collect();
    let mut message = Vec::new();
    prepared.write(&Texts::new(&texts), &mut message);
    Some((prepared, message))
}

/// A valid text for a key.
fn value_of(key: &str) -> &'static [u8] {
    match key {
        "resend" => b"1s",
        "method" => b"chap",
        "accounting" => b"start",
        _ => b"a",
    }
}

/// Any datagrams on both sides: no panic, no response to a request that was not sent, each taken whole, and nothing but
/// the IDs of requests in what is sent.
fn datagrams(protocol: &dyn Protocol, kind: u8, pieces: &[&[u8]]) {
    if let Some((request, message)) = request_of(protocol, kind, true) {
        let (mut connection, mut scratch, mut out) = (request.connect(1), Scratch::default(), Vec::new());
        let start = ExchangeStart { what: Payload::Rendered(&message), response: ResponseKind::Custom { messages: 1 } };
        connection.start(&mut out);
        assert!(out.is_empty(), "nothing is sent before a request");
        for (number, piece) in pieces.iter().enumerate() {
            let exchange = connection.begin(0, start, [number as u8, kind, 3, 4], &mut out);
            // What came with the right ID: a forger may guess it.
            let mut bytes = piece.to_vec();
            if number > 0 {
                bytes.iter_mut().zip(&out).take(2 - usize::from(kind & 1)).for_each(|(byte, own)| *byte = *own);
            }
            out.clear();
            let length = bytes.len();
            let ends = match connection.handle(&mut bytes, &mut scratch, [1, 2, 3, 4], &mut out) {
                Ok((taken, event)) => {
                    assert_eq!(taken, length, "a datagram is taken whole");
                    matches!(event, ConnectionEvent::Response { .. } | ConnectionEvent::OverStream { .. })
                }
                Err(_) => return,
            };
            if !ends {
                assert!(connection.resend(exchange, &mut out) && !out.is_empty());
                connection.abandon(exchange, &mut out);
            }
            assert!(connection.is_idle());
            out.clear();
        }
        for response in pieces {
            let mut json = Vec::new();
            request.view(response, &mut json);
            serde_json::from_slice::<serde_json::Value>(&json).expect("a view is JSON");
        }
    }
    if let Some(mut service) = protocol.serve() {
        let mut replies = Replies::default();
        pieces.iter().for_each(|piece| service.handle_datagram(1, piece, &mut replies));
        service.close(1);
    }
}

/// The events, with joined bodies, and the bytes sent. The body of a response that a fault cut short is left out.
fn events(request: &dyn Request, message: &[u8], pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let (mut connection, mut scratch, mut out) = (request.connect(1), Scratch::default(), Vec::new());
    let (mut words, mut body, mut begun) = (Vec::new(), Vec::new(), 0);
    let response = ResponseKind::Custom { messages: request.messages() };
    let start = ExchangeStart { what: Payload::Rendered(message), response };
    connection.start(&mut out);
    begin_next(&mut *connection, start, &mut begun, &mut out);
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut from = 0;
        loop {
            let handled = connection.handle(&mut bytes[from..], &mut scratch, [1, 2, 3, 4], &mut out);
            let (taken, event) = match handled {
                Ok(handled) => handled,
                Err(fault) => {
                    words.push(format!("{fault:?}"));
                    return (words, out);
                }
            };
            from += taken;
            match event {
                ConnectionEvent::NeedMore => {
                    assert_eq!(from, bytes.len(), "input is left");
                    break;
                }
                ConnectionEvent::Nothing => {}
                ConnectionEvent::Body { bytes, is_last, .. } => {
                    assert!(is_last || !bytes.is_empty(), "an empty piece of a body");
                    body.extend_from_slice(bytes);
                }
                event => {
                    words.extend([std::mem::take(&mut body).escape_ascii().to_string(), format!("{event:?}")]);
                    begin_next(&mut *connection, start, &mut begun, &mut out);
                }
            }
        }
    }
    words.push(body.escape_ascii().to_string());
    (words, out)
}

/// Begins an exchange if there may be one more.
fn begin_next(connection: &mut dyn ProtocolConnection, start: ExchangeStart<'_>, begun: &mut Tag, out: &mut Vec<u8>) {
    if *begun < EXCHANGES && connection.room() > 0 && connection.is_idle() {
        *begun += 1;
        connection.begin(*begun, start, [1, 2, 3, 4], out);
    }
}

/// The replies of a service on each connection, and whether it closes any.
fn replies(protocol: &dyn Protocol, pieces: &[&[u8]]) -> (BTreeMap<u64, Vec<u8>>, bool) {
    let Some(mut service) = protocol.serve() else { return (BTreeMap::new(), false) };
    let (mut replies, mut sent) = (Replies::default(), BTreeMap::<u64, Vec<u8>>::new());
    service.open(1, &mut replies);
    pieces.iter().for_each(|piece| service.handle(1, piece, &mut replies));
    for (connection, bytes) in replies.sent {
        sent.entry(connection).or_default().extend(bytes);
    }
    sent.retain(|_, bytes| !bytes.is_empty());
    service.close(1);
    (sent, !replies.closed.is_empty())
}
