//! What a search has come to.

use std::time::Duration;

use crate::trial::Disturbance;
use crate::usl::Usl;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// Its bounds are close.
    Width,
    /// Noise leaves no closer bounds in any sensible time.
    Noise,
    /// Its time was over.
    Budget,
    /// It made as many trials as it may.
    Trials,
    /// Somebody stopped it.
    Stopped,
    /// The largest load that may be asked for meets the goals.
    Most,
    /// The smallest load misses a goal.
    Least,
    /// No connection could be made any more.
    Gone,
    /// Nothing was lost, and there were too few requests to be sure.
    TooFew,
    /// What this machine can do was reached before the target's limit.
    OwnLimit,
    /// Our own stalls may be what was lost above its lower bound.
    Stalls,
}

impl SearchEnd {
    /// A stable name for reports.
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

/// A lower load missed a goal, and a higher one met it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The load that missed.
    pub missed_at: f64,
    /// The load that met, as high or higher.
    pub met_at: f64,
}

/// Nearly all that was lost was lost in a few pieces of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// The load.
    pub at: f64,
    /// So many pieces had most of it.
    pub pieces: usize,
    /// Of so many.
    pub of: usize,
    /// How long a piece is.
    pub bin: Duration,
}

/// The target became slower while its load stayed the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slower {
    /// The load.
    pub at: f64,
    /// Mean response time of the first third, in seconds.
    pub first_s: f64,
    /// The same of the last third.
    pub last_s: f64,
}

/// Nobody knows whether a load is held: its trials lost too much, and our own stalls may be why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown {
    /// The load.
    pub at: f64,
    /// Trials that say nothing.
    pub trials: usize,
    /// The longest stall of ours in them.
    pub stall: Duration,
}

/// A load that ran and lost nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// The load.
    pub at: f64,
    /// How long trials ran that lost nothing.
    pub span: Duration,
    /// How many there were.
    pub trials: usize,
    /// Of so many with this load.
    pub of: usize,
    /// One of them had requests enough to show that the goals are met, by itself.
    pub is_met: bool,
}

/// What a search has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The highest load that was held.
    pub lower: Option<f64>,
    /// The lowest load that was not; nobody knows when the target was not the limit.
    pub upper: Option<f64>,
    /// The lower bound was held for long.
    pub is_confirmed: bool,
    /// The last load that was met in short trials, and was not when it was held for long.
    pub not_confirmed: Option<f64>,
    /// What this machine could not do.
    pub own_limit: Option<(f64, Disturbance)>,
    /// The lowest load above the lower bound of which our stalls let nobody know anything.
    pub unknown: Option<Unknown>,
    /// The highest load that ran without a loss, below what is known to be too much; whether that makes a bound or not.
    pub ran: Option<Ran>,
    /// The name of what was the limit.
    pub limit: &'static str,
    /// Why it ended.
    pub ended: SearchEnd,
    /// It contradicts itself.
    pub noise: Option<Noise>,
    /// The target became worse while it was looked at: whatever missed its goals came later.
    pub is_worse: bool,
    /// It stands still now and then.
    pub stalls: Option<Stalls>,
    /// It grew slower.
    pub slower: Option<Slower>,
    /// The longest time that the target needed after a trial until it was as before.
    pub recovered: Option<Duration>,
    /// The longest time after which it was not, and nobody waited any longer.
    pub not_recovered: Option<Duration>,
    /// A hint, where there are enough trials.
    pub law: Option<Usl>,
    /// The highest load that met the goals in a trial by itself, whether that makes a bound or not.
    pub met: Option<f64>,
    /// How long it took.
    pub took: Duration,
}

impl SearchResult {
    /// The one figure that answers how much the target takes: the middle of the bounds; what was held, where nothing was too much;
    /// what ran without a loss, where nothing was held.
    pub fn response(&self) -> Option<f64> {
        let middle = self.middle().map(|(middle, _)| middle);
        middle.or(self.lower).or(self.ran.map(|ran| ran.at))
    }

    /// Some load met the goals, and that is sure: it was held, or a trial that lost nothing was enough to show it.
    pub fn has_met(&self) -> bool {
        self.lower.is_some() || self.ran.is_some_and(|ran| ran.is_met)
    }

    /// The middle of its bounds, and half of their width as a share of it.
    pub fn middle(&self) -> Option<(f64, f64)> {
        let (lower, upper) = (self.lower?, self.upper?);
        let middle = f64::midpoint(lower, upper);
        Some((middle, (upper - lower) / 2.0 / middle))
    }
}
