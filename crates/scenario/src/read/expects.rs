//! Expectations on a good response: the checks of the flags, and bounds of times and sizes.

use plan::{HeaderCheck, JsonCheck, PlanError, StatusSet, TextCheck, parse_bytes, parse_duration};

use plan::{Bound, Relation};

use crate::diagnostic::{FoundInstead, Problem, Wanted};
use crate::file::Expect;
use crate::keys::EXPECT;
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The operators of bounds, the longer before the shorter.
const RELATIONS: [(&str, Relation); 4] =
    [("<=", Relation::AtMost), (">=", Relation::AtLeast), ("<", Relation::Below), (">", Relation::Above)];

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
    let expect = Expect {
        bodies: checks(reader, &mut fields, "body", |text| TextCheck::parse("body", text)),
        headers: checks(reader, &mut fields, "header", HeaderCheck::parse),
        json: checks(reader, &mut fields, "json", JsonCheck::parse),
        time: bounds(reader, &mut fields, "time", |text| {
            parse_duration("time", text).map(|span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
        }),
        size: bounds(reader, &mut fields, "size", |text| parse_bytes("size", text)),
        ..statuses
    };
    fields.close();
    Some(expect)
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
                reader.tell(node.at, Problem::Empty { object: &EXPECT, key: "status" })
            }
            _ => None,
        };
    }
    parse(&texts.join(",")).ok()
}

fn checks<T>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Result<T, PlanError>,
) -> Vec<T> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    reader.one_or_more(node, |reader, node| {
        let text = reader.text(node)?;
        reader.value(node.at, parse(text))
    })
}

fn bounds(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Result<u64, PlanError>,
) -> Vec<Bound> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    reader.one_or_more(node, |reader, node| {
        let text = reader.text(node)?.trim();
        let Some((sign, relation)) = RELATIONS.iter().find(|(sign, _)| text.starts_with(sign)) else {
            return reader.tell(node.at, Problem::Wrong { wanted: Wanted::Bound, given: FoundInstead::text(text) });
        };
        let limit = reader.value(node.at, parse(text[sign.len()..].trim()))?;
        Some(Bound { relation: *relation, limit })
    })
}
