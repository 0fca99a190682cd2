//! Headers of requests and handshakes.

use plan::{Header, Pattern, PatternPart, PlanError, TextContext};

use crate::diagnostic::{Problem, Things, shortened};
use crate::file::Headers;
use crate::reader::Reader;
use crate::tree::Node;

/// The most headers of one request.
const HEADERS_MAX: usize = 1_000;

/// Names and values; an invalid name, and one that frames the body, are reported.
pub(super) fn headers(reader: &mut Reader<'_>, node: &Node) -> Headers {
    let named = super::bounded(reader, node, Things::Headers, HEADERS_MAX);
    let mut all = Vec::new();
    for (name, at, node) in named {
        let shown = name;
        // The value is checked with its slots as text: they become one.
        let header = Header::parse(&format!("{name}: x")).map(|header| header.name);
        let name = reader.value(at, header);
        let text = match node.is_null() {
            true => Some(None),
            false => reader.pattern(node, TextContext::Header).map(Some),
        };
        if let Some(Some(text)) = &text {
            refuse_line_ends(reader, node, shown, text);
        }
        all.extend(name.zip(text));
    }
    all
}

/// Refuses line ends, which would begin another header.
pub(super) fn refuse_line_ends(reader: &mut Reader<'_>, node: &Node, name: &str, text: &Pattern) {
    let is_control = |each: char| each.is_control() && each != '\t';
    let is_bad = |part: &PatternPart| matches!(part, PatternPart::Text(text) if text.contains(is_control));
    if text.parts.iter().any(is_bad) {
        let header = shortened(name);
        reader.found.add(node.at, Problem::Value(PlanError::HeaderValue { header }));
    }
}
