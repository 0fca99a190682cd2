//! Thresholds: those of the flag, and which transaction, step or scenario they are of.

use metrics::{Threshold, named_part};

use crate::file::{Limit, Name};
use crate::mistake::Fault;
use crate::reader::{Read, Reader};
use crate::tree::Node;

pub(super) fn limit(reader: &mut Reader<'_>, node: &Node) -> Read<Limit> {
    let text = reader.text(node)?;
    let named = named_part(text);
    let (whole, cut) = match &named {
        Some((range, _)) => (format!("{}{}", &text[..range.start], &text[range.end..]), range.clone()),
        None => (text.to_owned(), text.len()..text.len()),
    };
    let of = named.map(|(range, name)| {
        let start = range.start + text[range.clone()].find(name).unwrap_or(0);
        let at = reader.within(node, start..start + name.len());
        Name { text: name.to_owned(), at }
    });
    match Threshold::parse(&whole) {
        Ok(threshold) => Some(Limit { threshold, of, at: node.at }),
        Err(error) => {
            let column = whole.char_indices().nth(error.column).map_or(whole.len(), |(at, _)| at);
            // What was cut out stands before it in the file.
            let start = if column >= cut.start { column + cut.len() } else { column };
            let next = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let at = reader.within(node, start.min(text.len())..(start + next).min(text.len()));
            reader.tell(at, Fault::Threshold(error.fault))
        }
    }
}
