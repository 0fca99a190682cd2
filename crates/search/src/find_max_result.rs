//! The result of a search.

use std::time::Duration;

use crate::trial::Disturbance;
use crate::usl::Usl;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The bounds are close enough.
    Width,
    /// Noise prevents closer bounds in any sensible time.
    Noise,
    /// The time limit was reached.
    Budget,
    /// The most trials were made.
    Trials,
    /// The user stopped it.
    Stopped,
    /// The largest allowed load meets the goals.
    Most,
    /// The smallest load misses a goal.
    Least,
    /// No connection could be made any more.
    Gone,
    /// Nothing was lost, but there were too few requests to be sure.
    TooFew,
    /// The limit of this machine was reached before the target's.
    OwnLimit,
    /// Generator stalls may have caused the losses above the lower bound.
    Stalls,
}

impl SearchEnd {
    /// The stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Noise => "noise",
            Self::Budget => "budget",
            Self::Trials => "trials",
            Self::Stopped => "stopped",
            Self::Most => "most",
            Self::Least => "least",
            Self::Gone => "gone",
            Self::TooFew => "too_few",
            Self::OwnLimit => "own_limit",
            Self::Stalls => "stalls",
        }
    }
}

/// Noise: a lower load missed a goal, and a higher one met it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The load that missed.
    pub missed_at: f64,
    /// The load that met, as high or higher.
    pub met_at: f64,
}

/// Stalls of the target: nearly all losses are in a few pieces of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// The load.
    pub at: f64,
    /// The number of pieces with most of the losses.
    pub pieces: usize,
    /// The number of all pieces.
    pub of: usize,
    /// The length of a piece.
    pub bin: Duration,
}

/// A target that became slower under a constant load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slower {
    /// The load.
    pub at: f64,
    /// Mean response time of the first third, in seconds.
    pub first_s: f64,
    /// The same of the last third.
    pub last_s: f64,
}

/// A load with an unknown result: its trials lost too much, and generator stalls may be the cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown {
    /// The load.
    pub at: f64,
    /// Trials without a conclusion.
    pub trials: usize,
    /// The longest generator stall in them.
    pub stall: Duration,
}

/// A load that ran without losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// The load.
    pub at: f64,
    /// The total duration of trials without losses.
    pub span: Duration,
    /// The number of trials without losses.
    pub trials: usize,
    /// The number of all trials with this load.
    pub of: usize,
    /// Whether one of them had enough requests to show by itself that the goals are met.
    pub is_met: bool,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The highest sustained load.
    pub lower: Option<f64>,
    /// The lowest load that was not sustained; `None` when the target was not the bottleneck.
    pub upper: Option<f64>,
    /// Whether the lower bound was sustained for long.
    pub is_confirmed: bool,
    /// The last load that passed short trials, but not a long one.
    pub not_confirmed: Option<f64>,
    /// The limit of this machine.
    pub own_limit: Option<(f64, Disturbance)>,
    /// The lowest load above the lower bound whose result is unknown because of generator stalls.
    pub unknown: Option<Unknown>,
    /// The highest load that ran without a loss, below the known upper bound; whether or not it is a bound.
    pub ran: Option<Ran>,
    /// The name of the bottleneck.
    pub limit: &'static str,
    /// Why it ended.
    pub ended: SearchEnd,
    /// A contradiction in the results.
    pub noise: Option<Noise>,
    /// Whether the target became worse during the search: all misses came later.
    pub is_worse: bool,
    /// Occasional stalls of the target.
    pub stalls: Option<Stalls>,
    /// A slowdown of the target.
    pub slower: Option<Slower>,
    /// The longest time that the target needed to recover after a trial.
    pub recovered: Option<Duration>,
    /// The longest time without recovery after which waiting ended.
    pub not_recovered: Option<Duration>,
    /// A fitted law, if there are enough trials.
    pub law: Option<Usl>,
    /// The highest load that met the goals in a single trial, whether or not it is a bound.
    pub met: Option<f64>,
    /// How long it took.
    pub took: Duration,
}

impl SearchResult {
    /// The single figure for the capacity of the target: the middle of the bounds; the sustained load, where no load
    /// was too high; the load that ran without losses, where none was sustained.
    pub fn response(&self) -> Option<f64> {
        let middle = self.middle().map(|(middle, _)| middle);
        middle.or(self.lower).or(self.ran.map(|ran| ran.at))
    }

    /// Whether a load met the goals for sure: it was sustained, or a trial without losses was sufficient proof.
    pub fn has_met(&self) -> bool {
        self.lower.is_some() || self.ran.is_some_and(|ran| ran.is_met)
    }

    /// The middle of the bounds, and half of their width as a share of it.
    pub fn middle(&self) -> Option<(f64, f64)> {
        let (lower, upper) = (self.lower?, self.upper?);
        let middle = f64::midpoint(lower, upper);
        Some((middle, (upper - lower) / 2.0 / middle))
    }
}
