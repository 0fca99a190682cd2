//! Consistency checks of a file: names have values where they are used, messages have connections, loads have steps
//! that send.

mod builtins;
mod data;
mod figures;
mod flow;
mod names;
mod scope;
mod visit;

use std::collections::{HashMap, HashSet};

use plan::did_you_mean;

use crate::diagnostic::{DataFault, DiagnosticSink, NameFault, Problem};
use crate::file::{Action, Amount, AtEnd, DataSet, File, RowPick, RowShare, Scenario, Step};
use crate::source::{Source, Span};
use names::Symbols;
use scope::Walk;
pub(crate) use visit::patterns;

/// Checks a file as a whole; slots that mean a function without its parentheses become calls of it. `seen`: names that
/// are given to something that was wrong.
pub(crate) fn check(file: &mut File, source: &Source, seen: &[String], found: &mut DiagnosticSink) {
    let declared = Symbols::new(file, source, seen);
    declared.check(file, source, found);
    cycles(file, found);
    flow::check(file, found);
    figures::check(file, source, found);
    data::check(file, &declared, found);
    let before = {
        let mut walk = Walk::new(&declared, None, found);
        walk.global(file);
        walk.steps(&mut file.before, false);
        walk.into_taken()
    };
    check_users(file, found);
    let mut of_unique: HashSet<String> = HashSet::new();
    for index in 0..file.scenarios.len() {
        declared.check_carried(&file.scenarios[index].carried, found);
        own(file, index, found);
        let scenario = &mut file.scenarios[index];
        let mut walk = Walk::new(&declared, Some(index), found);
        walk.knows(&scenario.vars.iter().map(|variable| variable.name.text.clone()).collect());
        walk.own(scenario);
        walk.knows(&before);
        walk.steps(&mut scenario.start, false);
        walk.steps(&mut scenario.steps, false);
        walk.steps(&mut scenario.stop, false);
        let mut used: Vec<(String, Span)> = walk.into_used().into_iter().collect();
        used.sort();
        let is_unique = |name: &str| file.data.iter().any(|set| set.name.text == name && set.share == RowShare::Unique);
        if matches!(scenario.load.amount, Amount::Rate { .. }) {
            rows_at_rate(&file.data, &used, scenario.connections.is_some(), found);
        }
        for (set, at) in used.into_iter().filter(|(set, _)| is_unique(set)) {
            if !of_unique.insert(set.clone()) {
                found.add(at, Problem::UniqueTwice { set });
            }
        }
        if !scenario.steps.is_empty() && !asks(&scenario.steps) && seen.is_empty() {
            found.add(scenario.name.at, Problem::Idle { scenario: scenario.name.text.clone() });
        }
    }
    let mut walk = Walk::new(&declared, None, found);
    walk.knows(&before);
    walk.steps(&mut file.after, false);
    series(file, seen, found);
    redirects(file, found);
}

/// Rows by user need users, which a load by rate has with its connections; and none of them ends.
fn rows_at_rate(data: &[DataSet], used: &[(String, Span)], has_users: bool, found: &mut DiagnosticSink) {
    for (name, at) in used {
        let Some(set) = data.iter().find(|set| set.name.text == *name && set.pick == RowPick::ByUser) else { continue };
        if !has_users {
            found.add(*at, Problem::RowsOfUsers { set: name.clone() });
        } else if set.at_end == AtEnd::Stop {
            found.add(*at, Problem::Data(DataFault::NoEndAtRate { set: name.clone() }));
        }
    }
}

/// Checks the variables and defaults that a scenario has of its own.
fn own(file: &File, index: usize, found: &mut DiagnosticSink) {
    let scenario = &file.scenarios[index];
    let seen = file.as_seen_by(scenario);
    if !scenario.vars.is_empty() {
        cycles(&seen, found);
        check_users(&seen, found);
    }
    let limited = scenario.defaults.as_ref().and_then(|own| own.max_redirs_at);
    let lists = [&scenario.start, &scenario.steps, &scenario.stop];
    if let Some(at) = limited.filter(|_| !seen.defaults.flags.responses.location)
        && !lists.into_iter().any(|steps| follow(steps))
    {
        found.add(at, Problem::Needs { key: "max_redirs", needed: "location" });
    }
}

/// A limit of redirects needs steps that follow some.
fn redirects(file: &File, found: &mut DiagnosticSink) {
    let Some(at) = file.defaults.max_redirs_at.filter(|_| !file.defaults.flags.responses.location) else { return };
    let location = |scenario: &Scenario| file.as_seen_by(scenario).defaults.flags.responses.location;
    let of_scenarios = file.scenarios.iter().flat_map(|scenario| [&scenario.start, &scenario.steps, &scenario.stop]);
    if !file.scenarios.iter().any(location)
        && !of_scenarios.chain([&file.before, &file.after]).any(|steps| follow(steps))
    {
        found.add(at, Problem::Needs { key: "max_redirs", needed: "location" });
    }
}

fn follow(steps: &[Step]) -> bool {
    let is_one = |step: &Step| matches!(&step.action, Action::Request(request) if request.location == Some(true));
    steps.iter().any(|step| is_one(step) || step.inner().into_iter().any(follow))
}

/// Whether some path through the steps sends something.
fn asks(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.action {
        Action::Request(_) | Action::Call(_) | Action::Custom(_) | Action::Messaging(_) | Action::Send(_) => true,
        Action::Receive(_) | Action::Think(_) | Action::Barrier(_) => false,
        Action::Set(_) | Action::Record(_) | Action::Cookies(_) | Action::Check(_) | Action::End(_) => false,
        Action::Loop(one) => asks(&one.steps),
        Action::Transaction { steps, .. } | Action::Parallel { steps, .. } | Action::Shuffle(steps) => asks(steps),
        Action::Choose(choices) => choices.iter().any(|choice| choice.weight > 0 && asks(&choice.steps)),
        Action::If { then, otherwise, .. } => asks(then) || asks(otherwise),
        Action::Do(call) => asks(&call.steps),
    })
}

/// Checks that values common to all users depend on none that is per user.
fn check_users(file: &File, found: &mut DiagnosticSink) {
    let own = file.vars.iter().enumerate().filter(|(_, variable)| variable.per_user);
    let own: HashMap<&str, usize> = own.map(|(place, variable)| (variable.name.text.as_str(), place)).collect();
    for variable in file.vars.iter().filter(|variable| !variable.per_user) {
        if let Some(part) = names::parts(&variable.value, &own).first() {
            found.add(variable.name.at, Problem::Name(NameFault::OfUser(file.vars[*part].name.text.clone())));
        }
    }
}

/// Finds variables that depend on each other in a cycle.
fn cycles(file: &File, found: &mut DiagnosticSink) {
    let names: Vec<&str> = file.vars.iter().map(|variable| variable.name.text.as_str()).collect();
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let made_of: Vec<Vec<usize>> = file.vars.iter().map(|variable| names::parts(&variable.value, &places)).collect();
    // 0: not visited; 1: on the current path; 2: done.
    let mut state = vec![0u8; names.len()];
    for start in 0..names.len() {
        let mut way: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((at, next)) = way.last_mut() {
            let (at, index) = (*at, *next);
            *next += 1;
            if index == 0 && state[at] == 2 {
                way.pop();
                continue;
            }
            state[at] = 1;
            match made_of[at].get(index) {
                Some(part) if state[*part] == 1 => {
                    let first = way.iter().position(|(each, _)| each == part).unwrap_or(0);
                    let circle = way[first..].iter().map(|(each, _)| names[*each]).chain([names[*part]]);
                    let circle = circle.collect::<Vec<_>>().join(" -> ");
                    let name = &file.vars[*part].name;
                    found.add(name.at, Problem::Name(NameFault::Cycle(crate::diagnostic::shortened(&circle))));
                }
                Some(part) => way.push((*part, 0)),
                None => {
                    state[at] = 2;
                    way.pop();
                }
            }
        }
    }
}

/// Checks that the names in thresholds exist.
fn series(file: &File, seen: &[String], found: &mut DiagnosticSink) {
    let mut known: Vec<&str> = file.scenarios.iter().map(|scenario| scenario.name.text.as_str()).collect();
    for scenario in &file.scenarios {
        [&scenario.start, &scenario.steps, &scenario.stop].into_iter().for_each(|steps| names_of(steps, &mut known));
    }
    known.extend(seen.iter().map(String::as_str));
    let all: HashSet<&str> = known.iter().copied().collect();
    for name in file.thresholds.iter().filter_map(|limit| limit.of.as_ref()) {
        if !all.contains(name.text.as_str()) {
            if !found.has_room() {
                found.count();
                continue;
            }
            let near = did_you_mean(&name.text, known.iter().copied()).map(str::to_owned);
            found.add(name.at, Problem::Name(NameFault::Series { name: name.text.clone(), near }));
        }
    }
}

/// The names of steps, transactions and checks, which are parts of the whole.
fn names_of<'f>(steps: &'f [Step], names: &mut Vec<&'f str>) {
    for step in steps {
        if is_part(&step.action) {
            names.push(&step.name);
            names.extend(step.tags.iter().map(String::as_str));
        }
        step.inner().into_iter().for_each(|steps| names_of(steps, names));
    }
}

/// Whether a step is a part of a run, which thresholds can name.
fn is_part(action: &Action) -> bool {
    matches!(
        action,
        Action::Request(_)
            | Action::Call(_)
            | Action::Custom(_)
            | Action::Messaging(_)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::Transaction { .. }
            | Action::Check(_)
    )
}
