//! Steps of control flow, and pauses.

use std::time::Duration;

use plan::{OnFailure, PARALLEL_MAX, PlanError, PlannedEnd, Think, USERS_MAX, parse_duration};

use crate::diagnostic::{FoundInstead, Problem, Things, Wanted};
use crate::file::{Action, Barrier, Choice, Custom, Name};
use crate::keys::{CHOICE, MEET, Object, STEP, verb_of};
use crate::reader::{Fields, Read, Reader};
use crate::tree::Node;

/// The most alternatives of one choice.
const CHOICES_MAX: usize = 10_000;

/// A step with one of these verbs, and its name.
pub(super) fn action(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Read<(Action, String)> {
    let head = fields.need(reader, verb);
    let action = match verb {
        "think" => Action::Think(think(reader, head?)?),
        "transaction" => {
            let with_think = fields.get("with_think").and_then(|node| reader.switch(node)).unwrap_or(false);
            let inner = inner(reader, fields, verb);
            let name = name(reader, head?)?;
            reader.names.push(name.clone());
            return Some((Action::Transaction { with_think, steps: inner }, name));
        }
        "choose" => Action::Choose(choices(reader, head?)?),
        "shuffle" => Action::Shuffle(super::some(reader, head?, object_of(verb))),
        "if" => {
            let condition = head.and_then(|node| reader.expression(node));
            let then = fields.need(reader, "then").map(|node| super::maybe(reader, node)).unwrap_or_default();
            let otherwise = fields.get("else").map(|node| super::maybe(reader, node)).unwrap_or_default();
            Action::If { condition: condition?, then, otherwise }
        }
        "parallel" => {
            let inner = inner(reader, fields, verb);
            let most = reader.count("parallel", head?, 1, u64::from(PARALLEL_MAX))? as u16;
            only_requests(reader, &inner, verb);
            Action::Parallel { most, steps: inner }
        }
        _ => Action::Barrier(meet(reader, head?)?),
    };
    Some((action, verb.to_owned()))
}

/// Checks steps that are concurrent: they are requests, and what follows a failure of one follows that of all, or
/// nothing.
pub(super) fn only_requests(reader: &mut Reader<'_>, steps: &[crate::file::Step], key: &'static str) {
    for step in steps {
        if !matches!(step.action, Action::Request(_) | Action::Call(_) | Action::Custom(_)) {
            reader.found.add(step.at, Problem::NotParallel { verb: verb_name(&step.action), key });
        }
        let own = step.on_failure.as_ref();
        if let Some(own) = own.filter(|own| own.retry.is_some() || own.then != OnFailure::GoOn) {
            reader.found.add(own.at, Problem::NotOfOne { key });
        }
    }
}

fn object_of(verb: &str) -> &'static Object {
    verb_of(verb).unwrap_or(&STEP)
}

/// The nested steps.
pub(super) fn inner(reader: &mut Reader<'_>, fields: &mut Fields<'_>, verb: &'static str) -> Vec<crate::file::Step> {
    let object = object_of(verb);
    fields.need(reader, "steps").map(|node| super::some(reader, node, object)).unwrap_or_default()
}

/// A display name: one line, and not empty.
pub(super) fn name(reader: &mut Reader<'_>, node: &Node) -> Read<String> {
    let text = reader.text(node)?;
    match text.trim().is_empty() || text.contains(|each: char| each.is_control()) {
        true => reader.emit(node.at, Problem::Wrong { wanted: Wanted::Text, given: FoundInstead::text(text) }),
        false => Some(text.to_owned()),
    }
}

fn choices(reader: &mut Reader<'_>, node: &Node) -> Read<Vec<Choice>> {
    let items = reader.list(node, Wanted::List);
    if let Some(item) = items.get(CHOICES_MAX) {
        reader.found.add(item.at, Problem::TooMany { what: Things::Choices, most: CHOICES_MAX });
    }
    let mut all = Vec::new();
    for item in items.iter().take(CHOICES_MAX) {
        let Some(mut fields) = Fields::open(reader, item, &CHOICE) else { continue };
        let weight = fields.need(reader, "weight");
        let weight = weight.and_then(|node| reader.count("weight", node, 0, u64::from(u32::MAX)));
        let steps = fields.need(reader, "steps").map(|node| super::maybe(reader, node)).unwrap_or_default();
        fields.close();
        all.push(Choice { weight: weight.unwrap_or(1) as u32, steps });
    }
    if matches!(&node.value, crate::tree::Value::List(items) if items.is_empty()) {
        reader.found.add(node.at, Problem::Empty { object: object_of("choose"), key: "choices" });
    } else if !all.is_empty() && all.iter().all(|choice| choice.weight == 0) {
        let error = PlanError::Number { flag: "weight", value: "0".to_owned(), least: 1, most: u64::from(u32::MAX) };
        reader.found.add(node.at, Problem::Value(error));
    }
    Some(all)
}

fn meet(reader: &mut Reader<'_>, node: &Node) -> Read<Barrier> {
    let mut fields = Fields::open(reader, node, &MEET)?;
    let name_node = fields.need(reader, "name");
    let name = name_node.and_then(|node| Some(Name { text: name(reader, node)?, at: node.at }));
    let users = fields.need(reader, "users").and_then(|node| reader.count("users", node, 1, USERS_MAX));
    let within = fields.get("within").and_then(|node| reader.span("within", node));
    fields.close();
    let (name, users) = name.zip(users)?;
    Some(Barrier { name, users, within })
}

/// The key of a planned end.
pub(crate) fn end_verb(end: &PlannedEnd) -> &'static str {
    match end {
        PlannedEnd::Round => "continue",
        PlannedEnd::Loop => "break",
        PlannedEnd::Iteration => "next_iteration",
        PlannedEnd::User => "stop_user",
        PlannedEnd::Run(_) => "stop_run",
    }
}

fn custom_verb(custom: &Custom) -> &'static str {
    protocol::by_name(&custom.request.protocol).map_or("step", |protocol| protocol.about().name)
}

/// The key of a step.
pub(crate) fn verb_name(action: &Action) -> &'static str {
    match action {
        Action::Request(_) => "request",
        Action::Call(_) => "grpc",
        Action::Custom(custom) => custom_verb(custom),
        Action::Messaging(messaging) if messaging.responses.is_some() => "tcp",
        Action::Messaging(_) => "websocket",
        Action::Send(_) => "send",
        Action::Receive(_) => "receive",
        Action::Think(_) => "think",
        Action::Transaction { .. } => "transaction",
        Action::Choose(_) => "choose",
        Action::Shuffle(_) => "shuffle",
        Action::If { .. } => "if",
        Action::Loop(one) => one.verb(),
        Action::Set(_) => "set",
        Action::Record(_) => "record",
        Action::Cookies(_) => "cookies",
        Action::Check(_) => "check",
        Action::End(end) => end_verb(end),
        Action::Parallel { .. } => "parallel",
        Action::Barrier(_) => "barrier",
        Action::Do(_) => "do",
    }
}

/// `2s`, `1s-3s`, `exponential(2s)`.
fn think(reader: &mut Reader<'_>, node: &Node) -> Read<Think> {
    let text = reader.text(node)?.trim();
    let wrong = || Problem::Wrong { wanted: Wanted::Think, given: FoundInstead::text(text) };
    let time = |text: &str| parse_duration("think", text.trim());
    if let Some((kind, inside)) = text.split_once('(').and_then(|(kind, rest)| Some((kind, rest.strip_suffix(')')?))) {
        let (first, second) = inside.split_once(',').map_or((inside, None), |(first, second)| (first, Some(second)));
        let first = reader.value(node.at, time(first))?;
        let deviation =
            |second: &str| second.trim().parse::<f64>().ok().filter(|it| (0.0..=DEVIATION_MAX).contains(it));
        return match (kind.trim(), second) {
            ("exponential", None) => Some(Think::Exponential(first)),
            ("normal", Some(second)) => {
                let second = reader.value(node.at, time(second))?;
                Some(Think::Normal(first, second))
            }
            ("lognormal", Some(second)) => match deviation(second) {
                Some(deviation) => Some(Think::LogNormal(first, deviation)),
                None => reader.emit(node.at, wrong()),
            },
            _ => reader.emit(node.at, wrong()),
        };
    }
    if let Some((least, most)) = text.split_once('-') {
        let (least, most): (Duration, Duration) =
            (reader.value(node.at, time(least))?, reader.value(node.at, time(most))?);
        return if least <= most { Some(Think::Uniform(least, most)) } else { reader.emit(node.at, wrong()) };
    }
    match time(text) {
        Ok(span) => Some(Think::Fixed(span)),
        Err(_) => reader.emit(node.at, wrong()),
    }
}

/// The largest deviation of the logarithm of a pause: a pause of 1 s would be hours, now and then.
const DEVIATION_MAX: f64 = 5.0;
