//! The starts of a segment of a schedule, one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::{PARTS, START, Schedule};
use crate::{Nanos, Random, RevokedSlots, SLOT_COUNT, Segment};

/// The spacing of starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// As even as the rate allows.
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
    source: StartSource,
    /// Slots that were revoked, and the instant from which none is left.
    lost: Option<(RevokedSlots, Nanos)>,
    /// Starts before this instant belong to others.
    from: Nanos,
    has_taken: bool,
}

#[derive(Clone, Debug)]
enum StartSource {
    Even(Numbers),
    Poisson(Box<Processes>),
}

/// The numbers of the starts of a segment, one after the other.
#[derive(Clone, Debug)]
struct Numbers {
    segment: Segment,
    /// The next start: the slot of this rank, after `base` starts of whole rounds.
    rank: u32,
    base: u64,
    /// The position after the last start that was taken: starts between it and the next were skipped because their
    /// slots were revoked.
    after: (u32, u64),
}

impl Numbers {
    fn new(segment: Segment) -> Self {
        Self { segment, rank: 0, base: 0, after: (0, 0) }
    }

    /// Moves to the first start that is no earlier than start `number`.
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

/// A Poisson process for each slot.
#[derive(Clone, Debug)]
struct Processes {
    segment: Segment,
    seed: u64,
    /// The next start of each slot, in fractions of a start.
    next: BinaryHeap<Reverse<(u128, u32)>>,
    random: Vec<Random>,
    slots: Vec<u16>,
    /// The next start of slots that were revoked.
    lost: Vec<Reverse<(u128, u32)>>,
}

impl Processes {
    fn new(segment: Segment, seed: u64) -> Self {
        let slots: Vec<u16> = segment.slots().collect();
        let mut random: Vec<Random> = slots.iter().map(|slot| Random::for_stream(seed, u64::from(*slot))).collect();
        let next = random.iter_mut().enumerate().map(|(index, random)| Reverse((gap(random), index as u32))).collect();
        Self { segment, seed, next, random, slots, lost: Vec::new() }
    }

    /// Advances past the first start.
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

    /// The same for a segment that has the starts from an instant on, inclusive.
    pub fn from(schedule: Arc<Schedule>, spacing: Spacing, segment: Segment, from: Nanos) -> Self {
        let source = match spacing {
            Spacing::Even => StartSource::Even(Numbers::new(segment)),
            Spacing::Poisson { seed } => StartSource::Poisson(Box::new(Processes::new(segment, seed))),
        };
        let mut starts = Self { schedule, next: None, source, lost: None, from, has_taken: false };
        starts.begin();
        starts
    }

    /// Skips the starts before its first instant.
    fn begin(&mut self) {
        if self.from > Nanos::ZERO {
            let before = Nanos(self.from.0 - 1);
            match &mut self.source {
                StartSource::Even(numbers) => numbers.begin_at(self.schedule.count_until(before)),
                StartSource::Poisson(processes) => {
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

    /// The intended instant of the next start, counted from the beginning of the schedule; `None` after the last.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        self.next
    }

    /// The end of the time of all starts, including those of other segments.
    pub fn end(&self) -> Nanos {
        match self.source {
            StartSource::Even(_) => self.schedule.end_of_starts(),
            // Random starts go on until the last stage is over, however many there are.
            StartSource::Poisson(_) => self.schedule.end(),
        }
    }

    /// Takes all starts until `at`, inclusive, and returns their number.
    pub fn take_until(&mut self, at: Nanos) -> u64 {
        let Some((count, due)) = self.count_evenly(at) else { return self.take_each(at, u64::MAX) };
        if let StartSource::Even(numbers) = &mut self.source
            && count > 0
        {
            numbers.begin_at(due);
            self.has_taken = true;
            self.settle();
        }
        count
    }

    /// The number of starts until `at`, inclusive, that are not taken; at most `count_max` are counted one by one.
    pub fn due_by(&self, at: Nanos, count_max: u64) -> u64 {
        self.count_evenly(at).map_or_else(|| self.clone().take_each(at, count_max), |(count, _)| count)
    }

    /// The same by arithmetic, and the number of all starts until then, whosever they are; `None` where each start has
    /// to be looked at.
    fn count_evenly(&self, at: Nanos) -> Option<(u64, u64)> {
        let (StartSource::Even(numbers), None) = (&self.source, &self.lost) else { return None };
        let due = self.schedule.count_until(at);
        let due_here = numbers.segment.count_of_first(due);
        Some((due_here.saturating_sub(numbers.segment.count_of_first(numbers.number())), due))
    }

    /// Takes the starts until `at`, inclusive, one by one, at most `count_max`; returns their number.
    fn take_each(&mut self, at: Nanos, count_max: u64) -> u64 {
        let mut count = 0;
        while count < count_max && self.next.is_some_and(|next| next <= at) {
            count += 1;
            self.advance();
        }
        count
    }

    /// Advances past the next start.
    fn advance(&mut self) {
        self.has_taken = true;
        match &mut self.source {
            StartSource::Even(numbers) => {
                numbers.pass();
                numbers.after = (numbers.rank, numbers.base);
            }
            StartSource::Poisson(processes) => processes.pass(),
        }
        self.settle();
    }

    /// Finds the instant of the next start that belongs to the segment.
    #[inline]
    fn settle(&mut self) {
        if self.lost.is_some() {
            return self.settle_without_lost();
        }
        self.next = match &self.source {
            StartSource::Even(numbers) => self.schedule.start(numbers.number()),
            StartSource::Poisson(processes) => {
                processes.next.peek().and_then(|Reverse((parts, _))| self.schedule.reach(integral_of(*parts)))
            }
        };
    }

    #[cold]
    fn settle_without_lost(&mut self) {
        let Some((lost, all_from)) = &self.lost else { return };
        self.next = loop {
            match &mut self.source {
                StartSource::Even(numbers) => match self.schedule.start(numbers.number()) {
                    Some(at) if at >= *all_from => break None,
                    Some(at) if lost.has_lost(numbers.number(), at) => numbers.pass(),
                    at => break at,
                },
                StartSource::Poisson(processes) => {
                    let Some(next) = processes.next.peek().copied() else { break None };
                    let Reverse((parts, index)) = next;
                    match self.schedule.reach(integral_of(parts)) {
                        // Later starts of this slot are revoked too.
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

    /// Checks skipped starts again.
    fn recheck_skipped(&mut self) {
        if !self.has_taken && self.from > Nanos::ZERO {
            return self.begin();
        }
        match &mut self.source {
            StartSource::Even(numbers) => (numbers.rank, numbers.base) = numbers.after,
            StartSource::Poisson(processes) => processes.next.extend(processes.lost.drain(..)),
        }
        self.settle();
    }

    /// Continues with another schedule with the same past: the starts that were taken are its first, and those that
    /// follow are its next.
    pub fn change(&mut self, schedule: Arc<Schedule>) {
        self.schedule = schedule;
        self.recheck_skipped();
    }

    /// Continues without the revoked slots, each from its instant on.
    pub fn lose(&mut self, lost: RevokedSlots) {
        let all_from = match &self.source {
            StartSource::Even(numbers) => lost.all_from(&numbers.segment),
            StartSource::Poisson(processes) => lost.all_from(&processes.segment),
        };
        self.lost = Some((lost, all_from));
        self.recheck_skipped();
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

/// The integral for a number of fractions of a start.
fn integral_of(parts: u128) -> u128 {
    parts * (START / PARTS) + parts * (START % PARTS) / PARTS
}

/// The next gap of one slot's process, in fractions of a start: exponential, with all slots together one start on
/// average.
fn gap(random: &mut Random) -> u128 {
    let exponential = -(1.0 - random.unit()).ln();
    (exponential * f64::from(SLOT_COUNT) * PARTS as f64) as u128
}
