//! Resolution of names for the users of a scenario.

use std::collections::{HashMap, HashSet};

use plan::{
    Argument, Builtin, Column, Expression, Filling, Meaning, Names, Pattern, PatternPart, Rendering, Slot, Unknown,
    Value,
};

use super::Outside;
use crate::diagnostic::{DataFault, Problem};
use crate::expression;
use crate::file::{Action, File, Step};
use crate::source::Span;

/// The names of one scenario.
pub(crate) struct Naming<'a> {
    file: &'a File,
    outside: &'a Outside<'a>,
    numbers: HashMap<String, u32>,
    /// The variables in the order of their numbers, with their values at the begin of an iteration.
    variables: Vec<(String, Value)>,
    /// The number of variables that have a value from the beginning on.
    globals: usize,
    /// Global variables that are not constant: users draw, extract or set them.
    changed: HashSet<u32>,
    columns: Vec<Column>,
    column_numbers: HashMap<(String, String), u32>,
    counters: Vec<String>,
    expressions: Vec<Expression>,
    /// Columns as lists, by the names that expressions have for them.
    lists: Vec<(String, Value)>,
    /// The first position of each expression, and the fragment around it.
    places: Vec<(Span, Option<String>)>,
    /// The fragments around, from the outside in.
    fragments: Vec<String>,
    /// Environment variables that are not set, and that an expression needs.
    pub(crate) unset: Vec<(String, Span)>,
    /// Other faults of expressions.
    pub(crate) faults: Vec<(Span, Problem)>,
    /// The current position.
    pub(crate) at: Span,
}

impl<'a> Naming<'a> {
    /// The names that are available to some lists of steps.
    pub(crate) fn new(
        file: &'a File,
        globals: &[(String, Value)],
        lists: &[&[Step]],
        outside: &'a Outside<'a>,
    ) -> Self {
        let mut naming = Self {
            file,
            outside,
            numbers: HashMap::new(),
            variables: Vec::new(),
            globals: 0,
            changed: HashSet::new(),
            columns: Vec::new(),
            column_numbers: HashMap::new(),
            counters: Vec::new(),
            expressions: Vec::new(),
            lists: Vec::new(),
            places: Vec::new(),
            fragments: Vec::new(),
            unset: Vec::new(),
            faults: Vec::new(),
            at: Span::default(),
        };
        globals.iter().for_each(|(name, value)| naming.add(name, value.clone()));
        naming.globals = naming.variables.len();
        let own = file.vars.iter().filter(|variable| variable.per_user);
        naming.changed = own.filter_map(|variable| naming.number(&variable.name.text)).collect();
        lists.iter().for_each(|steps| naming.add_filled(steps));
        naming
    }

    fn add(&mut self, name: &str, value: Value) {
        let next = self.variables.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(free) = self.numbers.entry(name.to_owned()) {
            free.insert(next);
            self.variables.push((name.to_owned(), value));
        }
    }

    fn add_filled(&mut self, steps: &[Step]) {
        for step in steps {
            if let Action::Do(call) = &step.action {
                let fragment = &call.fragment.text;
                call.args.iter().for_each(|(name, _)| self.add(&key_of(fragment, name), Value::Null));
            }
            for name in step.fills() {
                self.changed.extend(self.number(&name.text));
                self.add(&name.text, Value::Null);
            }
            step.inner().into_iter().for_each(|steps| self.add_filled(steps));
        }
    }

    /// The number of a variable: an argument of the fragment around, or one of the user.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        let argument = self.fragments.last().and_then(|fragment| self.argument(fragment, name));
        argument.or_else(|| self.numbers.get(name).copied())
    }

    /// The number of an argument of a fragment.
    pub(crate) fn argument(&self, fragment: &str, name: &str) -> Option<u32> {
        self.numbers.get(&key_of(fragment, name)).copied()
    }

    /// Names are those within a fragment from now on.
    pub(crate) fn enter(&mut self, fragment: &str) {
        self.fragments.push(fragment.to_owned());
    }

    /// Names are those around the fragment again.
    pub(crate) fn leave(&mut self) {
        self.fragments.pop();
    }

    /// Whether names are those of a fragment.
    pub(crate) fn is_in_fragment(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// The value of a slot that is constant for all users.
    pub(crate) fn constant(&self, slot: &Slot) -> Option<Value> {
        match &slot.filling {
            Filling::Name(name) => {
                let number = self.number(name)?;
                if number as usize >= self.globals || self.changed.contains(&number) {
                    return None;
                }
                Some(self.variables[number as usize].1.clone())
            }
            Filling::Environment(name) => (self.outside.environment)(name).map(|text| Value::text(&text)),
            _ => None,
        }
    }

    /// A pattern with resolved slots.
    pub(crate) fn rendering(&mut self, pattern: &Pattern) -> Result<Rendering, Unknown> {
        let mut pattern = pattern.clone();
        for part in &mut pattern.parts {
            // A member of a variable is an expression for the evaluator.
            let PatternPart::Slot(slot) = part else { continue };
            match &mut slot.filling {
                Filling::Column(name, _) if !self.has_rows(name) => slot.filling = Filling::Expression,
                Filling::Call(_, arguments) => self.find_members(arguments),
                _ => {}
            }
        }
        Rendering::new(&pattern, self)
    }

    /// Whether a name is that of a data set.
    fn has_rows(&self, name: &str) -> bool {
        self.file.data.iter().any(|set| set.name.text == name)
    }

    /// Members of variables among the arguments of a function are expressions too.
    fn find_members(&self, arguments: &mut [Argument]) {
        for argument in arguments {
            match argument {
                Argument::Filling(Filling::Column(name, member)) if !self.has_rows(name) => {
                    *argument = Argument::Expression(format!("{name}.{member}"));
                }
                Argument::Filling(Filling::Call(_, inner)) => self.find_members(inner),
                _ => {}
            }
        }
    }

    /// The number of an expression.
    pub(crate) fn expression_number(&mut self, text: &str) -> u32 {
        let lists: Vec<(String, u32)> =
            expression::lists(text).into_iter().map(|(set, column, _)| self.list(set, column)).collect();
        let text = &expression::without_lists(text);
        let fragment = self.fragments.last().cloned();
        let mut known = self.expressions.iter().zip(&self.places);
        if let Some(known) = known.position(|(known, (_, around))| known.text == *text && *around == fragment) {
            return known as u32;
        }
        for (set, name, _) in expression::columns(text) {
            if set != "env" {
                continue;
            }
            let value = (self.outside.environment)(name);
            if value.is_none() && !expression::asks_whether(text) {
                self.unset.push((name.to_owned(), self.at));
            }
            self.add(&format!("env.{name}"), value.map_or(Value::Null, |value| Value::text(&value)));
        }
        let mut names: Vec<(String, Meaning)> = Vec::new();
        for (number, (name, _)) in self.variables.iter().enumerate() {
            let (around, own) = name.strip_suffix(')').and_then(|name| name.split_once('(')).unzip();
            let meant = match own {
                Some(own) => (around == fragment.as_deref()).then_some(own),
                // An argument of this name comes before it.
                None => (self.number(name) == Some(number as u32)).then_some(name.as_str()),
            };
            names.extend(meant.map(|name| (name.to_owned(), Meaning::Variable(number as u32))));
        }
        for set in &self.file.data {
            for column in set.columns.iter().flatten() {
                if let Some(number) = Names::column(self, &set.name.text, column) {
                    names.push((format!("{}.{column}", set.name.text), Meaning::Column(number)));
                }
            }
        }
        names.extend(lists.into_iter().map(|(name, number)| (name, Meaning::Constant(number))));
        let words = expression::builtins(text);
        let is_used = |name: &str| words.iter().any(|(word, ..)| name.split('.').next() == Some(*word));
        let used = Builtin::ALL.iter().filter(|(name, _)| is_used(name));
        names.extend(used.map(|(name, builtin)| ((*name).to_owned(), Meaning::Builtin(*builtin))));
        self.expressions.push(Expression { text: text.to_owned(), names });
        self.places.push((self.at, fragment));
        self.expressions.len() as u32 - 1
    }

    /// The list of a column: its name in expressions, and its number among the constants.
    fn list(&mut self, set: &str, column: &str) -> (String, u32) {
        let name = expression::list_name(set, column);
        if let Some(known) = self.lists.iter().position(|(known, _)| *known == name) {
            return (name, known as u32);
        }
        let feed = self.file.data.iter().position(|one| one.name.text == set);
        let place = feed.and_then(|feed| self.file.data[feed].columns.as_ref()?.iter().position(|one| one == column));
        let value = match (self.outside.lists, feed.zip(place)) {
            (Some(lists), Some((feed, place))) => lists(feed, place),
            // Its rows are not read, as for a check of the file alone.
            _ => Ok(Value::Json("[]".into())),
        };
        let value = value.unwrap_or_else(|reason| {
            self.faults.push((self.at, Problem::Data(DataFault::Rows { reason })));
            Value::Null
        });
        self.lists.push((name.clone(), value));
        (name, self.lists.len() as u32 - 1)
    }

    /// The constants of expressions, by their numbers.
    pub(crate) fn constants(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.lists).into_iter().map(|(_, value)| value).collect()
    }

    /// The expressions with their positions.
    pub(crate) fn placed_expressions(&self) -> impl Iterator<Item = (&Expression, Span)> {
        self.expressions.iter().zip(self.places.iter().map(|(at, _)| *at))
    }

    pub(crate) fn variable_names(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The variables and the columns that the file declares secret.
    pub(crate) fn secrets(&mut self) -> (Vec<u32>, Vec<u32>) {
        let (file, mut variables, mut columns) = (self.file, Vec::new(), Vec::new());
        for secret in &file.secrets {
            let name = &secret.name.text;
            variables.extend(self.number(name).filter(|_| secret.column.is_none()));
            // A data set without a column is secret as a whole.
            let all =
                file.data.iter().filter(|set| set.name.text == *name).flat_map(|set| set.columns.iter().flatten());
            let meant = all.filter(|column| secret.column.as_ref().is_none_or(|one| one == *column));
            columns.extend(meant.filter_map(|column| Names::column(self, name, column)));
        }
        (variables, columns)
    }

    /// The state of users: variables, columns, expressions, and the number of counters.
    pub(crate) fn memory(&mut self) -> (Vec<Value>, Vec<Column>, Vec<Expression>, u32) {
        let values = self.variables.iter().map(|(_, value)| value.clone()).collect();
        let columns = std::mem::take(&mut self.columns);
        (values, columns, std::mem::take(&mut self.expressions), self.counters.len() as u32)
    }
}

/// The key of an argument among the variables; none of them has such a name.
fn key_of(fragment: &str, name: &str) -> String {
    format!("{fragment}({name})")
}

impl Names for Naming<'_> {
    fn variable(&mut self, name: &str) -> Option<u32> {
        self.number(name)
    }

    fn column(&mut self, row: &str, column: &str) -> Option<u32> {
        let key = (row.to_owned(), column.to_owned());
        if let Some(known) = self.column_numbers.get(&key) {
            return Some(*known);
        }
        let feed = self.file.data.iter().position(|set| set.name.text == row)?;
        let place = self.file.data[feed].columns.as_ref()?.iter().position(|known| known == column)?;
        let number = self.columns.len() as u32;
        self.columns.push(Column { feed: feed as u32, column: place as u32 });
        self.column_numbers.insert(key, number);
        Some(number)
    }

    fn environment(&mut self, name: &str) -> Option<String> {
        let value = (self.outside.environment)(name);
        if value.is_none() {
            self.unset.push((name.to_owned(), self.at));
        }
        // It is reported, and the rest is checked.
        Some(value.unwrap_or_default())
    }

    fn counter(&mut self, name: &str) -> u32 {
        let known = self.counters.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.counters.push(name.to_owned());
            self.counters.len() - 1
        }) as u32
    }

    fn expression(&mut self, text: &str) -> Option<u32> {
        Some(self.expression_number(text))
    }
}
