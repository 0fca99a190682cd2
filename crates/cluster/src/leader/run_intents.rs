//! The intents of a run, from the process that has begun it. They are kept here, too: a write to the bus may be lost,
//! or an older value may be read there.

use pacing::Nanos;
use pacing::change::Change;

use super::Leader;
use crate::protocol::{BarrierRelease, Phase, RunIntent, State};

/// The intents of the current run, as far as its report knows.
#[derive(Debug, Default)]
pub(super) struct RunIntents {
    changes: Vec<Change>,
    rounds: Vec<Nanos>,
    met: Vec<BarrierRelease>,
    /// Whether another leader has been active since then, and may have had more intents.
    pub(super) are_old: bool,
}

impl RunIntents {
    /// The intents of a state.
    pub(super) fn from_state(state: &State) -> Self {
        let (changes, rounds, met) = (state.changes.clone(), state.rounds.clone(), state.met.clone());
        Self { changes, rounds, met, are_old: false }
    }

    /// Puts them into a state that was read, or takes those of the state if another leader may have set others.
    pub(super) fn resume(&mut self, state: &mut State) {
        if self.are_old {
            *self = Self::from_state(state);
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
    /// Changes the load for all workers, from its instant on. It then ends at `ends_at`, counted from the beginning of
    /// the measured load.
    pub fn change(&mut self, change: Change, ends_at: Option<Nanos>) {
        self.ends(ends_at);
        self.run_intents.changes.push(change);
        self.give_orders();
    }

    /// Sets the end of the load, as changed.
    pub fn ends(&mut self, ends_at: Option<Nanos>) {
        if let Some(order) = &mut self.order {
            order.ends_at = ends_at;
        }
    }

    /// Starts users of a scenario that wait for each other at this instant, counted from the start of the run.
    pub fn release(&mut self, scenario: usize, at: Nanos) {
        if let Some(round) = self.run_intents.rounds.get_mut(scenario).filter(|round| **round != at) {
            *round = at;
            self.give_orders();
        }
    }

    /// Releases users that wait at a barrier.
    pub fn let_go(&mut self, met: BarrierRelease) {
        BarrierRelease::push(&mut self.run_intents.met, met);
        self.give_orders();
    }

    fn give_orders(&mut self) {
        self.run_intents.hold_in(&mut self.state);
        self.is_dirty = true;
    }

    /// Sets the intent for all workers.
    pub fn intent(&mut self, intent: RunIntent, now: Nanos) {
        if intent > self.state.intent {
            self.state.intent = intent;
            self.is_dirty = true;
            if let Some(run) = &mut self.run {
                run.wished_at.get_or_insert(now);
            }
        }
    }

    /// Cancels a run that was to begin.
    pub fn cancel(&mut self) {
        (self.order, self.run) = (None, None);
        if self.state.phase == Phase::Preparing || self.state.phase == Phase::Running {
            (self.state.phase, self.state.intent) = (Phase::Done, RunIntent::Abort);
            self.is_dirty = true;
        }
    }
}
