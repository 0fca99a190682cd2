//! Result of the probe with half of the users of a load, or why there was none.

use pacing::Nanos;

use crate::probe_arithmetic::{PartSample, Steady};

/// When to probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeOption {
    /// Where it does not change state of the target.
    #[default]
    Safe,
    /// Only on request, and there was none.
    IfRequested,
    /// Also where it changes state of the target.
    Always,
    /// Never.
    Never,
}

/// Why there was no probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTried {
    /// It was not decided yet.
    NotYet,
    /// It was not wanted.
    Unwanted,
    /// The load is limited by a number of requests.
    Counted,
    /// It was stopped before its end.
    Stopped,
    /// It comes from a file that has no probe option.
    NotRequested,
    /// Its requests may change the target.
    Changing,
    /// It has one user.
    OneUser,
    /// Users came or went shortly before the end.
    UsersChanged,
    /// The system did not provide what it needs.
    Failed,
    /// Users share connections or streams, and half of the users would have as many of them.
    Shared,
    /// Workers carried it out, and the run may be taken over by another leader.
    Elsewhere,
    /// Some worker had less than two users.
    FewInWorkers,
    /// Several scenarios ran in parallel, and not all of them were of users until the same instant.
    Several,
    /// It has rows that are used once, users that wait for each other, or work of users before their first iteration.
    Once,
}

impl NotTried {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotYet => "not_tried",
            Self::Unwanted => "unwanted",
            Self::Counted => "counted",
            Self::Stopped => "stopped",
            Self::NotRequested => "not_requested",
            Self::Changing => "changing",
            Self::OneUser => "one_user",
            Self::UsersChanged => "users_changed",
            Self::Failed => "failed",
            Self::Shared => "shared",
            Self::Elsewhere => "workers",
            Self::FewInWorkers => "few_in_workers",
            Self::Several => "scenarios",
            Self::Once => "once",
        }
    }
}

/// Result of the probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Users that went on.
    pub users: u64,
    /// Users of the load.
    pub of: u64,
    /// The half that went on: connections, and streams on each.
    pub half: (u64, u64),
    /// Requests that it started: in no figure of the load.
    pub started: u64,
    /// Its duration.
    pub span: Nanos,
    /// The rate before, for comparison; `None` where it was not steady.
    pub before: Option<Steady>,
    /// The comparison; `None` when there were too few responses.
    pub seen: Option<PartSample>,
    /// Mean response time of the probe as a share of the one before.
    pub time: Option<f64>,
}
