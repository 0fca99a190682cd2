//! Variables that nothing uses, and those that the next iteration does not have.

use std::collections::HashSet;

use plan::{Argument, Builtin, Filling, Pattern};

use super::{Concern, Warning, each, lists};
use crate::expression;
use crate::file::{Action, File, Scenario, Step};

/// Warns of variables without any use. Fields of responses that are extracted for the eye of `--debug` are used too,
/// if their names begin with `_`.
pub(super) fn unused(file: &File, all: &mut Vec<Warning>) {
    let used = Used::of(file);
    let of_scenarios = file.scenarios.iter().flat_map(|scenario| &scenario.vars);
    let mut names: Vec<_> = file.vars.iter().chain(of_scenarios).map(|variable| &variable.name).collect();
    lists(file).for_each(|steps| each(steps, &mut |step| names.extend(step.fills())));
    let mut reported = HashSet::new();
    for name in names {
        if !used.0.contains(&name.text) && !name.text.starts_with('_') && reported.insert(&name.text) {
            all.push(Warning { at: name.at, concern: Concern::Unused { name: name.text.clone() } });
        }
    }
}

/// Names that something uses.
struct Used(HashSet<String>);

impl Used {
    fn of(file: &File) -> Self {
        let mut used = Self(HashSet::new());
        // What is only masked or carried is used by nothing, but was meant to be.
        used.0.extend(file.secrets.iter().map(|secret| secret.name.text.clone()));
        let of_scenarios = file.scenarios.iter().filter_map(|scenario| scenario.origins.as_ref());
        of_scenarios.chain([&file.origins]).flatten().for_each(|origin| used.pattern(&origin.url));
        file.target.iter().for_each(|target| used.pattern(target));
        for variable in file.vars.iter().chain(file.scenarios.iter().flat_map(|scenario| &scenario.vars)) {
            variable.value.patterns(&mut |pattern| used.pattern(pattern));
        }
        let own = file.scenarios.iter().filter_map(|scenario| scenario.defaults.as_ref());
        for defaults in own.chain([&file.defaults]) {
            defaults.headers.iter().filter_map(|(_, value)| value.as_ref()).for_each(|value| used.pattern(value));
            defaults.expect.dynamic.iter().for_each(|expect| used.pattern(&expect.text));
            used.retry(defaults.on_failure.as_ref());
        }
        file.scenarios.iter().filter_map(|scenario| scenario.target.as_ref()).for_each(|target| used.pattern(target));
        file.scenarios.iter().for_each(|scenario| {
            used.0.extend(scenario.carried.names.iter().map(|name| name.text.clone()));
        });
        lists(file).for_each(|steps| each(steps, &mut |step| used.step(step)));
        used
    }

    fn step(&mut self, step: &Step) {
        patterns(step, &mut |pattern| self.pattern(pattern));
        self.retry(step.on_failure.as_ref());
        for take in step.takes() {
            self.0.extend(take.of.as_ref().map(|of| of.text.clone()));
        }
        match &step.action {
            Action::If { condition, .. } | Action::Check(condition) => self.text(&condition.text),
            Action::Loop(one) => one.expression().into_iter().for_each(|expression| self.text(&expression.text)),
            _ => {}
        }
    }

    fn retry(&mut self, after: Option<&crate::file::AfterFailure>) {
        let condition = after.and_then(|after| after.retry.as_ref()?.condition.as_ref());
        condition.into_iter().for_each(|condition| self.text(&condition.text));
    }

    fn pattern(&mut self, pattern: &Pattern) {
        pattern.slots().for_each(|slot| self.filling(&slot.filling, &slot.text));
    }

    fn filling(&mut self, filling: &Filling, text: &str) {
        match filling {
            Filling::Name(name) | Filling::Column(name, _) => drop(self.0.insert(name.clone())),
            Filling::Call(_, arguments) => arguments.iter().for_each(|argument| match argument {
                Argument::Filling(inner) => self.filling(inner, text),
                Argument::Expression(text) => self.text(text),
                Argument::Text(_) | Argument::Integer(_) | Argument::Number(_) => {}
            }),
            Filling::Expression => self.text(text),
            Filling::Environment(_) => {}
        }
    }

    /// All words of an expression: one too many is no false warning.
    fn text(&mut self, text: &str) {
        let words = text.split(|each: char| !each.is_alphanumeric() && each != '_' && each != '$');
        self.0.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
}

/// Visits the texts with slots of a step, without those of nested steps.
pub(super) fn patterns(step: &Step, see: &mut dyn FnMut(&Pattern)) {
    // The visitor of checks changes what it sees, and steps are small.
    let mut copy = Step { action: without_steps(&step.action), ..step.clone() };
    crate::check::patterns(&mut copy, &mut |pattern| see(pattern));
    if let Action::Set(values) = &step.action {
        values.iter().for_each(|one| one.value.patterns(&mut |pattern| see(pattern)));
    }
}

/// The same action with no steps in it.
fn without_steps(action: &Action) -> Action {
    let mut copy = action.clone();
    match &mut copy {
        Action::Messaging(messaging) => messaging.steps.clear(),
        Action::Do(call) => call.steps.clear(),
        _ => {}
    }
    copy
}

/// Warns of variables that are set in `steps` under a condition of their own value or of `vu.iteration`.
pub(super) fn not_carried(file: &File, all: &mut Vec<Warning>) {
    for scenario in file.scenarios.iter().filter(|scenario| !scenario.carried.is_all) {
        conditions(&scenario.steps, scenario, all);
    }
}

fn conditions(steps: &[Step], scenario: &Scenario, all: &mut Vec<Warning>) {
    for step in steps {
        if let Action::If { condition, then, .. } = &step.action {
            let of_iteration = expression::builtins(&condition.text).iter().any(|(word, member, _)| {
                let is_it = |(name, builtin): &(&str, Builtin)| {
                    *builtin == Builtin::VuIteration && name.split_once('.').map(|it| it.1) == *member
                };
                *word == "vu" && Builtin::ALL.iter().any(is_it)
            });
            let names: Vec<&str> = expression::variables(&condition.text).into_iter().map(|(name, _)| name).collect();
            let mut filled = Vec::new();
            each(then, &mut |step| filled.extend(step.fills()));
            let is_own = |name: &str| names.contains(&name) || of_iteration;
            let is_carried = |name: &str| scenario.carried.names.iter().any(|one| one.text == name);
            // A value that the same iteration has filled before is no question of the one before.
            let is_fresh = |name: &str| fills_before(&scenario.steps, name, step.at.start);
            for name in filled {
                if is_own(&name.text) && !is_carried(&name.text) && !is_fresh(&name.text) {
                    all.push(Warning { at: name.at, concern: Concern::NotCarried { name: name.text.clone() } });
                }
            }
        }
        step.inner().into_iter().for_each(|steps| conditions(steps, scenario, all));
    }
}

/// Whether a step of the iteration before this position fills a variable.
fn fills_before(steps: &[Step], name: &str, before: usize) -> bool {
    let mut found = false;
    each(steps, &mut |step| {
        found |= step.at.start < before && step.fills().iter().any(|filled| filled.text == name);
    });
    found
}
