//! A part of a load, carried out by a run of this process on a thread of its own.

use std::sync::Arc;

use driver::Clock;
use engine::{Part, PartEnd, PartNews, RunError, RunOptions, RunResult, Running, StopHandle, Told};
use host::CpuTime;
use pacing::Nanos;
use plan::Plan;

use super::{Input, Post};
use crate::carried::{end_to_bytes, snapshots_to_bytes};
use crate::words::{News, Row};

/// One part, on a thread of its own.
pub(super) struct PartWorker {
    pub(super) tenure: u16,
    pub(super) plan: Arc<Plan>,
    pub(super) options: RunOptions,
    pub(super) part: Part,
    pub(super) pieces: u64,
    pub(super) stop: StopHandle,
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) post: Post,
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
        self.post.tell(News::Began { part, tenure: self.tenure, slots, from, late });
        self.post.send(Input::Control(self.post.of, running.control()));
        let scenarios = self.plan.scenarios.len();
        while let Some(told) = running.wait() {
            match told {
                Told::Interval(told) => {
                    let number = told.number.div_ceil(self.pieces);
                    // The last one may end before its time: more of it may come from others.
                    let interval = Nanos::from(self.plan.interval).0;
                    let end = Nanos(told.number * interval);
                    // One that would end with the plan waits a moment longer.
                    let is_whole = told.to == end || told.to == end + Nanos(interval / 10);
                    let whole = if is_whole { told.number } else { told.number - 1 };
                    let upto = if told.is_again { 0 } else { whole / self.pieces };
                    let covered = if told.is_again { Nanos::ZERO } else { told.to };
                    let seen = if scenarios == 1 {
                        snapshots_to_bytes([&gauged(told.added, told.seen)])
                    } else {
                        let each = told.scenarios.iter().map(|one| gauged(one.added, one.seen)).collect::<Vec<_>>();
                        snapshots_to_bytes(&each)
                    };
                    self.post.tell(News::Row(Row { part, number, first: number, upto, covered, seen }));
                }
                Told::Part(news) => self.post.tell(match news {
                    PartNews::Gathered(scenario, at) => {
                        News::Gathered { part, scenario: scenario as u16, at: at.since(self.started) }
                    }
                    PartNews::Arrived(meeting, count, at) => {
                        let at = at.since(self.started);
                        News::Arrived { part, meeting: meeting as u16, count, at }
                    }
                    PartNews::Withdrawn(meeting, ticket) => News::Withdrawn { part, meeting: meeting as u16, ticket },
                    PartNews::Stuck(heard) => News::Stuck { part, heard },
                    PartNews::Left(scenario) => News::Left { part, scenario: scenario as u16 },
                    PartNews::Hopeless(is_hopeless) => News::Hopeless { part, is_hopeless },
                }),
                Told::Changed(_) => {}
            }
        }
        let result = running.finish()?;
        let until = result.ends.iter().map(|end| end.stopped_at).max().unwrap_or_default();
        let until = until.max(from.unwrap_or_default());
        Ok(News::Ended { part, until, end: end_to_bytes(&end_of(result, part == 0)) })
    }
}

/// What is new, and how things stand.
fn gauged(added: &metrics::Snapshot, seen: &metrics::Snapshot) -> metrics::Snapshot {
    let mut added = added.clone();
    added.gauges = seen.gauges.clone();
    added
}

/// CPU time is that of the process: its first part tells of it.
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
