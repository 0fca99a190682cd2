//! The budget of a run, which all shards spend together. Each shard leases starts from one pool in pieces that get
//! smaller as the pool does. So a start costs no shared write, and all shards together start exactly as many requests
//! as the budget has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use pacing::Nanos;
use plan::{Budget, BudgetPart};

/// Most starts that a shard takes out of the pool at once.
const PIECE_MAX: u64 = 64;

/// The remaining budget.
#[derive(Debug)]
pub(crate) struct SharedBudget {
    budget: Budget,
    /// Starts that no shard has taken.
    starts: AtomicU64,
    /// Bytes spent, as far as shards have reported.
    bytes: AtomicU64,
    /// The budget part that ended the run, counted from 1.
    ended_by: AtomicU8,
}

impl SharedBudget {
    pub(crate) fn new(budget: Budget) -> Self {
        let starts = AtomicU64::new(budget.requests.unwrap_or(0));
        Self { budget, starts, bytes: AtomicU64::new(0), ended_by: AtomicU8::new(0) }
    }

    /// Takes at most `most` starts; 0 when none are left.
    fn take(&self, most: u64) -> u64 {
        let piece = |left: u64| (left / PIECE_MAX).clamp(1, PIECE_MAX).min(most).min(left);
        let taken = self.starts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - piece(left)));
        taken.map_or(0, piece)
    }

    fn end_by(&self, part: BudgetPart) {
        // The first one ended it.
        let _ = self.ended_by.compare_exchange(0, part as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The budget part that ended the run.
    fn ended_by(&self) -> Option<BudgetPart> {
        let number = usize::from(self.ended_by.load(Ordering::Relaxed));
        number.checked_sub(1).map(|index| BudgetPart::ALL[index])
    }
}

/// The lease of one shard.
#[derive(Debug)]
pub(crate) struct BudgetLease {
    pool: Arc<SharedBudget>,
    /// Starts that it has taken and not made.
    starts: u64,
    /// Bytes of the current snapshot already reported.
    reported: u64,
    /// No start is made from this instant on.
    until: Nanos,
}

impl BudgetLease {
    pub(crate) fn new(pool: Arc<SharedBudget>, started: Nanos) -> Self {
        let until = pool.budget.time.map_or(Nanos::NEVER, |time| started + time.into());
        Self { pool, starts: 0, reported: 0, until }
    }

    /// No start is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.starts == 0 && self.pool.budget.requests.is_some() && self.pool.starts.load(Ordering::Relaxed) == 0
    }

    /// Takes one start. False when there is none. `most`: as many as the shard will certainly make, including this one;
    /// it takes no more out of the pool, where others may need them.
    pub(crate) fn take(&mut self, most: u64) -> bool {
        if self.pool.budget.requests.is_none() {
            return true;
        }
        if self.starts == 0 {
            self.starts = self.pool.take(most.max(1));
        }
        let has_one = self.starts > 0;
        self.starts = self.starts.saturating_sub(1);
        has_one
    }

    /// Records that the requests ended the run: a start was due and none was left.
    pub(crate) fn end_by_requests(&self) {
        self.pool.end_by(BudgetPart::Requests);
    }

    /// Returns unused starts to the pool.
    pub(crate) fn give_back(&mut self) {
        self.pool.starts.fetch_add(std::mem::take(&mut self.starts), Ordering::Relaxed);
    }

    /// Reports the bytes of the snapshot so far. `is_last`: the next call is about another snapshot.
    pub(crate) fn report_bytes(&mut self, bytes: u64, is_last: bool) {
        if self.pool.budget.bytes.is_some() {
            self.pool.bytes.fetch_add(bytes.saturating_sub(self.reported), Ordering::Relaxed);
            self.reported = if is_last { 0 } else { bytes };
        }
    }

    /// Since when bytes or time are spent. `planned`: when the load ends without that.
    pub(crate) fn is_over_since(&self, now: Nanos, planned: Nanos) -> Option<Nanos> {
        if now >= self.until && self.until < planned {
            self.pool.end_by(BudgetPart::Time);
            return Some(self.until);
        }
        let is_spent = self.pool.budget.bytes.is_some_and(|most| self.pool.bytes.load(Ordering::Relaxed) >= most);
        is_spent.then(|| {
            self.pool.end_by(BudgetPart::Bytes);
            now
        })
    }

    /// When the time budget is spent.
    pub(crate) fn until(&self) -> Nanos {
        self.until
    }

    /// The budget part that ended the run.
    pub(crate) fn ended_by(&self) -> Option<BudgetPart> {
        self.pool.ended_by()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(budget: Budget) -> Arc<SharedBudget> {
        Arc::new(SharedBudget::new(budget))
    }

    /// Any number of shards, taking turns in any order, start together as many as the budget has.
    #[test]
    fn starts_are_as_many_as_the_budget_has() {
        for count in [1, 2, 63, 64, 65, 1_000, 4_097, 100_000] {
            for shards in [1, 2, 3, 7, 64] {
                let pool = pool(Budget { requests: Some(count), ..Budget::default() });
                let mut purses: Vec<BudgetLease> =
                    (0..shards).map(|_| BudgetLease::new(pool.clone(), Nanos::ZERO)).collect();
                let mut made = vec![0; shards];
                // The first is the fastest by far.
                for round in 0.. {
                    let mut has_more = false;
                    for (shard, budget_lease) in purses.iter_mut().enumerate() {
                        let turns = if round % (shard + 1) == 0 { 3 } else { 0 };
                        (0..turns).for_each(|_| made[shard] += u64::from(budget_lease.take(u64::MAX)));
                        has_more |= !budget_lease.is_empty();
                    }
                    if !has_more {
                        break;
                    }
                }
                assert_eq!(made.iter().sum::<u64>(), count, "{count} of {shards}: {made:?}");
            }
        }
    }

    /// A shard whose share is done holds no start that another needs.
    #[test]
    fn shares_that_fit_the_budget_are_made_whole() {
        for (share, shards) in [(1, 2), (2, 2), (50, 2), (64, 3), (100, 7), (5_000, 4)] {
            for spare in [0, 1, 2, 100] {
                let pool = pool(Budget { requests: Some(share * shards + spare), ..Budget::default() });
                let mut purses: Vec<BudgetLease> =
                    (0..shards).map(|_| BudgetLease::new(pool.clone(), Nanos::ZERO)).collect();
                let mut left = vec![share; shards as usize];
                while left.iter().any(|left| *left > 0) {
                    for (shard, budget_lease) in purses.iter_mut().enumerate() {
                        // The first is the fastest by far.
                        for _ in 0..left[shard].min(if shard == 0 { 17 } else { 3 }) {
                            assert!(budget_lease.take(left[shard]), "{share} of {shards}, {spare} more: {left:?}");
                            left[shard] -= 1;
                        }
                    }
                }
                assert_eq!(purses.iter().filter(|budget_lease| budget_lease.is_empty()).count() > 0, spare == 0);
            }
        }
    }

    #[test]
    fn threads_start_as_many_as_the_budget_has() {
        let pool = pool(Budget { requests: Some(100_003), ..Budget::default() });
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let mut budget_lease = BudgetLease::new(pool.clone(), Nanos::ZERO);
                std::thread::spawn(move || (0..).take_while(|_| budget_lease.take(u64::MAX)).count())
            })
            .collect();
        let made: usize = threads.into_iter().map(|thread| thread.join().expect("it ends")).sum();
        assert_eq!(made, 100_003);
    }

    #[test]
    fn bytes_and_time_end_it_once() {
        let budget = Budget { bytes: Some(1_000), time: Some(std::time::Duration::from_secs(5)), requests: None };
        let (one, second) = (pool(budget), Nanos::from_millis(1_000));
        let (mut a, mut b) = (BudgetLease::new(one.clone(), second), BudgetLease::new(one.clone(), second));
        assert!(a.take(1) && !a.is_empty(), "requests have no bound");
        assert_eq!(a.until(), Nanos::from_millis(6_000));
        a.report_bytes(400, false);
        a.report_bytes(500, true);
        b.report_bytes(499, false);
        assert_eq!(a.is_over_since(second, Nanos::NEVER), None);
        assert_eq!(a.ended_by(), None);
        a.report_bytes(1, false);
        assert_eq!(b.is_over_since(second, Nanos::NEVER), Some(second));
        assert_eq!(a.is_over_since(Nanos::from_millis(7_000), Nanos::NEVER), Some(Nanos::from_millis(6_000)));
        assert_eq!(a.ended_by(), Some(BudgetPart::Bytes));
        // The budget has not ended a load that was over before.
        let late = BudgetLease::new(pool(Budget { bytes: None, ..budget }), second);
        assert_eq!(late.is_over_since(Nanos::from_millis(7_000), Nanos::from_millis(6_000)), None);
        assert_eq!(late.ended_by(), None);
    }

    #[test]
    fn what_a_shard_did_not_make_is_there_for_others() {
        let pool = pool(Budget { requests: Some(1_000), ..Budget::default() });
        let (mut a, mut b) = (BudgetLease::new(pool.clone(), Nanos::ZERO), BudgetLease::new(pool, Nanos::ZERO));
        assert!(a.take(u64::MAX));
        a.give_back();
        assert_eq!((0..).take_while(|_| b.take(u64::MAX)).count(), 999);
    }
}
