//! A part of a load, carried out by a run of this process on a thread of its own.

use std::sync::Arc;

use driver::Clock;
use engine::{PartEnd, PartMessage, Partition, RunError, RunOptions, RunResult, RunUpdate, Running, StopHandle};
use host::CpuTime;
use pacing::Nanos;
use plan::Plan;

use super::{Input, PartReporter};
use crate::encoding::{end_to_bytes, snapshots_to_bytes};
use crate::protocol::{News, Row};

/// One part, on a thread of its own.
pub(super) struct PartWorker {
    pub(super) slot_grant: u16,
    pub(super) plan: Arc<Plan>,
    pub(super) options: RunOptions,
    pub(super) part: Partition,
    pub(super) pieces: u64,
    pub(super) stop: StopHandle,
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) post: PartReporter,
}

impl PartWorker {
    pub(super) fn work(self) {
        self.post.end(self.carry_out());
    }

    fn carry_out(&self) -> Result<News, RunError> {
        let mut running = Running::start_part(self.plan.clone(), self.options.clone(), &self.part, &self.stop)?;
        let part = self.post.of.part;
        let from = self.part.from;
        let measured = self.started + self.plan.warmup.into();
        let begins = from.map_or(self.started, |from| measured + from);
        let late = self.clock.now().since(begins);
        let slots = self.part.segment.slots().collect();
        self.post.tell(News::Began { part, slot_grant: self.slot_grant, slots, from, late });
        self.post.send(Input::Control(self.post.of, running.control()));
        let scenarios = self.plan.scenarios.len();
        while let Some(reported) = running.wait() {
            match reported {
                RunUpdate::Interval(reported) => {
                    let seen = if scenarios == 1 {
                        snapshots_to_bytes([&gauged(reported.added, reported.seen)])
                    } else {
                        let each = reported.scenarios.iter().map(|one| gauged(one.added, one.seen)).collect::<Vec<_>>();
                        snapshots_to_bytes(&each)
                    };
                    let span = IntervalSpan { number: reported.number, to: reported.to, is_update: reported.is_update };
                    self.post.tell(News::Row(span.row(part, (self.plan.interval.into(), self.pieces), seen)));
                }
                RunUpdate::Remote(news) => self.post.tell(match news {
                    PartMessage::Gathered(scenario, at) => {
                        News::Gathered { part, scenario: scenario as u16, at: at.since(self.started) }
                    }
                    PartMessage::Arrived(barrier, count, at) => {
                        let at = at.since(self.started);
                        News::Arrived { part, barrier: barrier as u16, count, at }
                    }
                    PartMessage::Withdrawn(barrier, ticket) => {
                        News::Withdrawn { part, barrier: barrier as u16, ticket }
                    }
                    PartMessage::Stuck(received) => News::Stuck { part, received },
                    PartMessage::Left(scenario) => News::Left { part, scenario: scenario as u16 },
                    PartMessage::Unreachable(is_failing) => News::Unreachable { part, is_failing },
                }),
                RunUpdate::Changed(_) => {}
            }
        }
        let result = running.finish()?;
        let until = result.ends.iter().map(|end| end.stopped_at).max().unwrap_or_default();
        let until = until.max(from.unwrap_or_default());
        Ok(News::Ended { part, until, end: end_to_bytes(&end_of(result, part == 0)) })
    }
}

/// The span of an interval of a part.
pub(super) struct IntervalSpan {
    pub(super) number: u64,
    pub(super) to: Nanos,
    pub(super) is_update: bool,
}

impl IntervalSpan {
    /// The report of what was new in it; `pieces`: intervals of the part for each one of the plan.
    pub(super) fn row(&self, part: u16, (interval, pieces): (Nanos, u64), seen: Vec<Vec<u8>>) -> Row {
        // The last interval may end early: more of it may come from other parts.
        let end = Nanos(self.number * interval.0);
        // An interval that would end with the plan waits a moment longer.
        let is_whole = self.to == end || self.to == end + Nanos(interval.0 / 10);
        let whole = if is_whole { self.number } else { self.number - 1 };
        let (number, is_new) = (self.number.div_ceil(pieces), !self.is_update);
        let upto = if is_new { whole / pieces } else { 0 };
        let reported_until = if is_new { self.to } else { Nanos::ZERO };
        Row { part, number, first: number, upto, reported_until, seen }
    }
}

/// The new results, with the current gauges.
fn gauged(added: &metrics::Snapshot, seen: &metrics::Snapshot) -> metrics::Snapshot {
    let mut added = added.clone();
    added.gauges = seen.gauges.clone();
    added
}

/// CPU time is that of the process: its first part reports it.
fn end_of(result: RunResult, is_first: bool) -> PartEnd {
    PartEnd {
        wall: result.wall,
        scenarios: result.ends,
        shards: result.shards,
        cpu: if is_first { result.cpu } else { CpuTime::default() },
        used_up: result.used_up,
        met: result.met,
    }
}
