//! How much a target takes.
//!
//! A [`Search`] is a machine: it says which load is tried next, hears what came of it, and has bounds of the highest load that
//! meets its goals. It owns no clock and starts nothing, so the whole of it runs in a simulated world. A [`Judge`] looks at one
//! trial while it runs. [`Grid`] has the cells of a sweep; [`capacity`] the arithmetic that needs no load.

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod capacity;
mod find_max_result;
mod grid;
mod judge;
mod own;
mod search;
mod statistics;
pub mod sweep_result;
mod tally;
mod trial;
mod usl;

pub use find_max_result::{Noise, Ran, SearchEnd, SearchResult, Slower, Stalls, Unknown};
pub use grid::{CELLS_MAX, Cell, Grid, GridError, REPEAT_MAX, Vary};
pub use judge::{Go, Judge};
pub use own::{Mark, OwnEffects, TimePiece, TrialEnding};
pub use search::{Search, Settings, Step, WIDTH};
pub use tally::{Backlog, Bin, Moments, Tally};
pub use trial::{Class, Disturbance, Purpose, Trial, TrialOrder, TrialOutcome};
pub use usl::{POINTS_MIN, Usl};
