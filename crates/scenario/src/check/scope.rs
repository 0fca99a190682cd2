//! Scope of names: which names have a value at a step, in the order of the file, since a value that is extracted later
//! is not there yet.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use plan::{Argument, Builtin, Filling, Function, Pattern, Slot, SlotContext};

use super::builtins::{self, Known};
use super::names::Symbols;
use super::visit;
use crate::diagnostic::{DataFault, DiagnosticSink, FragmentFault, NameFault, Problem};
use crate::expression;
use crate::file::{Action, AfterFailure, Defaults, Expression, File, Loop, Rounds, Scenario, Step};
use crate::source::Span;

/// A path through steps, with the names that have been extracted on it.
pub(super) struct Walk<'w> {
    declared: &'w Symbols,
    /// The scenario of the steps.
    scenario: Option<usize>,
    /// What is known of the words of the program itself.
    known: Known,
    taken: HashSet<String>,
    /// The extracted names in order.
    log: Vec<String>,
    /// Data sets that are used, with the first place of each.
    used: HashMap<String, Span>,
    /// The arguments of the fragments around, from the outside in; only those of the innermost have values.
    args: Vec<HashSet<String>>,
    found: &'w mut DiagnosticSink,
}

impl<'w> Walk<'w> {
    pub(super) fn new(declared: &'w Symbols, scenario: Option<usize>, found: &'w mut DiagnosticSink) -> Self {
        let known = if scenario.is_some() { Known::User } else { Known::Run };
        let (taken, used) = (HashSet::new(), HashMap::new());
        Self { declared, scenario, known, taken, log: Vec::new(), used, args: Vec::new(), found }
    }

    /// Adds names that have a value from the beginning on.
    pub(super) fn knows(&mut self, names: &HashSet<String>) {
        self.taken.extend(names.iter().cloned());
    }

    /// The data sets that were used, with the first place of each.
    pub(super) fn into_used(self) -> HashMap<String, Span> {
        self.used
    }

    /// The names that were extracted on the path.
    pub(super) fn into_taken(self) -> HashSet<String> {
        self.taken
    }

    /// Checks the target, variables and defaults.
    pub(super) fn global(&mut self, file: &mut File) {
        let known = std::mem::replace(&mut self.known, Known::Nothing);
        if let Some(target) = &mut file.target {
            self.pattern(target);
        }
        file.origins.iter_mut().for_each(|origin| self.pattern(&mut origin.url));
        for variable in &mut file.vars {
            self.known = if variable.per_user { Known::User } else { Known::Nothing };
            visit::json(&mut variable.value, &mut |pattern| self.pattern(pattern));
        }
        self.known = Known::User;
        self.defaults(&mut file.defaults);
        self.known = known;
    }

    /// Checks what a scenario has of its own. Its variables have values already.
    pub(super) fn own(&mut self, scenario: &mut Scenario) {
        scenario.target.iter_mut().for_each(|target| self.pattern(target));
        scenario.origins.iter_mut().flatten().for_each(|origin| self.pattern(&mut origin.url));
        for variable in &mut scenario.vars {
            visit::json(&mut variable.value, &mut |pattern| self.pattern(pattern));
        }
        scenario.defaults.iter_mut().for_each(|defaults| self.defaults(defaults));
    }

    /// Checks defaults, which apply to each step, so that any name may have a value by then.
    fn defaults(&mut self, defaults: &mut Defaults) {
        let own = self.taken.clone();
        self.taken.extend(self.declared.taken.keys().cloned());
        defaults.headers.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(|value| self.pattern(value));
        visit::expects(&mut defaults.expect, &mut |text| self.pattern(text));
        self.after_failure(defaults.on_failure.as_ref());
        self.taken = own;
    }

    /// Checks steps in sequence.
    pub(super) fn steps(&mut self, steps: &mut [Step], is_in_conversation: bool) {
        steps.iter_mut().for_each(|step| self.step(step, is_in_conversation));
    }

    fn step(&mut self, step: &mut Step, is_in_conversation: bool) {
        let verb = match step.action {
            Action::Send(_) => Some("send"),
            Action::Receive(_) => Some("receive"),
            _ => None,
        };
        if let Some(verb) = verb.filter(|_| !is_in_conversation) {
            self.found.add(step.at, Problem::NotInConversation { verb });
        }
        visit::patterns(step, &mut |pattern| self.pattern(pattern));
        self.sources(step);
        match &mut step.action {
            Action::Messaging(messaging) => self.steps(&mut messaging.steps, true),
            Action::Transaction { steps, .. } => self.steps(steps, is_in_conversation),
            Action::Loop(one) => self.rounds(one, is_in_conversation),
            Action::Set(values) => values.iter_mut().for_each(|one| {
                visit::json(&mut one.value, &mut |pattern| self.pattern(pattern));
                self.take(one.name.text.clone());
            }),
            Action::Record(values) => values.iter_mut().for_each(|one| {
                visit::json(&mut one.value, &mut |pattern| self.pattern(pattern));
            }),
            Action::Check(condition) => self.expression(condition),
            Action::If { condition, then, otherwise } => {
                self.expression(condition);
                self.aside(&mut [then, otherwise], is_in_conversation);
            }
            Action::Choose(choices) => {
                let mut ways: Vec<&mut Vec<Step>> = choices.iter_mut().map(|choice| &mut choice.steps).collect();
                self.aside(&mut ways, is_in_conversation);
            }
            Action::Do(call) => {
                self.args.push(call.args.iter().map(|(name, _)| name.clone()).collect());
                self.steps(&mut call.steps, is_in_conversation);
                self.args.pop();
            }
            // In any order, or concurrently: none can rely on another.
            Action::Shuffle(steps) | Action::Parallel { steps, .. } => self.apart(steps, is_in_conversation),
            _ => {}
        }
        for name in step.fills() {
            if self.is_argument(&name.text) {
                let fault = FragmentFault::IntoArgument { name: name.text.clone() };
                self.found.add(name.at, Problem::Fragment(fault));
            }
            self.take(name.text.clone());
        }
        self.after_failure(step.on_failure.as_ref());
    }

    /// Checks the variables that extractions look at, which those before them in the same step may fill.
    fn sources(&mut self, step: &Step) {
        for (number, take) in step.takes().iter().enumerate() {
            let Some(of) = &take.of else { continue };
            if !step.takes()[..number].iter().any(|before| before.name.text == of.text) {
                self.name(&of.text, of.at);
            }
        }
    }

    /// Checks a loop: its expression has the names of its steps only when it is looked at after them.
    fn rounds(&mut self, one: &mut Loop, is_in_conversation: bool) {
        let is_until = matches!(one.rounds, Rounds::Condition { is_until: true, .. });
        one.expression().filter(|_| !is_until).into_iter().for_each(|expression| self.expression(expression));
        if let Rounds::Items { item, .. } = &one.rounds {
            self.take(item.text.clone());
        }
        match one.rounds {
            Rounds::Items { at_once: Some(_), .. } => self.apart(&mut one.steps, is_in_conversation),
            _ => self.steps(&mut one.steps, is_in_conversation),
        }
        one.expression().filter(|_| is_until).into_iter().for_each(|expression| self.expression(expression));
    }

    /// Checks the condition of a retry.
    fn after_failure(&mut self, after: Option<&AfterFailure>) {
        let condition = after.and_then(|after| after.retry.as_ref()?.condition.as_ref());
        condition.into_iter().for_each(|condition| self.expression(condition));
    }

    /// Checks alternative paths of which one is taken: each begins with the current names.
    fn aside(&mut self, ways: &mut [&mut Vec<Step>], is_in_conversation: bool) {
        let mut all = Vec::new();
        for way in ways {
            let mark = self.log.len();
            self.steps(way, is_in_conversation);
            all.extend(self.forget(mark));
        }
        all.into_iter().for_each(|name| self.take(name));
    }

    fn apart(&mut self, steps: &mut [Step], is_in_conversation: bool) {
        let mut all = Vec::new();
        for step in steps {
            let mark = self.log.len();
            self.step(step, is_in_conversation);
            all.extend(self.forget(mark));
        }
        all.into_iter().for_each(|name| self.take(name));
    }

    /// Whether a name is an argument of the fragment around.
    fn is_argument(&self, name: &str) -> bool {
        self.args.last().is_some_and(|args| args.contains(name))
    }

    fn take(&mut self, name: String) {
        if self.taken.insert(name.clone()) {
            self.log.push(name);
        }
    }

    /// Removes the names that were extracted since the mark.
    fn forget(&mut self, mark: usize) -> Vec<String> {
        let names = self.log.split_off(mark);
        names.iter().for_each(|name| {
            self.taken.remove(name);
        });
        names
    }

    fn pattern(&mut self, pattern: &mut Pattern) {
        pattern.slots_mut().for_each(|slot| self.slot(slot));
    }

    fn slot(&mut self, slot: &mut Slot) {
        let at = Span::new(slot.at.start, slot.at.end);
        let is_value = slot.place == SlotContext::JsonValue;
        if slot.filling == Filling::Expression {
            self.words(&slot.text, at);
            return;
        }
        self.filling(&mut slot.filling, at, is_value);
    }

    fn filling(&mut self, filling: &mut Filling, at: Span, is_value: bool) {
        match filling {
            Filling::Name(name) | Filling::Column(name, _) if self.is_argument(name) => {}
            Filling::Name(name) => {
                if let Some(function) = Function::from_name(name).filter(|function| function.is_bare())
                    && !self.declared.has(name)
                    && !self.taken.contains(name)
                {
                    *filling = Filling::Call(function, Vec::new());
                } else if Builtin::WORDS.contains(&name.as_str()) {
                    self.builtin(name, None, at);
                } else if self.declared.data.contains_key(name) && !is_value {
                    self.found.add(at, Problem::Name(NameFault::Row(name.clone())));
                } else {
                    self.name(name, at);
                }
            }
            Filling::Column(word, member) if Builtin::WORDS.contains(&word.as_str()) => {
                self.builtin(word, Some(member), at);
            }
            Filling::Column(set, column) => match self.declared.data.get(set) {
                Some(_) => self.column(set, column, at),
                None => self.name(set, at),
            },
            Filling::Call(_, arguments) => {
                for argument in arguments {
                    match argument {
                        Argument::Filling(inner) => self.filling(inner, at, false),
                        Argument::Expression(text) => self.words(text, at),
                        Argument::Text(_) | Argument::Integer(_) | Argument::Number(_) => {}
                    }
                }
            }
            Filling::Environment(_) | Filling::Expression => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        self.words(&expression.text, expression.at);
    }

    /// Checks the names and columns of an expression.
    fn words(&mut self, text: &str, at: Span) {
        let is_direct = at.end - at.start == text.len();
        let place = |range: Range<usize>| match is_direct {
            true => Span::new(at.start + range.start, at.start + range.end),
            false => at,
        };
        for (name, range) in expression::variables(text) {
            self.name(name, place(range));
        }
        for (set, column, range) in expression::lists(text) {
            self.list(set, column, place(range));
        }
        for (set, column, range) in expression::columns(text) {
            self.column(set, column, place(range));
        }
        for (word, member, range) in expression::builtins(text) {
            self.builtin(word, member, place(range));
        }
    }

    /// Checks a word of the program itself; a definition with its name was reported.
    fn builtin(&mut self, word: &str, member: Option<&str>, at: Span) {
        let fault = builtins::fault(word, member, self.known).filter(|_| !self.declared.seen.contains(word));
        fault.into_iter().for_each(|fault| self.found.add(at, fault));
    }

    /// Checks that a data set has the column, as far as its columns are known.
    fn column(&mut self, set: &str, column: &str, at: Span) {
        if self.declared.data.contains_key(set) && !self.used.contains_key(set) {
            self.used.insert(set.to_owned(), at);
        }
        let columns = self.declared.data.get(set).and_then(Option::as_ref);
        if !self.found.has_room() {
            // No further diagnostic is kept, so its details are not needed.
            return;
        }
        if let Some(fault) = self.declared.column_fault(set, columns, column) {
            self.found.add(at, fault);
        }
    }

    /// Checks that the data has a column that is used as a list, which takes no row.
    fn list(&mut self, set: &str, column: &str, at: Span) {
        let Some(columns) = self.declared.data.get(set) else {
            let fault = DataFault::NoList { set: crate::diagnostic::shortened(set) };
            self.found.add(at, Problem::Data(fault));
            return;
        };
        let fault = self.declared.column_fault(set, columns.as_ref(), column);
        fault.into_iter().for_each(|fault| self.found.add(at, fault));
    }

    /// Checks that a name has a value here.
    fn name(&mut self, name: &str, at: Span) {
        let declared = self.declared;
        let is_there =
            declared.vars.contains_key(name) || declared.data.contains_key(name) || self.taken.contains(name);
        let is_there = is_there || self.is_argument(name);
        let taken = declared.taken.get(name).map_or(&[][..], Vec::as_slice);
        // What gives it a value may be what was wrong.
        let is_reported = taken.is_empty() && declared.seen.contains(name);
        if is_there || is_reported {
            return;
        }
        if !self.found.has_room() {
            self.found.count();
            return;
        }
        let own = taken.iter().find(|(who, _)| *who == self.scenario);
        let fault = match (own, taken.first()) {
            (Some((_, line)), _) => Problem::Name(NameFault::Later { name: name.to_owned(), line: *line }),
            (None, Some((Some(scenario), _))) => {
                let scenario = declared.scenarios.get(*scenario).cloned().unwrap_or_default();
                Problem::Name(NameFault::Elsewhere { name: name.to_owned(), scenario })
            }
            (None, Some((None, line))) => Problem::Name(NameFault::Later { name: name.to_owned(), line: *line }),
            (None, None) => {
                let functions: Vec<&str> =
                    Function::all().filter(|function| function.is_bare()).map(Function::name).collect();
                declared.unknown(name, &functions)
            }
        };
        self.found.add(at, fault);
    }
}
