//! Bases of verdicts: every conclusion has its evidence, with figures.

use pacing::Nanos;

use crate::probed::NotTried;

/// Basis of a conclusion.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// Counters.
    Counts,
    /// The users of a closed load kept their pace, and the target had little of their time.
    PaceHeld(PaceHeld),
    /// A probe: half of the users went on alone after the measured time.
    Probe(UsersPart),
    /// Fewer of them were in flight for a part of the measured time.
    Curve(UsersPart),
    /// All users began at once, and the first request of each took this share of the time of later ones: a queue filled
    /// up.
    FirstRound(f64),
    /// The target stalled: it sent no response at all for a while.
    StoodStill(Gaps),
    /// It refused every connection for a while.
    Outage(Gaps),
    /// Connections were open only after their SYN had been sent again.
    LostSyns {
        /// Number of those connections.
        lost: u64,
        /// All established connections.
        of: u64,
    },
    /// Some requests took more than half as long as the load, while other users had many responses.
    Starved {
        /// Number of those requests.
        requests: u64,
        /// Users of the load.
        of: u64,
    },
    /// Some responses had a status that means overload.
    Refusals {
        /// The status: 429, 502, 503 or 504.
        status: u16,
        /// Refused requests.
        refused: u64,
        /// The rate of the served requests.
        served_per_s: f64,
    },
    /// Requests waited for one of some connections.
    Waits {
        /// Number of connections.
        connections: u64,
        /// The share of their time spent waiting.
        share: f64,
    },
    /// It is unknown, for this reason.
    Nothing(Unknown),
}

impl Basis {
    /// A stable name for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::PaceHeld(_) => "held",
            Self::Probe(_) => "probe",
            Self::Curve(_) => "curve",
            Self::FirstRound(_) => "first_round",
            Self::StoodStill(_) => "stalled",
            Self::Outage(_) => "outage",
            Self::LostSyns { .. } => "lost_syns",
            Self::Starved { .. } => "starved",
            Self::Refusals { .. } => "refusals",
            Self::Waits { .. } => "waits",
            Self::Nothing(_) => "none",
        }
    }
}

/// Users that kept their pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceHeld {
    /// Users, on average.
    pub users: f64,
    /// Iterations of all of them per second.
    pub iterations_per_s: f64,
    /// Mean duration of an iteration, with pauses.
    pub iteration_ns: f64,
    /// The part of it spent on the target.
    pub target_ns: f64,
}

/// Figures of a part of the users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsersPart {
    /// Size of the part, as a share of the users.
    pub kept: f64,
    /// Its share of the rate.
    pub rate: f64,
    /// Its share of the response time, where that was measured.
    pub time: Option<f64>,
    /// The excess was refused before: the part's successes were all that there were.
    pub is_refused: bool,
}

/// Gaps in which nothing came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// When the longest began, counted from the beginning of the measured time.
    pub from: Nanos,
    /// When the longest ended.
    pub to: Nanos,
    /// Number of gaps.
    pub count: u64,
    /// Their total duration.
    pub sum: Nanos,
    /// Connections that were refused in them.
    pub refused: u64,
    /// A response came after the longest.
    pub came_back: bool,
}

/// Why the bottleneck is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// Too little was measured.
    TooLittle,
    /// Fewer users were not tried.
    NotTried(NotTried),
    /// The rate was not steady before the end.
    Unsteady,
    /// The rate of half of the users was too near to the middle for the number of responses.
    Unsure(UsersPart),
    /// Another share of their requests failed.
    Differing,
    /// Half of the users got too few responses in the available time.
    TooFewAnswers,
    /// Starts waited for one of the connections, and their number was the same from the beginning.
    AllBusy {
        /// Number of connections.
        connections: u64,
    },
}

impl Unknown {
    /// A stable name for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLittle => "too_little",
            Self::NotTried(why) => why.name(),
            Self::Unsteady => "unsteady",
            Self::Unsure(_) => "unsure",
            Self::Differing => "differing",
            Self::TooFewAnswers => "too_few_answers",
            Self::AllBusy { .. } => "all_busy",
        }
    }
}
