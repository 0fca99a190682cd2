//! Requests of custom protocols.

use plan::{CustomEndpoint, CustomRequest, ExtractFrom, FieldValue, Need, PlanError, TextContext, protocol_named};
use protocol::{Key, KeyKind};

use super::{expects, extracts, urls};
use crate::diagnostic::{Problem, Wanted};
use crate::file::{Action, Custom, Extract};
use crate::keys::{CUSTOM_URL, Kind, Object, verb_of};
use crate::reader::{Fields, Read, Reader};
use crate::source::Span;
use crate::tree::{Node, Value};

/// What a step sends while it is read.
struct Request {
    custom: CustomRequest,
    texts: Vec<plan::Pattern>,
    /// The positions of the fields.
    places: Vec<Span>,
}

/// A step of a custom protocol, and its name.
pub(super) fn custom(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Read<(Action, String)> {
    let node = fields.need(reader, verb);
    let url = fields.get(CUSTOM_URL).and_then(|node| urls::url(reader, node, verb));
    if let Some(node) = node.filter(|_| fields.given(&[CUSTOM_URL]).is_empty()) {
        urls::check_target(reader, node.at, verb);
    }
    let take = fields.get("extract").map(|node| takes(reader, node)).unwrap_or_default();
    let expect = fields.get("expect").and_then(|node| expects::expect_words(reader, node)).unwrap_or_default();
    let timeout = fields.get("timeout").and_then(|node| reader.span("timeout", node));
    let node = node?;
    let custom = CustomRequest { protocol: verb.to_owned(), ..CustomRequest::default() };
    let mut request = Request { custom, texts: Vec::new(), places: Vec::new() };
    read_fields(reader, node, verb, &mut request)?;
    let name = checked(reader, node, &request)?;
    let Request { custom: request, texts, .. } = request;
    Some((Action::Custom(Box::new(Custom { url, request, texts, take, expect, timeout })), name))
}

/// The extractions; those from what a response does not have are refused.
fn takes(reader: &mut Reader<'_>, node: &Node) -> Vec<Extract> {
    let takes = extracts::takes(reader, node);
    let of_http = takes.iter().find_map(|take| match take.from {
        ExtractFrom::Status => Some("status"),
        ExtractFrom::Header(_) => Some("header"),
        ExtractFrom::Cookie(_) => Some("cookie"),
        _ => None,
    });
    if let Some(flag) = of_http {
        reader.found.add(node.at, Problem::Value(PlanError::Needs { flag, needed: Need::Http }));
    }
    takes
}

/// The value of the step: an object of keys, or the value of the main key.
fn read_fields(reader: &mut Reader<'_>, node: &Node, verb: &'static str, request: &mut Request) -> Read<()> {
    let about = protocol::by_name(verb)?.about();
    if let (Value::Map(_), Some(object)) = (&node.value, inner(verb)) {
        let mut fields = Fields::open(reader, node, object)?;
        let mut is_good = true;
        for key in about.keys {
            let node = if key.is_needed { fields.need(reader, key.name) } else { fields.get(key.name) };
            match node {
                Some(node) => is_good &= add(reader, node, key, request).is_some(),
                None => is_good &= !key.is_needed,
            }
        }
        fields.close();
        return is_good.then_some(());
    }
    let main = about.keys.iter().find(|key| key.name == about.main_key);
    match main {
        Some(key) => add(reader, node, key, request),
        None => reader.wrong(node, Wanted::Map),
    }
}

/// The object of the keys of a protocol.
fn inner(verb: &str) -> Option<&'static Object> {
    let field = verb_of(verb)?.field(verb)?;
    let object = |kind: &'static Kind| if let Kind::Object(object) = kind { Some(*object) } else { None };
    match &field.kind {
        Kind::Either(kinds) => kinds.iter().find_map(object),
        kind => object(kind),
    }
}

fn add(reader: &mut Reader<'_>, node: &Node, key: &'static Key, request: &mut Request) -> Read<()> {
    let value = match key.kind {
        KeyKind::Text => text(reader, node, request)?,
        KeyKind::Number { min, max } => FieldValue::Number(reader.count(key.name, node, min, max)?),
        KeyKind::Switch => FieldValue::Switch(reader.switch(node)?),
        KeyKind::Words => FieldValue::List(words(reader, node, request)?),
        KeyKind::WordLists => {
            let items = reader.list(node, Wanted::List);
            let is_nested = items.iter().any(|item| matches!(item.value, Value::List(_)));
            match is_nested {
                false => FieldValue::List(words(reader, node, request)?),
                true => {
                    let lists = items.iter().map(|item| words(reader, item, request).map(FieldValue::List));
                    FieldValue::List(lists.collect::<Option<_>>()?)
                }
            }
        }
    };
    request.custom.fields.push((key.name.to_owned(), value));
    request.places.push(node.at);
    Some(())
}

fn words(reader: &mut Reader<'_>, node: &Node, request: &mut Request) -> Read<Vec<FieldValue>> {
    let count = if let Value::List(items) = &node.value { items.len() } else { 1 };
    let words = reader.one_or_more(node, |reader, node| text(reader, node, request));
    (words.len() == count).then_some(words)
}

fn text(reader: &mut Reader<'_>, node: &Node, request: &mut Request) -> Read<FieldValue> {
    let pattern = reader.pattern(node, TextContext::Text)?;
    let value = match pattern.as_plain() {
        Some(plain) => request.custom.push_text(plain.as_bytes(), true),
        None => request.custom.push_text(pattern.to_string().as_bytes(), false),
    };
    request.texts.push(pattern);
    Some(value)
}

/// Checks the request as its protocol does, without its URL. Returns its name.
fn checked(reader: &mut Reader<'_>, node: &Node, request: &Request) -> Read<String> {
    let protocol = protocol_named(&request.custom.protocol)?;
    let endpoint =
        CustomEndpoint { protocol: protocol.name().to_owned(), path: "/".to_owned(), ..CustomEndpoint::default() };
    match protocol.check(&endpoint, &request.custom) {
        Ok(checked) => Some(checked.name),
        Err(mistake) => {
            let place = mistake.key.and_then(|key| request.custom.fields.iter().position(|(name, _)| name == key));
            let at = place.and_then(|place| request.places.get(place).copied()).unwrap_or(node.at);
            reader.value(at, Err(PlanError::from(mistake)))
        }
    }
}
