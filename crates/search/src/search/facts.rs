//! Facts from the trials of a search besides its bounds.

use std::time::Duration;

use super::Points;
use crate::find_max_result::{Noise, Ran, Slower, Stalls, Unknown};
use crate::tally::Tally;
use crate::trial::{Class, Disturbance, Purpose, Trial};
use crate::usl::Usl;

/// The factor between a load that met its goals and a lower one that missed, above which the contradiction is not just
/// a few percent of noise.
const HIGHER: f64 = 1.3;
/// The same if both are certain by themselves.
const SURELY_HIGHER: f64 = 1.0;
/// Stalls are assumed when losses lie in this share of the pieces, and are this share of all losses.
const STALL_PIECES: f64 = 0.1;
const STALL_LOSSES: f64 = 0.8;
/// The least losses for that.
const STALL_LOSSES_MIN: u64 = 20;
/// In a stall nearly all are lost, for longer than a queue fluctuates.
const STALL_SHARE_MIN: f64 = 0.5;
const STALL_BIN_MIN: Duration = Duration::from_millis(200);
/// A law that deviates more from a trial is useless.
const LAW_WORST_MAX: f64 = 0.2;
/// The typical time of a target that has become worse is longer by this factor, though its load is lower.
const SLOWER_USUALLY: f64 = 1.05;
/// The last third of a long trial is slower than the first by this factor, and by this many standard errors.
const SLOWER: f64 = 1.2;
const SLOWER_ERRORS: f64 = 4.0;
/// A load that grows slower is not sustained if its mean would reach the limit of a goal in this many times as long.
const SLOWER_AHEAD: f64 = 10.0;
/// The bottleneck name of a run that shared a full machine with its target.
const MACHINE: &str = "machine";

/// A load that lost more than is allowed, and a higher one that met the goals; and whether the losing trials always
/// came later and had longer typical times: then the target has become worse, and does not just stall now and then.
pub(super) fn contradiction(trials: &[Trial]) -> Option<(Noise, bool)> {
    let counts = |trial: &&Trial| {
        let is_good = trial.outcome.fault.is_none() && !trial.outcome.was_stopped && !trial.outcome.is_gone;
        is_good && trial.order.purpose != Purpose::Look
    };
    let counted = || trials.iter().filter(counts);
    let contradicts = |bad: &Trial, good: &Trial| {
        let is_sure = good.class == Class::Met && bad.class == Class::Missed;
        let factor = if is_sure { SURELY_HIGHER } else { HIGHER };
        bad.is_above && !good.is_above && good.order.at >= bad.order.at * factor
    };
    let pairs = || counted().flat_map(|bad| counted().map(move |good| (bad, good)));
    let found: Vec<(&Trial, &Trial)> = pairs().filter(|(bad, good)| contradicts(bad, good)).collect();
    let (bad, good) = found.first()?;
    let is_later = found.iter().all(|(bad, good)| bad.order.number > good.order.number);
    let usual = |trial: &Trial| trial.outcome.p50_ns.unwrap_or(0) as f64;
    let slower = found.iter().filter(|(bad, good)| usual(bad) > usual(good) * SLOWER_USUALLY).count();
    let is_worse = is_later && slower * 2 > found.len();
    Some((Noise { missed_at: bad.order.at, met_at: good.order.at }, is_worse))
}

/// Detects stalls of the target: nearly all losses of a load lie in a few pieces of time, with better ones after them.
pub(super) fn stalls(at: f64, points: &Points) -> Option<Stalls> {
    let point = points.at(at)?;
    let stalls_of = |goal| {
        let pieces = point.tally.worst_pieces(goal, STALL_LOSSES);
        let (lost, of) = (point.tally.lost(goal).lost, point.tally.len());
        let in_them = point.tally.share_in(goal, &pieces);
        let goes_on = pieces.iter().max().is_some_and(|last| (of - last) as f64 > STALL_PIECES * of as f64);
        let is_it = lost >= STALL_LOSSES_MIN
            && point.bin >= STALL_BIN_MIN
            && in_them >= STALL_SHARE_MIN
            && goes_on
            && pieces.len() as f64 <= STALL_PIECES * of as f64;
        is_it.then_some(Stalls { at: point.at, pieces: pieces.len(), of, bin: point.bin })
    };
    (0..point.tally.goals()).find_map(stalls_of)
}

/// The trials of a load that our stalls made unreliable.
pub(super) fn unknown(at: f64, trials: &[Trial]) -> Unknown {
    let unreliable =
        || trials.iter().filter(|trial| trial.order.at == at && trial.outcome.fault == Some(Disturbance::Stalls));
    let stall = unreliable().map(|trial| trial.outcome.stall).max().unwrap_or_default();
    Unknown { at, trials: unreliable().count(), stall }
}

/// The highest load, below the upper bound, with a trial without losses that showed that its goals are met; without
/// one, a trial without losses. Also the total duration of such trials, and their number of all.
pub(super) fn ran(trials: &[Trial], upper: Option<f64>) -> Option<Ran> {
    let is_good = |trial: &&Trial| {
        let is_nothing = trial.outcome.fault.is_some() || trial.outcome.is_gone || trial.class == Class::Missed;
        let has_lost = trial.lost.iter().any(|lost| lost.lost > 0) || trial.lost.iter().all(|lost| lost.of == 0);
        !is_nothing && !has_lost && upper.is_none_or(|upper| trial.order.at < upper)
    };
    let good = || trials.iter().filter(is_good);
    let highest = |is_met: bool| {
        let some = good().filter(|trial| !is_met || trial.class == Class::Met);
        some.map(|trial| trial.order.at).max_by(f64::total_cmp)
    };
    let at = highest(true).or_else(|| highest(false))?;
    let there = || good().filter(|trial| trial.order.at == at);
    let of = trials.iter().filter(|trial| trial.order.at == at).count();
    let is_met = there().any(|trial| trial.class == Class::Met);
    Some(Ran { at, span: there().map(|trial| trial.outcome.measured).sum(), trials: there().count(), of, is_met })
}

/// Detects a target that became slower during a long trial.
pub(super) fn slower(at: f64, tally: &Tally) -> Option<Slower> {
    let (first_s, first_error) = tally.first(1.0 / 3.0).mean_with_error()?;
    let (last_s, last_error) = tally.last(1.0 / 3.0).mean_with_error()?;
    let error = first_error.hypot(last_error);
    let is_slower = last_s > SLOWER * first_s && last_s - first_s > SLOWER_ERRORS * error;
    is_slower.then_some(Slower { at, first_s, last_s })
}

/// Whether at this pace the mean response time alone would exceed the limit of a goal before long.
pub(super) fn would_be_too_slow(slower: &Slower, goals: &[(f64, Option<f64>)]) -> bool {
    // From the middle of the first third to that of the last, two thirds of the trial.
    let later_s = slower.last_s + (slower.last_s - slower.first_s) * 1.5 * SLOWER_AHEAD;
    goals.iter().filter_map(|(_, limit_s)| *limit_s).any(|limit_s| later_s > limit_s)
}

/// The bottleneck of a load that was too high: the target, unless it shared a full machine with us in each trial that
/// shows it.
pub(super) fn limit_of(upper: f64, trials: &[Trial]) -> &'static str {
    let mut missed = trials.iter().filter(|trial| trial.order.at == upper && trial.class == Class::Missed).peekable();
    let is_machine = missed.peek().is_some() && missed.all(|trial| trial.outcome.limit == MACHINE);
    if is_machine { MACHINE } else { "target" }
}

/// The law of scalability through the trials: the number in the system is rate x mean time (Little).
pub(super) fn law(trials: &[Trial]) -> Option<Usl> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut loads: Vec<f64> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.outcome.fault.is_none() && trial.order.purpose != Purpose::Confirm)
    {
        // With a growing backlog, the number in the system is not a property of the system.
        if trial.class == Class::Missed || loads.contains(&trial.order.at) {
            continue;
        }
        let rate = trial.outcome.done_per_s;
        loads.push(trial.order.at);
        points.push((rate * trial.outcome.tally.times().mean(), rate));
    }
    // A law that fits badly is dropped.
    Usl::fit(&points).filter(|law| law.worst <= LAW_WORST_MAX)
}
