//! The same plan with something changed.

use std::time::Duration;

use crate::{Load, Plan, TargetPolicy, UNASKED_RATE_MAX, UserShape};

impl Plan {
    /// The same plan with one user who takes each step once, and whose responses are shown.
    #[must_use]
    pub fn for_debug(mut self) -> Self {
        for scenario in &mut self.scenarios {
            scenario.load = Load::Closed { users: 1, shape: UserShape::AtOnce, requests: Some(1), duration: None };
            scenario.targets.iter_mut().for_each(|target| target.streams = 1);
            scenario.change_steps(&mut |step| step.is_shown = true);
        }
        // One user would wait for others that never come.
        self.barriers.iter_mut().for_each(|barrier| barrier.users = 1);
        self.warmup = Duration::ZERO;
        // Loops of an iteration may exceed what a user makes by hand.
        let requests = self.scenarios.iter().fold(0, |sum: u64, one| sum.saturating_add(one.requests_most()));
        if requests > UNASKED_RATE_MAX { self } else { self.reaching(&TargetPolicy::Anywhere) }
    }

    /// The same plan with another target policy.
    #[must_use]
    pub fn reaching(mut self, target_policy: &TargetPolicy) -> Self {
        for scenario in &mut self.scenarios {
            scenario.targets.iter_mut().for_each(|target| target.target_policy = target_policy.clone());
            scenario.change_steps(&mut |step| {
                step.follow.iter_mut().for_each(|follow| follow.target_policy = target_policy.clone());
            });
        }
        self
    }

    /// The same plan with failed exchanges recorded in full.
    #[must_use]
    pub fn for_failures(mut self) -> Self {
        self.capture_options.failures = true;
        self
    }

    /// Whether the user requested a check of some exchange.
    pub fn has_expectations(&self) -> bool {
        self.scenarios.iter().flat_map(|scenario| &scenario.steps).any(|step| step.checks.is_expectation)
    }
}
