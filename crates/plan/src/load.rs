//! How much load: how many users, or at what rate, over time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// The closed model: users that are kept busy, until the requests are used up or the time is over.
    Closed {
        /// How many connections, at most. Each has a user for each of its streams.
        users: u64,
        /// When they come and go.
        shape: UserShape,
        /// How many exchanges in all; `None` for no bound.
        requests: Option<u64>,
        /// How long exchanges are started; `None` for no bound.
        duration: Option<Duration>,
    },
    /// The open model: starts come at a rate, whatever the target does.
    Open {
        /// The rate over time.
        stages: Vec<RateStage>,
        /// How the starts are spaced.
        arrivals: Arrivals,
        /// How many starts in all, at most; `None` for no bound. Only with [`Arrivals::Even`].
        requests: Option<u64>,
        /// How many connections serve them.
        connections: ConnectionCount,
        /// A start that could not be sent for so long is dropped.
        max_lateness: Duration,
    },
}

impl Load {
    /// How many connections there are at most.
    pub fn connections(&self) -> u64 {
        match self {
            Self::Closed { users, .. } => *users,
            Self::Open { connections, .. } => connections.most(),
        }
    }

    /// Something is started in its first instant.
    pub(crate) fn begins_above_nothing(&self) -> bool {
        match self {
            Self::Closed { shape: UserShape::Stages(stages), .. } => {
                stages.iter().find(|stage| !stage.span.is_zero()).is_some_and(|stage| stage.from > 0)
            }
            Self::Closed { .. } => true,
            Self::Open { stages, .. } => {
                stages.iter().find(|stage| !stage.span.is_zero()).is_some_and(|stage| stage.from > 0)
            }
        }
    }
}

/// When the users of a closed load come and go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserShape {
    /// All are there from the beginning on.
    AtOnce,
    /// All are there, wait for each other, and start in one instant, round after round.
    Rendezvous,
    /// They come one after the other, evenly, within this time; the time runs in a warm-up too.
    Ramp(Duration),
    /// Their number changes by stages.
    Stages(Vec<UserStage>),
}

/// A span in which the number of users changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStage {
    /// At its beginning.
    pub from: u64,
    /// At its end.
    pub to: u64,
    /// How long it lasts.
    pub span: Duration,
}

/// A span in which the rate changes evenly. Rates are exact: thousandths of a start in an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateStage {
    /// At its beginning.
    pub from: u64,
    /// At its end.
    pub to: u64,
    /// How long it lasts.
    pub span: Duration,
}

/// The highest rate of some stages.
pub fn highest(stages: &[RateStage]) -> u64 {
    stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0)
}

/// How starts are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrivals {
    /// As evenly as the rate allows.
    Even,
    /// At random and independent of each other: a Poisson process.
    Poisson {
        /// The same seed gives the same starts.
        seed: u64,
    },
}

/// How many connections serve an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConnectionCount {
    /// So many from the beginning on, whether they are needed or not.
    Exactly(u64),
    /// As many as are needed, up to so many.
    UpTo(u64),
}

impl ConnectionCount {
    /// As many as somebody named; opened at the beginning when that is asked for.
    pub fn of(named: Option<u64>, preconnect: bool) -> Self {
        match named {
            Some(count) if preconnect => Self::Exactly(count),
            named => Self::UpTo(named.unwrap_or(crate::OPEN_CONNECTIONS_MAX)),
        }
    }

    /// The most that there may be.
    pub fn most(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::UpTo(count) => count,
        }
    }
}
