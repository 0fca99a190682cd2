//! Effects of the generator on a trial: stalls of its threads, late starts, and dropped starts.
//!
//! In a load with a rate, stalls only lengthen times. A start that is late by at most `L`, in a work-conserving system,
//! delays every response by at most `L`; a response that is not read for `R` is later by `R`. So an exchange that
//! misses the goal by more than both was slow without us, and one that met the goal would have met it all the more. In
//! a load of users a stall may also help: they send less meanwhile.
//!
//! Call [`OwnEffects::piece`] for each piece of time, and [`OwnEffects::fault`] at the end.

use std::time::Duration;

use metrics::{GoalMisses, Measure, Snapshot};

use crate::tally::{Backlog, Bin, Tally};
use crate::trial::Disturbance;

/// The allowed lateness of a start: a hundredth of a second's starts are due in this time.
const LATE_MAX: Duration = Duration::from_millis(10);
/// The time in which the starts have to catch up with the plan.
const WINDOW: Duration = Duration::from_secs(1);
/// The starts are behind if more than this fraction of a piece's starts (its divisor) is later than [`LATE_MAX`].
const LATE_PART: u64 = 10;
/// The longest time between two clock reads of a loop, so a tick may hide as much of a stall.
const TICK: Duration = Duration::from_millis(50);
/// Goals of this share and below are of p90 and above.
const SHARE_MAX: f64 = 0.1 + 1e-9;
/// The share of time from which on stalls may have helped a load that waits for its responses.
const STALLED_MAX: f64 = 0.01;

/// A piece of a trial's time, with the generator's effects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimePiece {
    /// Its length.
    pub span: Duration,
    /// How long our threads were stalled though something was due, in total.
    pub stalled: Duration,
    /// The longest tick delay of a thread.
    pub lag: Duration,
    /// Starts whose lateness is known.
    pub starts: u64,
    /// Starts that were more than 10 ms late.
    pub late: u64,
    /// The largest lateness.
    pub latest: Duration,
    /// Starts that were dropped as too late.
    pub dropped: u64,
    /// Exchanges in flight at its end.
    pub in_flight: u64,
}

impl TimePiece {
    /// The piece of a snapshot.
    pub fn new(added: &Snapshot, in_flight: u64, span: Duration) -> Self {
        let all = added.all();
        let lateness = all.by_measure(Measure::Lateness);
        let nanos = |distribution: &metrics::Distribution| Duration::from_nanos(distribution.max().unwrap_or(0));
        Self {
            span,
            stalled: Duration::from_nanos(added.stalled_ns),
            lag: nanos(&added.lag),
            starts: lateness.count(),
            late: lateness.count_between(LATE_MAX.as_nanos() as u64 + 1, u64::MAX),
            latest: nanos(lateness),
            dropped: added.counts.dropped_by_generator(),
            in_flight,
        }
    }
}

/// Facts about a piece of time besides its losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    is_touched: bool,
    backlog: Backlog,
}

impl Mark {
    /// Writes them to the piece.
    pub fn mark(self, bin: &mut Bin) {
        (bin.is_touched, bin.backlog) = (self.is_touched, self.backlog);
    }
}

/// Effects of the generator on a trial.
#[derive(Clone, Debug, Default)]
pub struct OwnEffects {
    /// Per piece: whether it had a stall, or the backlog of one.
    touched: Vec<bool>,
    span: Duration,
    stalled: Duration,
    /// The longest stall of all threads together, in one piece; and what their ticks may hide.
    stalled_max: Duration,
    tick_max: Duration,
    late_max: Duration,
    dropped: u64,
    /// How long the starts have been behind the plan.
    behind: Duration,
    was_behind: bool,
    /// The most exchanges in flight in a piece without a stall.
    in_flight_max: Option<u64>,
    /// The exchanges in flight at the end of the last piece.
    in_flight: Option<u64>,
    /// The remainder of a stall that lies in the pieces to come.
    ahead: Duration,
}

/// Facts about a finished trial.
#[derive(Clone, Copy, Debug)]
pub struct TrialEnding<'a> {
    /// Per goal, the share that may miss it, and the time limit of an exchange, in seconds.
    pub goals: &'a [(f64, Option<f64>)],
    /// The losses.
    pub tally: &'a Tally,
    /// Per goal, the losses with limits that are longer by [`OwnEffects::longest`].
    pub beyond: &'a [GoalMisses],
    /// Whether the load has a rate.
    pub is_open: bool,
    /// Working generator threads.
    pub threads: usize,
    /// Whether one of them had no headroom.
    pub is_full: bool,
    /// The bottleneck, if it is another one on this machine.
    pub limit: Option<Disturbance>,
}

impl OwnEffects {
    /// Sets the exchanges in flight when the first piece begins, if known.
    pub fn begins(&mut self, in_flight: u64) {
        self.in_flight = Some(in_flight);
    }

    /// Adds a piece of time; returns whether a stall affected it, and its backlog.
    pub fn piece(&mut self, piece: &TimePiece) -> Mark {
        self.add(piece);
        self.span += piece.span;
        let is_stalled = !piece.stalled.is_zero();
        let was_touched = self.touched.last().copied().unwrap_or(false);
        let is_back = self.in_flight_max.is_none_or(|most| piece.in_flight <= most);
        // A stall belongs to the piece in which it began, and its backlog ends in the one in which the stall ended.
        let is_touched = is_stalled || !self.ahead.is_zero() || was_touched && !is_back;
        self.ahead = if is_stalled { piece.stalled } else { self.ahead.saturating_sub(piece.span) };
        if !is_touched {
            self.in_flight_max = self.in_flight_max.max(Some(piece.in_flight));
        }
        let is_first = self.touched.is_empty();
        self.touched.push(is_touched);
        let before = self.in_flight.replace(piece.in_flight).unwrap_or(piece.in_flight);
        let starts = piece.starts as f64;
        let ours = starts * piece.stalled.as_secs_f64() / piece.span.as_secs_f64().max(1e-9);
        let grown = piece.in_flight as f64 - before as f64;
        Mark { is_touched, backlog: Backlog { starts, grown, ours, is_first } }
    }

    /// Updates the last piece with late data.
    pub fn mend(&mut self, piece: &TimePiece) {
        self.add(piece);
        if !piece.stalled.is_zero()
            && let Some(last) = self.touched.last_mut()
        {
            (*last, self.ahead) = (true, self.ahead.max(piece.stalled));
        }
    }

    fn add(&mut self, piece: &TimePiece) {
        self.stalled_max = self.stalled_max.max(piece.stalled);
        self.tick_max = self.tick_max.max(piece.span.max(piece.lag + TICK));
        self.late_max = self.late_max.max(piece.latest);
        self.stalled += piece.stalled;
        self.dropped += piece.dropped;
        if piece.starts > 0 {
            let is_behind = piece.late * LATE_PART > piece.starts;
            self.behind = if is_behind { self.behind + piece.span } else { Duration::ZERO };
        }
        self.was_behind |= self.behind >= WINDOW || piece.latest >= WINDOW;
    }

    /// The upper bound of our contribution to a time.
    pub fn longest(&self) -> Duration {
        self.stall_max() + self.late_max
    }

    /// The longest stall of one thread, which is no longer than the stalls of all together.
    pub fn stall_max(&self) -> Duration {
        self.stalled_max.min(self.tick_max)
    }

    /// Whether the starts of each second were within a hundredth of the plan, and none was dropped.
    pub fn is_kept(&self) -> bool {
        self.dropped == 0 && !self.was_behind
    }

    /// The share of our threads' time in which they were stalled.
    fn stalled_share(&self, threads: usize) -> f64 {
        self.stalled.as_secs_f64() / (self.span.as_secs_f64() * threads.max(1) as f64).max(1e-9)
    }

    /// Why the trial proves nothing of the target; `None` if it does.
    pub fn fault(&self, ending: &TrialEnding<'_>) -> Option<Disturbance> {
        let is_unkept = ending.is_open && !self.is_kept();
        if is_unkept {
            return Some(Disturbance::Generator);
        }
        let ours = if ending.is_full { Disturbance::Generator } else { Disturbance::Stalls };
        let is_above = |goal: usize| ending.tally.lost(goal).share() > ending.goals[goal].0;
        let above: Vec<usize> = (0..ending.goals.len()).filter(|goal| is_above(*goal)).collect();
        if above.is_empty() {
            // In the middle of the times a stall may help: other threads get room.
            let are_far = ending.goals.iter().all(|(share, limit_s)| limit_s.is_none() || *share <= SHARE_MAX);
            let may_help = !ending.is_open && ending.is_full || self.stalled_share(ending.threads) >= STALLED_MAX;
            return (may_help && !(ending.is_open && are_far)).then_some(ours);
        }
        if let Some(fault @ (Disturbance::PortsOrDescriptors | Disturbance::Link)) = ending.limit {
            return Some(fault);
        }
        match above.iter().any(|goal| self.is_surely_above(*goal, ending)) {
            true => ending.limit.filter(|fault| *fault == Disturbance::Users),
            false => Some(ours),
        }
    }

    /// Whether it lost more than is allowed, even without all that our stalls may have lost.
    fn is_surely_above(&self, goal: usize, ending: &TrialEnding<'_>) -> bool {
        let lost = ending.tally.lost(goal);
        let in_touched = ending.tally.lost_where(goal, &self.touched);
        // A failure has no time that shows its cause.
        let beyond = match ending.goals[goal].1 {
            Some(_) => ending.beyond.get(goal).map_or(0, |beyond| beyond.lost),
            None => 0,
        };
        let ours = lost.lost.saturating_sub(beyond).min(in_touched);
        GoalMisses { lost: lost.lost - ours, of: lost.of }.share() > ending.goals[goal].0
    }
}

#[cfg(test)]
mod tests;
