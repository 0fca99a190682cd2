//! Fields of the query, which are added to the URL.

use plan::{Pattern, PatternPart, TextContext};

use super::auth::joined;
use crate::diagnostic::{Things, Wanted};
use crate::form::form_escaped;
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The most fields of one query.
const FIELDS_MAX: usize = 1_000;

/// The URL of a step with the fields of its `query`.
pub(super) fn added(reader: &mut Reader<'_>, fields: &mut Fields<'_>, url: Option<Pattern>) -> Read<Pattern> {
    let Some(node) = fields.get("query") else { return url };
    let query = query(reader, node);
    Some(with_query(url?, &query))
}

/// Names and values, in order.
fn query(reader: &mut Reader<'_>, node: &Node) -> Vec<(String, Pattern)> {
    let mut all = Vec::new();
    for (name, _, node) in super::bounded(reader, node, Things::QueryFields, FIELDS_MAX) {
        let values = match &node.value {
            Value::List(items) => &items[..],
            Value::Scalar(_) | Value::Broken => std::slice::from_ref(node),
            Value::Map(_) => {
                let _: Read<()> = reader.wrong(node, Wanted::TextOrList);
                continue;
            }
        };
        for value in values.iter().filter(|value| !value.is_null()) {
            all.extend(reader.pattern(value, TextContext::Form).map(|value| (name.to_owned(), value)));
        }
    }
    all
}

/// Fields come behind those that the URL has, and before its fragment.
fn with_query(url: Pattern, query: &[(String, Pattern)]) -> Pattern {
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for part in url.parts {
        match part {
            part if !behind.is_empty() => behind.push(part),
            PatternPart::Text(text) => {
                let (own, rest) = text.split_at(text.find('#').unwrap_or(text.len()));
                before.push(PatternPart::Text(own.to_owned()));
                behind.extend((!rest.is_empty()).then(|| PatternPart::Text(rest.to_owned())));
            }
            slot => before.push(slot),
        }
    }
    let has_query = before.iter().any(|part| matches!(part, PatternPart::Text(text) if text.contains('?')));
    let is_open = matches!(before.last(), Some(PatternPart::Text(text)) if text.ends_with(['?', '&']));
    let mut between = if is_open {
        ""
    } else if has_query {
        "&"
    } else {
        "?"
    };
    for (name, value) in query {
        before.push(PatternPart::Text(format!("{between}{}=", form_escaped(name))));
        before.extend(value.parts.iter().map(|part| match part {
            PatternPart::Text(text) => PatternPart::Text(form_escaped(text)),
            slot @ PatternPart::Slot(_) => slot.clone(),
        }));
        between = "&";
    }
    let parts = before.into_iter().chain(behind);
    Pattern { parts: joined(parts.filter(|part| !matches!(part, PatternPart::Text(text) if text.is_empty()))) }
}
