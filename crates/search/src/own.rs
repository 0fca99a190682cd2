//! What of a trial was our own doing: stalls of our threads, starts that came late, and starts that we dropped.
//!
//! In a load with a rate stalls only lengthen times. A start that is late by at most `L`, in a system that works off what comes, makes
//! every answer later by at most `L`; one that nobody reads for `R` is later by `R`. So whoever is slower than the goal by more than
//! both was slow without us, and what met the goal would have met it all the more. In a load of users a stall may also help: they
//! send less meanwhile.
//!
//! Tell [`OwnEffects::piece`] each piece of time, and ask [`OwnEffects::fault`] at the end.

use std::time::Duration;

use metrics::{GoalMisses, Measure, Snapshot};

use crate::tally::{Backlog, Bin, Tally};
use crate::trial::Disturbance;

/// A start may be this late: a hundredth of the starts of a second.
const LATE_MAX: Duration = Duration::from_millis(10);
/// In each such time the starts have to catch up with the plan.
const WINDOW: Duration = Duration::from_secs(1);
/// They have when this part of the starts of a piece, at most, is later than [`LATE_MAX`].
const LATE_PART: u64 = 10;
/// Loops look at the clock at least this often, so a tick may hide as much of a stall.
const TICK: Duration = Duration::from_millis(50);
/// Goals of this share and below are of p90 and above.
const SHARE_MAX: f64 = 0.1 + 1e-9;
/// From this share of the time on stalls may have helped a load that waits for its answers.
const STALLED_MAX: f64 = 0.01;

/// A piece of the time of a trial, by what we did in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimePiece {
    /// How long it is.
    pub span: Duration,
    /// How long our threads stood still though something was due, in all.
    pub stalled: Duration,
    /// How late a tick of a thread was at most.
    pub lag: Duration,
    /// Starts whose lateness is known.
    pub starts: u64,
    /// Those of them that were more than 10 ms late.
    pub late: u64,
    /// The latest.
    pub latest: Duration,
    /// Starts that were too late when we got to them.
    pub dropped: u64,
    /// What is under way at its end.
    pub in_flight: u64,
}

impl TimePiece {
    /// By what was seen in it.
    pub fn of(added: &Snapshot, in_flight: u64, span: Duration) -> Self {
        let all = added.all();
        let lateness = all.of(Measure::Lateness);
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

/// What is known of a piece of time beside what it lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    is_touched: bool,
    backlog: Backlog,
}

impl Mark {
    /// Writes it to the piece.
    pub fn mark(self, bin: &mut Bin) {
        (bin.is_touched, bin.backlog) = (self.is_touched, self.backlog);
    }
}

/// What of a trial was our own doing.
#[derive(Clone, Debug, Default)]
pub struct OwnEffects {
    /// Piece by piece: a stall was in it, or what runs behind one.
    touched: Vec<bool>,
    span: Duration,
    stalled: Duration,
    /// Of all threads together, in one piece; and what their ticks leave room for.
    stalled_max: Duration,
    tick_max: Duration,
    late_max: Duration,
    dropped: u64,
    /// How long the starts have been behind the plan.
    behind: Duration,
    was_behind: bool,
    /// What was under way at most, where no stall was.
    in_flight_max: Option<u64>,
    /// What was under way at last.
    in_flight: Option<u64>,
    /// How much of a stall lies in the pieces to come.
    ahead: Duration,
}

/// What is known of a trial when it is over.
#[derive(Clone, Copy, Debug)]
pub struct TrialEnding<'a> {
    /// Goal by goal, the share that may be lost, and the time that an exchange may take, in seconds.
    pub goals: &'a [(f64, Option<f64>)],
    /// What it lost.
    pub tally: &'a Tally,
    /// Goal by goal, what it lost with limits that are longer by [`OwnEffects::longest`].
    pub beyond: &'a [GoalMisses],
    /// The load has a rate.
    pub is_open: bool,
    /// Our threads that worked.
    pub threads: usize,
    /// One of them had no time left.
    pub is_full: bool,
    /// Who else on this machine was the limit.
    pub limit: Option<Disturbance>,
}

impl OwnEffects {
    /// So much is under way when the first piece begins, where that is known.
    pub fn begins(&mut self, in_flight: u64) {
        self.in_flight = Some(in_flight);
    }

    /// One more piece of time: whether a stall of ours touched it, and what piled up in it.
    pub fn piece(&mut self, piece: &TimePiece) -> Mark {
        self.add(piece);
        self.span += piece.span;
        let is_stalled = !piece.stalled.is_zero();
        let was_touched = self.touched.last().copied().unwrap_or(false);
        let is_back = self.in_flight_max.is_none_or(|most| piece.in_flight <= most);
        // A stall belongs to the piece in which it began, and what was under way ends in the one in which it ended.
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

    /// More of the last piece, which came late.
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

    /// At most so much longer did we make a time.
    pub fn longest(&self) -> Duration {
        self.stall_max() + self.late_max
    }

    /// The longest stall: of one thread, which is no longer than those of all of them together.
    pub fn stall_max(&self) -> Duration {
        self.stalled_max.min(self.tick_max)
    }

    /// The starts of each second were within a hundredth of the plan, and we dropped none.
    pub fn is_kept(&self) -> bool {
        self.dropped == 0 && !self.was_behind
    }

    /// The share of the time of our threads in which they stood still.
    fn stalled_share(&self, threads: usize) -> f64 {
        self.stalled.as_secs_f64() / (self.span.as_secs_f64() * threads.max(1) as f64).max(1e-9)
    }

    /// Why the trial proves nothing of the target; `None` where it does.
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

    /// It lost more than is allowed, also without all that our stalls may have lost.
    fn is_surely_above(&self, goal: usize, ending: &TrialEnding<'_>) -> bool {
        let lost = ending.tally.lost(goal);
        let in_touched = ending.tally.lost_where(goal, &self.touched);
        // What failed has no time that says whose doing it was.
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
