//! Tests of the load generator itself: real loads against our own target with known delays, a freeze, a share of
//! errors and slow bodies; every figure is compared with theory or with the target's own count.
//!
//! [`run`] does it on a driver that works here and gives a [`Row`] for each figure; [`table`] shows them.
//! [`simulate`] does the same in virtual time, without the influence of a machine: there all of them must be right.
//! The [`SimulatedWorld`] takes other loads too.

mod loads;
mod table;
mod world;

use driver::sim::Faults;
use driver::{Choice, DriverSelection, Kind};
use engine::RunError;
use plan::PlanError;
use target::ServeError;

pub use table::table;
use world::RealWorld;
pub use world::{Happens, SimulatedWorld};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// A number, exact.
    Count,
    /// A rate per second.
    PerSecond,
}

/// A measured figure and its expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The driver that ran: `uring`, `poll`, or `sim` where time is virtual.
    pub driver: &'static str,
    /// The load, in English and Chinese.
    pub load: (&'static str, &'static str),
    /// The figure, in English and Chinese.
    pub figure: (&'static str, &'static str),
    /// The unit of the figure.
    pub unit: Unit,
    /// The expected value.
    pub expected: f64,
    /// The measured value.
    pub measured: f64,
    /// The allowed deviation: timers and wake-ups of the system are no more exact.
    pub tolerance: f64,
}

impl Row {
    /// Whether the deviation is within the tolerance.
    pub fn passes(&self) -> bool {
        (self.measured - self.expected).abs() <= self.tolerance
    }
}

/// Why the self-test could not run.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    /// No driver works, or not the requested one; or one failed.
    #[error(transparent)]
    Driver(#[from] std::io::Error),
    /// The target does not start.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A load does not start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A plan of the self-test is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The drivers that work here: both, or the requested one.
///
/// # Errors
/// The requested driver does not work.
pub fn drivers(choice: Choice) -> Result<Vec<DriverSelection>, std::io::Error> {
    if choice != Choice::Auto {
        return Ok(vec![driver::choose(choice)?]);
    }
    let chosen = driver::choose(Choice::Auto)?;
    let is_uring = chosen.kind == Kind::Uring;
    let mut all = vec![chosen];
    if is_uring {
        all.push(driver::choose(Choice::Poll)?);
    }
    Ok(all)
}

/// Runs all loads on a driver, and reports each row as soon as it is known.
///
/// # Errors
/// The system gives no socket or no thread.
pub fn run(driver: &DriverSelection, notify: &mut dyn FnMut(&Row)) -> Result<(), SelftestError> {
    loads::Bench { world: RealWorld::new(driver), notify }.all()
}

/// The same loads in a simulated network with these faults; the same seed gives the same figures.
///
/// # Errors
/// A simulated driver does not work.
pub fn simulate(seed: u64, faults: Faults, notify: &mut dyn FnMut(&Row)) -> Result<(), SelftestError> {
    loads::Bench { world: SimulatedWorld::new(seed, faults), notify }.all()
}
