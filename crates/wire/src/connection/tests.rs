//! Each protocol on bytes: its events are the same whole, at every split, byte by byte and cut off at every length,
//! behind the enum and as a custom protocol.

mod http;
mod messages;
mod plugged;

use super::*;
use crate::http1::BodyLength;

const MASK: Mask = [7, 0, 200, 9];

/// The events, as text. Pieces of one body are joined: only their sum is a fact.
#[derive(Debug, Default, PartialEq, Eq)]
struct SessionEvent {
    words: Vec<String>,
    /// Outgoing bytes.
    out: Vec<u8>,
    fault: Option<Fault>,
    /// The final state of the connection.
    is_idle: bool,
    parked: Option<IdleState>,
    ending: Option<Ending>,
}

fn fields_in(fields: &FieldList) -> String {
    let of = |(name, value)| format!("{}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
    fields.iter().map(of).collect::<Vec<_>>().join(",")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An event as one word, and the tag whose body it continues.
fn word_of(said: &ConnectionEvent<'_>) -> Option<(String, Option<Tag>)> {
    let word = match said {
        ConnectionEvent::NeedMore | ConnectionEvent::Nothing => return None,
        ConnectionEvent::Ready => "ready".to_owned(),
        ConnectionEvent::Room => "room".to_owned(),
        ConnectionEvent::Interim { tag, is_continue, fields } => {
            let goes_on = if *is_continue { " (go on)" } else { "" };
            format!("{tag} interim {}{goes_on}", fields.map(fields_in).unwrap_or_default())
        }
        ConnectionEvent::Head { tag, head: Head::Http1(head), is_last: false } => {
            let body = if head.body == BodyLength::Chunked { "chunked" } else { "plain" };
            format!("{tag} head {} {body} {}", head.status, head.keep_alive)
        }
        ConnectionEvent::Head { tag, head: Head::Fields { status, fields }, is_last } => {
            format!("{tag} head {status} {} {is_last}", fields_in(fields))
        }
        ConnectionEvent::Head { .. } => unreachable!("a head of HTTP/1 is never the last"),
        ConnectionEvent::Body { tag, bytes, is_last } => {
            let more = if *is_last { None } else { Some(*tag) };
            let end = if *is_last { "." } else { "" };
            return Some((format!("{}{end}", text(bytes)), more.or(Some(*tag))));
        }
        ConnectionEvent::Trailers { tag, fields } => format!("{tag} trailers {}", fields_in(fields)),
        ConnectionEvent::End { tag } => format!("{tag} end"),
        ConnectionEvent::Message { bytes, is_cut, length } => format!("message {} {is_cut} {length}", text(bytes)),
        ConnectionEvent::Pong => "pong".to_owned(),
        ConnectionEvent::Close { code, reason } => format!("close {code:?} {reason}"),
        ConnectionEvent::Reset { tag, code } => format!("{tag} reset {code}"),
        ConnectionEvent::Broken { tag, fault } => format!("{tag} broken {fault:?}"),
        ConnectionEvent::GoAway { last } => format!("goaway {last}"),
        ConnectionEvent::Response { tag, bytes, status, is_success } => {
            format!("{tag} response {} {status} {is_success}", text(bytes))
        }
        ConnectionEvent::Stray(stray) => format!("stray {stray:?}"),
        ConnectionEvent::OverStream { tag } => format!("{tag} over a stream"),
        ConnectionEvent::Unframed(bytes) => return Some((text(bytes), Some(Tag::MAX))),
    };
    Some((word, None))
}

impl SessionEvent {
    fn add(&mut self, said: &ConnectionEvent<'_>, goes_on: &mut Vec<(Tag, usize)>) {
        let Some((word, body)) = word_of(said) else { return };
        if let ConnectionEvent::End { tag } | ConnectionEvent::Trailers { tag, .. } = said {
            goes_on.retain(|(known, _)| known != tag);
        }
        let Some(tag) = body else { return self.words.push(word) };
        let place = goes_on.iter().position(|(known, _)| *known == tag);
        let at = match place {
            Some(place) => goes_on[place].1,
            None => {
                self.words.push(format!("{tag} body "));
                goes_on.push((tag, self.words.len() - 1));
                self.words.len() - 1
            }
        };
        self.words[at].push_str(&word);
        if word.ends_with('.') {
            goes_on.retain(|(known, _)| *known != tag);
        }
    }
}

/// The events of a connection for input in pieces. `between` is called with the connection between two pieces.
fn listen(
    mut line: AnyConnection,
    pieces: &[&[u8]],
    mut between: impl FnMut(AnyConnection) -> AnyConnection,
) -> SessionEvent {
    let (mut scratch, mut received, mut goes_on) = (Scratch::default(), SessionEvent::default(), Vec::new());
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut from = 0;
        loop {
            match line.handle(&mut bytes[from..], &mut scratch, MASK, &mut received.out) {
                Ok((taken, said)) => {
                    from += taken;
                    let needs_more = matches!(said, ConnectionEvent::NeedMore);
                    received.add(&said, &mut goes_on);
                    if needs_more && from == piece.len() {
                        break;
                    }
                }
                Err(fault) => {
                    received.fault = Some(fault);
                    // How much of an incomplete body was reported depends on the cuts.
                    received.words.truncate(goes_on.iter().map(|(_, at)| *at).min().unwrap_or(received.words.len()));
                    return received;
                }
            }
        }
        line = between(line);
    }
    (received.is_idle, received.parked) = (line.is_idle(), line.park());
    received.ending = Some(line.handle_end());
    received
}

/// The events are the same at every split, in three pieces, byte by byte, and as a custom protocol; and a part yields
/// no event that the whole does not.
fn at_every_split(make: impl Fn() -> AnyConnection, bytes: &[u8]) -> SessionEvent {
    let plug = |line: AnyConnection| match line {
        AnyConnection::Http1(line) => AnyConnection::Custom(Box::new(line)),
        AnyConnection::Http2(line) => AnyConnection::Custom(line),
        AnyConnection::WebSocket(line) => AnyConnection::Custom(line),
        AnyConnection::Tcp(line) => AnyConnection::Custom(Box::new(line)),
        plugged @ AnyConnection::Custom(_) => plugged,
    };
    let keep = |line| line;
    let whole = listen(make(), &[bytes], keep);
    assert_eq!(listen(plug(make()), &[bytes], keep), whole, "plugged in");
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(listen(make(), &[front, back], keep), whole, "cut at {at}");
        let middle = back.len() / 2;
        assert_eq!(listen(make(), &[front, &back[..middle], &back[middle..]], keep), whole, "in three, at {at}");
        let cut_off = listen(make(), &[front], keep);
        let more = usize::from(whole.fault.is_some());
        assert!(cut_off.words.len() <= whole.words.len() + more, "cut off at {at}");
        assert!(whole.out.starts_with(&cut_off.out), "cut off at {at}");
        if cut_off.fault.is_some() {
            assert_eq!(cut_off.fault, whole.fault, "cut off at {at}");
        }
    }
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(listen(make(), &each, keep), whole, "byte by byte");
    assert_eq!(listen(plug(make()), &each, keep), whole, "byte by byte, plugged in");
    whole
}

/// A connection that is parked whenever possible yields the same events as one that never was.
fn parked_or_not(make: impl Fn() -> AnyConnection, unpark: impl Fn(IdleState) -> AnyConnection, bytes: &[u8]) {
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    let whole = listen(make(), &each, |line| line);
    let mut parked = 0;
    let received = listen(make(), &each, |line| match line.park() {
        Some(known) => {
            parked += 1;
            unpark(known)
        }
        None => line,
    });
    assert_eq!(received.words, whole.words);
    assert_eq!(received.out, whole.out);
    assert!(parked > 0 && parked < bytes.len(), "{parked} of {}", bytes.len());
}
