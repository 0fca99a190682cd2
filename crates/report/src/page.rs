//! What the pages of a load and of held connections have in common: labelled lines, times in columns, failures with their remedies.

use std::fmt::Write;

use figures::{At, FailureCount, Quantile, Times};

use crate::Language;
use crate::format::{Align, count, pad, red, time};
use crate::say::{self, Scene};

pub(crate) const LABEL_WIDTH: usize = 14;

/// A percentile as all tables show it.
pub(crate) fn percentile(times: &Times, quantile: Quantile) -> String {
    times.at(quantile).map_or("-".to_owned(), known)
}

fn known(at: At) -> String {
    format!("{}{}", if at.at_least { ">=" } else { "" }, time(at.ns as f64))
}

/// A page that grows line by line.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) language: Language,
    pub(crate) is_colorful: bool,
}

impl Page {
    pub(crate) fn line(&mut self, label: &str, value: &str) {
        let label = pad(label, LABEL_WIDTH, Align::Left);
        writeln!(self.text, "{label}{value}").expect("writing to a string does not fail");
    }

    /// A label and its line, each in English and in Chinese.
    pub(crate) fn say(&mut self, label: (&str, &str), en: String, zh: String) {
        let value = self.language.pick(en, zh);
        self.line(self.language.pick(label.0, label.1), &value);
    }

    /// A line that a person must not overlook.
    pub(crate) fn warn(&mut self, label: &str, value: &str) {
        let value = if self.is_colorful { red(value) } else { value.to_owned() };
        self.line(label, &value);
    }

    /// Cells in columns of one width.
    pub(crate) fn cells<'a>(&mut self, label: &str, cells: impl IntoIterator<Item = &'a str>, width: usize) {
        let row: String = cells.into_iter().map(|cell| pad(cell, width, Align::Right)).collect();
        self.line(label, &row);
    }

    /// Failures with their remedies, as they come. `link`: what stands between the two.
    pub(crate) fn failures(&mut self, label: &str, all: &[&FailureCount], scene: &Scene<'_>, link: &str) {
        for (index, each) in all.iter().enumerate() {
            let name = say::failure_in(each.failure, scene, self.language);
            let remedy = say::remedy_in(each.failure, scene, self.language);
            self.warn(if index == 0 { label } else { "" }, &format!("{} {name}{link}{remedy}", count(each.count)));
        }
    }
}

/// The percentiles of a row. A `!` marks what our own stalls may have made.
pub(crate) fn percentiles(times: &Times) -> impl Iterator<Item = String> + '_ {
    times
        .named()
        .map(|(_, at)| at.map_or("-".to_owned(), |at| format!("{}{}", known(at), if at.is_spoiled { "!" } else { "" })))
}
