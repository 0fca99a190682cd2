//! How it is known who was the limit: every conclusion has its evidence, with figures.

use pacing::Nanos;

use crate::probed::NotTried;

/// How the conclusion is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// By what was counted.
    Counts,
    /// The users of a closed load did what they were asked to, and the target had little of their time.
    PaceHeld(PaceHeld),
    /// Half of the users went on alone when the measured time was over.
    Probe(UsersPart),
    /// There were fewer of them in flight for a part of the measured time.
    Curve(UsersPart),
    /// All users began at once, and the first request of each took this share of the time of later ones: a queue filled up.
    FirstRound(f64),
    /// The target gave no answer at all for a while.
    StoodStill(Gaps),
    /// It refused every connection for a while.
    Outage(Gaps),
    /// Connections were open only after their SYN had gone out again.
    LostSyns {
        /// How many.
        lost: u64,
        /// Of all that were established.
        of: u64,
    },
    /// Some requests took more than half as long as the load, while other users had many answers.
    Starved {
        /// How many.
        requests: u64,
        /// Users of the load.
        of: u64,
    },
    /// It answered some with a status that says that there is too much to do.
    Refusals {
        /// 429 or 503.
        status: u16,
        /// How many it refused.
        refused: u64,
        /// The rate of those that it served.
        served_per_s: f64,
    },
    /// Requests waited for one of some connections.
    Waits {
        /// How many connections there were.
        connections: u64,
        /// The share of their time.
        share: f64,
    },
    /// It is not known, and why.
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

/// Users that did what they were asked to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceHeld {
    /// How many, on average.
    pub users: f64,
    /// Iterations of all of them, a second.
    pub iterations_per_s: f64,
    /// How long one of them took on average, pauses too.
    pub iteration_ns: f64,
    /// What of that the target had.
    pub target_ns: f64,
}

/// What a part of the users says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsersPart {
    /// How large it was.
    pub kept: f64,
    /// Its share of the rate.
    pub rate: f64,
    /// Its share of the response time, where that was measured.
    pub time: Option<f64>,
    /// What was beyond it was refused before: its successes were all that there were.
    pub is_refused: bool,
}

/// Stretches in which nothing came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// When the longest began, counted from the beginning of the measured time.
    pub from: Nanos,
    /// When it was over.
    pub to: Nanos,
    /// How many there were.
    pub count: u64,
    /// How long they were together.
    pub sum: Nanos,
    /// Connections that were refused in them.
    pub refused: u64,
    /// Something came back after the longest.
    pub came_back: bool,
}

/// Why it is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// Too little was measured.
    TooLittle,
    /// Nobody tried with fewer users.
    NotTried(NotTried),
    /// The rate did not stay the same before the end.
    Unsteady,
    /// The rate of half of the users was too near to the middle for what was seen.
    Unsure(UsersPart),
    /// Another share of them failed.
    Differing,
    /// Half of the users got too few answers in the time that there was.
    TooFewAnswers,
    /// Starts waited for one of so many connections, and there were as many from the beginning on.
    AllBusy {
        /// Connections.
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
