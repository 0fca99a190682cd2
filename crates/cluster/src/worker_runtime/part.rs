//! A part of a load, carried out by a run of this process on a thread of its own.

use std::sync::Arc;

use driver::Clock;
use engine::{PartEnd, PartMessage, Partition, RunError, RunOptions, RunResult, RunUpdate, Running, StopHandle};
use host::CpuTime;
use metrics::{ByAddress, Gauges, Snapshot};
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
        self.post.report(News::Began { part, slot_grant: self.slot_grant, slots, from, late });
        self.post.send(Input::Control(self.post.of, running.control()));
        let scenarios = self.plan.scenarios.len();
        let mut backlog = AddressBacklog::default();
        while let Some(reported) = running.wait() {
            match reported {
                RunUpdate::Interval(reported) => {
                    let mut seen = if scenarios == 1 {
                        vec![gauged(reported.added, reported.seen)]
                    } else {
                        reported.scenarios.iter().map(|one| gauged(one.added, one.seen)).collect()
                    };
                    let span = IntervalSpan { number: reported.number, to: reported.to, is_update: reported.is_update };
                    backlog.hold(&mut seen, &span);
                    let behind = seen.iter().map(|one| one.gauges.behind).sum();
                    let (seen, lengths) = (snapshots_to_bytes(&seen), (self.plan.interval.into(), self.pieces));
                    let row = Row { behind, ..span.row(part, lengths, seen) };
                    self.post.report(News::Row(row.owned_until(self.part.lease.end().since(measured))));
                }
                RunUpdate::Remote(news) => self.post.report(match news {
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
                    PartMessage::StopRun(reason) => News::StopRun { part, reason },
                    PartMessage::Unreachable(is_failing) => News::Unreachable { part, is_failing },
                }),
                RunUpdate::Changed(_) => {}
            }
        }
        if let Some((span, seen)) = backlog.rest() {
            let seen = snapshots_to_bytes(&seen);
            self.post.report(News::Row(span.row(part, (self.plan.interval.into(), self.pieces), seen)));
        }
        let result = running.finish()?;
        // Its threads stop one after the other; each says what it left of the time of the lease.
        let left = result.ends.iter().map(|end| end.left).fold(0, u64::saturating_add);
        let stopped = result.ends.iter().map(|end| end.stopped_at).max().unwrap_or_default();
        let until = if left == 0 { stopped } else { self.part.lease.end().since(measured) };
        let until = until.max(from.unwrap_or_default());
        Ok(News::Ended { part, until, left, end: end_to_bytes(&end_of(result, part == 0)) })
    }
}

/// How often the figures by address are reported: they are much larger than everything else.
const ADDRESSES_EVERY: Nanos = Nanos::from_millis(30_000);

/// Figures by address that are not reported yet.
#[derive(Default)]
struct AddressBacklog {
    /// Those of each scenario.
    held: Vec<ByAddress>,
    /// Until when they were reported.
    reported_until: Nanos,
    /// The last interval, with the gauges at its end.
    last: Option<(IntervalSpan, Vec<Gauges>)>,
}

impl AddressBacklog {
    /// Takes the figures out of an interval, or adds those that were held back, where it is time.
    fn hold(&mut self, seen: &mut [Snapshot], span: &IntervalSpan) {
        self.held.resize_with(seen.len().max(self.held.len()), ByAddress::default);
        for (one, held) in seen.iter_mut().zip(&mut self.held) {
            held.merge(&std::mem::take(&mut one.by_address));
        }
        if span.to >= self.reported_until + ADDRESSES_EVERY {
            self.reported_until = span.to;
            let held = self.held.iter_mut().map(std::mem::take);
            seen.iter_mut().zip(held).for_each(|(one, held)| one.by_address = held);
        }
        let gauges = seen.iter().map(|one| one.gauges.clone()).collect();
        self.last = Some((IntervalSpan { is_update: true, ..*span }, gauges));
    }

    /// What was held back at the end, as an update of the last interval.
    fn rest(self) -> Option<(IntervalSpan, Vec<Snapshot>)> {
        let (span, gauges) = self.last.filter(|_| self.held.iter().any(|held| !held.all().is_empty()))?;
        let with = |(gauges, by_address)| {
            let mut seen = Snapshot::default();
            (seen.gauges, seen.by_address) = (gauges, by_address);
            seen
        };
        Some((span, gauges.into_iter().zip(self.held).map(with).collect()))
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
        Row { part, number, first: number, upto, reported_until, behind: 0, seen }
    }
}

/// The new results, with the current gauges.
fn gauged(added: &Snapshot, seen: &Snapshot) -> Snapshot {
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

#[cfg(test)]
mod tests {
    use metrics::AddressSlots;

    use super::*;

    fn seen(sent: u64) -> Snapshot {
        let (mut seen, mut slots) = (Snapshot::default(), AddressSlots::default());
        let slot = slots.slot("10.0.0.1:80".parse().expect("an address"));
        seen.by_address.at(slot, &slots).sent = sent;
        seen
    }

    fn sent(all: &[Snapshot]) -> Vec<u64> {
        all.iter().map(|one| one.by_address.all().iter().map(|(_, tally)| tally.sent).sum()).collect()
    }

    /// Whatever the intervals are, all of it is reported once.
    #[test]
    fn figures_by_address_are_reported_at_times_and_at_the_end() {
        for (millis, reports) in [(100, 3), (1_000, 3), (60_000, 70)] {
            let mut backlog = AddressBacklog::default();
            let (mut total, mut reported) = ([0, 0], 0);
            let count = (70_000 / millis).max(70);
            for number in 1..=count {
                let span = IntervalSpan { number, to: Nanos::from_millis(number * millis), is_update: false };
                let mut row = vec![seen(number), seen(1)];
                backlog.hold(&mut row, &span);
                reported += u64::from(sent(&row)[0] > 0);
                total.iter_mut().zip(sent(&row)).for_each(|(sum, one)| *sum += one);
            }
            if let Some((span, row)) = backlog.rest() {
                assert!(span.is_update && span.number == count);
                reported += 1;
                total.iter_mut().zip(sent(&row)).for_each(|(sum, one)| *sum += one);
            }
            assert_eq!((total, reported), ([count * (count + 1) / 2, count], reports), "every {millis} ms");
        }
        assert!(AddressBacklog::default().rest().is_none());
    }
}
