//! Loops: by a list, a number, a time or a condition.

use plan::{PARALLEL_MAX, ROUNDS_MAX, parse_count};

use super::actions::{inner, only_requests};
use crate::diagnostic::{FoundInstead, LoopWord, Problem, Wanted};
use crate::file::{Action, Expression, Loop, Rounds};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// A loop with one of its verbs, and its name.
pub(super) fn looping(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Read<(Action, String)> {
    let head = fields.need(reader, verb);
    let every = fields.get("every").and_then(|node| reader.span("every", node));
    let rounds = match verb {
        "repeat" => head.and_then(|node| repeat(reader, node)),
        "during" => head.and_then(|node| reader.span("during", node)).map(Rounds::During),
        "for_each" => items(reader, fields, head),
        _ => condition(reader, fields, head, verb),
    };
    let steps = inner(reader, fields, verb);
    if let Some(Rounds::Items { at_once: Some(_), .. }) = &rounds {
        if every.is_some() {
            reader.found.add(fields.place("every"), Problem::Conflict { one: "at_once", other: "every" });
        }
        only_requests(reader, &steps, "at_once");
    }
    Some((Action::Loop(Box::new(Loop { rounds: rounds?, every, steps })), verb.to_owned()))
}

/// `3`, `1-5`, `${n}`.
fn repeat(reader: &mut Reader<'_>, node: &Node) -> Read<Rounds> {
    if let Value::Scalar(scalar) = &node.value
        && scalar.text.trim_start().starts_with("${")
    {
        return slot(reader, node, &scalar.text).map(Rounds::Times);
    }
    let text = reader.measure(node, Wanted::Rounds)?;
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    if least.trim().is_empty() || most.trim().is_empty() {
        return reader.emit(node.at, Problem::Wrong { wanted: Wanted::Rounds, given: FoundInstead::text(text) });
    }
    let count = |text: &str| parse_count("repeat", text.trim(), 0, u64::from(ROUNDS_MAX));
    let least = reader.value(node.at, count(least))?;
    let most = reader.value(node.at, count(most))?;
    match least <= most && most > 0 {
        true => Some(Rounds::Count { least: least as u32, most: most as u32 }),
        false => reader.emit(node.at, Problem::Wrong { wanted: Wanted::Rounds, given: FoundInstead::text(text) }),
    }
}

/// The expression of a text that is exactly one slot.
fn slot(reader: &mut Reader<'_>, node: &Node, whole: &str) -> Read<Expression> {
    let start = whole.len() - whole.trim_start().len() + 2;
    let Some(inside) = whole.trim_end().strip_suffix('}').and_then(|text| text.get(start..)) else {
        return reader.emit(node.at, Problem::Wrong { wanted: Wanted::Rounds, given: FoundInstead::text(whole) });
    };
    let blanks = inside.len() - inside.trim_start().len();
    reader.expression_of(node, inside.trim(), start + blanks)
}

fn items(reader: &mut Reader<'_>, fields: &mut Fields<'_>, head: Option<&Node>) -> Read<Rounds> {
    let item = fields.need(reader, "as").and_then(|node| {
        let text = reader.text(node)?.to_owned();
        reader.name(&text, node.at)
    });
    let list = match head.map(|node| (node, &node.value)) {
        Some((node, Value::List(_) | Value::Map(_))) => reader.wrong(node, Wanted::Items),
        Some((node, _)) => reader.expression(node),
        None => None,
    };
    let at_once = fields.get("at_once").map(|node| reader.count("at_once", node, 1, u64::from(PARALLEL_MAX)));
    let (list, item) = list.zip(item)?;
    // An invalid number was reported, and is not the same as none.
    let at_once = at_once.map_or(Some(None), |most| most.map(|most| Some(most as u16)))?;
    Some(Rounds::Items { list, item, at_once })
}

fn condition(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    head: Option<&Node>,
    verb: &'static str,
) -> Read<Rounds> {
    let word = if verb == "until" { LoopWord::Until } else { LoopWord::While };
    let condition = head.and_then(|node| reader.expression(node));
    let most = fields.get("max_rounds").map(|node| reader.count("max_rounds", node, 1, u64::from(ROUNDS_MAX)));
    let within = fields.get("within").map(|node| reader.span("within", node));
    if most.is_none() && within.is_none() {
        return reader.emit(fields.place(verb), Problem::LoopWithoutEnd(word));
    }
    // An invalid limit was reported, and is not the same as none.
    let most = most.map_or(Some(None), |most| most.map(|most| Some(most as u32)));
    let within = within.map_or(Some(None), |within| within.map(Some));
    let ((condition, most), within) = condition.zip(most).zip(within)?;
    Some(Rounds::Condition { condition, is_until: word == LoopWord::Until, most, within })
}
