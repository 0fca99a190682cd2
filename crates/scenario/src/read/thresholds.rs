//! Thresholds: those of the flag, with the transaction, step or scenario that they are about.

use metrics::{NamedPart, OwnFigure, Threshold};

use crate::diagnostic::Problem;
use crate::file::{Limit, Name};
use crate::reader::{Read, Reader};
use crate::tree::Node;

/// `own`: the figures of the user's own.
pub(super) fn limit(reader: &mut Reader<'_>, node: &Node, own: &[OwnFigure]) -> Read<Limit> {
    let text = reader.text(node)?;
    match Threshold::parse_with(text, own) {
        Ok(threshold) => {
            let part = NamedPart::parse(text).ok().flatten();
            let of = part.map(|part| Name { text: part.name, at: reader.within(node, part.at) });
            Some(Limit { threshold, of, at: node.at })
        }
        Err(error) => {
            let start = text.char_indices().nth(error.column).map_or(text.len(), |(at, _)| at);
            let next = text[start..].chars().next().map_or(0, char::len_utf8);
            let at = reader.within(node, start..start + next);
            reader.emit(at, Problem::Threshold(error.fault))
        }
    }
}
