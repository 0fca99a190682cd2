//! The ingest delay: whether worker reports are received in time. A single worker that was cut off reports late; when
//! all reports of a while are old, the leader is slow, or its path to the bus.

use pacing::Nanos;

use super::{Leader, LeaderUpdate};

/// The window whose youngest report gives the delay.
const LOOKS_AT: Nanos = Nanos::from_millis(1_000);
/// A younger report is in time.
const IN_TIME: Nanos = Nanos::from_millis(750);

/// The age of received reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lateness {
    /// The youngest since then.
    youngest: Option<(Nanos, Nanos)>,
}

impl Lateness {
    /// Adds a report of this age. Returns the delay when a window is over.
    fn record(&mut self, age: Nanos, now: Nanos) -> Option<Nanos> {
        let (since, youngest) = self.youngest.get_or_insert((now, age));
        *youngest = age.min(*youngest);
        let youngest = *youngest;
        if now.since(*since) < LOOKS_AT {
            return None;
        }
        self.youngest = None;
        Some(youngest).filter(|youngest| *youngest >= IN_TIME)
    }
}

impl Leader {
    /// Adds a batch that was sent this long after the start.
    pub(super) fn record_age(&mut self, sent_at: Nanos, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let Some(started) = run.started else { return };
        // Reports sent before we led are read at once from the stream.
        let sent_at = Nanos(started.0.saturating_add(sent_at.0));
        if sent_at < run.since {
            return;
        }
        if let Some(behind) = run.lateness.record(now.since(sent_at), now) {
            self.reported.push_back(LeaderUpdate::Behind(behind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u64; 0] = [];

    fn behind(ages: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut lateness = Lateness::default();
        let millis = Nanos::from_millis;
        let received = |(at, age)| lateness.record(millis(age), millis(at)).map(|behind| behind.0 / 1_000_000);
        ages.into_iter().filter_map(received).collect()
    }

    #[test]
    fn who_is_behind_hears_nothing_young() {
        assert_eq!(behind((0..5_000).step_by(100).map(|at| (at, 20))), NONE);
        // One was cut off, the others were not.
        assert_eq!(behind((0..5_000).step_by(100).map(|at| (at, if at % 200 == 0 { 9_000 } else { 20 }))), NONE);
        // All were cut off, and reported it within a moment.
        assert_eq!(behind((0..500).step_by(10).map(|at| (at, 9_000)).chain([(600, 10), (1_700, 10)])), NONE);
        assert_eq!(behind((0..2_300).step_by(100).map(|at| (at, 1_500 + at))), [1_500, 2_600]);
    }
}
