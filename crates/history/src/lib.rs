//! Runs that are kept: each is a folder of files, which can be read, copied and put under version control; there is no
//! database.
//!
//! - `run.json`: the [`Card`], a few lines that say what the run was and came to; lists are made of these alone
//! - `report.json`: the JSON report; `charts.json`: what its charts show; `report.html`: both as a page
//! - whatever else the command line keeps: percentiles, the scenario file
//!
//! Here is how runs are kept and found, what two reports differ in, and where a series of runs changed. Nothing here is
//! written in words.

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
