//! A short sleep before a wait, so that data that arrives meanwhile is found at once: each wake-up costs both the
//! sleeper and the waker. `Driver::coalesce` sets its length; see `engine/src/scenario_runtime/connections/layers/read_coalescer.rs`.
//!
//! A wait never takes longer than the given time. A sleep takes longer than requested; by how much is learned.

use pacing::Nanos;

use crate::Clock;

/// Minimum sleep: a shorter one coalesces nothing.
const SHORT_SLEEP_MIN: Nanos = Nanos(1_000);
/// Smoothing factor: a new oversleep has a weight of one in this many.
const SMOOTHING: u64 = 16;
/// The oversleep assumed before the first measurement.
const FIRST_LATE: Nanos = Nanos(4_000);
/// While sleeps are too late to be tried, the remembered oversleep decays by this fraction for each, so that one is
/// tried again some time.
const FORGETTING: u64 = 1_024;

pub(crate) struct ShortSleep {
    /// The longest delay of an event.
    span: Nanos,
    /// Smoothed oversleep: how much longer a sleep takes than requested.
    late: u64,
}

impl ShortSleep {
    pub(crate) fn new() -> Self {
        Self { span: Nanos::ZERO, late: FIRST_LATE.0 }
    }

    #[inline]
    pub(crate) fn allow(&mut self, span: Nanos) {
        self.span = span;
    }

    #[inline]
    pub(crate) fn is_allowed(&self) -> bool {
        self.span != Nanos::ZERO
    }

    /// Sleeps, unless `until` is too near. Returns the time afterwards.
    pub(crate) fn take(&mut self, until: Nanos, clock: &Clock) -> Nanos {
        let now = clock.now();
        let Some(requested) = self.length(until.since(now)) else { return now };
        std::thread::sleep(requested.as_duration());
        let then = clock.now();
        self.learn(requested, then.since(now));
        then
    }

    /// The sleep to request, so that it is over in time.
    fn length(&mut self, left: Nanos) -> Option<Nanos> {
        // On other systems a sleep may be late by whole milliseconds.
        let span = if cfg!(target_os = "linux") { self.span.min(left) } else { Nanos::ZERO };
        if span.0 < SHORT_SLEEP_MIN.0 + self.late {
            if left >= self.span {
                self.late -= self.late / FORGETTING;
            }
            return None;
        }
        Some(Nanos(span.0 - self.late))
    }

    fn learn(&mut self, requested: Nanos, slept: Nanos) {
        // If the thread lost its processor meanwhile, the sample would say nothing about sleeps: it is capped.
        let sample = slept.since(requested).0.min(4 * self.late + SHORT_SLEEP_MIN.0);
        self.late = (self.late * (SMOOTHING - 1) + sample).div_ceil(SMOOTHING);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const SPAN: Nanos = Nanos(20_000);
    const FAR: Nanos = Nanos(1 << 40);

    fn short_sleep(span: Nanos) -> ShortSleep {
        let mut short_sleep = ShortSleep::new();
        short_sleep.allow(span);
        short_sleep
    }

    /// Sleeps with an oversleep of `late`.
    fn rounds(short_sleep: &mut ShortSleep, late: u64, count: usize) -> Vec<u64> {
        let round = |_| {
            let requested = short_sleep.length(FAR)?;
            short_sleep.learn(requested, requested + Nanos(late));
            Some(requested.0 + late)
        };
        (0..count).filter_map(round).collect()
    }

    #[test]
    fn a_sleep_is_over_in_time_however_late_sleeps_are() {
        for late in [0, 200, 1_000, 3_300, 8_000, 15_000] {
            let mut short_sleep = short_sleep(SPAN);
            rounds(&mut short_sleep, late, 200);
            let taken = rounds(&mut short_sleep, late, 100);
            assert_eq!(taken.len(), 100, "late by {late}");
            assert!(
                taken.iter().all(|taken| (SPAN.0 - 100..=SPAN.0 + 20).contains(taken)),
                "late by {late}: {taken:?}"
            );
        }
    }

    #[test]
    fn where_every_sleep_is_too_late_few_are_tried() {
        let mut short_sleep = short_sleep(SPAN);
        assert!(rounds(&mut short_sleep, 60_000, 10_000).len() < 100);
    }

    #[test]
    fn one_that_lost_its_processor_teaches_little() {
        let mut short_sleep = short_sleep(SPAN);
        rounds(&mut short_sleep, 3_000, 200);
        short_sleep.learn(Nanos(17_000), Nanos(50_000_000));
        assert!(short_sleep.length(FAR).is_some());
    }

    #[test]
    fn none_is_taken_unasked_or_past_a_deadline() {
        assert!(!short_sleep(Nanos::ZERO).is_allowed());
        assert_eq!(short_sleep(Nanos::ZERO).length(FAR), None);
        let mut short_sleep = short_sleep(SPAN);
        assert_eq!(short_sleep.length(Nanos::ZERO), None);
        assert_eq!(short_sleep.length(FIRST_LATE), None);
        assert_eq!(short_sleep.length(Nanos(10_000)), Some(Nanos(6_000)));
        assert_eq!(short_sleep.late, FIRST_LATE.0, "a near deadline says nothing of sleeps");
    }
}
