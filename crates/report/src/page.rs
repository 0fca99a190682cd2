//! Common parts of the pages of a load and of a hold: labelled lines, times in columns, failures with their remedies.

use std::fmt::Write;

use figures::{FailureCount, PercentileValue, Quantile, Times};
use metrics::Failure;
use unicode_width::UnicodeWidthStr;

use crate::Language;
use crate::format::{Align, pad, time};
use crate::messages::{self, FailureContext};
use crate::screen::{Paint, Screen};
use crate::wrap::{wrap, wrap_items};

pub(crate) const LABEL_WIDTH: usize = 14;
/// On an even narrower terminal, wrapping is left to the terminal.
const VALUE_WIDTH_MIN: usize = 20;
const TIME_WIDTH_MIN: usize = 9;
/// Columns of times that a narrow terminal omits, in this order: stdev, p95, p90, min, p99.9, mean.
const TIMES_DISPENSABLE: [usize; 6] = [2, 5, 4, 0, 7, 1];

/// A percentile in the form of all tables.
pub(crate) fn percentile(times: &Times, quantile: Quantile) -> String {
    times.at(quantile).map_or("-".to_owned(), known)
}

/// The same, with a `!` where stalls of the generator may have caused it.
pub(crate) fn marked(times: &Times, quantile: Quantile) -> String {
    times.at(quantile).map_or("-".to_owned(), |at| format!("{}{}", known(at), if at.is_unreliable { "!" } else { "" }))
}

fn known(at: PercentileValue) -> String {
    format!("{}{}", if at.at_least { ">=" } else { "" }, time(at.ns as f64))
}

/// A page that grows line by line.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) screen: Screen,
}

impl Page {
    pub(crate) fn new(screen: Screen) -> Self {
        Self { text: String::new(), screen }
    }

    pub(crate) fn language(&self) -> Language {
        self.screen.language
    }

    pub(crate) fn line(&mut self, label: &str, value: &str) {
        self.painted(label, value, Paint::Plain);
    }

    /// Adds a label and its line, each in English and in Chinese.
    pub(crate) fn say(&mut self, label: (&str, &str), en: String, zh: String) {
        let value = self.language().pick(en, zh);
        self.line(self.language().pick(label.0, label.1), &value);
    }

    /// Adds a line that the user must not overlook.
    pub(crate) fn warn(&mut self, label: &str, value: &str) {
        self.painted(label, value, Paint::Bad);
    }

    /// Adds a line that wraps where the terminal is narrow.
    pub(crate) fn painted(&mut self, label: &str, value: &str, paint: Paint) {
        let lines = match self.value_columns() {
            Some(columns) => wrap(value, columns),
            None => vec![value.to_owned()],
        };
        self.lines(label, &lines, paint);
    }

    /// Adds items, none of which is split.
    pub(crate) fn items(&mut self, label: &str, items: &[String], between: &str) {
        let lines = wrap_items(items, between, self.value_columns().unwrap_or(usize::MAX));
        self.lines(label, &lines, Paint::Plain);
    }

    fn lines(&mut self, label: &str, lines: &[String], paint: Paint) {
        let mut label = label;
        for line in lines {
            let value = self.screen.paint(line, paint);
            self.raw(label, &value);
            label = "";
        }
    }

    /// Adds a short line unchanged, painted or not.
    pub(crate) fn raw(&mut self, label: &str, value: &str) {
        let text = format!("{}{value}", pad(label, LABEL_WIDTH, Align::Left));
        writeln!(self.text, "{}", text.trim_end()).expect("writing to a string does not fail");
    }

    /// The columns available beside a label.
    pub(crate) fn value_columns(&self) -> Option<usize> {
        self.screen.columns().map(|columns| columns.saturating_sub(LABEL_WIDTH).max(VALUE_WIDTH_MIN))
    }

    /// Adds failures with their remedies, in the given order, and the sections of the docs that explain them. `link`:
    /// the text between the two. `context`: the circumstances of each failure.
    pub(crate) fn failures<'a>(
        &mut self,
        label: &str,
        all: &[&FailureCount],
        context: impl Fn(Failure) -> FailureContext<'a>,
        link: &str,
    ) {
        let mut sections: Vec<&str> = Vec::new();
        for (index, each) in all.iter().enumerate() {
            let context = context(each.failure);
            let said = messages::failure_counted(each, &context, self.language());
            let remedy = messages::remedy_in(each.failure, &context, self.language());
            self.warn(if index == 0 { label } else { "" }, &format!("{said}{link}{remedy}"));
            if let Some(section) =
                messages::section(each.failure, &context).filter(|section| !sections.contains(section))
            {
                sections.push(section);
            }
        }
        if !sections.is_empty() {
            self.line("", &messages::more(&sections, self.language()));
        }
    }

    /// Adds a table of times, one line for each name, with as many columns as fit.
    pub(crate) fn times(&mut self, rows: &[(&str, &Times)]) {
        let (heads, names) = (self.language().words(), Quantile::ALL.map(Quantile::name));
        let mut columns: Vec<Vec<String>> = [heads.min, heads.mean, heads.stdev]
            .into_iter()
            .chain(names[..names.len() - 1].iter().copied())
            .chain([heads.max])
            .map(|name| vec![name.to_owned()])
            .collect();
        for (_, times) in rows {
            let cells = summed(times).into_iter().chain(percentiles(times));
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        }
        let widest = columns.iter().flatten().map(|cell| cell.width()).max().unwrap_or(0);
        let width = (widest + 2).max(TIME_WIDTH_MIN);
        let dispensable = TIMES_DISPENSABLE.iter().copied();
        let fits = |columns: usize| self.value_columns().is_none_or(|room| columns * width <= room);
        let mut left_out = Vec::new();
        for column in dispensable {
            if fits(columns.len() - left_out.len()) {
                break;
            }
            left_out.push(column);
        }
        let kept: Vec<&Vec<String>> = columns
            .iter()
            .enumerate()
            .filter(|(index, _)| !left_out.contains(index))
            .map(|(_, column)| column)
            .collect();
        let labels = std::iter::once("").chain(rows.iter().map(|(name, _)| *name));
        for (number, label) in labels.enumerate() {
            let row: String = kept.iter().map(|column| pad(&column[number], width, Align::Right)).collect();
            writeln!(self.text, "{}{row}", pad(label, LABEL_WIDTH, Align::Left))
                .expect("writing to a string does not fail");
        }
    }
}

/// The minimum, the mean and the deviation of a row.
fn summed(times: &Times) -> [String; 3] {
    let plain = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
    let is_open_ended = times.incomplete > 0;
    let mean = format!("{}{}", if is_open_ended { ">=" } else { "" }, plain(times.mean_lower_bound_ns));
    // The deviation of incomplete times is unknown.
    let stdev = plain(times.stdev_ns.filter(|_| !is_open_ended));
    // A request incomplete before the first response might have been answered later than it.
    let is_least = times.min_lower_bound_ns.is_some() && times.min_ns != times.min_lower_bound_ns;
    let min = format!("{}{}", if is_least { ">=" } else { "" }, plain(times.min_lower_bound_ns.map(|ns| ns as f64)));
    [min, mean, stdev]
}

/// The percentiles of a row. A `!` marks those that stalls of the generator may have caused.
fn percentiles(times: &Times) -> impl Iterator<Item = String> + '_ {
    Quantile::ALL.into_iter().map(|quantile| marked(times, quantile))
}
