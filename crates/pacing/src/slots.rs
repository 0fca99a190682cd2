//! How a load is divided: into slots, and slots into segments.

/// The load is divided over this many slots: user `k` and start `k` belong to slot `k mod SLOT_COUNT`.
pub const SLOT_COUNT: u32 = 4_096;

/// A share of the load: each `stride`-th slot from `first` on. All segments of one stride tile the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    first: u32,
    stride: u32,
}

impl Segment {
    /// The whole load.
    pub const WHOLE: Self = Self { first: 0, stride: 1 };

    /// Share `index` of `count` equal shares.
    ///
    /// # Panics
    /// When `count` is zero or above [`SLOT_COUNT`], or `index` is not below it: a bug of the caller.
    pub fn share(index: u32, count: u32) -> Self {
        assert!((1..=SLOT_COUNT).contains(&count) && index < count, "share {index} of {count}");
        Self { first: index, stride: count }
    }

    /// The slot belongs to this segment.
    pub fn has_slot(self, slot: u32) -> bool {
        slot % self.stride == self.first
    }

    /// How many of the first `count` items (users, starts, rows) belong to this segment.
    pub fn count_of_first(self, count: u64) -> u64 {
        let slots = u64::from(SLOT_COUNT);
        count / slots * self.slots_below(slots) + self.slots_below(count % slots)
    }

    /// The number of this segment's `index`-th item.
    pub fn nth(self, index: u64) -> u64 {
        let slots = u64::from(SLOT_COUNT);
        let own = self.slots_below(slots);
        index / own * slots + u64::from(self.first) + index % own * u64::from(self.stride)
    }

    fn slots_below(self, bound: u64) -> u64 {
        bound.saturating_sub(u64::from(self.first)).div_ceil(u64::from(self.stride))
    }
}
