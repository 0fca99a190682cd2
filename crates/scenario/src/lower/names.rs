//! Resolution of names for the users of a scenario.

use std::collections::{HashMap, HashSet};

use plan::{Column, Expression, Filling, Meaning, Names, Pattern, PatternPart, Rendering, Slot, Unknown, Value};

use crate::expression;
use crate::file::{Action, Extract, File, Step};
use crate::source::Span;

/// The names of one scenario.
pub(crate) struct Naming<'a> {
    file: &'a File,
    environment: &'a dyn Fn(&str) -> Option<String>,
    numbers: HashMap<String, u32>,
    /// The variables in the order of their numbers, with their values at the begin of an iteration.
    variables: Vec<(String, Value)>,
    /// The number of variables that have a value from the beginning on.
    globals: usize,
    /// Global variables that are not constant: users draw them, or extract them from responses.
    changed: HashSet<u32>,
    columns: Vec<Column>,
    column_numbers: HashMap<(String, String), u32>,
    counters: Vec<String>,
    expressions: Vec<Expression>,
    /// The first position of each expression.
    places: Vec<Span>,
    /// Environment variables that are not set, and that an expression needs.
    pub(crate) unset: Vec<(String, Span)>,
    /// The current position.
    pub(crate) at: Span,
}

impl<'a> Naming<'a> {
    /// The names that are available to some lists of steps.
    pub(crate) fn new(
        file: &'a File,
        globals: &[(String, Value)],
        lists: &[&[Step]],
        environment: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut naming = Self {
            file,
            environment,
            numbers: HashMap::new(),
            variables: Vec::new(),
            globals: 0,
            changed: HashSet::new(),
            columns: Vec::new(),
            column_numbers: HashMap::new(),
            counters: Vec::new(),
            expressions: Vec::new(),
            places: Vec::new(),
            unset: Vec::new(),
            at: Span::default(),
        };
        globals.iter().for_each(|(name, value)| naming.add(name, value.clone()));
        naming.globals = naming.variables.len();
        let own = file.vars.iter().filter(|variable| variable.per_user);
        naming.changed = own.filter_map(|variable| naming.number(&variable.name.text)).collect();
        lists.iter().for_each(|steps| naming.add_taken(steps));
        naming
    }

    fn add(&mut self, name: &str, value: Value) {
        let next = self.variables.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(free) = self.numbers.entry(name.to_owned()) {
            free.insert(next);
            self.variables.push((name.to_owned(), value));
        }
    }

    fn add_taken(&mut self, steps: &[Step]) {
        for step in steps {
            let takes: &[Extract] = match &step.action {
                Action::Request(request) => &request.take,
                Action::Call(call) => &call.take,
                Action::Custom(custom) => &custom.take,
                Action::Receive(receive) => &receive.take,
                _ => &[],
            };
            for take in takes {
                self.changed.extend(self.number(&take.name.text));
                self.add(&take.name.text, Value::Null);
            }
            step.inner().into_iter().for_each(|steps| self.add_taken(steps));
        }
    }

    /// The number of a variable.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
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
            Filling::Environment(name) => (self.environment)(name).map(|text| Value::text(&text)),
            _ => None,
        }
    }

    /// A pattern with resolved slots.
    pub(crate) fn rendering(&mut self, pattern: &Pattern) -> Result<Rendering, Unknown> {
        let mut pattern = pattern.clone();
        for part in &mut pattern.parts {
            // A member of a variable is an expression for the evaluator.
            if let PatternPart::Slot(slot) = part
                && let Filling::Column(name, _) = &slot.filling
                && !self.file.data.iter().any(|set| set.name.text == *name)
            {
                slot.filling = Filling::Expression;
            }
        }
        Rendering::new(&pattern, self)
    }

    /// The number of an expression.
    pub(crate) fn expression_number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.expressions.iter().position(|known| known.text == text) {
            return known as u32;
        }
        for (set, name, _) in expression::columns(text) {
            if set != "env" {
                continue;
            }
            let value = (self.environment)(name);
            if value.is_none() && !expression::asks_whether(text) {
                self.unset.push((name.to_owned(), self.at));
            }
            self.add(&format!("env.{name}"), value.map_or(Value::Null, |value| Value::text(&value)));
        }
        let mut names: Vec<(String, Meaning)> = Vec::new();
        for (number, (name, _)) in self.variables.iter().enumerate() {
            names.push((name.clone(), Meaning::Variable(number as u32)));
        }
        for set in &self.file.data {
            for column in set.columns.iter().flatten() {
                if let Some(number) = Names::column(self, &set.name.text, column) {
                    names.push((format!("{}.{column}", set.name.text), Meaning::Column(number)));
                }
            }
        }
        self.expressions.push(Expression { text: text.to_owned(), names });
        self.places.push(self.at);
        self.expressions.len() as u32 - 1
    }

    /// The expressions with their positions.
    pub(crate) fn placed_expressions(&self) -> impl Iterator<Item = (&Expression, Span)> {
        self.expressions.iter().zip(self.places.iter().copied())
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
        let value = (self.environment)(name);
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
