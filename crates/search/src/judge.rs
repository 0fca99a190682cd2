//! The judge of one running trial.

use crate::tally::{Bin, Tally};
use crate::trial::{Class, Purpose, TrialOrder};

/// The confidence of a decision: one in forty, on each side, over the up to four looks at a trial (Pocock).
const Z: f64 = 2.36;
/// The minimum number of pieces for a decision.
const PIECES_MIN: usize = 8;

/// The limits of a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GoalLimit {
    /// The share that may miss it.
    pub(crate) share: f64,
    /// The time limit of an exchange, in seconds, for goals on times.
    pub(crate) limit_s: Option<f64>,
    /// How long a load must be sustained, in seconds.
    pub(crate) held_s: f64,
}

/// Whether a trial goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It goes on.
    On,
    /// Its result is certain, or its time is over.
    Stop,
}

/// The judge of a trial, piece by piece.
#[derive(Clone, Debug)]
pub struct Judge {
    goals: Vec<GoalLimit>,
    order: TrialOrder,
    /// The number of pieces of earlier trials with the same load.
    before: usize,
    all: Tally,
}

impl Judge {
    pub(crate) fn new(goals: &[GoalLimit], order: TrialOrder, before: &Tally) -> Self {
        Self { goals: goals.to_vec(), order, before: before.len(), all: before.clone() }
    }

    /// Adds a piece. `in_flight`: per goal, exchanges in flight that already miss it.
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
            // While it is not certain, as long again, up to four times.
            let is_look = own.is_multiple_of(planned);
            let class = classed(&self.all, &self.goals, Z, in_flight);
            return if is_look && class != Class::Undecided { Go::Stop } else { Go::On };
        }
        // Continuous looks need more confidence at the beginning (O'Brien and Fleming).
        let z = Z / (own as f64 / planned as f64).sqrt();
        match (classed(&self.all, &self.goals, z, in_flight), self.order.purpose) {
            (Class::Missed, _) | (Class::Met, Purpose::Look) => Go::Stop,
            _ => Go::On,
        }
    }
}

/// The result at the end of a trial.
pub(crate) fn class_of(tally: &Tally, goals: &[GoalLimit]) -> Class {
    classed(tally, goals, Z, &[])
}

fn classed(tally: &Tally, goals: &[GoalLimit], z: f64, in_flight: &[u64]) -> Class {
    let mut class = Class::Met;
    for (number, goal) in goals.iter().enumerate() {
        let more = in_flight.get(number).copied().unwrap_or(0);
        if goal.share <= 0.0 {
            // Where no miss is allowed, one decides, and nothing else is ever certain.
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

/// Whether the growing backlog would miss the goal before the load was sustained for long: a request waits for all
/// earlier ones.
fn would_miss(tally: &Tally, goal: &GoalLimit, z: f64) -> bool {
    goal.limit_s.is_some_and(|limit| tally.piles_up(z) * goal.held_s > limit)
}

/// Whether more was lost than a goal allows, certain or not.
pub(crate) fn is_above(tally: &Tally, goals: &[GoalLimit]) -> bool {
    goals.iter().enumerate().any(|(number, goal)| tally.lost(number).share() > goal.share)
}
