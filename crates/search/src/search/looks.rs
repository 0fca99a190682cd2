//! Short looks at the beginning of a search: how the load goes up until one misses.

use super::{Search, SearchStage};
use crate::trial::{Class, Disturbance, Trial};

/// Looks at one load that prove nothing before it is called unknown.
pub(super) const LOOK_FAULTS_MAX: usize = 2;
/// So many loads in a row may be left unknown on the way up: what looks like stalls may be this machine at its end.
const PASSED_MAX: usize = 2;
/// With a look that was good the load goes up by this factor at least, and at most.
pub(super) const UP: f64 = 2.0;
const UP_MAX: f64 = 16.0;
/// It goes up by more as long as no more than this is under way: half of what one worker could do.
const IN_SYSTEM: f64 = 0.5;
/// Where fewer than so many are allowed to be lost, one that was says nothing.
const ALLOWED_FEW: f64 = 6.0;
/// A look that is so near to a load that was too much tells nothing new.
const UNDER: f64 = 1.2;

impl Search {
    /// Looks go on above this load, if there is room for one.
    pub(super) fn up(&self, at: f64, factor: f64) -> SearchStage {
        let under = self.points.too_much().map_or(f64::INFINITY, |top| top / UNDER);
        let up = self.settings.rounded((at * factor).min(self.settings.most));
        if up > at && up < under { SearchStage::Doubling { at: up, is_falling: false } } else { SearchStage::Between }
    }

    /// How much higher the next look is. What is under way is rate x mean time (Little): as long as one worker could do that in half of
    /// its time, the target is far from its limit.
    fn growth(&self, trial: &Trial) -> f64 {
        let in_system = trial.outcome.done_per_s * trial.outcome.tally.times().mean();
        let is_known = in_system > 0.0 && !self.settings.is_plain && self.points.too_much().is_none();
        // Whole steps make loads that are easily read.
        if is_known { (IN_SYSTEM / in_system + 1e-9).floor().clamp(UP, UP_MAX) } else { UP }
    }

    /// A short look.
    pub(super) fn looked(&mut self, at: f64, is_falling: bool, trial: &Trial) {
        if let Some(fault) = trial.outcome.fault {
            if self.points.fault(at, fault, LOOK_FAULTS_MAX) {
                // Stalls come at any load, so a higher one may do without.
                let goes_on = fault == Disturbance::Stalls && !is_falling && self.passed < PASSED_MAX;
                self.passed += 1;
                self.stage = if goes_on { self.up_over(at) } else { SearchStage::Between };
            }
            return;
        }
        self.passed = 0;
        if trial.class == Class::Undecided && trial.is_above && !is_falling {
            // More requests are surer, and a higher load has them; where there are enough a second look may be better.
            let has_few = self.has_few(trial);
            if has_few && at < self.settings.most || !has_few && self.again.replace(at) != Some(at) {
                self.stage = if has_few { self.up(at, UP) } else { SearchStage::Doubling { at, is_falling } };
                return;
            }
        }
        // Without any that looked well, a bad moment would send the search far below what is there.
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
            // After a large step what lies between is looked at in small ones.
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

    /// What it lost were so few that chance may have done it.
    fn has_few(&self, trial: &Trial) -> bool {
        let allowed = |(goal, (share, _)): (usize, &(f64, _))| trial.lost[goal].of as f64 * share;
        let is_above = |goal: usize, share: f64| trial.lost[goal].share() > share;
        let above = self.settings.goals.iter().enumerate().filter(|(goal, (share, _))| is_above(*goal, *share));
        above.map(allowed).fold(f64::INFINITY, f64::min) < ALLOWED_FEW
    }

    /// Looks go on above a load that is unknown.
    fn up_over(&self, at: f64) -> SearchStage {
        let up = self.settings.rounded((at * UP).min(self.settings.most));
        if up > at { SearchStage::Doubling { at: up, is_falling: false } } else { SearchStage::Between }
    }
}
