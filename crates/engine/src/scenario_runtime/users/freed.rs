//! Users that are free to go on: their exchange has ended, or an `on_start` that requested nothing. They are queued,
//! and advance when what ended it is done (`ScenarioRuntime::advance_freed`): so the end of an exchange never begins
//! the next one of its user.

use pacing::Nanos;
use plan::Target;

use crate::scenario_runtime::ScenarioRuntime;
use crate::user::LastExchange;

/// A user that is free to go on.
pub(in crate::scenario_runtime) struct FreedUser {
    pub(in crate::scenario_runtime) user: u32,
    /// When it became free.
    pub(in crate::scenario_runtime) intended: Nanos,
    pub(in crate::scenario_runtime) next: NextAction,
}

/// What a user does that is free.
pub(in crate::scenario_runtime) enum NextAction {
    /// It goes on in its program.
    Advance { view: LastExchange, now: Nanos },
    /// It follows a redirect, possibly to a target that is not known yet.
    Redirect { step: u32, elsewhere: Option<Box<Target>> },
}

impl ScenarioRuntime {
    /// The exchange of a user has ended.
    #[inline]
    pub(in crate::scenario_runtime) fn free_user(&mut self, user: u32, view: LastExchange, at: Nanos) {
        let mut view = view;
        if !self.in_flight.is_simple && self.users.all[user as usize].is_inside {
            let Some(of_all) = self.end_part(user, view) else { return };
            view = of_all;
        }
        self.users.freed.push_back(FreedUser { user, intended: at, next: NextAction::Advance { view, now: at } });
    }

    /// The response of a user's exchange redirects.
    #[cold]
    pub(in crate::scenario_runtime) fn redirect_user(
        &mut self,
        user: u32,
        step: u32,
        elsewhere: Option<Box<Target>>,
        at: Nanos,
    ) {
        self.users.freed.push_back(FreedUser { user, intended: at, next: NextAction::Redirect { step, elsewhere } });
    }
}
