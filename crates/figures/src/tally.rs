//! How many of what there were.

use std::ops::Deref;

use metrics::{Counters, Counts, Failure, FailuresByHost, Snapshot};

/// A failure, how often it was met, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// What failed.
    pub failure: Failure,
    /// How often.
    pub count: u64,
    /// Where, when connections go to several places.
    pub places: Vec<String>,
}

impl FailureCount {
    /// All that there were, each with its places.
    pub(crate) fn all(counts: &Counts, blamed: &FailuresByHost) -> Vec<Self> {
        let one = |(failure, count)| {
            let places = blamed.places(failure).into_iter().map(|(place, _)| place.to_owned()).collect();
            Self { failure, count, places }
        };
        counts.failures().map(one).collect()
    }

    /// Of connections that are held: all go to one place.
    pub(crate) fn held((failure, count): (Failure, u64)) -> Self {
        Self { failure, count, places: Vec::new() }
    }
}

/// What was counted from one instant to another. The plain counters are read as if they stood here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The plain counters.
    pub counters: Counters,
    /// Users that are at work at the end.
    pub users: u64,
    /// Connections that have carried an answer and are open at the end.
    pub connections_open: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// The length of the first body.
    pub first_length: u64,
    /// Bodies of another length.
    pub lengths_differ: u64,
    /// Statuses of HTTP.
    pub statuses: Vec<(u16, u64)>,
    /// Statuses of gRPC.
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
    /// What a snapshot counts.
    pub fn of(seen: &Snapshot) -> Self {
        let counts = &seen.counts;
        Self {
            counters: counts.counters,
            users: seen.gauges.users,
            connections_open: seen.gauges.connections_open,
            failed: counts.failed(),
            first_length: seen.particulars.first_length,
            lengths_differ: seen.particulars.lengths_differ,
            statuses: counts.statuses().collect(),
            grpc_statuses: counts.grpc_statuses().collect(),
            failures: FailureCount::all(counts, &seen.blamed),
        }
    }

    /// Exchanges that the plan started; the others are redirects that were followed.
    pub fn planned_starts(&self) -> u64 {
        self.started().saturating_sub(self.redirects())
    }

    /// What the plan asked for and ended, each with the redirects behind it.
    pub fn planned_finished(&self) -> u64 {
        self.finished().saturating_sub(self.redirects())
    }

    /// Exchanges that ended.
    pub fn finished(&self) -> u64 {
        self.succeeded() + self.failed
    }

    /// How often a failure was met.
    pub fn failures_of(&self, failure: Failure) -> u64 {
        self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count)
    }
}
