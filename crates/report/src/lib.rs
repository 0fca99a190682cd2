//! Views of results: the live table, the summary, JSON and HTML, in English and Chinese.
//!
//! They only display: every figure is a value of [`figures`]. Nothing here merges snapshots, reads a clock or asks
//! the machine (`xtask/tests/layers.rs` checks it).
//!
//! - `labels`, `messages`, `notes`, `verdict`: texts in both languages; `page`: shared by all text pages
//! - `screen`, `columns`, `wrap`: the width of the terminal; `screens/` has whole screens that tests expect
//! - `table`, `summary`, `steps`, `json`, `hdr`, `exchanges`: a load while it runs, at its end, and its bytes on the
//!   wire
//! - `held`: held connections; `doctor`: the limits of a machine
//! - `find_max_report`, `sweep_report`, `capacity_report`: searches, sweeps and capacity: JSON, from which text and
//!   pages are made
//! - `charts`: the data of charts, without texts; `html`: the offline page, made of the JSON report and of these, so
//!   that a saved run has its page in either language; style and scripts are in `assets`, without dependencies
//! - `history`: lists of saved runs, and comparisons; `about`: the settings of a run
//! - `tools`: the output of other load generators
//!
//! No output shows a secret unless asked to: views get a plan without secrets (`Plan::without_secrets`), messages go
//! through `secrets`, and known secret values are masked wherever they appear. Every text exists in both languages:
//! `Words` has one field for each text, `messages` matches every variant of an error, and a test visits every flag.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod about;
mod addresses;
mod barriers;
mod budget;
mod capacity_report;
mod changes;
mod charts;
mod columns;
mod compared;
mod doctor;
mod exchanges;
mod failed;
mod find_max_report;
pub mod format;
mod github;
mod hdr;
mod held;
mod history;
mod html;
mod json;
mod labels;
mod language;
mod limits;
mod live;
mod messages;
mod named_rows;
mod notes;
mod own_figures;
mod page;
mod progress;
mod request_records;
mod rows;
mod scenario_file;
mod screen;
mod steps;
mod summary;
mod sweep_report;
mod table;
mod texts;
mod tools;
mod verdict;
mod workers;
mod wrap;

pub use about::About;
pub use capacity_report::{capacity_error, capacity_json, capacity_text};
pub use changes::{change_line, change_text, change_value};
pub use charts::{Moment, charts_value, live_charts};
pub use compared::{comparison_json, comparison_table, fail_if_error, other_kind, ruling_line};
pub use doctor::Checkup;
pub use exchanges::{Showing, exchange_in_full, failed_responses, has_responses};
pub use find_max_report::{
    SearchInput, Varied, part_of_page, search_head, search_html, search_row, search_text, search_value,
};
pub use github::{github_annotations, github_hold_annotations, github_hold_page, github_page};
pub use hdr::{HdrLog, hdr_text};
pub use held::{hold_summary, live_hold_row, nothing_held};
pub use history::{history_error, history_json, history_table, plain_text, trend_text};
pub use html::{MARK_OF_PAGES, html_report};
pub use json::Json;
pub use language::Language;
pub use limits::limit_warning;
pub use live::{
    CHART_WORDS_ZH, CHARTS_MODULE, STYLE, failures_csv, hold_charts, intervals_csv, live_hold_plan, live_plan,
    live_point, live_value, page_charts, steps_csv,
};
pub use messages::{
    Doing, config_error, config_line, driver_error, export_error, export_left_out, extract_error, failure_remedy,
    feed_error, flag_fault, in_chinese, not_extracted, plan_error, reason_called, reflect_error, resolve_error,
    run_error, scenario_contents, scenario_mistakes, scenario_warnings, snapshot_error, system_fault, threshold_error,
    threshold_fault, tls_error, unconsented_hosts,
};
pub use notes::{note_so_far, note_text};
pub use progress::{Aim, begins, hold_begins};
pub use request_records::{LOG_COLUMNS, LogStyle, StepName, step_names, utc_stamp};
pub use scenario_file::{BinaryBody, ScenarioFile, messaging_scenario_file, scenario_file};
pub use screen::{Room, Screen};
pub use summary::{nothing_measured, summary};
pub use sweep_report::{SweepInput, grid_error, sweep_head, sweep_html, sweep_row, sweep_text, sweep_value};
pub use table::IntervalTable;
pub use tools::{Pages, ToolView, tool_fault, tool_note};
pub use verdict::threshold_line;
pub use workers::{live_workers, lost_holder, lost_worker};
pub use wrap::wrap;

#[cfg(test)]
mod tests;
