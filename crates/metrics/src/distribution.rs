//! A distribution of times: a histogram, with exact sum, minimum and maximum.

mod pages;

#[cfg(test)]
mod tests;

pub use pages::Bucket;
use pages::Pages;

/// The largest time that a histogram distinguishes: one hour. Longer ones count as one hour there; sum and maximum stay
/// exact.
pub const VALUE_NS_MAX: u64 = 3_600_000_000_000;

/// Times in nanoseconds. A quantile is at most 0.1 % above the value it stands for.
#[derive(Clone, Debug)]
pub struct Distribution {
    pages: Pages,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { pages: Pages::default(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

/// Equality of the recorded times, whatever memory they take.
impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        let exact = |times: &Self| (times.count, times.sum, times.min, times.max);
        exact(self) == exact(other) && self.counted().eq(other.counted())
    }
}

impl Eq for Distribution {}

impl Distribution {
    /// Adds one time.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.pages.record(value_ns);
        self.count += 1;
        self.sum += u128::from(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds the same time `count` times.
    pub fn record_many(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.pages.record_many(value_ns, count);
        self.count += count;
        self.sum += u128::from(value_ns) * u128::from(count);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.pages.merge(&other.pages);
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Removes all times and keeps the memory that they took.
    pub fn clear(&mut self) {
        self.pages.clear();
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// The non-empty buckets, the lowest first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.pages.recorded()
    }

    /// The number of buckets.
    pub(crate) const BUCKETS: usize = pages::BUCKETS;

    /// The non-empty buckets, by their numbers, the lowest first.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.pages.counted()
    }

    /// Adds to a bucket. The exact values must be set after all buckets were added.
    pub(crate) fn add_bucket(&mut self, bucket: usize, count: u64) {
        self.pages.add(bucket, count);
        self.count += count;
    }

    /// Sets the exact values. False when they contradict the buckets.
    pub(crate) fn set_exact(&mut self, min: u64, max: u64, sum: u128) -> bool {
        (self.min, self.max, self.sum) = (min, max, sum);
        let (lowest, highest) = (self.counted().next(), self.counted().last());
        let is_in =
            |value, bucket: Option<(usize, u64)>| bucket.is_some_and(|(bucket, _)| pages::bucket_of(value) == bucket);
        let bounds = u128::from(min) * u128::from(self.count)..=u128::from(max) * u128::from(self.count);
        min <= max && is_in(min, lowest) && is_in(max, highest) && bounds.contains(&sum)
    }

    /// Bytes on the heap, which depend on the spread of the times.
    pub fn heap_bytes(&self) -> usize {
        self.pages.bytes()
    }

    /// The number of times.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact minimum; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The exact maximum; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The mean, from the exact sum; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The standard deviation, to the precision of the histogram; `None` when empty.
    pub fn stdev(&self) -> Option<f64> {
        let middle = |bucket: &Bucket| bucket.middle_ns() as f64 * bucket.count as f64;
        let mean = self.buckets().map(|bucket| middle(&bucket)).sum::<f64>() / self.count as f64;
        let squares = self.buckets().map(|bucket| (bucket.middle_ns() as f64 - mean).powi(2) * bucket.count as f64);
        (self.count > 0).then(|| (squares.sum::<f64>() / self.count as f64).sqrt())
    }

    /// The time that a share `quantile` (0 to 1) of all does not exceed; never above the maximum, never below the
    /// minimum; `None` when empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut up_to = 0;
        let bucket = self.buckets().find(|bucket| {
            up_to += bucket.count;
            up_to >= rank
        })?;
        let ns = if quantile <= 0.0 { bucket.lowest_ns } else { bucket.highest_ns };
        Some(ns.clamp(self.min, self.max))
    }

    /// The largest time that occurs here more often than in `part`, to the precision of the histogram; exact when that
    /// is the maximum.
    pub fn max_without(&self, part: Option<&Self>) -> Option<u64> {
        let Some(part) = part.filter(|part| part.count() > 0) else { return self.max() };
        let more = self.buckets().filter(|bucket| bucket.count > part.pages.count_at(bucket.lowest_ns)).last()?;
        Some(more.highest_ns.min(self.max))
    }

    /// The number of times at or below `ns`, or in its bucket.
    pub fn count_up_to(&self, ns: u64) -> u64 {
        self.buckets().take_while(|bucket| bucket.lowest_ns <= ns).map(|bucket| bucket.count).sum()
    }

    /// The number of times in `low..high`, to the precision of the histogram.
    pub fn count_between(&self, low_ns: u64, high_ns: u64) -> u64 {
        // The middle of a bucket stands for its values, clamped to the recorded range.
        let is_within = |bucket: &Bucket| (low_ns..high_ns).contains(&bucket.middle_ns().clamp(self.min, self.max));
        self.buckets().filter(is_within).map(|bucket| bucket.count).sum()
    }
}
