//! Losses of trials per piece of time, and the bounds of their true share.

use metrics::{Class, GoalMisses, Measure, Snapshot};

use crate::statistics::{student, variance_of_sum, wilson};

/// A spread that is a smaller part of the mean counts as none.
const SPREAD_MIN: f64 = 1e-3;
/// Slow fluctuations of times are far from a limit if this many times their size do not reach it.
const FAR: f64 = 5.0;
/// The least backlog that counts.
const PILE_MIN: f64 = 8.0;
/// With a growing backlog, the last third of the response times is longer than the first by this factor.
const PILE_SLOWER: f64 = 1.2;
/// Losses in no more than this part of the time may be one event.
const EVENT_PART: f64 = 0.2;
/// The least pieces without a stall that show how alike neighbors are.
const UNTOUCHED_MIN: usize = 16;

/// Moments of response times, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The count.
    pub count: f64,
    /// The sum.
    pub sum: f64,
    /// The sum of squares.
    pub squares: f64,
    /// The maximum.
    pub most: f64,
}

impl Moments {
    /// The response times of successes.
    pub fn new(seen: &Snapshot) -> Self {
        let succeeded = seen.class(Class::Succeeded);
        let times = succeeded.by_measure(Measure::Response);
        let (count, mean) = (times.count() as f64, times.mean().unwrap_or(0.0) / 1e9);
        let spread = times.stdev().unwrap_or(0.0) / 1e9;
        let squares = count * (spread * spread + mean * mean);
        Self { count, sum: times.sum() as f64 / 1e9, squares, most: times.max().unwrap_or(0) as f64 / 1e9 }
    }

    /// The moments of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
            most: self.most.max(other.most),
        }
    }

    /// The mean; zero if empty.
    pub fn mean(self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }

    fn variance(self) -> f64 {
        if self.count > 1.0 { (self.squares / self.count - self.mean().powi(2)).max(0.0) } else { 0.0 }
    }
}

/// The arrivals of a piece of time, and the growth of the backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Starts.
    pub(crate) starts: f64,
    /// The growth of exchanges in flight from its beginning to its end.
    pub(crate) grown: f64,
    /// The part of the growth that generator stalls may have added.
    pub(crate) ours: f64,
    /// Whether it is the first piece of a trial.
    pub(crate) is_first: bool,
}

/// A piece of the time of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bin {
    /// The losses per goal.
    pub lost: Vec<GoalMisses>,
    /// The response times of successes.
    pub times: Moments,
    /// Whether it had a generator stall, or its backlog: then its times say nothing of the target.
    pub is_touched: bool,
    /// The backlog, in a load with a rate.
    pub backlog: Backlog,
}

/// All pieces of one trial, or of several with the same load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    bins: Vec<Bin>,
}

/// Bounds of the true share that misses a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Tally {
    /// Adds a piece.
    pub fn push(&mut self, bin: Bin) {
        self.bins.push(bin);
    }

    /// Updates the last piece with late data.
    pub fn mend(&mut self, more: Bin) {
        let Some(last) = self.bins.last_mut() else { return self.bins.push(more) };
        last.times = last.times.with(more.times);
        last.is_touched |= more.is_touched;
        last.lost.iter_mut().zip(more.lost).for_each(|(lost, more)| *lost = lost.with(more));
    }

    /// Appends all pieces of another tally.
    pub fn extend(&mut self, other: &Self) {
        self.bins.extend_from_slice(&other.bins);
    }

    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.bins.len()
    }

    /// The number of goals.
    pub(crate) fn goals(&self) -> usize {
        self.bins.first().map_or(0, |bin| bin.lost.len())
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// The losses of a goal in total.
    pub fn lost(&self, goal: usize) -> GoalMisses {
        self.bins
            .iter()
            .map(|bin| bin.lost.get(goal).copied().unwrap_or_default())
            .fold(GoalMisses::default(), GoalMisses::with)
    }

    /// The losses of a goal in some of the pieces; data after the last of them counts for that one.
    pub(crate) fn lost_where(&self, goal: usize, is_counted: &[bool]) -> u64 {
        let last = is_counted.last().copied().unwrap_or(false);
        let counted = self.bins.iter().enumerate().filter(|(at, _)| is_counted.get(*at).copied().unwrap_or(last));
        counted.filter_map(|(_, bin)| bin.lost.get(goal)).map(|lost| lost.lost).sum()
    }

    /// Whether all losses of a goal are in one short time: it may not come again, so it is no proof.
    pub(crate) fn is_one_event(&self, goal: usize) -> bool {
        let has_lost = |bin: &Bin| bin.lost.get(goal).is_some_and(|lost| lost.lost > 0);
        let first = self.bins.iter().position(has_lost);
        let last = self.bins.iter().rposition(has_lost);
        first.zip(last).is_some_and(|(first, last)| (last + 1 - first) as f64 <= EVENT_PART * self.bins.len() as f64)
    }

    /// Response times of all pieces.
    pub fn times(&self) -> Moments {
        self.bins.iter().map(|bin| bin.times).fold(Moments::default(), Moments::with)
    }

    /// The last pieces: this share of them.
    pub(crate) fn last(&self, share: f64) -> Self {
        let from = self.bins.len() - (self.bins.len() as f64 * share) as usize;
        Self { bins: self.bins[from..].to_vec() }
    }

    /// The first pieces: this share of them.
    pub(crate) fn first(&self, share: f64) -> Self {
        Self { bins: self.bins[..(self.bins.len() as f64 * share) as usize].to_vec() }
    }

    /// The pieces with most of a goal's losses: this share of them.
    pub(crate) fn worst_pieces(&self, goal: usize, share: f64) -> Vec<usize> {
        let lost_of = |at: usize| self.bins[at].lost.get(goal).map_or(0, |lost| lost.lost);
        let mut order: Vec<usize> = (0..self.bins.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(lost_of(*at)));
        let wanted = self.lost(goal).lost as f64 * share;
        let mut sum = 0;
        let is_needed = |at: &usize| {
            let is_short = (sum as f64) < wanted;
            sum += lost_of(*at);
            is_short
        };
        order.into_iter().take_while(is_needed).collect()
    }

    /// The share of a goal's losses in some pieces.
    pub(crate) fn share_in(&self, goal: usize, pieces: &[usize]) -> f64 {
        let of = |at: &usize| self.bins[*at].lost.get(goal).copied().unwrap_or_default();
        pieces.iter().map(of).fold(GoalMisses::default(), GoalMisses::with).share()
    }

    /// The bounds of a goal's share, at `z` of the normal distribution. `more`: exchanges in flight that already miss
    /// it. `limit_s`: the time limit of the goal, if it is on a time.
    pub(crate) fn bounds(&self, goal: usize, z: f64, more: u64, limit_s: Option<f64>) -> Bounds {
        let all = self.lost(goal).with(GoalMisses { lost: more, of: more });
        if all.of == 0 {
            return Bounds { low: 0.0, high: 1.0 };
        }
        let (share, of) = (all.share(), all.of as f64);
        let values: Vec<f64> = self.residuals(goal, share).collect();
        let Some((variance, degrees)) = variance_of_sum(&values) else { return Bounds { low: 0.0, high: 1.0 } };
        let alone = share * (1.0 - share) * of;
        let alike = if alone > 0.0 { (variance / alone).max(1.0) } else { 1.0 };
        let z = student(z, degrees);
        let low = wilson(share, of / alike, z).0;
        // Few losses, or none, do not show how alike neighbors are: then response times do. They say nothing of
        // failures.
        let alike = limit_s.map_or(alike, |limit_s| alike.max(self.untouched().likeness_of_times(limit_s)));
        Bounds { low, high: wilson(share, of / alike, z).1 }
    }

    /// The least share of arrivals that adds to the backlog, at `z` of the normal distribution; without what our stalls
    /// may have added. Zero if response times do not grow with it: long exchanges mean many in flight, but no growth.
    pub(crate) fn piles_up(&self, z: f64) -> f64 {
        let sum = |of: fn(&Backlog) -> f64| self.bins.iter().map(|bin| of(&bin.backlog)).sum::<f64>();
        let (starts, grown, ours) = (sum(|one| one.starts), sum(|one| one.grown), sum(|one| one.ours));
        if starts <= 0.0 || grown - ours < PILE_MIN || !self.gets_slower() {
            return 0.0;
        }
        let mean = grown / self.bins.len() as f64;
        let values: Vec<f64> = self.bins.iter().map(|bin| bin.backlog.grown - mean).collect();
        let Some((variance, degrees)) = variance_of_sum(&values) else { return 0.0 };
        ((grown - ours - student(z, degrees) * variance.sqrt()) / starts).max(0.0)
    }

    /// Whether the last third of the times is longer than the first, trial by trial.
    fn gets_slower(&self) -> bool {
        let (mut first, mut last) = (Moments::default(), Moments::default());
        for trial in self.bins.chunk_by(|_, next| !next.backlog.is_first) {
            let third = trial.len() / 3;
            let times = |bins: &[Bin]| bins.iter().map(|bin| bin.times).fold(Moments::default(), Moments::with);
            (first, last) = (first.with(times(&trial[..third])), last.with(times(&trial[trial.len() - third..])));
        }
        first.count > 0.0 && last.count > 0.0 && last.mean() > PILE_SLOWER * first.mean()
    }

    fn residuals(&self, goal: usize, share: f64) -> impl Iterator<Item = f64> + '_ {
        self.bins.iter().map(move |bin| {
            let lost = bin.lost.get(goal).copied().unwrap_or_default();
            lost.lost as f64 - share * lost.of as f64
        })
    }

    /// The tally without the pieces that our stalls touched, if enough are left.
    fn untouched(&self) -> std::borrow::Cow<'_, Self> {
        let left = || self.bins.iter().filter(|bin| !bin.is_touched);
        match left().count() {
            count if count == self.len() || count < UNTOUCHED_MIN => std::borrow::Cow::Borrowed(self),
            _ => std::borrow::Cow::Owned(Self { bins: left().cloned().collect() }),
        }
    }

    /// The deviation of each piece's sum of response times from what the mean predicts.
    fn deviations(&self, mean: f64) -> Vec<f64> {
        self.bins.iter().map(|bin| bin.times.sum - mean * bin.times.count).collect()
    }

    /// The number of consecutive response times that carry as much information as one independent one. 1 if their slow
    /// fluctuations are so small that they do not come near the limit.
    fn likeness_of_times(&self, limit_s: f64) -> f64 {
        let times = self.times();
        let (mean, variance) = (times.mean(), times.variance());
        if variance.sqrt() <= SPREAD_MIN * mean {
            return 1.0;
        }
        let Some((of_sum, degrees)) = variance_of_sum(&self.deviations(mean)) else { return 1.0 };
        let alike = (of_sum / (variance * times.count)).max(1.0);
        // The spread of the means of the longest available batches.
        let in_batch = times.count / (degrees + 1) as f64;
        let slow = (variance * alike / in_batch).sqrt();
        if times.most + FAR * slow < limit_s { 1.0 } else { alike }
    }

    /// The mean response time, and its standard error; `None` for too little data.
    pub(crate) fn mean_with_error(&self) -> Option<(f64, f64)> {
        let times = self.times();
        let (variance, degrees) = variance_of_sum(&self.deviations(times.mean()))?;
        (times.count > 0.0).then(|| (times.mean(), variance.sqrt() / times.count * student(1.0, degrees)))
    }
}
