//! A part of held connections in this process, on a thread of its own.

use std::sync::Arc;

use driver::Clock;
use engine::{HoldEnd, HoldOptions, HoldPart, HoldUpdate, Holding, RunError, StopHandle};
use metrics::HeldNow;
use pacing::{Nanos, Segment};
use plan::Hold;

use super::part::IntervalSpan;
use super::{Input, PartReporter};
use crate::encoding::{hold_end_to_bytes, memory_to_bytes, numbers_of};
use crate::protocol::News;

/// The id of this machine: memory of several kernels is added up by machine.
const MACHINE: &str = "/proc/sys/kernel/random/boot_id";

/// One part, on a thread of its own.
pub(super) struct HoldWorker {
    pub(super) slot_grant: u16,
    pub(super) plan: Arc<Hold>,
    pub(super) options: HoldOptions,
    pub(super) segment: Segment,
    pub(super) stop: StopHandle,
    pub(super) clock: Clock,
    pub(super) started: Nanos,
    pub(super) post: PartReporter,
}

impl HoldWorker {
    pub(super) fn work(self) {
        self.post.end(self.carry_out());
    }

    fn carry_out(&self) -> Result<News, RunError> {
        let part = HoldPart { segment: self.segment.clone(), begins: (self.clock, self.started) };
        let mut holding = Holding::start_part(self.plan.clone(), self.options.clone(), part, &self.stop)?;
        let (of, part) = (self.post.of, self.post.of.part);
        let late = self.clock.now().since(self.started);
        self.post.report(News::Began {
            part,
            slot_grant: self.slot_grant,
            slots: self.segment.slots().collect(),
            from: None,
            late,
        });
        self.post.send(Input::Ending(of, holding.ending()));
        let machine = std::fs::read_to_string(MACHINE).unwrap_or_default();
        let progress = |is_closing: bool, now: HeldNow, since: Nanos| {
            self.post.report(News::Held { part, is_closing, now: numbers_of(now), since });
        };
        while let Some(reported) = holding.wait() {
            let reported = match reported {
                HoldUpdate::Interval(reported) => reported,
                HoldUpdate::Opened(now, since) => {
                    progress(false, now, since);
                    continue;
                }
                HoldUpdate::Closing(now, since) => {
                    progress(true, now, since);
                    continue;
                }
            };
            let mut seen = reported.added.clone();
            seen.now = reported.total.now;
            let mut bytes = Vec::new();
            seen.encode(&mut bytes);
            let seen = vec![bytes, memory_to_bytes(reported.memory, machine.trim())];
            let span = IntervalSpan { number: reported.number, to: reported.to, is_update: reported.is_update };
            self.post.report(News::Row(span.row(part, (self.plan.interval.into(), 1), seen)));
        }
        let result = holding.finish()?;
        let end = HoldEnd {
            threads: result.threads,
            cpu: result.cpu,
            places: result.places,
            stopped_opening: result.stopped_opening,
            lacked_certificate: result.lacked_certificate,
        };
        Ok(News::Ended { part, until: result.wall, left: 0, end: hold_end_to_bytes(&end) })
    }
}
