//! The errors found in one cell, with the figures.

use serde_json::Value;

use crate::run::Ran;

#[derive(Default)]
pub(crate) struct Complaints(pub(crate) Vec<String>);

impl Complaints {
    pub(crate) fn unless(&mut self, holds: bool, complaint: impl FnOnce() -> String) {
        if !holds {
            self.0.push(complaint());
        }
    }

    /// A figure of the report; a missing one is an error, too.
    pub(crate) fn field<'a>(&mut self, ran: &'a Ran, path: &str) -> Option<&'a Value> {
        let value = ran.report.pointer(path);
        self.unless(value.is_some(), || format!("the report has no {path}"));
        value
    }
}
