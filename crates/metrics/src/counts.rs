//! Counters of what happened; they add up.

use crate::{FAILURE_COUNT, Failure, GRPC_STATUSES};
use std::collections::BTreeMap;

/// Counters for status codes 0 to 999.
pub const STATUS_COUNT: usize = 1_000;

/// Plain counters.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Exchanges whose intended start has come.
    pub started: u64,
    /// Ended well.
    pub succeeded: u64,
    /// Could not be started in time.
    pub dropped: u64,
    /// Those of them that were too late when the generator got to them: not the target's doing.
    pub dropped_by_generator: u64,
    /// In flight when the run was stopped.
    pub unfinished: u64,
    /// Those of them that had no grace: the run was ended at once.
    pub cut: u64,
    /// Ended after nothing was started any more.
    pub drained: u64,
    /// What of that succeeded.
    pub drained_well: u64,
    /// Of a scenario with several steps: rounds that came to their end.
    pub iterations: u64,
    /// Rounds that began and did not come to their last step.
    pub iterations_cut: u64,
    /// Successes whose response time contains a stall of ours.
    pub covered_responses: u64,
    /// Tries, at least one for each exchange that was taken up.
    pub attempts: u64,
    /// Requests that were handed to the socket.
    pub sent: u64,
    /// Complete answers.
    pub answers: u64,
    /// Answers after which the connection stayed.
    pub kept: u64,
    /// The length of the first body, where that was kept.
    pub first_length: u64,
    /// Bodies of another length than the first, where that was kept.
    pub lengths_differ: u64,
    /// Redirects that were followed: each made one start more.
    pub redirects: u64,
    /// Second tries because a reused connection turned out to be closed.
    pub reconnects: u64,
    /// Bytes that arrived, heads and framing included.
    pub bytes_received: u64,
    /// Bytes of bodies that arrived, framing removed.
    pub body_bytes: u64,
    /// Bytes that were handed to the socket.
    pub bytes_handed: u64,
    /// Those of them that the kernel never took.
    pub bytes_untaken: u64,
    /// Connections that were tried.
    pub connections_tried: u64,
    /// Connections that were established.
    pub connections_established: u64,
    /// TLS handshakes that took up an earlier session.
    pub tls_resumed: u64,
    /// New connections that the peer ended before it sent a byte.
    pub cut_off: u64,
    /// Connections that were closed because bytes came which belong to no request.
    pub unsolicited: u64,
    /// Answers by status code.
    pub statuses: Box<[u64; STATUS_COUNT]>,
    /// Answers by their status of gRPC, where they have one.
    pub grpc_statuses: [u64; GRPC_STATUSES.len()],
    /// Messages that were handed to a socket, each once, however often its exchange was tried.
    pub messages_sent: u64,
    /// Those of them of which the kernel has not taken all, known when their connection ended.
    pub messages_untaken: u64,
    /// Messages that came, asked for or not.
    pub messages_received: u64,
    /// Messages of WebSocket that answer none of ours.
    pub unasked: u64,
    /// Conversations of WebSocket that the server ended, by its code: while an answer was awaited, or not.
    pub closes: BTreeMap<u16, u64>,
    pub(crate) failures: Box<[u64; FAILURE_COUNT]>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            started: 0,
            succeeded: 0,
            dropped: 0,
            dropped_by_generator: 0,
            unfinished: 0,
            cut: 0,
            drained: 0,
            drained_well: 0,
            iterations: 0,
            iterations_cut: 0,
            covered_responses: 0,
            attempts: 0,
            sent: 0,
            answers: 0,
            kept: 0,
            first_length: 0,
            lengths_differ: 0,
            redirects: 0,
            reconnects: 0,
            bytes_received: 0,
            body_bytes: 0,
            bytes_handed: 0,
            bytes_untaken: 0,
            connections_tried: 0,
            connections_established: 0,
            tls_resumed: 0,
            cut_off: 0,
            unsolicited: 0,
            statuses: Box::new([0; STATUS_COUNT]),
            grpc_statuses: [0; GRPC_STATUSES.len()],
            messages_sent: 0,
            messages_untaken: 0,
            messages_received: 0,
            unasked: 0,
            closes: BTreeMap::new(),
            failures: Box::new([0; FAILURE_COUNT]),
        }
    }
}

impl Counts {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.dropped += other.dropped;
        self.dropped_by_generator += other.dropped_by_generator;
        self.unfinished += other.unfinished;
        self.cut += other.cut;
        self.drained += other.drained;
        self.drained_well += other.drained_well;
        self.iterations += other.iterations;
        self.iterations_cut += other.iterations_cut;
        self.covered_responses += other.covered_responses;
        self.attempts += other.attempts;
        self.sent += other.sent;
        self.answers += other.answers;
        self.kept += other.kept;
        self.first_length = self.first_length.max(other.first_length);
        self.lengths_differ += other.lengths_differ;
        self.redirects += other.redirects;
        self.reconnects += other.reconnects;
        self.bytes_received += other.bytes_received;
        self.body_bytes += other.body_bytes;
        self.bytes_handed += other.bytes_handed;
        self.bytes_untaken += other.bytes_untaken;
        self.connections_tried += other.connections_tried;
        self.connections_established += other.connections_established;
        self.tls_resumed += other.tls_resumed;
        self.cut_off += other.cut_off;
        self.unsolicited += other.unsolicited;
        add_each(&mut *self.statuses, &*other.statuses);
        add_each(&mut self.grpc_statuses, &other.grpc_statuses);
        self.messages_sent += other.messages_sent;
        self.messages_untaken += other.messages_untaken;
        self.messages_received += other.messages_received;
        self.unasked += other.unasked;
        for (code, number) in &other.closes {
            *self.closes.entry(*code).or_default() += number;
        }
        add_each(&mut *self.failures, &*other.failures);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Nothing happened.
    pub fn is_empty(&self) -> bool {
        let exchanges = self.started + self.finished() + self.dropped + self.unfinished + self.attempts + self.answers;
        let rest =
            self.sent + self.reconnects + self.bytes_received + self.body_bytes + self.bytes_handed + self.unsolicited;
        exchanges + rest + self.cut_off + self.connections_tried + self.connections_established == 0
    }

    /// Bytes that the kernel took. What it never took is known when a socket ends, perhaps in a later snapshot: of all
    /// snapshots together this is exact.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_handed.saturating_sub(self.bytes_untaken)
    }

    /// Messages that left as a whole; as exact as [`Counts::bytes_sent`].
    pub fn messages_left(&self) -> u64 {
        self.messages_sent.saturating_sub(self.messages_untaken)
    }

    /// The share of the starts that succeeded, of those that were not cut short; `None` without any.
    pub fn success_ratio(&self) -> Option<f64> {
        let whole = self.started.saturating_sub(self.cut);
        (whole > 0).then(|| self.succeeded as f64 / whole as f64)
    }

    /// Exchanges that failed.
    pub fn failed(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges that ended with an outcome.
    pub fn finished(&self) -> u64 {
        self.succeeded + self.failed()
    }

    /// How often each reason was met, without those that were not.
    pub fn failures(&self) -> impl Iterator<Item = (Failure, u64)> + '_ {
        self.failures
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(index, count)| Failure::of_index(index).map(|failure| (failure, *count)))
    }

    /// How often each status of gRPC was met, by its name, without those that were not.
    pub fn grpc_statuses(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        GRPC_STATUSES.into_iter().zip(self.grpc_statuses).filter(|(_, count)| *count > 0)
    }

    /// How often each status was met, without those that were not.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(status, count)| u16::try_from(status).ok().map(|status| (status, *count)))
    }
}

pub(crate) fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, number) in sums.iter_mut().zip(more) {
        *sum += number;
    }
}
