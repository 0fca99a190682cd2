//! Spending of a runtime from the budget of its run.

use driver::Sockets;
use metrics::Counter;
use pacing::Nanos;
use plan::BudgetPart;

use crate::scenario_runtime::{ScenarioRuntime, Users};
use crate::user::{LastExchange, UserPhase};

impl Users {
    /// Something is not done because the budget has no request left for it: that is what ended the run.
    pub(in crate::scenario_runtime) fn lack_requests(&self) {
        if let Some(budget_lease) = self.budget_lease.as_ref().filter(|_| self.is_out_of_requests) {
            budget_lease.end_by_requests();
        }
    }

    /// Users that still have to run `on_stop`, and may.
    pub(in crate::scenario_runtime) fn pending_teardown(&self) -> u64 {
        if self.is_out_of_requests { 0 } else { self.pending_teardown }
    }
}

impl ScenarioRuntime {
    /// Counts users that have not run `on_stop`, since no request was left for it.
    #[cold]
    pub(in crate::scenario_runtime) fn count_without_stop(&mut self, users: u64) {
        self.unreported.counts[Counter::UsersWithoutStop] += users;
        self.users.lack_requests();
    }

    /// Whether one more request may start; it was not counted before. With the last one nothing starts any more.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn may_start(&mut self) -> bool {
        // Each iteration that this shard may still begin makes at least one request.
        let most = self.users.budget.starts.map_or(u64::MAX, |starts| starts.saturating_add(1));
        let may = self.users.budget_lease.as_mut().is_none_or(|budget_lease| budget_lease.take(most));
        self.check_budget_lease();
        if !may {
            self.users.lack_requests();
        }
        may
    }

    /// No budget is left for the next request of a user. In an open load it goes on without it: starts may wait that
    /// took their part of the budget when they were due.
    #[cold]
    pub(in crate::scenario_runtime) fn free_without_budget(&mut self, user: u32, at: Nanos, sockets: &mut dyn Sockets) {
        let one = &mut self.users.all[user as usize];
        // While users get ready no start has taken a part of the budget.
        if self.users.open.is_none() || one.stage == UserPhase::Starting {
            return;
        }
        if one.stage == UserPhase::Stopping {
            // It goes without the rest of `on_stop`, as those do that never began it.
            (one.stage, one.is_leaving) = (UserPhase::Ready, true);
        }
        if let Some(fork) = self.users.programs.fork(user) {
            fork.is_cut = true;
        } else {
            self.cut_iteration(user, at, sockets);
        }
        self.free_user(user, LastExchange::Rested, at);
    }

    /// Nothing starts any more when no start is left.
    pub(in crate::scenario_runtime) fn check_budget_lease(&mut self) {
        if let Some(budget_lease) = self.users.budget_lease.as_ref().filter(|budget_lease| budget_lease.is_empty()) {
            // The budget has not ended a load that has begun all of its own.
            if self.users.budget.starts != Some(0) {
                budget_lease.end_by_requests();
            }
            (self.users.budget.is_over, self.users.is_out_of_requests) = (true, true);
            if let Some(open) = &mut self.users.open {
                open.stop_taking();
            }
        }
    }

    /// Reports what it has spent, and returns since when bytes or time are over, while something starts. `planned`:
    /// when its load ends.
    pub(crate) fn update_budget(&mut self, now: Nanos, planned: Nanos) -> Option<Nanos> {
        // Others may have made the last start.
        self.check_budget_lease();
        let bytes = self.bytes_spent();
        let budget_lease = self.users.budget_lease.as_mut()?;
        budget_lease.report_bytes(bytes, false);
        if self.users.budget.is_over { None } else { budget_lease.is_over_since(now, planned) }
    }

    /// The snapshot is handed over, or dropped.
    pub(crate) fn settle_budget(&mut self) {
        let bytes = self.bytes_spent();
        if let Some(budget_lease) = &mut self.users.budget_lease {
            budget_lease.report_bytes(bytes, true);
        }
    }

    fn bytes_spent(&self) -> u64 {
        self.unreported.counts.bytes_sent() + self.unreported.counts.bytes_received()
    }

    /// End of the time budget; never, when nothing starts any more.
    pub(crate) fn budget_until(&self) -> Nanos {
        let budget_lease = self.users.budget_lease.as_ref().filter(|_| !self.users.budget.is_over);
        budget_lease.map_or(Nanos::NEVER, |budget_lease| budget_lease.until())
    }

    /// The load is over here.
    pub(crate) fn give_back_starts(&mut self) {
        if let Some(budget_lease) = &mut self.users.budget_lease {
            budget_lease.give_back();
        }
    }

    /// The budget part that ended the run.
    pub(crate) fn ended_by(&self) -> Option<BudgetPart> {
        self.users.budget_lease.as_ref()?.ended_by()
    }
}
