//! Synthetic results of a worker: times that fill their span evenly, so that each percentile is known.

use engine::{PartEnd, WireScenarioOutcome};
use metrics::{Counter, Distribution, Snapshot};
use pacing::{Nanos, Segment};

use super::RATE;
use cluster::PartOf;
use cluster::encoding::end_to_bytes;
use cluster::protocol::{News, Row};

/// The smallest synthetic time, in nanoseconds.
pub(crate) const TIME_MIN: u64 = 200_000;
/// The number of different times, all equally frequent.
pub(crate) const TIMES: u64 = 3_000_000;
/// The golden ratio; the fractional parts of its multiples fill the unit interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
const SECOND: Nanos = Nanos::from_millis(1_000);

/// A part of the load that is not made.
pub(super) struct IdlePart {
    pub(super) of: PartOf,
    segment: Segment,
    started: Nanos,
    /// Seconds that were reported.
    reported: u64,
    is_stopped: bool,
    pub(super) is_over: bool,
}

impl IdlePart {
    pub(super) fn new(of: PartOf, segment: Segment, started: Nanos) -> Self {
        Self { of, segment, started, reported: 0, is_stopped: false, is_over: false }
    }

    /// When the next row is due; `NEVER` when it is over.
    pub(super) fn next_at(&self) -> Nanos {
        if self.is_over { Nanos::NEVER } else { self.started + Nanos((self.reported + 1) * SECOND.0) }
    }

    /// Whether all of it was reported.
    pub(super) fn is_reported(&self, seconds: u64) -> bool {
        self.is_stopped || self.reported >= seconds
    }

    /// Ends its reports.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// The results of the next second. `made` and `times` are those of all workers.
    pub(super) fn row(&mut self, made: &mut u64, times: &mut Distribution) -> News {
        let own = |second: u64| self.segment.count_of_first(second * RATE);
        let count = own(self.reported + 1) - own(self.reported);
        self.reported += 1;
        let mut seen = Snapshot::default();
        seen.counts[Counter::Started] = count;
        for number in *made..*made + count {
            // The times fill their span evenly, in any order.
            let time = TIME_MIN + ((number as f64 * GOLDEN).fract() * TIMES as f64) as u64;
            seen.connect.record(time);
            times.record(time);
        }
        *made += count;
        let mut bytes = Vec::new();
        seen.encode(&mut bytes);
        let (number, reported_until) = (self.reported, Nanos(self.reported * SECOND.0));
        let (part, seen) = (self.of.part, vec![bytes]);
        News::Row(Row { part, number, first: number, upto: number, reported_until, behind: 0, seen })
    }

    pub(super) fn end(&self) -> News {
        let until = Nanos(self.reported * SECOND.0);
        let end = PartEnd {
            wall: until,
            scenarios: vec![WireScenarioOutcome { stopped_at: until, ..WireScenarioOutcome::default() }],
            shards: Vec::new(),
            cpu: host::CpuTime::default(),
            used_up: Vec::new(),
            met: Vec::new(),
        };
        News::Ended { part: self.of.part, until, left: 0, end: end_to_bytes(&end) }
    }
}
