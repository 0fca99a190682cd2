//! The load of a scenario.

use std::time::Duration;

use plan::{Arrivals, RateStage, UserShape};

/// The load of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The users or the rate.
    pub amount: Amount,
    /// The time during which iterations start; `None`: until their number is used up.
    pub duration: Option<Duration>,
    /// The number of iterations.
    pub iterations: Option<Iterations>,
}

/// The load model.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// The closed model: users that are kept busy.
    Users {
        /// The maximum number.
        count: u64,
        /// The number over time.
        shape: UserShape,
    },
    /// The open model: iterations come at a rate.
    Rate {
        /// The rate over time.
        stages: Vec<RateStage>,
        /// The spacing of the starts.
        arrivals: Arrivals,
        /// The lateness after which an iteration that could not begin is dropped.
        max_lateness: Option<Duration>,
        /// Whether all connections are opened at the beginning.
        preconnect: bool,
    },
}

/// The number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iterations {
    /// In total over all users.
    Together(u64),
    /// Per user.
    Each(u64),
}

impl Default for Load {
    /// One user, once.
    fn default() -> Self {
        let amount = Amount::Users { count: 1, shape: UserShape::AtOnce };
        Self { amount, duration: None, iterations: Some(Iterations::Together(1)) }
    }
}
