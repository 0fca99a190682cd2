//! Partition of a load: into slots, and slots into segments.

use std::sync::Arc;

use crate::Nanos;

/// The load is divided over this many slots: user `k` and start `k` belong to slot `k mod SLOT_COUNT`.
pub const SLOT_COUNT: u32 = 4_096;

/// A share of the load: some of its slots, at least one. Segments that together have each slot once tile the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment(SlotShape);

#[derive(Clone, Debug, PartialEq, Eq)]
enum SlotShape {
    /// Each `stride`-th slot from `first` on.
    Stride { first: u32, stride: u32 },
    /// These slots, in order.
    Set(Arc<[u16]>),
}

impl Segment {
    /// The whole load.
    pub const WHOLE: Self = Self(SlotShape::Stride { first: 0, stride: 1 });

    /// Share `index` of `count` equal shares.
    ///
    /// # Panics
    /// When `count` is zero or above [`SLOT_COUNT`], or `index` is not below it: a bug of the caller.
    pub fn share(index: u32, count: u32) -> Self {
        assert!((1..=SLOT_COUNT).contains(&count) && index < count, "share {index} of {count}");
        Self(SlotShape::Stride { first: index, stride: count })
    }

    /// The segment of these slots; `None` if there are none, or if one is invalid.
    pub fn from_slots(slots: impl IntoIterator<Item = u16>) -> Option<Self> {
        let mut slots: Vec<u16> = slots.into_iter().collect();
        slots.sort_unstable();
        slots.dedup();
        let last = *slots.last()?;
        (u32::from(last) < SLOT_COUNT).then(|| Self(SlotShape::Set(slots.into())))
    }

    /// Part `index` of `count` parts of this segment, which are as equal as possible.
    ///
    /// # Panics
    /// When `count` is zero or more than there are slots, or `index` is not below it: a bug of the caller.
    pub fn part(&self, index: u32, count: u32) -> Self {
        assert!((1..=self.slot_count()).contains(&count) && index < count, "part {index} of {count}");
        match &self.0 {
            _ if count == 1 => self.clone(),
            SlotShape::Stride { first, stride } if stride * count <= SLOT_COUNT => {
                Self(SlotShape::Stride { first: first + index * stride, stride: stride * count })
            }
            _ => Self(SlotShape::Set(self.slots().skip(index as usize).step_by(count as usize).collect())),
        }
    }

    /// Its slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = u16> + '_ {
        (0..u64::from(self.slot_count())).map(|rank| self.slot(rank) as u16)
    }

    /// Number of its slots.
    #[inline]
    pub fn slot_count(&self) -> u32 {
        self.slots_below(u64::from(SLOT_COUNT)) as u32
    }

    /// Number of the first `count` items (users, starts, rows) that belong to this segment.
    pub fn count_of_first(&self, count: u64) -> u64 {
        let slots = u64::from(SLOT_COUNT);
        count / slots * self.slots_below(slots) + self.slots_below(count % slots)
    }

    /// The number of this segment's `index`-th item.
    #[inline]
    pub fn nth(&self, index: u64) -> u64 {
        if let SlotShape::Stride { first: 0, stride: 1 } = self.0 { index } else { self.nth_of_part(index) }
    }

    fn nth_of_part(&self, index: u64) -> u64 {
        let own = u64::from(self.slot_count());
        index / own * u64::from(SLOT_COUNT) + self.slot(index % own)
    }

    /// The slot of this rank.
    #[inline]
    pub(crate) fn slot(&self, rank: u64) -> u64 {
        match &self.0 {
            SlotShape::Stride { first, stride } => u64::from(*first) + rank * u64::from(*stride),
            SlotShape::Set(slots) => u64::from(slots[rank as usize]),
        }
    }

    fn slots_below(&self, bound: u64) -> u64 {
        match &self.0 {
            SlotShape::Stride { first, stride } => bound.saturating_sub(u64::from(*first)).div_ceil(u64::from(*stride)),
            SlotShape::Set(slots) => slots.partition_point(|slot| u64::from(*slot) < bound) as u64,
        }
    }
}

/// Slots of a segment that were revoked, each from its own instant on. Earlier items stay with the segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokedSlots {
    /// Instants by slot; never, for slots that are not revoked.
    from: Arc<[Nanos]>,
}

impl Default for RevokedSlots {
    fn default() -> Self {
        Self { from: vec![Nanos::NEVER; SLOT_COUNT as usize].into() }
    }
}

impl RevokedSlots {
    /// Revokes these slots from this instant on; a slot that is revoked already keeps its instant.
    pub fn lose(&mut self, slots: impl IntoIterator<Item = u16>, from: Nanos) {
        let all = Arc::make_mut(&mut self.from);
        for slot in slots {
            if let Some(own) = all.get_mut(usize::from(slot)) {
                *own = from.min(*own);
            }
        }
    }

    /// The instant from which a slot is revoked; never, if it is not.
    #[inline]
    pub fn from(&self, slot: u32) -> Nanos {
        self.from[slot as usize]
    }

    /// Whether the slot of item `number` is revoked at this instant.
    #[inline]
    pub fn has_lost(&self, number: u64, at: Nanos) -> bool {
        at >= self.from((number % u64::from(SLOT_COUNT)) as u32)
    }

    /// The instant from which all slots of a segment are revoked; never, while it has one.
    pub fn all_from(&self, segment: &Segment) -> Nanos {
        segment.slots().map(|slot| self.from(slot.into())).max().unwrap_or(Nanos::NEVER)
    }

    /// The first instant at which a slot becomes revoked that was not at `after`; `None` when there is none.
    pub fn next_change(&self, after: Option<Nanos>) -> Option<Nanos> {
        let later = |from: &Nanos| *from < Nanos::NEVER && after.is_none_or(|after| *from > after);
        self.from.iter().copied().filter(later).min()
    }
}
