//! What happened to connections that are held.

use crate::{Distribution, FAILURE_COUNT, Failure};

/// Counts of a time; those of shards and of times add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCounts {
    /// Connections that were tried, each time.
    pub tried: u64,
    /// Connections that were established, each time.
    pub established: u64,
    /// Connections that could not be established, by reason.
    pub failed: Box<[u64]>,
    /// Established connections that were lost, by reason.
    pub lost: Box<[u64]>,
    /// Connections that we closed, and whose peers agreed.
    pub closed: u64,
    /// Connections that we closed, and whose peers did not answer that in time.
    pub closed_unheard: u64,
    /// Connections that were on their way when it was over.
    pub abandoned: u64,
    /// Tries that were made because a connection was lost, or could not be established before.
    pub retries: u64,
    /// Messages whose time had come.
    pub due: u64,
    /// Of those, messages that our own loop took up too late.
    pub late: u64,
    /// Messages whose time came while their connections were lost.
    pub missed: u64,
    /// Messages that were due and never left: the one before them was not answered in time.
    pub unsent: u64,
    /// Messages that left.
    pub sent: u64,
    /// Messages that were answered.
    pub answered: u64,
    /// Messages that were not answered within their time, or before their connections ended.
    pub unanswered: u64,
    /// Answers that a check refused.
    pub refused: u64,
    /// Messages that came unasked.
    pub pushed: u64,
    /// Bytes that were handed to sockets.
    pub bytes_sent: u64,
    /// Of those, bytes that the kernel had not taken when their connections ended.
    pub bytes_unsent: u64,
    /// Bytes that came from sockets.
    pub bytes_received: u64,
    /// CPU time of the shards, in nanoseconds.
    pub cpu_ns: u64,
    /// TLS sessions that took up an earlier one.
    pub tls_resumed: u64,
}

impl Default for HeldCounts {
    fn default() -> Self {
        let none = || vec![0; FAILURE_COUNT].into_boxed_slice();
        Self {
            tried: 0,
            established: 0,
            failed: none(),
            lost: none(),
            closed: 0,
            closed_unheard: 0,
            abandoned: 0,
            retries: 0,
            due: 0,
            late: 0,
            missed: 0,
            unsent: 0,
            sent: 0,
            answered: 0,
            unanswered: 0,
            refused: 0,
            pushed: 0,
            bytes_sent: 0,
            bytes_unsent: 0,
            bytes_received: 0,
            cpu_ns: 0,
            tls_resumed: 0,
        }
    }
}

impl HeldCounts {
    /// Connections that could not be established.
    pub fn failed_in_all(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Established connections that were lost.
    pub fn lost_in_all(&self) -> u64 {
        self.lost.iter().sum()
    }

    /// Bytes that the kernel took.
    pub fn bytes_taken(&self) -> u64 {
        self.bytes_sent.saturating_sub(self.bytes_unsent)
    }

    /// The reasons of failures that there were, the most frequent first.
    pub fn reasons(of: &[u64]) -> Vec<(Failure, u64)> {
        let mut reasons: Vec<(Failure, u64)> =
            Failure::all().map(|failure| (failure, of[failure.index()])).filter(|(_, count)| *count > 0).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons
    }

    fn add(&mut self, other: &Self) {
        self.tried += other.tried;
        self.established += other.established;
        for (all, more) in self.failed.iter_mut().zip(&other.failed).chain(self.lost.iter_mut().zip(&other.lost)) {
            *all += more;
        }
        self.closed += other.closed;
        self.closed_unheard += other.closed_unheard;
        self.abandoned += other.abandoned;
        self.retries += other.retries;
        self.due += other.due;
        self.late += other.late;
        self.missed += other.missed;
        self.unsent += other.unsent;
        self.sent += other.sent;
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.refused += other.refused;
        self.pushed += other.pushed;
        self.bytes_sent += other.bytes_sent;
        self.bytes_unsent += other.bytes_unsent;
        self.bytes_received += other.bytes_received;
        self.cpu_ns += other.cpu_ns;
        self.tls_resumed += other.tls_resumed;
    }
}

/// How things stand at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldNow {
    /// Connections that are being opened.
    pub connecting: u64,
    /// Connections that are established.
    pub open: u64,
    /// Connections that wait until they are tried again.
    pub waiting: u64,
    /// Messages whose time has come and that have not left.
    pub owed: u64,
}

impl HeldNow {
    /// Adds another shard.
    pub fn add(&mut self, more: Self) {
        self.connecting += more.connecting;
        self.open += more.open;
        self.waiting += more.waiting;
        self.owed += more.owed;
    }
}

/// What happened in a time, and how things stand at its end.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// What happened.
    pub counts: HeldCounts,
    /// How things stand.
    pub now: HeldNow,
    /// From the start of a connection until it is established: with TLS, with the handshake of WebSocket, with a first answer of HTTP.
    pub connect: Distribution,
    /// From the instant at which a message was due to its answer.
    pub response: Distribution,
    /// From the instant at which a message left to its answer.
    pub service: Distribution,
    /// What messages that were given up had waited by then.
    pub given_up: Distribution,
    /// Between two messages that came unasked on one connection.
    pub gap: Distribution,
    /// How late the loops were.
    pub lag: Distribution,
}

impl Held {
    /// Adds another shard of the same time.
    pub fn add_shard(&mut self, other: &Self) {
        self.now.add(other.now);
        self.add_counts(other);
    }

    /// Adds a later time.
    pub fn add_time(&mut self, later: &Self) {
        self.now = later.now;
        self.add_counts(later);
    }

    /// Adds what happened, and leaves how things stand.
    pub fn add_counts(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.connect.merge(&other.connect);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.given_up.merge(&other.given_up);
        self.gap.merge(&other.gap);
        self.lag.merge(&other.lag);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        (self.counts, self.now) = (HeldCounts::default(), HeldNow::default());
        for times in
            [&mut self.connect, &mut self.response, &mut self.service, &mut self.given_up, &mut self.gap, &mut self.lag]
        {
            times.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_and_times_add_up() {
        let one = |open: u64, lost: Failure| {
            let mut held = Held::default();
            (held.counts.tried, held.counts.late) = (3, 2);
            held.counts.lost[lost.index()] = 2;
            held.now.open = open;
            held.connect.record(open * 1_000);
            held
        };
        let (first, second) = (one(5, Failure::Reset), one(7, Failure::ClosedEarly));
        let mut whole = first.clone();
        whole.add_shard(&second);
        assert_eq!((whole.now.open, whole.counts.tried, whole.connect.count()), (12, 6, 2));
        whole.add_time(&one(1, Failure::Reset));
        assert_eq!((whole.now.open, whole.counts.lost_in_all(), whole.counts.late), (1, 6, 6));
        let standing = whole.now;
        whole.add_counts(&second);
        assert_eq!((whole.now, whole.counts.tried), (standing, 12));
        let reasons = [(Failure::Reset, 4), (Failure::ClosedEarly, 4)];
        assert_eq!(HeldCounts::reasons(&whole.counts.lost), reasons);
        whole.clear();
        assert_eq!((whole.counts, whole.now, whole.connect.count()), (HeldCounts::default(), HeldNow::default(), 0));
    }
}
