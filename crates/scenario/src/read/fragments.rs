//! Shared steps: their definitions and calls. Each call gets its own copy of the steps, when all of them are read.

use std::collections::HashMap;

use plan::did_you_mean;

use crate::diagnostic::{FragmentFault, NameFault, Problem, Things, shortened};
use crate::file::{Action, File, Fragment, FragmentCall, Json, Name, Step};
use crate::keys::{FRAGMENT, verb_of};
use crate::reader::{Fields, Read, Reader, Target};
use crate::source::Span;
use crate::tree::{Node, Value};

/// The most fragments of a file, and arguments of one.
const FRAGMENTS_MAX: usize = 1_000;
/// The most calls within each other.
const CALLS_DEEP_MAX: usize = 16;
/// The most steps of a list with the steps that it calls.
const CALLED_STEPS_MAX: usize = 50_000;

/// The fragments of a file.
pub(super) fn fragments(reader: &mut Reader<'_>, node: &Node) -> Vec<Fragment> {
    // The scenarios that call it may have targets of their own.
    let target = reader.target.clone();
    if target == Target::None {
        reader.target = Target::Open;
    }
    let named = super::bounded(reader, node, Things::Fragments, FRAGMENTS_MAX);
    let all = named.into_iter().filter_map(|(name, at, node)| fragment(reader, name, at, node)).collect();
    reader.target = target;
    all
}

fn fragment(reader: &mut Reader<'_>, name: &str, at: Span, node: &Node) -> Read<Fragment> {
    let name = match plan::is_name(name) {
        true => Name { text: name.to_owned(), at },
        false => return reader.emit(at, Problem::Name(NameFault::Bad(shortened(name)))),
    };
    if matches!(node.value, Value::List(_)) {
        let steps = super::some(reader, node, &FRAGMENT);
        return Some(Fragment { name, args: Vec::new(), steps });
    }
    let mut fields = Fields::open(reader, node, &FRAGMENT)?;
    fields.at = at;
    let args = fields.get("args").map(|node| args(reader, node)).unwrap_or_default();
    let steps = fields.need(reader, "steps").map(|node| super::some(reader, node, &FRAGMENT)).unwrap_or_default();
    fields.close();
    Some(Fragment { name, args, steps })
}

/// Arguments with their defaults; a name without a value has none.
fn args(reader: &mut Reader<'_>, node: &Node) -> Vec<(Name, Option<Json>)> {
    let mut all = Vec::new();
    for (name, at, value) in super::bounded(reader, node, Things::Variables, FRAGMENTS_MAX) {
        let Some(name) = reader.name(name, at) else { continue };
        let default = if value.is_null() { None } else { reader.json(value) };
        all.push((name, default));
    }
    all
}

/// A step that calls a fragment.
pub(super) fn call(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let name = fields.need(reader, "do").and_then(|node| {
        let text = reader.text(node)?.trim().to_owned();
        Some(Name { text, at: node.at })
    });
    let mut with = Vec::new();
    if let Some(node) = fields.get("with") {
        for (name, at, value) in reader.named(node) {
            let value = reader.json(value);
            with.extend(value.map(|value| (Name { text: name.to_owned(), at }, value)));
        }
    }
    let call = FragmentCall { fragment: name?, with, args: Vec::new(), steps: Vec::new() };
    Some((Action::Do(Box::new(call)), verb_of("do").map_or("do", |object| object.id).to_owned()))
}

/// Gives each call the arguments and the steps of its fragment. Calls that are wrong stay empty.
pub(super) fn expand(reader: &mut Reader<'_>, file: &mut File) {
    for (arg, _) in file.fragments.iter().flat_map(|fragment| &fragment.args) {
        if let Some(set) = file.data.iter().find(|set| set.name.text == arg.text) {
            let line = reader.source.place(set.name.at.start).line;
            reader.found.add(arg.at, Problem::Name(NameFault::Twice { name: arg.text.clone(), line }));
        }
    }
    let defined = std::mem::take(&mut file.fragments);
    let known: HashMap<&str, &Fragment> = defined.iter().map(|one| (one.name.text.as_str(), one)).collect();
    let mut calls = Expansion { reader, known, ready: HashMap::new(), path: Vec::new() };
    for fragment in &defined {
        calls.prepare(&fragment.name);
    }
    let lists = file.scenarios.iter_mut().flat_map(|one| [&mut one.start, &mut one.steps, &mut one.stop]);
    for steps in lists.chain([&mut file.before, &mut file.after]) {
        let mut size = 0;
        calls.fill(steps, &mut size);
    }
    file.fragments = defined;
}

/// Calls while they get their steps.
struct Expansion<'e, 'r, 'f> {
    reader: &'e mut Reader<'r>,
    known: HashMap<&'f str, &'f Fragment>,
    /// The steps of fragments, with those that they call, and how many these are.
    ready: HashMap<&'f str, (Vec<Step>, usize)>,
    /// The fragments whose steps are being filled, from the outside in.
    path: Vec<&'f str>,
}

impl Expansion<'_, '_, '_> {
    /// Fills the steps of a fragment, unless that was done.
    fn prepare(&mut self, name: &Name) {
        let Some(fragment) = self.known.get(name.text.as_str()).copied() else { return };
        let text = fragment.name.text.as_str();
        if self.ready.contains_key(text) {
            return;
        }
        if let Some(first) = self.path.iter().position(|one| *one == text) {
            let cycle = self.path[first..].iter().copied().chain([text]).collect::<Vec<_>>().join(" -> ");
            let fault = FragmentFault::Cycle(shortened(&cycle));
            self.reader.found.add(name.at, Problem::Fragment(fault));
            return;
        }
        if self.path.len() >= CALLS_DEEP_MAX {
            self.reader.found.add(name.at, Problem::Fragment(FragmentFault::TooDeep(CALLS_DEEP_MAX)));
            return;
        }
        self.path.push(text);
        let (mut steps, mut size) = (fragment.steps.clone(), 0);
        self.fill(&mut steps, &mut size);
        self.path.pop();
        self.ready.insert(text, (steps, size));
    }

    /// Fills the calls in a list; `size`: the steps so far.
    fn fill(&mut self, steps: &mut [Step], size: &mut usize) {
        for step in steps {
            *size += 1;
            if let Action::Do(call) = &mut step.action {
                self.fill_call(call, size);
                continue;
            }
            step.inner_mut().into_iter().for_each(|steps| self.fill(steps, size));
        }
    }

    fn fill_call(&mut self, call: &mut FragmentCall, size: &mut usize) {
        let Some(fragment) = self.known.get(call.fragment.text.as_str()).copied() else {
            let near = did_you_mean(&call.fragment.text, self.known.keys().copied()).map(str::to_owned);
            let fault = FragmentFault::Unknown { name: shortened(&call.fragment.text), near };
            return self.reader.found.add(call.fragment.at, Problem::Fragment(fault));
        };
        self.prepare(&call.fragment);
        self.give(call, fragment);
        let Some((steps, count)) = self.ready.get(fragment.name.text.as_str()) else { return };
        if *size + count > CALLED_STEPS_MAX {
            let fault = Problem::TooMany { what: Things::Steps, most: CALLED_STEPS_MAX };
            return self.reader.found.add(call.fragment.at, fault);
        }
        *size += count;
        call.steps.clone_from(steps);
    }

    /// Gives a call the arguments of its fragment.
    fn give(&mut self, call: &mut FragmentCall, fragment: &Fragment) {
        let name_of = |name: &Name| name.text.clone();
        for (name, _) in &call.with {
            if fragment.args.iter().any(|(arg, _)| arg.text == name.text) {
                continue;
            }
            let known: Vec<&str> = fragment.args.iter().map(|(arg, _)| arg.text.as_str()).collect();
            let near = did_you_mean(&name.text, known.iter().copied()).map(str::to_owned);
            let fault = FragmentFault::NoArgument {
                fragment: name_of(&fragment.name),
                name: shortened(&name.text),
                near,
                known: known.join(", "),
            };
            self.reader.found.add(name.at, Problem::Fragment(fault));
        }
        for (arg, default) in &fragment.args {
            let given = call.with.iter().find(|(name, _)| name.text == arg.text).map(|(_, value)| value);
            match given.or(default.as_ref()) {
                Some(value) => call.args.push((name_of(arg), value.clone())),
                None => {
                    let fault = FragmentFault::Missing { fragment: name_of(&fragment.name), name: name_of(arg) };
                    self.reader.found.add(call.fragment.at, Problem::Fragment(fault));
                }
            }
        }
    }
}
