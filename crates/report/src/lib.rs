//! Views of what was measured: the live table, the summary, the JSON, in English and Chinese.
//!
//! They compute nothing new: every figure comes from a snapshot or from the result of the run, by [`figures`].

mod figures;
mod format;
mod json;
mod language;
mod say;
mod summary;
mod table;
mod words;

pub use figures::{Run, percentiles_of};
pub use json::Json;
pub use language::Language;
pub use say::{driver_error, failure_remedy, plan_error, resolve_error, run_error};
pub use summary::{nothing_measured, summary};
pub use table::Table;

#[cfg(test)]
mod tests;
