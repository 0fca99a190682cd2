//! The books of a run: slot ownership over time; from it the starts that no worker made (undelivered) and the starts
//! that cannot be accounted for (unaccounted).
//!
//! A change of the load that reaches a worker late takes effect there from that time on, and the worker reports so:
//! its starts are compared with its own schedule (`Due::with_late_changes`), and the difference is reported
//! (`late_change_delta`).

use std::collections::{BTreeMap, BTreeSet};

use pacing::change::Change;
use pacing::{Nanos, SLOT_COUNT, Segment};

use crate::leader::PartId;
use crate::protocol::{News, State};

/// What is known of one part.
#[derive(Clone, Debug)]
struct OwnedPart {
    slot_grant: u16,
    slots: Vec<u16>,
    from: Nanos,
    /// All starts intended before this instant are reported, but for this many.
    reported_until: Nanos,
    behind: u64,
    /// The part ended by itself at this instant; it did not own later starts.
    until: Option<Nanos>,
    /// Starts before that that it left.
    left: u64,
    /// No report says that the part began.
    is_unheard: bool,
}

impl OwnedPart {
    fn new(slot_grant: u16, slots: Vec<u16>, from: Nanos, is_unheard: bool) -> Self {
        Self { slot_grant, slots, from, reported_until: from, behind: 0, until: None, left: 0, is_unheard }
    }

    /// Starts that were due by its last report, and are in none. A part that has ended reported what it took up.
    fn unreported(&self) -> u64 {
        if self.until.is_none() { self.behind } else { 0 }
    }
}

/// The starts due in a span, per slot: the number of starts of these slots from one instant to before another one.
pub trait Due {
    /// The number of starts of these slots in this span.
    fn count(&self, slots: &Segment, from: Nanos, to: Nanos) -> u64;

    /// The same for a member that some changes of the load reached late, or never: their revisions, and the instants
    /// from which on they are followed.
    fn with_late_changes(&self, late: &[(u32, Nanos)]) -> Box<dyn Due + '_>;
}

/// Spans of time, with the slots that they apply to.
type Spans = BTreeMap<(Nanos, Nanos), Vec<u16>>;

/// Revisions of changes that reached a member late, and the instants from which on they are followed.
type Late = Vec<(u32, Nanos)>;

/// Slot ownership and reports of a run.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    parts: BTreeMap<PartId, OwnedPart>,
    /// Members that were declared lost, and the instant until which they may have gone on.
    lost: BTreeMap<u16, Nanos>,
    /// When members released the slots that a slot grant took from them.
    gave: BTreeMap<(u16, u16), Nanos>,
    /// Members that have reported everything.
    reported_all: BTreeSet<u16>,
    /// The instant from which on a member follows a change, by revision.
    follows: BTreeMap<(u16, u32), Nanos>,
}

/// What became of slots over time.
#[derive(Debug, Default)]
struct SlotUsage {
    /// No member owned them.
    nobody: Spans,
    /// Unaccounted for.
    unaccounted: Spans,
    /// Spans of members that a change reached late: reported, unaccounted for, and both as the load was planned.
    late: BTreeMap<u16, [Spans; 3]>,
}

/// The outcome of all starts that were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Starts that were due while their slots had no owner, or one that stopped before it came to them.
    pub undelivered: u64,
    /// Starts whose owner has not reported what came of them.
    pub unaccounted: u64,
    /// How many more starts were due than planned because a change reached some members late; negative for fewer.
    pub late_change_delta: i64,
    /// The longest delay with which a change reached a member.
    pub changed_late: Nanos,
    /// How long no slot had an owner.
    pub stalled: Nanos,
}

impl Ledger {
    /// Records what a member reported.
    pub fn news(&mut self, member: u16, news: &News) {
        match news {
            News::Began { part, slot_grant, slots, from, .. } => {
                let from = from.unwrap_or_default();
                let slots = slots.clone();
                self.parts.insert(PartId { member, part: *part }, OwnedPart::new(*slot_grant, slots, from, false));
            }
            News::Row(row) => {
                let owned = self.parts.get_mut(&PartId { member, part: row.part });
                if let Some(owned) = owned.filter(|owned| owned.reported_until <= row.reported_until) {
                    (owned.reported_until, owned.behind) = (row.reported_until, row.behind);
                }
            }
            News::Ended { part, until, left, .. } => {
                if let Some(owned) = self.parts.get_mut(&PartId { member, part: *part }) {
                    (owned.until, owned.left) = (Some(*until), *left);
                }
            }
            News::Gave { slot_grant, at } => drop(self.gave.insert((member, *slot_grant), *at)),
            News::Gone { .. } => drop(self.reported_all.insert(member)),
            News::Follows { revision, at } => drop(self.follows.insert((member, *revision), *at)),
            _ => {}
        }
    }

    /// Records that a member was declared lost; it may have gone on until then.
    pub fn lost(&mut self, member: u16, until: Nanos) {
        self.lost.insert(member, until);
    }

    /// The parts, and those that a member may have begun that was declared lost before it reported them.
    fn with_unacknowledged(&self, state: &State) -> BTreeMap<PartId, OwnedPart> {
        let mut parts = self.parts.clone();
        for (place, slot_grant) in state.slot_grants.iter().enumerate().filter(|(_, slot_grant)| slot_grant.is_granted)
        {
            let mut slots: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
            slot_grant.moves.iter().for_each(|(slot, to)| slots.entry(*to).or_default().push(*slot));
            for (member, slots) in slots {
                let has_reported =
                    self.parts.iter().any(|(id, owned)| id.member == member && usize::from(owned.slot_grant) == place);
                if !has_reported && self.lost.contains_key(&member) && !self.reported_all.contains(&member) {
                    let (from, part) = (slot_grant.from.unwrap_or_default(), u16::MAX - place as u16);
                    parts.insert(PartId { member, part }, OwnedPart::new(place as u16, slots, from, true));
                }
            }
        }
        parts
    }

    /// The outcome of the starts that were due until `end`, counted from the beginning of the measured load. A member
    /// that a change reached late may have an end of its own, but not after `cut`.
    pub fn balance(&self, state: &State, (end, cut): (Nanos, Nanos), due: &dyn Due) -> Balance {
        let all_late = self.late(state);
        let SlotUsage { nobody, unaccounted, late } = self.spent(state, (end, cut), &all_late);
        let (mut unaccounted, mut late_change_delta, mut changed_late) = (count(&unaccounted, due), 0, Nanos::ZERO);
        unaccounted = self.parts.values().map(OwnedPart::unreported).fold(unaccounted, u64::saturating_add);
        for (member, [reported, untold, planned]) in &late {
            let late = &all_late[member];
            let until = |spans: &Spans| spans.keys().map(|(_, to)| *to).max().unwrap_or_default();
            let (reported_until, known_until) = (until(reported), until(reported).max(until(untold)));
            for (revision, at) in late {
                let change = state.changes.iter().find(|change| change.revision == *revision);
                let until = if *at == Nanos::NEVER { reported_until } else { known_until.min(*at) };
                let by = change.map_or(Nanos::ZERO, |change| until.since(change.effective_at));
                changed_late = changed_late.max(by);
            }
            let reported = count(reported, &*due.with_late_changes(late));
            // Unreported starts may have been made as planned.
            let known: Vec<_> = late.iter().filter(|(_, at)| *at != Nanos::NEVER).copied().collect();
            let untold = count(untold, &*due.with_late_changes(&known));
            unaccounted = unaccounted.saturating_add(untold);
            late_change_delta += (reported + untold) as i64 - count(planned, due) as i64;
        }
        let (undelivered, stalled) = (count(&nobody, due), common(&nobody));
        let undelivered = self.parts.values().map(|owned| owned.left).fold(undelivered, u64::saturating_add);
        Balance { undelivered, unaccounted, late_change_delta, changed_late, stalled }
    }

    /// Members with the changes that they follow late; `NEVER` for changes that they have not reported.
    fn late(&self, state: &State) -> BTreeMap<u16, Late> {
        let follows = |member: u16, change: &Change| {
            let at = self.follows.get(&(member, change.revision)).copied().unwrap_or(Nanos::NEVER);
            (at > change.effective_at).then_some((change.revision, at))
        };
        let members: BTreeSet<u16> = self.parts.keys().map(|id| id.member).collect();
        let of = |member| (member, state.changes.iter().filter_map(|change| follows(member, change)).collect::<Late>());
        members.into_iter().map(of).filter(|(_, late)| !late.is_empty()).collect()
    }

    /// When slots had no owner, and when it is unknown what became of them.
    fn spent(&self, state: &State, (planned_end, cut): (Nanos, Nanos), late: &BTreeMap<u16, Late>) -> SlotUsage {
        let mut spent = SlotUsage::default();
        let moves = Moves::from_state(state);
        let parts = self.with_unacknowledged(state);
        // Slot by slot: its owners, in the order of slot grants.
        let mut spans: Vec<Vec<(Nanos, PartId)>> = vec![Vec::new(); SLOT_COUNT as usize];
        for (id, owned) in &parts {
            owned.slots.iter().for_each(|slot| spans[usize::from(*slot)].push((owned.from, *id)));
        }
        for (slot, all) in spans.iter_mut().enumerate() {
            let gave = |id: &PartId| moves.incomplete(slot as u16, id.member, parts[id].slot_grant, &self.gave);
            all.sort_unstable_by_key(|(from, id)| (parts[id].slot_grant, *from, *id));
            // A part that may have begun did not begin before its predecessor was sure to have ended: what that one
            // reported, it did.
            let mut reported_before = Nanos::ZERO;
            for (from, id) in all.iter_mut() {
                let owned = &parts[id];
                if owned.is_unheard {
                    *from = reported_before.max(*from);
                }
                reported_before = reported_before.max(owned.until.unwrap_or(owned.reported_until).min(gave(id)));
            }
            // A slot that was to be released before its part could begin was never owned, nor one that another member
            // owned by then.
            let mut next = Nanos::NEVER;
            for place in (0..all.len()).rev() {
                let (from, id) = all[place];
                if gave(&id) > from && from < next {
                    next = from;
                } else {
                    all.remove(place);
                }
            }
            let put = |spans: &mut Spans, from: Nanos, to: Nanos| {
                if from < to {
                    spans.entry((from, to)).or_default().push(slot as u16);
                }
            };
            let mut at = Nanos::ZERO;
            let SlotUsage { nobody, unaccounted, late: of_late } = &mut spent;
            for (place, (from, id)) in all.iter().enumerate() {
                let (from, owned) = (*from, &parts[id]);
                put(nobody, at, from.min(planned_end));
                // The next owner began when it was sure that there was no other owner.
                let next = all.get(place + 1).map_or(Nanos::NEVER, |(next, _)| *next);
                // A member that knows another version of the load may end later.
                let is_late = late.contains_key(&id.member);
                let end = if is_late { cut.max(planned_end) } else { planned_end };
                let to = gave(id).min(next).min(end).max(from);
                let reported = owned.until.unwrap_or(owned.reported_until).clamp(from, to);
                let may_have = match (owned.until, self.lost.get(&id.member)) {
                    (Some(_), _) => reported,
                    (None, Some(until)) => *until,
                    (None, None) => to,
                };
                let may_have = may_have.clamp(reported, to);
                if is_late {
                    let [own, untold, planned] = of_late.entry(id.member).or_default();
                    put(own, from, reported);
                    put(untold, reported, may_have);
                    put(planned, from, may_have.min(planned_end));
                } else {
                    put(unaccounted, reported, may_have);
                }
                put(nobody, may_have.min(planned_end), to.min(planned_end));
                at = at.max(to.min(planned_end));
            }
            put(nobody, at, planned_end);
        }
        spent
    }
}

/// The starts due in spans.
fn count(spans: &Spans, due: &dyn Due) -> u64 {
    let of = |(span, slots): (&(Nanos, Nanos), &Vec<u16>)| {
        Segment::from_slots(slots.iter().copied()).map_or(0, |segment| due.count(&segment, span.0, span.1))
    };
    spans.iter().map(of).sum()
}

/// How long all slots are in some span at the same time.
fn common(spans: &Spans) -> Nanos {
    let mut edges: BTreeMap<Nanos, i64> = BTreeMap::new();
    for ((from, to), slots) in spans {
        *edges.entry(*from).or_default() += slots.len() as i64;
        *edges.entry(*to).or_default() -= slots.len() as i64;
    }
    let (mut all, mut count, mut since) = (Nanos::ZERO, 0, Nanos::ZERO);
    for (at, change) in edges {
        if count == i64::from(SLOT_COUNT) {
            all += at.since(since);
        }
        (count, since) = (count + change, at);
    }
    all
}

/// The history of slot ownership.
struct Moves {
    /// Per slot: the slot grants, and the member that each gave it to.
    from_slots: Vec<Vec<(u16, u16)>>,
}

impl Moves {
    fn from_state(state: &State) -> Self {
        let mut from_slots = vec![Vec::new(); SLOT_COUNT as usize];
        for (place, slot_grant) in state.slot_grants.iter().enumerate() {
            for (slot, to) in &slot_grant.moves {
                from_slots[usize::from(*slot)].push((place as u16, *to));
            }
        }
        Self { from_slots }
    }

    /// When a member released a slot that a slot grant had given to it, as it reported; `NEVER` if it did not.
    fn incomplete(&self, slot: u16, member: u16, slot_grant: u16, gave: &BTreeMap<(u16, u16), Nanos>) -> Nanos {
        let later = |(place, to): &&(u16, u16)| *place > slot_grant && *to != member;
        let all = self.from_slots[usize::from(slot)].iter().filter(later);
        all.filter_map(|(place, _)| gave.get(&(member, *place)).copied()).min().unwrap_or(Nanos::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The load is stalled while all slots are in some span, in one or in several.
    #[test]
    fn the_load_stands_still_while_nobody_has_anything() {
        let at = Nanos::from_millis;
        let (half, other): (Vec<u16>, Vec<u16>) = (0..SLOT_COUNT as u16).partition(|slot| slot % 2 == 0);
        let mut spans = Spans::new();
        spans.insert((at(1_000), at(5_000)), half.clone());
        assert_eq!(common(&spans), Nanos::ZERO);
        spans.insert((at(3_000), at(4_000)), other.clone());
        spans.insert((at(4_000), at(9_000)), other);
        assert_eq!(common(&spans), at(2_000));
        spans.insert((at(6_000), at(6_500)), half);
        assert_eq!(common(&spans), at(2_500));
    }
}
