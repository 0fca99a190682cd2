//! One trial, judged while it runs.

use crate::tally::{Bin, Tally};
use crate::trial::{Class, Purpose, TrialOrder};

/// How sure a decision is: one in forty, on each side, over the four looks that a trial has at most (Pocock).
const Z: f64 = 2.36;
/// Fewer pieces are not looked at.
const PIECES_MIN: usize = 8;

/// What a goal allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GoalLimit {
    /// The share that may be lost.
    pub(crate) share: f64,
    /// The time that an exchange may take, in seconds, of a goal of times.
    pub(crate) limit_s: Option<f64>,
    /// Whoever holds a load holds it for so long, in seconds.
    pub(crate) held_s: f64,
}

/// Whether a trial goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It does.
    On,
    /// What it shows is sure, or it has had its time.
    Stop,
}

/// Looks at a trial piece by piece.
#[derive(Clone, Debug)]
pub struct Judge {
    goals: Vec<GoalLimit>,
    order: TrialOrder,
    /// What trials with the same load have shown before.
    before: usize,
    all: Tally,
}

impl Judge {
    pub(crate) fn new(goals: &[GoalLimit], order: TrialOrder, before: &Tally) -> Self {
        Self { goals: goals.to_vec(), order, before: before.len(), all: before.clone() }
    }

    /// One more piece. `in_flight`: goal by goal, what is under way and lost already.
    pub fn piece(&mut self, bin: Bin, in_flight: &[u64]) -> Go {
        self.all.push(bin);
        let own = self.all.len() - self.before;
        let pieces = |span: std::time::Duration| (span.as_secs_f64() / self.order.bin.as_secs_f64()).round() as usize;
        let (planned, most) = (pieces(self.order.span).max(1), pieces(self.order.span_max).max(1));
        if own >= most {
            return Go::Stop;
        }
        if own < PIECES_MIN {
            return Go::On;
        }
        if own >= planned {
            // As long again, up to four times, as long as it is not sure.
            let is_look = own.is_multiple_of(planned);
            let class = classed(&self.all, &self.goals, Z, in_flight);
            return if is_look && class != Class::Undecided { Go::Stop } else { Go::On };
        }
        // Whoever looks all the time must be surer at the beginning (O'Brien and Fleming).
        let z = Z / (own as f64 / planned as f64).sqrt();
        match (classed(&self.all, &self.goals, z, in_flight), self.order.purpose) {
            (Class::Missed, _) | (Class::Met, Purpose::Look) => Go::Stop,
            _ => Go::On,
        }
    }
}

/// What has been shown, at the end of a trial.
pub(crate) fn class_of(tally: &Tally, goals: &[GoalLimit]) -> Class {
    classed(tally, goals, Z, &[])
}

fn classed(tally: &Tally, goals: &[GoalLimit], z: f64, in_flight: &[u64]) -> Class {
    let mut class = Class::Met;
    for (number, goal) in goals.iter().enumerate() {
        let more = in_flight.get(number).copied().unwrap_or(0);
        if goal.share <= 0.0 {
            // Where nothing may be lost, one says all, and nothing else is ever sure.
            if tally.lost(number).lost + more > 0 {
                return Class::Missed;
            }
            continue;
        }
        let bounds = tally.bounds(number, z, more, goal.limit_s);
        let is_above = bounds.low > goal.share && !tally.is_one_event(number);
        if is_above || would_miss(tally, goal, z) {
            return Class::Missed;
        }
        if bounds.high > goal.share || would_miss(tally, goal, 1.0) {
            class = Class::Undecided;
        }
    }
    class
}

/// If what piles up goes on to, the goal is missed before the load was held for long: a request waits for all that came before it.
fn would_miss(tally: &Tally, goal: &GoalLimit, z: f64) -> bool {
    goal.limit_s.is_some_and(|limit| tally.piles_up(z) * goal.held_s > limit)
}

/// More was lost than a goal allows, sure or not.
pub(crate) fn is_above(tally: &Tally, goals: &[GoalLimit]) -> bool {
    goals.iter().enumerate().any(|(number, goal)| tally.lost(number).share() > goal.share)
}
