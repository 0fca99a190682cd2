//! Expectations on a good response: the checks of the flags, and bounds of times and sizes.

mod dynamic;

use plan::{
    Absent, Bound, CheckOf, HeaderCheck, JsonCheck, PlanError, Relation, StatusSet, TextCheck, parse_bytes,
    parse_duration,
};

use crate::diagnostic::{FoundInstead, Problem, Wanted};
use crate::file::{DynamicExpect, Expect};
use crate::keys::{ABSENT, EXPECT};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};
use dynamic::Side;

/// The operators of bounds, the longer before the shorter.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// `is_call`: statuses are those of gRPC.
pub(super) fn expect(reader: &mut Reader<'_>, node: &Node, is_call: bool) -> Read<Expect> {
    read(reader, node, |reader, node| Expect { status: statuses(reader, node, is_call), ..Expect::default() })
}

/// The same where statuses are those of a custom protocol.
pub(super) fn expect_words(reader: &mut Reader<'_>, node: &Node) -> Read<Expect> {
    read(reader, node, |reader, node| {
        let words = reader.one_or_more(node, |reader, node| {
            let text = reader.text(node)?;
            reader.value(node.at, plan::parse_status_words(text))
        });
        Expect { status_words: words.concat(), ..Expect::default() }
    })
}

fn read(reader: &mut Reader<'_>, node: &Node, status: impl FnOnce(&mut Reader<'_>, &Node) -> Expect) -> Read<Expect> {
    let mut fields = Fields::open(reader, node, &EXPECT)?;
    let statuses = fields.get("status").map(|node| status(reader, node)).unwrap_or_default();
    let mut dynamic = Vec::new();
    let (bodies, headers, json) = texts(reader, &mut fields, false, &mut dynamic);
    let time = bounds(reader, fields.get("time"), (nanos, CheckOf::Time), &mut dynamic);
    let size = bounds(reader, fields.get("size"), (bytes, CheckOf::Size), &mut dynamic);
    let absent = fields.get("not").and_then(|node| absent(reader, node, &mut dynamic)).unwrap_or_default();
    fields.close();
    Some(Expect { bodies, headers, json, absent, time, size, dynamic, ..statuses })
}

/// What must not be there.
fn absent(reader: &mut Reader<'_>, node: &Node, dynamic: &mut Vec<DynamicExpect>) -> Read<Absent> {
    let mut fields = Fields::open(reader, node, &ABSENT)?;
    if fields.given(&["body", "header", "json"]).is_empty() {
        reader.found.add(node.at, Problem::MissingKey { object: &ABSENT, key: "body" });
    }
    let (bodies, headers, json) = texts(reader, &mut fields, true, dynamic);
    fields.close();
    Some(Absent { bodies, headers, json })
}

/// The checks of body, head and JSON.
fn texts(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    is_absent: bool,
    dynamic: &mut Vec<DynamicExpect>,
) -> (Vec<TextCheck>, Vec<HeaderCheck>, Vec<JsonCheck>) {
    let body = |text: &str| TextCheck::parse("body", text);
    (
        checks(reader, fields.get("body"), (Side::Body, is_absent), body, dynamic),
        checks(reader, fields.get("header"), (Side::Header, is_absent), HeaderCheck::parse, dynamic),
        checks(reader, fields.get("json"), (Side::Json, is_absent), JsonCheck::parse, dynamic),
    )
}

/// One text, or a list of texts, which means the same as with commas.
fn statuses(reader: &mut Reader<'_>, node: &Node, is_call: bool) -> Read<StatusSet> {
    let parse = if is_call { StatusSet::parse_grpc } else { StatusSet::parse };
    let texts = reader.one_or_more(node, |reader, node| {
        let text = reader.text(node)?;
        reader.value(node.at, parse(text)).map(|_| text.to_owned())
    });
    if texts.is_empty() {
        return match &node.value {
            Value::List(items) if items.is_empty() => {
                reader.emit(node.at, Problem::Empty { object: &EXPECT, key: "status" })
            }
            _ => None,
        };
    }
    parse(&texts.join(",")).ok()
}

fn nanos(text: &str) -> Result<u64, PlanError> {
    parse_duration("time", text).map(|span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

fn bytes(text: &str) -> Result<u64, PlanError> {
    if text == "0" { Ok(0) } else { parse_bytes("size", text) }
}

/// Whether a text has slots.
fn has_slots(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.text.contains("${"))
}

fn checks<T>(
    reader: &mut Reader<'_>,
    node: Option<&Node>,
    (side, is_absent): (Side, bool),
    parse: impl Fn(&str) -> Result<T, PlanError>,
    found: &mut Vec<DynamicExpect>,
) -> Vec<T> {
    let Some(node) = node else { return Vec::new() };
    reader.one_or_more(node, |reader, node| {
        if has_slots(node) {
            found.extend(dynamic::expect(reader, node, side, is_absent));
            return None;
        }
        let text = reader.text(node)?;
        reader.value(node.at, parse(text))
    })
}

/// How a number of a bound is read, and what it bounds.
type Bounded = (fn(&str) -> Result<u64, PlanError>, fn(Relation) -> CheckOf);

fn bounds(
    reader: &mut Reader<'_>,
    node: Option<&Node>,
    (parse, of): Bounded,
    found: &mut Vec<DynamicExpect>,
) -> Vec<Bound> {
    let Some(node) = node else { return Vec::new() };
    reader.one_or_more(node, |reader, node| {
        let text = reader.raw_text(node)?.trim();
        let Some((sign, relation)) = RELATIONS.iter().find(|(sign, _)| text.starts_with(sign)) else {
            return reader.emit(node.at, Problem::Wrong { wanted: Wanted::Bound, given: FoundInstead::text(text) });
        };
        if has_slots(node) {
            found.extend(dynamic::bound(reader, node, (sign, *relation), of));
            return None;
        }
        let limit = reader.value(node.at, parse(text[sign.len()..].trim()))?;
        Some(Bound { relation: *relation, limit })
    })
}
