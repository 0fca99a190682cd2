//! One run, from the first worker that gets ready to the last report: lost and joining workers, and slot grants over
//! time.

use std::collections::HashMap;

use pacing::Nanos;

use super::late::Lateness;
use super::run_intents::RunIntents;
use super::{Leader, LeaderUpdate, Pending};
use crate::bus::BusCommand;
use crate::protocol::{Batch, Member, News, Phase, Refusal, RunIntent, SlotGrant, Standing, State};
use crate::slot_assignment::deal;

/// The time after which an unconfirmed packet is stored again.
const STORE_AGAIN: Nanos = Nanos::from_millis(2_000);
/// The time within which all must be ready.
const READY_WITHIN: Nanos = Nanos::from_millis(60_000);
/// How long a new leader waits for a worker that reports when the run started.
const GUESSES_AFTER: Nanos = Nanos::from_millis(6_000);
/// The silence of the stream after which the following entries are requested again.
const FOLLOWS_AGAIN: Nanos = Nanos::from_millis(2_000);
/// How long a worker whose news the bus does not take is waited for at most, once the load is over.
const NO_ROOM_MAX: Nanos = Nanos::from_millis(30_000);
/// The number of entries after which read ones are forgotten.
const FORGET_EVERY: u64 = 1_000;

/// A run in preparation, or going on.
#[derive(Debug)]
pub(super) struct Run {
    /// Its number.
    pub(super) number: u64,
    pub(super) since: Nanos,
    packet: Packet,
    /// When it started, by our clock.
    pub(super) started: Option<Nanos>,
    /// The same, estimated from reports of a run that another leader started.
    guess: Option<Nanos>,
    /// The state of each member, by number.
    pub(super) member_states: Vec<MemberState>,
    /// The number of received batches of each member.
    received: HashMap<Member, u64>,
    /// The revision that first announced each move of slots, by the number of the slot grant.
    pub(super) requested: HashMap<usize, u64>,
    pub(super) frozen_until: Nanos,
    /// Whether slots are to be moved as soon as the start is known.
    pub(super) wants_move: bool,
    /// Since when too few workers are left.
    pub(super) few_since: Option<Nanos>,
    pub(super) wished_at: Option<Nanos>,
    pub(super) joins_checked_at: Nanos,
    pub(super) is_over: bool,
    pub(super) lateness: Lateness,
    /// Whether a member has reached the end of the load.
    has_ended: bool,
    /// Whether another leader had it before.
    is_taken_over: bool,
}

/// The location of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packet {
    Here,
    Sent,
    Stored,
}

/// The state of a member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemberState {
    /// When it was declared lost, and whether its connection was closed.
    pub(super) lost: Option<(Nanos, bool)>,
    /// Whether it takes no further part.
    pub(super) has_left: bool,
    /// Whether it has done all of its share.
    pub(super) has_done: bool,
    /// Whether it has slots, or had.
    pub(super) has_part: bool,
    /// Whether it is a new member that has to get ready and joins then.
    pub(super) joins: bool,
}

impl MemberState {
    pub(super) fn goes_on(&self) -> bool {
        self.lost.is_none() && !self.has_left && !self.joins
    }
}

impl Run {
    pub(super) fn new(now: Nanos) -> Self {
        Self {
            number: 0,
            since: now,
            packet: Packet::Here,
            started: None,
            guess: None,
            member_states: Vec::new(),
            received: HashMap::new(),
            requested: HashMap::new(),
            frozen_until: Nanos::ZERO,
            wants_move: false,
            few_since: None,
            wished_at: None,
            joins_checked_at: Nanos::ZERO,
            is_over: false,
            lateness: Lateness::default(),
            has_ended: false,
            is_taken_over: false,
        }
    }

    /// A run of another leader.
    pub(super) fn taken_over(now: Nanos, state: &State) -> Self {
        let number = state.run;
        // Its end may have been requested before.
        let wished_at = (state.intent > RunIntent::Run).then_some(now);
        let mut run = Self { packet: Packet::Stored, is_taken_over: true, number, wished_at, ..Self::new(now) };
        run.resume(now, state);
        run
    }

    /// Whether it has started, under us or another leader.
    pub(super) fn is_going_on(&self) -> bool {
        self.started.is_some() || self.is_taken_over
    }

    /// Whether no message of a member was received.
    pub(super) fn is_unheard(&self) -> bool {
        self.received.is_empty()
    }

    /// Resumes a run; another leader may have called up more members meanwhile.
    pub(super) fn resume(&mut self, now: Nanos, state: &State) {
        self.member_states.resize(state.members.len(), MemberState::default());
        self.requested.clear();
        // Intents that we could not write do not count.
        self.member_states.iter_mut().for_each(|member_state| member_state.has_part = false);
        for (_, to) in state.slot_grants.iter().flat_map(|slot_grant| &slot_grant.moves) {
            self.member_states[usize::from(*to)].has_part = true;
        }
        for member_state in &mut self.member_states {
            member_state.joins = !member_state.has_part && member_state.lost.is_none() && !member_state.has_left;
        }
        self.wants_move = true;
        // Messages of returned members may come again.
        self.few_since = None;
        self.since = now;
    }

    /// Handles the result of storing the packet.
    pub(super) fn stored(&mut self, is_stored: bool, now: Nanos) {
        if self.packet == Packet::Sent {
            self.packet = if is_stored { Packet::Stored } else { Packet::Here };
            self.since = now;
        }
    }
}

impl Leader {
    pub(super) fn update_run(&mut self, now: Nanos) {
        let (Some(order), Some(run)) = (&self.order, &mut self.run) else { return };
        if run.is_over {
            return;
        }
        match (run.packet, self.state.phase) {
            (Packet::Here, _) => {
                run.packet = Packet::Sent;
                let (name, object) = (order.plan.clone(), order.packet.clone());
                self.ask(Pending::Store, now, |token| BusCommand::Store { token, name, object });
            }
            (Packet::Sent, _) => {
                // The response may be lost.
                if now.since(run.since) > STORE_AGAIN {
                    (run.packet, run.since) = (Packet::Here, now);
                }
            }
            (Packet::Stored, Phase::Preparing) => self.check_readiness(now),
            (Packet::Stored, Phase::Running) => {
                if now.since(self.read_at) >= FOLLOWS_AGAIN {
                    self.follow_again(now);
                }
                // Reports of members that ended meanwhile are not known yet.
                if self.awaits_checkpoint(now) {
                    return;
                }
                self.guess_start(now);
                let wants_move = self.run.as_ref().is_some_and(|run| run.wants_move && run.started.is_some());
                if wants_move && self.are_received() {
                    self.share_anew(now);
                }
                self.expire_lost_workers(now);
                self.admit_workers(now);
                self.check_members_left(now);
                self.grant();
                self.check_completion(now);
            }
            (Packet::Stored, _) => self.call_up(now),
        }
    }

    /// Calls up workers as soon as enough are present.
    fn call_up(&mut self, now: Nanos) {
        let (Some(order), Some(run)) = (&self.order, &mut self.run) else { return };
        if self.state.intent == RunIntent::Abort && self.state.phase == Phase::Done && run.wished_at.is_some() {
            return;
        }
        let there = self.members.fit_count(now);
        if there < self.setting.workers {
            if now.since(run.since) >= self.setting.patience {
                run.is_over = true;
                let reported = match self.members.unfit(now) {
                    Some(known) => LeaderUpdate::Refused {
                        worker: known.hello.name.clone(),
                        refusal: Refusal::Version {
                            worker: known.hello.version.clone(),
                            leader: self.setting.version.clone(),
                        },
                    },
                    None => LeaderUpdate::TooFew { there, unready: 0 },
                };
                self.reported.push_back(reported);
            }
            return;
        }
        let chosen = self.members.fit(now).into_iter().take(order.workers_max.max(1));
        let (members, weights): (Vec<Member>, Vec<u32>) = chosen
            .map(|known| {
                (
                    Member { id: known.hello.id, incarnation: known.hello.incarnation },
                    known.hello.weight.clamp(1, 4_096),
                )
            })
            .unzip();
        let moves = deal(&weights).into_iter().enumerate().map(|(slot, to)| (slot as u16, to)).collect();
        run.member_states = vec![MemberState { has_part: true, ..MemberState::default() }; members.len()];
        run.since = now;
        self.state.run += 1;
        self.state.begun_by = self.setting.who;
        run.number = self.state.run;
        self.state.phase = Phase::Preparing;
        self.state.plan.clone_from(&order.plan);
        (self.state.t0, self.state.clock_of) = (Nanos::ZERO, self.setting.who);
        self.state.lease = self.setting.lease;
        self.state.members = members;
        self.state.slot_grants = vec![SlotGrant { from: None, moves, is_granted: true }];
        self.state.changes.clear();
        self.state.rounds = vec![Nanos::ZERO; order.scenarios];
        self.state.met.clear();
        self.run_intents = RunIntents::from_state(&self.state);
        self.begin_without_checkpoint();
        self.has_gap = false;
        self.state.intent = RunIntent::Run;
        self.is_dirty = true;
        self.forget_numbers();
        self.follow_again(now);
    }

    fn check_readiness(&mut self, now: Nanos) {
        let called_within = 2 * self.members.pace().spread().0;
        let Some(run) = &mut self.run else { return };
        let (mut worst, mut unready) = (Nanos::ZERO, 0);
        for member in &self.state.members {
            let is_said = |said: &&Standing| said.run == self.state.run && said.plan == self.state.plan;
            let known = self.members.known(member.id).filter(|known| known.hello.incarnation == member.incarnation);
            let said = known.and_then(|known| Some((known, known.hello.standing.as_ref().filter(is_said)?)));
            match said.map(|(known, said)| (known, &said.ready)) {
                Some((_, Ok(ready))) if ready.clock_of == self.setting.who => worst = worst.max(ready.round_trip),
                Some((known, Err(refusal))) => {
                    let (worker, refusal) = (known.hello.name.clone(), refusal.clone());
                    return self.cancel_run(LeaderUpdate::Refused { worker, refusal });
                }
                _ => unready += 1,
            }
        }
        if self.state.intent > RunIntent::Run {
            return self.cancel_run(LeaderUpdate::Over);
        }
        if unready > 0 {
            if now.since(run.since) >= READY_WITHIN {
                let there = self.state.members.len() - unready;
                self.cancel_run(LeaderUpdate::TooFew { there, unready });
            }
            return;
        }
        let started = now + self.setting.start_lead + Nanos(4 * worst.0 + called_within);
        run.started = Some(started);
        for member in &self.state.members {
            self.members.begin_listening(member.id, member.incarnation, started);
        }
        (self.state.phase, self.state.t0, self.state.clock_of) = (Phase::Running, started, self.setting.who);
        self.is_dirty = true;
        self.reported.push_back(LeaderUpdate::Starts(started));
    }

    /// Cancels the run before its start.
    fn cancel_run(&mut self, reported: LeaderUpdate) {
        if let Some(run) = &mut self.run {
            run.is_over = true;
        }
        (self.state.phase, self.state.intent) = (Phase::Done, RunIntent::Abort);
        self.is_dirty = true;
        self.reported.push_back(reported);
    }

    /// Handles a member's report of when a run of another leader started.
    pub(super) fn learn_duration(&mut self, started: Nanos, is_sure: bool) {
        let Some(run) = self.run.as_mut().filter(|run| run.is_taken_over && run.number > 0) else { return };
        // The report that was longest in transit gives the latest start.
        if run.started.is_some_and(|known| known <= started) {
            return;
        }
        let is_first = run.started.is_none();
        run.started = Some(started);
        (self.state.t0, self.state.clock_of) = (started, self.setting.who);
        self.is_dirty = true;
        if is_first {
            // The report learns the earlier intents.
            self.run_intents = RunIntents::from_state(&self.state);
        }
        if is_first || !is_sure {
            self.reported.push_back(LeaderUpdate::Resumes(started));
        }
    }

    /// Estimates the start of a run of another leader from its reports when no member reports it.
    fn guess_start(&mut self, now: Nanos) {
        let Some(run) = &self.run else { return };
        if run.is_taken_over && run.started.is_none() && now.since(run.since) >= GUESSES_AFTER {
            let guess = run.guess.unwrap_or(now);
            self.learn_duration(guess, false);
        }
    }

    /// Requests the following entries of the stream again.
    pub(super) fn follow_again(&mut self, now: Nanos) {
        if self.leads_run() && !self.awaits_checkpoint(now) {
            self.follow(now);
        }
    }

    /// Handles a batch of a worker. Each batch counts once.
    pub(super) fn handle_batch(&mut self, batch: Batch, now: Nanos) {
        if self.setting.is_alone && self.read_upto >= self.forgotten + FORGET_EVERY {
            self.forget();
        }
        let member = Member { id: batch.id, incarnation: batch.incarnation };
        let Some(number) = self.number_of(batch.id, batch.incarnation).filter(|_| batch.run == self.state.run) else {
            return;
        };
        let Some(run) = &mut self.run else { return };
        let received = run.received.entry(member).or_insert(0);
        let is_known = batch.number <= *received;
        #[cfg(test)]
        let is_known = is_known && !crate::sim::fault_injected(crate::sim::Bug::CountedTwice);
        if is_known {
            return;
        }
        let has_gap = batch.number > *received + 1;
        *received = batch.number;
        if has_gap {
            self.report_gap();
        }
        self.members.knows(batch.id, batch.incarnation, batch.revision);
        self.record_age(batch.sent_at, now);
        if self.handle_news(number, batch.news, batch.sent_at, now) {
            self.make_up_for_loss(now);
        }
    }

    /// Notes that a member's reports up to a batch are known.
    pub(super) fn handle_upto(&mut self, member: Member, batch: u64) {
        if let Some(run) = &mut self.run {
            run.received.insert(member, batch);
        }
    }

    /// Reports that entries are lost.
    pub(super) fn report_gap(&mut self) {
        if !std::mem::replace(&mut self.has_gap, true) {
            self.reported.push_back(LeaderUpdate::Gap);
        }
    }

    /// Handles reports of a member, sent this long after the start. Returns whether it reports that it was no longer
    /// counted on although it was not declared lost.
    pub(super) fn handle_news(&mut self, number: u16, news: Vec<News>, sent_at: Nanos, now: Nanos) -> bool {
        let Some(run) = &mut self.run else { return false };
        if run.is_taken_over && run.started.is_none() {
            // It has gone on for at least that long; entries read again were sent some time ago.
            let guess = now.since(sent_at);
            run.guess = Some(run.guess.map_or(guess, |known| known.min(guess)));
        }
        let mut is_fenced = false;
        for news in news {
            if let News::Gone { is_over } = news
                && let Some(member_state) = run.member_states.get_mut(usize::from(number))
            {
                member_state.has_left = true;
                member_state.has_done |= is_over;
                run.has_ended |= is_over;
                is_fenced |= !is_over && member_state.lost.is_none();
            }
            self.reported.push_back(LeaderUpdate::News { member: number, news: Box::new(news) });
        }
        if is_fenced {
            self.lose(usize::from(number), now);
        }
        is_fenced
    }

    /// Notes that the stream was read up to a position, or further.
    pub fn has_read(&self, place: u64) -> bool {
        self.read_upto >= place
    }

    /// The state, if it is known to be written.
    pub fn written(&self) -> Option<&State> {
        (self.leads() && !self.is_dirty && self.writing_since.is_none()).then_some(&self.state)
    }

    /// Whether it is known of each member that is not lost what it can do.
    fn are_received(&self) -> bool {
        let Some(run) = &self.run else { return false };
        run.member_states.iter().zip(&self.state.members).all(|(member_state, member)| {
            let is_received = || self.members.known(member.id).is_some_and(|known| known.hello.protocol != 0);
            member_state.lost.is_some() || member_state.has_left || is_received()
        })
    }

    /// Forgets the entries of the stream that were read.
    pub(super) fn forget(&mut self) {
        self.forget_upto(self.read_upto);
    }

    /// The same up to a position.
    pub(super) fn forget_upto(&mut self, upto: u64) {
        if upto > self.forgotten {
            self.forgotten = upto;
            self.verbs.push_back(BusCommand::Forget { upto });
        }
    }

    /// Bounds the wait for members whose reports the bus does not take.
    fn expire_blocked(&mut self, now: Nanos) {
        let Some(run) = &self.run else { return };
        let is_blocked = |place: &usize| {
            let Member { id, incarnation } = self.state.members[*place];
            let since = self.members.in_incarnation(id, incarnation).no_room_since;
            run.member_states[*place].goes_on() && since.is_some_and(|since| now.since(since) >= NO_ROOM_MAX)
        };
        let all: Vec<usize> = (0..run.member_states.len()).filter(is_blocked).collect();
        all.into_iter().for_each(|place| self.lose(place, now));
    }

    /// Checks whether all have reported everything, or will report nothing more.
    fn check_completion(&mut self, now: Nanos) {
        if self.may_end(now) {
            self.expire_blocked(now);
        }
        let may_end = self.may_end(now);
        let Some(run) = &mut self.run else { return };
        let is_done = |member_state: &MemberState| {
            let may_report = match member_state.lost {
                Some((_, true)) => false,
                Some((since, false)) => {
                    now.since(since) < self.setting.late_news && self.state.intent < RunIntent::Stop
                }
                None => true,
            };
            member_state.has_left || !may_report || !member_state.has_part
        };
        let is_any = run.member_states.iter().any(|member_state| member_state.has_part);
        if is_any && may_end && run.member_states.iter().all(is_done) {
            run.is_over = true;
            self.state.phase = Phase::Done;
            self.is_dirty = true;
            self.reported.push_back(LeaderUpdate::Over);
        }
    }

    /// Whether the time of the load is over.
    pub(super) fn is_past(&self, now: Nanos) -> bool {
        let (Some(order), Some(run)) = (&self.order, &self.run) else { return false };
        let ends_at = run.started.zip(order.ends_at).map(|(started, ends_at)| started + order.warmup + ends_at);
        ends_at.is_some_and(|ends_at| now >= ends_at)
    }

    /// Whether the load is over, or is to be: members that were no longer counted on may come back while there is work.
    fn may_end(&self, now: Nanos) -> bool {
        let Some(run) = self.run.as_ref().filter(|run| run.started.is_some()) else { return false };
        // While the load is paused a lost worker comes back if its former share may move to others.
        let is_open = |ends_at| ends_at != Nanos::NEVER || self.order.as_ref().is_some_and(|order| order.can_move);
        let has_time = self.order.as_ref().and_then(|order| order.ends_at).is_some_and(is_open);
        run.has_ended || self.state.intent > RunIntent::Run || !has_time || self.is_past(now)
    }
}
