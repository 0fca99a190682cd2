//! Counters of events; they add up.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::counter::{add_each, are_zero};
use crate::status_words::StatusWords;
use crate::{Counters, FAILURE_COUNT, Failure, GRPC_STATUSES};

/// Counters for status codes 0 to 999.
pub const STATUS_COUNT: usize = 1_000;

/// The counts: the plain counters, available through `Deref`, and tables of values with their counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The plain counters.
    pub counters: Counters,
    /// Responses by status code.
    pub statuses: Box<[u64; STATUS_COUNT]>,
    /// Responses by gRPC status, where they have one.
    pub grpc_statuses: [u64; GRPC_STATUSES.len()],
    /// Responses by a status that is a word.
    pub(crate) status_words: StatusWords,
    /// WebSocket sessions that the server closed, by its code: while a response was awaited, or not.
    pub closes: BTreeMap<u16, u64>,
    pub(crate) failures: Box<[u64; FAILURE_COUNT]>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            counters: Counters::default(),
            statuses: Box::new([0; STATUS_COUNT]),
            grpc_statuses: [0; GRPC_STATUSES.len()],
            status_words: StatusWords::default(),
            closes: BTreeMap::new(),
            failures: Box::new([0; FAILURE_COUNT]),
        }
    }
}

impl Deref for Counts {
    type Target = Counters;

    #[inline]
    fn deref(&self) -> &Counters {
        &self.counters
    }
}

impl DerefMut for Counts {
    #[inline]
    fn deref_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }
}

impl Counts {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counters.merge(&other.counters);
        add_each(&mut *self.statuses, &*other.statuses);
        add_each(&mut self.grpc_statuses, &other.grpc_statuses);
        self.status_words.merge(&other.status_words);
        for (code, number) in &other.closes {
            *self.closes.entry(*code).or_default() += number;
        }
        add_each(&mut *self.failures, &*other.failures);
    }

    /// Sets all to zero; the memory stays.
    pub fn clear(&mut self) {
        self.counters.clear();
        self.statuses.fill(0);
        self.grpc_statuses.fill(0);
        self.status_words.clear();
        self.closes.clear();
        self.failures.fill(0);
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        let are_tables_empty = [&self.statuses[..], &self.grpc_statuses, &self.failures[..]].into_iter().all(are_zero);
        let are_maps_empty = self.status_words.is_empty() && self.closes.values().all(|number| *number == 0);
        are_tables_empty && are_maps_empty && self.counters.is_empty()
    }

    /// Exchanges that failed.
    pub fn failed(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges that completed with an outcome.
    pub fn finished(&self) -> u64 {
        self.succeeded() + self.failed()
    }

    /// Each failure that occurred, with its count.
    pub fn failures(&self) -> impl Iterator<Item = (Failure, u64)> + '_ {
        self.failures
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(index, count)| Failure::from_index(index).map(|failure| (failure, *count)))
    }

    /// Each gRPC status that occurred, by its name, with its count.
    pub fn grpc_statuses(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        GRPC_STATUSES.into_iter().zip(self.grpc_statuses).filter(|(_, count)| *count > 0)
    }

    /// Counts responses with a status that is a word; one that was counted before takes no memory.
    pub fn count_status_word(&mut self, word: &str, by: u64) {
        self.status_words.count(word, by);
    }

    /// The count of a status that is a word.
    pub fn status_word(&self, word: &str) -> u64 {
        self.status_words.of(word)
    }

    /// Each status that is a word and occurred, with its count: in alphabetical order, that of all others last.
    pub fn status_words(&self) -> impl Iterator<Item = (&str, u64)> {
        self.status_words.all()
    }

    /// Each status that occurred, with its count.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(status, count)| u16::try_from(status).ok().map(|status| (status, *count)))
    }
}
