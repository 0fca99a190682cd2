//! What is wanted of a run by whoever has begun it. It is kept here, too: what is written to the bus may be lost on its way, or be read there
//! as it was before.

use pacing::Nanos;
use pacing::change::Change;

use super::Leader;
use crate::protocol::{BarrierRelease, Phase, RunIntent, State};

/// What is wanted of the run that goes on, as far as its report knows.
#[derive(Debug, Default)]
pub(super) struct Orders {
    changes: Vec<Change>,
    rounds: Vec<Nanos>,
    met: Vec<BarrierRelease>,
    /// Somebody else has led since then, and may have wanted more.
    pub(super) are_old: bool,
}

impl Orders {
    /// As they stand in a state.
    pub(super) fn of(state: &State) -> Self {
        let (changes, rounds, met) = (state.changes.clone(), state.rounds.clone(), state.met.clone());
        Self { changes, rounds, met, are_old: false }
    }

    /// A state that was read has them all, unless somebody else has given others.
    pub(super) fn resume(&mut self, state: &mut State) {
        if self.are_old {
            *self = Self::of(state);
        }
        self.hold_in(state);
    }

    fn hold_in(&self, state: &mut State) {
        state.changes.clone_from(&self.changes);
        state.rounds.clone_from(&self.rounds);
        state.met.clone_from(&self.met);
    }
}

impl Leader {
    /// The load is changed: for all, from its instant on. It is over at `ends_at` then, counted from the beginning of the measured load.
    pub fn change(&mut self, change: Change, ends_at: Option<Nanos>) {
        self.ends(ends_at);
        self.orders.changes.push(change);
        self.give_orders();
    }

    /// The load is over then, as it was changed.
    pub fn ends(&mut self, ends_at: Option<Nanos>) {
        if let Some(order) = &mut self.order {
            order.ends_at = ends_at;
        }
    }

    /// Users of a scenario that wait for each other start at this instant, counted from the start of the run.
    pub fn release(&mut self, scenario: usize, at: Nanos) {
        if let Some(round) = self.orders.rounds.get_mut(scenario).filter(|round| **round != at) {
            *round = at;
            self.give_orders();
        }
    }

    /// Users that wait at a meeting go on.
    pub fn let_go(&mut self, met: BarrierRelease) {
        BarrierRelease::push(&mut self.orders.met, met);
        self.give_orders();
    }

    fn give_orders(&mut self) {
        self.orders.hold_in(&mut self.state);
        self.is_dirty = true;
    }

    /// What is wanted of all.
    pub fn intent(&mut self, intent: RunIntent, now: Nanos) {
        if intent > self.state.intent {
            self.state.intent = intent;
            self.is_dirty = true;
            if let Some(run) = &mut self.run {
                run.wished_at.get_or_insert(now);
            }
        }
    }

    /// What was to begin does not.
    pub fn cancel(&mut self) {
        (self.order, self.run) = (None, None);
        if self.state.phase == Phase::Preparing || self.state.phase == Phase::Running {
            (self.state.phase, self.state.intent) = (Phase::Done, RunIntent::Abort);
            self.is_dirty = true;
        }
    }
}
