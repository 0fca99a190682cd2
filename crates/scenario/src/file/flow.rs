//! Control flow of users: loops, values that are set, and what follows a failure.

use std::time::Duration;

use plan::OnFailure;

use super::{Expression, Name};
use crate::source::Span;

/// What ends a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Rounds {
    /// A number of rounds, which is drawn where the two differ.
    Count {
        /// The minimum.
        least: u32,
        /// The maximum.
        most: u32,
    },
    /// A number of rounds that the user's state gives.
    Times(Expression),
    /// A time after which no round begins.
    During(Duration),
    /// The end of a list: one round for each item.
    Items {
        /// The list.
        list: Expression,
        /// The variable that has the item.
        item: Name,
        /// The items whose requests are concurrent, where they are not in sequence.
        at_once: Option<u16>,
    },
    /// A condition.
    Condition {
        /// True or false.
        condition: Expression,
        /// Whether the condition is checked after the steps, and ends the loop when true; otherwise it is checked
        /// before them, and ends the loop when false.
        is_until: bool,
        /// The maximum number of rounds, after which the loop fails; `None`: only the time limits it.
        most: Option<u32>,
        /// The time after which no round begins, and the loop fails.
        within: Option<Duration>,
    },
}

/// What follows a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct AfterFailure {
    /// The position.
    pub at: Span,
    /// How it is tried again, if it is.
    pub retry: Option<RetryOptions>,
    /// What follows it, or its last try; never a retry.
    pub then: OnFailure,
}

/// How a failed step is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryOptions {
    /// The most tries after the first.
    pub most: u16,
    /// The wait before the first of them.
    pub after: Duration,
    /// The factor from one wait to the next.
    pub backoff: f64,
    /// The longest wait.
    pub max_wait: Duration,
    /// The part of a wait that is drawn, from 0 to 1.
    pub jitter: f64,
    /// Whether a `Retry-After` of the server takes the place of the wait.
    pub retry_after: bool,
    /// What must be true for another try; `None`: any failure is tried again.
    pub condition: Option<Expression>,
}

impl RetryOptions {
    /// The longest wait, unless the file says otherwise.
    pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

    /// The same in a plan.
    pub(crate) fn in_plan(&self, condition: Option<u32>, then: OnFailure) -> plan::Retry {
        plan::Retry {
            most: self.most,
            after: self.after,
            backoff: self.backoff,
            max_wait: self.max_wait,
            jitter: self.jitter,
            retry_after: self.retry_after,
            condition,
            then,
        }
    }

    /// This number of tries at once, whatever failed.
    pub(crate) fn at_once(most: u16) -> Self {
        Self {
            most,
            after: Duration::ZERO,
            backoff: 1.0,
            max_wait: Self::MAX_WAIT,
            jitter: 0.0,
            retry_after: false,
            condition: None,
        }
    }
}
