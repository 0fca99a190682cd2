//! Times of a run: its start, its intervals, and its planned end.

use pacing::Nanos;
use plan::{Load, Plan, Scenario};

/// Starts of an open load that had not ended, at two instants of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// Backlog halfway through.
    pub(crate) halfway: u64,
    /// Backlog at the end of the plan.
    pub(crate) at_end: u64,
}

/// A last interval that is shorter than one part in this many of an interval belongs to the one before it: its rates
/// would be those of a moment.
pub(crate) const SLIVER: u64 = 10;

/// The start of the run, and its planned end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) started: Nanos,
    pub(crate) warmup: Nanos,
    pub(crate) duration: Option<Nanos>,
    pub(crate) grace: Nanos,
    /// Then: the time for what users do when they leave.
    pub(crate) stop_within: Nanos,
    pub(crate) interval: Nanos,
    /// For a partition that joins a run in progress: when, counted from the beginning of the measured load.
    pub(crate) joins: Option<Nanos>,
}

impl Times {
    /// Times of a whole plan: it is over when all of its scenarios are.
    pub(crate) fn new(plan: &Plan, started: Nanos) -> Self {
        let (warmup, grace, interval) = (plan.warmup.into(), plan.grace.into(), plan.interval.into());
        let duration = longest(plan.scenarios.iter().map(duration_of));
        let stop_within = plan.stop_within.into();
        Self { started, warmup, duration, grace, stop_within, interval, joins: None }
    }

    /// Earliest start of a user.
    pub(crate) fn begins(&self) -> Nanos {
        self.joins.map_or(self.started, |joins| self.measured_from() + joins)
    }

    /// Intervals that were over by then.
    pub(crate) fn intervals_before(&self) -> u64 {
        self.joins.map_or(0, |joins| joins.0 / self.interval.0)
    }

    /// End of the warm-up.
    pub(crate) fn measured_from(&self) -> Nanos {
        self.started + self.warmup
    }

    /// The middle of the plan's time; never without one.
    pub(crate) fn halfway(&self) -> Nanos {
        self.duration.map_or(Nanos::NEVER, |duration| self.measured_from() + Nanos(duration.0 / 2))
    }

    /// End of the plan; [`Nanos::NEVER`] when no time ends it.
    pub(crate) fn planned_end(&self) -> Nanos {
        self.duration.map_or(Nanos::NEVER, |duration| self.measured_from() + duration)
    }

    /// The end of an interval, the first being 1. One that would end with the plan waits a moment for the last
    /// responses, instead of leaving them to a sliver of an interval after it.
    pub(crate) fn end_of(&self, number: u64) -> Nanos {
        let end = self.measured_from() + Nanos(self.interval.0.saturating_mul(number));
        let ends_with_plan =
            |last: Nanos| last.since(self.measured_from()).0.is_multiple_of(self.interval.0) && end >= last;
        let moment = if ends_with_plan(self.planned_end()) { self.interval.0 / SLIVER } else { 0 };
        end + Nanos(moment)
    }
}

/// Duration of the starts of a scenario; `None` when no time ends it.
pub(crate) fn duration_of(scenario: &Scenario) -> Option<Nanos> {
    match &scenario.load {
        Load::Closed { duration, .. } => duration.map(|duration| (scenario.begin + duration).into()),
        Load::Open { stages, .. } => Some(stages.iter().fold(Nanos::ZERO, |sum, stage| sum + stage.span.into())),
    }
}

/// The end of the last of them; `None` when one has no end.
pub(crate) fn longest(ends: impl IntoIterator<Item = Option<Nanos>>) -> Option<Nanos> {
    ends.into_iter().reduce(|longest, end| longest.zip(end).map(|(longest, end)| longest.max(end))).flatten()
}
