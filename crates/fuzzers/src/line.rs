use std::sync::Arc;

use wire::connection::{
    ALONE, AnyConnection, ConnectionEvent, ExchangeStart, Head, Http1, IdleState, Mask, Offer, Payload,
    ProtocolConnection, ResponseKind, Scratch, Tcp, WebSocket,
};
use wire::http1::RequestKind;
use wire::tcp::{Delimiter, Framing};

const MASK: Mask = [1, 2, 3, 4];

/// Any bytes on any protocol connection, cut anywhere: no panic, and the same events as in one piece; parked between
/// the pieces or not.
pub fn line(input: &[u8]) {
    let [kind, cut, bytes @ ..] = input else { return };
    let whole = said(*kind, &[bytes], false);
    let (front, back) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    assert_eq!(said(*kind, &[front, back], false), whole);
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(said(*kind, &each, false), whole);
    assert_eq!(said(*kind, &each, true), whole);
}

fn line_of(kind: u8, parked: Option<IdleState>) -> AnyConnection {
    let offer = || {
        Arc::new(Offer {
            host: "a".to_owned(),
            target: "/".to_owned(),
            protocols: vec!["chat".to_owned()],
            headers: Vec::new(),
            offers_deflate: true,
            message_bytes_max: 10_000,
            kept_bytes_max: 1_000,
        })
    };
    match (kind % 4, parked) {
        (0, None) => AnyConnection::WebSocket(Box::new(WebSocket::new(offer(), [0; 16]))),
        (0 | 1, parked) => AnyConnection::WebSocket(Box::new(WebSocket::unparked(offer(), parked.unwrap_or_default()))),
        (2, _) => {
            let framing = Delimiter::new(&[kind, 0]).map_or(Framing::Bytes(3), Framing::Until);
            AnyConnection::Tcp(Tcp::new(Some(Arc::new(framing))))
        }
        (_, None) => {
            let mut line = Http1::default();
            let kind = if kind < 128 { RequestKind::Other } else { RequestKind::Head };
            let ask = ExchangeStart { what: Payload::Template, response: ResponseKind::Response(kind) };
            line.begin(ALONE, ask, MASK, &mut Vec::new());
            AnyConnection::Http1(line)
        }
        (_, Some(_)) => AnyConnection::Http1(Http1::default()),
    }
}

/// The events, with joined bodies, and the bytes sent. The body of a response that a fault cut short is left out.
fn said(kind: u8, pieces: &[&[u8]], parks: bool) -> (Vec<String>, Vec<u8>) {
    let (mut line, mut scratch, mut out) = (line_of(kind, None), Scratch::default(), Vec::new());
    let (mut words, mut body) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut from = 0;
        loop {
            match line.handle(&mut bytes[from..], &mut scratch, MASK, &mut out) {
                Err(fault) => {
                    words.push(format!("{fault:?}"));
                    return (words, out);
                }
                Ok((taken, said)) => {
                    from += taken;
                    match said {
                        ConnectionEvent::NeedMore => break,
                        ConnectionEvent::Nothing => {}
                        ConnectionEvent::Body { bytes, is_last, .. } => {
                            body.extend_from_slice(bytes);
                            if is_last {
                                words.push(format!("{:?}", std::mem::take(&mut body)));
                            }
                        }
                        ConnectionEvent::End { .. } => words.push(format!("{:?}", std::mem::take(&mut body))),
                        ConnectionEvent::Head { head: Head::Http1(head), .. } => words.push(format!("{head:?}")),
                        other => words.push(format!("{other:?}")),
                    }
                }
            }
        }
        assert_eq!(from, piece.len(), "all of it was taken");
        if parks && let Some(parked) = line.park() {
            line = line_of(kind, Some(parked));
        }
    }
    (words, out)
}
