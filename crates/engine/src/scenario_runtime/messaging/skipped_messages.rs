//! Messages that an exchange skips while it waits for its own.

use metrics::{Failure, Outcome};
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::slab::Key;

impl ScenarioRuntime {
    /// The message is not the one that its exchange awaits: it goes on waiting, as long as it may. A message that
    /// cannot be checked as a whole might be the one, so it fails.
    pub(super) fn passes_over(&mut self, key: Key, outcome: Outcome) -> bool {
        if outcome != Outcome::Failed(Failure::Check) {
            return false;
        }
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return false };
        let step = &self.in_flight.steps[exchange.step as usize];
        if !step.messaging.as_deref().is_some_and(|messaging| messaging.awaits) {
            return false;
        }
        // The first byte of the response is yet to come.
        (attempt.first_byte, attempt.body_bytes) = (Nanos::NEVER, 0);
        if let Some(kept) = attempt.kept.as_deref_mut() {
            kept.bytes.clear();
            kept.reason.clear();
            (kept.is_too_large, kept.is_crowded) = (false, false);
        }
        true
    }
}
