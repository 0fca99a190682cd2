//! Stored runs: each is a folder of files, which can be read, copied and put under version control; there is no
//! database.
//!
//! - `run.json`: the [`Card`], a summary of the run in a few lines; lists are made of these alone
//! - `report.json`: the JSON report; `charts.json`: the data of its charts; `report.html`: both as a page
//! - the other files that the command line stores: percentiles, the scenario file
//!
//! This crate stores and finds runs, compares two reports, and finds the change points of a series of runs. Nothing
//! here is put into words.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod card;
mod compare;
mod fail_if;
mod folder;
mod statistics;
mod trend;

pub use card::{CARD_VERSION, Card};
pub use compare::{Comparison, Difference, FIGURES, Figure, Side, compare, is_hold};
pub use fail_if::{FailIf, FailIfError, Ruling};
pub use folder::{Damage, HistoryError, Listed, RunFolder, Runs};
pub use trend::{Change, TREND_RUNS_MIN, changes};
