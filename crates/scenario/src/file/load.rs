//! How much load a scenario makes.

use std::time::Duration;

use plan::{Arrivals, RateStage, UserShape};

/// How much load a scenario makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Of what.
    pub amount: Amount,
    /// How long iterations are started; `None`: until they are used up.
    pub duration: Option<Duration>,
    /// How many of them.
    pub iterations: Option<Iterations>,
}

/// What a load is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// The closed model: users that are kept busy.
    Users {
        /// How many, at most.
        count: u64,
        /// When they come and go.
        shape: UserShape,
    },
    /// The open model: iterations come at a rate.
    Rate {
        /// Over time.
        stages: Vec<RateStage>,
        /// How they are spaced.
        arrivals: Arrivals,
        /// An iteration that could not begin for so long is dropped.
        max_lateness: Option<Duration>,
        /// All connections are opened at the beginning.
        preconnect: bool,
    },
}

/// How many iterations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iterations {
    /// Of all users together.
    Together(u64),
    /// Of each user.
    Each(u64),
}

impl Default for Load {
    /// One user, once.
    fn default() -> Self {
        let amount = Amount::Users { count: 1, shape: UserShape::AtOnce };
        Self { amount, duration: None, iterations: Some(Iterations::Together(1)) }
    }
}
