//! The state of the cluster, as a worker follows it.

use pacing::change::Change;
use pacing::{Nanos, Segment};

use super::{Act, ActiveRun, BEGINS_AFTER, FOLLOWS_AFTER, Outbox, PartOf, Probes, RunStage, Sender, Worker};
use crate::protocol::{BarrierRelease, Lease, Member, News, Phase, RunIntent, State};

impl Worker {
    /// Handles a leader key. Old values are ignored: each renewal has a higher beat, each leader a higher epoch.
    pub(super) fn see_leader(&mut self, value: &[u8], now: Nanos) {
        let Some(lease) = Lease::read(value) else { return };
        if self.leader.as_ref().is_none_or(|known| (known.epoch, known.beat) < (lease.epoch, lease.beat)) {
            let (epoch, written) = (lease.epoch, lease.written);
            self.leader = Some(lease);
            self.see_written(epoch, written, now);
        }
    }

    /// Handles the leader's notice that this revision of the state is written: the content is requested, in turn.
    pub(super) fn see_written(&mut self, epoch: u64, revision: u64, now: Nanos) {
        let is_new = self.written < (epoch, revision);
        if is_new {
            self.written = (epoch, revision);
        }
        let is_behind = (self.state.epoch, self.state.revision) < self.written;
        if is_behind && is_new {
            let spread = self.pace.spread().0;
            let turn = if spread > 0 { self.hello.id % spread } else { 0 };
            self.called_at = Some(now + Nanos(turn));
        }
        self.behind_since = is_behind.then(|| self.behind_since.unwrap_or(now));
    }

    pub(super) fn see_state(&mut self, value: &[u8], now: Nanos) {
        if let Some(state) = State::read(value) {
            self.take_up(state, now);
        }
    }

    /// The epoch and the revision of the state that it knows.
    #[cfg(test)]
    pub(crate) fn knows(&self) -> (u64, u64) {
        (self.state.epoch, self.state.revision)
    }

    pub(super) fn take_up(&mut self, state: State, now: Nanos) {
        // A former leader has no say any more, and an older state is past.
        let is_old =
            state.epoch < self.epoch || (state.epoch, state.revision) < (self.state.epoch, self.state.revision);
        #[cfg(test)]
        let is_old = is_old && !crate::sim::fault_injected(crate::sim::Bug::TwoLeaders);
        if is_old {
            return;
        }
        self.epoch = state.epoch;
        self.hello.revision = state.revision;
        (self.state, self.number) = (state, None);
        self.follow_state(now);
    }

    /// Its number among the members of the run, from 0.
    pub fn number(&self) -> Option<u16> {
        self.number.and_then(|(_, number)| number)
    }

    /// Follows the state.
    pub(super) fn follow_state(&mut self, now: Nanos) {
        let (run, phase) = (self.state.run, self.state.phase);
        if let Some(own) = &self.run
            && (own.run != run || phase >= Phase::Done)
        {
            let own = own.run;
            self.run = None;
            self.hello.standing = None;
            self.acts.push_back(Act::Abort { run: own });
            self.acts.push_back(Act::Forget { run: own });
        }
        if phase == Phase::Closed && self.goes_with_leader && !self.is_closed {
            self.is_closed = true;
            self.acts.push_back(Act::Close);
        }
        if !matches!(phase, Phase::Preparing | Phase::Running) {
            return;
        }
        let member = Member { id: self.hello.id, incarnation: self.hello.incarnation };
        // It is looked up once per state.
        let number = match self.number {
            Some((incarnation, number)) if incarnation == member.incarnation => number,
            _ => self.state.number_of(member.id, member.incarnation),
        };
        self.number = Some((member.incarnation, number));
        let Some(number) = number else { return };
        if self.is_leaving {
            return;
        }
        if self.run.is_none() {
            // Whatever was reported of it was reported by another incarnation.
            if self.boxes.iter().any(|(run_incarnation, _)| *run_incarnation == (run, member.incarnation)) {
                return;
            }
            if phase == Phase::Preparing {
                // It has not started: the known start belongs to another run.
                self.known_start = None;
            }
            self.run = Some(ActiveRun {
                run,
                incarnation: member.incarnation,
                plan: self.state.plan.clone(),
                stage: RunStage::Fetches(Nanos::ZERO, None),
                probes: Probes::default(),
                clock_of: 0,
                offset: None,
                started: None,
                warmup: Nanos::ZERO,
                lost: 0,
                begun: 0,
                changes: 0,
                rounds: Vec::new(),
                met: 0,
                intent: RunIntent::Run,
                parts: 0,
                ended: 0,
            });
            let sender = Sender { run, id: member.id, incarnation: member.incarnation };
            self.boxes.push(((run, member.incarnation), Outbox::new(sender, self.keeps)));
            // The length of a lease is known now.
            self.said_at = None;
            return self.get_ready(now);
        }
        if phase == Phase::Running {
            self.take_part(number, now);
        }
    }

    /// Takes part in the run as the state says.
    fn take_part(&mut self, number: u16, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let Some(offset) = run.offset else { return };
        let run_incarnation = (run.run, run.incarnation);
        // Another incarnation learned from the leader at that time when this run started: no present leader knows
        // better.
        run.started = run.started.or(self.known_start.filter(|(of, _)| *of == run.run).map(|(_, started)| started));
        if run.started.is_none() {
            // It knows nothing of a clock that it did not probe.
            if self.state.clock_of != run.clock_of {
                let who = self.leader.as_ref().map(|lease| lease.who);
                if matches!(run.stage, RunStage::Stamped) && who == Some(self.state.clock_of) {
                    (run.stage, run.probes) = (RunStage::Asks(now), Probes::default());
                }
                return;
            }
            run.started = Some(offset.ours(self.state.t0));
            self.known_start = run.started.map(|started| (run.run, started));
        }
        let Some(started) = run.started else { return };
        self.handle_changes(run_incarnation, started, now);
        let Some(run) = &mut self.run else { return };
        for (place, slot_grant) in self.state.slot_grants.iter().enumerate().skip(run.lost) {
            let Some(from) = slot_grant.from else { continue };
            // Past starts have been made.
            let at = from.max((now + BEGINS_AFTER).since(started + run.warmup));
            let owners = self.state.owners(place);
            let is_lost = |(slot, to): &&(u16, u16)| owners[usize::from(*slot)] == number && *to != number;
            let slots: Vec<u16> = slot_grant.moves.iter().filter(is_lost).map(|(slot, _)| *slot).collect();
            if !slots.is_empty() {
                if let Some((_, outbox)) = self.boxes.iter_mut().find(|(of, _)| *of == run_incarnation) {
                    outbox.push(News::Gave { slot_grant: place as u16, at });
                }
                self.acts.push_back(Act::Lose { run_incarnation, slot_grant: place as u16, slots, at });
            }
        }
        run.lost = self.state.slot_grants.len();
        // An incarnation that it has reported as over begins nothing more.
        let goes_on = self.boxes.iter().any(|(of, outbox)| *of == run_incarnation && !outbox.is_last());
        let mut is_first = false;
        while let Some(slot_grant) = self.state.slot_grants.get(run.begun).filter(|slot_grant| slot_grant.is_granted) {
            let place = run.begun as u16;
            run.begun += 1;
            let own = slot_grant.moves.iter().filter(|(_, to)| *to == number).map(|(slot, _)| *slot);
            let Some(segment) = Segment::from_slots(own).filter(|_| goes_on) else { continue };
            let soon = now + BEGINS_AFTER;
            #[cfg(test)]
            let soon = if crate::sim::fault_injected(crate::sim::Bug::LateBurst) { Nanos::ZERO } else { soon };
            let measured = started + run.warmup;
            // Starts due before it could begin had no owner.
            let from = match slot_grant.from {
                None if soon <= started + BEGINS_AFTER => None,
                from => Some(from.unwrap_or_default().max(soon.since(measured))),
            };
            let part = PartOf { run: run.run, incarnation: run.incarnation, part: run.parts };
            run.parts += 1;
            is_first |= part.part == 0;
            let error = Nanos(offset.round_trip.0 / 2);
            self.acts.push_back(Act::Begin { part, slot_grant: place, segment, from, started, error });
        }
        if is_first {
            self.follows_from_the_beginning(run_incarnation);
        }
        self.take_orders(number, run_incarnation);
    }

    /// Passes on releases of waiting users, or the end of the run.
    fn take_orders(&mut self, number: u16, run_incarnation: (u64, u32)) {
        let Some(run) = &mut self.run else { return };
        run.rounds.resize(self.state.rounds.len(), Nanos::ZERO);
        for (scenario, (known, at)) in run.rounds.iter_mut().zip(&self.state.rounds).enumerate() {
            if std::mem::replace(known, *at) != *at {
                self.acts.push_back(Act::Release { scenario, at: *at });
            }
        }
        for met in self.state.met.iter().filter(|met| met.total > run.met) {
            // Its own parts alone.
            let own = met.upto.iter().filter(|(member, ..)| *member == number).copied().collect();
            self.acts.push_back(Act::LetGo { run: run.run, met: BarrierRelease { upto: own, ..*met } });
        }
        run.met = self.state.met.iter().map(|met| met.total).max().unwrap_or_default().max(run.met);
        if self.state.intent > run.intent {
            run.intent = self.state.intent;
            self.acts.push_back(match run.intent {
                RunIntent::Abort => Act::Abort { run: run.run },
                _ => Act::Stop { run_incarnation },
            });
        }
    }

    /// Follows changes of the load, and reports from when on.
    fn handle_changes(&mut self, run_incarnation: (u64, u32), started: Nanos, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let mut outbox = self.boxes.iter_mut().find(|(of, _)| *of == run_incarnation).map(|(_, outbox)| outbox);
        for change in self.state.changes.iter().skip(run.changes) {
            // Past starts were made as planned before. An incarnation that has begun nothing has all of it ahead.
            let soon = (now + FOLLOWS_AFTER).since(started + run.warmup);
            let at = if run.parts > 0 { soon.max(change.effective_at) } else { change.effective_at };
            if let Some(outbox) = outbox.as_mut().filter(|_| run.parts > 0) {
                outbox.push(News::Follows { revision: change.revision, at });
            }
            self.acts.push_back(Act::Change(Change { effective_at: at, ..change.clone() }));
        }
        run.changes = run.changes.max(self.state.changes.len());
    }

    /// Begins the first part of an incarnation: it follows all earlier changes, from their instants on.
    fn follows_from_the_beginning(&mut self, run_incarnation: (u64, u32)) {
        let Some((_, outbox)) = self.boxes.iter_mut().find(|(of, _)| *of == run_incarnation) else { return };
        for change in &self.state.changes {
            outbox.push(News::Follows { revision: change.revision, at: change.effective_at });
        }
    }
}
