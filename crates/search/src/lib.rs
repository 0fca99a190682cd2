//! How much load a target takes.
//!
//! A [`Search`] is a machine: `next` gives the next load to try, `received` takes its result, and it narrows down
//! the highest load that meets its goals. It owns no clock and starts nothing, so whole searches run in a second
//! (`tests/theory`), and with the real engine in simulated worlds (`tests/simulated`). A [`Judge`] judges one trial
//! while it runs: it ends it early when the result is certain, and extends it when it is not. [`Grid`] has the
//! cells of a sweep; [`capacity`] the arithmetic that needs no load.
//!
//! - A goal is a share of requests that may be lost (`metrics::threshold::goal_misses`). `tally` has the losses of a trial,
//!   piece by piece, and the bounds of the true share: Wilson's interval for the effective number of observations, by
//!   batch means (`statistics`); and the share of requests that piled up.
//! - `own` decides what the load generator caused in a trial: whether its starts kept to the plan, which pieces of
//!   time a stall touched, and whether a stall may explain the losses.
//! - `search/looks` raises the load in large steps; `search/points` has the tried loads and picks the next one, after
//!   a failure first a load that looked well, so that there is a lower bound early; `search/facts`: noise, stalls,
//!   and a target that becomes slower.
//! - `grid`: the cells of a sweep; `usl`: the Universal Scalability Law; `capacity`: capacity planning.
//!
//! The command line carries them out (`cli/src/commands/find_max.rs`, `sweep.rs`): `session/wrapped_command.rs` splits their
//! flags from those of the load, `commands/headless.rs` runs a load without views and saves it,
//! `session/experiment_output.rs` displays both.

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
