//! Takeover: a standby waits for a run with its plan, and a replaced leader withdraws.

use pacing::Nanos;

use super::{Leader, LeaderUpdate};
use crate::protocol::Phase;

impl Leader {
    /// Withdraws: another leader has taken over our run.
    pub fn withdraw(&mut self) {
        (self.order, self.run, self.has_resigned) = (None, None, true);
    }

    /// Checks for a run that could be taken over.
    pub(super) fn check_takeover(&mut self, now: Nanos) {
        let (Some(order), Some(run)) = (&self.order, &self.run) else { return };
        let is_ours = order.plan == self.state.plan;
        match self.state.phase {
            Phase::Preparing | Phase::Running if is_ours => self.is_standby = true,
            // A run that its leader has ended is not taken over.
            Phase::Done | Phase::Closed if is_ours && std::mem::take(&mut self.is_standby) => {
                self.run = None;
                self.reported.push_back(LeaderUpdate::Elsewhere);
            }
            _ if !self.is_standby && now.since(run.since) >= self.setting.patience => {
                self.run = None;
                self.reported.push_back(LeaderUpdate::NoRun);
            }
            _ => {}
        }
    }
}
