//! What a response is checked for, prepared.

use std::sync::Arc;

use plan::Checks;

/// Checks that make a response a success.
#[derive(Clone)]
pub(crate) struct PreparedChecks {
    pub(in crate::scenario_runtime) checks: Arc<Checks>,
    /// More than the status is checked.
    pub(in crate::scenario_runtime) checks_more: bool,
    /// Its time or its size is checked.
    pub(in crate::scenario_runtime) has_bounds: bool,
}

impl PreparedChecks {
    pub(super) fn new(checks: &Checks) -> Self {
        Self {
            checks_more: checks.want_body() || checks.want_head(),
            has_bounds: checks.want_bounds(),
            checks: Arc::new(checks.clone()),
        }
    }

    #[inline]
    pub(in crate::scenario_runtime) fn contains_status(&self, status: u16) -> bool {
        self.checks.status.contains(status)
    }
}
