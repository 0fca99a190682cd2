//! Snapshots of a hold.

use std::ops::{Deref, DerefMut};

use crate::counter::add_each;
use crate::{Distribution, FAILURE_COUNT, Failure, HeldCounters};

/// Counts of a time span; those of shards and of spans add up. The plain counters are available through `Deref`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCounts {
    /// The plain counters.
    pub counters: HeldCounters,
    /// Connections that could not be established, by reason.
    pub failed: Box<[u64]>,
    /// Established connections that were lost, by reason.
    pub lost: Box<[u64]>,
}

impl Default for HeldCounts {
    fn default() -> Self {
        let none = || vec![0; FAILURE_COUNT].into_boxed_slice();
        Self { counters: HeldCounters::default(), failed: none(), lost: none() }
    }
}

impl Deref for HeldCounts {
    type Target = HeldCounters;

    #[inline]
    fn deref(&self) -> &HeldCounters {
        &self.counters
    }
}

impl DerefMut for HeldCounts {
    #[inline]
    fn deref_mut(&mut self) -> &mut HeldCounters {
        &mut self.counters
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

    /// The reasons that occurred, the most frequent first.
    pub fn reasons(of: &[u64]) -> Vec<(Failure, u64)> {
        let mut reasons: Vec<(Failure, u64)> =
            Failure::all().map(|failure| (failure, of[failure.index()])).filter(|(_, count)| *count > 0).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons
    }

    fn merge(&mut self, other: &Self) {
        self.counters.merge(&other.counters);
        add_each(&mut self.failed, &other.failed);
        add_each(&mut self.lost, &other.lost);
    }

    fn clear(&mut self) {
        self.counters.clear();
        self.failed.fill(0);
        self.lost.fill(0);
    }
}

/// Gauges of one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldNow {
    /// Connections that are being opened.
    pub connecting: u64,
    /// Connections that are established.
    pub open: u64,
    /// Connections that wait for a retry.
    pub waiting: u64,
    /// Messages that are due and not sent.
    pub owed: u64,
}

impl HeldNow {
    /// Adds the gauges of another shard.
    pub fn add(&mut self, more: Self) {
        self.connecting += more.connecting;
        self.open += more.open;
        self.waiting += more.waiting;
        self.owed += more.owed;
    }
}

/// A snapshot of a hold: counts and times of a span, and the gauges at its end.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// The counts.
    pub counts: HeldCounts,
    /// The gauges.
    pub now: HeldNow,
    /// Times from the start of a connection until it is established: with TLS, with the WebSocket handshake, with a
    /// first HTTP response.
    pub connect: Distribution,
    /// Times from the instant at which a message was due to its response.
    pub response: Distribution,
    /// Times from the instant at which a message was sent to its response.
    pub service: Distribution,
    /// The time that incomplete messages had waited.
    pub incomplete: Distribution,
    /// Times between two unsolicited messages on one connection.
    pub gap: Distribution,
    /// Lateness of the loops.
    pub lag: Distribution,
}

impl Held {
    /// Adds another shard of the same span.
    pub fn add_shard(&mut self, other: &Self) {
        self.now.add(other.now);
        self.add_counts(other);
    }

    /// Adds the counts and times, but not the gauges.
    pub fn add_counts(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.connect.merge(&other.connect);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.incomplete.merge(&other.incomplete);
        self.gap.merge(&other.gap);
        self.lag.merge(&other.lag);
    }

    /// Resets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.now = HeldNow::default();
        for times in [
            &mut self.connect,
            &mut self.response,
            &mut self.service,
            &mut self.incomplete,
            &mut self.gap,
            &mut self.lag,
        ] {
            times.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeldCounter;

    #[test]
    fn shards_and_times_add_up() {
        let one = |open: u64, lost: Failure| {
            let mut held = Held::default();
            (held.counts[HeldCounter::Tried], held.counts[HeldCounter::Late]) = (3, 2);
            held.counts.lost[lost.index()] = 2;
            held.now.open = open;
            held.connect.record(open * 1_000);
            held
        };
        let (first, second) = (one(5, Failure::Reset), one(7, Failure::ClosedEarly));
        let mut whole = first.clone();
        whole.add_shard(&second);
        assert_eq!((whole.now.open, whole.counts.tried(), whole.connect.count()), (12, 6, 2));
        let standing = whole.now;
        whole.add_counts(&one(1, Failure::Reset));
        assert_eq!((whole.now, whole.counts.lost_in_all(), whole.counts.late()), (standing, 6, 6));
        whole.add_counts(&second);
        assert_eq!((whole.now, whole.counts.tried()), (standing, 12));
        let reasons = [(Failure::Reset, 4), (Failure::ClosedEarly, 4)];
        assert_eq!(HeldCounts::reasons(&whole.counts.lost), reasons);
        whole.clear();
        assert_eq!((whole.counts, whole.now, whole.connect.count()), (HeldCounts::default(), HeldNow::default(), 0));
    }
}
