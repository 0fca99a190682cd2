//! Both sides on bytes, at every split and every truncation.

mod client;
mod requests;
mod server;

use plan::{CustomRequest, FieldText, FieldValue};
use protocol::{
    ALONE, ConnectionEvent, Endpoint, ExchangeStart, Payload, Protocol, Replies, Request, Scratch, StepFields, Texts,
};
use wire::connection::ResponseKind;

use super::PROTOCOL;

/// The fields of a step with these commands, and the values of its texts.
fn fields(commands: &[&[&str]], resp: u64) -> (CustomRequest, Vec<Vec<u8>>) {
    let mut request = CustomRequest { protocol: "redis".to_owned(), ..CustomRequest::default() };
    let mut list = |words: &[&str]| FieldValue::List(words.iter().map(|word| request.text(word.as_bytes())).collect());
    let lists = FieldValue::List(commands.iter().map(|words| list(words)).collect());
    request.fields = vec![("command".to_owned(), lists), ("resp".to_owned(), FieldValue::Number(resp))];
    let texts = request.texts.iter().map(|FieldText { bytes, .. }| bytes.clone()).collect();
    (request, texts)
}

fn endpoint(user: &str, password: Option<&str>, path: &str) -> Endpoint {
    let password = password.map(str::to_owned);
    Endpoint {
        protocol: "redis".to_owned(),
        user: user.to_owned(),
        password,
        path: path.to_owned(),
        is_datagram: false,
        ..Endpoint::default()
    }
}

/// A prepared step, and its bytes.
fn prepared(endpoint: &Endpoint, commands: &[&[&str]], resp: u64) -> (Box<dyn Request>, Vec<u8>) {
    let (request, texts) = fields(commands, resp);
    let prepared = PROTOCOL.prepare(endpoint, &StepFields::new(&request)).expect("a valid step");
    let mut bytes = Vec::new();
    prepared.write(&Texts::new(&texts), &mut bytes);
    (prepared, bytes)
}

/// The events of a connection on which exchanges follow each other, with joined bodies.
struct Driven {
    connection: protocol::Connection,
    bytes: Vec<u8>,
    messages: u32,
    exchanges: usize,
    events: Vec<String>,
    body: Vec<u8>,
    sent: Vec<u8>,
    is_broken: bool,
}

impl Driven {
    fn new((request, bytes): &(Box<dyn Request>, Vec<u8>), exchanges: usize) -> Self {
        let mut driven = Self {
            connection: request.connect(1),
            bytes: bytes.clone(),
            messages: request.messages(),
            exchanges,
            events: Vec::new(),
            body: Vec::new(),
            sent: Vec::new(),
            is_broken: false,
        };
        driven.connection.start(&mut driven.sent);
        driven.begin_next();
        driven
    }

    fn begin_next(&mut self) {
        if self.exchanges > 0 && self.connection.room() > 0 {
            self.exchanges -= 1;
            let response = ResponseKind::Custom { messages: self.messages };
            let start = ExchangeStart { what: Payload::Rendered(&self.bytes), response };
            self.connection.begin(ALONE, start, [0; 4], &mut self.sent);
        }
    }

    fn handle(&mut self, piece: &[u8]) {
        let (mut input, mut from, mut scratch) = (piece.to_vec(), 0, Scratch::default());
        while !self.is_broken {
            let handled = self.connection.handle(&mut input[from..], &mut scratch, [0; 4], &mut self.sent);
            let (taken, event) = match handled {
                Ok((taken, ConnectionEvent::Body { bytes, is_last, tag })) => {
                    assert!(!bytes.is_empty() && !is_last && tag == ALONE);
                    self.body.extend_from_slice(bytes);
                    (taken, None)
                }
                Ok((taken, ConnectionEvent::NeedMore)) => {
                    assert_eq!(from + taken, input.len(), "all input is taken");
                    return;
                }
                Ok((taken, ConnectionEvent::Nothing)) => (taken, None),
                Ok((taken, ConnectionEvent::Response { status, is_success, .. })) => {
                    (taken, Some(format!("{status} {is_success}")))
                }
                Ok((taken, ConnectionEvent::Message { bytes, is_cut, length })) => {
                    (taken, Some(format!("message {} {is_cut} {length}", bytes.escape_ascii())))
                }
                Ok((taken, event)) => (taken, Some(format!("{event:?}"))),
                Err(fault) => {
                    self.is_broken = true;
                    (0, Some(format!("{fault:?}")))
                }
            };
            from += taken;
            if let Some(event) = event {
                self.end_body();
                self.events.push(event);
                self.begin_next();
            }
        }
    }

    fn end_body(&mut self) {
        if !self.body.is_empty() {
            self.events.push(std::mem::take(&mut self.body).escape_ascii().to_string());
        }
    }

    fn into_events(mut self) -> Vec<String> {
        self.end_body();
        self.events
    }
}

fn events_of(step: &(Box<dyn Request>, Vec<u8>), exchanges: usize, pieces: &[&[u8]]) -> Vec<String> {
    let mut driven = Driven::new(step, exchanges);
    pieces.iter().for_each(|piece| driven.handle(piece));
    driven.into_events()
}

/// The same events at every split and byte for byte; at every truncation the beginning of them.
fn check(step: &(Box<dyn Request>, Vec<u8>), exchanges: usize, bytes: &[u8], expected: &[&str]) {
    assert_eq!(events_of(step, exchanges, &[bytes]), expected, "{}", bytes.escape_ascii());
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(events_of(step, exchanges, &[front, back]), expected, "{} cut at {at}", bytes.escape_ascii());
        let mut begun = events_of(step, exchanges, &[front]);
        // The last may be a body that goes on.
        let last = begun.pop().unwrap_or_default();
        let rest = expected.get(begun.len()..).expect("no more events than of all bytes");
        assert_eq!(begun, expected[..begun.len()]);
        assert!(rest.first().map_or(last.is_empty(), |next| next.starts_with(&last)), "{last} at {at}");
    }
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events_of(step, exchanges, &each), expected, "{} byte for byte", bytes.escape_ascii());
}

fn replied(replies: &Replies) -> Vec<u8> {
    replies.sent.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()
}
