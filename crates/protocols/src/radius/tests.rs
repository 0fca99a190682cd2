//! Both sides on datagrams, with the vectors of the RFCs.

mod client;
mod requests;
mod server;
mod vectors;
mod view;

use plan::{CustomRequest, FieldText, FieldValue};
use protocol::{
    ConnectionEvent, Endpoint, ExchangeStart, Mistake, Payload, Protocol, Replies, Request, Scratch, Service,
    StepFields, Tag, Texts,
};
use wire::connection::ResponseKind;

use super::PROTOCOL;
use super::packet::{
    ACCESS_REQUEST, Digest, HEADER_BYTES, MESSAGE_AUTHENTICATOR, Secret, code_name, push_attribute, write_length,
};
use super::service::Server;

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.chars().filter_map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn digest_of(hexadecimal: &str) -> Digest {
    bytes_of(hexadecimal).try_into().expect("16 bytes")
}

fn url(user: &str, password: Option<&str>) -> Endpoint {
    Endpoint {
        protocol: "radius".to_owned(),
        user: user.to_owned(),
        password: password.map(str::to_owned),
        path: "/".to_owned(),
        is_datagram: true,
        ..Endpoint::default()
    }
}

/// The fields of a step: each key with its text; `attributes` may come several times. A text with `${` differs.
fn fields(given: &[(&str, &str)]) -> CustomRequest {
    let mut request = CustomRequest { protocol: "radius".to_owned(), ..CustomRequest::default() };
    let mut attributes = Vec::new();
    for (key, text) in given {
        let value = request.push_text(text.as_bytes(), !text.contains("${"));
        match *key {
            "attributes" => attributes.push(value),
            key => request.fields.push((key.to_owned(), value)),
        }
    }
    if !attributes.is_empty() {
        request.fields.push(("attributes".to_owned(), FieldValue::List(attributes)));
    }
    request
}

fn prepare(endpoint: &Endpoint, given: &[(&str, &str)]) -> Result<Box<dyn Request>, Mistake> {
    PROTOCOL.prepare(endpoint, &StepFields::new(&fields(given)))
}

/// A prepared step, and what it writes; `values` stand for the texts that differ, in their order.
fn prepared(given: &[(&str, &str)], values: &[&[u8]]) -> (Box<dyn Request>, Vec<u8>) {
    let (request, mut values) = (fields(given), values.iter());
    let text = |FieldText { bytes, is_constant }: &FieldText| {
        if *is_constant { bytes.clone() } else { values.next().expect("a value").to_vec() }
    };
    let texts: Vec<Vec<u8>> = request.texts.iter().map(text).collect();
    let step = PROTOCOL.prepare(&url("", None), &StepFields::new(&request)).expect("a valid step");
    let mut written = Vec::new();
    step.write(&Texts::new(&texts), &mut written);
    (step, written)
}

/// A step for this user, for the server of this program.
fn pap(user: &str) -> (Box<dyn Request>, Vec<u8>) {
    prepared(&[("secret", "testing123"), ("user", user), ("password", "secret")], &[])
}

/// A connection, and what it did.
struct Driven {
    connection: protocol::Connection,
    masks: u32,
}

impl Driven {
    fn new(step: &dyn Request) -> Self {
        let mut connection = step.connect(7);
        let mut out = Vec::new();
        connection.start(&mut out);
        assert!(out.is_empty() && connection.is_idle() && connection.room() == 1);
        Self { connection, masks: 0 }
    }

    /// Begins an exchange: its number, and its datagram.
    fn begin(&mut self, tag: Tag, written: &[u8]) -> (u32, Vec<u8>) {
        let mut out = b"before".to_vec();
        self.masks += 1;
        let start = ExchangeStart { what: Payload::Rendered(written), response: ResponseKind::Custom { messages: 1 } };
        let number = self.connection.begin(tag, start, self.masks.to_le_bytes(), &mut out);
        assert!(!self.connection.is_idle());
        (number, out.strip_prefix(b"before").expect("the datagram is appended").to_vec())
    }

    /// The event of a datagram.
    fn handle(&mut self, datagram: &[u8]) -> String {
        let (mut input, mut scratch, mut out) = (datagram.to_vec(), Scratch::default(), Vec::new());
        let handled = self.connection.handle(&mut input, &mut scratch, [0; 4], &mut out);
        let (taken, event) = match handled {
            Ok(handled) => handled,
            Err(fault) => return format!("{fault:?}"),
        };
        let event = match event {
            ConnectionEvent::Response { tag, bytes, status, is_success } => {
                let declared = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
                assert_eq!(bytes.len(), declared, "all of the packet, without padding");
                format!("{tag} {status} {is_success}")
            }
            event => format!("{event:?}"),
        };
        assert_eq!((taken, out.len()), (datagram.len(), 0), "all is taken, and nothing is sent");
        let rest = self.connection.handle(&mut [], &mut scratch, [0; 4], &mut out);
        assert!(matches!(rest, Ok((0, ConnectionEvent::NeedMore))));
        event
    }

    fn abandon(&mut self, number: u32) {
        let mut out = Vec::new();
        assert_eq!(self.connection.abandon(number, &mut out), wire::connection::Abandoned::Kept);
        assert!(out.is_empty());
    }
}

const LATE: &str = "Stray(Late)";
const DUPLICATE: &str = "Stray(Duplicate)";
const UNMATCHED: &str = "Stray(Unmatched)";

/// A response to a request, signed if it has a place for that.
fn response(secret: &Secret, code: u8, request: &[u8], attributes: &[(u8, &[u8])]) -> Vec<u8> {
    let mut packet = vec![0; HEADER_BYTES];
    (packet[0], packet[1]) = (code, request[1]);
    let mut signature_at = None;
    for (kind, value) in attributes {
        if *kind == MESSAGE_AUTHENTICATOR {
            signature_at = Some(packet.len() + 2);
        }
        push_attribute(*kind, value, &mut packet);
    }
    write_length(0, &mut packet);
    signed(secret, packet, request, signature_at)
}

fn signed(secret: &Secret, mut packet: Vec<u8>, request: &[u8], signature_at: Option<usize>) -> Vec<u8> {
    let authenticator = request[4..20].try_into().expect("16 bytes");
    if let Some(at) = signature_at {
        let signature = secret.signature(&packet, &authenticator, at);
        packet[at..at + 16].copy_from_slice(&signature);
    }
    let digest = secret.digest(&packet, &authenticator);
    packet[4..20].copy_from_slice(&digest);
    packet
}

fn testing123() -> Secret {
    Secret::new(b"testing123")
}

/// The datagrams with which a server replies.
fn served(server: &mut Server, peer: u64, datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut replies = Replies::default();
    server.handle_datagram(peer, datagram, &mut replies);
    assert!(replies.closed.is_empty() && replies.sent.iter().all(|(to, _)| *to == peer));
    replies.sent.into_iter().map(|(_, datagram)| datagram).collect()
}
