//! Counts of a run or an interval.

use std::ops::Deref;

use metrics::{Counters, Counts, Failure, FailuresByHost, Snapshot};

/// A failure with its count and its hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// The failure.
    pub failure: Failure,
    /// The count.
    pub count: u64,
    /// The hosts, when connections go to several.
    pub places: Vec<String>,
}

impl FailureCount {
    /// All failures, each with its hosts.
    pub(crate) fn all(counts: &Counts, failures_by_host: &FailuresByHost) -> Vec<Self> {
        let one = |(failure, count)| {
            let places = failures_by_host.places(failure).into_iter().map(|(place, _)| place.to_owned()).collect();
            Self { failure, count, places }
        };
        counts.failures().map(one).collect()
    }

    /// A failure of a hold: all connections go to one host.
    pub(crate) fn held((failure, count): (Failure, u64)) -> Self {
        Self { failure, count, places: Vec::new() }
    }
}

/// Counts between two instants. The plain counters are available through `Deref`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The plain counters.
    pub counters: Counters,
    /// Active users at the end.
    pub users: u64,
    /// Connections that have carried a response and are open at the end.
    pub connections_open: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// The length of the first body.
    pub first_length: u64,
    /// Bodies of another length.
    pub lengths_differ: u64,
    /// HTTP statuses.
    pub statuses: Vec<(u16, u64)>,
    /// Statuses that are words, in alphabetical order; that of all others is last.
    pub status_words: Vec<(Box<str>, u64)>,
    /// gRPC statuses.
    pub grpc_statuses: Vec<(&'static str, u64)>,
    /// Failures, in the order of their kinds.
    pub failures: Vec<FailureCount>,
}

impl Deref for Tally {
    type Target = Counters;

    fn deref(&self) -> &Counters {
        &self.counters
    }
}

impl Tally {
    /// The counts of a snapshot.
    pub fn new(seen: &Snapshot) -> Self {
        let counts = &seen.counts;
        Self {
            counters: counts.counters,
            users: seen.gauges.users,
            connections_open: seen.gauges.connections_open,
            failed: counts.failed(),
            first_length: seen.tool_details.first_length,
            lengths_differ: seen.tool_details.lengths_differ,
            statuses: counts.statuses().collect(),
            status_words: counts.status_words().map(|(word, count)| (word.into(), count)).collect(),
            grpc_statuses: counts.grpc_statuses().collect(),
            failures: FailureCount::all(counts, &seen.failures_by_host),
        }
    }

    /// Exchanges that the plan started; the others are redirects that were followed.
    pub fn planned_starts(&self) -> u64 {
        self.started().saturating_sub(self.redirects())
    }

    /// Completed exchanges that the plan started, each with its redirects.
    pub fn planned_finished(&self) -> u64 {
        self.finished().saturating_sub(self.redirects())
    }

    /// Completed exchanges.
    pub fn finished(&self) -> u64 {
        self.succeeded() + self.failed
    }

    /// The count of one failure.
    pub fn failures_of(&self, failure: Failure) -> u64 {
        self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count)
    }
}
