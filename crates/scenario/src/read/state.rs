//! Steps about the state of a user: values that are set, checks, planned ends; and the state that is carried over.

use plan::PlannedEnd;

use super::actions::name;
use crate::diagnostic::{Problem, Things, Wanted};
use crate::file::{Action, CarriedState, Name, SetValue};
use crate::keys::{STEP, verb_of};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The most variables of one step.
const VALUES_MAX: usize = 1_000;
/// The most characters of a check's name that is its condition.
const CHECK_NAME_CHARS_MAX: usize = 80;
/// What stands for the rest of a shortened name.
const ELLIPSIS: &str = "...";
/// The word for the cookie jar in a list of variables.
const COOKIES: &str = "cookies";

/// `set: {a: 1, b: "${a + 1}"}`.
pub(super) fn set(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let node = fields.need(reader, "set")?;
    let named = super::bounded(reader, node, Things::Variables, VALUES_MAX);
    if named.is_empty() && matches!(&node.value, Value::Map(pairs) if pairs.is_empty()) {
        let object = verb_of("set").unwrap_or(&STEP);
        return reader.emit(node.at, Problem::Empty { object, key: "variables" });
    }
    let mut values = Vec::new();
    for (name, at, value) in named {
        let (name, value) = (reader.name(name, at), reader.json(value));
        values.extend(name.zip(value).map(|(name, value)| SetValue { name, value }));
    }
    (!values.is_empty()).then(|| (Action::Set(values), "set".to_owned()))
}

/// `check: a == b`; without a name of its own it is called by its condition.
pub(super) fn check(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let condition = fields.need(reader, "check").and_then(|node| reader.expression(node))?;
    let name = check_name(&condition.text);
    Some((Action::Check(condition), name))
}

/// A condition in one line of bounded length.
fn check_name(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().nth(CHECK_NAME_CHARS_MAX).is_none() {
        return line;
    }
    line.chars().take(CHECK_NAME_CHARS_MAX - ELLIPSIS.len()).chain(ELLIPSIS.chars()).collect()
}

/// `break:`, `stop_run: no stock`: a text may follow.
pub(super) fn end(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Read<(Action, String)> {
    let node = fields.need(reader, verb)?;
    let text = if node.is_null() { verb.to_owned() } else { name(reader, node)? };
    let end = match verb {
        "continue" => PlannedEnd::Round,
        "break" => PlannedEnd::Loop,
        "next_iteration" => PlannedEnd::Iteration,
        "stop_user" => PlannedEnd::User,
        _ => PlannedEnd::Run(text),
    };
    Some((Action::End(end), verb.to_owned()))
}

/// `true`, or `[token, cookies]`.
pub(super) fn carried(reader: &mut Reader<'_>, node: &Node) -> Read<CarriedState> {
    match &node.value {
        Value::List(items) => {
            let mut carried = CarriedState::default();
            for item in items {
                match reader.text(item) {
                    Some(COOKIES) => carried.cookies = true,
                    Some(text) => carried.names.push(Name { text: text.to_owned(), at: item.at }),
                    None => {}
                }
            }
            Some(carried)
        }
        Value::Scalar(scalar) if scalar.as_switch().is_some() || scalar.is_doubtful_switch() => {
            reader.switch(node).map(|is_all| CarriedState { is_all, ..CarriedState::default() })
        }
        _ => reader.wrong(node, Wanted::Carried),
    }
}
