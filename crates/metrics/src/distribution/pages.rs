//! Counts of times by bucket, in pages that are allocated at their first count.
//!
//! The buckets are those of HdrHistogram with 3 significant digits: each nanosecond up to 2,047 has its own, and each
//! octave above is cut in 1,024. A page holds a sixteenth of an octave in 128 bytes, so that the cost of a series
//! depends on the spread of its times, whether it is one of a thousand or the only one. Counters have 16 bits: few
//! buckets are counted more often in an interval, and the value of a full counter is carried to a list beside the
//! pages.

use super::VALUE_NS_MAX;

/// Values below have buckets of one nanosecond; above, an octave has half as many buckets.
const SUB_BUCKETS: u64 = 2_048;
/// Buckets of one octave.
const GROUP_BUCKETS: usize = 1_024;
/// Buckets of one page: 128 bytes.
const PAGE_BUCKETS: usize = 64;
const GROUP_PAGES: usize = GROUP_BUCKETS / PAGE_BUCKETS;
/// Octaves up to [`VALUE_NS_MAX`], and the two halves of the range with buckets of one nanosecond.
const GROUPS: usize = bucket_of(VALUE_NS_MAX) / GROUP_BUCKETS + 1;
/// The overflow of a page counter, at which its value is carried.
const FULL: u64 = 1 << u16::BITS;

type BucketPage = [u16; PAGE_BUCKETS];
type Group = [Option<Box<BucketPage>>; GROUP_PAGES];

/// The counts of all buckets.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    groups: [Option<Box<Group>>; GROUPS],
    /// Buckets with a full counter, and the number of overflows; the lowest first.
    carried: Vec<(usize, u64)>,
    /// Times that it was cleared, modulo 256: at 0 its unused pages are freed.
    clears: u8,
}

impl Default for Pages {
    fn default() -> Self {
        Self { groups: [const { None }; GROUPS], carried: Vec::new(), clears: 0 }
    }
}

/// A non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The lowest value of the bucket, in nanoseconds.
    pub lowest_ns: u64,
    /// The highest value of the bucket, in nanoseconds.
    pub highest_ns: u64,
    /// The count.
    pub count: u64,
}

impl Bucket {
    /// The middle, which stands for all values in it.
    pub fn middle_ns(&self) -> u64 {
        self.lowest_ns + (self.highest_ns - self.lowest_ns).div_ceil(2)
    }
}

/// The number of buckets.
pub(super) const BUCKETS: usize = bucket_of(VALUE_NS_MAX) + 1;

/// The bucket of a value.
#[inline]
pub(super) const fn bucket_of(value: u64) -> usize {
    let value = if value < VALUE_NS_MAX { value } else { VALUE_NS_MAX };
    let octave = (SUB_BUCKETS - 1).leading_zeros() - (value | (SUB_BUCKETS - 1)).leading_zeros();
    octave as usize * GROUP_BUCKETS + (value >> octave) as usize
}

/// The lowest value of a bucket, and the number of its values.
const fn values_of(bucket: usize) -> (u64, u64) {
    let octave = (bucket / GROUP_BUCKETS).saturating_sub(1);
    (((bucket - octave * GROUP_BUCKETS) as u64) << octave, 1 << octave)
}

impl Pages {
    /// Counts a value once.
    #[inline]
    pub(super) fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        let group = &mut self.groups[bucket / GROUP_BUCKETS];
        if let Some(page) = group.as_mut().and_then(|group| group[bucket / PAGE_BUCKETS % GROUP_PAGES].as_mut()) {
            let counter = &mut page[bucket % PAGE_BUCKETS];
            *counter = counter.wrapping_add(1);
            if *counter != 0 {
                return;
            }
            self.carry(bucket, 1);
        } else {
            self.add(bucket, 1);
        }
    }

    /// Counts a value `count` times.
    pub(super) fn record_many(&mut self, value: u64, count: u64) {
        self.add(bucket_of(value), count);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, bucket: usize, count: u64) {
        let group = self.groups[bucket / GROUP_BUCKETS].get_or_insert_default();
        let page = group[bucket / PAGE_BUCKETS % GROUP_PAGES].get_or_insert_with(|| Box::new([0; PAGE_BUCKETS]));
        let counter = &mut page[bucket % PAGE_BUCKETS];
        let sum = u64::from(*counter) + count;
        *counter = (sum % FULL) as u16;
        self.carry(bucket, sum / FULL);
    }

    #[cold]
    fn carry(&mut self, bucket: usize, times: u64) {
        if times == 0 {
            return;
        }
        match self.place_of(bucket) {
            Ok(place) => self.carried[place].1 += times,
            Err(place) => self.carried.insert(place, (bucket, times)),
        }
    }

    /// Adds all of `other`, bucket for bucket.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut carries = Vec::new();
        for (index, (own, more)) in self.groups.iter_mut().zip(&other.groups).enumerate() {
            let Some(more) = more else { continue };
            let own = own.get_or_insert_default();
            for (place, more) in more.iter().enumerate() {
                let Some(more) = more else { continue };
                let Some(own) = &mut own[place] else {
                    own[place] = Some(more.clone());
                    continue;
                };
                let first = index * GROUP_BUCKETS + place * PAGE_BUCKETS;
                for (bucket, (sum, number)) in (first..).zip(own.iter_mut().zip(more.iter())) {
                    let is_full;
                    (*sum, is_full) = sum.overflowing_add(*number);
                    if is_full {
                        carries.push(bucket);
                    }
                }
            }
        }
        carries.into_iter().for_each(|bucket| self.carry(bucket, 1));
        other.carried.iter().for_each(|&(bucket, times)| self.carry(bucket, times));
    }

    /// Removes all counts and keeps the pages; now and then it frees those that had none, so that a histogram that is
    /// used for each interval has not the pages of all intervals before.
    pub(super) fn clear(&mut self) {
        self.clears = self.clears.wrapping_add(1);
        let frees = self.clears == 0;
        for entry in &mut self.groups {
            let Some(group) = entry else { continue };
            let mut has_pages = false;
            for page in group.iter_mut() {
                match page {
                    // A page of full counters alone is freed too: the next count allocates it again.
                    Some(counts) if !frees || counts.iter().any(|count| *count != 0) => {
                        counts.fill(0);
                        has_pages = true;
                    }
                    _ => *page = None,
                }
            }
            if !has_pages {
                *entry = None;
            }
        }
        self.carried.clear();
    }

    /// The non-empty buckets, the lowest first.
    pub(super) fn recorded(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counted().map(|(bucket, count)| {
            let (lowest_ns, values) = values_of(bucket);
            Bucket { lowest_ns, highest_ns: lowest_ns + (values - 1), count }
        })
    }

    /// The same, by their numbers.
    pub(super) fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let groups = self.groups.iter().enumerate().filter_map(|(index, group)| Some((index, group.as_deref()?)));
        let pages = groups.flat_map(|(index, group)| {
            let first = move |place| index * GROUP_BUCKETS + place * PAGE_BUCKETS;
            group.iter().enumerate().filter_map(move |(place, page)| Some((first(place), page.as_deref()?)))
        });
        pages.flat_map(|(first, page)| (first..).zip(page)).filter_map(|(bucket, counter)| {
            let count = u64::from(*counter) + self.carried_of(bucket) * FULL;
            (count > 0).then_some((bucket, count))
        })
    }

    fn carried_of(&self, bucket: usize) -> u64 {
        self.place_of(bucket).map_or(0, |place| self.carried[place].1)
    }

    /// The position of a bucket among the carried ones, or its insertion point.
    fn place_of(&self, bucket: usize) -> Result<usize, usize> {
        self.carried.binary_search_by_key(&bucket, |(known, _)| *known)
    }

    /// The count of the bucket of a value.
    pub(super) fn count_at(&self, value: u64) -> u64 {
        let bucket = bucket_of(value);
        let group = self.groups[bucket / GROUP_BUCKETS].as_deref();
        let page = group.and_then(|group| group[bucket / PAGE_BUCKETS % GROUP_PAGES].as_deref());
        page.map_or(0, |page| u64::from(page[bucket % PAGE_BUCKETS])) + self.carried_of(bucket) * FULL
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let groups = self.groups.iter().flatten();
        let pages: usize = groups.clone().map(|group| group.iter().flatten().count()).sum();
        groups.count() * size_of::<Group>() + pages * size_of::<BucketPage>() + self.carried.capacity() * 16
    }
}
