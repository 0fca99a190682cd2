//! A target that fails nearly always, for long: whoever goes on only makes it worse.

use std::collections::VecDeque;
use std::time::Duration;

/// So long it must have failed.
const SPAN: Duration = Duration::from_secs(30);
/// So much of what ended in that time, in hundredths.
const FAILED_PERCENT: u64 = 95;

/// What had ended, and what of it had failed, at the end of each interval of the last time.
#[derive(Debug, Default)]
pub(crate) struct FailureRateGuard {
    seen: VecDeque<(Duration, u64, u64)>,
}

impl FailureRateGuard {
    /// Looks at the sums at an instant: whether there is no hope.
    pub(crate) fn looks_so(&mut self, at: Duration, ended: u64, failed: u64) -> bool {
        if self.seen.is_empty() {
            self.seen.push_back((Duration::ZERO, 0, 0));
        }
        self.seen.push_back((at, ended, failed));
        // The first that is kept is the last that lies the whole time back.
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

    /// A second at a time: how many end, and how many of them fail; the second at which hope is lost.
    fn lost_at(seconds: impl IntoIterator<Item = (u64, u64)>) -> Option<u64> {
        let (mut hopeless, mut ended, mut failed) = (FailureRateGuard::default(), 0, 0);
        for (index, (more, worse)) in seconds.into_iter().enumerate() {
            (ended, failed) = (ended + more, failed + worse);
            if hopeless.looks_so(Duration::from_secs(index as u64 + 1), ended, failed) {
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
        // It comes back in time.
        assert_eq!(lost_at([(100, 100); 28].into_iter().chain([(100, 0); 60])), None);
        // Hardly anything ends, and all of it badly.
        assert_eq!(lost_at([(1, 1)].into_iter().chain([(0, 0); 28]).chain([(1, 1)])), Some(30));
    }
}
