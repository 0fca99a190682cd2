//! Short looks at the beginning of a search: the load goes up until one misses.

use super::{Search, SearchStage};
use crate::trial::{Class, Disturbance, Trial};

/// Looks at one load that prove nothing before it counts as unknown.
pub(super) const LOOK_FAULTS_MAX: usize = 2;
/// The most consecutive unknown loads on the way up: what looks like stalls may be the limit of this machine.
const PASSED_MAX: usize = 2;
/// After a good look the load goes up by this factor at least, and by the next one at most.
pub(super) const UP: f64 = 2.0;
const UP_MAX: f64 = 16.0;
/// It goes up faster as long as no more than this is in flight: half of what one worker could do.
const IN_SYSTEM: f64 = 0.5;
/// Where fewer losses are allowed, a single one says nothing.
const ALLOWED_FEW: f64 = 6.0;
/// A look this close to a load that was too high gives nothing new.
const UNDER: f64 = 1.2;

impl Search {
    /// Continues the looks above this load, if there is room for one.
    pub(super) fn up(&self, at: f64, factor: f64) -> SearchStage {
        let under = self.points.too_much().map_or(f64::INFINITY, |top| top / UNDER);
        let up = self.settings.rounded((at * factor).min(self.settings.most));
        if up > at && up < under { SearchStage::Doubling { at: up, is_falling: false } } else { SearchStage::Between }
    }

    /// The factor of the next look. The number in flight is rate x mean time (Little): as long as one worker could do
    /// that in half of its time, the target is far from its limit.
    fn growth(&self, trial: &Trial) -> f64 {
        let in_system = trial.outcome.done_per_s * trial.outcome.tally.times().mean();
        let is_known = in_system > 0.0 && !self.settings.is_plain && self.points.too_much().is_none();
        // Whole steps make loads that are easy to read.
        if is_known { (IN_SYSTEM / in_system + 1e-9).floor().clamp(UP, UP_MAX) } else { UP }
    }

    /// Handles a short look.
    pub(super) fn looked(&mut self, at: f64, is_falling: bool, trial: &Trial) {
        if let Some(fault) = trial.outcome.fault {
            if self.points.fault(at, fault, LOOK_FAULTS_MAX) {
                // Stalls come at any load, so a higher one may have none.
                let goes_on = fault == Disturbance::Stalls && !is_falling && self.passed < PASSED_MAX;
                self.passed += 1;
                self.stage = if goes_on { self.up_over(at) } else { SearchStage::Between };
            }
            return;
        }
        self.passed = 0;
        if trial.class == Class::Undecided && trial.is_above && !is_falling {
            // More requests are more certain, and a higher load has them; with enough, a second look may be better.
            let has_few = self.has_few(trial);
            if has_few && at < self.settings.most || !has_few && self.again.replace(at) != Some(at) {
                self.stage = if has_few { self.up(at, UP) } else { SearchStage::Doubling { at, is_falling } };
                return;
            }
        }
        // Without any good look, a bad moment would send the search far below the capacity.
        let is_first = trial.class == Class::Missed && !is_falling && self.points.looked_well().is_none();
        if is_first && !self.settings.is_plain && self.again.replace(at) != Some(at) {
            return;
        }
        self.points.looked(at, trial.class, trial.is_above);
        if self.settings.is_plain && trial.class == Class::Met {
            self.points.close(at, Class::Met);
        }
        let fails = trial.class == Class::Missed || trial.is_above;
        self.stage = match (fails, self.points.looked_well()) {
            // After a large step, the range in between is searched in small ones.
            (true, Some(well)) => self.up(self.points.lower().map_or(well, |met| met.max(well)), UP),
            (true, None) if at <= self.settings.least => SearchStage::Between,
            (true, None) => {
                let down = self.settings.rounded((at / 4.0).max(self.settings.least));
                SearchStage::Doubling { at: down, is_falling: true }
            }
            (false, _) if is_falling || at >= self.settings.most => SearchStage::Between,
            (false, _) => self.up(at, self.growth(trial)),
        };
    }

    /// Whether the losses are so few that they may be chance.
    fn has_few(&self, trial: &Trial) -> bool {
        let allowed = |(goal, (share, _)): (usize, &(f64, _))| trial.lost[goal].of as f64 * share;
        let is_above = |goal: usize, share: f64| trial.lost[goal].share() > share;
        let above = self.settings.goals.iter().enumerate().filter(|(goal, (share, _))| is_above(*goal, *share));
        above.map(allowed).fold(f64::INFINITY, f64::min) < ALLOWED_FEW
    }

    /// Continues the looks above an unknown load.
    fn up_over(&self, at: f64) -> SearchStage {
        let up = self.settings.rounded((at * UP).min(self.settings.most));
        if up > at { SearchStage::Doubling { at: up, is_falling: false } } else { SearchStage::Between }
    }
}
