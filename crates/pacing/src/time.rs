//! Instants and spans on the clock of a run.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// Nanoseconds since the start of the clock, or between two instants of it. 64 bits last for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The first instant of the clock.
    pub const ZERO: Self = Self(0);
    /// An instant that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// The time since an earlier instant; zero when `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As seconds, for display.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As a span of the standard library.
    pub fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    #[inline]
    fn from(span: Duration) -> Self {
        Self(span.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(span.subsec_nanos())))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, span: Self) -> Self {
        self.since(span)
    }
}
