//! Steps: the verb is the key.

use plan::DEPTH_MAX;

use super::{actions, cookies, custom, failures, figures, fragments, loops, messaging, requests, state, tags};
use crate::diagnostic::{Problem, SyntaxFault, Things, Wanted};
use crate::file::{Action, AfterFailure, Deadline, Step};
use crate::keys::{Object, steps, verb_of};
use crate::reader::{Fields, Read, Reader, meant};
use crate::tree::{Key, Node, Value};

/// The most steps of one list.
const STEPS_MAX: usize = 10_000;

/// Reads optional steps.
pub(super) fn maybe(reader: &mut Reader<'_>, node: &Node) -> Vec<Step> {
    let items = reader.list(node, Wanted::Steps);
    if let Some(item) = items.get(STEPS_MAX) {
        reader.found.add(item.at, Problem::TooMany { what: Things::Steps, most: STEPS_MAX });
    }
    items.iter().take(STEPS_MAX).filter_map(|item| step(reader, item)).collect()
}

/// Reads steps of which at least one is required.
pub(super) fn some(reader: &mut Reader<'_>, node: &Node, object: &'static Object) -> Vec<Step> {
    if matches!(&node.value, Value::List(items) if items.is_empty()) || node.is_null() {
        reader.found.add(node.at, Problem::Empty { object, key: "steps" });
        return Vec::new();
    }
    maybe(reader, node)
}

fn step(reader: &mut Reader<'_>, node: &Node) -> Read<Step> {
    let Value::Map(pairs) = &node.value else { return not_a_step(reader, node) };
    let verb = verb(reader, node, pairs)?;
    let object = verb_of(verb)?;
    let mut fields = Fields::open(reader, node, object)?;
    let mut own = |key| object.field(key).and_then(|_| fields.get(key));
    let (name, failure) = (own("name"), own("on_failure"));
    let (deadline, tags) = (own("deadline"), own("tags"));
    let name = name.and_then(|node| reader.owned(node));
    let deadline = deadline.and_then(|node| Some(Deadline { span: reader.span("deadline", node)?, at: node.at }));
    let tags = tags.map(|node| tags::tags(reader, node)).unwrap_or_default();
    reader.names.extend(name.iter().chain(&tags).cloned());
    let on_failure = failure.and_then(|node| failures::on_failure(reader, node));
    let may_retry = may_retry(verb) || !fields.given(&["at_once"]).is_empty();
    if let Some(failure) = on_failure.as_ref().filter(|failure| failure.retry.is_some() && !may_retry) {
        reader.found.add(failure.at, Problem::NoRetry { verb });
    }
    let read = match verb {
        "grpc" => requests::call(reader, &mut fields),
        "websocket" | "tcp" => messaging::messaging(reader, &mut fields, verb),
        "do" => fragments::call(reader, &mut fields),
        "send" => messaging::send(reader, &mut fields),
        "receive" => messaging::receive(reader, &mut fields),
        "for_each" | "repeat" | "during" | "until" | "while" => loops::looping(reader, &mut fields, verb),
        "set" => state::set(reader, &mut fields),
        "record" => figures::record(reader, &mut fields),
        "cookies" => cookies::change(reader, &mut fields),
        "check" => state::check(reader, &mut fields),
        "break" | "continue" | "next_iteration" | "stop_user" | "stop_run" => state::end(reader, &mut fields, verb),
        "get" | "post" | "put" | "patch" | "delete" | "head" | "options" | "request" => {
            requests::request(reader, &mut fields, verb)
        }
        _ if protocol::by_name(verb).is_some() => custom::custom(reader, &mut fields, verb),
        _ => actions::action(reader, &mut fields, verb),
    };
    let at = fields.place(verb);
    fields.close();
    let (mut action, made): (Action, String) = read?;
    if let Action::Messaging(messaging) = &mut action {
        inherit(&mut messaging.steps, name.as_deref(), on_failure.as_ref(), &tags);
    }
    Some(Step { at, name: name.unwrap_or(made), action, on_failure, deadline, tags })
}

/// Whether what failed can be tried again: a check or a loop would see the same values.
fn may_retry(verb: &str) -> bool {
    !matches!(verb, "check" | "for_each" | "repeat" | "during" | "until" | "while")
}

/// Settings of a message connection apply to those of its steps that have none.
fn inherit(steps: &mut [Step], name: Option<&str>, on_failure: Option<&AfterFailure>, tags: &[String]) {
    for step in steps {
        let is_said = matches!(step.action, Action::Send(_) | Action::Receive(_));
        if let Some(name) = name.filter(|_| is_said && ["send", "receive"].contains(&step.name.as_str())) {
            step.name = name.to_owned();
        }
        let is_group = matches!(step.action, Action::Transaction { .. } | Action::Do(_));
        step.on_failure = step.on_failure.take().or_else(|| on_failure.filter(|_| !is_group).cloned());
        step.tags.extend_from_slice(if is_said { tags } else { &[] });
        // What a group says of failures is nearer.
        let on_failure = on_failure.filter(|_| !is_group || step.on_failure.is_none());
        step.inner_mut().into_iter().for_each(|steps| inherit(steps, name, on_failure, tags));
    }
}

/// Reports an item in a list of steps that is no step.
fn not_a_step<T>(reader: &mut Reader<'_>, node: &Node) -> Read<T> {
    if reader.report_wide(node) {
        return None;
    }
    match &node.value {
        // `- get /` lacks its colon.
        Value::Scalar(scalar) if scalar.is_plain => {
            let verb = scalar.text.split([' ', '=']).next().unwrap_or_default();
            match verb_of(verb) {
                Some(_) if verb.len() < scalar.text.len() => reader.emit(node.at, Problem::Syntax(SyntaxFault::Colon)),
                Some(object) => reader.emit(node.at, Problem::BareVerb { verb: object.id }),
                None => reader.wrong(node, Wanted::Map),
            }
        }
        _ => reader.wrong(node, Wanted::Map),
    }
}

/// The verb of a step: the one key that is a verb.
fn verb(reader: &mut Reader<'_>, node: &Node, pairs: &[(Key, Node)]) -> Read<&'static str> {
    let verbs: Vec<_> = pairs.iter().filter_map(|(key, _)| verb_of(&key.name).map(|verb| (verb, key.at))).collect();
    // The key of one verb may be an option of another: `until` of a tcp step.
    let fits = |(verb, _): &&(&'static Object, _)| verbs.iter().all(|(other, _)| verb.field(other.id).is_some());
    match (&verbs[..], verbs.iter().find(fits)) {
        ([], _) => no_verb(reader, node, pairs),
        (_, Some((verb, _))) => Some(verb.id),
        ([(one, _), (other, at), ..], None) => reader.emit(*at, Problem::TwoVerbs { one: one.id, other: other.id }),
        ([(verb, _)], None) => Some(verb.id),
    }
}

fn no_verb(reader: &mut Reader<'_>, node: &Node, pairs: &[(Key, Node)]) -> Read<&'static str> {
    let known = || steps().map(|object| object.id).collect::<Vec<_>>().join(", ");
    if pairs.iter().any(|(key, _)| key.is_broken) {
        return None;
    }
    let verbs = steps().map(|object| object.id);
    match pairs.iter().find_map(|(key, _)| meant(&key.name, verbs.clone())) {
        // It is reported with the other keys that the step does not have.
        Some(verb) => Some(verb),
        None => {
            let at = pairs.first().map_or(node.at, |(key, _)| key.at);
            reader.emit(at, Problem::NoVerb { known: known() })
        }
    }
}

const _: () = core::assert!(crate::tree::DEPTH_MAX <= DEPTH_MAX, "what can be written can be carried out");
