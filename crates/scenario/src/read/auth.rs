//! Credentials, which become the header `Authorization`.

use plan::{Argument, Filling, Function, Header, Pattern, PatternPart, Slot, SlotContext, TextContext};

use super::headers;
use crate::diagnostic::{FoundInstead, Problem, Wanted};
use crate::file::Headers;
use crate::keys::AUTH;
use crate::reader::{Fields, Read, Reader};
use crate::tree::Node;

/// The header of credentials.
const AUTHORIZATION: &str = "Authorization";

/// The headers of a step or of defaults, with that of `auth`.
pub(super) fn headers(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Headers {
    let mut all = fields.get("headers").map(|node| headers::headers(reader, node)).unwrap_or_default();
    let Some(node) = fields.get("auth") else { return all };
    if all.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION)) {
        let one = "headers: Authorization";
        reader.found.add(fields.place("auth"), Problem::Conflict { one, other: "auth" });
    }
    all.extend(auth(reader, node).map(|value| (AUTHORIZATION.to_owned(), Some(value))));
    all
}

/// The value of the header.
fn auth(reader: &mut Reader<'_>, node: &Node) -> Read<Pattern> {
    let mut fields = Fields::open(reader, node, &AUTH)?;
    fields.at_most_one(reader, AUTH.any_of);
    if fields.given(AUTH.any_of).is_empty() {
        reader.found.add(fields.at, Problem::MissingKey { object: &AUTH, key: "basic" });
    }
    let basic = fields.get("basic").and_then(|node| basic(reader, node));
    let bearer = fields.get("bearer").and_then(|node| {
        let token = credentials(reader, node)?;
        Some(Pattern { parts: joined(Pattern::plain("Bearer ").parts.into_iter().chain(token.parts)) })
    });
    fields.close();
    basic.or(bearer)
}

/// A text for a header.
fn credentials(reader: &mut Reader<'_>, node: &Node) -> Read<Pattern> {
    let text = reader.pattern(node, TextContext::Header)?;
    headers::refuse_line_ends(reader, node, AUTHORIZATION, &text);
    match text.parts.is_empty() {
        true => reader.wrong(node, Wanted::Credentials),
        false => Some(text),
    }
}

/// User and password (RFC 7617 2): encoded now, or at the time of each request.
fn basic(reader: &mut Reader<'_>, node: &Node) -> Read<Pattern> {
    let given = credentials(reader, node)?;
    let is_colon = |part: &PatternPart| matches!(part, PatternPart::Text(text) if text.contains(':'));
    // One slot alone may have both.
    if given.parts.iter().all(|part| !is_colon(part)) && (given.as_plain().is_some() || given.parts.len() > 1) {
        let given = FoundInstead::text(&given.to_string());
        return reader.emit(node.at, Problem::Wrong { wanted: Wanted::Credentials, given });
    }
    if let Some(plain) = given.as_plain() {
        let value = Header::basic(plain).value.unwrap_or_default();
        return Some(Pattern::plain(&String::from_utf8_lossy(&value)));
    }
    let argument = |part: &PatternPart| match part {
        PatternPart::Text(text) => Argument::Text(text.clone()),
        PatternPart::Slot(Slot { filling: Filling::Expression, text, .. }) => Argument::Expression(text.clone()),
        PatternPart::Slot(slot) => Argument::Filling(slot.filling.clone()),
    };
    let arguments = given.parts.iter().map(argument).collect();
    let shown = |part: &PatternPart| match part {
        PatternPart::Text(text) => format!("'{text}'"),
        PatternPart::Slot(slot) => slot.text.clone(),
    };
    let shown = given.parts.iter().map(shown).collect::<Vec<_>>().join(", ");
    let slot = Slot {
        filling: Filling::Call(Function::Base64, arguments),
        place: SlotContext::Header,
        text: format!("base64({shown})"),
        at: node.at.start..node.at.end,
    };
    Some(Pattern { parts: vec![PatternPart::Text("Basic ".to_owned()), PatternPart::Slot(slot)] })
}

/// Parts of which no two texts follow each other.
pub(super) fn joined(parts: impl Iterator<Item = PatternPart>) -> Vec<PatternPart> {
    let mut all: Vec<PatternPart> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(PatternPart::Text(last)), PatternPart::Text(next)) => last.push_str(&next),
            (_, part) => all.push(part),
        }
    }
    all
}
