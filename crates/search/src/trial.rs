//! One trial of a search: what is asked for, and what came of it.

use std::time::Duration;

use metrics::GoalMisses;

/// Why a trial is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A short one, to find out where to look.
    Look,
    /// A full one: several of them make a bound.
    Full,
    /// The load that was found is held for long.
    Confirm,
}

impl Purpose {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Full => "full",
            Self::Confirm => "confirm",
        }
    }
}

/// A trial that is to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialOrder {
    /// The first is 1.
    pub number: usize,
    /// The load: starts a second, users or connections.
    pub at: f64,
    /// Why.
    pub purpose: Purpose,
    /// How long it is run before it is measured.
    pub warmup: Duration,
    /// How long it is measured, unless it goes on.
    pub span: Duration,
    /// How long it may be measured.
    pub span_max: Duration,
    /// The length of the pieces of its time.
    pub bin: Duration,
}

/// What a trial, or a load, has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It meets all goals.
    Met,
    /// It misses one.
    Missed,
    /// Noise leaves that open.
    Undecided,
}

impl Class {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
        }
    }
}

/// What was the limit of a trial that proves nothing of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Our threads could not do it.
    Generator,
    /// Our threads stood still now and then, and that may be what it lost, or what helped it.
    Stalls,
    /// This machine had no local port or no descriptor left.
    PortsOrDescriptors,
    /// The network interface was full.
    Link,
    /// The load names fewer connections than the rate needs.
    Users,
}

impl Disturbance {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stalls => "stalls",
            _ => self.limit(),
        }
    }

    /// The name that the limit of a run has.
    pub fn limit(self) -> &'static str {
        match self {
            Self::Generator | Self::Stalls => "generator",
            Self::PortsOrDescriptors => "ports_or_descriptors",
            Self::Link => "link",
            Self::Users => "users",
        }
    }
}

/// What came of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialOutcome {
    /// Piece by piece.
    pub tally: crate::Tally,
    /// It proves nothing of the target.
    pub fault: Option<Disturbance>,
    /// The longest stall of ours in it.
    pub stall: Duration,
    /// How long it was measured.
    pub measured: Duration,
    /// Exchanges that ended, a second.
    pub done_per_s: f64,
    /// Response times of what succeeded, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The same.
    pub p99_ns: Option<u64>,
    /// Who was the limit, by its stable name.
    pub limit: &'static str,
    /// Where the run is kept.
    pub kept_as: Option<String>,
    /// Somebody stopped it.
    pub was_stopped: bool,
    /// No connection could be made.
    pub is_gone: bool,
    /// Of connections that are held, which need no statistics: whether they were.
    pub is_held: Option<bool>,
}

/// A trial that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// As asked for.
    pub order: TrialOrder,
    /// Since the beginning of the search.
    pub began: Duration,
    /// What came of it.
    pub outcome: TrialOutcome,
    /// What it lost, goal by goal.
    pub lost: Vec<GoalMisses>,
    /// What it shows by itself.
    pub class: Class,
    /// It lost more than a goal allows, whether that is sure or not.
    pub is_above: bool,
    /// It lost no more than is allowed, but requests piled up so fast that it would have.
    pub is_piling_up: bool,
    /// How long the target needed afterwards until it was as before; `None` when nobody looked.
    pub recovered: Option<Duration>,
    /// It was not as before after this time, and nobody waited any longer.
    pub not_recovered: Option<Duration>,
}
