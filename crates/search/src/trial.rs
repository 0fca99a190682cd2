//! One trial of a search: its order and its result.

use std::time::Duration;

use metrics::GoalMisses;

/// The purpose of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A short one, to find out where to search.
    Look,
    /// A full one: several of them make a bound.
    Full,
    /// A long one, to confirm the lower bound.
    Confirm,
}

impl Purpose {
    /// The stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Full => "full",
            Self::Confirm => "confirm",
        }
    }
}

/// The order of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialOrder {
    /// Its number; the first is 1.
    pub number: usize,
    /// The load: starts per second, users or connections.
    pub at: f64,
    /// The purpose.
    pub purpose: Purpose,
    /// The duration of the warm-up.
    pub warmup: Duration,
    /// The measured time, unless it is extended.
    pub span: Duration,
    /// The longest measured time.
    pub span_max: Duration,
    /// The length of the pieces of its time.
    pub bin: Duration,
}

/// The result of a trial, or of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It meets all goals.
    Met,
    /// It misses one.
    Missed,
    /// Noise leaves that undecided.
    Undecided,
}

impl Class {
    /// The stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
        }
    }
}

/// The bottleneck of a trial that proves nothing of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The threads of the generator.
    Generator,
    /// Stalls of our threads, which may have caused its losses, or helped it.
    Stalls,
    /// The local ports or descriptors of this machine.
    PortsOrDescriptors,
    /// The network interface.
    Link,
    /// The connections of the load, which are too few for the rate.
    Users,
}

impl Disturbance {
    /// The stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stalls => "stalls",
            _ => self.limit(),
        }
    }

    /// The name as a bottleneck of a run.
    pub fn limit(self) -> &'static str {
        match self {
            Self::Generator | Self::Stalls => "generator",
            Self::PortsOrDescriptors => "ports_or_descriptors",
            Self::Link => "link",
            Self::Users => "users",
        }
    }
}

/// The result of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialOutcome {
    /// The pieces.
    pub tally: crate::Tally,
    /// Why it proves nothing of the target, if so.
    pub fault: Option<Disturbance>,
    /// The longest generator stall.
    pub stall: Duration,
    /// The measured time.
    pub measured: Duration,
    /// Completed exchanges per second.
    pub done_per_s: f64,
    /// The median of the response times of successes, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// The bottleneck, by its stable name.
    pub limit: &'static str,
    /// The path of the run.
    pub kept_as: Option<String>,
    /// Whether the user stopped it.
    pub was_stopped: bool,
    /// Whether no connection could be made.
    pub is_gone: bool,
    /// Whether all connections were held, for held connections, which need no statistics.
    pub is_held: Option<bool>,
}

/// A finished trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The order.
    pub order: TrialOrder,
    /// Its begin, since the beginning of the search.
    pub began: Duration,
    /// The result.
    pub outcome: TrialOutcome,
    /// The losses per goal.
    pub lost: Vec<GoalMisses>,
    /// The result by itself.
    pub class: Class,
    /// Whether it lost more than a goal allows, certain or not.
    pub is_above: bool,
    /// Whether it lost no more than is allowed, but the backlog grew so fast that it would have.
    pub is_piling_up: bool,
    /// How long the target needed to recover afterwards; `None` without a check.
    pub recovered: Option<Duration>,
    /// How long the target had not recovered when waiting ended.
    pub not_recovered: Option<Duration>,
}
