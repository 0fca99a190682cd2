//! A point of all series: one interval, or several.

use metrics::Distribution;
use pacing::Nanos;

use super::Hist;
use crate::{GAUGES, Interval, PercentileValue, Quantile, StepPart};

/// Percentiles that are exact as long as a point is one interval.
const EXACT: [(f64, Quantile); 4] =
    [(0.5, Quantile::P50), (0.9, Quantile::P90), (0.99, Quantile::P99), (0.999, Quantile::P999)];

/// What an allocator adds to a piece of memory, about.
const PIECE_BYTES: usize = 16;

/// Times of a point.
#[derive(Clone, Debug, Default)]
pub struct PointTimes {
    hist: Hist,
    /// In seconds, in the order of [`EXACT`], not a number without times; none where several intervals are one point.
    exact: Option<Box<[f64; 4]>>,
}

impl PointTimes {
    fn new(times: &Distribution) -> Self {
        let exact = EXACT.map(|(share, _)| times.quantile(share).map_or(f64::NAN, |ns| ns as f64 / 1e9));
        Self { hist: Hist::new(times), exact: Some(Box::new(exact)) }
    }

    fn merge(&mut self, other: &Self) {
        self.hist.merge(&other.hist);
        self.exact = None;
    }

    /// Bytes of it, with what an allocator adds to each piece, about.
    fn bytes(&self) -> usize {
        let exact = self.exact.as_deref().map_or(0, |exact| size_of_val(exact) + PIECE_BYTES);
        size_of::<Self>() + self.hist.bytes() + PIECE_BYTES + exact
    }

    /// Each time in seconds, and how often.
    pub fn bars(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.hist.bars()
    }

    /// A quantile in seconds.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let place = EXACT.iter().position(|(known, _)| *known == share);
        match (&self.exact, place) {
            (Some(exact), Some(place)) => Some(exact[place]).filter(|seconds| !seconds.is_nan()),
            _ => self.hist.quantile(share),
        }
    }
}

/// The minimum and the maximum of a series over the intervals of a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range(Option<(f64, f64)>);

impl Range {
    fn new(value: Option<f64>) -> Self {
        Self(value.map(|value| (value, value)))
    }

    fn merge(&mut self, other: Self) {
        self.0 = match (self.0, other.0) {
            (Some((low, high)), Some((least, most))) => Some((low.min(least), high.max(most))),
            (one, other) => one.or(other),
        };
    }

    /// The minimum.
    pub fn low(self) -> Option<f64> {
        self.0.map(|(low, _)| low)
    }

    /// The maximum.
    pub fn high(self) -> Option<f64> {
        self.0.map(|(_, high)| high)
    }
}

/// A step or a transaction in a point.
#[derive(Clone, Debug, Default)]
pub struct PartPoint {
    /// The number of completed ones.
    pub finished: u64,
    /// The times of the successes.
    pub times: PointTimes,
}

impl PartPoint {
    fn new(part: &StepPart) -> Self {
        Self { finished: part.finished, times: PointTimes::new(&part.recorded) }
    }

    fn merge(&mut self, other: &Self) {
        self.finished += other.finished;
        self.times.merge(&other.times);
    }
}

/// Sums over the point, and gauges at its end.
#[derive(Clone, Debug)]
pub struct Point {
    /// Start of the point, since the start of the run.
    pub from: Nanos,
    /// End of the point, since the start of the run.
    pub to: Nanos,
    /// Seconds in which the load was not paused.
    working_s: f64,
    /// Completed exchanges.
    pub finished: u64,
    /// Failed exchanges.
    pub failed: u64,
    /// Starts that were dropped.
    pub dropped: u64,
    /// The gauges at the end, in the order of [`GAUGES`].
    pub gauges: [u64; GAUGES.len()],
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
    /// CPU time of the shards.
    pub cpu_ns: u64,
    /// Response times of successes.
    pub times: PointTimes,
    /// Lateness of the generator.
    pub lateness: PointTimes,
    /// Failures by reason, with their counts.
    pub failures: Vec<(String, u64)>,
    /// Steps and transactions.
    pub parts: Vec<PartPoint>,
    /// Requests per second.
    pub rates: Range,
    /// 99th percentiles, in seconds.
    pub p99s: Range,
}

impl Point {
    pub(super) fn new(interval: &Interval) -> Self {
        let (added, working_s) = (&interval.added, interval.working_s());
        let tally = &added.tally;
        let failures = added.failures.iter().map(|each| (each.failure.name().to_owned(), each.count));
        let parts = interval.added_scenarios().iter().flat_map(|one| one.steps.iter().chain(&one.transactions));
        let times = PointTimes::new(&added.response);
        let p99 = interval.response.known[Quantile::P99 as usize].map(|PercentileValue { ns, .. }| ns as f64 / 1e9);
        let mut summed: Vec<(String, u64)> = Vec::new();
        failures.for_each(|each| add_to(&mut summed, each));
        Self {
            from: interval.from,
            to: interval.to,
            working_s,
            finished: tally.finished(),
            failed: tally.failed,
            dropped: tally.dropped(),
            gauges: core::array::from_fn(|place| (GAUGES[place].of)(interval)),
            received: tally.bytes_received(),
            sent: tally.bytes_sent(),
            cpu_ns: added.cpu_ns,
            times,
            lateness: PointTimes::new(&added.lateness),
            failures: summed,
            parts: parts.map(PartPoint::new).collect(),
            rates: Range::new((working_s > 0.0).then_some(interval.requests_per_s)),
            p99s: Range::new(p99),
        }
    }

    /// Adds another interval of its time span, or an update of one that it has.
    pub(super) fn add(&mut self, interval: &Interval) {
        let other = Self::new(interval);
        let working_s = self.working_s;
        // The end of the last interval may move.
        let is_here = interval.is_update && interval.from >= self.from && interval.from < self.to;
        self.merge(&other);
        if is_here {
            self.working_s = working_s;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        (self.from, self.to) = (self.from.min(other.from), self.to.max(other.to));
        self.working_s += other.working_s;
        self.finished += other.finished;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.gauges = other.gauges;
        self.received += other.received;
        self.sent += other.sent;
        self.cpu_ns += other.cpu_ns;
        self.times.merge(&other.times);
        self.lateness.merge(&other.lateness);
        other.failures.iter().for_each(|each| add_to(&mut self.failures, each.clone()));
        if self.parts.len() < other.parts.len() {
            self.parts.resize_with(other.parts.len(), PartPoint::default);
        }
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, other)| part.merge(other));
        self.rates.merge(other.rates);
        self.p99s.merge(other.p99s);
    }

    /// Bytes of it, about.
    pub(super) fn bytes(&self) -> usize {
        let parts = self.parts.iter().map(|part| size_of::<u64>() + part.times.bytes());
        size_of::<Self>() + self.times.bytes() + self.lateness.bytes() + parts.sum::<usize>()
    }

    /// For each second of its time; `None` when it has none.
    pub fn per_s(&self, count: u64) -> Option<f64> {
        self.rate_of(count as f64)
    }

    /// The same for a count that is no whole number.
    pub(super) fn rate_of(&self, count: f64) -> Option<f64> {
        (self.working_s > 0.0).then(|| count / self.working_s)
    }

    /// The number of cores on which the generator's threads were busy.
    pub fn cpu_cores(&self) -> Option<f64> {
        let span = self.to.0.saturating_sub(self.from.0);
        (span > 0).then(|| self.cpu_ns as f64 / span as f64)
    }
}

fn add_to(all: &mut Vec<(String, u64)>, (name, count): (String, u64)) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some((_, sum)) => *sum += count,
        None => all.push((name, count)),
    }
}
