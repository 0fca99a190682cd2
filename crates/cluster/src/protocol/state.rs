//! The state of the cluster, as stored under its key, and as one worker sees it.

use std::collections::BTreeSet;

use pacing::{Nanos, SLOT_COUNT};

use super::{
    BarrierRelease, MEMBERS_MAX, Member, Phase, RunIntent, SLOT_GRANTS_MAX, SlotGrant, State, WorkerId, can_be, read,
};

/// The numbers of a member and of all others in its view of the state.
const OWN: u16 = 0;
const OTHER: u16 = 1;

impl State {
    /// The initial state.
    pub fn nothing() -> Self {
        Self {
            epoch: 0,
            revision: 0,
            run: 0,
            begun_by: 0,
            phase: Phase::Idle,
            plan: String::new(),
            t0: Nanos::ZERO,
            clock_of: 0,
            lease: Nanos::ZERO,
            members: Vec::new(),
            slot_grants: Vec::new(),
            changes: Vec::new(),
            rounds: Vec::new(),
            met: Vec::new(),
            checkpoint: None,
            intent: RunIntent::Run,
        }
    }

    /// Decodes a state; `None` if invalid, or if it refers to missing things.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes).filter(Self::is_sound)
    }

    /// Whether it refers only to existing things.
    pub(crate) fn is_sound(&self) -> bool {
        let is_member = |member: u16| usize::from(member) < self.members.len();
        let mut moves = self.slot_grants.iter().flat_map(|slot_grant| &slot_grant.moves);
        let are_few = self.members.len() <= MEMBERS_MAX && self.slot_grants.len() <= SLOT_GRANTS_MAX;
        let froms = self.slot_grants.iter().filter_map(|slot_grant| slot_grant.from);
        let changes = self.changes.iter().map(|change| change.effective_at);
        let mut instants = froms.chain(changes).chain(self.rounds.iter().copied()).chain([self.t0, self.lease]);
        let mut met = self
            .met
            .iter()
            .map(|met| can_be(met.at.0) && can_be(met.total) && met.upto.iter().all(|(member, ..)| is_member(*member)));
        let numbers = [self.epoch, self.revision, self.run];
        numbers.into_iter().all(can_be)
            && instants.all(|at| can_be(at.0))
            && are_few
            && met.all(|is_sound| is_sound)
            && self.checkpoint.is_none_or(|mark| mark.is_sound())
            && moves.all(|(slot, to)| u32::from(*slot) < SLOT_COUNT && is_member(*to))
    }

    /// A member's view of the state: the slots it gets, and which of them others get. Without a number it is the view
    /// of a non-member.
    pub fn seen_by(&self, number: Option<u16>) -> Self {
        let own = number.and_then(|number| Some((number, self.members.get(usize::from(number))?)));
        let Some((number, member)) = own else {
            let bare = |slot_grant: &SlotGrant| SlotGrant { moves: Vec::new(), ..*slot_grant };
            let slot_grants = self.slot_grants.iter().map(bare).collect();
            return Self { members: Vec::new(), slot_grants, ..self.bare() };
        };
        let mut slots = BTreeSet::new();
        let mut slot_grants = Vec::with_capacity(self.slot_grants.len());
        for slot_grant in &self.slot_grants {
            let mut moves = Vec::new();
            for (slot, to) in &slot_grant.moves {
                if *to == number {
                    slots.insert(*slot);
                    moves.push((*slot, OWN));
                } else if slots.remove(slot) {
                    moves.push((*slot, OTHER));
                }
            }
            slot_grants.push(SlotGrant { moves, ..*slot_grant });
        }
        let mut seen = Self { members: vec![*member, Member { id: 0, incarnation: 0 }], slot_grants, ..self.bare() };
        // Of other members' releases it only learns that they happened.
        for (seen, met) in seen.met.iter_mut().zip(&self.met) {
            let own = met.upto.iter().filter(|(member, ..)| *member == number);
            seen.upto = own.map(|(_, part, ticket)| (OWN, *part, *ticket)).collect();
        }
        seen
    }

    /// The state without members and slots.
    pub(crate) fn bare(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            members: Vec::new(),
            slot_grants: Vec::new(),
            changes: self.changes.clone(),
            rounds: self.rounds.clone(),
            met: self.met.iter().map(|met| BarrierRelease { upto: Vec::new(), ..*met }).collect(),
            checkpoint: None,
            ..*self
        }
    }

    /// The member whose view this is; `None`: it is the whole state.
    pub(crate) fn seen_of(&self) -> Option<Member> {
        match self.members[..] {
            [own, Member { id: 0, incarnation: 0 }] => Some(own),
            _ => None,
        }
    }

    /// The number of a worker incarnation.
    pub fn number_of(&self, id: WorkerId, incarnation: u32) -> Option<u16> {
        self.members.iter().position(|member| *member == Member { id, incarnation }).map(|place| place as u16)
    }

    /// The owner of each slot after a number of slot grants.
    pub fn owners(&self, slot_grants: usize) -> Vec<u16> {
        let mut owners = vec![crate::slot_assignment::NOBODY; SLOT_COUNT as usize];
        for (slot, to) in self.slot_grants.iter().take(slot_grants).flat_map(|slot_grant| &slot_grant.moves) {
            owners[usize::from(*slot)] = *to;
        }
        owners
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::written;

    /// The slots of a member after a number of slot grants.
    fn own(state: &State, number: u16, slot_grants: usize) -> Vec<usize> {
        let owners = state.owners(slot_grants);
        (0..owners.len()).filter(|slot| owners[*slot] == number).collect()
    }

    proptest! {
        #[test]
        fn a_member_sees_what_it_gets_and_what_it_gives(
            moves in prop::collection::vec(prop::collection::vec((0u16..40, 0u16..5), 0..60), 1..5),
        ) {
            let members: Vec<Member> = (0..5).map(|id| Member { id: 100 + id, incarnation: 2 }).collect();
            let slot_grants = moves.into_iter().map(|moves| SlotGrant { from: Some(Nanos(7)), moves, is_granted: true }).collect();
            let upto = vec![(3, 1, 30), (3, 2, 40)];
            let met = vec![BarrierRelease { barrier: 0, total: 9, at: Nanos(7), upto }];
            let state = State { revision: 3, members, slot_grants, met, ..State::nothing() };
            for (number, member) in state.members.iter().enumerate() {
                let seen = state.seen_by(Some(number as u16));
                prop_assert!(State::read(&written(&seen)).is_some());
                prop_assert_eq!(seen.number_of(member.id, member.incarnation), Some(OWN));
                for slot_grants in 0..=state.slot_grants.len() {
                    prop_assert_eq!(own(&seen, OWN, slot_grants), own(&state, number as u16, slot_grants));
                }
            }
            let met = |seen: &State| seen.met.iter().map(|met| (met.total, met.upto.clone())).collect::<Vec<_>>();
            for (number, _) in state.members.iter().enumerate() {
                let seen = state.seen_by(Some(number as u16));
                let tickets = if number == 3 { vec![(OWN, 1, 30), (OWN, 2, 40)] } else { Vec::new() };
                prop_assert_eq!(met(&seen), vec![(9, tickets)]);
            }
            prop_assert_eq!(met(&state.seen_by(None)), vec![(9, Vec::new())]);
            let seen = state.seen_by(None);
            prop_assert_eq!((seen.revision, seen.members.len(), seen.slot_grants.len()), (3, 0, state.slot_grants.len()));
            prop_assert!(seen.slot_grants.iter().all(|slot_grant| slot_grant.moves.is_empty()));
        }
    }
}
