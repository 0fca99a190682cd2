//! Who has which slots. They are dealt in turn, so that few users or connections are divided as evenly as many; whoever joins takes some of
//! each, and what somebody leaves is dealt to all.

use pacing::SLOT_COUNT;

/// What nobody has.
pub const NOBODY: u16 = u16::MAX;

/// Deals all slots by weights, in turn: who has each. Those of weight 0 get none.
pub fn deal(weights: &[u32]) -> Vec<u16> {
    let mut turn = Turns::new(weights);
    (0..SLOT_COUNT).map(|_| turn.next().unwrap_or(NOBODY)).collect()
}

/// What changes hands when these are the weights from now on: slots, with who gets them. As few as can be.
pub fn redeal(owners: &[u16], weights: &[u32]) -> Vec<(u16, u16)> {
    let has_place = |owner: u16| weights.get(usize::from(owner)).is_some_and(|weight| *weight > 0);
    let mut missing = vec![0_i64; weights.len()];
    deal(weights).into_iter().filter(|owner| *owner != NOBODY).for_each(|owner| missing[usize::from(owner)] += 1);
    owners.iter().filter(|owner| has_place(**owner)).for_each(|owner| missing[usize::from(*owner)] -= 1);
    // Whoever has too many gives some, evenly spaced among its own.
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
    let (mut turns, mut left) = (Turns::new(&wanting), wanting.clone());
    let mut moves = Vec::new();
    for slot in free {
        let next =
            std::iter::from_fn(|| turns.next()).take(4 * wanting.len() + 4).find(|to| left[usize::from(*to)] > 0);
        let to = next.or_else(|| left.iter().position(|left| *left > 0).map(|place| place as u16));
        let Some(to) = to else { break };
        left[usize::from(to)] -= 1;
        moves.push((slot, to));
    }
    moves
}

/// Each in its turn, as often as its weight says, as evenly spaced as can be.
struct Turns {
    weights: Vec<i64>,
    credit: Vec<i64>,
    total: i64,
}

impl Turns {
    fn new(weights: &[u32]) -> Self {
        let weights: Vec<i64> = weights.iter().map(|weight| i64::from(*weight)).collect();
        let total = weights.iter().sum();
        Self { credit: vec![0; weights.len()], weights, total }
    }

    fn next(&mut self) -> Option<u16> {
        if self.total == 0 {
            return None;
        }
        let mut best: Option<usize> = None;
        for place in 0..self.weights.len() {
            self.credit[place] += self.weights[place];
            if self.weights[place] > 0 && best.is_none_or(|best| self.credit[place] > self.credit[best]) {
                best = Some(place);
            }
        }
        let best = best?;
        self.credit[best] -= self.total;
        Some(best as u16)
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
        fn whoever_comes_and_goes_the_shares_are_right(
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
