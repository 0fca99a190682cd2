//! The loads that were tried, and which one is tried next.

use std::time::Duration;

use super::{OWN_WIDTH, OwnLimit, Settings, WIDTH};
use crate::found::Ended;
use crate::search::DOWN;
use crate::tally::Tally;
use crate::trial::{Class, Fault};

/// A load that looked well is not tried itself as long as there is room between it and one that did not.
const NEAR: f64 = 1.15;

/// A load, and what full trials have shown of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) at: f64,
    pub(super) tally: Tally,
    pub(super) trials: usize,
    /// How many of them lost more than is allowed.
    pub(super) above: usize,
    faults: usize,
    /// The length of a piece of its time.
    pub(super) bin: Duration,
    /// What it came to.
    pub(super) class: Option<Class>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    /// In the order of their loads.
    all: Vec<Point>,
    /// Short looks: the load, and whether it may be met.
    looks: Vec<(f64, bool)>,
    own_limit: Option<OwnLimit>,
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

    /// A short look.
    pub(super) fn looked(&mut self, at: f64, class: Class, is_above: bool) {
        self.entry(at).faults = 0;
        self.looks.push((at, class != Class::Missed && !is_above));
        if class == Class::Missed {
            self.entry(at).class = Some(Class::Missed);
        }
    }

    /// A full trial.
    pub(super) fn tried(&mut self, at: f64, bin: Duration, tally: &Tally, is_above: bool) -> &Point {
        let point = self.entry(at);
        point.bin = bin;
        point.tally.extend(tally);
        point.trials += 1;
        point.faults = 0;
        point.above += usize::from(is_above);
        point
    }

    /// A trial that proved nothing; how many did at this load.
    pub(super) fn fault(&mut self, at: f64, fault: Fault) -> usize {
        let point = self.entry(at);
        point.faults += 1;
        let faults = point.faults;
        if faults >= super::FAULTS_MAX && self.own_limit.is_none_or(|(own, _)| at < own) {
            self.own_limit = Some((at, fault));
        }
        faults
    }

    pub(super) fn close(&mut self, at: f64, class: Class) {
        self.entry(at).class = Some(class);
    }

    fn of(&self, class: Class) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.all.iter().filter(move |point| point.class == Some(class)).map(|point| point.at)
    }

    /// The lowest load that was missed: a failure is believed, whatever a higher load did.
    pub(super) fn upper(&self) -> Option<f64> {
        self.of(Class::Missed).next()
    }

    /// The highest load below it that was met.
    pub(super) fn lower(&self) -> Option<f64> {
        let upper = self.upper().unwrap_or(f64::INFINITY);
        self.of(Class::Met).rfind(|at| *at < upper)
    }

    /// What was met is not more than this machine can do.
    pub(super) fn own_limit(&self) -> Option<OwnLimit> {
        self.own_limit.filter(|(at, _)| self.lower().is_none_or(|lower| *at > lower))
    }

    /// The highest load that a short look did not find too high, below what is known to be.
    pub(super) fn looked_well(&self) -> Option<f64> {
        let bound = self.ceiling().unwrap_or(f64::INFINITY);
        self.looks.iter().filter(|(at, is_well)| *is_well && *at < bound).map(|(at, _)| *at).max_by(f64::total_cmp)
    }

    /// The lowest load that a short look found too high, sure or not.
    fn looked_badly(&self) -> Option<f64> {
        self.looks.iter().filter(|(_, is_well)| !is_well).map(|(at, _)| *at).min_by(f64::total_cmp)
    }

    /// The lowest load that was missed, or is more than this machine can do.
    fn ceiling(&self) -> Option<f64> {
        let own = self.own_limit().map(|(at, _)| at);
        self.upper().into_iter().chain(own).min_by(f64::total_cmp)
    }

    /// The load that is tried next, or why there is none.
    pub(super) fn pick(&self, settings: &Settings) -> Result<f64, Ended> {
        let round = |at: f64| if settings.is_whole { at.round().max(1.0) } else { at };
        let middle = |low: f64, high: f64| round((low * high).sqrt());
        let is_new = |at: f64| self.at(at).is_none_or(|point| point.class.is_none());
        let width = if self.upper().is_none() && self.own_limit().is_some() { OWN_WIDTH } else { WIDTH };
        let is_close = |low: f64, high: f64, width: f64| high / low <= 1.0 + width || !is_new(middle(low, high));
        let Some(top) = self.ceiling().or_else(|| self.looked_badly()) else {
            // Nothing was missed: the largest load that may be tried was reached.
            let at = settings.most;
            return if is_new(at) { Ok(at) } else { Err(Ended::Most) };
        };
        let is_known = self.ceiling() == Some(top);
        let open: Vec<f64> = self.of(Class::Undecided).filter(|at| *at < top).collect();
        let Some(lower) = self.lower() else {
            let below = self.pick_below(settings, open.first().copied().unwrap_or(top)).map(round);
            // A short look is not enough to give up.
            return if below.is_err() && is_new(top) { Ok(top) } else { below };
        };
        if !is_known && !is_new(top) {
            // Nobody is sure of it, so the bound lies above it.
            return self.pick_above(settings, top).map(round);
        }
        let open: Vec<f64> = open.into_iter().filter(|at| *at > lower).collect();
        match (open.first(), open.last()) {
            // A short look that lost too much, and nobody is sure.
            _ if !is_known && is_new(top) => Ok(top),
            (Some(first), Some(last)) => {
                // What is open in the middle is left: each side is narrowed by itself.
                let half = width / 2.0;
                let (below, above) = (is_close(lower, *first, half), is_close(*last, top, half) || !is_known);
                match (below, above) {
                    (true, true) if is_known => Err(Ended::Noise),
                    (true, true) => self.pick_above(settings, *last).map(round),
                    (false, true) => Ok(middle(lower, *first)),
                    (true, false) => Ok(middle(*last, top)),
                    (false, false) if first / lower > top / last => Ok(middle(lower, *first)),
                    (false, false) => Ok(middle(*last, top)),
                }
            }
            _ if is_close(lower, top, width) => Err(Ended::Width),
            _ => Ok(middle(lower, top)),
        }
    }

    /// No load was met yet.
    fn pick_below(&self, settings: &Settings, obstacle: f64) -> Result<f64, Ended> {
        let is_new = |at: f64| self.at(at).is_none_or(|point| point.class.is_none());
        let well = self.looked_well().filter(|at| *at < obstacle);
        if let Some(well) = well {
            let middle = (well * obstacle).sqrt();
            if obstacle / well > NEAR && is_new(middle) {
                return Ok(middle);
            }
            if is_new(well) {
                return Ok(well);
            }
        }
        let down = (obstacle / DOWN).max(settings.least);
        if down < obstacle && is_new(down) { Ok(down) } else { Err(Ended::Least) }
    }

    /// Nothing above is known to be missed, and what is tried there stays open.
    fn pick_above(&self, settings: &Settings, open: f64) -> Result<f64, Ended> {
        let up = (open * DOWN).min(settings.most);
        let is_new = self.at(up).is_none_or(|point| point.class.is_none());
        if up > open && is_new { Ok(up) } else { Err(Ended::Noise) }
    }
}
