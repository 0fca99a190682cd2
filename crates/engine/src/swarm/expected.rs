//! Figures of a history that can be computed beforehand.

use std::time::Duration;

use pacing::Nanos;
use pacing::change::LoadProfile;
use plan::{Arrivals, Load, Program};

use super::history::History;

impl History {
    /// How long starts come; none when not time but a number of iterations ends the run.
    pub(crate) fn duration(&self) -> Option<Duration> {
        if self.is_changed() && self.iterations_planned().is_none_or(|planned| Some(planned) != self.limit()) {
            return self.timeline.end().map(Nanos::as_duration);
        }
        match self.load() {
            Load::Closed { duration, .. } => *duration,
            Load::Open { requests: Some(requests), .. } if self.iterations_planned() == Some(*requests) => None,
            Load::Open { stages, .. } => Some(stages.iter().map(|stage| stage.span).sum()),
        }
    }

    /// Part of what happened is not measured.
    pub(crate) fn has_warmup(&self) -> bool {
        !self.setting.plan.warmup.is_zero()
    }

    /// Steps that may be measured though their iteration began in the warm-up.
    pub(crate) fn warm_steps(&self) -> u64 {
        let steps = self.scenario().steps.len() as u64;
        if self.has_warmup() { self.users_max() * steps } else { 0 }
    }

    /// The load was changed.
    pub(crate) fn is_changed(&self) -> bool {
        self.timeline.revision() > 0
    }

    /// The most starts of an open load that the plan allows.
    fn limit(&self) -> Option<u64> {
        match self.load() {
            Load::Open { requests, .. } => *requests,
            Load::Closed { .. } => None,
        }
    }

    /// Its users take one step after the other, and do nothing else.
    pub(crate) fn is_in_turn(&self) -> bool {
        let (program, plain) = (&self.scenario().program, Program::in_turn(self.scenario().steps.len()));
        let does_more = !program.start.is_empty() || !program.stop.is_empty();
        *program == plain || (program.is_shuffled() && !does_more)
    }

    /// Planned starts, computed by hand; none when they are not known beforehand.
    pub(crate) fn starts_planned(&self) -> Option<u64> {
        if self.is_in_turn() { self.iterations_planned() } else { None }
    }

    /// The same for a load whose iterations begin with one exchange each, as those with known starts do.
    fn iterations_planned(&self) -> Option<u64> {
        match self.load() {
            // Each redirect that was followed is one start more.
            Load::Closed { requests, duration: None, .. } => {
                let steps = self.scenario().steps.len() as u64;
                requests.map(|requests| requests * steps + self.total.counts.redirects())
            }
            Load::Closed { .. } | Load::Open { arrivals: Arrivals::Poisson { .. }, .. } => None,
            Load::Open { .. } if self.is_changed() => match self.timeline.course() {
                LoadProfile::Rate(schedule) => Some(schedule.count()),
                LoadProfile::Users(..) => None,
            },
            Load::Open { stages, requests, .. } => {
                let doubled: u128 =
                    stages.iter().map(|stage| u128::from(stage.from + stage.to) * stage.span.as_nanos()).sum();
                let hour_ns = 3_600_000_000_000;
                let integral = (doubled / (2 * 1_000 * hour_ns)) as u64;
                Some(requests.map_or(integral, |requests| integral.min(requests)))
            }
        }
    }
}
