//! Single exchanges with their instants: the slowest of a run, and the lines of a request log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Failure;

/// The most exchanges that are stored as the slowest.
pub const SLOWEST_MAX: usize = 1_000;

/// The end of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestRecordEnd {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed(Failure),
    /// It was in flight when the run was over.
    Unfinished,
    /// It could not start in time.
    Dropped,
}

/// An exchange with its instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestRecord {
    /// The intended instant, since the measured time began.
    pub intended_ns: u64,
    /// From intended to its end.
    pub response_ns: u64,
    /// From intended to taken up.
    pub lateness_ns: u64,
    /// From taken up to sent; `None` when it was not sent.
    pub wait_ns: Option<u64>,
    /// From sent to its end.
    pub service_ns: Option<u64>,
    /// From sent to the first byte of the response; `None` when none came.
    pub first_byte_ns: Option<u64>,
    /// Bytes of the body that arrived.
    pub body_bytes: u32,
    /// Index of its step in the plan, over all scenarios.
    pub step: u32,
    /// The shard that ran it, counted from 0.
    pub shard: u32,
    /// The status of the response; 0 without one.
    pub status: u16,
    /// The end of the exchange.
    pub end: RequestRecordEnd,
    /// Whether its connection was opened for it.
    pub is_connection_new: bool,
    /// The trace ID that its request named (W3C Trace Context); 0 for none.
    pub trace: u128,
}

impl RequestRecord {
    /// Longest first; among equals the earliest. The remaining fields break ties, so that the order of insertion does
    /// not matter.
    fn rank(&self) -> (u64, Reverse<Self>) {
        (self.response_ns, Reverse(*self))
    }
}

/// One of the slowest, ordered by its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slow(RequestRecord);

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.rank().cmp(&other.0.rank())
    }
}

/// The slowest exchanges of a time span, up to a limit.
#[derive(Clone, Debug, Default)]
pub struct Slowest {
    most: usize,
    /// The quickest of them is on top.
    heap: BinaryHeap<Reverse<Slow>>,
}

impl PartialEq for Slowest {
    fn eq(&self, other: &Self) -> bool {
        self.most == other.most && self.sorted() == other.sorted()
    }
}

impl Eq for Slowest {}

impl Slowest {
    /// At most `most` exchanges, the slowest first; `None` where they are not sorted so.
    pub(crate) fn from_sorted(sorted: Vec<RequestRecord>, most: usize) -> Option<Self> {
        let is_in_order = sorted.is_sorted_by(|one, next| one.rank() >= next.rank());
        let is_fine = is_in_order && (1..=most).contains(&sorted.len()) && most <= SLOWEST_MAX;
        is_fine.then(|| Self { most, heap: sorted.into_iter().map(|traced| Reverse(Slow(traced))).collect() })
    }

    /// Gives each its trace, the slowest first; `None` where the number differs, or the order changes.
    pub(crate) fn with_traces(&self, traces: &[u128]) -> Option<Self> {
        let sorted = self.sorted();
        let traced = |(one, trace): (RequestRecord, &u128)| RequestRecord { trace: *trace, ..one };
        let fits = sorted.len() == traces.len();
        let all = sorted.into_iter().zip(traces).map(traced).collect();
        fits.then(|| Self::from_sorted(all, self.most)).flatten()
    }

    /// The limit of their number.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Whether none is stored.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Stores an exchange if it is among the `most` slowest. Returns the response time below which a further one is
    /// not.
    pub fn keep(&mut self, traced: RequestRecord, most: usize) -> u64 {
        if self.most != most {
            self.most = most;
            self.heap.reserve(most.saturating_sub(self.heap.len()));
        }
        let slow = Slow(traced);
        if self.heap.len() < most {
            self.heap.push(Reverse(slow));
        } else if let Some(mut quickest) = self.heap.peek_mut()
            && quickest.0 < slow
        {
            *quickest = Reverse(slow);
        }
        let is_full = self.heap.len() >= most;
        self.heap.peek().filter(|_| is_full).map_or(0, |quickest| quickest.0.0.response_ns)
    }

    /// Merges both, with the larger limit of the two.
    pub fn merge(&mut self, other: &Self) {
        let most = self.most.max(other.most);
        for Reverse(slow) in &other.heap {
            self.keep(slow.0, most);
        }
    }

    /// Removes all and keeps the memory.
    pub fn clear(&mut self) {
        self.most = 0;
        self.heap.clear();
    }

    /// The exchanges, the slowest first.
    pub fn sorted(&self) -> Vec<RequestRecord> {
        let mut all: Vec<Slow> = self.heap.iter().map(|Reverse(slow)| slow.clone()).collect();
        all.sort_unstable_by(|one, other| other.cmp(one));
        all.into_iter().map(|slow| slow.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(response_ns: u64, intended_ns: u64) -> RequestRecord {
        RequestRecord {
            intended_ns,
            response_ns,
            lateness_ns: 0,
            wait_ns: None,
            service_ns: None,
            first_byte_ns: None,
            body_bytes: 0,
            step: 0,
            shard: 0,
            status: 200,
            end: RequestRecordEnd::Succeeded,
            is_connection_new: false,
            trace: 0,
        }
    }

    /// However the exchanges are spread over shards and intervals: the result is the same as sorting all of them.
    #[test]
    fn the_slowest_are_those_that_sorting_gives() {
        for (count, most, parts) in [(0, 5, 1), (3, 5, 2), (5, 5, 3), (1_000, 1, 7), (1_000, 10, 4), (5_000, 100, 13)] {
            let all: Vec<RequestRecord> = (0..count).map(|n| traced(n * 2_654_435_761 % 997, n)).collect();
            let mut shards = vec![Slowest::default(); parts];
            for (number, one) in all.iter().enumerate() {
                let least = shards[number % parts].keep(*one, most);
                assert!(shards[number % parts].heap.len() <= most);
                assert!(shards[number % parts].sorted().iter().all(|kept| kept.response_ns >= least));
            }
            let mut whole = Slowest::default();
            shards.iter().for_each(|shard| whole.merge(shard));
            let mut sorted = all;
            sorted.sort_by_key(|one| Reverse(one.rank()));
            sorted.truncate(most);
            assert_eq!(whole.sorted(), sorted, "{count} {most} {parts}");
        }
    }

    #[test]
    fn below_the_bound_nothing_changes() {
        let mut slowest = Slowest::default();
        assert_eq!(slowest.keep(traced(5, 0), 2), 0, "there is room");
        assert_eq!(slowest.keep(traced(9, 1), 2), 5);
        assert_eq!(slowest.keep(traced(4, 2), 2), 5);
        assert_eq!(slowest.keep(traced(7, 3), 2), 7);
        assert_eq!(slowest.sorted().iter().map(|one| one.response_ns).collect::<Vec<_>>(), [9, 7]);
        slowest.clear();
        assert_eq!(slowest.keep(traced(1, 0), 2), 0);
    }
}
