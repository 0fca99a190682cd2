//! The search for the highest load that meets its goals, as a state machine.
//!
//! Call [`Search::next`] for the next step, carry it out, and pass the result to [`Search::received`] or
//! [`Search::rested`], until it is over. `elapsed` is the time since the beginning of the search on the caller's clock.
//!
//! It raises the load with short looks until one misses, faster as long as next to nothing is in flight, then halves
//! the distance with full trials. A load is a lower bound when three full trials met the goals together, and at most
//! one of them lost more than is allowed; it is an upper bound as soon as that is certain. What noise leaves undecided
//! lies between the bounds. At last the lower bound is confirmed by a long trial. After RFC 9971 (MLRsearch), with
//! intervals that account for the similarity of neighboring exchanges.
//!
//! A trial made unreliable by generator stalls is repeated, a few times; then its load is unknown, and no bound. Where
//! no load met the goals, more trials are made with a load without losses rather than with a lower one, whose fewer
//! requests prove less.

mod facts;
mod looks;
mod points;

use std::time::Duration;

use crate::find_max_result::{SearchEnd, SearchResult, Slower};
use crate::judge::{GoalLimit, Judge, class_of, is_above};
use crate::tally::Tally;
use crate::trial::{Class, Disturbance, Purpose, Trial, TrialOrder, TrialOutcome};
use looks::UP;
use points::Points;

/// The relative width at which bounds are close enough.
pub const WIDTH: f64 = 0.05;
/// The limit of this machine is determined less exactly.
const OWN_WIDTH: f64 = 0.25;
/// Full trials that make a bound.
const TRIALS: usize = 3;
/// How many of them may lose more than is allowed.
const ABOVE_MAX: usize = 1;
/// Trials at one load that prove nothing before the load counts as above the limit of this machine.
const FAULTS_MAX: usize = 3;
/// A full trial is this fraction of the time limit (its divisor), within bounds.
const PARTS: u32 = 36;
const SPAN_MIN: Duration = Duration::from_millis(500);
const SPAN_MAX: Duration = Duration::from_secs(60);
/// The last full trial at a load may be up to this many times as long.
const LONGER: u32 = 4;
/// The confirming trial is this many times as long.
const CONFIRMED: u32 = 6;
/// The number of pieces of a full trial.
const PIECES: u32 = 40;
/// Shorter pieces say nothing of a slow target.
const BIN_MIN: Duration = Duration::from_millis(25);
/// The warm-up is this fraction of a trial (its divisor).
const WARMUP_PART: u32 = 8;
/// Without a load that met the goals, the search goes down by this factor.
const DOWN: f64 = 1.5;

/// The settings of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Per goal, the share that may miss it, and the time limit of an exchange, in seconds.
    pub goals: Vec<(f64, Option<f64>)>,
    /// The time limit.
    pub budget: Duration,
    /// The most trials, if limited.
    pub trials_max: Option<usize>,
    /// The first load.
    pub start: f64,
    /// The lowest load.
    pub least: f64,
    /// The highest load.
    pub most: f64,
    /// Whether loads are whole numbers.
    pub is_whole: bool,
    /// Whether every trial decides by itself if its load was sustained; then one trial replaces three and a long one.
    pub is_plain: bool,
}

impl Settings {
    fn span(&self) -> Duration {
        (self.budget / PARTS).clamp(SPAN_MIN, SPAN_MAX)
    }

    fn rounded(&self, at: f64) -> f64 {
        if self.is_whole { at.round().max(1.0) } else { at }
    }
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Make a trial.
    Trial(TrialOrder),
    /// Wait until the target has recovered.
    Rest,
    /// The search is over.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SearchStage {
    /// Short looks, each at a higher load than the one before.
    Doubling {
        at: f64,
        is_falling: bool,
    },
    /// Full trials between bounds.
    Between,
    /// Full trials at one load.
    At(f64),
    /// A long trial of the lower bound.
    Confirming(f64),
    Over(SearchEnd),
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    goals: Vec<GoalLimit>,
    stage: SearchStage,
    points: Points,
    trials: Vec<Trial>,
    wants_rest: bool,
    /// Consecutive loads, on the way up, that our stalls left unknown.
    passed: usize,
    /// The load with a second look, since the first one lost too much without being certain.
    again: Option<f64>,
    /// The confirmed load, and the last one that was not confirmed.
    confirmed: Option<f64>,
    not_confirmed: Option<f64>,
    /// The total overhead of trials over their planned time: their ends, and the opening of connections.
    beside: Duration,
    slower: Option<Slower>,
    elapsed: Duration,
}

impl Search {
    /// A new search.
    pub fn new(settings: Settings) -> Self {
        let held_s = (settings.span() * CONFIRMED).as_secs_f64();
        let goals = settings.goals.iter().map(|&(share, limit_s)| GoalLimit { share, limit_s, held_s }).collect();
        let at = settings.start.clamp(settings.least, settings.most);
        Self {
            goals,
            stage: SearchStage::Doubling { at, is_falling: false },
            settings,
            points: Points::default(),
            trials: Vec::new(),
            wants_rest: false,
            passed: 0,
            again: None,
            confirmed: None,
            not_confirmed: None,
            beside: Duration::ZERO,
            slower: None,
            elapsed: Duration::ZERO,
        }
    }

    /// All trials so far.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The judge of a trial while it runs.
    pub fn judge(&self, order: &TrialOrder) -> Judge {
        let nothing = Tally::default();
        let before = match order.purpose {
            Purpose::Full => self.points.at(order.at).map_or(&nothing, |point| &point.tally),
            Purpose::Look | Purpose::Confirm => &nothing,
        };
        Judge::new(&self.goals, *order, before)
    }

    /// The next step.
    pub fn next(&mut self, elapsed: Duration) -> Step {
        self.elapsed = elapsed;
        let is_over = matches!(self.stage, SearchStage::Over(_));
        if !is_over && self.settings.trials_max.is_some_and(|most| self.trials.len() >= most) {
            // No rest after the last trial.
            self.stage = SearchStage::Over(SearchEnd::Trials);
        } else if self.wants_rest && !is_over {
            return Step::Rest;
        }
        loop {
            match self.stage {
                SearchStage::Over(_) => return Step::Over,
                SearchStage::Doubling { at, .. } => {
                    if !self.has_time(self.settings.span()) {
                        self.stage = SearchStage::Over(SearchEnd::Budget);
                        continue;
                    }
                    return self.order(at, Purpose::Look);
                }
                SearchStage::At(at) => {
                    if self.left() >= self.reserve() + self.cost(self.settings.span()) {
                        return self.order(at, Purpose::Full);
                    }
                    self.stage = SearchStage::Between;
                    self.points.leave_open(at);
                    self.end_of(SearchEnd::Budget);
                }
                SearchStage::Between => match self.points.pick(&self.settings) {
                    // A bound needs all of its trials.
                    Ok(at) if self.left() >= self.reserve() + self.cost(self.settings.span()) * self.trials_at(at) => {
                        self.stage = SearchStage::At(at);
                    }
                    Ok(_) => self.end_in_time(),
                    Err(ended) => self.end_of(ended),
                },
                SearchStage::Confirming(at) if self.has_time(self.settings.span() * CONFIRMED) => {
                    return self.order(at, Purpose::Confirm);
                }
                SearchStage::Confirming(_) => self.stage = SearchStage::Over(self.ended_by(SearchEnd::Budget)),
            }
        }
    }

    /// Handles the result of a trial.
    pub fn received(&mut self, order: &TrialOrder, outcome: TrialOutcome, began: Duration, elapsed: Duration) {
        self.elapsed = elapsed;
        let planned = order.warmup + outcome.measured.min(order.span_max);
        self.beside += elapsed.saturating_sub(began).saturating_sub(planned);
        // An aborted trial shows nothing, and neither does one without a reachable target.
        let is_nothing = outcome.was_stopped || outcome.is_gone;
        let class = match outcome.is_held {
            _ if is_nothing => Class::Undecided,
            Some(true) => Class::Met,
            Some(false) => Class::Missed,
            None => class_of(&outcome.tally, &self.goals),
        };
        let is_above = outcome.is_held.map_or_else(|| is_above(&outcome.tally, &self.goals), |is_held| !is_held);
        // A growing backlog misses a goal before anything is lost.
        let is_piling_up = class == Class::Missed && !is_above;
        let is_above = (is_above || is_piling_up) && !is_nothing;
        if outcome.fault.is_none() && !is_nothing {
            self.points.done(order.at, outcome.done_per_s);
        }
        let lost = (0..self.goals.len()).map(|goal| outcome.tally.lost(goal)).collect();
        let (recovered, not_recovered) = (None, None);
        let trial =
            Trial { order: *order, began, lost, class, is_above, is_piling_up, recovered, not_recovered, outcome };
        self.wants_rest = is_above && self.settings.least < order.at;
        if trial.outcome.was_stopped {
            self.stage = SearchStage::Over(SearchEnd::Stopped);
        } else if trial.outcome.is_gone {
            self.stage = SearchStage::Over(SearchEnd::Gone);
        } else {
            match self.stage {
                SearchStage::Doubling { at, is_falling } => self.looked(at, is_falling, &trial),
                SearchStage::At(at) => self.tried(at, &trial),
                SearchStage::Confirming(at) => self.held(at, &trial),
                SearchStage::Between | SearchStage::Over(_) => {}
            }
        }
        self.trials.push(trial);
    }

    /// Handles the recovery of the target after this time; or the end of waiting for it.
    pub fn rested(&mut self, after: Result<Duration, Duration>) {
        self.wants_rest = false;
        if let Some(trial) = self.trials.last_mut() {
            (trial.recovered, trial.not_recovered) = (after.ok(), after.err());
        }
    }

    /// Stops the search: its result is what was found so far.
    pub fn stop(&mut self) {
        if !matches!(self.stage, SearchStage::Over(_)) {
            self.stage = SearchStage::Over(SearchEnd::Stopped);
        }
    }

    /// Ends the search because the target is unreachable.
    pub fn give_up(&mut self) {
        self.stage = SearchStage::Over(SearchEnd::Gone);
    }

    /// The result so far.
    pub fn found(&self) -> SearchResult {
        let (lower, upper, own) = (self.points.lower(), self.points.upper(), self.points.own_limit());
        // Nothing was lost, and still the result is not certain.
        let has_too_few = lower.is_none() && !self.trials.is_empty() && self.trials.iter().all(|trial| !trial.is_above);
        let ended = match self.stage {
            SearchStage::Over(SearchEnd::Least | SearchEnd::Noise | SearchEnd::Budget | SearchEnd::Most)
                if has_too_few =>
            {
                SearchEnd::TooFew
            }
            SearchStage::Over(ended) => ended,
            _ => SearchEnd::Stopped,
        };
        let (noise, is_later) = facts::contradiction(&self.trials).unzip();
        let stalls = noise.and_then(|one| facts::stalls(one.missed_at, &self.points));
        let unknown = self.points.stalled().map(|at| facts::unknown(at, &self.trials));
        let limit = match (upper, own, unknown) {
            (Some(upper), ..) => facts::limit_of(upper, &self.trials),
            (None, Some((_, fault)), _) => fault.limit(),
            (None, None, Some(_)) => Disturbance::Stalls.limit(),
            (None, None, None) => "unknown",
        };
        SearchResult {
            lower,
            upper,
            is_confirmed: lower.is_some() && self.confirmed == lower,
            not_confirmed: self.not_confirmed.filter(|at| self.confirmed != Some(*at)),
            own_limit: own.filter(|_| upper.is_none()),
            unknown,
            ran: facts::ran(&self.trials, upper),
            limit,
            ended,
            noise,
            is_worse: self.slower.is_some() || is_later == Some(true) && stalls.is_none(),
            stalls,
            slower: self.slower,
            recovered: self.trials.iter().filter_map(|trial| trial.recovered).max(),
            not_recovered: self.trials.iter().filter_map(|trial| trial.not_recovered).max(),
            law: facts::law(&self.trials),
            met: self
                .trials
                .iter()
                .filter(|trial| trial.class == Class::Met && trial.outcome.fault.is_none())
                .map(|trial| trial.order.at)
                .max_by(f64::total_cmp),
            took: self.elapsed,
        }
    }

    fn order(&self, at: f64, purpose: Purpose) -> Step {
        let full = self.settings.span();
        let (before, has_faults) = self.points.at(at).map_or((0, false), |point| (point.trials, point.has_faults()));
        let (span, span_max) = match purpose {
            Purpose::Look => (full / 2, full / 2),
            // A trial that may become unreliable again is not made long.
            Purpose::Full if before + 1 < TRIALS || has_faults => (full, full),
            Purpose::Full => (full, full * LONGER),
            Purpose::Confirm => (full * CONFIRMED, full * CONFIRMED),
        };
        Step::Trial(TrialOrder {
            number: self.trials.len() + 1,
            at,
            purpose,
            warmup: full / WARMUP_PART,
            span,
            span_max: span_max.min(span.max(self.left().saturating_sub(self.reserve() + self.cost(Duration::ZERO)))),
            bin: (full / PIECES).max(BIN_MIN),
        })
    }

    /// The time reserved for confirming the lower bound, with a margin: trials end a little later than planned.
    fn reserve(&self) -> Duration {
        let has_found = self.points.lower().is_some_and(|lower| self.confirmed != Some(lower));
        let parts = self.confirm_parts();
        let span = self.settings.span();
        let margin = if parts > 0 { span / WARMUP_PART } else { Duration::ZERO };
        if has_found { self.cost(span * parts) + margin } else { margin }
    }

    /// The estimated number of full trials that a load needs.
    fn trials_at(&self, at: f64) -> u32 {
        let made = self.points.at(at).map_or(0, |point| point.trials);
        if self.settings.is_plain { 1 } else { TRIALS.saturating_sub(made).max(1) as u32 }
    }

    fn left(&self) -> Duration {
        self.settings.budget.saturating_sub(self.elapsed)
    }

    fn has_time(&self, span: Duration) -> bool {
        self.left() >= self.cost(span)
    }

    /// The duration of a trial with its warm-up and its end.
    fn cost(&self, span: Duration) -> Duration {
        let trials = u32::try_from(self.trials.len()).unwrap_or(u32::MAX).max(1);
        span + self.settings.span() / WARMUP_PART + self.beside / trials
    }

    fn confirm_parts(&self) -> u32 {
        if self.settings.is_plain { 0 } else { CONFIRMED }
    }

    /// Handles a full trial.
    fn tried(&mut self, at: f64, trial: &Trial) {
        if let Some(fault) = trial.outcome.fault {
            if self.points.fault(at, fault, FAULTS_MAX) {
                self.stage = SearchStage::Between;
            }
            return;
        }
        let point = self.points.tried(at, trial.order.bin, &trial.outcome.tally, trial.is_above);
        let (trials, above) = (point.trials, point.above);
        let class = if self.settings.is_plain { trial.class } else { class_of(&point.tally, &self.goals) };
        let is_enough = self.settings.is_plain || trials >= TRIALS;
        let closed = match class {
            Class::Missed => Some(Class::Missed),
            Class::Met if is_enough && above <= ABOVE_MAX => Some(Class::Met),
            _ if is_enough => Some(Class::Undecided),
            _ => None,
        };
        if let Some(class) = closed {
            self.points.close(at, class);
            // The one look that found it too much was wrong: looks go on above it.
            let is_open_above = class == Class::Met && self.points.too_much().is_none();
            self.stage = if is_open_above { self.up(at, UP) } else { SearchStage::Between };
        }
    }

    /// Handles the long trial.
    fn held(&mut self, at: f64, trial: &Trial) {
        if let Some(fault) = trial.outcome.fault {
            if self.points.fault(at, fault, FAULTS_MAX) {
                self.stage = SearchStage::Over(self.ended_by(SearchEnd::Width));
            }
            return;
        }
        let tally = &trial.outcome.tally;
        self.slower = facts::slower(at, tally);
        let last = tally.last(1.0 / 3.0);
        let point = self.points.tried(at, trial.order.bin, tally, trial.is_above);
        let pooled = class_of(&point.tally, &self.goals);
        let is_fading = self.slower.is_some_and(|slower| facts::would_be_too_slow(&slower, &self.settings.goals));
        let is_missed = [trial.class, class_of(&last, &self.goals)].contains(&Class::Missed) || is_fading;
        let class = if is_missed { Class::Missed } else { pooled };
        // All together may meet the goals, and this one not: then the bound stays, unconfirmed, and is tried again if
        // there is time.
        let is_confirmed = class == Class::Met && !trial.is_above;
        if is_confirmed {
            self.confirmed = Some(at);
        } else {
            self.not_confirmed = Some(at);
        }
        self.points.close(at, class);
        self.stage = match is_confirmed {
            true => {
                SearchStage::Over(self.ended_by(self.points.pick(&self.settings).err().unwrap_or(SearchEnd::Budget)))
            }
            // Continue below it.
            false => SearchStage::Between,
        };
    }

    /// Ends the search for this reason: the lower bound is confirmed, if there is time.
    fn end_of(&mut self, ended: SearchEnd) {
        let confirms = self.settings.span() * self.confirm_parts();
        self.stage = match self.points.lower() {
            Some(at) if !self.settings.is_plain && self.confirmed != Some(at) && self.has_time(confirms) => {
                SearchStage::Confirming(at)
            }
            _ => SearchStage::Over(self.ended_by(ended)),
        };
    }

    /// Ends a search whose time is too short for a bound. A load that met the goals is confirmed; without one, all of
    /// the time is for a load that may meet them.
    fn end_in_time(&mut self) {
        let has_some = self.left() >= self.reserve() + self.cost(self.settings.span());
        match self.points.worth_more(&self.settings) {
            Some(at) if has_some && self.points.lower().is_none() => self.stage = SearchStage::At(at),
            _ => self.end_of(SearchEnd::Budget),
        }
    }

    fn ended_by(&self, ended: SearchEnd) -> SearchEnd {
        match (self.points.upper(), self.points.own_limit(), self.points.stalled()) {
            _ if ended == SearchEnd::Budget => ended,
            (None, Some(_), _) => SearchEnd::OwnLimit,
            (_, _, Some(_)) if matches!(ended, SearchEnd::Width | SearchEnd::Least | SearchEnd::Noise) => {
                SearchEnd::Stalls
            }
            _ => ended,
        }
    }
}

/// A load that this machine could not make, and the reason.
pub(crate) type OwnLimit = (f64, Disturbance);

#[cfg(test)]
mod tests;
