//! How many of what there were.

use metrics::{Blamed, Counts, Failure, Snapshot};

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
    pub(crate) fn all(counts: &Counts, blamed: &Blamed) -> Vec<Self> {
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

/// What was counted from one instant to another. The numbers are those of [`metrics::Counts`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Users that are at work at the end.
    pub users: u64,
    /// Connections that have carried an answer and are open at the end.
    pub connections_open: u64,
    /// Exchanges whose intended start has come.
    pub started: u64,
    /// Exchanges that succeeded.
    pub succeeded: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// Starts that came too late and were given up.
    pub dropped: u64,
    /// Those of them that were too late before a connection was looked for.
    pub dropped_by_generator: u64,
    /// Exchanges that did not end.
    pub unfinished: u64,
    /// Those of them that were cut off without a grace.
    pub cut: u64,
    /// Exchanges that ended after the last start.
    pub drained: u64,
    /// Iterations that came to their end.
    pub iterations: u64,
    /// Iterations that were cut.
    pub iterations_cut: u64,
    /// Responses that contain a stall of our own.
    pub covered_responses: u64,
    /// Tries of exchanges.
    pub attempts: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Answers that came.
    pub answers: u64,
    /// Answers after which the connection was kept.
    pub kept: u64,
    /// The length of the first body.
    pub first_length: u64,
    /// Bodies of another length.
    pub lengths_differ: u64,
    /// Exchanges that a redirect made.
    pub redirects: u64,
    /// Requests that were sent again.
    pub reconnects: u64,
    /// Bytes that came.
    pub bytes_received: u64,
    /// Bytes that left.
    pub bytes_sent: u64,
    /// Bytes of bodies that came.
    pub body_bytes: u64,
    /// Connections that were tried.
    pub connections_tried: u64,
    /// Connections that were established.
    pub connections_established: u64,
    /// TLS sessions that were resumed.
    pub tls_resumed: u64,
    /// New connections that the server cut off.
    pub cut_off: u64,
    /// Connections on which bytes came that belong to no request.
    pub unsolicited: u64,
    /// Messages that left.
    pub messages_sent: u64,
    /// Messages that came.
    pub messages_received: u64,
    /// Those of them that answer none of ours.
    pub unasked: u64,
    /// Statuses of HTTP.
    pub statuses: Vec<(u16, u64)>,
    /// Statuses of gRPC.
    pub grpc_statuses: Vec<(&'static str, u64)>,
    /// Failures, in the order of their kinds.
    pub failures: Vec<FailureCount>,
}

impl Tally {
    /// What a snapshot counts.
    pub fn of(seen: &Snapshot) -> Self {
        let counts = &seen.counts;
        Self {
            users: seen.users,
            connections_open: seen.connections_open,
            started: counts.started,
            succeeded: counts.succeeded,
            failed: counts.failed(),
            dropped: counts.dropped,
            dropped_by_generator: counts.dropped_by_generator,
            unfinished: counts.unfinished,
            cut: counts.cut,
            drained: counts.drained,
            iterations: counts.iterations,
            iterations_cut: counts.iterations_cut,
            covered_responses: counts.covered_responses,
            attempts: counts.attempts,
            sent: counts.sent,
            answers: counts.answers,
            kept: counts.kept,
            first_length: counts.first_length,
            lengths_differ: counts.lengths_differ,
            redirects: counts.redirects,
            reconnects: counts.reconnects,
            bytes_received: counts.bytes_received,
            bytes_sent: counts.bytes_sent(),
            body_bytes: counts.body_bytes,
            connections_tried: counts.connections_tried,
            connections_established: counts.connections_established,
            tls_resumed: counts.tls_resumed,
            cut_off: counts.cut_off,
            unsolicited: counts.unsolicited,
            messages_sent: counts.messages_left(),
            messages_received: counts.messages_received,
            unasked: counts.unasked,
            statuses: counts.statuses().collect(),
            grpc_statuses: counts.grpc_statuses().collect(),
            failures: FailureCount::all(counts, &seen.blamed),
        }
    }

    /// Exchanges that ended.
    pub fn finished(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// How often a failure was met.
    pub fn failures_of(&self, failure: Failure) -> u64 {
        self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count)
    }

    /// Successes of all starts that were not cut off; `None` when there were none.
    pub fn success_ratio(&self) -> Option<f64> {
        let of = self.started.saturating_sub(self.cut);
        (of > 0).then(|| self.succeeded as f64 / of as f64)
    }
}
