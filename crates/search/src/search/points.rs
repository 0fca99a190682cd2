//! The loads that were tried, and the choice of the next one.

use std::time::Duration;

use super::{FAULTS_MAX, OWN_WIDTH, OwnLimit, Settings, WIDTH};
use crate::find_max_result::SearchEnd;
use crate::search::DOWN;
use crate::tally::Tally;
use crate::trial::{Class, Disturbance};

/// A load that looked well is not tried itself as long as there is room between it and one that did not.
const NEAR: f64 = 1.15;
/// An undecided load that lost no more than this part of what is allowed needs more requests, not fewer.
const LITTLE: f64 = 0.05;
/// The number of losses that a full trial must allow: with fewer, even a trial without losses proves nothing.
const ALLOWED_MIN: f64 = 6.0;

/// A load, and the results of its full trials.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) at: f64,
    pub(super) tally: Tally,
    pub(super) trials: usize,
    /// How many of them lost more than is allowed.
    pub(super) above: usize,
    /// Consecutive trials that proved nothing, and all of them.
    faults: usize,
    faults_all: usize,
    /// The length of a piece of its time.
    pub(super) bin: Duration,
    /// The result.
    pub(super) class: Option<Class>,
    /// Why its result is unknown.
    unknown: Option<Disturbance>,
}

impl Point {
    /// Whether it had so few requests that it can hardly have been shown to meet the goals.
    fn has_few(&self, goals: &[(f64, Option<f64>)]) -> bool {
        let allowed = |(goal, (share, _)): (usize, &(f64, _))| self.tally.lost(goal).of as f64 * share;
        goals.iter().enumerate().filter(|(_, (share, _))| *share > 0.0).any(|goal| allowed(goal) < 3.0 * ALLOWED_MIN)
    }

    /// Whether trials with it proved nothing.
    pub(super) fn has_faults(&self) -> bool {
        self.faults_all > 0
    }

    /// Whether it lost so little that only more requests are missing.
    fn is_promising(&self, goals: &[(f64, Option<f64>)]) -> bool {
        let is_little = |(goal, (share, _)): (usize, &(f64, _))| self.tally.lost(goal).share() <= share * LITTLE;
        self.class == Some(Class::Undecided) && goals.iter().enumerate().all(is_little)
    }
}

/// All loads that were tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    /// In the order of their loads.
    all: Vec<Point>,
    /// Short looks: the load, and whether it may meet the goals.
    looks: Vec<(f64, bool)>,
    /// The highest rate of completions per unit of the load.
    per_unit: f64,
}

impl Points {
    pub(super) fn at(&self, at: f64) -> Option<&Point> {
        self.all.iter().find(|point| point.at == at)
    }

    fn entry(&mut self, at: f64) -> &mut Point {
        let place = self.all.partition_point(|point| point.at < at);
        if self.all.get(place).is_none_or(|point| point.at != at) {
            self.all.insert(place, Point { at, ..Point::default() });
        }
        &mut self.all[place]
    }

    /// Adds a short look.
    pub(super) fn looked(&mut self, at: f64, class: Class, is_above: bool) {
        let point = self.entry(at);
        (point.faults, point.unknown) = (0, None);
        self.looks.push((at, class != Class::Missed && !is_above));
        // One look says nothing against full trials.
        let point = self.entry(at);
        if class == Class::Missed && point.trials == 0 {
            point.class = Some(Class::Missed);
        }
    }

    /// The lowest load that is known to be too high, or looked so.
    pub(super) fn too_much(&self) -> Option<f64> {
        self.top().into_iter().chain(self.looked_badly()).min_by(f64::total_cmp)
    }

    /// Adds a full trial.
    pub(super) fn tried(&mut self, at: f64, bin: Duration, tally: &Tally, is_above: bool) -> &Point {
        let point = self.entry(at);
        point.bin = bin;
        point.tally.extend(tally);
        point.trials += 1;
        (point.faults, point.unknown) = (0, None);
        point.above += usize::from(is_above);
        point
    }

    /// Adds a trial that proved nothing; returns whether the load is unknown now, after `most` in a row.
    pub(super) fn fault(&mut self, at: f64, fault: Disturbance, most: usize) -> bool {
        let point = self.entry(at);
        (point.faults, point.faults_all) = (point.faults + 1, point.faults_all + 1);
        // An occasional good trial does not make the load worth the time.
        let is_over = point.faults >= most || point.faults_all >= 2 * FAULTS_MAX + point.trials;
        if is_over {
            (point.faults, point.unknown) = (0, Some(fault));
        }
        is_over
    }

    /// Adds the rate of completions at a load.
    pub(super) fn done(&mut self, at: f64, per_s: f64) {
        self.per_unit = self.per_unit.max(per_s / at);
    }

    pub(super) fn close(&mut self, at: f64, class: Class) {
        let point = self.entry(at);
        (point.class, point.unknown) = (Some(class), None);
    }

    /// Leaves a load undecided for lack of time. Its known result stays.
    pub(super) fn leave_open(&mut self, at: f64) {
        let point = self.entry(at);
        (point.class, point.unknown) = (point.class.or(Some(Class::Undecided)), None);
    }

    /// Whether it was not tried, or not to its end.
    fn is_new(&self, at: f64) -> bool {
        self.at(at).is_none_or(|point| point.class.is_none() && point.unknown.is_none())
    }

    /// The lowest load above another that is unknown for such a reason.
    fn unknown_above(&self, than: f64, is: impl Fn(Disturbance) -> bool) -> Option<OwnLimit> {
        let unknown = self.all.iter().filter_map(|point| Some((point.at, point.unknown?)));
        unknown.into_iter().find(|(at, fault)| *at > than && is(*fault))
    }

    fn in_class(&self, class: Class) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.all.iter().filter(move |point| point.class == Some(class)).map(|point| point.at)
    }

    /// The lowest load that missed: a failure counts, whatever a higher load did.
    pub(super) fn upper(&self) -> Option<f64> {
        self.in_class(Class::Missed).next()
    }

    /// The highest load below it that met the goals.
    pub(super) fn lower(&self) -> Option<f64> {
        let upper = self.upper().unwrap_or(f64::INFINITY);
        self.in_class(Class::Met).rfind(|at| *at < upper)
    }

    /// The limit of this machine; no load that met the goals is above it.
    pub(super) fn own_limit(&self) -> Option<OwnLimit> {
        self.unknown_above(self.lower().unwrap_or(0.0), |fault| fault != Disturbance::Stalls)
    }

    /// The lowest load above the lower bound that is unknown because of our stalls.
    pub(super) fn stalled(&self) -> Option<f64> {
        let upper = self.upper().unwrap_or(f64::INFINITY);
        let stalled = self.unknown_above(self.lower().unwrap_or(0.0), |fault| fault == Disturbance::Stalls);
        stalled.map(|(at, _)| at).filter(|at| *at < upper)
    }

    /// The highest load that a short look did not find too high, below the known limit.
    pub(super) fn looked_well(&self) -> Option<f64> {
        let bound = self.ceiling().unwrap_or(f64::INFINITY);
        self.looks.iter().filter(|(at, is_well)| *is_well && *at < bound).map(|(at, _)| *at).max_by(f64::total_cmp)
    }

    /// The lowest load that a short look found too high, certain or not, and that did not meet the goals since.
    fn looked_badly(&self) -> Option<f64> {
        let is_refuted = |at: f64| self.at(at).is_some_and(|point| point.class == Some(Class::Met));
        let badly = self.looks.iter().filter(|(at, is_well)| !is_well && !is_refuted(*at));
        badly.map(|(at, _)| *at).min_by(f64::total_cmp)
    }

    /// The lowest load that missed, or is above the limit of this machine.
    fn ceiling(&self) -> Option<f64> {
        let own = self.own_limit().map(|(at, _)| at);
        self.upper().into_iter().chain(own).min_by(f64::total_cmp)
    }

    /// The lowest load that is no use to try again: the bound lies below it. A load that our stalls left unknown is one
    /// if there is no other.
    fn top(&self) -> Option<f64> {
        let known = self.lower().into_iter().chain(self.looked_well()).fold(0.0, f64::max);
        self.ceiling().or_else(|| self.unknown_above(known, |_| true).map(|(at, _)| at))
    }

    /// Loads that are undecided after trials, or because of our stalls.
    fn open_below(&self, top: f64) -> Vec<f64> {
        let is_open = |point: &&Point| match point.class {
            Some(class) => class == Class::Undecided,
            None => point.unknown == Some(Disturbance::Stalls),
        };
        self.all.iter().filter(is_open).map(|point| point.at).filter(|at| *at < top).collect()
    }

    /// The next load to try, or why there is none.
    pub(super) fn pick(&self, settings: &Settings) -> Result<f64, SearchEnd> {
        match self.pick_between(settings) {
            // One short look may have had a moment that does not come again.
            Err(ended @ (SearchEnd::Width | SearchEnd::Noise)) => {
                self.upper().filter(|at| self.is_only_looked_at(*at, settings)).ok_or(ended)
            }
            picked => picked,
        }
    }

    /// Whether only a short look says that it is too high, where trials are judged by their losses.
    fn is_only_looked_at(&self, at: f64, settings: &Settings) -> bool {
        let is_untried = |point: &Point| point.trials == 0 && point.unknown.is_none();
        !settings.is_plain && self.lower().is_some() && self.at(at).is_some_and(is_untried)
    }

    fn pick_between(&self, settings: &Settings) -> Result<f64, SearchEnd> {
        let round = |at: f64| settings.rounded(at);
        let middle = |low: f64, high: f64| round((low * high).sqrt());
        let is_new = |at: f64| self.is_new(at);
        let is_close = |low: f64, high: f64, width: f64| high / low <= 1.0 + width || !is_new(middle(low, high));
        let Some(top) = self.top().or_else(|| self.looked_badly()) else {
            // Nothing missed: the highest allowed load was reached.
            let at = settings.most;
            let is_promising = self.at(at).is_some_and(|point| point.is_promising(&settings.goals));
            return if is_new(at) || is_promising && self.lower().is_none() { Ok(at) } else { Err(SearchEnd::Most) };
        };
        let is_known = self.top() == Some(top);
        let is_own = self.upper().is_none() && self.own_limit().is_some_and(|(at, _)| at == top);
        let width = if is_own { OWN_WIDTH } else { WIDTH };
        let open = self.open_below(top);
        let Some(lower) = self.lower() else {
            let below = self.pick_below(settings, &open, top).map(round);
            // A short look is not enough to give up.
            return if below.is_err() && is_new(top) { Ok(top) } else { below };
        };
        if !is_known && !is_new(top) {
            // It is uncertain, so the bound lies above it.
            return self.pick_above(settings, top).map(round);
        }
        let open: Vec<f64> = open.into_iter().filter(|at| *at > lower).collect();
        match (open.first(), open.last()) {
            // A short look that lost too much, without being certain.
            _ if !is_known && is_new(top) => Ok(top),
            _ if is_known && top / lower <= 1.0 + width => Err(SearchEnd::Width),
            (Some(first), Some(last)) => {
                // Undecided loads in the middle are skipped: each side is narrowed by itself.
                let half = width / 2.0;
                let (below, above) = (is_close(lower, *first, half), is_close(*last, top, half) || !is_known);
                match (below, above) {
                    (true, true) if is_known => Err(SearchEnd::Noise),
                    (true, true) => self.pick_above(settings, *last).map(round),
                    (false, true) => Ok(middle(lower, *first)),
                    (true, false) => Ok(middle(*last, top)),
                    (false, false) if first / lower > top / last => Ok(middle(lower, *first)),
                    (false, false) => Ok(middle(*last, top)),
                }
            }
            _ if is_close(lower, top, width) => Err(SearchEnd::Width),
            _ => Ok(middle(lower, top)),
        }
    }

    /// The next load when none has met the goals. `open`: the undecided loads below `top`.
    fn pick_below(&self, settings: &Settings, open: &[f64], top: f64) -> Result<f64, SearchEnd> {
        let promising = || self.all.iter().filter(|point| point.at < top && point.is_promising(&settings.goals));
        if let Some(point) = promising().rfind(|point| point.has_few(&settings.goals)) {
            return Ok(point.at);
        }
        let obstacle = open.first().copied().unwrap_or(top);
        let well = self.looked_well().filter(|at| *at < obstacle);
        if let Some(well) = well {
            // A near load failed in a full trial, so first of all a load is searched that is sustained.
            if self.at(obstacle).is_some_and(|point| point.trials > 0) && self.is_new(well) {
                return Ok(well);
            }
            let middle = settings.rounded((well * obstacle).sqrt());
            if obstacle / well > NEAR && middle < obstacle && self.is_new(middle) {
                return Ok(middle);
            }
            if self.is_new(well) {
                return Ok(well);
            }
        }
        let down = settings.rounded((obstacle / DOWN).max(settings.least));
        // Where fewer requests prove less, a load without losses, or one with unreliable trials, deserves more time.
        let is_enough = self.proves(settings, down);
        let again = || promising().next_back().map(|point| point.at).or_else(|| self.unreliable(obstacle));
        match again().filter(|_| !is_enough) {
            Some(at) => Ok(at),
            None if down < obstacle && self.is_new(down) => Ok(down),
            None => again().ok_or(SearchEnd::Least),
        }
    }

    /// The highest load, up to this one, with unreliable trials, if it is not known to be too high.
    fn unreliable(&self, up_to: f64) -> Option<f64> {
        let is_it =
            |point: &&Point| point.at <= up_to && point.unknown == Some(Disturbance::Stalls) && point.class.is_none();
        self.all.iter().rfind(is_it).map(|point| point.at)
    }

    /// Whether a full trial with this load has enough requests to prove something.
    fn proves(&self, settings: &Settings, at: f64) -> bool {
        let least = settings.goals.iter().map(|(share, _)| *share).filter(|share| *share > 0.0);
        let least = least.fold(1.0, f64::min);
        settings.is_plain || self.per_unit * at * settings.span().as_secs_f64() * least >= ALLOWED_MIN
    }

    /// The best use of the remaining time when it is too short for a new bound: the highest load without losses so far.
    pub(super) fn worth_more(&self, settings: &Settings) -> Option<f64> {
        let top = self.top().unwrap_or(f64::INFINITY);
        let open = self.all.iter().filter(|point| point.at < top && point.is_promising(&settings.goals));
        let well = self.looked_well().filter(|at| self.is_new(*at));
        open.map(|point| point.at).chain(well).max_by(f64::total_cmp)
    }

    /// The next load when nothing above is known to miss, and trials there stay undecided.
    fn pick_above(&self, settings: &Settings, open: f64) -> Result<f64, SearchEnd> {
        let up = settings.rounded((open * DOWN).min(settings.most));
        if up > open && self.is_new(up) { Ok(up) } else { Err(SearchEnd::Noise) }
    }
}
