//! A hierarchical timing wheel: insertion is constant work, and finding the next deadline reads six bitmaps.
//!
//! Nothing is cancelled. An entry that is no longer needed comes out like the others, and its owner sees that nothing
//! is due. Each attempt slot owns one entry. When it fires early it is re-armed, so an exchange that completes in
//! time needs no timer operation.

use pacing::Nanos;

/// 2^16 ns = 65.5 us. Entries of one tick are ordered by their exact instant, so a tick limits no precision.
const TICK_BITS: u32 = 16;
const LEVEL_BITS: u32 = 6;
const SLOT_COUNT: usize = 1 << LEVEL_BITS;
/// Entries for which an emptied slot keeps its memory.
const KEPT_MAX: usize = 1_024;
/// 65.5 us * 64^6 = 52 days; what lies beyond is inserted again when the last slot comes.
const LEVEL_COUNT: usize = 6;

#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    at: Nanos,
    key: K,
}

/// Timers: deadlines with keys.
#[derive(Debug)]
pub struct Timers<K> {
    slots: Vec<Vec<Entry<K>>>,
    /// Bitmaps of the slots of each level that hold entries.
    occupied: [u64; LEVEL_COUNT],
    tick: u64,
    /// Due entries in the order in which they fire, the next one last.
    due: Vec<Entry<K>>,
}

impl<K: Copy> Default for Timers<K> {
    fn default() -> Self {
        let slots = std::iter::repeat_with(Vec::new).take(LEVEL_COUNT * SLOT_COUNT).collect();
        Self { slots, occupied: [0; LEVEL_COUNT], tick: 0, due: Vec::new() }
    }
}

impl<K: Copy> Timers<K> {
    /// Adds a deadline. One in the past is due at once.
    pub fn insert(&mut self, at: Nanos, key: K) {
        let horizon = (1u64 << (LEVEL_BITS * LEVEL_COUNT as u32)) - 1;
        let tick = (at.0 >> TICK_BITS).clamp(self.tick, self.tick | horizon);
        let differing = (tick ^ self.tick) | 1;
        let level = (differing.ilog2() / LEVEL_BITS) as usize;
        let slot = (tick >> (LEVEL_BITS * level as u32)) as usize % SLOT_COUNT;
        self.slots[level * SLOT_COUNT + slot].push(Entry { at, key });
        self.occupied[level] |= 1 << slot;
    }

    /// A lower bound of the next deadline, exact when that is near; [`Nanos::NEVER`] when there is none.
    pub fn next(&self) -> Nanos {
        if let Some(entry) = self.due.last() {
            return entry.at;
        }
        let here = self.tick as usize % SLOT_COUNT;
        if self.occupied[0] >> here & 1 == 1 {
            return self.earliest(here);
        }
        match self.next_slot() {
            None => Nanos::NEVER,
            Some((0, slot, _)) => self.earliest(slot),
            Some((_, _, tick)) => Nanos(tick << TICK_BITS),
        }
    }

    /// The next key whose deadline is not after `now`; earlier deadlines first.
    pub fn poll(&mut self, now: Nanos) -> Option<K> {
        if self.due.is_empty() {
            self.advance(now);
        }
        self.due.pop().map(|entry| entry.key)
    }

    fn earliest(&self, slot: usize) -> Nanos {
        self.slots[slot].iter().map(|entry| entry.at).min().unwrap_or(Nanos::NEVER)
    }

    /// The next occupied slot after the current tick: its level, its index, its first tick.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        (0..LEVEL_COUNT).find_map(|level| {
            let shift = LEVEL_BITS * level as u32;
            let here = (self.tick >> shift) % SLOT_COUNT as u64;
            let later = self.occupied[level] & !(u64::MAX >> (63 - here));
            (later != 0).then(|| {
                let slot = u64::from(later.trailing_zeros());
                let block = self.tick >> (shift + LEVEL_BITS) << (shift + LEVEL_BITS);
                (level, slot as usize, block | slot << shift)
            })
        })
    }

    /// Advances to `now` until something is due.
    fn advance(&mut self, now: Nanos) {
        let last = now.0 >> TICK_BITS;
        loop {
            self.take_due(now);
            if !self.due.is_empty() || self.tick >= last {
                return;
            }
            let beyond = self.take_beyond();
            match self.next_slot() {
                Some((level, slot, tick)) if tick <= last => {
                    self.tick = tick;
                    if level > 0 {
                        self.cascade(level, slot);
                    }
                }
                _ => self.tick = last,
            }
            for entry in beyond {
                self.insert(entry.at, entry.key);
            }
        }
    }

    /// Takes what is left in the slot that the wheel is about to leave: entries from beyond the horizon.
    fn take_beyond(&mut self) -> Vec<Entry<K>> {
        let here = self.tick as usize % SLOT_COUNT;
        if self.occupied[0] >> here & 1 == 0 {
            return Vec::new();
        }
        self.occupied[0] &= !(1 << here);
        std::mem::take(&mut self.slots[here])
    }

    /// Takes the due entries out of the slot of the current tick.
    fn take_due(&mut self, now: Nanos) {
        let here = self.tick as usize % SLOT_COUNT;
        if self.occupied[0] >> here & 1 == 0 {
            return;
        }
        let (slot, due) = (&mut self.slots[here], &mut self.due);
        slot.retain(|entry| {
            let is_due = entry.at <= now;
            if is_due {
                due.push(*entry);
            }
            !is_due
        });
        if slot.is_empty() {
            self.occupied[0] &= !(1 << here);
        }
        due.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    }

    /// Distributes the entries of a slot over the levels below.
    fn cascade(&mut self, level: usize, slot: usize) {
        self.occupied[level] &= !(1 << slot);
        let mut entries = std::mem::take(&mut self.slots[level * SLOT_COUNT + slot]);
        for entry in entries.drain(..) {
            self.insert(entry.at, entry.key);
        }
        // The memory of the slot stays with it, unless it held very many entries.
        let place = &mut self.slots[level * SLOT_COUNT + slot];
        if place.is_empty() && entries.capacity() <= KEPT_MAX {
            *place = entries;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_wheel_never_ends() {
        let mut timers = Timers::<u32>::default();
        assert_eq!((timers.next(), timers.poll(Nanos(1 << 60))), (Nanos::NEVER, None));
    }

    #[test]
    fn beyond_the_horizon_is_not_lost() {
        let mut timers = Timers::default();
        let far = Nanos(100 * 24 * 3_600 * 1_000_000_000);
        timers.insert(far, 1);
        assert_eq!(timers.poll(far - Nanos(1)), None);
        assert_eq!(timers.poll(far), Some(1));
    }

    proptest! {
        #[test]
        fn as_a_sorted_list_would(steps in prop::collection::vec((0u64..1 << 42, 0u32..42, any::<bool>()), 1..200)) {
            let mut timers = Timers::default();
            let mut list: Vec<(Nanos, usize)> = Vec::new();
            let mut now = Nanos::ZERO;
            for (number, (span, shift, is_insert)) in steps.into_iter().enumerate() {
                let span = Nanos(span >> shift);
                if is_insert {
                    timers.insert(now + span, number);
                    list.push((now + span, number));
                    continue;
                }
                prop_assert!(timers.next() <= list.iter().map(|entry| entry.0).min().unwrap_or(Nanos::NEVER));
                now += span;
                let mut seen = Vec::new();
                while let Some(key) = timers.poll(now) {
                    seen.push(key);
                }
                let mut expect: Vec<_> = list.iter().filter(|entry| entry.0 <= now).copied().collect();
                list.retain(|entry| entry.0 > now);
                expect.sort();
                seen.sort_by_key(|key| expect.iter().find(|entry| entry.1 == *key).map(|entry| entry.0));
                let mut seen_sorted = seen.clone();
                seen_sorted.sort();
                let mut expect_keys: Vec<_> = expect.iter().map(|entry| entry.1).collect();
                expect_keys.sort();
                prop_assert_eq!(seen_sorted, expect_keys);
            }
        }
    }
}
