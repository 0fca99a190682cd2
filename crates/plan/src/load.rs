//! The load: the number of users, or the rate, over time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// The closed model: users that are kept busy, until the requests are used up or the time is over.
    Closed {
        /// The most connections. Each has a user for each of its streams.
        users: u64,
        /// The number of users over time.
        shape: UserShape,
        /// The total number of exchanges; `None` for no limit.
        requests: Option<u64>,
        /// The time during which exchanges are started; `None` for no limit.
        duration: Option<Duration>,
    },
    /// The open model: starts come at a rate, whatever the target does.
    Open {
        /// The rate over time.
        stages: Vec<RateStage>,
        /// The spacing of the starts.
        arrivals: Arrivals,
        /// The most starts in total; `None` for no limit. Only with [`Arrivals::Even`].
        requests: Option<u64>,
        /// The number of connections.
        connections: ConnectionCount,
        /// The lateness after which a start that could not be sent is dropped.
        max_lateness: Duration,
    },
}

impl Load {
    /// The maximum number of connections.
    pub fn connections(&self) -> u64 {
        match self {
            Self::Closed { users, .. } => *users,
            Self::Open { connections, .. } => connections.most(),
        }
    }

    /// Whether something is started in its first instant.
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

/// The number of users of a closed load over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserShape {
    /// All users are active from the beginning on.
    AtOnce,
    /// All users wait for each other, and start in one instant, round after round.
    Rendezvous,
    /// Users start one after the other, evenly, within this time; a warm-up counts too.
    Ramp(Duration),
    /// Their number changes by stages.
    Stages(Vec<UserStage>),
}

/// A span in which the number of users changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStage {
    /// The number at its beginning.
    pub from: u64,
    /// The number at its end.
    pub to: u64,
    /// Its duration.
    pub span: Duration,
}

/// A span in which the rate changes linearly. Rates are exact: thousandths of a start per hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateStage {
    /// The rate at its beginning.
    pub from: u64,
    /// The rate at its end.
    pub to: u64,
    /// Its duration.
    pub span: Duration,
}

/// The highest rate of some stages.
pub fn highest(stages: &[RateStage]) -> u64 {
    stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0)
}

/// The spacing of starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrivals {
    /// As evenly as the rate allows.
    Even,
    /// At random and independent of each other: a Poisson process.
    Poisson {
        /// The seed; the same seed gives the same starts.
        seed: u64,
    },
}

/// The number of connections of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConnectionCount {
    /// This number from the beginning on, whether needed or not.
    Exactly(u64),
    /// As many as are needed, up to this number.
    UpTo(u64),
}

impl ConnectionCount {
    /// The given number of connections; opened at the beginning when that is requested.
    pub fn new(named: Option<u64>, preconnect: bool) -> Self {
        match named {
            Some(count) if preconnect => Self::Exactly(count),
            named => Self::UpTo(named.unwrap_or(crate::OPEN_CONNECTIONS_MAX)),
        }
    }

    /// The maximum.
    pub fn most(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::UpTo(count) => count,
        }
    }
}
