//! The values of a trend, from 0 to 2^63 units: a histogram as that of times, and a second one for what is beyond its
//! range. Both have three significant digits; the sum, the least and the greatest value are exact.

use crate::{Bucket, Distribution, VALUE_NS_MAX};

/// Values beyond the range of times are stored without this number of bits: the largest one is within the range then,
/// and the least has far more than three digits left.
const FAR_BITS: u32 = 22;
/// The largest value.
const UNITS_MAX: u64 = 1 << 63;

/// Values of a trend, in units of its step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// Values within the range of times.
    near: Distribution,
    /// The others, without their last bits.
    far: Distribution,
    /// The exact sum, least and greatest of the others; zeros without any.
    far_exact: FarExact,
}

/// The exact figures of values beyond the range of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FarExact {
    pub(crate) sum: u128,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Trend {
    /// A trend of its parts; `None` when they contradict each other.
    pub(crate) fn from_parts(near: Distribution, far: Distribution, far_exact: FarExact) -> Option<Self> {
        let FarExact { sum, min, max } = far_exact;
        let ends = (far.min().unwrap_or(0), far.max().unwrap_or(0));
        if max > UNITS_MAX || (min >> FAR_BITS, max >> FAR_BITS) != ends {
            return None;
        }
        let count = u128::from(far.count());
        // The stored values are those without their last bits.
        let lost_max = count << FAR_BITS;
        let is_sum = (far.sum() << FAR_BITS..(far.sum() << FAR_BITS) + lost_max.max(1)).contains(&sum);
        let is_right = near.max().unwrap_or(0) <= VALUE_NS_MAX
            && (far.count() == 0 || min > VALUE_NS_MAX)
            && (u128::from(min) * count..=u128::from(max) * count).contains(&sum)
            && is_sum;
        is_right.then_some(Self { near, far, far_exact })
    }

    /// The values within the range of times, the others without their last bits, and the exact figures of those.
    pub(crate) fn parts(&self) -> (&Distribution, &Distribution, FarExact) {
        (&self.near, &self.far, self.far_exact)
    }

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, units: u64) {
        if units <= VALUE_NS_MAX { self.near.record(units) } else { self.record_far(units.min(UNITS_MAX)) }
    }

    #[cold]
    fn record_far(&mut self, units: u64) {
        self.add_exact(FarExact { sum: units.into(), min: units, max: units });
        self.far.record(units >> FAR_BITS);
    }

    /// To be called before the other histogram grows.
    fn add_exact(&mut self, more: FarExact) {
        let own = &mut self.far_exact;
        own.min = if self.far.count() == 0 { more.min } else { own.min.min(more.min) };
        own.max = own.max.max(more.max);
        own.sum += more.sum;
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.near.merge(&other.near);
        if other.far.count() > 0 {
            self.add_exact(other.far_exact);
            self.far.merge(&other.far);
        }
    }

    /// Removes all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.far_exact = FarExact::default();
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.near.count() + self.far.count()
    }

    /// The exact sum.
    pub fn sum(&self) -> u128 {
        self.near.sum() + self.far_exact.sum
    }

    /// The exact minimum; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        self.near.min().or_else(|| (self.far.count() > 0).then_some(self.far_exact.min))
    }

    /// The exact maximum; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        if self.far.count() > 0 { Some(self.far_exact.max) } else { self.near.max() }
    }

    /// The mean, from the exact sum; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum() as f64 / self.count() as f64)
    }

    /// The standard deviation, to the precision of the histogram; `None` when empty.
    pub fn stdev(&self) -> Option<f64> {
        let count = self.count() as f64;
        let middle = |bucket: &Bucket| bucket.middle_ns() as f64;
        let mean = self.buckets().map(|bucket| middle(&bucket) * bucket.count as f64).sum::<f64>() / count;
        let squares = self.buckets().map(|bucket| (middle(&bucket) - mean).powi(2) * bucket.count as f64);
        (self.count() > 0).then(|| (squares.sum::<f64>() / count).sqrt())
    }

    /// The value that a share `quantile` (0 to 1) of all does not exceed; never outside the recorded range; `None` when
    /// empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let (min, max) = (self.min()?, self.max()?);
        let rank = ((quantile.clamp(0.0, 1.0) * self.count() as f64).ceil() as u64).clamp(1, self.count());
        let mut up_to = 0;
        let bucket = self.buckets().find(|bucket| {
            up_to += bucket.count;
            up_to >= rank
        })?;
        Some(bucket.highest_ns.clamp(min, max))
    }

    /// The non-empty buckets, the lowest first.
    fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let far = self.far.buckets().map(|bucket| Bucket {
            lowest_ns: bucket.lowest_ns << FAR_BITS,
            highest_ns: ((bucket.highest_ns + 1) << FAR_BITS) - 1,
            count: bucket.count,
        });
        self.near.buckets().chain(far)
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.near.heap_bytes() + self.far.heap_bytes()
    }
}
