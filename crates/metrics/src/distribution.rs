//! A distribution of times: a histogram, with sum, minimum and maximum exact beside it.

use hdrhistogram::Histogram;

/// The largest time a histogram tells apart: one hour. Longer ones count as one hour there; sum and maximum stay exact.
pub const VALUE_NS_MAX: u64 = 3_600_000_000_000;
/// 3 significant digits: a quantile is at most 0.1 % above the value it stands for.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, VALUE_NS_MAX, SIGNIFICANT_DIGITS).expect("the bounds are valid");
        Self { histogram, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Distribution {
    /// Adds one time.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.histogram.saturating_record(value_ns);
        self.sum += u128::from(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds the same time so often.
    pub fn record_many(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.histogram.saturating_record_n(value_ns, count);
        self.sum += u128::from(value_ns) * u128::from(count);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count() == 0 {
            return;
        }
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        if self.count() > 0 {
            self.histogram.reset();
        }
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }

    /// The histogram itself, for those who write its format.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their exact sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact minimum; `None` when there is nothing.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The exact maximum; `None` when there is nothing.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The mean, from the exact sum; `None` when there is nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The standard deviation, to the precision of the histogram; `None` when there is nothing.
    pub fn stdev(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.histogram.stdev())
    }

    /// The time that a share `quantile` (0 to 1) of all does not exceed; never above the maximum, never below the
    /// minimum; `None` when there is nothing.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.value_at_quantile(quantile).clamp(self.min, self.max))
    }

    /// The largest time that is here more often than in `part`, to the precision of the histogram; exact when that is the maximum.
    pub fn max_without(&self, part: Option<&Self>) -> Option<u64> {
        let Some(part) = part.filter(|part| part.count() > 0) else { return self.max() };
        let steps = self.histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        let (value, _) = steps.filter(|(value, count)| *count > part.histogram.count_at(*value)).last()?;
        Some(value.min(self.max))
    }

    /// How many times lie in `low..high`, to the precision of the histogram.
    pub fn count_between(&self, low_ns: u64, high_ns: u64) -> u64 {
        if high_ns <= low_ns {
            return 0;
        }
        self.histogram
            .iter_recorded()
            .filter(|step| {
                // The middle of a bucket stands for its values, cut to what was really seen.
                let value = self.histogram.median_equivalent(step.value_iterated_to()).clamp(self.min, self.max);
                (low_ns..high_ns).contains(&value)
            })
            .map(|step| step.count_at_value())
            .sum()
    }
}
