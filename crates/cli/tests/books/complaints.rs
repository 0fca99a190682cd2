//! What is wrong in one cell, with the figures.

use serde_json::Value;

use crate::run::Ran;

/// The figures of the report that are read here and that it does not have yet. `true` once it has them all.
pub(crate) const MUST_HAVE_ALL_FIELDS: bool = false;

#[derive(Default)]
pub(crate) struct Complaints(pub(crate) Vec<String>);

impl Complaints {
    pub(crate) fn unless(&mut self, holds: bool, complaint: impl FnOnce() -> String) {
        if !holds {
            self.0.push(complaint());
        }
    }

    /// A figure that old reports lack.
    pub(crate) fn new_field<'a>(&mut self, ran: &'a Ran, path: &str) -> Option<&'a Value> {
        let value = ran.report.pointer(path);
        self.unless(value.is_some() || !MUST_HAVE_ALL_FIELDS, || format!("the report has no {path}"));
        value
    }
}
