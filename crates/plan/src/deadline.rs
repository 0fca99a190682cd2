//! Deadlines of a plan: which of its steps and transactions have one, and what an iteration begins with.

use std::time::Duration;

use crate::{Plan, Scenario};

impl Scenario {
    /// Whether a step or a transaction has a deadline.
    pub fn has_deadlines(&self) -> bool {
        let of_steps = self.steps.iter().map(|step| step.deadline);
        of_steps.chain(self.program.transactions.iter().map(|one| one.deadline)).any(|deadline| deadline.is_some())
    }

    /// The shortest time from its planned start within which an iteration has to begin, for the deadlines of its first
    /// step and of the transactions around that; and that step. `None` where what comes first has none, or is drawn.
    pub fn first_deadline(&self) -> Option<(Duration, usize)> {
        let (step, around) = self.program.first_step()?;
        let own = self.steps.get(step)?.deadline;
        Some((own.into_iter().chain(around).min()?, step))
    }
}

impl Plan {
    /// Whether a step or a transaction has a deadline.
    pub fn has_deadlines(&self) -> bool {
        self.scenarios.iter().any(Scenario::has_deadlines)
    }
}
