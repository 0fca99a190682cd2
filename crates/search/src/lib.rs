//! The search for the capacity of a target.
//!
//! A [`Search`] is a state machine: it returns the next load to try, takes the result, and has bounds of the highest
//! load that meets its goals. It owns no clock and starts nothing, so all of it runs in a simulated world. A [`Judge`]
//! evaluates one trial while it runs. [`Grid`] has the cells of a sweep; [`capacity`] the estimates that need no load.

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
