//! Slot assignment. Slots are dealt in turn, so that few users or connections are divided as evenly as many. A new
//! member takes some slots of each, and the slots of a leaving member are dealt to all.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use pacing::SLOT_COUNT;

/// The owner of a slot without owner.
pub const NOBODY: u16 = u16::MAX;

/// Assigns all slots by weights, in turn: the owner of each. Weight 0 gets none.
pub fn deal(weights: &[u32]) -> Vec<u16> {
    let mut turn = WeightedRoundRobin::new(weights);
    (0..SLOT_COUNT).map(|_| turn.next().unwrap_or(NOBODY)).collect()
}

/// The moves that these weights require: slots with their new owners, as few as possible.
pub fn redeal(owners: &[u16], weights: &[u32]) -> Vec<(u16, u16)> {
    let has_place = |owner: u16| weights.get(usize::from(owner)).is_some_and(|weight| *weight > 0);
    let mut missing = vec![0_i64; weights.len()];
    deal(weights).into_iter().filter(|owner| *owner != NOBODY).for_each(|owner| missing[usize::from(owner)] += 1);
    owners.iter().filter(|owner| has_place(**owner)).for_each(|owner| missing[usize::from(*owner)] -= 1);
    // A member with too many slots gives some, evenly spaced among its own.
    let mut held: Vec<u64> = vec![0; weights.len()];
    owners.iter().filter(|owner| has_place(**owner)).for_each(|owner| held[usize::from(*owner)] += 1);
    let mut seen: Vec<u64> = vec![0; weights.len()];
    let gives = |owner: u16, seen: &mut [u64]| {
        let place = usize::from(owner);
        let (surplus, number) = ((-missing[place]).max(0) as u64, seen[place]);
        seen[place] += 1;
        // One more of `surplus` in `held` parts.
        surplus > 0 && (number + 1) * surplus / held[place] > number * surplus / held[place]
    };
    let free: Vec<u16> = (0..owners.len() as u16)
        .filter(|slot| {
            let owner = owners[usize::from(*slot)];
            !has_place(owner) || gives(owner, &mut seen)
        })
        .collect();
    let wanting: Vec<u32> = missing.iter().map(|missing| (*missing).max(0) as u32).collect();
    // As many slots are free as are missing: in the end each member has had as many turns as it misses.
    let mut turns = WeightedRoundRobin::new(&wanting);
    free.into_iter().filter_map(|slot| Some((slot, turns.next()?))).collect()
}

/// Weighted round robin, as evenly spaced as possible: turn `k` of weight `w` is due at `(k + 1/2) / w`.
struct WeightedRoundRobin(BinaryHeap<Reverse<SlotTurn>>);

/// The next turn of a member.
#[derive(PartialEq, Eq)]
struct SlotTurn {
    /// Twice the turns that it has had, plus one.
    halves: u64,
    weight: u64,
    place: u16,
}

impl Ord for SlotTurn {
    fn cmp(&self, other: &Self) -> Ordering {
        let due = (self.halves * other.weight).cmp(&(other.halves * self.weight));
        due.then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for SlotTurn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl WeightedRoundRobin {
    fn new(weights: &[u32]) -> Self {
        let first =
            |(place, weight): (usize, &u32)| SlotTurn { halves: 1, weight: u64::from(*weight), place: place as u16 };
        let wanting = weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
        Self(wanting.map(|one| Reverse(first(one))).collect())
    }

    fn next(&mut self) -> Option<u16> {
        let mut first = self.0.peek_mut()?;
        first.0.halves += 2;
        Some(first.0.place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(owners: &[u16], members: usize) -> Vec<i64> {
        let mut counts = vec![0; members];
        owners.iter().filter(|owner| **owner != NOBODY).for_each(|owner| counts[usize::from(*owner)] += 1);
        counts
    }

    #[test]
    fn equal_ones_take_turns() {
        let owners = deal(&[1, 1, 1]);
        assert!(owners.iter().enumerate().all(|(slot, owner)| usize::from(*owner) == slot % 3));
        assert_eq!(deal(&[0, 0]), vec![NOBODY; 4_096]);
    }

    proptest! {
        #[test]
        fn the_shares_are_right_as_workers_come_and_go(
            changes in prop::collection::vec(prop::collection::vec(0u32..5, 1..12), 1..6),
        ) {
            let members = changes.iter().map(Vec::len).max().unwrap_or(1);
            let weights_of = |change: &Vec<u32>| {
                let mut weights = change.clone();
                weights.resize(members, 0);
                weights
            };
            let mut owners = vec![NOBODY; SLOT_COUNT as usize];
            for change in &changes {
                let weights = weights_of(change);
                let before = owners.clone();
                let moves = redeal(&owners, &weights);
                for (slot, to) in &moves {
                    owners[usize::from(*slot)] = *to;
                }
                let total: u32 = weights.iter().sum();
                if total == 0 {
                    prop_assert!(moves.is_empty());
                    continue;
                }
                let wanted = counts(&deal(&weights), members);
                prop_assert_eq!(counts(&owners, members), wanted.clone());
                // No more than is missing somewhere.
                let kept = |slot: usize| before[slot] != NOBODY && weights[usize::from(before[slot])] > 0;
                let had: Vec<u16> = (0..before.len()).filter(|slot| kept(*slot)).map(|slot| before[slot]).collect();
                let least: i64 = wanted.iter().zip(counts(&had, members)).map(|(want, have)| (want - have).max(0)).sum();
                prop_assert_eq!(moves.len() as i64, least);
            }
        }
    }
}
