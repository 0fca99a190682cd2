//! All names that a file defines, and whether they are unique.

use std::collections::{HashMap, HashSet};

use plan::{Argument, Filling};

use crate::diagnostic::{DiagnosticSink, NameFault, Problem};
use crate::expression;
use crate::file::{Action, CarriedState, DataSet, File, Json, Step, Variable};
use crate::source::{Source, Span};

/// The shortest name for a suggestion: a shorter one is near to too many others.
const NEAR_BYTES_MIN: usize = 3;

/// The columns of a data set, in order and by name.
pub(super) struct Columns {
    list: Vec<String>,
    set: HashSet<String>,
}

impl Columns {
    fn new(list: &[String]) -> Self {
        Self { list: list.to_vec(), set: list.iter().cloned().collect() }
    }
}

/// All names that a file defines.
pub(super) struct Symbols {
    /// Variables in `vars`, with their lines.
    pub(super) vars: HashMap<String, usize>,
    /// Data sets, with their columns as far as known.
    pub(super) data: HashMap<String, Option<Columns>>,
    /// Where a name is extracted or set, and the first line of each: in a scenario, or in `setup` and `teardown`.
    pub(super) taken: HashMap<String, Vec<(Option<usize>, usize)>>,
    /// Names of scenarios.
    pub(super) scenarios: Vec<String>,
    /// Names that are given to something that was wrong.
    pub(super) seen: HashSet<String>,
}

impl Symbols {
    pub(super) fn new(file: &File, source: &Source, seen: &[String]) -> Self {
        let line = |at: Span| source.place(at.start).line;
        let mut declared = Self {
            vars: file.vars.iter().map(|variable| (variable.name.text.clone(), line(variable.name.at))).collect(),
            data: file
                .data
                .iter()
                .map(|set| (set.name.text.clone(), set.columns.as_deref().map(Columns::new)))
                .collect(),
            taken: HashMap::new(),
            scenarios: file.scenarios.iter().map(|scenario| scenario.name.text.clone()).collect(),
            seen: seen.iter().cloned().collect(),
        };
        let mut add = |who: Option<usize>, steps: &[Step]| {
            each(steps, &mut |step| {
                for name in step.fills() {
                    let taken = declared.taken.entry(name.text.clone()).or_default();
                    if !taken.iter().any(|(other, _)| *other == who) {
                        taken.push((who, line(name.at)));
                    }
                }
            })
        };
        add(None, &file.before);
        for (index, scenario) in file.scenarios.iter().enumerate() {
            [&scenario.start, &scenario.steps, &scenario.stop].into_iter().for_each(|steps| add(Some(index), steps));
        }
        add(None, &file.after);
        declared
    }

    /// Whether it is the name of something.
    pub(super) fn has(&self, name: &str) -> bool {
        self.vars.contains_key(name)
            || self.data.contains_key(name)
            || self.taken.contains_key(name)
            || self.seen.contains(name)
    }

    /// Reports names that two things have, and names in `secrets` that nothing has.
    pub(super) fn check(&self, file: &File, source: &Source, found: &mut DiagnosticSink) {
        let line = |at: Span| source.place(at.start).line;
        for DataSet { name, .. } in &file.data {
            if let Some(line) = self.vars.get(&name.text) {
                found.add(name.at, Problem::Name(NameFault::Twice { name: name.text.clone(), line: *line }));
            }
        }
        for Variable { name, .. } in file.scenarios.iter().flat_map(|scenario| &scenario.vars) {
            if let Some(set) = file.data.iter().find(|set| set.name.text == name.text) {
                let line = line(set.name.at);
                found.add(name.at, Problem::Name(NameFault::Twice { name: name.text.clone(), line }));
            }
        }
        let data: HashMap<&str, Span> = file.data.iter().map(|set| (set.name.text.as_str(), set.name.at)).collect();
        let (mut places, mut transactions) = (HashMap::new(), HashMap::new());
        let (mut exchanges, mut messages) = (HashMap::new(), HashMap::new());
        let all = || {
            let parts = file.scenarios.iter().flat_map(|scenario| [&scenario.start, &scenario.steps, &scenario.stop]);
            [&file.before].into_iter().chain(parts).chain([&file.after])
        };
        for steps in all() {
            each(steps, &mut |step| {
                for name in step.fills() {
                    if let Some(at) = data.get(name.text.as_str()) {
                        let twice = NameFault::Twice { name: name.text.clone(), line: line(*at) };
                        found.add(name.at, Problem::Name(twice));
                    }
                }
                match &step.action {
                    Action::Barrier(meet) => {
                        let known = places.entry(&meet.name.text);
                        let (users, within, first) = *known.or_insert((meet.users, meet.within, meet.name.at));
                        if (users, within) != (meet.users, meet.within) {
                            let fault = NameFault::Barrier { name: meet.name.text.clone(), line: line(first) };
                            found.add(meet.name.at, Problem::Name(fault));
                        }
                    }
                    Action::Transaction { .. } => {
                        transactions.entry(step.name.as_str()).or_insert(step.at);
                    }
                    Action::Request(_) | Action::Call(_) | Action::Custom(_) | Action::Messaging(_) => {
                        exchanges.entry(step.name.as_str()).or_insert(step.at);
                    }
                    Action::Send(_) | Action::Receive(_) => {
                        messages.entry(step.name.as_str()).or_insert(step.at);
                    }
                    _ => {}
                }
            });
        }
        // A transaction and a step of one name would be one series, and a check with their name would be both.
        for steps in all() {
            each(steps, &mut |step| {
                let name = step.name.as_str();
                let other = match step.action {
                    Action::Request(_) | Action::Call(_) | Action::Custom(_) | Action::Messaging(_) => {
                        transactions.get(name)
                    }
                    Action::Check(_) => transactions.get(name).or(exchanges.get(name)).or(messages.get(name)),
                    _ => None,
                };
                if let Some(at) = other {
                    let twice = NameFault::Twice { name: step.name.clone(), line: line(*at) };
                    found.add(step.at, Problem::Name(twice));
                }
            });
        }
        self.check_secrets(file, found);
    }

    /// Reports names in `secrets` that nothing has.
    fn check_secrets(&self, file: &File, found: &mut DiagnosticSink) {
        for secret in &file.secrets {
            let (name, at) = (&secret.name.text, secret.name.at);
            let is_own = |one: &Variable| one.name.text == *name;
            if secret.column.is_none() && file.scenarios.iter().any(|scenario| scenario.vars.iter().any(is_own)) {
                continue;
            }
            let is_known = if secret.column.is_some() { self.data.contains_key(name) } else { self.has(name) };
            match (self.data.get(name), &secret.column) {
                (Some(columns), Some(column)) => {
                    if let Some(fault) = self.column_fault(name, columns.as_ref(), column) {
                        found.add(at, fault);
                    }
                }
                _ if is_known || self.seen.contains(name) => {}
                _ => {
                    let fault = self.unknown(name, &[]);
                    found.add(at, fault);
                }
            }
        }
    }

    /// Reports names in `carry_state` that are no variables of users.
    pub(super) fn check_carried(&self, carried: &CarriedState, found: &mut DiagnosticSink) {
        for name in &carried.names {
            if self.data.contains_key(&name.text) {
                found.add(name.at, Problem::Name(NameFault::NotCarried(name.text.clone())));
            } else if !self.has(&name.text) {
                let fault = self.unknown(&name.text, &["cookies"]);
                found.add(name.at, fault);
            }
        }
    }

    /// The fault of an unknown name.
    pub(super) fn unknown(&self, name: &str, more: &[&str]) -> Problem {
        let known = self.vars.keys().chain(self.data.keys()).chain(self.taken.keys()).map(String::as_str);
        let near = plan::did_you_mean(name, known.chain(more.iter().copied()));
        let near = near.filter(|_| name.len() >= NEAR_BYTES_MIN).map(str::to_owned);
        Problem::Name(NameFault::Unknown { name: crate::diagnostic::shortened(name), near })
    }

    /// The fault of a column that the data does not have, as far as that is known.
    pub(super) fn column_fault(&self, set: &str, columns: Option<&Columns>, column: &str) -> Option<Problem> {
        let columns = columns.filter(|columns| !columns.set.contains(column))?;
        let near = plan::did_you_mean(column, columns.list.iter().map(String::as_str)).map(str::to_owned);
        let known = crate::diagnostic::shortened(&columns.list.join(", "));
        let (set, column) = (set.to_owned(), column.to_owned());
        if let ([line], None) = (&columns.list[..], &near)
            && let Some(sign) = [";", "\\t", "|", ","].into_iter().find(|sign| line.contains(sign_of(sign)))
        {
            let (line, cut) = (crate::diagnostic::shortened(line), if sign == "," { "another sign" } else { "','" });
            return Some(Problem::Name(NameFault::Separator { set, column, line, cut, sign }));
        }
        if near.is_none() && columns.list.iter().any(|name| !is_like_a_name(name)) {
            return Some(Problem::Name(NameFault::Headless { set, column, line: known }));
        }
        Some(Problem::Name(NameFault::Column { set, column, near, known }))
    }
}

/// The character in the file for a separator with this spelling.
fn sign_of(separator: &str) -> &str {
    if separator == "\\t" { "\t" } else { separator }
}

/// Whether a text could be a column name: a number, an address or an empty text is rather a value.
fn is_like_a_name(text: &str) -> bool {
    let is_number = text.trim().parse::<f64>().is_ok();
    !text.trim().is_empty() && !is_number && !text.contains(['@', '/', ':'])
}

/// Visits each step, nested ones included.
fn each<'f>(steps: &'f [Step], see: &mut dyn FnMut(&'f Step)) {
    for step in steps {
        see(step);
        step.inner().into_iter().for_each(|steps| each(steps, see));
    }
}

/// Which of these names a value depends on.
pub(super) fn parts(value: &Json, names: &HashMap<&str, usize>) -> Vec<usize> {
    let mut parts = Vec::new();
    value.patterns(&mut |pattern| {
        for slot in pattern.slots() {
            let mut add = |name: &str| parts.extend(names.get(name).copied());
            used(&slot.filling, &slot.text, &mut add);
        }
    });
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// The names that a slot uses.
fn used(filling: &Filling, text: &str, add: &mut dyn FnMut(&str)) {
    match filling {
        Filling::Name(name) | Filling::Column(name, _) => add(name),
        Filling::Call(_, arguments) => arguments.iter().for_each(|argument| match argument {
            Argument::Filling(inner) => used(inner, text, add),
            Argument::Expression(text) => expression::variables(text).into_iter().for_each(|(name, _)| add(name)),
            Argument::Text(_) | Argument::Integer(_) | Argument::Number(_) => {}
        }),
        Filling::Expression => expression::variables(text).into_iter().for_each(|(name, _)| add(name)),
        Filling::Environment(_) => {}
    }
}
