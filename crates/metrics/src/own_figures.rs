//! Figures of the user's own: counters, trends, shares and gauges that scenarios record. They merge exactly, in any order.
//!
//! An [`OwnFigure`] makes an [`OwnValue`] of what a user records, or refuses it; the value is stored at the number of
//! the figure. Nothing is looked up by name while a run is under way, and no record allocates but the first of a trend
//! in a range.

mod trend;

#[cfg(test)]
mod tests;

pub(crate) use trend::FarExact;
pub use trend::Trend;

/// The most figures of a run.
pub const OWN_FIGURES_MAX: usize = 64;
/// The largest value of a counter, and the largest of a trend in units of its step.
const OWN_VALUE_MAX: f64 = 9_223_372_036_854_775_808.0;
/// Counters are added in these parts of one, so that their sums are exact.
const COUNTER_PARTS: u128 = 1_000_000_000;
/// How far the inverse of a step may be from a whole number, as a share, to be taken for it: 0.01 is a hundredth.
const INVERSE_ERROR_MAX: f64 = 1e-12;

/// The kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnKind {
    /// A sum.
    Counter,
    /// A distribution of values.
    Trend,
    /// How many of all were true.
    Share,
    /// The least, the greatest and the last of values.
    Gauge,
}

impl OwnKind {
    /// All kinds, in the order of their numbers in encoded snapshots.
    pub const ALL: [Self; 4] = [Self::Counter, Self::Trend, Self::Share, Self::Gauge];

    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Trend => "trend",
            Self::Share => "share",
            Self::Gauge => "gauge",
        }
    }

    /// Its statistics, as thresholds name them.
    pub fn statistics(self) -> &'static str {
        match self {
            Self::Counter => "sum(NAME)",
            Self::Trend => "min(NAME), mean(NAME), stdev(NAME), max(NAME), sum(NAME), p95(NAME)",
            Self::Share => "share(NAME)",
            Self::Gauge => "least(NAME), greatest(NAME), last(NAME)",
        }
    }
}

/// A figure that a run records.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnFigure {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: OwnKind,
    /// The unit of its values, for views; may be empty.
    pub unit: String,
    /// Of a trend: the distance of two values that are told apart; above zero.
    pub step: f64,
}

/// A value that can be recorded, in the form in which it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnValue {
    /// Of a counter: parts of one.
    Added(u128),
    /// Of a trend: units of its step.
    Measured(u64),
    /// Of a share.
    Was(bool),
    /// Of a gauge: the value, and the time since the start of the run.
    Reached {
        /// The value.
        value: f64,
        /// The time.
        at_ns: u64,
    },
}

/// What a user gives to a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnInput {
    /// True or false.
    Switch(bool),
    /// A number.
    Number(f64),
}

impl OwnFigure {
    /// The value of what is given `at_ns` after the start of the run; `None` when it is of the wrong type or out of
    /// range.
    #[inline]
    pub fn value(&self, given: OwnInput, at_ns: u64) -> Option<OwnValue> {
        let number = match (self.kind, given) {
            (OwnKind::Share, OwnInput::Switch(is_so)) => return Some(OwnValue::Was(is_so)),
            (OwnKind::Share, OwnInput::Number(_)) | (_, OwnInput::Switch(_)) => return None,
            (_, OwnInput::Number(number)) => number,
        };
        match self.kind {
            OwnKind::Counter => (0.0..=OWN_VALUE_MAX).contains(&number).then(|| {
                let parts = (number.fract() * COUNTER_PARTS as f64).round();
                OwnValue::Added(number.trunc() as u128 * COUNTER_PARTS + parts as u128)
            }),
            OwnKind::Trend => {
                let units = units(number, self.step).round();
                (number >= 0.0 && units <= OWN_VALUE_MAX).then_some(OwnValue::Measured(units as u64))
            }
            // A negative zero is a zero.
            OwnKind::Gauge => number.is_finite().then_some(OwnValue::Reached { value: number + 0.0, at_ns }),
            OwnKind::Share => None,
        }
    }

    /// The largest value that it takes; infinity for a gauge.
    pub fn value_max(&self) -> f64 {
        match self.kind {
            OwnKind::Counter => OWN_VALUE_MAX,
            OwnKind::Trend => in_step(OWN_VALUE_MAX, self.step),
            OwnKind::Share => 1.0,
            OwnKind::Gauge => f64::INFINITY,
        }
    }
}

/// The percentiles of a trend that views show.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

impl OwnFigure {
    /// The statistics that views show of what was recorded, by their names; none where nothing was.
    pub fn statistics(&self, total: Option<&OwnTotal>) -> Vec<(&'static str, f64)> {
        let Some(total) = total.filter(|total| total.count() > 0) else { return Vec::new() };
        let sum = total.sum(self.step).map(|sum| ("sum", sum));
        match total {
            OwnTotal::Counter { .. } => sum.into_iter().collect(),
            OwnTotal::Trend(trend) => {
                let known = |units: Option<u64>| units.map(|units| in_step(units as f64, self.step));
                let mean = trend.mean().map(|units| in_step(units, self.step));
                let ends = [("min", known(trend.min())), ("mean", mean)].into_iter();
                let at = PERCENTILES.into_iter().map(|(name, share)| (name, known(trend.quantile(share))));
                let all = ends.chain(at).chain([("max", known(trend.max()))]);
                all.filter_map(|(name, value)| Some((name, value?))).chain(sum).collect()
            }
            OwnTotal::Share { passed, .. } => vec![("share", *passed as f64 / total.count() as f64)],
            OwnTotal::Gauge(gauge) => {
                vec![("least", gauge.least), ("greatest", gauge.greatest), ("last", gauge.last)]
            }
        }
    }
}

/// The whole number of steps in one, where there is one: divisions by it are exact where a product with the step is not.
fn steps_in_one(step: f64) -> Option<f64> {
    let inverse = step.recip().round();
    (inverse >= 1.0 && (inverse * step - 1.0).abs() <= INVERSE_ERROR_MAX).then_some(inverse)
}

fn units(number: f64, step: f64) -> f64 {
    steps_in_one(step).map_or_else(|| number / step, |inverse| number * inverse)
}

/// A number of steps as a value.
pub(crate) fn in_step(units: f64, step: f64) -> f64 {
    steps_in_one(step).map_or_else(|| units * step, |inverse| units / inverse)
}

/// What was recorded of one figure.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnTotal {
    /// Of a counter.
    Counter {
        /// The number of values.
        count: u64,
        /// Their sum, in parts of one.
        sum: u128,
    },
    /// Of a trend.
    Trend(Box<Trend>),
    /// Of a share.
    Share {
        /// How often it was true.
        passed: u64,
        /// How often it was false.
        failed: u64,
    },
    /// Of a gauge.
    Gauge(OwnGauge),
}

/// What is known of a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnGauge {
    /// The number of values.
    pub count: u64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// The last by the time of the run; of those of one instant, the greatest.
    pub last: f64,
    /// When it was recorded, since the start of the run.
    pub last_at_ns: u64,
}

impl OwnGauge {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        if other.last_at_ns > self.last_at_ns {
            (self.last, self.last_at_ns) = (other.last, other.last_at_ns);
        } else if other.last_at_ns == self.last_at_ns {
            self.last = self.last.max(other.last);
        }
    }
}

impl OwnTotal {
    fn new(value: OwnValue) -> Self {
        match value {
            OwnValue::Added(sum) => Self::Counter { count: 1, sum },
            OwnValue::Measured(units) => {
                let mut trend = Box::<Trend>::default();
                trend.record(units);
                Self::Trend(trend)
            }
            OwnValue::Was(is_so) => Self::Share { passed: u64::from(is_so), failed: u64::from(!is_so) },
            OwnValue::Reached { value, at_ns } => {
                Self::Gauge(OwnGauge { count: 1, least: value, greatest: value, last: value, last_at_ns: at_ns })
            }
        }
    }

    /// Its kind.
    pub fn kind(&self) -> OwnKind {
        match self {
            Self::Counter { .. } => OwnKind::Counter,
            Self::Trend(_) => OwnKind::Trend,
            Self::Share { .. } => OwnKind::Share,
            Self::Gauge(_) => OwnKind::Gauge,
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        match self {
            Self::Counter { count, .. } => *count,
            Self::Trend(trend) => trend.count(),
            Self::Share { passed, failed } => passed + failed,
            Self::Gauge(gauge) => gauge.count,
        }
    }

    /// The sum of a counter, or of a trend with this step; `None` of others.
    pub fn sum(&self, step: f64) -> Option<f64> {
        match self {
            Self::Counter { sum, .. } => {
                let (whole, parts) = (sum / COUNTER_PARTS, sum % COUNTER_PARTS);
                Some(whole as f64 + parts as f64 / COUNTER_PARTS as f64)
            }
            Self::Trend(trend) => Some(in_step(trend.sum() as f64, step)),
            Self::Share { .. } | Self::Gauge(_) => None,
        }
    }

    /// Adds a value of the same kind without a look at what is there.
    #[inline]
    fn record(&mut self, value: OwnValue) {
        match (self, value) {
            (Self::Counter { count, sum }, OwnValue::Added(more)) => {
                *count += 1;
                *sum = sum.saturating_add(more);
            }
            (Self::Trend(trend), OwnValue::Measured(units)) => trend.record(units),
            (Self::Share { passed, failed }, OwnValue::Was(is_so)) => {
                *(if is_so { passed } else { failed }) += 1;
            }
            (Self::Gauge(gauge), OwnValue::Reached { value, at_ns }) => {
                let now = OwnGauge { count: 1, least: value, greatest: value, last: value, last_at_ns: at_ns };
                gauge.merge(&now);
            }
            // A figure has one kind in a plan.
            _ => {}
        }
    }

    /// Adds all of `other`, which is of the same kind.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter { count, sum }, Self::Counter { count: more, sum: more_sum }) => {
                *count += more;
                *sum = sum.saturating_add(*more_sum);
            }
            (Self::Trend(trend), Self::Trend(more)) => trend.merge(more),
            (Self::Share { passed, failed }, Self::Share { passed: more_passed, failed: more_failed }) => {
                *passed += more_passed;
                *failed += more_failed;
            }
            (Self::Gauge(gauge), Self::Gauge(more)) => gauge.merge(more),
            _ => {}
        }
    }
}

/// The recorded figures of a snapshot, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnTotals(Vec<Option<OwnTotal>>);

/// Equality of what was recorded, whatever memory it takes.
impl PartialEq for OwnTotals {
    fn eq(&self, other: &Self) -> bool {
        self.recorded().eq(other.recorded())
    }
}

impl OwnTotals {
    /// Records a value of the figure with this number; one beyond the most is left out.
    #[inline]
    pub(crate) fn record(&mut self, number: usize, value: OwnValue) {
        match self.0.get_mut(number) {
            Some(Some(total)) => total.record(value),
            _ => self.set(number, OwnTotal::new(value)),
        }
    }

    /// Sets what was recorded of a figure.
    #[cold]
    pub(crate) fn set(&mut self, number: usize, total: OwnTotal) {
        if number >= OWN_FIGURES_MAX {
            return;
        }
        if number >= self.0.len() {
            self.0.resize_with(number + 1, || None);
        }
        self.0[number] = Some(total);
    }

    /// What was recorded of a figure; `None` when nothing was.
    pub(crate) fn get(&self, number: usize) -> Option<&OwnTotal> {
        self.0.get(number)?.as_ref().filter(|total| total.count() > 0)
    }

    /// The figures of which something was recorded, in order.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (usize, &OwnTotal)> {
        (0..self.0.len()).filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (number, more) in other.recorded() {
            match self.0.get_mut(number) {
                Some(Some(total)) if total.count() > 0 => total.merge(more),
                _ => self.set(number, more.clone()),
            }
        }
    }

    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        for total in &mut self.0 {
            match total {
                Some(OwnTotal::Trend(trend)) => trend.clear(),
                other => *other = None,
            }
        }
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let trends = self.0.iter().flatten().map(|total| match total {
            OwnTotal::Trend(trend) => size_of::<Trend>() + trend.heap_bytes(),
            _ => 0,
        });
        self.0.capacity() * size_of::<Option<OwnTotal>>() + trends.sum::<usize>()
    }
}
