//! Control of parts that go on, or are about to begin.

use engine::{Control, HoldEnding};
use pacing::Nanos;
use pacing::change::Change;

use super::{RunningPart, WorkerEvent, WorkerRuntime};
use crate::protocol::BarrierRelease;
use crate::worker::PartOf;

/// Passes a barrier release on to a part.
fn report_release(part: &RunningPart, met: &BarrierRelease, started: Nanos) {
    let upto = met.upto.iter().find(|(_, number, _)| *number == part.of.part).map(|(.., ticket)| *ticket);
    if let Some(control) = &part.control {
        control.let_go(usize::from(met.barrier), upto, started + met.at, met.total);
    }
}

impl WorkerRuntime<'_> {
    /// Ends held connections at this instant, counted from the start, by releasing their only round.
    pub(super) fn release_held(&mut self, at: Nanos) {
        let Some(started) = self.worker.started() else { return };
        self.runs.values_mut().for_each(|run| run.ends_at = Some(at));
        self.parts.iter().filter_map(|part| part.ending.as_ref()).for_each(|ending| ending.close_at(started + at));
    }

    /// Registers a part of held connections that can be ended; its end may be known already.
    pub(super) fn end_later(&mut self, of: PartOf, ending: HoldEnding) {
        let ends_at = self.runs.get(&of.run).and_then(|run| run.ends_at);
        if let (Some(at), Some(started)) = (ends_at, self.worker.started()) {
            ending.close_at(started + at);
        }
        if let Some(part) = self.parts.iter_mut().find(|part| part.of == of) {
            part.ending = Some(ending);
        }
    }

    pub(super) fn lose(&mut self, run_incarnation: (u64, u32), slot_grant: u16, slots: Vec<u16>, at: Nanos) {
        let own = self
            .parts
            .iter()
            .filter(|part| (part.of.run, part.of.incarnation) == run_incarnation && part.slot_grant < slot_grant);
        for control in own.filter_map(|part| part.control.as_ref()) {
            control.lose(slots.iter().copied(), at);
        }
        if let Some(run) = self.runs.get_mut(&run_incarnation.0) {
            run.lost.push((run_incarnation, slot_grant, slots, at));
        }
    }

    /// Ends an incarnation: its parts finish what is in flight.
    pub(super) fn stop(&mut self, run_incarnation: (u64, u32), now: Nanos) {
        let is_older = run_incarnation.1 != self.worker.incarnation();
        if is_older {
            self.lease.pass_on(self.clock.now());
        }
        let mut had_any = false;
        for part in self.parts.iter_mut().filter(|part| (part.of.run, part.of.incarnation) == run_incarnation) {
            if is_older {
                part.stop.leave()
            } else {
                part.stop.stop()
            }
            (part.leaves, had_any) = (is_older, true);
        }
        if had_any && is_older && self.stopping_since.is_none() {
            self.place.report(&WorkerEvent::GivenUp);
        }
        self.check_completion(run_incarnation, now);
    }

    pub(super) fn change(&mut self, change: &Change) {
        for run in self.runs.values_mut() {
            run.changes.push(change.clone());
        }
        for control in self.parts.iter().filter(|part| !part.leaves).filter_map(|part| part.control.as_ref()) {
            control.follow(change.clone());
        }
    }

    /// Releases users that wait at a barrier.
    pub(super) fn let_go(&mut self, run: u64, met: BarrierRelease) {
        let (Some(own), Some(started)) = (self.runs.get_mut(&run), self.worker.started()) else { return };
        let parts = self.parts.iter().filter(|part| part.of.run == run);
        parts.for_each(|part| report_release(part, &met, started));
        BarrierRelease::push(&mut own.met, met);
    }

    /// Registers a part that can be controlled: commands that came while it began are passed on.
    pub(super) fn steer(&mut self, of: PartOf, control: Control) {
        let Some(run) = self.runs.get(&of.run) else { return };
        let Some(part) = self.parts.iter_mut().find(|part| part.of == of) else { return };
        if !part.leaves {
            // It takes each change once, in order.
            run.changes.iter().for_each(|change| control.follow(change.clone()));
        }
        for (run_incarnation, later, slots, at) in &run.lost {
            if *run_incarnation == (of.run, of.incarnation) && *later > part.slot_grant {
                control.lose(slots.iter().copied(), *at);
            }
        }
        part.control = Some(control);
        if let Some(started) = self.worker.started() {
            run.met.iter().for_each(|met| report_release(part, met, started));
        }
    }
}
