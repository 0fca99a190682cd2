//! A plan for display.

use super::{SecretValues, masked, masked_url};
use crate::{Plan, Request, Scenario, Step, Target};

impl Plan {
    /// The plan for views: URLs, paths and names without secrets, and no headers and bodies, since views show none.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let known = SecretValues::from_plan(self);
        let hide = |text: &str| known.hide(&masked(text));
        let step = |step: &Step| Step {
            dynamic_parts: step.dynamic_parts.clone(),
            name: hide(&step.name),
            request: Request {
                method: step.request.method.clone(),
                path: hide(&step.request.path),
                version: step.request.version,
                headers: Vec::new(),
                body: crate::BodyBytes::default(),
            },
            call: step.call.clone(),
            target: step.target,
            follow: step.follow.clone(),
            is_shown: step.is_shown,
            messaging: step.messaging.clone(),
            checks: step.checks.clone(),
            timeout: step.timeout,
            deadline: step.deadline,
            tags: step.tags.clone(),
            connect_timeout: step.connect_timeout,
            keep_alive: step.keep_alive,
            retries: step.retries,
            // They show no more than the step does.
            at_origins: Vec::new(),
        };
        let scenario = |scenario: &Scenario| Scenario {
            memory: scenario.memory.clone(),
            name: scenario.name.clone(),
            targets: scenario
                .targets
                .iter()
                .map(|target| Target { url: known.hide(&masked_url(&target.url)), ..target.clone() })
                .collect(),
            load: scenario.load.clone(),
            begin: scenario.begin,
            every: scenario.every,
            iterations_per_user: scenario.iterations_per_user,
            shared_connections: scenario.shared_connections,
            steps: scenario.steps.iter().map(step).collect(),
            program: scenario.program.clone(),
        };
        Self { scenarios: self.scenarios.iter().map(scenario).collect(), ..self.clone_without_scenarios() }
    }

    fn clone_without_scenarios(&self) -> Self {
        let Self { scenarios: _, grace, stop_within, warmup, barriers, capture_options, interval, budget, seed } = self;
        Self {
            scenarios: Vec::new(),
            grace: *grace,
            stop_within: *stop_within,
            warmup: *warmup,
            barriers: barriers.clone(),
            capture_options: *capture_options,
            interval: *interval,
            budget: *budget,
            seed: *seed,
        }
    }
}
