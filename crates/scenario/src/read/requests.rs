//! HTTP requests and gRPC calls.

use std::path::PathBuf;

use plan::{Filling, Pattern, PatternPart, PlanError, TextContext};

use super::{auth, expects, extracts, query, urls};
use crate::diagnostic::{DataFault, Problem, Things, Wanted, shortened};
use crate::file::{Action, Body, Call, Part, PartValue, Request};
use crate::keys::{FILE_BODY, PART};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The most messages of one call.
const CALL_MESSAGES_MAX: usize = 1_000;
/// The keys for the body of a request.
const BODIES: [&str; 4] = ["body", "json", "form", "multipart"];

/// A step with one of the HTTP verbs, and its name.
pub(super) fn request(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Read<(Action, String)> {
    let url = fields.need(reader, verb);
    let headers = auth::headers(reader, fields);
    let body = body(reader, fields);
    let take = fields.get("extract").map(|node| extracts::takes(reader, node)).unwrap_or_default();
    let expect = fields.get("expect").and_then(|node| expects::expect(reader, node, false)).unwrap_or_default();
    let timeout = fields.get("timeout").and_then(|node| reader.span("timeout", node));
    let location = fields.get("location").and_then(|node| reader.switch(node));
    let read = match verb {
        "request" => url.and_then(|node| method_and_url(reader, node)),
        _ => url.and_then(|node| urls::url(reader, node, verb)).map(|url| (verb.to_ascii_uppercase(), url)),
    };
    let (method, url) = read.unzip();
    let with_query = query::added(reader, fields, url.clone());
    let (method, url) = method.zip(url)?;
    let name = series(&method, &url);
    let url = with_query?;
    let request = Request { method, url, headers, body, take, expect, timeout, location };
    Some((Action::Request(Box::new(request)), name))
}

/// `PROPFIND /files`.
fn method_and_url(reader: &mut Reader<'_>, node: &Node) -> Read<(String, Pattern)> {
    let text = reader.raw_text(node)?;
    let Some((method, rest)) = text.split_once(' ') else {
        return reader.emit(node.at, Problem::Value(PlanError::Method { method: shortened(text) }));
    };
    let is_token =
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_token {
        return reader.emit(node.at, Problem::Value(PlanError::Method { method: shortened(method) }));
    }
    let url = rest.trim();
    let from = text.len() - rest.trim_start().len();
    let url = reader.pattern_of(node, url, from, TextContext::Url)?;
    urls::check(reader, node, &url, "request");
    Some((method.to_owned(), url))
}

/// The default name of a step: its verb and its URL, with `{...}` for slots.
pub(super) fn series(verb: &str, url: &Pattern) -> String {
    let mut name = format!("{verb} ");
    for part in &url.parts {
        match part {
            PatternPart::Text(text) => name.push_str(text),
            PatternPart::Slot(slot) => {
                name.push('{');
                name.push_str(&shortened(&slot.text));
                name.push('}');
            }
        }
    }
    name
}

fn body(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Body> {
    fields.at_most_one(reader, &BODIES);
    let text = fields.get("body").and_then(|node| match &node.value {
        Value::Map(_) => {
            let mut fields = Fields::open(reader, node, &FILE_BODY)?;
            let file = fields.need(reader, "file").and_then(|node| sent_file(reader, node));
            fields.close();
            file.map(|file| match file {
                SentFile::Fixed(path) => Body::File(path),
                SentFile::OfRow(path) => Body::RowFile(path),
            })
        }
        _ => reader.pattern(node, TextContext::Text).map(Body::Text),
    });
    let json = fields.get("json").and_then(|node| reader.json(node)).map(Body::Json);
    let form = fields.get("form").map(|node| {
        let mut all = Vec::new();
        for (name, _, node) in reader.named(node) {
            all.extend(text_or_nothing(reader, node, TextContext::Form).map(|value| (name.to_owned(), value)));
        }
        Body::Form(all)
    });
    let multipart = fields.get("multipart").map(|node| {
        let named = reader.named(node);
        Body::Multipart(named.into_iter().filter_map(|(name, _, node)| part(reader, name, node)).collect())
    });
    text.or(json).or(form).or(multipart)
}

/// The value of a form field, which may be empty.
fn text_or_nothing(reader: &mut Reader<'_>, node: &Node, ground: TextContext) -> Read<Pattern> {
    if node.is_null() { Some(Pattern::default()) } else { reader.pattern(node, ground) }
}

fn part(reader: &mut Reader<'_>, name: &str, node: &Node) -> Read<Part> {
    let value = match &node.value {
        Value::Map(_) => {
            let mut fields = Fields::open(reader, node, &PART)?;
            let file = fields.need(reader, "file").and_then(|node| sent_file(reader, node));
            let filename = fields.get("filename").and_then(|node| reader.owned(node));
            let media_type = fields.get("type").and_then(|node| reader.owned(node));
            fields.close();
            match file? {
                SentFile::Fixed(path) => PartValue::File { path, filename, media_type },
                SentFile::OfRow(path) => PartValue::RowFile { path, filename, media_type },
            }
        }
        _ => PartValue::Text(text_or_nothing(reader, node, TextContext::Text)?),
    };
    Some(Part { name: name.to_owned(), value })
}

/// A file that is sent.
enum SentFile {
    /// The same each time.
    Fixed(PathBuf),
    /// That of a row of a folder: `${photos.path}`.
    OfRow(Pattern),
}

fn sent_file(reader: &mut Reader<'_>, node: &Node) -> Read<SentFile> {
    if !reader.raw_text(node)?.contains("${") {
        return reader.path(node).map(SentFile::Fixed);
    }
    let path = reader.pattern(node, TextContext::Text)?;
    match &path.parts[..] {
        [PatternPart::Slot(slot)] if matches!(&slot.filling, Filling::Column(_, column) if column == "path") => {
            Some(SentFile::OfRow(path))
        }
        _ => reader.emit(node.at, Problem::Data(DataFault::FileSlot)),
    }
}

/// A gRPC call.
pub(super) fn call(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    fields.at_most_one(reader, &["message", "messages"]);
    let url = fields.need(reader, "grpc").and_then(|node| urls::url(reader, node, "grpc"));
    let headers = auth::headers(reader, fields);
    let one = fields.get("message").and_then(|node| message(reader, node));
    let several = fields.get("messages").map(|node| messages(reader, node));
    let take = fields.get("extract").map(|node| extracts::takes(reader, node)).unwrap_or_default();
    let expect = fields.get("expect").and_then(|node| expects::expect(reader, node, true)).unwrap_or_default();
    let timeout = fields.get("timeout").and_then(|node| reader.span("timeout", node));
    let messages = several.unwrap_or_else(|| one.into_iter().collect());
    let url = url?;
    let name = series("grpc", &url);
    Some((Action::Call(Box::new(Call { url, headers, messages, take, expect, timeout })), name))
}

fn messages(reader: &mut Reader<'_>, node: &Node) -> Vec<crate::file::Json> {
    let items = reader.list(node, Wanted::List);
    if let Some(item) = items.get(CALL_MESSAGES_MAX) {
        reader.found.add(item.at, Problem::TooMany { what: Things::Messages, most: CALL_MESSAGES_MAX });
    }
    items.iter().take(CALL_MESSAGES_MAX).filter_map(|node| message(reader, node)).collect()
}

/// A message is an object; JSON written as text means the object.
fn message(reader: &mut Reader<'_>, node: &Node) -> Read<crate::file::Json> {
    match &node.value {
        Value::Map(_) => reader.json(node),
        _ => reader.wrong(node, Wanted::Map),
    }
}
