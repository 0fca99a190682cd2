//! The error of stamps.
//!
//! A stamp is read when a request is queued, and the kernel takes it with the next submission, one after the other. So
//! a queue is submitted before the last request in it would be late by more than [`STAMP_ERROR_MAX`], computed with the
//! recent cost of one operation.

use pacing::Nanos;

/// The maximum by which the stamp of a request is too early. It is exceeded only if the program loses its processor, or
/// spends longer than this in one handler.
pub const STAMP_ERROR_MAX: Nanos = Nanos(20_000);

/// Smoothing factor: a new cost has a weight of one in this many.
const SMOOTHING: u64 = 16;
/// The cost of an operation assumed before the first measurement.
const FIRST_COST: Nanos = Nanos(4_000);

/// The exactness of stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampErrors {
    /// Submissions with stamped operations.
    pub submissions: u64,
    /// Submissions whose first stamp was off by more than [`STAMP_ERROR_MAX`] when the last operation was taken.
    pub late: u64,
}

pub(super) struct Stamps {
    /// Stamped operations that wait for a submission.
    waiting: u64,
    oldest: Nanos,
    /// The smoothed cost of an operation in the kernel.
    cost: u64,
    pub(super) errors: StampErrors,
}

impl Stamps {
    pub(super) fn new() -> Self {
        Self { waiting: 0, oldest: Nanos::ZERO, cost: FIRST_COST.0, errors: StampErrors::default() }
    }

    /// Counts a queued operation whose stamp is `stamp`.
    #[inline]
    pub(super) fn add(&mut self, stamp: Nanos) {
        if self.waiting == 0 {
            self.oldest = stamp;
        }
        self.waiting += 1;
    }

    /// Whether one more operation would be too late, or the first has waited long enough.
    #[inline]
    pub(super) fn must_submit(&self, now: Nanos) -> bool {
        self.waiting > 0 && now.since(self.oldest).0 + (self.waiting + 1) * self.cost > STAMP_ERROR_MAX.0
    }

    /// Records that the waiting operations were taken between the two instants.
    pub(super) fn submitted(&mut self, begun: Nanos, ended: Nanos) {
        if let Some(each) = ended.since(begun).0.checked_div(self.waiting) {
            // A program that lost its processor meanwhile says nothing about the cost: the sample is capped.
            let sample = each.min(STAMP_ERROR_MAX.0);
            self.cost = (self.cost * (SMOOTHING - 1) + sample) / SMOOTHING;
            self.judge(ended);
        }
    }

    /// The waiting operations are submitted with a wait that begins now; the instant at which the kernel takes them is
    /// computed.
    pub(super) fn leave(&mut self, now: Nanos) {
        if self.waiting > 0 {
            self.judge(now + Nanos(self.waiting * self.cost));
        }
    }

    fn judge(&mut self, taken: Nanos) {
        self.errors.submissions += 1;
        // The call that takes an operation is part of its cost.
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

    /// Simulates a program that queues an operation every `gap`, whose kernel spends `cost` on each. Returns the
    /// longest batch, and the largest error of a stamp.
    fn play(gap: u64, cost: u64) -> (u64, Nanos) {
        let (mut stamps, mut now, mut longest, mut worst) = (Stamps::new(), Nanos(1_000), 0, Nanos::ZERO);
        for number in 0..20_000 {
            stamps.add(now);
            if stamps.must_submit(now) {
                let (waiting, oldest) = (stamps.waiting, stamps.oldest);
                let ended = now + Nanos(waiting * cost);
                stamps.submitted(now, ended);
                now = ended;
                // The initially assumed cost has decayed by then.
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
                // When the last but one was queued, one more could still have been in time.
                assert!(longest == 1 || longest * cost + (longest - 2) * gap <= STAMP_ERROR_MAX.0, "{about}");
                // A program that pauses between two operations is late by that pause.
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
