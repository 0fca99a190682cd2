//! A guard that ends a load whose target fails nearly always, for long: going on would only make it worse.

use std::collections::VecDeque;
use std::time::Duration;

/// How long it must have failed.
const SPAN: Duration = Duration::from_secs(30);
/// The failed share of the exchanges that ended in that time, in percent.
const FAILED_PERCENT: u64 = 95;

/// Counts of ended and failed exchanges at the end of each interval of that time.
#[derive(Debug, Default)]
pub(crate) struct FailureRateGuard {
    seen: VecDeque<(Duration, u64, u64)>,
}

impl FailureRateGuard {
    /// Adds the totals at an instant; returns whether the guard trips.
    pub(crate) fn is_tripped(&mut self, at: Duration, ended: u64, failed: u64) -> bool {
        if self.seen.is_empty() {
            self.seen.push_back((Duration::ZERO, 0, 0));
        }
        self.seen.push_back((at, ended, failed));
        // The first entry kept is the last one that lies at least the whole span back.
        while self.seen.get(1).is_some_and(|(then, ..)| *then + SPAN <= at) {
            self.seen.pop_front();
        }
        let Some(&(then, ended_then, failed_then)) = self.seen.front() else { return false };
        let (ended, failed) = (ended.saturating_sub(ended_then), failed.saturating_sub(failed_then));
        then + SPAN <= at && ended > 0 && failed * 100 >= ended * FAILED_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds (ended, failed) counts per second; returns the second at which the guard trips.
    fn lost_at(seconds: impl IntoIterator<Item = (u64, u64)>) -> Option<u64> {
        let (mut failing, mut ended, mut failed) = (FailureRateGuard::default(), 0, 0);
        for (index, (more, worse)) in seconds.into_iter().enumerate() {
            (ended, failed) = (ended + more, failed + worse);
            if failing.is_tripped(Duration::from_secs(index as u64 + 1), ended, failed) {
                return Some(index as u64 + 1);
            }
        }
        None
    }

    #[test]
    fn hope_is_lost_after_thirty_seconds_of_failures() {
        assert_eq!(lost_at([(100, 100); 40]), Some(30));
        assert_eq!(lost_at([(100, 95); 40]), Some(30));
        assert_eq!(lost_at([(100, 94); 100]), None);
        assert_eq!(lost_at([(100, 100); 29]), None);
        assert_eq!(lost_at([(0, 0); 100]), None);
        // Ten good seconds first: the share of the last thirty counts.
        assert_eq!(lost_at([(100, 0); 10].into_iter().chain([(100, 100); 60])), Some(39));
        // The target recovers in time.
        assert_eq!(lost_at([(100, 100); 28].into_iter().chain([(100, 0); 60])), None);
        // Hardly anything ends, and all of it fails.
        assert_eq!(lost_at([(1, 1)].into_iter().chain([(0, 0); 28]).chain([(1, 1)])), Some(30));
    }
}
