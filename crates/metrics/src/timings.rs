//! The times of an exchange: the measures, and a distribution for each.

use crate::Distribution;

/// A measured time of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// done - intended.
    Response,
    /// done - sent.
    Service,
    /// sent - taken up.
    Wait,
    /// taken up - intended.
    Lateness,
    /// first byte - sent.
    FirstByte,
}

impl Measure {
    /// All measures, in the order of their index.
    pub const ALL: [Self; 5] = [Self::Response, Self::Service, Self::Wait, Self::Lateness, Self::FirstByte];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response_time",
            Self::Service => "service_time",
            Self::Wait => "wait",
            Self::Lateness => "lateness",
            Self::FirstByte => "first_byte",
        }
    }
}

/// One distribution for each [`Measure`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings([Distribution; Measure::ALL.len()]);

impl From<[Distribution; Measure::ALL.len()]> for Timings {
    /// From distributions in the order of the measures.
    fn from(all: [Distribution; Measure::ALL.len()]) -> Self {
        Self(all)
    }
}

impl Timings {
    /// The distribution of a measure.
    pub fn by_measure(&self, measure: Measure) -> &Distribution {
        &self.0[measure as usize]
    }

    /// Adds one time.
    #[inline]
    pub fn record(&mut self, measure: Measure, value_ns: u64) {
        self.0[measure as usize].record(value_ns);
    }

    /// Adds the same time `count` times.
    pub fn record_many(&mut self, measure: Measure, value_ns: u64, count: u64) {
        self.0[measure as usize].record_many(value_ns, count);
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|times| times.count() == 0)
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            own.merge(more);
        }
    }

    /// Bytes of the distributions on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.0.iter().map(Distribution::heap_bytes).sum()
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Distribution::clear);
    }
}
