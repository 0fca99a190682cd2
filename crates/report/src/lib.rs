//! Views of what was measured: the live table, the summary, the JSON, in English and Chinese.
//!
//! They only show: every figure is a value of [`figures`]. Nothing here merges, reads a clock, or asks the machine.

mod capacity;
mod doctor;
mod exchanges;
mod format;
mod hdr;
mod held;
mod json;
mod language;
mod notes;
mod page;
mod say;
mod steps;
mod summary;
mod table;
mod tools;
mod verdict;
mod words;

pub use capacity::limit_warning;
pub use doctor::Checkup;
pub use exchanges::{Showing, exchange_in_full, failed_answers, has_answers};
pub use hdr::{HdrLog, hdr_text};
pub use held::{HoldJson, HoldTable, hold_summary, nothing_held};
pub use json::Json;
pub use language::Language;
pub use notes::note_text;
pub use say::{
    driver_error, failure_remedy, plan_error, reflect_error, resolve_error, run_error, threshold_error, tls_error,
};
pub use summary::{nothing_measured, summary};
pub use table::Table;
pub use tools::{Pages, ToolView, tool_fault, tool_note};
pub use verdict::threshold_line;

#[cfg(test)]
mod tests;
