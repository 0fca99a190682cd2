//! What half of the users of a load came to that went on alone, or why they did not.

use pacing::Nanos;

use crate::halving::{PartSample, Steady};

/// Who wants it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeOption {
    /// Where it changes nothing of what the target keeps.
    #[default]
    Safe,
    /// Where it was asked for, which nobody did.
    IfRequested,
    /// Whatever it changes there.
    Always,
    /// Not at all.
    Never,
}

/// Why half of the users did not go on alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTried {
    /// Nobody has asked yet.
    NotYet,
    /// Nobody wanted it.
    Unwanted,
    /// The load is bounded by a number.
    Counted,
    /// It was stopped before its end.
    Stopped,
    /// It is of a file that says nothing of it.
    NotRequested,
    /// It asks for what may change the target.
    Changing,
    /// There is one user.
    OneUser,
    /// Users came or went shortly before the end.
    UsersChanged,
    /// The system did not give what it needs.
    Failed,
    /// Users share connections or streams, which would be as many for half of them.
    Shared,
    /// Workers carried it out that others may take over.
    Elsewhere,
    /// Some worker had no two users.
    FewInWorkers,
    /// Several scenarios ran side by side, and not all of users until the same instant.
    Several,
    /// Rows that are used once, users that wait for each other, or what users do before their first iteration.
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

/// What half of the users came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// How many went on.
    pub users: u64,
    /// Of how many.
    pub of: u64,
    /// Those that went on: connections, and streams on each.
    pub half: (u64, u64),
    /// Requests that they began: in no figure of the load.
    pub started: u64,
    /// How long they took.
    pub span: Nanos,
    /// The rate before that they are held against; `None` where it did not stay the same.
    pub before: Option<Steady>,
    /// What they say; `None` when they got too few answers.
    pub seen: Option<PartSample>,
    /// Their mean response time as a share of the one before.
    pub time: Option<f64>,
}
