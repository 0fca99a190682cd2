//! Thresholds: those of the flag, and which transaction, step or scenario they are of.

use metrics::Threshold;

use crate::file::{Limit, Name};
use crate::mistake::Fault;
use crate::reader::{Read, Reader};
use crate::tree::Node;

pub(super) fn limit(reader: &mut Reader<'_>, node: &Node) -> Read<Limit> {
    let text = reader.text(node)?;
    let named = named(text);
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

/// `, buy` within the first parentheses, and the name in it.
fn named(text: &str) -> Option<(std::ops::Range<usize>, &str)> {
    let open = text.find('(')?;
    let close = open + matching(&text[open..])?;
    let comma = open + text[open..close].find(',')?;
    let name = text[comma + 1..close].trim();
    (!name.is_empty()).then_some((comma..close, name))
}

/// The parenthesis that closes the first: names may have some, too.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, each)| {
        depth = match each {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        (each == ')' && depth == 0).then_some(at)
    })
}
