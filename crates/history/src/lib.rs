//! Saved runs: each is a folder of files, which can be read, copied and put under version control; there is no
//! database.
//!
//! - `run.json`: the [`Card`], a few lines with the plan and the result of the run; lists are made of these alone
//! - `report.json`: the JSON report; `charts.json`: the data of its charts; `report.html`: both as a page
//! - other files of the command line: percentiles, the scenario file
//!
//! This crate stores and finds runs (`folder`, `card`), compares the reports of two sides with their noise
//! (`compare`, `statistics`), evaluates `--fail-if` (`fail_if`), and finds the run at which a series changed
//! (`trend`). It contains no texts for people.

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
