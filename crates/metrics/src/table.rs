//! The series of a snapshot: for each its times by class, and its failures by reason.

use crate::catalog::SeriesId;
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

/// All series of a snapshot. Each part of one is allocated when something is recorded first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    timings: Vec<Option<Box<Timings>>>,
    /// Counts by series and failure counter; sorted for a binary search among the few that occur.
    failures: Vec<((SeriesId, u16), u64)>,
}

/// Equality of what was recorded, whatever memory it takes.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.failures == other.failures && self.recorded().eq(other.recorded())
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
    }

    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.timings.iter_mut().flatten().for_each(|timings| timings.clear());
        self.failures.clear();
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let of = |timings: &Timings| size_of::<Timings>() + timings.heap_bytes();
        self.timings.capacity() * size_of::<usize>()
            + self.failures.capacity() * size_of::<((SeriesId, u16), u64)>()
            + self.timings.iter().flatten().map(|timings| of(timings)).sum::<usize>()
    }
}
