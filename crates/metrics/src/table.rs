//! The series of a snapshot: for each its times by class, and its failures by reason; for checks their counts alone.

use crate::catalog::{SeriesId, SeriesKind};
use crate::series_counts::SeriesCounts;
use crate::{Class, Failure, Timings};

/// The number of distributions of one series: those of each class, and those of incomplete exchanges.
const PARTS: usize = Class::ALL.len() + 1;
/// The index of the incomplete ones among them.
const UNFINISHED: usize = Class::ALL.len();

/// The class of times of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeriesClass {
    /// The times of a class.
    As(Class),
    /// The times of incomplete exchanges.
    Not,
}

impl SeriesClass {
    #[inline]
    fn place(self) -> usize {
        match self {
            Self::As(class) => class as usize,
            Self::Not => UNFINISHED,
        }
    }
}

/// How often a check was evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Its condition was true.
    pub passed: u64,
    /// It was not.
    pub failed: u64,
}

impl CheckCounts {
    fn add(&mut self, more: Self) {
        self.passed += more.passed;
        self.failed += more.failed;
    }

    /// The number of evaluations of a class: one that fails does so with all that it needs.
    pub(crate) fn of(self, class: Class) -> u64 {
        match class {
            Class::Succeeded => self.passed,
            Class::FailedAnswered => self.failed,
            Class::FailedUnanswered | Class::TimedOut => 0,
        }
    }
}

/// All series of a snapshot. Each part of one is allocated when something is recorded first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    timings: Vec<Option<Box<Timings>>>,
    /// Counts by series and failure counter; sorted for a binary search among the few that occur.
    failures: Vec<((SeriesId, u16), u64)>,
    /// The counts of checks, by their index among the checks: they have no times.
    checks: Vec<CheckCounts>,
    /// Successes after their deadline.
    pub(crate) missed: SeriesCounts,
    /// Failures after which another try came.
    pub(crate) retried: SeriesCounts,
}

/// Equality of what was recorded, whatever memory it takes.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.failures == other.failures
            && self.recorded().eq(other.recorded())
            && self.evaluated().eq(other.evaluated())
            && self.missed == other.missed
            && self.retried == other.retried
    }
}

impl Table {
    #[inline]
    pub(crate) fn timings_mut(&mut self, series: SeriesId, ended: SeriesClass) -> &mut Timings {
        let place = series.index() * PARTS + ended.place();
        if place >= self.timings.len() {
            self.timings.resize_with(place + 1, || None);
        }
        self.timings[place].get_or_insert_default()
    }

    pub(crate) fn timings(&self, series: SeriesId, ended: SeriesClass) -> Option<&Timings> {
        self.timings.get(series.index() * PARTS + ended.place())?.as_deref()
    }

    /// The non-empty timings, by series and class.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (SeriesId, SeriesClass, &Timings)> {
        let all = self.timings.iter().enumerate().filter_map(|(place, timings)| Some((place, timings.as_deref()?)));
        all.filter(|(_, timings)| !timings.is_empty()).filter_map(|(place, timings)| {
            let ended = Class::ALL.get(place % PARTS).copied().map_or(SeriesClass::Not, SeriesClass::As);
            Some((SeriesId::from_index(place / PARTS)?, ended, timings))
        })
    }

    /// Counts evaluations of the check with this series.
    pub(crate) fn count_check(&mut self, series: SeriesId, counts: CheckCounts) {
        let place = series.place() as usize;
        if place >= self.checks.len() {
            self.checks.resize_with(place + 1, CheckCounts::default);
        }
        self.checks[place].add(counts);
    }

    /// The counts of a check; those of any other series are zero.
    pub(crate) fn check(&self, series: SeriesId) -> CheckCounts {
        let is_check = series.kind() == SeriesKind::Check;
        self.checks.get(series.place() as usize).filter(|_| is_check).copied().unwrap_or_default()
    }

    /// The checks that were evaluated, with their counts.
    pub(crate) fn evaluated(&self) -> impl Iterator<Item = (SeriesId, CheckCounts)> + '_ {
        let all = SeriesId::all(SeriesKind::Check).zip(self.checks.iter().copied());
        all.filter(|(_, counts)| *counts != CheckCounts::default())
    }

    /// Counts a failure; the times are recorded separately.
    pub(crate) fn fail(&mut self, series: SeriesId, failure: Failure, count: u64) {
        let key = (series, failure.index() as u16);
        match self.failures.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(place) => self.failures[place].1 += count,
            Err(place) => self.failures.insert(place, (key, count)),
        }
    }

    /// Adds failures of series, of which none was counted before.
    pub(crate) fn extend_failures(&mut self, more: Vec<(SeriesId, Failure, u64)>) {
        let keyed = |(series, failure, count): (SeriesId, Failure, u64)| ((series, failure.index() as u16), count);
        self.failures.extend(more.into_iter().map(keyed));
        self.failures.sort_by_key(|(key, _)| *key);
    }

    /// Failures of all series, by series and counter.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (SeriesId, Failure, u64)> + '_ {
        self.failures.iter().filter_map(|((series, index), count)| {
            Failure::from_index(usize::from(*index)).map(|failure| (*series, failure, *count))
        })
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.timings.len() < other.timings.len() {
            self.timings.resize_with(other.timings.len(), || None);
        }
        for (own, more) in self.timings.iter_mut().zip(&other.timings) {
            if let Some(more) = more {
                own.get_or_insert_default().merge(more);
            }
        }
        other.failures().for_each(|(series, failure, count)| self.fail(series, failure, count));
        other.evaluated().for_each(|(series, counts)| self.count_check(series, counts));
        self.missed.merge(&other.missed);
        self.retried.merge(&other.retried);
    }

    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.timings.iter_mut().flatten().for_each(|timings| timings.clear());
        self.failures.clear();
        self.checks.fill(CheckCounts::default());
        self.missed.clear();
        self.retried.clear();
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let of = |timings: &Timings| size_of::<Timings>() + timings.heap_bytes();
        self.timings.capacity() * size_of::<usize>()
            + self.checks.capacity() * size_of::<CheckCounts>()
            + self.missed.bytes()
            + self.retried.bytes()
            + self.failures.capacity() * size_of::<((SeriesId, u16), u64)>()
            + self.timings.iter().flatten().map(|timings| of(timings)).sum::<usize>()
    }
}
