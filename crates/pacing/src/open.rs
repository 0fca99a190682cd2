//! The open model: starts at the instants that a schedule says, whatever the target does.
//!
//! A [`Schedule`] is a rate over time; its integral counts the starts. Evenly spaced, start `k` comes when the integral
//! reaches `k`; it belongs to slot `k mod SLOT_COUNT`. At random (a Poisson process), each slot has a process of its own with a
//! seed of its own, mapped through the inverse of the integral. Either way the starts of a segment are a function of the
//! schedule alone, and the starts of all segments are those of the whole.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::{Lost, Nanos, Random, SLOT_COUNT, Segment};

const HOUR_NS: u128 = 3_600 * 1_000_000_000;
/// One start in the unit in which the integral is exact: half a thousandth of a start an hour, times nanoseconds.
const START: u128 = 2 * 1_000 * HOUR_NS;
/// Random instants are kept in parts of a start; 2^32 of them are far below a nanosecond at any rate.
const PARTS: u128 = 1 << 32;

/// Starts in a time, exactly: so `100/m` over an hour is 6,000, not 5,999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rate {
    thousandths_per_hour: u64,
}

impl Rate {
    /// No starts.
    pub const ZERO: Self = Self { thousandths_per_hour: 0 };

    /// So many thousandths of a start in an hour.
    pub fn per_hour_thousandths(thousandths_per_hour: u64) -> Self {
        Self { thousandths_per_hour }
    }

    /// For people.
    pub fn per_second(self) -> f64 {
        self.thousandths_per_hour as f64 / 3_600_000.0
    }

    fn per_nano(self) -> f64 {
        self.thousandths_per_hour as f64 / (1_000.0 * HOUR_NS as f64)
    }
}

/// A span in which the rate changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// At its beginning.
    pub from: Rate,
    /// At its end.
    pub to: Rate,
    /// How long it lasts.
    pub span: Nanos,
}

/// A stage in its place, or the part of it that a change left.
#[derive(Clone, Copy, Debug)]
struct Piece {
    stage: Stage,
    /// What of the stage is over before the piece begins.
    skipped: Nanos,
    /// Where the integral of the whole stage would have begun; it wraps where a change came early in a schedule.
    base: u128,
    /// How long the piece lasts; the whole stage when nothing was cut off.
    span: Nanos,
    begin: Nanos,
    /// The integral at its end, in units of [`START`].
    after: u128,
}

impl Piece {
    fn end(&self) -> Nanos {
        self.begin + self.span
    }

    /// When the integral, counted from the beginning of its stage, reaches `starts`.
    fn reach(&self, starts: f64) -> Nanos {
        let (from, to, span) = (self.stage.from.per_nano(), self.stage.to.per_nano(), self.stage.span.0 as f64);
        let half_slope = (to - from) / (2.0 * span);
        let root = (from * from + 4.0 * half_slope * starts).max(0.0).sqrt();
        // The form of the quadratic formula that loses nothing when the slope is small.
        let at = if starts <= 0.0 { 0.0 } else { 2.0 * starts / (from + root) };
        self.begin + Nanos((at as u64).saturating_sub(self.skipped.0).min(self.span.0))
    }

    /// The rate a second at an instant of the piece.
    fn rate_at(&self, at: Nanos) -> f64 {
        let (from, to) = (self.stage.from.per_second(), self.stage.to.per_second());
        from + (to - from) * (self.skipped + at.since(self.begin)).0 as f64 / self.stage.span.0.max(1) as f64
    }
}

impl Stage {
    /// The integral until a time after its beginning, rounded down.
    fn integral(&self, until: Nanos) -> u128 {
        let [from, to] = [self.from, self.to].map(|rate| i128::from(rate.thousandths_per_hour));
        let (until, span) = (i128::from(until.0), i128::from(self.span.0.max(1)));
        // The slope's part is divided last: at the end of the stage nothing is lost.
        let slope = (to - from) * until;
        let (whole, rest) = (slope.div_euclid(span), slope.rem_euclid(span));
        let sum = 2 * from * until + whole * until + (rest * until).div_euclid(span);
        u128::try_from(sum).unwrap_or(0)
    }
}

/// What was cut off a schedule.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// Stages, what of each is over, and how long it lasts from there.
    parts: Vec<(Stage, Nanos, Nanos)>,
}

impl Rest {
    /// How long it lasts.
    pub fn span(&self) -> Nanos {
        self.parts.iter().fold(Nanos::ZERO, |sum, (.., span)| sum + *span)
    }

    /// The rate a second with which it begins.
    pub fn rate(&self) -> f64 {
        let first = self.parts.iter().find(|(.., span)| *span > Nanos::ZERO);
        let piece = |(stage, skipped, span): &(Stage, Nanos, Nanos)| {
            let (stage, skipped, span) = (*stage, *skipped, *span);
            Piece { stage, skipped, base: 0, span, begin: Nanos::ZERO, after: 0 }
        };
        first.map_or(0.0, |first| piece(first).rate_at(Nanos::ZERO))
    }

    /// Whole stages.
    pub fn of(stages: &[Stage]) -> Self {
        Self { parts: stages.iter().map(|stage| (*stage, Nanos::ZERO, stage.span)).collect() }
    }
}

/// A rate over time.
#[derive(Clone, Debug)]
pub struct Schedule {
    pieces: Vec<Piece>,
    end: Nanos,
    integral: u128,
    limit: u64,
    /// Starts that were reached before it was cut last: they have come, however little follows.
    reached: u64,
}

impl Schedule {
    /// The stages one after the other.
    pub fn new(stages: &[Stage]) -> Self {
        let mut schedule = Self { pieces: Vec::new(), end: Nanos::ZERO, integral: 0, limit: u64::MAX, reached: 0 };
        stages.iter().for_each(|stage| schedule.push(stage, Nanos::ZERO, stage.span));
        schedule
    }

    /// A stage, or a part of it, behind what is there.
    fn push(&mut self, stage: &Stage, skipped: Nanos, span: Nanos) {
        let (begin, before) = (self.end, self.integral);
        let skipped_integral = stage.integral(skipped);
        let after = before + stage.integral(skipped + span) - skipped_integral;
        let base = before.wrapping_sub(skipped_integral);
        self.pieces.push(Piece { stage: *stage, skipped, base, span, begin, after });
        (self.end, self.integral) = (begin + span, after);
    }

    /// Ends at an instant; returns what would have followed. What comes before stays as it is, and the fraction of a
    /// start that the integral has reached is carried on.
    pub fn cut(&mut self, at: Nanos) -> Rest {
        let index = self.pieces.partition_point(|piece| piece.end() <= at);
        let mut rest: Vec<_> =
            self.pieces.drain(index..).map(|piece| (piece.stage, piece.skipped, piece.span)).collect();
        let (begin, before) = self.pieces.last().map_or((Nanos::ZERO, 0), |piece| (piece.end(), piece.after));
        (self.end, self.integral) = (begin, before);
        if let Some((stage, skipped, span)) = rest.first_mut() {
            let kept = at.since(begin);
            if kept > Nanos::ZERO {
                self.push(stage, *skipped, kept);
                (*skipped, *span) = (*skipped + kept, span.since(kept));
            }
        }
        self.reached = u64::try_from(self.integral.div_ceil(START)).unwrap_or(u64::MAX);
        Rest { parts: rest }
    }

    /// Nothing starts until `at`.
    pub fn rest_until(&mut self, at: Nanos) {
        let span = at.since(self.end);
        if span > Nanos::ZERO {
            self.push(&Stage { from: Rate::ZERO, to: Rate::ZERO, span }, Nanos::ZERO, span);
        }
    }

    /// What was cut off goes on here.
    pub fn go_on(&mut self, rest: &Rest) {
        rest.parts.iter().for_each(|(stage, skipped, span)| self.push(stage, *skipped, *span));
    }

    /// The same with at most so many starts, when they are spaced evenly.
    #[must_use]
    pub fn with_limit(self, limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), ..self }
    }

    /// There are at most so many starts.
    pub fn is_limited(&self) -> bool {
        self.limit != u64::MAX
    }

    /// All starts that there may be are reached before the last stage is over.
    pub fn reaches_limit(&self) -> bool {
        self.is_limited() && self.integral / START >= u128::from(self.limit)
    }

    /// When the last stage is over.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// The number of starts that are spaced evenly: the integral, rounded down, or those that were reached before it was cut.
    pub fn count(&self) -> u64 {
        u64::try_from(self.integral / START).unwrap_or(u64::MAX).max(self.reached).min(self.limit)
    }

    /// When the time of all starts is over, that of the last one included: five starts at 5/s take a second.
    pub fn end_of_starts(&self) -> Nanos {
        let limited = self.is_limited().then(|| self.reach(u128::from(self.limit) * START)).flatten();
        limited.map_or(self.end, |limited| limited.min(self.end))
    }

    /// How many evenly spaced starts are intended until `at`, at it included.
    pub fn count_until(&self, at: Nanos) -> u64 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle).is_some_and(|start| start <= at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The mean rate a second until `at`, or until the last start when they are limited.
    pub fn mean_rate_until(&self, at: Nanos) -> f64 {
        let limited = (self.integral / START > u128::from(self.limit))
            .then(|| self.reach(u128::from(self.limit) * START))
            .flatten();
        let at = limited.map_or(at, |limited| limited.min(at)).min(self.end);
        let mut starts = 0.0;
        for piece in self.pieces.iter().filter(|piece| piece.begin < at) {
            let until = at.min(piece.end());
            let mean = (piece.rate_at(piece.begin) + piece.rate_at(until)) / 2.0;
            starts += mean * (until - piece.begin).as_secs_f64();
        }
        if at == Nanos::ZERO { 0.0 } else { starts / at.as_secs_f64() }
    }

    /// The rate a second at an instant; 0 after the end.
    pub fn rate_at(&self, at: Nanos) -> f64 {
        let index = self.pieces.partition_point(|piece| piece.end() <= at);
        self.pieces.get(index).map_or(0.0, |piece| piece.rate_at(at))
    }

    /// When the integral reaches `integral`; `None` when it never does.
    fn reach(&self, integral: u128) -> Option<Nanos> {
        let index = self.pieces.partition_point(|piece| piece.after <= integral);
        let piece = self.pieces.get(index)?;
        let integral = integral.wrapping_sub(piece.base);
        // The same number; a conversion of 64 bits is one instruction, of 128 a call.
        let integral = u64::try_from(integral).map_or_else(|_| integral as f64, |short| short as f64);
        Some(piece.reach(integral / START as f64))
    }

    /// The instant of start `number`, the first being 0, when they are spaced evenly; `None` when there are not so many.
    pub fn start(&self, number: u64) -> Option<Nanos> {
        // Below the count, without a division.
        let integral = u128::from(number) * START;
        let is_one = number < self.limit && (integral + START <= self.integral || number < self.reached);
        if is_one { self.reach(integral) } else { None }
    }
}

/// How starts are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// As evenly as the rate allows.
    Even,
    /// At random, independent of each other, from a seed.
    Poisson {
        /// The same seed gives the same starts.
        seed: u64,
    },
}

/// The starts of a segment in their order.
#[derive(Clone, Debug)]
pub struct Starts {
    schedule: Arc<Schedule>,
    next: Option<Nanos>,
    source: Source,
    /// Slots that went to others, and from when on it has none left.
    lost: Option<(Lost, Nanos)>,
    /// Nothing earlier is its own.
    from: Nanos,
    has_taken: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Even(Numbers),
    Poisson(Box<Processes>),
}

/// The numbers of the starts of a segment, one after the other.
#[derive(Clone, Debug)]
struct Numbers {
    segment: Segment,
    /// The one that is next: the slot of this rank, behind `base` of whole rounds.
    rank: u32,
    base: u64,
    /// Behind the last that was taken: those between were lost, as far as is known.
    after: (u32, u64),
}

impl Numbers {
    fn new(segment: Segment) -> Self {
        Self { segment, rank: 0, base: 0, after: (0, 0) }
    }

    /// The first that is no earlier than start `number`.
    fn begin_at(&mut self, number: u64) {
        let (own, index) = (u64::from(self.segment.slot_count()), self.segment.count_of_first(number));
        (self.rank, self.base) = ((index % own) as u32, index / own * u64::from(SLOT_COUNT));
        self.after = (self.rank, self.base);
    }

    #[inline]
    fn number(&self) -> u64 {
        self.base + self.segment.slot(u64::from(self.rank))
    }

    #[inline]
    fn pass(&mut self) {
        self.rank += 1;
        if self.rank == self.segment.slot_count() {
            (self.rank, self.base) = (0, self.base + u64::from(SLOT_COUNT));
        }
    }
}

/// A process for each slot.
#[derive(Clone, Debug)]
struct Processes {
    segment: Segment,
    seed: u64,
    /// What comes next of each, in parts of a start.
    next: BinaryHeap<Reverse<(u128, u32)>>,
    random: Vec<Random>,
    slots: Vec<u16>,
    /// What would come next of those that were lost.
    lost: Vec<Reverse<(u128, u32)>>,
}

impl Processes {
    fn new(segment: Segment, seed: u64) -> Self {
        let slots: Vec<u16> = segment.slots().collect();
        let mut random: Vec<Random> = slots.iter().map(|slot| Random::of_stream(seed, u64::from(*slot))).collect();
        let next = random.iter_mut().enumerate().map(|(index, random)| Reverse((gap(random), index as u32))).collect();
        Self { segment, seed, next, random, slots, lost: Vec::new() }
    }

    /// What comes first has come.
    fn pass(&mut self) {
        if let Some(Reverse((parts, index))) = self.next.pop() {
            self.next.push(Reverse((parts + gap(&mut self.random[index as usize]), index)));
        }
    }
}

impl Starts {
    /// The starts of one segment of a schedule.
    pub fn new(schedule: Arc<Schedule>, spacing: Spacing, segment: Segment) -> Self {
        Self::from(schedule, spacing, segment, Nanos::ZERO)
    }

    /// The same of a segment that has what comes from an instant on, that included.
    pub fn from(schedule: Arc<Schedule>, spacing: Spacing, segment: Segment, from: Nanos) -> Self {
        let source = match spacing {
            Spacing::Even => Source::Even(Numbers::new(segment)),
            Spacing::Poisson { seed } => Source::Poisson(Box::new(Processes::new(segment, seed))),
        };
        let mut starts = Self { schedule, next: None, source, lost: None, from, has_taken: false };
        starts.begin();
        starts
    }

    /// Those before its first instant are passed over.
    fn begin(&mut self) {
        if self.from > Nanos::ZERO {
            let before = Nanos(self.from.0 - 1);
            match &mut self.source {
                Source::Even(numbers) => numbers.begin_at(self.schedule.count_until(before)),
                Source::Poisson(processes) => {
                    **processes = Processes::new(processes.segment.clone(), processes.seed);
                    while let Some(Reverse((parts, _))) = processes.next.peek()
                        && self.schedule.reach(integral_of(*parts)).is_some_and(|at| at <= before)
                    {
                        processes.pass();
                    }
                }
            }
        }
        self.settle();
    }

    /// When the next start is intended, counted from the beginning of the schedule; `None` after the last.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        self.next
    }

    /// When the time of all starts is over, those of other segments included.
    pub fn end(&self) -> Nanos {
        match self.source {
            Source::Even(_) => self.schedule.end_of_starts(),
            // Random ones go on until the last stage is over, however many come.
            Source::Poisson(_) => self.schedule.end(),
        }
    }

    /// Takes all starts until `at`, at it included, and says how many they were.
    pub fn take_until(&mut self, at: Nanos) -> u64 {
        if let (Source::Even(numbers), None) = (&mut self.source, &self.lost) {
            let taken = numbers.segment.count_of_first(numbers.number());
            let due = self.schedule.count_until(at);
            let count = numbers.segment.count_of_first(due).saturating_sub(taken);
            if count > 0 {
                numbers.begin_at(due);
                self.has_taken = true;
                self.settle();
            }
            return count;
        }
        let mut count = 0;
        while self.next.is_some_and(|next| next <= at) {
            count += 1;
            self.advance();
        }
        count
    }

    /// The one that is next has come.
    fn advance(&mut self) {
        self.has_taken = true;
        match &mut self.source {
            Source::Even(numbers) => {
                numbers.pass();
                numbers.after = (numbers.rank, numbers.base);
            }
            Source::Poisson(processes) => processes.pass(),
        }
        self.settle();
    }

    /// Finds the instant of the next one that is its own.
    #[inline]
    fn settle(&mut self) {
        if self.lost.is_some() {
            return self.settle_without_lost();
        }
        self.next = match &self.source {
            Source::Even(numbers) => self.schedule.start(numbers.number()),
            Source::Poisson(processes) => {
                processes.next.peek().and_then(|Reverse((parts, _))| self.schedule.reach(integral_of(*parts)))
            }
        };
    }

    #[cold]
    fn settle_without_lost(&mut self) {
        let Some((lost, all_from)) = &self.lost else { return };
        self.next = loop {
            match &mut self.source {
                Source::Even(numbers) => match self.schedule.start(numbers.number()) {
                    Some(at) if at >= *all_from => break None,
                    Some(at) if lost.has_lost(numbers.number(), at) => numbers.pass(),
                    at => break at,
                },
                Source::Poisson(processes) => {
                    let Some(next) = processes.next.peek().copied() else { break None };
                    let Reverse((parts, index)) = next;
                    match self.schedule.reach(integral_of(parts)) {
                        // What follows of this slot is later, and lost too.
                        Some(at) if at >= lost.from(processes.slots[index as usize].into()) => {
                            processes.next.pop();
                            processes.lost.push(next);
                        }
                        at => break at,
                    }
                }
            }
        };
    }

    /// What was passed over is looked at again.
    fn look_again(&mut self) {
        if !self.has_taken && self.from > Nanos::ZERO {
            return self.begin();
        }
        match &mut self.source {
            Source::Even(numbers) => (numbers.rank, numbers.base) = numbers.after,
            Source::Poisson(processes) => processes.next.extend(processes.lost.drain(..)),
        }
        self.settle();
    }

    /// Goes on with another schedule, of which the past is the same: the starts that were taken are its first, and those that
    /// come are its next.
    pub fn change(&mut self, schedule: Arc<Schedule>) {
        self.schedule = schedule;
        self.look_again();
    }

    /// Goes on without the slots that are lost, each from its instant on.
    pub fn lose(&mut self, lost: Lost) {
        let all_from = match &self.source {
            Source::Even(numbers) => lost.all_from(&numbers.segment),
            Source::Poisson(processes) => lost.all_from(&processes.segment),
        };
        self.lost = Some((lost, all_from));
        self.look_again();
    }
}

impl Iterator for Starts {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let next = self.next?;
        self.advance();
        Some(next)
    }
}

/// Where the integral is at so many parts of a start.
fn integral_of(parts: u128) -> u128 {
    parts * (START / PARTS) + parts * (START % PARTS) / PARTS
}

/// The next gap of one slot's process, in parts of a start: exponential, with all slots together one start on average.
fn gap(random: &mut Random) -> u128 {
    let exponential = -(1.0 - random.unit()).ln();
    (exponential * f64::from(SLOT_COUNT) * PARTS as f64) as u128
}
