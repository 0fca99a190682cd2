//! The columns of CSV: their names and types, and the sign between them.

use crate::diagnostic::{Problem, shortened};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The signs that are found by themselves.
const SIGNS: [u8; 3] = [b',', b';', b'\t'];
/// The types of columns.
const TYPES: [(&str, bool); 2] = [("text", false), ("number", true)];

/// What `columns` says.
pub(super) struct Columns {
    /// The names, in order.
    pub(super) names: Vec<String>,
    /// Those whose values are numbers.
    pub(super) numbers: Vec<String>,
    /// Whether types are given.
    is_typed: bool,
    /// Whether the first line is a row already.
    pub(super) is_headless: bool,
}

/// What `columns` and `header` say; the second is whether `header` is there.
pub(super) fn given(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> (Option<Columns>, Option<bool>) {
    let given = fields.get("columns").map(|node| read(reader, node));
    let header = fields.get("header").and_then(|node| reader.switch(node));
    if header == Some(false) && given.is_none() {
        reader.found.add(fields.place("header"), Problem::Needs { key: "header", needed: "columns" });
    }
    if header == Some(true) && given.as_ref().is_some_and(|given| !given.is_typed) {
        reader.found.add(fields.place("columns"), Problem::Conflict { one: "header: true", other: "columns" });
    }
    // A list names the columns of a file without a header line; a map gives types, and the header line names them.
    let is_headless = |columns: &Columns| !columns.is_typed || header == Some(false);
    (given.map(|columns| Columns { is_headless: is_headless(&columns), ..columns }), header)
}

/// A list of names, or a map of names with their types.
fn read(reader: &mut Reader<'_>, node: &Node) -> Columns {
    let mut columns = Columns { names: Vec::new(), numbers: Vec::new(), is_typed: false, is_headless: false };
    if !matches!(node.value, Value::Map(_)) {
        columns.names = reader.one_or_more(node, Reader::owned);
        return columns;
    }
    columns.is_typed = true;
    for (name, at, node) in reader.named(node) {
        if name.trim().is_empty() {
            let _: Read<()> = reader.emit(at, Problem::Name(crate::diagnostic::NameFault::Bad(shortened(name))));
            continue;
        }
        columns.names.push(name.to_owned());
        if reader.word(node, &TYPES) == Some(true) {
            columns.numbers.push(name.to_owned());
        }
    }
    columns
}

/// The sign between the fields of the first line: the one that it has most often, a comma before the others.
pub(super) fn separator(head: &[u8]) -> u8 {
    let mut counts = [0usize; SIGNS.len()];
    let mut is_quoted = false;
    for byte in head {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            byte if !is_quoted => {
                if let Some(place) = SIGNS.iter().position(|sign| sign == byte) {
                    counts[place] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let place = counts.iter().position(|count| *count == most).unwrap_or_default();
    SIGNS[place]
}
