//! The results of an interval and of a run, as plain values: computed once from a merged snapshot, read by every
//! view.
//!
//! Nothing here reads a clock or the kernel, and nothing contains text for people. Facts of the machine are given as
//! [`HostFacts`] and [`Kernel`] (`cli/src/session/machine.rs` reads them). A value owns all its data, so that it can be
//! shared, kept and sent.
//!
//! - `Interval`: its counts and those since the start (`Tally`), rates, response times, scenarios with their steps;
//!   `added` is the part that was not reported before
//! - `Run`: the same of a whole run, times by class, judged thresholds, the verdict, notes, messages of servers;
//!   `recorded` has the histograms, for views that need more than percentiles
//! - `HeldInterval`, `Held`: the same of held connections. Tables of failures, times and host facts are shared.
//! - `GAUGES`: values at the end of an interval, a row for each
//! - `Times`: count, minimum, mean and percentiles, with requests that did not complete; `Spread` where no percentile
//!   is needed
//! - `Charts`: the series of a run over time, thinned to a bounded number of points and bytes: sums, histograms
//!   and marks
//! - `Watch`: which limits deserve a note while a load runs. It says which kernel figures it `wants`, and gets them.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod acks;
mod addresses;
mod changed;
mod charts;
mod each;
mod gauge;
mod held;
mod interval;
mod iterations;
mod live_totals;
mod parts;
mod requested;
mod run;
mod stalls;
mod tally;
#[cfg(test)]
mod tests;
mod threshold_result;
mod times;
mod watch;

pub use addresses::{AddressFigures, AddressOf, AddressOutlier};
pub use changed::{Changed, ChangedTo};
pub use charts::{Charts, Mark, PartName, PartPoint, Point, PointTimes, Range};
pub use each::{HeldBy, ScenarioRun};
pub use gauge::{GAUGES, Gauge};
pub use held::{Held, HeldInput, HeldInterval, HeldTally, MessageShortfall, ShortfallReason};
pub use interval::{Added, Interval};
pub use iterations::Iterations;
pub use live_totals::LiveTotals;
pub use parts::{CheckPart, FigurePart, ScenarioPart, StepPart};
pub use run::{Close, HostFacts, QueueingDelay, Recorded, Run, RunInput};
pub use stalls::{CoordinatedOmission, StallImpact};
pub use tally::{FailureCount, Tally};
pub use threshold_result::{ThresholdResult, seen_of_part};
pub use times::{Bar, ClassTimes, MeasureTimes, PercentileValue, Quantile, Spread, Times, UnreliableMarks, histogram};
pub use watch::{Kernel, Note, Ports, Wants, Watch};

/// A count per second; 0 when there was no time.
pub fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
