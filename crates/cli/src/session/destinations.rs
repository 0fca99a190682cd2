//! Where the results of a load go, or those of held connections.

use report::Language;
use serde_json::Value;

use crate::output::{self, Wrote};
use crate::session::artifacts::Keeping;
use crate::session::dashboards::Dashboards;
use crate::session::files::{Files, NotWritten};

/// The destinations of the results.
pub(crate) struct Destinations {
    pub(crate) language: Language,
    /// Whether stdout has the JSON report.
    pub(crate) is_json: bool,
    /// How far stdout was written.
    pub(crate) wrote: Wrote,
    /// Whether a file could not be written.
    pub(crate) has_lost: bool,
    pub(crate) files: Files,
    pub(crate) keeping: Keeping,
    pub(crate) watching: Dashboards,
}

impl Destinations {
    /// Whether any of them takes the report.
    pub(crate) fn takes_report(&self) -> bool {
        self.is_json || self.files.wants_json() || self.keeping.wants_any() || self.watching.is_on()
    }

    /// Writes the report everywhere; whether all was written, and whether the run is worse than its baseline.
    pub(crate) fn write(mut self, value: &Value, charts: &Value, times: &str) -> (Wrote, bool) {
        let json = if self.is_json || self.files.wants_json() { format!("{value:#}\n") } else { String::new() };
        if self.wrote == Wrote::All && self.is_json {
            self.wrote = output::write_stdout(&json, self.language);
        }
        let written = self.files.json(&json);
        self.report(written);
        self.watching.over(value, charts);
        let shows = self.wrote == Wrote::All && !self.is_json;
        let kept = self.keeping.finish((value, charts), times, shows, self.language);
        let wrote = if self.has_lost || kept.has_lost { Wrote::Failed } else { self.wrote };
        (wrote, kept.is_worse)
    }

    /// Notes whether a file was written.
    pub(crate) fn report(&mut self, written: Result<(), NotWritten>) {
        if let Err((path, error)) = written {
            output::complain(&output::cannot_write(&path, &error, self.language));
            self.has_lost = true;
        }
    }
}
