//! Retries of what failed: how often, after which wait, and what follows the last one.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most retries of one exchange.
pub const RETRIES_MAX: u64 = u16::MAX as u64;
/// The largest factor from one wait to the next.
const BACKOFF_MAX: f64 = 100.0;

/// The action after a failed exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// Continue as after a success.
    #[default]
    GoOn,
    /// End the iteration, and fail the enclosing transaction.
    Next,
    /// Repeat the exchange, at most this many times; then end the iteration.
    Retry(u16),
    /// Repeat it as the retry of this number says.
    RetryBy(u16),
    /// Go on behind the innermost loop.
    Break,
    /// The user leaves; in an open load its iteration ends.
    Stop,
    /// The run ends, as after Ctrl-C.
    StopRun,
}

impl OnFailure {
    /// Whether it repeats the exchange.
    pub fn retries(self) -> bool {
        matches!(self, Self::Retry(_) | Self::RetryBy(_))
    }

    /// The action after the last try, or for what is never tried again; `retries`: those of the program.
    #[inline]
    pub fn after_last_try(self, retries: &[Retry]) -> Self {
        match self {
            Self::Retry(_) => Self::Next,
            Self::RetryBy(number) => retries.get(usize::from(number)).map_or(Self::Next, |retry| retry.then),
            other => other,
        }
    }
}

/// How a failed exchange is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// The most tries after the first.
    pub most: u16,
    /// The wait before the first of them.
    pub after: Duration,
    /// The factor from one wait to the next.
    pub backoff: f64,
    /// The longest wait, also of one that the server asks for.
    pub max_wait: Duration,
    /// The part of a wait that is drawn: 0.2 for up to 20 % more or less.
    pub jitter: f64,
    /// Whether a `Retry-After` of the server takes the place of the wait.
    pub retry_after: bool,
    /// The expression of the scenario that must be true for another try.
    pub condition: Option<u32>,
    /// The action after the last try.
    pub then: OnFailure,
}

/// Why a retry is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryFault {
    /// The factor is below 1, too large, or no number.
    Backoff,
    /// The part that is drawn is not between 0 and 1.
    Jitter,
    /// The last try is followed by another.
    Then,
}

impl Retry {
    /// What is wrong with it.
    pub fn fault(&self) -> Option<RetryFault> {
        if !(1.0..=BACKOFF_MAX).contains(&self.backoff) {
            return Some(RetryFault::Backoff);
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return Some(RetryFault::Jitter);
        }
        self.then.retries().then_some(RetryFault::Then)
    }

    /// The wait before a try; `number`: 1 for the first after the failure. `requested`: what the server asks for.
    /// `drawn`: from 0 to 1.
    #[inline]
    pub fn wait(&self, number: u16, requested: Option<Duration>, drawn: f64) -> Duration {
        if let Some(requested) = requested.filter(|_| self.retry_after) {
            return requested.min(self.max_wait);
        }
        let times = self.backoff.powi(i32::from(number.saturating_sub(1)));
        let jitter = 1.0 + self.jitter * (2.0 * drawn - 1.0);
        let wait = self.after.as_secs_f64() * times * jitter;
        Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX).min(self.max_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry {
        most: 3,
        after: Duration::from_millis(100),
        backoff: 2.0,
        max_wait: Duration::from_secs(5),
        jitter: 0.0,
        retry_after: true,
        condition: None,
        then: OnFailure::Next,
    };

    #[test]
    fn waits_grow_up_to_a_bound() {
        let waits: Vec<u128> =
            [1, 2, 3, 7, 60_000].iter().map(|number| RETRY.wait(*number, None, 0.5).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 5_000, 5_000]);
    }

    #[test]
    fn a_server_that_names_a_wait_gets_it_up_to_the_bound() {
        let waits = [0, 2, 3_600].map(|seconds| RETRY.wait(1, Some(Duration::from_secs(seconds)), 0.5).as_secs());
        assert_eq!(waits, [0, 2, 5]);
        let deaf = Retry { retry_after: false, ..RETRY };
        assert_eq!(deaf.wait(1, Some(Duration::from_secs(2)), 0.5).as_millis(), 100);
    }

    #[test]
    fn jitter_is_around_the_wait() {
        let drawn = Retry { jitter: 0.2, ..RETRY };
        assert_eq!([0.0, 0.5, 1.0].map(|drawn_at| drawn.wait(1, None, drawn_at).as_millis()), [80, 100, 120]);
    }

    #[test]
    fn what_is_wrong_is_found() {
        assert_eq!(RETRY.fault(), None);
        for (retry, fault) in [
            (Retry { backoff: 0.5, ..RETRY }, RetryFault::Backoff),
            (Retry { backoff: f64::NAN, ..RETRY }, RetryFault::Backoff),
            (Retry { jitter: 1.5, ..RETRY }, RetryFault::Jitter),
            (Retry { then: OnFailure::Retry(1), ..RETRY }, RetryFault::Then),
        ] {
            assert_eq!(retry.fault(), Some(fault));
        }
    }
}
