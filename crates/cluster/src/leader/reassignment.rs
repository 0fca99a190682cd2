//! Lost and joining workers, and the slot grants over time.

use pacing::Nanos;

use super::run::MemberState;
use super::{Leader, LeaderUpdate, OnLoss};
use crate::protocol::{Member, Phase, RunIntent, SLOT_GRANTS_MAX, SlotGrant, Standing};
use crate::slot_assignment::{NOBODY, redeal};

/// Time from declaring a worker lost to the instant from which others have its slots.
const MOVES_AFTER: Nanos = Nanos::from_millis(2_000);
/// The same when all are on one machine.
const MOVES_SOON_AFTER: Nanos = Nanos::from_millis(500);
/// The silence after which a worker is not waited for when all is to end at once.
const LEFT_AFTER: Nanos = Nanos::from_millis(1_500);
/// The same when the workers that lose slots go on and must know first.
const MOVES_PLANNED_AFTER: Nanos = Nanos::from_millis(4_000);
/// If more than this share is silent at the same time, the bus may be the cause.
const FROZEN_SHARE: f64 = 0.3;
/// How long no worker is declared lost then.
const FROZEN_FOR: Nanos = Nanos::from_millis(15_000);
/// The minimum remaining load for a joining worker.
const JOINS_BEFORE: Nanos = Nanos::from_millis(8_000);
/// The interval at which joining workers are polled.
const JOINS_EVERY: Nanos = Nanos::from_millis(500);
/// How long a run goes on with too few workers: some may come back.
const FAILS_AFTER: Nanos = Nanos::from_millis(15_000);

impl Leader {
    /// Declares workers lost that are silent for longer than their lease, and so start nothing more.
    pub(super) fn expire_lost_workers(&mut self, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        if run.started.is_none_or(|started| now < started) {
            return;
        }
        // How long each has been silent, and whether it is sure that its load has stopped.
        let silent: Vec<(usize, Nanos, bool)> = (0..run.member_states.len())
            .filter(|place| run.member_states[*place].lost.is_none() && !run.member_states[*place].has_left)
            .map(|place| {
                let Member { id, incarnation } = self.state.members[place];
                // A new incarnation has begun when the lease of the old one was over.
                let is_sure = self
                    .members
                    .known(id)
                    .is_some_and(|known| known.gone_at.is_some() || known.hello.incarnation > incarnation);
                (place, self.members.silent_for(id, incarnation, now), is_sure)
            })
            .collect();
        let doubtful_after = self.members.doubtful_after();
        let doubtful = silent.iter().filter(|(_, silent, is_sure)| *silent >= doubtful_after && !is_sure).count();
        let is_many = doubtful >= 2 && doubtful as f64 > FROZEN_SHARE * silent.len() as f64;
        if is_many && run.frozen_until == Nanos::ZERO {
            run.frozen_until = now + FROZEN_FOR;
            self.reported.push_back(LeaderUpdate::Frozen);
        } else if !is_many && doubtful == 0 {
            run.frozen_until = Nanos::ZERO;
        }
        let is_frozen = now < run.frozen_until;
        let lost: Vec<usize> = silent
            .into_iter()
            .filter(|(_, silent, is_sure)| {
                let is_gone = *is_sure && self.setting.closed_is_gone;
                // A requested abort does not wait for silent workers.
                let is_left = self.state.intent == RunIntent::Abort && *silent >= LEFT_AFTER;
                is_gone || is_left || *silent >= self.setting.lease && (*is_sure || !is_frozen)
            })
            .map(|(place, ..)| place)
            .collect();
        if lost.is_empty() {
            return;
        }
        lost.into_iter().for_each(|place| self.lose(place, now));
        self.make_up_for_loss(now);
    }

    /// Declares a member lost.
    pub(super) fn lose(&mut self, place: usize, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let Member { id, incarnation } = self.state.members[place];
        let known = self.members.in_incarnation(id, incarnation);
        let is_own = known.hello.incarnation == incarnation;
        let gone_at = known.gone_at.filter(|_| is_own);
        run.member_states[place].lost = Some((now, gone_at.is_some()));
        // Another incarnation has begun when the lease of this one was over.
        let lease_over = if is_own { known.received_at + self.setting.lease } else { now };
        let warmup = self.order.as_ref().map_or(Nanos::ZERO, |order| order.warmup);
        let measured = run.started.unwrap_or_default() + warmup;
        let until = gone_at.unwrap_or(lease_over).min(lease_over).since(measured);
        self.members.lose(id, incarnation);
        self.reported.push_back(LeaderUpdate::Lost { member: place as u16, is_gone: gone_at.is_some(), until });
    }

    /// Ends the run because the bus is gone for good: members that have not reported their end are lost.
    pub fn abandon(&mut self, now: Nanos) {
        let Some(run) = &self.run else { return };
        let is_awaited =
            |member_state: &MemberState| member_state.lost.is_none() && !member_state.has_left && member_state.has_part;
        let all: Vec<usize> =
            (0..run.member_states.len()).filter(|place| is_awaited(&run.member_states[*place])).collect();
        all.into_iter().for_each(|place| self.lose(place, now));
        if let Some(run) = &mut self.run {
            run.is_over = true;
        }
        self.state.phase = Phase::Done;
        self.reported.push_back(LeaderUpdate::Over);
    }

    pub(super) fn make_up_for_loss(&mut self, now: Nanos) {
        if self.setting.on_loss == OnLoss::Fail {
            self.fail(now);
        } else {
            self.share_anew(now);
        }
    }

    /// Redistributes the slots to all present workers, if that may include the slots of lost ones.
    pub(super) fn share_anew(&mut self, now: Nanos) {
        match (self.setting.on_loss, &mut self.run) {
            (OnLoss::Rebalance, _) if self.setting.closed_is_gone => self.move_slots(MOVES_SOON_AFTER, now),
            (OnLoss::Rebalance, _) => self.move_slots(MOVES_AFTER, now),
            (OnLoss::Continue | OnLoss::Fail, Some(run)) => run.wants_move = false,
            (OnLoss::Continue | OnLoss::Fail, None) => {}
        }
    }

    /// Ends the run when too few members have been left for a while: those that come back have had their time.
    pub(super) fn check_members_left(&mut self, now: Nanos) {
        let Some(run) = &self.run else { return };
        let is_left = |member_state: &&MemberState| member_state.lost.is_none() || member_state.has_done;
        let left = run.member_states.iter().filter(is_left).count();
        // Exchanges in flight may finish.
        let is_over = self.state.intent > RunIntent::Run || self.is_past(now);
        let is_enough =
            is_over || left >= self.setting.min_workers || left + self.new_ones(now).len() >= self.setting.min_workers;
        let Some(run) = &mut self.run else { return };
        if is_enough {
            run.few_since = None;
        } else if now.since(*run.few_since.get_or_insert(now)) >= FAILS_AFTER {
            self.fail(now);
        }
    }

    /// Present workers that are no members, by name.
    fn new_ones(&mut self, now: Nanos) -> Vec<Member> {
        let all = self.members.fit(now);
        let all: Vec<Member> =
            all.into_iter().map(|known| Member { id: known.hello.id, incarnation: known.hello.incarnation }).collect();
        all.into_iter().filter(|member| self.number_of(member.id, member.incarnation).is_none()).collect()
    }

    fn fail(&mut self, now: Nanos) {
        let left =
            self.run.iter().flat_map(|run| &run.member_states).filter(|member_state| member_state.goes_on()).count();
        if self.state.intent < RunIntent::Abort {
            self.reported.push_back(LeaderUpdate::Fails { left });
            self.intent(RunIntent::Abort, now);
        }
    }

    /// Moves slots, so that all present workers have their share.
    fn move_slots(&mut self, lead: Nanos, now: Nanos) {
        let (Some(order), Some(run)) = (&self.order, &mut self.run) else { return };
        let Some(started) = run.started else {
            // Postponed until the start is known.
            run.wants_move = true;
            return;
        };
        run.wants_move = false;
        let at = self
            .state
            .members
            .iter()
            .map(|member| self.members.in_incarnation(member.id, member.incarnation).hello.weight.clamp(1, 4_096));
        let weights: Vec<u32> = at
            .zip(&run.member_states)
            .map(|(weight, member_state)| if member_state.goes_on() { weight } else { 0 })
            .collect();
        let run_now = now.since(started).since(order.warmup);
        // Not before an earlier grant: slots stay with their owners until then.
        let last = self.state.slot_grants.iter().filter_map(|slot_grant| slot_grant.from).max().unwrap_or_default();
        let from = (run_now + lead).max(last);
        let is_late = order.ends_at.is_some_and(|ends_at| from >= ends_at);
        if !order.can_move
            || is_late
            || self.state.slot_grants.len() >= SLOT_GRANTS_MAX
            || self.state.intent > RunIntent::Run
        {
            return;
        }
        let owners = self.state.owners(usize::MAX);
        let moves = redeal(&owners, &weights);
        if moves.is_empty() {
            return;
        }
        moves.iter().for_each(|(_, to)| run.member_states[usize::from(*to)].has_part = true);
        run.requested.insert(self.state.slot_grants.len(), self.state.revision + 1);
        self.state.slot_grants.push(SlotGrant { from: Some(from), moves, is_granted: false });
        self.is_dirty = true;
    }

    /// Grants slots: their new owners may begin when the old ones know, or have no say any more.
    pub(super) fn grant(&mut self) {
        let Some(run) = &self.run else { return };
        for place in 1..self.state.slot_grants.len() {
            if self.state.slot_grants[place].is_granted {
                continue;
            }
            let owners = self.state.owners(place);
            let written = run.requested.get(&place).copied().unwrap_or(self.state.revision);
            let knows = |(slot, _): &(u16, u16)| {
                let owner = owners[usize::from(*slot)];
                let Some(member_state) = run.member_states.get(usize::from(owner)).filter(|_| owner != NOBODY) else {
                    return true;
                };
                let Member { id, incarnation } = self.state.members[usize::from(owner)];
                member_state.lost.is_some()
                    || member_state.has_left
                    || self.members.revision(id, incarnation) >= written
            };
            if self.state.slot_grants[place].moves.iter().all(knows) {
                self.state.slot_grants[place].is_granted = true;
                self.is_dirty = true;
            }
        }
    }

    /// Admits present workers without a part: they get ready, and then have one.
    pub(super) fn admit_workers(&mut self, now: Nanos) {
        let (Some(order), Some(run)) = (&self.order, &self.run) else { return };
        let Some(started) = run.started.filter(|started| now >= *started) else { return };
        let run_now = now.since(started).since(order.warmup);
        let is_late = order.ends_at.is_some_and(|ends_at| run_now + JOINS_BEFORE >= ends_at);
        if !order.can_move || is_late || self.state.intent > RunIntent::Run || self.setting.on_loss == OnLoss::Fail {
            return;
        }
        let going = run
            .member_states
            .iter()
            .filter(|member_state| member_state.lost.is_none() && !member_state.has_left)
            .count();
        let room = order.workers_max.saturating_sub(going).min(crate::protocol::MEMBERS_MAX - self.state.members.len());
        let is_check_due = room > 0 && now.since(run.joins_checked_at) >= JOINS_EVERY;
        let new = if is_check_due { self.new_ones(now) } else { Vec::new() };
        let Some(run) = &mut self.run else { return };
        if is_check_due {
            run.joins_checked_at = now;
        }
        for member in new.into_iter().take(room) {
            self.state.members.push(member);
            run.member_states.push(MemberState { joins: true, ..MemberState::default() });
            self.is_dirty = true;
        }
        let mut has_joined = false;
        for (place, member_state) in run
            .member_states
            .iter_mut()
            .enumerate()
            .filter(|(_, member_state)| member_state.joins && member_state.lost.is_none())
        {
            let Member { id, incarnation } = self.state.members[place];
            let known = self.members.in_incarnation(id, incarnation);
            let is_said = |said: &&Standing| said.run == self.state.run && known.hello.incarnation == incarnation;
            match known.hello.standing.as_ref().filter(is_said).map(|said| &said.ready) {
                Some(Ok(ready)) if ready.clock_of == self.setting.who => {
                    (member_state.joins, has_joined) = (false, true);
                }
                // A worker that cannot take part stays out.
                Some(Err(_)) => (member_state.joins, member_state.has_left) = (false, true),
                _ => {}
            }
        }
        if has_joined {
            self.move_slots(MOVES_PLANNED_AFTER, now);
        }
    }
}
