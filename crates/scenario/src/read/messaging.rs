//! WebSocket and TCP connections, and their messages.

use plan::{Flags, MessageKind, PlanError, ResponseEnd, TextContext};

use super::{auth, expects, extracts, query, requests, urls};
use crate::diagnostic::{Problem, Wanted, shortened};
use crate::file::{Action, Message, MessageData, Messaging, Receive};
use crate::keys::{MESSAGE, RECEIVE, STEP, verb_of};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The keys for the content of a message.
const DATA: [&str; 4] = ["text", "json", "hex", "file"];

/// A step that opens a connection, and its name.
pub(super) fn messaging(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    verb: &'static str,
) -> Read<(Action, String)> {
    let url = fields.need(reader, verb).and_then(|node| urls::url(reader, node, verb));
    let timeout = fields.get("timeout").and_then(|node| reader.span("timeout", node));
    let name = url.as_ref().map(|url| requests::series(verb, url));
    let url = if verb == "websocket" { query::added(reader, fields, url) } else { url };
    let (mut headers, mut subprotocols, mut responses) = (Vec::new(), Vec::new(), None);
    if verb == "websocket" {
        headers = auth::headers(reader, fields);
        subprotocols =
            fields.get("subprotocols").map(|node| reader.one_or_more(node, Reader::owned)).unwrap_or_default();
    } else {
        responses = Some(responses_of(reader, fields).unwrap_or(ResponseEnd::None));
    }
    let object = verb_of(verb).unwrap_or(&STEP);
    let steps = fields.get("steps").map(|node| super::some(reader, node, object)).unwrap_or_default();
    let (url, name) = url.zip(name)?;
    Some((Action::Messaging(Box::new(Messaging { url, headers, subprotocols, responses, timeout, steps })), name))
}

/// Sets the flag for the text of a key.
type Put = fn(&mut Flags, String);

/// The end of a TCP message, as in the flags.
fn responses_of(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<ResponseEnd> {
    const ENDS: [(&str, Put); 3] = [
        ("until", |flags, text| flags.until = Some(text)),
        ("read_bytes", |flags, text| flags.read_bytes = Some(text)),
        ("length_prefix", |flags, text| flags.length_prefix = Some(text)),
    ];
    fields.at_most_one(reader, &["until", "read_bytes", "length_prefix"]);
    let mut end = None;
    for (key, put) in ENDS {
        let Some(node) = fields.get(key) else { continue };
        let Some(text) = reader.owned(node) else { continue };
        let mut flags = Flags::default();
        put(&mut flags, text);
        let draft = reader.value(node.at, flags.draft());
        end = end.or(draft.and_then(|draft| draft.request.messaging.end));
    }
    end
}

pub(super) fn send(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let node = fields.need(reader, "send")?;
    let message = match &node.value {
        Value::Map(_) => message(reader, node)?,
        _ => Message { data: MessageData::Text(reader.pattern(node, TextContext::Text)?), kind: None },
    };
    Some((Action::Send(Box::new(message)), "send".to_owned()))
}

fn message(reader: &mut Reader<'_>, node: &Node) -> Read<Message> {
    let mut fields = Fields::open(reader, node, &MESSAGE)?;
    fields.at_most_one(reader, &DATA);
    let text = fields.get("text").and_then(|node| reader.pattern(node, TextContext::Text)).map(MessageData::Text);
    let json = fields.get("json").and_then(|node| reader.json(node)).map(MessageData::Json);
    let bytes = fields.get("hex").and_then(|node| hex(reader, node)).map(MessageData::Bytes);
    let file = fields.get("file").and_then(|node| reader.path(node)).map(MessageData::File);
    let kinds = [("text", MessageKind::Text), ("binary", MessageKind::Binary), ("ping", MessageKind::Ping)];
    let kind = fields.get("type").and_then(|node| reader.word(node, &kinds));
    if fields.given(&DATA).is_empty() {
        reader.found.add(fields.at, Problem::MissingKey { object: &MESSAGE, key: "text" });
    }
    fields.close();
    text.or(json).or(bytes).or(file).map(|data| Message { data, kind })
}

/// Pairs of hexadecimal digits, as in `-d hex:`.
fn hex(reader: &mut Reader<'_>, node: &Node) -> Read<Vec<u8>> {
    let text = reader.text(node)?;
    let digits: Vec<char> = text.chars().filter(|each| !each.is_whitespace()).collect();
    let digit = |at: usize| digits.get(at).and_then(|each| each.to_digit(16));
    let pairs = (0..digits.len()).step_by(2).map(|at| Some((digit(at)? * 16 + digit(at + 1)?) as u8));
    match pairs.collect::<Option<Vec<u8>>>() {
        Some(bytes) if !bytes.is_empty() => Some(bytes),
        _ => reader.emit(node.at, Problem::Value(PlanError::Hex { value: shortened(text) })),
    }
}

pub(super) fn receive(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let node = fields.need(reader, "receive")?;
    let receive = match &node.value {
        Value::Map(_) => {
            let mut inner = Fields::open(reader, node, &RECEIVE)?;
            let receive = Receive {
                within: inner.get("within").and_then(|node| reader.span("within", node)),
                expect: inner.get("expect").and_then(|node| expects::expect(reader, node, false)).unwrap_or_default(),
                take: inner.get("extract").map(|node| extracts::takes(reader, node)).unwrap_or_default(),
            };
            for key in inner.given(&["expect"]) {
                refuse_head(reader, &receive, inner.place(key));
            }
            inner.close();
            receive
        }
        // `receive:` alone waits for any message.
        _ if node.is_null() => Receive::default(),
        _ => return reader.wrong(node, Wanted::Map),
    };
    Some((Action::Receive(Box::new(receive)), "receive".to_owned()))
}

/// Refuses checks of status and head, which a message does not have.
fn refuse_head(reader: &mut Reader<'_>, receive: &Receive, at: crate::source::Span) {
    let given = [("status", receive.expect.status.is_some()), ("header", !receive.expect.headers.is_empty())];
    for (one, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        reader.found.add(at, Problem::Conflict { one, other: "receive" });
    }
}
