//! Events from the bus, as the leader handles them.

use pacing::Nanos;

use super::run::Run;
use super::{Leader, LeaderUpdate, LeaseTurn, Pending};
use crate::bus::{BusCommand, BusEvent, LEADER, Refused, STATE};
use crate::protocol::{Ask, Batch, Hello, Lease, PROTOCOL, Phase, Reply, RunIntent, Stamp, Stamped, State};

/// More workers than this are many.
const MANY: usize = 64;
/// The interval at which many workers are checked, per worker, with an upper bound: it costs no more than a small part
/// of a core.
const LOOKS_AT_EACH: Nanos = Nanos(25_000);
const LOOKS_AT_MANY_MAX: Nanos = Nanos::from_millis(250);

impl Leader {
    /// Handles an entry of the stream; one out of order shows that others were lost in transit.
    fn entry(&mut self, place: u64, payload: &[u8], now: Nanos) {
        // Only the leader needs to know the participants; entries that come meanwhile are read when we lead again.
        if !self.leads() || self.awaits_checkpoint(now) {
            return;
        }
        if place > self.read_upto + 1 {
            return self.follow_again(now);
        }
        if place <= self.read_upto {
            return;
        }
        (self.read_upto, self.read_at) = (place, now);
        if let Some(batch) = Batch::read(payload) {
            self.handle_batch(batch, now);
        }
    }

    /// Whether there are many workers that were all checked a moment ago.
    fn can_defer_checks(&self, now: Nanos) -> bool {
        self.members.len() > MANY && now.since(self.checked_at) < self.poll_interval()
    }

    /// The interval at which all are checked, whatever is received meanwhile.
    pub(super) fn poll_interval(&self) -> Nanos {
        Nanos(LOOKS_AT_EACH.0 * self.members.len() as u64).min(LOOKS_AT_MANY_MAX)
    }

    /// Handles an event from the bus.
    pub fn handle(&mut self, received: BusEvent, now: Nanos) {
        // If we were stalled, another candidate may have taken the lease.
        let turn = self.keeper.expire(now);
        self.turn(turn, now);
        match received {
            BusEvent::Message { payload, response_to, .. } => {
                self.handle_ask(&payload, response_to, now);
                // Not every hello of many workers triggers a check of all of them.
                if self.can_defer_checks(now) {
                    return;
                }
            }
            BusEvent::Changed { key, revision, value } => self.handle_key(&key, (revision, &value), None, now),
            BusEvent::Got { token, key, value } => {
                let requested = self.pending.remove(&token).map(|(_, since)| since);
                match value {
                    Some((revision, value)) => self.handle_key(&key, (revision, &value), requested, now),
                    None if key == LEADER => self.keeper.is_free(requested),
                    None if key == STATE && self.keeper.epoch().is_some() => self.loaded(0, State::nothing(), now),
                    None => {}
                }
            }
            BusEvent::Written { token, result } => match self.pending.remove(&token) {
                Some((Pending::Lease(beat), _)) => {
                    let turn = self.keeper.written(beat, result.ok(), now);
                    self.turn(turn, now);
                }
                Some((Pending::State(revision), _)) => self.state_written(revision, result, now),
                _ => {}
            },
            BusEvent::Follows { from } => {
                if self.leads() && !self.awaits_checkpoint(now) {
                    self.read_upto = self.read_upto.max(from.saturating_sub(1));
                }
            }
            BusEvent::Entry { place, payload } => {
                self.entry(place, &payload, now);
                if self.can_defer_checks(now) {
                    return;
                }
            }
            BusEvent::Stored { token, result } => {
                let pending = self.pending.remove(&token).map(|(pending, _)| pending);
                match (pending, &mut self.run) {
                    (Some(Pending::Checkpoint(mark, run)), _) => self.checkpoint_stored((mark, run), result.is_ok()),
                    (Some(Pending::Store), Some(run)) => run.stored(result.is_ok(), now),
                    _ => {}
                }
            }
            BusEvent::Answered { token, response } => {
                if let Some((Pending::Presence(id, incarnation), _)) = self.pending.remove(&token) {
                    self.members.answered(id, incarnation, response != Err(Refused::Nobody), now);
                }
                if self.can_defer_checks(now) {
                    return;
                }
            }
            BusEvent::Fetched { token, object } => {
                if let Some((Pending::Recall(mark), _)) = self.pending.remove(&token) {
                    self.checkpoint_came(mark, object.as_ref(), now);
                }
            }
            BusEvent::Appended { .. } | BusEvent::Disconnected => {}
            BusEvent::Connected => {
                // It is unknown whether a pending write was done: the state is read, and written again.
                self.writing_since = self.writing_since.map(|_| Nanos::ZERO);
                self.follow_again(now);
            }
        }
        self.run_due(now);
    }

    fn handle_ask(&mut self, payload: &[u8], response_to: Option<String>, now: Nanos) {
        let (Some(said), Some(to)) = (Ask::read(payload), response_to) else { return };
        let Some(epoch) = self.keeper.epoch().filter(|_| self.is_loaded) else { return };
        let (mut goes_on, mut who) = (None, None);
        match said {
            Stamped::Ours(_, Ask::Time) => {}
            // A worker of another protocol takes no part; its identity is known.
            Stamped::Foreign(Stamp { protocol, version, id, name }) => {
                let hello = Hello { protocol, ..Hello::new(id, name, version, 0) };
                self.members.hello(hello, false, now);
            }
            Stamped::Ours(_, Ask::Hello(hello)) => {
                let (id, incarnation, known) = (hello.id, hello.incarnation, hello.revision);
                let may_go_on = self.hello(hello, now);
                goes_on = Some(may_go_on);
                who = may_go_on.then_some((id, incarnation, known));
            }
        }
        // Only the written state is to be known: not one still to be written, nor one that came with this hello.
        let is_written = self.writing_since.is_none() && !self.is_dirty;
        #[cfg(test)]
        let is_written = is_written || crate::sim::fault_injected(crate::sim::Bug::Unconfirmed);
        let revision = if is_written { self.state.revision } else { 0 };
        let state = who.filter(|(.., known)| *known < revision).map(|(id, incarnation, _)| {
            let number = self.number_of(id, incarnation);
            self.state.seen_by(number)
        });
        let workers = self.members.len() as u32;
        let response = Reply { epoch, now, revision, goes_on, workers, state };
        let payload = response.written(self.setting.who, &self.setting.version);
        self.verbs.push_back(BusCommand::Reply { to, payload });
    }

    /// Handles the hello of a worker. Returns whether it may go on.
    fn hello(&mut self, hello: Hello, now: Nanos) -> bool {
        let (id, incarnation, revision) = (hello.id, hello.incarnation, hello.revision);
        let has_no_room = hello.has_no_room;
        let run_now = hello.run_now.filter(|_| hello.run == self.state.run);
        let is_fit = hello.protocol == PROTOCOL && hello.version == self.setting.version;
        let may_go_on = self.members.hello(hello, is_fit, now);
        if may_go_on {
            self.members.knows(id, incarnation, revision);
            if has_no_room {
                self.make_room(id, incarnation, now);
            }
            if let Some(run_now) = run_now {
                self.learn_duration(now.since(run_now), true);
            }
        }
        may_go_on
    }

    fn handle_key(&mut self, key: &str, (revision, value): (u64, &[u8]), requested: Option<Nanos>, now: Nanos) {
        match key {
            LEADER => {
                // A leader of another build counts as another leader until it no longer changes the key.
                let foreign = || Lease { epoch: 0, who: 0, beat: revision, written: 0 };
                let lease = Lease::read(value).unwrap_or_else(foreign);
                if lease.who != self.setting.who && self.run.as_ref().is_some_and(|run| run.started.is_some()) {
                    self.run_intents.are_old = true;
                    self.reported.push_back(LeaderUpdate::Replaced);
                }
                let turn = self.keeper.seen(revision, lease, requested, now);
                self.turn(turn, now);
            }
            STATE => {
                // A state that another build left is not resumed.
                let state = State::read(value).unwrap_or_else(State::nothing);
                self.see_state(revision, state, now);
            }
            _ => {}
        }
    }

    fn see_state(&mut self, revision: u64, state: State, now: Nanos) {
        if revision < self.state_key {
            return;
        }
        if self.keeper.epoch().is_none() || !self.is_loaded {
            return self.loaded(revision, state, now);
        }
        // Our own write, whose response we did not receive.
        if state.epoch == self.state.epoch && revision > self.state_key {
            self.state_key = revision;
            if state.revision == self.state.revision {
                self.writing_since = None;
                self.keeper.has_written(state.revision);
                self.checkpoint_named(state.revision);
            }
        } else if state.epoch > self.state.epoch {
            self.state_key = revision;
            self.turn(Some(LeaseTurn::LostLeadership), now);
        } else if state.epoch < self.state.epoch && revision > self.state_key {
            // The previous leader has written once more after our read: its state is resumed.
            self.is_loaded = false;
            self.loaded(revision, state, now);
        }
    }

    /// Handles the stored state, which the new leader resumes.
    fn loaded(&mut self, revision: u64, state: State, now: Nanos) {
        self.state_key = revision;
        let Some(epoch) = self.keeper.epoch() else {
            self.state = state;
            self.forget_numbers();
            return;
        };
        if self.is_loaded {
            return;
        }
        self.is_loaded = true;
        let is_ours = self.order.as_ref().is_some_and(|order| order.plan == state.plan);
        self.state = State { epoch, ..state };
        self.forget_numbers();
        self.checkpoint_read();
        self.is_dirty = true;
        self.members.take_over(now);
        // Reports of it that we received are not requested again, though no worker may have reported its start yet.
        let is_known = self.run.as_ref().is_some_and(|run| run.is_going_on() && run.number == self.state.run);
        if self.state.phase == Phase::Running && is_known {
            // No other leader, or only for a while: it resumes where it was.
            let state = &self.state;
            self.run.iter_mut().for_each(|run| run.resume(now, state));
            if let Some(started) = self.run.as_ref().and_then(|run| run.started) {
                // Its latest intents may not be written yet, and are sent again by our clock.
                self.run_intents.resume(&mut self.state);
                (self.state.t0, self.state.clock_of) = (started, self.setting.who);
            }
            self.handle_all_from(now);
            self.begin_anew_with_checkpoint(now);
            self.follow_again(now);
        } else if self.state.phase == Phase::Preparing
            && self.state.begun_by == self.setting.who
            && self.run.as_ref().is_some_and(|run| run.number == self.state.run)
        {
            // No other leader in between: preparing members resume.
            self.run_intents.resume(&mut self.state);
            self.follow_again(now);
        } else if self.state.phase == Phase::Running && is_ours {
            self.run = Some(Run::taken_over(now, &self.state));
            self.handle_all_from(now);
            // Earlier reports of it are delivered to us, too.
            self.read_upto = 0;
            self.begin_with_checkpoint(now);
            self.follow_again(now);
        } else if self.state.phase == Phase::Running || self.state.phase == Phase::Preparing {
            // A run of a leader that is gone, and that no other leader takes over: it ends.
            (self.state.intent, self.state.phase) = (RunIntent::Abort, Phase::Done);
        } else if self.state.phase >= Phase::Done && is_ours && self.setting.is_standby {
            // The previous leader ended it meanwhile.
            self.run = None;
            self.reported.push_back(LeaderUpdate::Elsewhere);
        }
        if self.is_closing {
            self.state.phase = Phase::Closed;
        }
        self.reported.push_back(LeaderUpdate::Leads);
    }

    /// Resets the time of the last contact of all members: we could not receive from them before.
    pub(super) fn handle_all_from(&mut self, now: Nanos) {
        for member in &self.state.members {
            self.members.begin_listening(member.id, member.incarnation, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LeaderSettings, OnLoss, RunOrder};
    use super::*;
    use crate::protocol::Refusal;

    const MINUTE: Nanos = Nanos::from_millis(60_000);

    /// A leader on a bus where another build has left its messages.
    fn leader() -> Leader {
        let setting = LeaderSettings {
            who: 1,
            version: "1".to_owned(),
            workers: 1,
            patience: MINUTE,
            min_workers: 1,
            on_loss: OnLoss::Rebalance,
            ttl: Nanos::from_millis(3_000),
            lease: Nanos::from_millis(5_000),
            late_news: MINUTE,
            closed_is_gone: false,
            start_lead: Nanos::ZERO,
            is_standby: false,
            is_alone: false,
        };
        let mut leader = Leader::new(setting, Nanos::ZERO);
        leader.begin(
            RunOrder {
                plan: "plan".to_owned(),
                packet: vec![1].into(),
                scenarios: 1,
                warmup: Nanos::ZERO,
                ends_at: None,
                can_move: true,
                workers_max: 9,
            },
            Nanos::ZERO,
        );
        leader
    }

    /// Its updates when the bus does all commands and `says` comes every second.
    fn reported_in(seconds: u64, says: &BusEvent) -> Vec<LeaderUpdate> {
        let mut leader = leader();
        let strange = || Some((4, [255; 9].as_slice().into()));
        let mut all = Vec::new();
        for tenth in 0..seconds * 10 {
            let now = Nanos::from_millis(tenth * 100);
            leader.tick(now);
            while let Some(verb) = leader.next_verb() {
                match verb {
                    BusCommand::Put { token, revision: Some(revision), .. } => {
                        let result = if revision < 4 { Err(Refused::Conflict) } else { Ok(revision + 1) };
                        leader.handle(BusEvent::Written { token, result }, now);
                    }
                    BusCommand::Get { token, key } => {
                        leader.handle(BusEvent::Got { token, key, value: strange() }, now)
                    }
                    BusCommand::Store { token, .. } => leader.handle(BusEvent::Stored { token, result: Ok(()) }, now),
                    _ => {}
                }
            }
            if tenth % 10 == 0 {
                leader.handle(says.clone(), now);
            }
            all.extend(std::iter::from_fn(|| leader.next_reported()));
        }
        all
    }

    /// A write of the previous leader after our read is resumed: else nothing could be written any more.
    #[test]
    fn a_late_word_of_an_earlier_leader_is_known() {
        let mut leader = leader();
        let state = |run| crate::protocol::written(&State { run, ..State::nothing() });
        let (mut requested, mut wanted) = (false, None);
        for tenth in 0..60 {
            let now = Nanos::from_millis(tenth * 100);
            leader.tick(now);
            // Commands issued meanwhile are handled with the next tick.
            let verbs: Vec<BusCommand> = std::iter::from_fn(|| leader.next_verb()).collect();
            for verb in verbs {
                let received = match verb {
                    BusCommand::Put { token, key, .. } if key == LEADER => {
                        BusEvent::Written { token, result: Ok(10 + tenth) }
                    }
                    BusCommand::Get { key, .. } if key == LEADER => continue,
                    BusCommand::Get { token, key } => {
                        let (place, run) = if requested { (6, 8) } else { (5, 7) };
                        requested = true;
                        BusEvent::Got { token, key, value: Some((place, state(run))) }
                    }
                    BusCommand::Put { token, revision, .. } => {
                        wanted = revision;
                        let result = if revision == Some(6) { Ok(7) } else { Err(Refused::Conflict) };
                        BusEvent::Written { token, result }
                    }
                    _ => continue,
                };
                leader.handle(received, now);
            }
        }
        assert_eq!((wanted, leader.state().run, leader.leads()), (Some(6), 8, true));
    }

    #[test]
    fn one_of_another_build_is_named() {
        let hello = Hello { protocol: PROTOCOL + 1, ..Hello::new(7, "one".to_owned(), "2".to_owned(), 1) };
        let payload = Ask::Hello(hello.clone()).written(&hello);
        let says = BusEvent::Message { subject: String::new(), payload, response_to: Some("2/1".to_owned()) };
        let reported = reported_in(70, &says);
        let refusal = Refusal::Version { worker: "2".to_owned(), leader: "1".to_owned() };
        let refused = LeaderUpdate::Refused { worker: "one".to_owned(), refusal };
        assert!(reported.contains(&LeaderUpdate::Leads) && reported.contains(&refused), "{reported:?}");
    }
}
