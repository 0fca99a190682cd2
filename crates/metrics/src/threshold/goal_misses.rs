//! A threshold as a share of exchanges that miss it: what a search for the highest load judges.
//!
//! `p99(response_time) < 200ms` means that at most 1 % take longer; what did not complete, or never could begin, took
//! longer too. `failed / done < 0.1%` is such a share by itself. Means and rates are none.

use super::by_address::Scope;
use super::{Comparison, Counted, Statistic, Subject, Threshold, Timed};
use crate::{Censored, Class, Counts, Measure, Snapshot};

/// The exchanges that miss a goal, and the number of judged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoalMisses {
    /// Exchanges that did not meet it.
    pub lost: u64,
    /// Exchanges that it judges.
    pub of: u64,
}

impl GoalMisses {
    /// Both sums.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { lost: self.lost + other.lost, of: self.of + other.of }
    }

    /// The share; zero of zero.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.lost as f64 / self.of as f64 }
    }
}

impl Threshold {
    /// The share of exchanges that may miss it; `None` for a threshold that is no share of all.
    pub fn lost_share_max(&self) -> Option<f64> {
        let is_upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        match self.subject {
            Subject::Time(Statistic::Quantile(quantile), _) if is_upper => Some(1.0 - quantile),
            Subject::Ratio(..) if is_upper => Some(self.limit),
            Subject::Ratio(..) => Some(1.0 - self.limit),
            _ => None,
        }
        .filter(|_| self.scope == Scope::All)
        // A share below zero is impossible.
        .filter(|share| (0.0..1.0).contains(share) && (*share > 0.0 || !self.is_below_nothing()))
    }

    fn is_below_nothing(&self) -> bool {
        matches!(self.subject, Subject::Ratio(..)) && matches!(self.comparison, Comparison::Below | Comparison::Above)
    }

    /// Whether it limits the failures of all exchanges.
    pub fn is_of_failures(&self) -> bool {
        let is_it = matches!(
            self.subject,
            Subject::Ratio(Counted::Failed, Counted::Done | Counted::Started)
                | Subject::Ratio(Counted::Succeeded, Counted::Done | Counted::Started)
        );
        is_it && self.of.is_none() && self.scope == Scope::All
    }

    /// The limit of the time of an exchange, in nanoseconds; `None` for a goal without a time.
    pub fn limit_ns(&self) -> Option<u64> {
        matches!(self.subject, Subject::Time(..)).then_some(self.limit as u64)
    }

    /// The same with a limit that is longer by this time; a goal without a time stays as it is.
    #[must_use]
    pub fn longer_by(&self, ns: u64) -> Self {
        let more = if self.limit_ns().is_some() { ns as f64 } else { 0.0 };
        Self { limit: self.limit + more, ..self.clone() }
    }

    /// The misses in a snapshot.
    pub fn lost(&self, seen: &Snapshot) -> GoalMisses {
        match self.subject {
            Subject::Time(_, timed) => self.slow(timed, seen),
            Subject::Ratio(part, whole) => self.missed(part, whole, seen),
            _ => GoalMisses::default(),
        }
    }

    /// Exchanges in flight that miss it already, however they end.
    pub fn lost_in_flight(&self, seen: &Snapshot) -> u64 {
        match self.subject {
            Subject::Time(_, Timed::Of(measure)) => {
                let ages = seen.gauges.in_flight.by_measure(measure);
                ages.map_or(0, |ages| ages.count_between(self.limit as u64, u64::MAX))
            }
            _ => 0,
        }
    }

    fn slow(&self, timed: Timed, seen: &Snapshot) -> GoalMisses {
        let limit = self.limit as u64;
        let slow =
            |times: &crate::Distribution| GoalMisses { lost: times.count_between(limit, u64::MAX), of: times.count() };
        match timed {
            Timed::Connect => slow(&seen.connect),
            Timed::TlsHandshake => slow(&seen.tls),
            Timed::MessageGap => slow(&seen.message_gap),
            Timed::Message => {
                let incomplete = seen.message_incomplete.count();
                slow(&seen.message).with(GoalMisses { lost: incomplete, of: incomplete })
            }
            Timed::Of(measure) => {
                let known = slow(seen.class(Class::Succeeded).by_measure(measure));
                // Failures have a goal of their own; incomplete or unsent exchanges would have taken longer.
                let measure = if measure == Measure::Service { measure } else { Measure::Response };
                let incomplete = Censored::new(seen, measure).count();
                known.with(GoalMisses { lost: incomplete, of: incomplete })
            }
        }
    }

    fn missed(&self, part: Counted, whole: Counted, seen: &Snapshot) -> GoalMisses {
        let counts: &Counts = &seen.counts;
        let (part_of, whole_of) = (part.count(seen), whole.count(seen));
        // Exchanges that the stop of a trial cut short might have succeeded.
        let never = counts.dropped() + counts.lost() + (counts.unfinished() - counts.cut().min(counts.unfinished()));
        let is_upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        match (part, whole, is_upper) {
            // A start without an outcome failed, whatever the reason.
            (Counted::Failed, Counted::Done, true) => GoalMisses { lost: part_of + never, of: whole_of + never },
            (Counted::Succeeded, Counted::Done, false) => {
                GoalMisses { lost: whole_of.saturating_sub(part_of) + never, of: whole_of + never }
            }
            (_, _, true) => GoalMisses { lost: part_of.min(whole_of), of: whole_of },
            (_, _, false) => GoalMisses { lost: whole_of.saturating_sub(part_of), of: whole_of },
        }
    }
}
