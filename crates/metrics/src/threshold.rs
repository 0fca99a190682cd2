//! Thresholds: what an aggregate must be, as text, and whether it is.
//!
//! `p99(response_time) < 200ms`, `failed / done < 0.1%`, `rate > 4900/s`, each with `, abort` or `, abort 10s` behind it to stop a
//! run that crosses it, after that time at the earliest. [`Threshold::parse`] reads one, [`Threshold::judge`] looks.

mod parse;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::{Censored, Class, Counts, Distribution, Measure, Snapshot};
pub use parse::{ThresholdError, ThresholdFault};

/// The longest text of a threshold.
pub const THRESHOLD_BYTES_MAX: usize = 256;

/// What an aggregate must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was written, without what says when to abort.
    pub text: String,
    subject: Subject,
    comparison: Comparison,
    limit: f64,
    /// The run is stopped when it does not hold, after so long at the earliest.
    pub abort_after: Option<Duration>,
}

/// The figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    /// Of a time: nanoseconds.
    Time(Statistic, Timed),
    /// How many.
    Count(Counter),
    /// A share of something.
    Ratio(Counter, Counter),
    /// A second.
    Rate(Counter),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    Min,
    Mean,
    Stdev,
    Quantile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timed {
    /// Of what succeeded.
    Of(Measure),
    Connect,
    TlsHandshake,
    Message,
    MessageGap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counter {
    Started,
    Done,
    Succeeded,
    Failed,
    TimedOut,
    Dropped,
    Unfinished,
    Answers,
    Reconnects,
    Status(u16),
    GrpcStatus(u8),
    MessagesSent,
    MessagesReceived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// What kind of figure it is, so that it can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// A number.
    Count,
    /// A share of one.
    Ratio,
    /// So many a second.
    PerSecond,
}

/// What was seen of a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// It holds, and is known to.
    pub holds: bool,
    /// The figure; `None` when nothing was measured that could tell.
    pub value: Option<f64>,
    /// The figure is only known to be at least that much.
    pub at_least: bool,
    /// Its kind.
    pub unit: Unit,
}

impl Threshold {
    /// Whether it holds of what was seen in `span`. What nobody could measure does not hold.
    pub fn judge(&self, seen: &Snapshot, span: Duration) -> Judgement {
        let count = |counter: Counter| counter.of(seen) as f64;
        let (value, at_least, unit) = match self.subject {
            Subject::Time(statistic, timed) => {
                let (value, at_least) = statistic.of(timed, seen);
                (value, at_least, Unit::Time)
            }
            Subject::Count(counter) => (Some(count(counter)), false, Unit::Count),
            Subject::Ratio(part, whole) => {
                let value = (count(whole) > 0.0).then(|| count(part) / count(whole));
                (value, false, Unit::Ratio)
            }
            Subject::Rate(counter) => {
                let value = (!span.is_zero()).then(|| count(counter) / span.as_secs_f64());
                (value, false, Unit::PerSecond)
            }
        };
        // Of a run in which nothing was to be done, nothing is known.
        let value = value.filter(|_| seen.counts.started > 0);
        // A lower bound can show that a figure is too large, never that it is small enough.
        let is_proof = !at_least || matches!(self.comparison, Comparison::Above | Comparison::AtLeast);
        let holds = value.is_some_and(|value| is_proof && self.comparison.holds(value, self.limit));
        Judgement { holds, value, at_least, unit }
    }

    /// Whether the run is to be stopped for it, `elapsed` after its beginning. Nothing measured is no reason.
    pub fn aborts(&self, seen: &Snapshot, elapsed: Duration) -> bool {
        let judgement = self.judge(seen, elapsed);
        self.abort_after.is_some_and(|after| elapsed >= after) && judgement.value.is_some() && !judgement.holds
    }
}

impl Comparison {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }
}

impl Counter {
    fn of(self, seen: &Snapshot) -> u64 {
        let counts: &Counts = &seen.counts;
        match self {
            Self::Started => counts.started,
            Self::Done => counts.finished(),
            Self::Succeeded => counts.succeeded,
            Self::Failed => counts.failed(),
            Self::TimedOut => seen.class(Class::TimedOut).of(Measure::Response).count(),
            Self::Dropped => counts.dropped,
            Self::Unfinished => counts.unfinished,
            Self::Answers => counts.answers,
            Self::Reconnects => counts.reconnects,
            Self::Status(status) => counts.statuses.get(usize::from(status)).copied().unwrap_or(0),
            Self::GrpcStatus(status) => counts.grpc_statuses.get(usize::from(status)).copied().unwrap_or(0),
            Self::MessagesSent => counts.messages_sent,
            Self::MessagesReceived => counts.messages_received,
        }
    }
}

impl Statistic {
    /// The figure in nanoseconds, and whether it is only known to be at least that much.
    fn of(self, timed: Timed, seen: &Snapshot) -> (Option<f64>, bool) {
        let succeeded;
        let mut censored = Censored::default();
        let times: &Distribution = match timed {
            Timed::Connect => &seen.connect,
            Timed::TlsHandshake => &seen.tls,
            Timed::Message => {
                censored = Censored::of_messages(seen);
                &seen.message
            }
            Timed::MessageGap => &seen.message_gap,
            Timed::Of(measure) => {
                if matches!(measure, Measure::Response | Measure::Service) {
                    censored = Censored::of(seen, measure);
                }
                succeeded = seen.class(Class::Succeeded);
                succeeded.of(measure)
            }
        };
        match self {
            Self::Min => (times.min().map(|ns| ns as f64), false),
            Self::Mean => (times.mean(), false),
            Self::Stdev => (times.stdev(), false),
            Self::Quantile(quantile) => {
                let known = censored.percentile(times, quantile);
                (known.map(|known| known.ns as f64), known.is_some_and(|known| known.at_least))
            }
        }
    }
}
