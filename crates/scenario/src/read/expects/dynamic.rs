//! Expectations with slots on their right side, which are filled for each exchange.

use plan::{CheckOf, HeaderCheck, JsonCheck, Pattern, PatternPart, Relation, Slot, SlotContext, TextContext};

use crate::diagnostic::{Problem, Wanted};
use crate::file::DynamicExpect;
use crate::read::auth::joined;
use crate::reader::{Read, Reader};
use crate::tree::Node;

/// The value that stands for a slot while a check is tried.
const TRIED: &str = "1";

/// What an expectation with slots looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Body,
    Header,
    Json,
}

/// An expectation with slots; `None` after an error was reported.
pub(super) fn expect(reader: &mut Reader<'_>, node: &Node, side: Side, is_absent: bool) -> Read<DynamicExpect> {
    let text = reader.pattern(node, TextContext::Text)?;
    let (of, text) = match side {
        Side::Body => (CheckOf::Body, body(reader, node, text)?),
        Side::Header => header(reader, node, text)?,
        Side::Json => (CheckOf::Json, json(reader, node, text)?),
    };
    Some(DynamicExpect { of, is_absent, text, at: node.at })
}

/// The bound of a time or a size, without its sign.
pub(super) fn bound(
    reader: &mut Reader<'_>,
    node: &Node,
    (sign, relation): (&str, Relation),
    of: fn(Relation) -> CheckOf,
) -> Read<DynamicExpect> {
    let mut text = reader.pattern(node, TextContext::Text)?;
    if let Some(PatternPart::Text(first)) = text.parts.first_mut() {
        *first = first.trim_start().trim_start_matches(sign).trim_start().to_owned();
    }
    text.parts.retain(|part| !matches!(part, PatternPart::Text(text) if text.trim().is_empty()));
    let is_bound = matches!(text.parts.first(), Some(PatternPart::Slot(_))) && text.slots().count() == 1;
    match is_bound {
        true => Some(DynamicExpect { of: of(relation), is_absent: false, text, at: node.at }),
        false => reader.wrong(node, Wanted::Bound),
    }
}

/// Slots have no place in a pattern, which is made once.
fn refuse_pattern<T>(reader: &mut Reader<'_>, node: &Node, text: &Pattern) -> Read<T> {
    let at = text.slots().next().map(|slot| crate::source::Span::new(slot.at.start, slot.at.end));
    reader.emit(at.unwrap_or(node.at), Problem::SlotInPattern)
}

fn is_pattern(text: &str) -> bool {
    text.len() > 2 && text.starts_with('/') && text.ends_with('/')
}

fn body(reader: &mut Reader<'_>, node: &Node, text: Pattern) -> Read<Pattern> {
    if is_pattern(&text.to_string()) { refuse_pattern(reader, node, &text) } else { Some(text) }
}

/// `Name: value`: the slots are in the value.
fn header(reader: &mut Reader<'_>, node: &Node, mut text: Pattern) -> Read<(CheckOf, Pattern)> {
    let Some(PatternPart::Text(first)) = text.parts.first_mut() else { return slot_here(reader, node, &text) };
    let Some((name, value)) = first.split_once(':') else { return slot_here(reader, node, &text) };
    let (name, value) = (name.trim().to_owned(), value.trim_start().to_owned());
    reader.value(node.at, HeaderCheck::parse(&name))?;
    *first = value;
    text.parts.retain(|part| !matches!(part, PatternPart::Text(text) if text.is_empty()));
    match is_pattern(&text.to_string()) {
        true => refuse_pattern(reader, node, &text),
        false => Some((CheckOf::Header(name), text)),
    }
}

/// A path without slots, and a value with some, which is JSON: a slot alone has its own type, and one in quotes is
/// part of a text.
fn json(reader: &mut Reader<'_>, node: &Node, text: Pattern) -> Read<Pattern> {
    let Some(PatternPart::Text(first)) = text.parts.first() else { return slot_here(reader, node, &text) };
    let Some(head) = head_of(first) else { return slot_here(reader, node, &text) };
    if head.trim_end().ends_with("matches") {
        return refuse_pattern(reader, node, &text);
    }
    let value = first[head.len()..].to_owned();
    let quote = value.chars().next().filter(|each| matches!(each, '\'' | '"'));
    let mut parts = vec![PatternPart::Text(head.to_owned())];
    let rest = std::iter::once(PatternPart::Text(value)).chain(text.parts[1..].iter().cloned());
    match quote {
        Some(quote) => parts.extend(quoted(rest.collect(), quote)),
        None => parts.extend(rest.map(|part| match part {
            PatternPart::Slot(slot) => PatternPart::Slot(Slot { place: SlotContext::JsonValue, ..slot }),
            text => text,
        })),
    }
    let made = Pattern { parts: joined(parts.into_iter()) };
    let tried: String = made
        .parts
        .iter()
        .map(|part| match part {
            PatternPart::Text(text) => text.as_str(),
            PatternPart::Slot(_) => TRIED,
        })
        .collect();
    reader.value(node.at, JsonCheck::parse(&tried))?;
    Some(made)
}

/// A path with its operator and the blanks behind it; `None` when there is no operator before the slots.
fn head_of(text: &str) -> Option<&str> {
    let end = |at: usize, length: usize| {
        let rest = &text[at + length..];
        &text[..text.len() - rest.trim_start().len()]
    };
    let signs = ["==", "!=", "<=", ">=", "<", ">"].into_iter().filter_map(|sign| {
        let at = text.rfind(sign)?;
        Some((at, sign.len()))
    });
    let words = [" contains ", " matches "].into_iter().filter_map(|word| Some((text.rfind(word)?, word.len())));
    // What is compared begins behind the last operator; of two at one place the longer one is meant.
    let (at, length) = signs.chain(words).max_by_key(|(at, length)| (at + length, *length))?;
    let head = end(at, length);
    let rest = &text[head.len()..];
    (rest.is_empty() || rest.starts_with(['\'', '"', '[', '{', '/'])).then_some(head)
}

/// A text in quotes as a string of JSON.
fn quoted(parts: Vec<PatternPart>, quote: char) -> Vec<PatternPart> {
    let is_single = quote == '\'';
    let written = |text: String| match is_single {
        true => {
            let json = serde_json::Value::from(text.replace("\\'", "'")).to_string();
            json[1..json.len() - 1].to_owned()
        }
        false => text,
    };
    let last = parts.len() - 1;
    let one = |(number, part): (usize, PatternPart)| match part {
        PatternPart::Slot(slot) => PatternPart::Slot(Slot { place: SlotContext::JsonString, ..slot }),
        PatternPart::Text(text) => {
            let text = if number == 0 { text[1..].to_owned() } else { text };
            match text.trim_end().strip_suffix(quote).filter(|_| number == last) {
                Some(inner) => PatternPart::Text(format!("{}\"", written(inner.to_owned()))),
                None => PatternPart::Text(written(text)),
            }
        }
    };
    let inside = parts.into_iter().enumerate().map(one);
    std::iter::once(PatternPart::Text("\"".to_owned())).chain(inside).collect()
}

/// Slots stand left of the value.
fn slot_here<T>(reader: &mut Reader<'_>, node: &Node, text: &Pattern) -> Read<T> {
    let at = text.slots().next().map(|slot| crate::source::Span::new(slot.at.start, slot.at.end));
    reader.emit(at.unwrap_or(node.at), Problem::SlotLeft)
}
