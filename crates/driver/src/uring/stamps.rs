//! How far a stamp may be from what it stands for.
//!
//! A stamp is read when a request is queued, and the kernel takes it with the next submission, one after the other. So a
//! queue is submitted before the last in it would be late by more than [`STAMP_ERROR_MAX`], reckoned with what one
//! operation has cost of late.

use pacing::Nanos;

/// The most that a stamp of a request may be too early. Only a program that is kept from its processor, or one that
/// spends longer than this in one handler, exceeds it.
pub const STAMP_ERROR_MAX: Nanos = Nanos(20_000);

/// One sample in so many is what a new cost weighs.
const SMOOTHING: u64 = 16;
/// What an operation is taken to cost before one was measured.
const FIRST_COST: Nanos = Nanos(4_000);

/// How exact the stamps were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampErrors {
    /// Submissions with stamped operations.
    pub submissions: u64,
    /// Those whose first stamp was off by more than [`STAMP_ERROR_MAX`] when the last of them was taken.
    pub late: u64,
}

pub(super) struct Stamps {
    /// Stamped operations that wait for a submission.
    waiting: u64,
    oldest: Nanos,
    /// What an operation costs in the kernel, smoothed.
    cost: u64,
    pub(super) errors: StampErrors,
}

impl Stamps {
    pub(super) fn new() -> Self {
        Self { waiting: 0, oldest: Nanos::ZERO, cost: FIRST_COST.0, errors: StampErrors::default() }
    }

    /// An operation was queued whose stamp is `stamp`.
    #[inline]
    pub(super) fn add(&mut self, stamp: Nanos) {
        if self.waiting == 0 {
            self.oldest = stamp;
        }
        self.waiting += 1;
    }

    /// One more operation would come too late, or the first already has waited long enough.
    #[inline]
    pub(super) fn must_submit(&self, now: Nanos) -> bool {
        self.waiting > 0 && now.since(self.oldest).0 + (self.waiting + 1) * self.cost > STAMP_ERROR_MAX.0
    }

    /// What waited was taken between the two instants.
    pub(super) fn submitted(&mut self, begun: Nanos, ended: Nanos) {
        if let Some(each) = ended.since(begun).0.checked_div(self.waiting) {
            // A program that lost its processor meanwhile says nothing about the cost.
            let sample = each.min(STAMP_ERROR_MAX.0);
            self.cost = (self.cost * (SMOOTHING - 1) + sample) / SMOOTHING;
            self.judge(ended);
        }
    }

    /// What waits goes with a wait that begins now; when the kernel has taken it is reckoned.
    pub(super) fn leave(&mut self, now: Nanos) {
        if self.waiting > 0 {
            self.judge(now + Nanos(self.waiting * self.cost));
        }
    }

    fn judge(&mut self, taken: Nanos) {
        self.errors.submissions += 1;
        // The call that takes an operation is a part of it.
        self.errors.late += u64::from(taken.since(self.oldest) > STAMP_ERROR_MAX + Nanos(self.cost));
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_as_long_as_its_cost_allows() {
        let mut stamps = Stamps::new();
        assert!(!stamps.must_submit(Nanos(1 << 40)), "nothing waits");
        let mut now = Nanos(1_000);
        let mut count = 0;
        while !stamps.must_submit(now) {
            stamps.add(now);
            now += Nanos(500);
            count += 1;
        }
        assert_eq!(count, 4, "at 4 us each");
        stamps.submitted(now, now + Nanos(16_000));
        assert_eq!(stamps.errors, StampErrors { submissions: 1, late: 0 });
        stamps.leave(now + Nanos(1 << 30));
        assert_eq!(stamps.errors.submissions, 1, "nothing waits");
    }

    #[test]
    fn a_dear_operation_goes_alone() {
        let mut stamps = Stamps::new();
        for _ in 0..200 {
            stamps.add(Nanos::ZERO);
            stamps.submitted(Nanos::ZERO, Nanos(19_000));
        }
        stamps.add(Nanos::ZERO);
        assert!(stamps.must_submit(Nanos::ZERO));
    }

    /// A program that queues an operation every `gap`, whose kernel spends `cost` on each. The longest batch, and how much
    /// too early a stamp was at most.
    fn play(gap: u64, cost: u64) -> (u64, Nanos) {
        let (mut stamps, mut now, mut longest, mut worst) = (Stamps::new(), Nanos(1_000), 0, Nanos::ZERO);
        for number in 0..20_000 {
            stamps.add(now);
            if stamps.must_submit(now) {
                let (waiting, oldest) = (stamps.waiting, stamps.oldest);
                let ended = now + Nanos(waiting * cost);
                stamps.submitted(now, ended);
                now = ended;
                // What one was taken to cost at first is forgotten by then.
                if number > 10_000 {
                    (longest, worst) = (longest.max(waiting), worst.max(ended.since(oldest)));
                }
            }
            now += Nanos(gap);
        }
        (longest, worst)
    }

    #[test]
    fn no_stamp_is_wrong_while_operations_cost_what_they_did() {
        for gap in [0, 100, 700, 3_000, 15_000] {
            for cost in [100, 700, 2_000, 4_000, 9_000, 19_000] {
                let (longest, worst) = play(gap, cost);
                let about = format!("{longest} of {cost} ns every {gap} ns: {worst:?}");
                // Until the last but one was queued, one more could come in time.
                assert!(longest == 1 || longest * cost + (longest - 2) * gap <= STAMP_ERROR_MAX.0, "{about}");
                // Whoever takes its time between two of them is that much late.
                assert!(worst <= STAMP_ERROR_MAX + Nanos(gap), "{about}");
            }
        }
    }

    #[test]
    fn waiting_long_is_late() {
        let mut stamps = Stamps::new();
        stamps.add(Nanos::ZERO);
        assert!(!stamps.must_submit(Nanos(5_000)));
        assert!(stamps.must_submit(Nanos(15_000)));
        stamps.submitted(Nanos(30_000), Nanos(34_000));
        assert_eq!(stamps.errors, StampErrors { submissions: 1, late: 1 });
    }
}
