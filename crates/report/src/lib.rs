//! Views of what was measured: the live table, the summary, the JSON, in English and Chinese.
//!
//! They compute nothing new: every figure comes from a snapshot or from the result of the run, by [`figures`].

mod capacity;
mod doctor;
mod exchanges;
mod figures;
mod format;
mod hdr;
mod held;
mod json;
mod language;
mod say;
mod steps;
mod summary;
mod table;
mod tools;
mod verdict;
mod watch;
mod words;

pub use capacity::limit_warning;
pub use doctor::Checkup;
pub use exchanges::{Showing, exchange_in_full, failed_answers, has_answers};
pub use figures::{Run, percentiles_of};
pub use hdr::{HdrLog, hdr_text};
pub use held::{HoldJson, HoldRun, HoldTable, hold_summary, nothing_held};
pub use json::Json;
pub use language::Language;
pub use say::{
    driver_error, failure_remedy, plan_error, reflect_error, resolve_error, run_error, threshold_error, tls_error,
};
pub use summary::{nothing_measured, summary};
pub use table::Table;
pub use tools::{Pages, ToolView, tool_fault, tool_note};
pub use verdict::threshold_line;
pub use watch::{Note, Watch};

#[cfg(test)]
mod tests;
