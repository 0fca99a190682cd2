//! Thresholds: conditions on an aggregate, as text, and their evaluation.
//!
//! `p99(response_time) < 200ms`, `failed / done < 0.1%`, `rate > 4900/s`, each with an optional `, abort` or `, abort
//! 10s` at the end to stop a run that crosses it, after that time at the earliest. `done(buy) >= 5` and
//! `p99(response_time, buy) < 2s` are about one part of a run, `p99(response_time, address=10.0.0.4:8080) < 2s` about
//! one address, `p95(basket) < 100` about a figure of the user's own, `worst_address(failed / done) < 1%` about the worst one. [`Threshold::parse_of_part`] parses one,
//! [`Threshold::judge`] evaluates it.

mod by_address;
mod fault;
mod goal_misses;
mod known_figures;
mod own;
mod parse;
mod part;
mod status_word;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::Duration;

use crate::{Censored, Class, Counter, Counts, Distribution, Measure, Snapshot};
pub use by_address::AddressLack;
use by_address::Scope;
pub use fault::{ThresholdError, ThresholdFault};
pub use goal_misses::GoalMisses;
pub use known_figures::is_known_figure;
use own::OwnSubject;
pub use part::NamedPart;
use status_word::StatusWord;

/// The longest text of a threshold.
pub const THRESHOLD_BYTES_MAX: usize = 256;

/// A condition on an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The text as written, without the abort clause.
    pub text: String,
    subject: Subject,
    scope: Scope,
    comparison: Comparison,
    limit: f64,
    /// The earliest time at which the run is stopped when it does not hold; `None`: never.
    pub abort_after: Option<Duration>,
    /// The scenario, step or transaction that it is about; `None`: all.
    pub of: Option<String>,
}

/// The figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    /// A statistic of a time, in nanoseconds.
    Time(Statistic, Timed),
    /// A count.
    Count(Counted),
    /// A share.
    Ratio(Counted, Counted),
    /// A count per second.
    Rate(Counted),
    /// A figure of the user's own.
    Own(OwnSubject),
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
    /// The times of successes.
    Of(Measure),
    Connect,
    TlsHandshake,
    Message,
    MessageGap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Started,
    Done,
    Succeeded,
    Failed,
    TimedOut,
    /// Of the failed, those that were tried again, and the others.
    Retried,
    FailedForGood,
    MissedDeadline,
    InDeadline,
    Dropped,
    Unfinished,
    Lost,
    Responses,
    Reconnects,
    Status(u16),
    StatusWord(StatusWord),
    GrpcStatus(u8),
    MessagesSent,
    MessagesReceived,
    /// A count of datagrams.
    Datagrams(Counter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    Unequal,
}

/// The kind of the figure, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// A number.
    Count,
    /// A share of one.
    Ratio,
    /// A count per second.
    PerSecond,
    /// A number in the unit of a figure of the user's own.
    Own,
}

/// The result of a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Whether every possible value of the figure meets it.
    pub holds: bool,
    /// Whether no possible value of the figure meets it.
    pub fails: bool,
    /// The figure, from what is known; `None` when it was not measured.
    pub value: Option<f64>,
    /// Whether the figure is only a lower bound.
    pub at_least: bool,
    /// The least and the largest possible value, where incomplete exchanges leave that open; infinity where there is no
    /// bound.
    pub range: Option<(f64, f64)>,
    /// The kind of the figure.
    pub unit: Unit,
    /// The address with the worst value, where that one is judged.
    pub address: Option<SocketAddr>,
    /// What is missing to judge by address, where something is.
    pub lack: Option<AddressLack>,
}

/// What is known of a figure, and its least and its largest possible value.
type Figure = (Option<f64>, f64, f64);

impl Threshold {
    /// The limit of the time, if the threshold is about a percentile of a measure of all steps.
    pub fn limit_of_time(&self, of: Measure) -> Option<Duration> {
        match self.subject {
            Subject::Time(Statistic::Quantile(_), Timed::Of(measure))
                if measure == of && self.of.is_none() && self.scope == Scope::All =>
            {
                Some(Duration::from_nanos(self.limit as u64))
            }
            _ => None,
        }
    }

    /// Evaluates the threshold for a snapshot. `span`: the time in which exchanges were started, for rates. A figure
    /// that was not measured does not hold, and incomplete exchanges might have ended in any way.
    pub fn judge(&self, seen: &Snapshot, span: Duration) -> Judgement {
        match self.scope {
            Scope::All => self.judge_figure(self.subject.figure(seen, span), seen),
            Scope::Address(address) => self.judge_address(address, seen),
            Scope::WorstAddress => self.judge_worst_address(seen),
        }
    }

    fn judge_figure(&self, (value, least, most): Figure, seen: &Snapshot) -> Judgement {
        let unit = self.subject.unit();
        // A run in which nothing was due has no values.
        let value = value.filter(|_| seen.counts.all_started() > 0);
        let is_known = value.is_some();
        let (holds, fails) = self.comparison.judges((least, most), self.limit);
        Judgement {
            holds: is_known && holds,
            fails: is_known && fails,
            value,
            at_least: unit == Unit::Time && most > least,
            range: (is_known && most > least).then_some((least, most)),
            unit,
            address: None,
            lack: None,
        }
    }

    /// Whether the run is to be stopped for it, `elapsed` after its beginning: however the exchanges in flight end. A
    /// missing measurement is no reason.
    pub fn aborts(&self, seen: &Snapshot, elapsed: Duration) -> bool {
        self.abort_after.is_some_and(|after| elapsed >= after) && self.judge(seen, elapsed).fails
    }
}

impl Subject {
    fn unit(self) -> Unit {
        match self {
            Self::Time(..) => Unit::Time,
            Self::Count(_) => Unit::Count,
            Self::Ratio(..) => Unit::Ratio,
            Self::Rate(_) => Unit::PerSecond,
            Self::Own(own) => own.unit(),
        }
    }

    fn figure(self, seen: &Snapshot, span: Duration) -> Figure {
        let count = |counter: Counted| (counter.count(seen), counter.open(seen));
        match self {
            Self::Time(statistic, timed) => statistic.value(timed, seen),
            Self::Count(counter) => sum(count(counter)),
            Self::Ratio(part, whole) => ratio(count(part), count(whole)),
            Self::Rate(counter) => {
                let value = counter.per_second(seen, span);
                (value, value.unwrap_or(0.0), value.unwrap_or(0.0))
            }
            Self::Own(own) => own.figure(seen),
        }
    }
}

/// A count, and incomplete exchanges that may still be counted there.
fn sum((known, more): (u64, u64)) -> Figure {
    let value = known as f64;
    (Some(value), value, value + more as f64)
}

/// The share of two counts, each with the incomplete exchanges that may still be counted there.
fn ratio((known, more): (u64, u64), (of, more_of): (u64, u64)) -> Figure {
    let [known, more, of, more_of] = [known, more, of, more_of].map(|count| count as f64);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let least = share(known, of + more_of);
    let most = share(known, of).max(share(known + more, of + more_of));
    // Nothing that counts has completed: all of the incomplete ones may count.
    let value = if of > 0.0 { Some(share(known, of)) } else { (more_of > 0.0).then_some(least) };
    (value, least, most)
}

impl Comparison {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Equal => value == limit,
            Self::Unequal => value != limit,
        }
    }

    /// Whether every value of a range meets the limit, and whether none does.
    fn judges(self, (least, most): (f64, f64), limit: f64) -> (bool, bool) {
        let ends = (self.holds(least, limit), self.holds(most, limit));
        let is_within = least <= limit && limit <= most;
        match self {
            Self::Equal => (ends.0 && ends.1, !is_within),
            Self::Unequal => (!is_within, !ends.0 && !ends.1),
            _ => (ends.0 && ends.1, !ends.0 && !ends.1),
        }
    }

    /// Whether it compares with one value alone.
    fn is_of_one_value(self) -> bool {
        matches!(self, Self::Equal | Self::Unequal)
    }
}

impl Counted {
    /// The counts of datagrams, by the names that intervals and exports have for them.
    const DATAGRAMS: [Counter; 8] = [
        Counter::Resent,
        Counter::LateResponses,
        Counter::DuplicateResponses,
        Counter::UnmatchedDatagrams,
        Counter::RefusedDatagrams,
        Counter::CutDatagrams,
        Counter::KernelDrops,
        Counter::OverStream,
    ];

    /// The name, where a share of it is possible.
    fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::MissedDeadline => "missed_deadline",
            Self::Retried => "retried",
            Self::FailedForGood => "failed_for_good",
            Self::InDeadline => "in_deadline",
            Self::Dropped => "dropped",
            Self::Unfinished => "unfinished",
            Self::Lost => "lost",
            Self::Responses => "responses",
            Self::Reconnects => "reconnects",
            Self::Status(_) => "status(N)",
            Self::StatusWord(_) => "status(WORD)",
            Self::GrpcStatus(_) => "grpc_status(NAME)",
            Self::MessagesSent => "messages_sent",
            Self::MessagesReceived => "messages_received",
            Self::Datagrams(counter) => counter.name(),
        }
    }

    /// Whether this is a share of `whole` that never exceeds it.
    fn is_part_of(self, whole: Self) -> bool {
        let of_successes = matches!(self, Self::MissedDeadline | Self::InDeadline);
        let of_failures = matches!(self, Self::Retried | Self::FailedForGood);
        let is_end = of_successes || of_failures || matches!(self, Self::Succeeded | Self::Failed | Self::TimedOut);
        let is_status = matches!(self, Self::Status(_) | Self::StatusWord(_) | Self::GrpcStatus(_));
        match whole {
            Self::Started => {
                is_end || is_status || matches!(self, Self::Done | Self::Dropped | Self::Unfinished | Self::Lost)
            }
            Self::Done => is_end || is_status,
            Self::Succeeded => of_successes,
            Self::Failed => matches!(self, Self::TimedOut | Self::Retried | Self::FailedForGood),
            Self::Responses => is_status,
            _ => false,
        }
    }

    /// Incomplete exchanges that may still be counted here.
    fn open(self, seen: &Snapshot) -> u64 {
        match self {
            Self::Done
            | Self::Succeeded
            | Self::Failed
            | Self::TimedOut
            | Self::Retried
            | Self::FailedForGood
            | Self::MissedDeadline
            | Self::InDeadline => {
                seen.counts.unfinished() + seen.counts.lost() + seen.gauges.in_flight.response.count()
            }
            _ => 0,
        }
    }

    /// The count per second; what completed after the last start is not part of that time.
    fn per_second(self, seen: &Snapshot, span: Duration) -> Option<f64> {
        let counts = &seen.counts;
        let late = match self {
            Self::Done => counts.drained(),
            Self::Succeeded => counts.drained_succeeded(),
            Self::MissedDeadline => counts.drained_missed(),
            Self::InDeadline => counts.drained_succeeded() - counts.drained_missed(),
            // Starts of the plan, as in the report: without dropped ones and redirects.
            Self::Started => counts.dropped() + counts.redirects(),
            Self::Failed | Self::TimedOut => counts.drained() - counts.drained_succeeded(),
            _ => 0,
        };
        let seconds = span.as_secs_f64();
        (seconds > 0.0).then(|| self.count(seen).saturating_sub(late) as f64 / seconds)
    }

    fn count(self, seen: &Snapshot) -> u64 {
        let counts: &Counts = &seen.counts;
        match self {
            Self::Started => counts.all_started(),
            Self::Done => counts.finished(),
            Self::Succeeded => counts.succeeded(),
            Self::Failed => counts.failed(),
            Self::TimedOut => seen.class(Class::TimedOut).by_measure(Measure::Response).count(),
            Self::MissedDeadline => counts.missed_deadline(),
            Self::Retried => counts.retried(),
            Self::FailedForGood => counts.failed().saturating_sub(counts.retried()),
            Self::InDeadline => counts.in_deadline(),
            Self::Dropped => counts.dropped(),
            Self::Unfinished => counts.unfinished(),
            Self::Lost => counts.lost(),
            Self::Responses => counts.responses(),
            Self::Reconnects => counts.reconnects(),
            Self::Status(status) => status_word::count_number(status, counts),
            Self::StatusWord(word) => word.count(counts),
            Self::GrpcStatus(status) => counts.grpc_statuses.get(usize::from(status)).copied().unwrap_or(0),
            Self::MessagesSent => counts.messages_left(),
            Self::MessagesReceived => counts.messages_received(),
            Self::Datagrams(counter) => counts[counter],
        }
    }
}

impl Statistic {
    /// The figure in nanoseconds.
    fn value(self, timed: Timed, seen: &Snapshot) -> Figure {
        let succeeded;
        let mut censored = Censored::default();
        let times: &Distribution = match timed {
            Timed::Connect => &seen.connect,
            Timed::TlsHandshake => &seen.tls,
            Timed::Message => {
                censored = Censored::for_messages(seen);
                &seen.message
            }
            Timed::MessageGap => &seen.message_gap,
            Timed::Of(measure) => {
                if matches!(measure, Measure::Response | Measure::Service) {
                    censored = Censored::with_in_flight(seen, measure);
                }
                succeeded = seen.class(Class::Succeeded);
                succeeded.by_measure(measure)
            }
        };
        self.of(times, &censored)
    }

    /// The figure of these times, next to incomplete ones.
    fn of(self, times: &Distribution, censored: &Censored) -> Figure {
        let is_open = censored.count() > 0;
        // Whatever times the incomplete ones would have had.
        let at_least = |value: Option<f64>| {
            let least = value.unwrap_or(0.0);
            (value, least, if is_open { f64::INFINITY } else { least })
        };
        match self {
            Self::Min => {
                let least = censored.min(times).map(|ns| ns as f64);
                (least, least.unwrap_or(0.0), times.min().map_or(f64::INFINITY, |ns| ns as f64))
            }
            Self::Mean => at_least(censored.mean(times)),
            Self::Stdev => {
                let (value, least, most) = at_least(times.stdev());
                (value, if is_open { 0.0 } else { least }, most)
            }
            Self::Quantile(quantile) => match censored.percentile(times, quantile) {
                Some(known) => {
                    let (least, most) = (known.ns as f64, known.ns_most.map_or(f64::INFINITY, |most| most as f64));
                    (Some(least), least, most.max(least))
                }
                None => (None, 0.0, 0.0),
            },
        }
    }
}
