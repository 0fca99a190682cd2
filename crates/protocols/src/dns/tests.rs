//! Both sides on bytes, at every truncation and every changed byte.

mod datagrams;
mod requests;
mod server;
mod stream;
mod view;

use plan::{CustomRequest, FieldValue};
use protocol::{
    Connection, ConnectionEvent, Endpoint, ExchangeStart, Mistake, Payload, Protocol, Request, Scratch, StepFields,
    Tag, Texts,
};
use wire::connection::ResponseKind;
use wire::dns::message::{CLASS_IN, MessageHead, push_name};

use super::PROTOCOL;
use super::message::question_of;

/// The value of a key.
#[derive(Clone, Copy)]
enum Value<'a> {
    Text(&'a str),
    /// A text that differs in each request, and its value in this one.
    Made(&'a str),
    Number(u64),
    On,
}

/// The fields of a step, and the values of its texts.
fn fields(given: &[(&str, Value<'_>)]) -> (CustomRequest, Vec<Vec<u8>>) {
    let mut request = CustomRequest { protocol: "dns".to_owned(), ..CustomRequest::default() };
    let mut texts = Vec::new();
    for (key, value) in given {
        let field = match value {
            Value::Text(text) => request.text(text.as_bytes()),
            Value::Made(_) => request.push_text(b"${x}", false),
            Value::Number(number) => FieldValue::Number(*number),
            Value::On => FieldValue::Switch(true),
        };
        match value {
            Value::Text(text) | Value::Made(text) => texts.push(text.as_bytes().to_vec()),
            Value::Number(_) | Value::On => {}
        }
        request.fields.push(((*key).to_owned(), field));
    }
    assert_eq!(request.texts.len(), texts.len());
    (request, texts)
}

fn endpoint(path: &str, is_datagram: bool) -> Endpoint {
    Endpoint { protocol: "dns".to_owned(), path: path.to_owned(), is_datagram, ..Endpoint::default() }
}

fn prepared(endpoint: &Endpoint, given: &[(&str, Value<'_>)]) -> Result<(Box<dyn Request>, Vec<u8>), Mistake> {
    let (request, texts) = fields(given);
    let prepared = PROTOCOL.prepare(endpoint, &StepFields::new(&request))?;
    let mut message = Vec::new();
    prepared.write(&Texts::new(&texts), &mut message);
    Ok((prepared, message))
}

/// The bytes of a query without its ID, and its step.
fn query_of(path: &str, given: &[(&str, Value<'_>)]) -> (Box<dyn Request>, Vec<u8>) {
    prepared(&endpoint(path, true), given).unwrap_or_else(|mistake| panic!("{}", mistake.en))
}

/// The bytes of a query for a name without EDNS.
fn plain(name: &str, kind: &str) -> (Box<dyn Request>, Vec<u8>) {
    query_of("/", &[("name", Value::Text(name)), ("type", Value::Text(kind)), ("edns", Value::Number(0))])
}

fn wire(name: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    push_name(name.as_bytes(), &mut wire).expect("a name");
    wire
}

/// A record: its owner as it is on the wire, type, seconds, data.
type Record<'a> = (&'a [u8], u16, u32, &'a [u8]);

/// A pointer to the name of the question.
const OWNER: &[u8] = &[0xc0, 12];

/// A message with this header, the question of a query, and records in each section.
fn message(id: u16, flags: u16, query: &[u8], sections: [&[Record<'_>]; 3]) -> Vec<u8> {
    let question = question_of(query).expect("a query");
    let [answers, authority, additional] = sections.map(|section| section.len() as u16);
    let mut out = Vec::new();
    MessageHead { id, flags, counts: [1, answers, authority, additional] }.push(&mut out);
    out.extend_from_slice(question);
    for (owner, kind, ttl, data) in sections.concat() {
        out.extend_from_slice(owner);
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        out.extend_from_slice(&ttl.to_be_bytes());
        out.extend_from_slice(&(data.len() as u16).to_be_bytes());
        out.extend_from_slice(data);
    }
    out
}

fn id_of(query: &[u8]) -> u16 {
    u16::from_be_bytes([query[0], query[1]])
}

/// A connection, and what it has sent.
struct Driven {
    connection: Connection,
    scratch: Scratch,
    masks: u32,
}

impl Driven {
    fn new(connection: Connection) -> Self {
        Self { connection, scratch: Scratch::default(), masks: 0x1234_5678 }
    }

    /// Begins an exchange: its number, and what is sent.
    fn begin(&mut self, tag: Tag, message: &[u8]) -> (u32, Vec<u8>) {
        self.masks = self.masks.wrapping_mul(0x915f_77f5).wrapping_add(1);
        let what = Payload::Rendered(message);
        let (mut sent, start) = (Vec::new(), ExchangeStart { what, response: ResponseKind::Custom { messages: 1 } });
        let number = self.connection.begin(tag, start, self.masks.to_be_bytes(), &mut sent);
        (number, sent)
    }

    /// The events of some bytes; all of them are taken.
    fn handle(&mut self, bytes: &[u8]) -> Vec<String> {
        let (mut input, mut from, mut events, mut out) = (bytes.to_vec(), 0, Vec::new(), Vec::new());
        loop {
            let handled = self.connection.handle(&mut input[from..], &mut self.scratch, [0; 4], &mut out);
            let (taken, event) = match handled {
                Ok((taken, ConnectionEvent::NeedMore)) => {
                    assert_eq!((from + taken, out.len()), (bytes.len(), 0));
                    return events;
                }
                Ok((taken, ConnectionEvent::Response { tag, bytes, status, is_success })) => {
                    (taken, format!("{tag} {status} {is_success} {}", bytes.len()))
                }
                Ok((taken, ConnectionEvent::Stray(stray))) => (taken, format!("{stray:?}")),
                Ok((taken, ConnectionEvent::OverStream { tag })) => (taken, format!("{tag} over a stream")),
                Ok((taken, ConnectionEvent::Body { bytes, is_last: false, tag: 0 })) => {
                    (taken, format!("unsolicited {}", bytes.escape_ascii()))
                }
                Ok((_, event)) => panic!("{event:?}"),
                Err(fault) => {
                    events.push(format!("{fault:?}"));
                    return events;
                }
            };
            from += taken;
            events.push(event);
        }
    }

    /// The event of one datagram.
    fn datagram(&mut self, bytes: &[u8]) -> String {
        let mut events = self.handle(bytes);
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    fn abandon(&mut self, number: u32) {
        let mut out = Vec::new();
        assert_eq!(self.connection.abandon(number, &mut out), wire::connection::Abandoned::Kept);
        assert!(out.is_empty());
    }
}

#[test]
fn failures_belong_to_the_protocol() {
    let about = PROTOCOL.about();
    assert_eq!(about.failures.iter().map(|failure| failure.name).collect::<Vec<_>>(), ["dns-message", "dns-name"]);
    for failure in about.failures {
        assert!(!failure.cause.zh.is_ascii() && !failure.remedy.zh.is_ascii(), "{}", failure.name);
    }
    assert!(about.keys.iter().all(|key| !key.is_needed && !key.help.zh.is_ascii()));
    assert!(about.keys.iter().any(|key| key.name == about.main_key));
}
